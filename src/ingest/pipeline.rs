//! The threads between the walk and the database; see the picture in the parent module.
//!
//! Every document carries the number of its turn. The writer keeps what arrives early and commits
//! in turn; permits bound how far the other threads may run ahead of it. A permit is taken in the
//! order of the turns, so the document the writer waits for is always under way.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::{fs, panic, thread};

use crate::document::{DocumentId, Format, Language};
use crate::error::{Error, Failure, Result};
use crate::hash;
use crate::ingest::prepare::Prepared;
use crate::ingest::walk::Found;
use crate::ingest::{
    Event, IngestOptions, IngestReport, OnEvent, Services, detect, paths, prepare, walk,
};
use crate::store::{KnownPath, PassageHash, PathStamp, Store};
use crate::trace::stage;

/// Passages an embedding thread takes at a time: small, so that one long document is spread over
/// all threads.
const PASSAGES_PER_JOB: usize = 8;

/// Number of a document in the order of the walk, from 0.
type Turn = usize;

/// What became of a file before it is embedded.
enum Outcome {
    /// New content.
    Prepared(Box<Prepared>),
    /// The bytes are stored already, at this path or another.
    Known { found: Found, document_id: DocumentId, content_hash: String, is_news: bool },
    /// Not a kind of file that is ingested from folders, or empty.
    Ignored,
    /// Cannot be ingested, or the run must stop.
    Failed { path: PathBuf, error: Error },
}

/// What the writer is told.
enum Message {
    Found(usize),
    Outcome(Turn, Outcome),
    Embedded(Turn, usize, Result<Vec<Vec<f32>>>),
    /// The walk is over; holds how many turns there were.
    Walked(usize),
}

/// Passages of one document for an embedding thread.
struct Job {
    turn: Turn,
    first: usize,
    passages: Vec<String>,
}

/// A document that waits for its turn or for its vectors.
struct Waiting {
    outcome: Outcome,
    vectors: Vec<Option<Vec<f32>>>,
    num_missing: usize,
}

pub(super) fn run(
    store: &mut Store,
    services: &Services<'_>,
    roots: &[PathBuf],
    options: &IngestOptions,
    on_event: &mut OnEvent<'_>,
    report: &mut IngestReport,
) -> Result<()> {
    let reader = Mutex::new(store.reader()?);
    let is_stopped = AtomicBool::new(false);
    let num_workers = options.num_workers.max(1);
    let num_turns = options.batch_size.max(num_workers);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(num_workers)
        .build()
        .map_err(|it| Error::Store(Box::new(it)))?;
    let (permit_back, permits) = mpsc::sync_channel::<()>(num_turns);
    for _ in 0..num_turns {
        permit_back.send(()).expect("the receiver lives in this function");
    }
    let (to_writer, messages) = mpsc::channel::<Message>();
    let (to_embedders, jobs) = mpsc::channel::<Job>();
    let jobs = Arc::new(Mutex::new(jobs));

    thread::scope(|scope| {
        for _ in 0..options.num_embedders.max(1) {
            let (jobs, to_writer, is_stopped) = (Arc::clone(&jobs), to_writer.clone(), &is_stopped);
            scope.spawn(move || embed_jobs(services, &jobs, &to_writer, is_stopped));
        }
        let planner = Planner { reader: &reader, services, options, is_stopped: &is_stopped };
        scope.spawn(move || planner.walk(roots, &pool, &permits, &to_writer));
        let mut writer = Writer {
            store,
            planner,
            options,
            on_event,
            report,
            to_embedders,
            permit_back,
            waiting: BTreeMap::new(),
            next_turn: 0,
            num_turns: None,
        };
        let result = writer.run(&messages);
        // Dropping the writer's ends lets every other thread finish.
        is_stopped.store(true, Ordering::Relaxed);
        drop(writer);
        drop(messages);
        result
    })
}

/// Embeds until there are no more jobs.
fn embed_jobs(
    services: &Services<'_>,
    jobs: &Mutex<mpsc::Receiver<Job>>,
    to_writer: &mpsc::Sender<Message>,
    is_stopped: &AtomicBool,
) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { turn, first, passages }) = job else { return };
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let vectors = panic::catch_unwind(AssertUnwindSafe(|| {
            stage("embed", || services.embedder.embed_passages(&passages))
        }))
        .unwrap_or_else(|_| Err(Error::Inference("the embedder panicked".into())));
        if to_writer.send(Message::Embedded(turn, first, vectors)).is_err() {
            return;
        }
    }
}

/// Finds files and sends them to the workers, which ask first whether a file may be new.
#[derive(Clone, Copy)]
struct Planner<'a> {
    reader: &'a Mutex<Store>,
    services: &'a Services<'a>,
    options: &'a IngestOptions,
    is_stopped: &'a AtomicBool,
}

impl Planner<'_> {
    fn walk(
        self,
        roots: &[PathBuf],
        pool: &rayon::ThreadPool,
        permits: &mpsc::Receiver<()>,
        to_writer: &mpsc::Sender<Message>,
    ) {
        pool.in_place_scope(|scope| {
            let mut num_turns = 0;
            for item in walk::walk(roots, &self.options.walk) {
                if self.is_stopped.load(Ordering::Relaxed) || permits.recv().is_err() {
                    return;
                }
                let turn = num_turns;
                num_turns += 1;
                let _ = to_writer.send(Message::Found(num_turns));
                let to_writer = to_writer.clone();
                scope.spawn(move |_| {
                    let outcome = if self.is_stopped.load(Ordering::Relaxed) {
                        Outcome::Ignored
                    } else {
                        self.outcome(item)
                    };
                    // The writer may have stopped already.
                    let _ = to_writer.send(Message::Outcome(turn, outcome));
                });
            }
            let _ = to_writer.send(Message::Walked(num_turns));
        });
    }

    fn outcome(self, item: Result<Found>) -> Outcome {
        let found = match item {
            Ok(found) => found,
            Err(error) => {
                let path = error.path().unwrap_or(Path::new("")).to_owned();
                return Outcome::Failed { path, error };
            }
        };
        let path = found.path.clone();
        let is_named = found.is_named;
        // A panic is a bug, but a bug on one file must not lose the rest of the run.
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| self.read(found)));
        match outcome {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(Error::EmptyFile { .. })) if !is_named => Outcome::Ignored,
            Ok(Err(error)) => Outcome::Failed { path, error },
            Err(_) => {
                let error = Error::Extract { failure: Failure::Crashed, detail: String::new() };
                Outcome::Failed { path, error }
            }
        }
    }

    /// Reads a file unless its size and time say that it is as it was.
    fn read(self, found: Found) -> Result<Outcome> {
        let path_text = paths::path_text(&found.path);
        let known = self.lock().known_path(&path_text)?;
        let has_ocr = self.options.pdf.ocr.is_there();
        if let Some(known) = &known
            && !(has_ocr && known.pages_awaiting_ocr > 0)
            && (known.stamp.size_bytes, known.stamp.mtime_ns) == (found.size_bytes, found.mtime_ns)
            && self.options.wanted.allows(known.doc_type, known.language.as_deref())
        {
            return Ok(Outcome::Known {
                found,
                document_id: known.document_id,
                is_news: !known.is_primary() && !Path::new(&known.primary_path).exists(),
                content_hash: known.content_hash.clone(),
            });
        }
        let bytes = stage("read", || fs::read(&found.path))
            .map_err(|source| Error::Io { path: found.path.clone(), source })?;
        if bytes.is_empty() {
            return Err(Error::EmptyFile { path: found.path });
        }
        let format = detect::detect(&found.path, &bytes, found.is_named, self.options.wanted)?;
        let Some(format) = format else { return Ok(Outcome::Ignored) };
        let hash = hash::sha256(&bytes);
        let same = self.lock().document_by_hash(&hash)?.filter(|it| {
            let num_awaiting = it.metadata.quality.map_or(0, |it| it.pages_awaiting_ocr);
            let may_say_more = has_ocr && num_awaiting > 0;
            !may_say_more
                && it.doc_type == format.doc_type()
                && it.language.as_deref() == format.language().map(Language::as_str)
        });
        if let Some(same) = same {
            return Ok(Outcome::Known {
                found,
                document_id: same.id,
                content_hash: hash,
                is_news: true,
            });
        }
        self.prepare(&found, &bytes, format, hash, known)
    }

    fn prepare(
        self,
        found: &Found,
        bytes: &[u8],
        format: Format,
        hash: String,
        known: Option<KnownPath>,
    ) -> Result<Outcome> {
        let is_known = known.is_some();
        let given_title = known.and_then(|it| it.title_given);
        let mut prepared = prepare::prepare_file(
            found,
            bytes,
            format,
            hash,
            given_title,
            self.options,
            self.services.num_tokens,
        )?;
        if is_known && self.options.keeps_tags {
            prepared.document.tags.clear();
        }
        Ok(Outcome::Prepared(Box::new(prepared)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Store> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands passages to the embedding threads and commits documents in turn.
struct Writer<'a, 'e> {
    store: &'a mut Store,
    planner: Planner<'a>,
    options: &'a IngestOptions,
    on_event: &'a mut OnEvent<'e>,
    report: &'a mut IngestReport,
    to_embedders: mpsc::Sender<Job>,
    permit_back: mpsc::SyncSender<()>,
    waiting: BTreeMap<Turn, Waiting>,
    next_turn: Turn,
    num_turns: Option<usize>,
}

impl Writer<'_, '_> {
    fn run(&mut self, messages: &mpsc::Receiver<Message>) -> Result<()> {
        while self.num_turns != Some(self.next_turn) {
            let message = messages.recv().expect("the planner ends with a last message");
            if self.options.is_cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            match message {
                Message::Found(num_files) => (self.on_event)(Event::Found { num_files }),
                Message::Walked(num_turns) => self.num_turns = Some(num_turns),
                Message::Outcome(turn, outcome) => self.wait(turn, outcome)?,
                Message::Embedded(turn, first, vectors) => {
                    if let Some(waiting) = self.waiting.get_mut(&turn) {
                        let vectors = vectors?;
                        (self.on_event)(Event::Embedded { num_chunks: vectors.len() });
                        for (slot, vector) in waiting.vectors[first..].iter_mut().zip(vectors) {
                            *slot = Some(vector);
                            waiting.num_missing -= 1;
                        }
                    }
                }
            }
            while self.waiting.get(&self.next_turn).is_some_and(|it| it.num_missing == 0) {
                let waiting = self.waiting.remove(&self.next_turn).expect("just seen");
                self.commit(waiting)?;
                self.next_turn += 1;
                // The planner may have ended already.
                let _ = self.permit_back.try_send(());
            }
        }
        Ok(())
    }

    /// Takes in a document and asks for the vectors that the database does not hold yet.
    fn wait(&mut self, turn: Turn, outcome: Outcome) -> Result<()> {
        let mut vectors = Vec::new();
        if let Outcome::Prepared(prepared) = &outcome {
            let passages = prepared.passages();
            vectors = self.known_vectors(&passages)?;
            self.send_jobs(turn, passages, &vectors);
        }
        let num_missing = vectors.iter().filter(|it| it.is_none()).count();
        if let Outcome::Prepared(_) = &outcome {
            (self.on_event)(Event::Prepared { num_chunks: num_missing });
        }
        self.waiting.insert(turn, Waiting { outcome, vectors, num_missing });
        Ok(())
    }

    fn known_vectors(&self, passages: &[String]) -> Result<Vec<Option<Vec<f32>>>> {
        let hashes: Vec<PassageHash> = passages.iter().map(|it| PassageHash::of(it)).collect();
        let known: HashMap<PassageHash, Vec<f32>> =
            self.planner.lock().vectors_by_passage(&hashes)?;
        Ok(hashes.iter().map(|it| known.get(it).cloned()).collect())
    }

    /// Sends runs of neighbouring passages that have no vector yet.
    fn send_jobs(&self, turn: Turn, passages: Vec<String>, vectors: &[Option<Vec<f32>>]) {
        let mut job = Job { turn, first: 0, passages: Vec::new() };
        for (idx, passage) in passages.into_iter().enumerate() {
            let is_known = vectors[idx].is_some();
            if (is_known || job.passages.len() == PASSAGES_PER_JOB) && !job.passages.is_empty() {
                let full =
                    std::mem::replace(&mut job, Job { turn, first: 0, passages: Vec::new() });
                // The embedding threads outlive the writer unless the run is stopping.
                let _ = self.to_embedders.send(full);
            }
            if !is_known {
                if job.passages.is_empty() {
                    job.first = idx;
                }
                job.passages.push(passage);
            }
        }
        if !job.passages.is_empty() {
            let _ = self.to_embedders.send(job);
        }
    }

    fn commit(&mut self, waiting: Waiting) -> Result<()> {
        match waiting.outcome {
            Outcome::Ignored => {
                self.report.ignored += 1;
                (self.on_event)(Event::Ignored);
            }
            Outcome::Failed { path, error } => {
                if error.is_fatal() {
                    return Err(error);
                }
                (self.on_event)(Event::Failed { path: &path, error: &error });
                self.report.failed.push((path, error));
            }
            Outcome::Known { found, document_id, content_hash, is_news } => {
                let is_change = is_news && self.is_anothers(&found, document_id)?;
                if is_news && !self.remember(&found, document_id, &content_hash)? {
                    return self.read_again(found);
                }
                self.skip(&found, document_id, is_change)?;
            }
            Outcome::Prepared(prepared) => {
                let vectors = waiting.vectors.into_iter().flatten().collect::<Vec<_>>();
                self.replace(&prepared, &vectors)?;
            }
        }
        Ok(())
    }

    /// Remembers where a document's bytes are too; `false` if they are not its bytes any more.
    fn remember(&mut self, found: &Found, id: DocumentId, content_hash: &str) -> Result<bool> {
        let stamp = PathStamp {
            path: paths::path_text(&found.path),
            size_bytes: found.size_bytes,
            mtime_ns: found.mtime_ns,
        };
        // A path that is gone gives way to one that is there, and so does one where something else is.
        let shown = self.store.document(id)?.and_then(|it| it.path);
        let is_gone = shown.as_ref().is_none_or(|it| !paths::path_of(it).exists());
        let vacated = match shown.filter(|it| !is_gone && *it != stamp.path) {
            Some(shown) => self.store.known_path(&shown)?.map(|it| it.stamp),
            None => None,
        };
        let vacated = vacated.filter(|it| !is_unchanged(it));
        self.store.remember_path(id, content_hash, &stamp, is_gone, vacated.as_ref())
    }

    /// Whether a file that has this document's bytes had another's when it was seen last.
    fn is_anothers(&self, found: &Found, id: DocumentId) -> Result<bool> {
        let known = self.store.known_path(&paths::path_text(&found.path))?;
        Ok(known.is_some_and(|it| it.document_id != id))
    }

    /// Ingests a file whose bytes a document had when it was looked at, but has no more: another
    /// file of the same run took that document's place (a copy was made, then the first changed).
    fn read_again(&mut self, found: Found) -> Result<()> {
        let outcome = self.planner.outcome(Ok(found));
        let mut vectors = Vec::new();
        if let Outcome::Prepared(prepared) = &outcome {
            let passages = prepared.passages();
            let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
            let embedded = self.planner.services.embedder.embed_passages(&passages)?;
            vectors = embedded.into_iter().map(Some).collect();
        }
        self.commit(Waiting { outcome, vectors, num_missing: 0 })
    }

    /// Counts a file whose bytes are stored already, as updated if they are a change to it.
    fn skip(&mut self, found: &Found, document_id: DocumentId, is_change: bool) -> Result<()> {
        if !self.options.tags.is_empty() && !self.options.keeps_tags {
            self.store.add_tags(document_id, &self.options.tags)?;
        }
        *(if is_change { &mut self.report.updated } else { &mut self.report.skipped }) += 1;
        (self.on_event)(Event::Skipped { path: Some(&found.path), document_id });
        Ok(())
    }

    fn replace(&mut self, prepared: &Prepared, vectors: &[Vec<f32>]) -> Result<()> {
        let change = stage("store", || {
            self.store.replace(&prepared.document, &prepared.chunks, vectors, &is_unchanged)
        })?;
        self.report.count(change, prepared, self.on_event);
        Ok(())
    }
}

/// Whether the file at a remembered path is as it was.
fn is_unchanged(stamp: &PathStamp) -> bool {
    walk::stamp(&paths::path_of(&stamp.path)).is_some_and(|(size_bytes, mtime_ns)| {
        (size_bytes, mtime_ns) == (stamp.size_bytes, stamp.mtime_ns)
    })
}
