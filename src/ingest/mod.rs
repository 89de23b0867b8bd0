//! Files in, stored chunks out: walk → detect → extract → chunk → embed → store.
//!
//! ```text
//! planner ──► rayon workers ──────► embedding threads ──► writer (the calling thread)
//! walk,       read, hash, detect,   one passage after     commits documents in the
//! unchanged?  extract, chunk        another               order they were found
//! ```
//!
//! Bounded everywhere: a document takes a permit when it is found and gives it back when it is
//! committed. Commits follow the order of the walk, so the same files give the same ids. A file
//! that cannot be read ends as a line in the report, never as a stopped run; a failure of the
//! database or of the model stops the run and keeps what is committed.

pub mod chunk;
pub mod decode;
pub mod detect;
pub mod extract;
mod pipeline;
mod prepare;
pub mod survey;
pub mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::document::{DocType, DocumentId};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::ingest::chunk::{ChunkOptions, Strategy};
use crate::ingest::detect::Wanted;
use crate::ingest::extract::child::ReadOptions;
use crate::ingest::prepare::Prepared;
use crate::ingest::walk::{Found, WalkOptions};
use crate::store::{Change, Store};

/// Counts the tokens of a text, special tokens not among them.
pub type NumTokens<'a> = dyn Fn(&str) -> usize + Sync + 'a;

/// How files are ingested.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// Which files of a folder are looked at.
    pub walk: WalkOptions,
    /// What the files are, where the user says so.
    pub wanted: Wanted,
    /// Title instead of the document's own; for a single document.
    pub title: Option<String>,
    /// Tags every document of the run gets.
    pub tags: Vec<String>,
    /// How documents are cut.
    pub chunking: ChunkingOptions,
    /// How PDF files are read.
    pub pdf: ReadOptions,
    /// Threads that read, extract and chunk.
    pub num_workers: usize,
    /// Documents that may be under way at once; each is committed for itself.
    pub batch_size: usize,
    /// Threads that embed.
    pub num_embedders: usize,
    /// Becomes true when the run is to end; what is committed stays.
    pub is_cancelled: Arc<AtomicBool>,
    /// Documents that are known get no tags: what the user took from them stays away.
    pub keeps_tags: bool,
}

impl IngestOptions {
    /// Returns what the configuration has as its defaults. `reader` is the program `kb`, which is
    /// started to read PDFs and the like; the numbers of tokens are those of [`ChunkOptions`].
    pub fn new(reader: PathBuf, model_tokens: usize, reserved_tokens: usize) -> Self {
        Self {
            walk: WalkOptions { max_file_mb: 100, follow_links: false },
            wanted: Wanted::default(),
            title: None,
            tags: Vec::new(),
            chunking: ChunkingOptions::new(model_tokens, reserved_tokens),
            pdf: ReadOptions::new(reader),
            num_workers: 4,
            batch_size: 50,
            num_embedders: 1,
            is_cancelled: Arc::default(),
            keeps_tags: false,
        }
    }
}

/// How documents are cut, by type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkingOptions {
    /// PDF.
    pub pdf: ChunkOptions,
    /// Markdown and plain text.
    pub markdown: ChunkOptions,
    /// Source code.
    pub code: ChunkOptions,
    /// Notes.
    pub note: ChunkOptions,
}

impl ChunkingOptions {
    /// Returns what the configuration has as its defaults; the model's limit holds everywhere.
    pub fn new(model_tokens: usize, reserved_tokens: usize) -> Self {
        let common = ChunkOptions {
            strategy: Strategy::Structure,
            max_tokens: 1024,
            min_tokens: 50,
            overlap_tokens: 50,
            model_tokens,
            reserved_tokens,
            include_context: true,
        };
        Self {
            pdf: common.clone(),
            markdown: common.clone(),
            code: ChunkOptions { min_tokens: 0, ..common.clone() },
            note: ChunkOptions { strategy: Strategy::Whole, max_tokens: 512, ..common },
        }
    }

    fn of(&self, doc_type: DocType) -> &ChunkOptions {
        match doc_type {
            DocType::Pdf => &self.pdf,
            DocType::Markdown => &self.markdown,
            DocType::Code => &self.code,
            DocType::Note => &self.note,
        }
    }
}

/// What the stages need from outside.
pub struct Services<'a> {
    /// Counts tokens as the embedder does.
    pub num_tokens: &'a NumTokens<'a>,
    /// Embeds; called from several threads.
    pub embedder: &'a dyn Embedder,
}

/// What happened to one file, told as it happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// The walk has found this many candidates so far.
    Found {
        /// Files seen, unchanged and ignored ones not among them.
        num_files: usize,
    },
    /// A file was read and cut; its chunks wait to be embedded, but for those whose vectors are known.
    Prepared {
        /// Its chunks that wait.
        num_chunks: usize,
    },
    /// Chunks were embedded.
    Embedded {
        /// How many.
        num_chunks: usize,
    },
    /// A document was committed.
    Stored {
        /// Its file; `None` for a note given as text.
        path: Option<&'a Path>,
        /// Its chunks.
        num_chunks: usize,
        /// What the reader wants the user to know.
        warnings: &'a [String],
    },
    /// A document is there already.
    Skipped {
        /// Its file; `None` for a note given as text.
        path: Option<&'a Path>,
        /// The document that holds its bytes.
        document_id: i64,
    },
    /// A file is of a kind that is not ingested from folders, or empty.
    Ignored,
    /// A file could not be ingested.
    Failed {
        /// Which file.
        path: &'a Path,
        /// Why.
        error: &'a Error,
    },
}

/// Receives events; called from one thread at a time.
pub type OnEvent<'a> = dyn FnMut(Event<'_>) + 'a;

/// What a run did.
#[derive(Debug, Default)]
pub struct IngestReport {
    /// Documents that are new.
    pub added: usize,
    /// Documents whose content was replaced.
    pub updated: usize,
    /// Files whose bytes are stored already.
    pub skipped: usize,
    /// Files of kinds that are not ingested from folders, and empty ones.
    pub ignored: usize,
    /// Chunks written.
    pub num_chunks: usize,
    /// Ids of the documents added or updated, in order.
    pub document_ids: Vec<i64>,
    /// Files that could not be ingested, in the order they were found.
    pub failed: Vec<(PathBuf, Error)>,
}

impl IngestReport {
    /// Counts what became of a document and tells.
    fn count(&mut self, change: Change, prepared: &Prepared, on_event: &mut OnEvent<'_>) {
        let path = prepared.document.stamp.as_ref().map(|it| Path::new(&it.path));
        let document_id = change.document_id();
        match change {
            Change::Unchanged(_) => {
                self.skipped += 1;
                on_event(Event::Skipped { path, document_id });
                return;
            }
            Change::Added(_) => self.added += 1,
            Change::Updated(_) => self.updated += 1,
        }
        let num_chunks = prepared.chunks.len();
        self.num_chunks += num_chunks;
        self.document_ids.push(document_id);
        on_event(Event::Stored { path, num_chunks, warnings: &prepared.warnings });
    }
}

/// Ingests files and folders.
///
/// # Errors
///
/// Only what stops a run: the database or the model failing. What was committed before stays,
/// and `report` has counted it.
pub fn ingest(
    store: &mut Store,
    services: &Services<'_>,
    roots: &[PathBuf],
    options: &IngestOptions,
    on_event: &mut OnEvent<'_>,
    report: &mut IngestReport,
) -> Result<()> {
    pipeline::run(store, services, roots, options, on_event, report)
}

/// Returns what `documents.content_hash` says of these bytes: SHA-256, lower-case hex.
pub fn content_hash(bytes: &[u8]) -> String {
    prepare::sha256_hex(bytes)
}

/// Refuses a note without a word, before a model is looked for.
///
/// # Errors
///
/// [`Error::Usage`].
pub fn check_note(text: &str) -> Result<()> {
    if !text.trim().is_empty() {
        return Ok(());
    }
    Err(Error::Usage {
        message: "the note is empty".into(),
        hint: Some("`kb add --note \"what to remember\"`".into()),
    })
}

/// Ingests a note given as text; in the place of the note with the id `replaced`, if there is one.
///
/// # Errors
///
/// [`Error::Usage`] for a blank note, [`Error::UnknownDocument`] if `replaced` is no note given as
/// text, and whatever the model or the database gives.
pub fn ingest_note(
    store: &mut Store,
    services: &Services<'_>,
    text: &str,
    replaced: Option<DocumentId>,
    options: &IngestOptions,
    on_event: &mut OnEvent<'_>,
    report: &mut IngestReport,
) -> Result<()> {
    check_note(text)?;
    let mut options = options.clone();
    if let Some(id) = replaced {
        let unknown = || Error::UnknownDocument { id: id.to_string() };
        let note = store.document(id)?.ok_or_else(unknown)?;
        if options.title.is_none() && note.is_title_given {
            options.title = Some(note.title);
        }
    }
    let hash = content_hash(text.as_bytes());
    let prepared = prepare::prepare_note(text, hash, &options, services.num_tokens);
    let vectors = embed(services, &prepared)?;
    let (document, chunks) = (&prepared.document, &prepared.chunks);
    let change = match replaced {
        Some(id) => store.replace_note(id, document, chunks, &vectors)?,
        None => store.replace(document, chunks, &vectors, &|_| false)?,
    };
    report.count(change, &prepared, on_event);
    Ok(())
}

/// What a document without a file is called where it does not say.
const UNNAMED: &str = "standard input";

/// Ingests a document that has no file: its bytes. What it is, is seen in them unless `options` say;
/// text is Markdown.
///
/// # Errors
///
/// [`Error::EmptyFile`] and [`Error::Extract`], and whatever the model or the database gives.
pub fn ingest_bytes(
    store: &mut Store,
    services: &Services<'_>,
    bytes: &[u8],
    options: &IngestOptions,
    on_event: &mut OnEvent<'_>,
    report: &mut IngestReport,
) -> Result<()> {
    let path = PathBuf::from(UNNAMED);
    let text = Wanted { doc_type: Some(DocType::Markdown), language: None };
    let format = match detect::detect(&path, bytes, true, options.wanted) {
        Err(Error::UnsupportedFormat { .. }) => detect::detect(&path, bytes, true, text)?,
        other => other?,
    };
    let format = format.ok_or_else(|| Error::EmptyFile { path: path.clone() })?;
    let found = Found { path, size_bytes: bytes.len() as u64, mtime_ns: 0, is_named: true };
    let hash = content_hash(bytes);
    let num_tokens = services.num_tokens;
    let mut prepared =
        prepare::prepare_file(&found, bytes, format, hash, None, options, num_tokens)?;
    prepared.document.stamp = None;
    let vectors = embed(services, &prepared)?;
    let (document, chunks) = (&prepared.document, &prepared.chunks);
    let change = store.replace(document, chunks, &vectors, &|_| false)?;
    report.count(change, &prepared, on_event);
    Ok(())
}

/// Embeds the chunks of one document.
fn embed(services: &Services<'_>, prepared: &Prepared) -> Result<Vec<Vec<f32>>> {
    let passages = prepared.passages();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    services.embedder.embed_passages(&passages)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::document::{Binding, Filter, Precision};
    use crate::embed::Side;
    use crate::ingest::chunk::Strategy;

    /// Embeds a passage by its letters.
    struct Letters(Binding);

    impl Embedder for Letters {
        fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>> {
            let embed = |passage: &&str| {
                let mut counts = [1.0_f32; 8];
                passage.bytes().for_each(|it| counts[usize::from(it % 8)] += 1.0);
                let length = counts.iter().map(|it| it * it).sum::<f32>().sqrt();
                counts.map(|it| it / length).to_vec()
            };
            Ok(passages.iter().map(embed).collect())
        }

        fn embed_cut(&self, text: &str, _: Side) -> Result<(Vec<f32>, bool)> {
            Ok((self.embed_passages(&[text])?.remove(0), false))
        }

        fn num_tokens(&self, text: &str) -> usize {
            text.len()
        }

        fn num_unknown(&self, _: &str) -> usize {
            0
        }

        fn binding(&self) -> &Binding {
            &self.0
        }
    }

    fn letters() -> Letters {
        Letters(Binding {
            model_name: "letters".into(),
            dim: 8,
            max_tokens: 256,
            precision: Precision::Fp32,
            passage_prefix: String::new(),
        })
    }

    fn options() -> IngestOptions {
        let chunking = ChunkOptions {
            strategy: Strategy::Structure,
            max_tokens: 100,
            min_tokens: 5,
            overlap_tokens: 0,
            model_tokens: 256,
            reserved_tokens: 2,
            include_context: true,
        };
        IngestOptions {
            walk: WalkOptions { max_file_mb: 1, follow_links: false },
            wanted: Wanted::default(),
            title: None,
            tags: Vec::new(),
            chunking: ChunkingOptions {
                pdf: chunking.clone(),
                markdown: chunking.clone(),
                code: chunking.clone(),
                note: chunking,
            },
            pdf: ReadOptions::new(PathBuf::new()),
            num_workers: 4,
            batch_size: 8,
            num_embedders: 2,
            is_cancelled: Arc::default(),
            keeps_tags: false,
        }
    }

    /// Ingests a folder and returns how many documents were added, updated and skipped.
    fn add(store: &mut Store, folder: &Path) -> (usize, usize, usize) {
        let embedder = letters();
        store.bind(embedder.binding()).unwrap();
        let num_tokens = |text: &str| text.split_whitespace().count();
        let services = Services { num_tokens: &num_tokens, embedder: &embedder };
        let mut report = IngestReport::default();
        let roots = [folder.to_owned()];
        ingest(store, &services, &roots, &options(), &mut |_| {}, &mut report).unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        (report.added, report.updated, report.skipped)
    }

    /// Returns the text found at a path.
    fn text(store: &Store, path: &Path) -> String {
        let known = store.known_path(&path.to_string_lossy()).unwrap().unwrap();
        let chunks = store.chunks(known.document_id).unwrap();
        chunks.into_iter().map(|it| it.chunk.text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_file_that_was_copied_and_then_changed_loses_nothing() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let mut store = Store::open(&folder.path().join(".kb").join("kb.db")).unwrap();
            let (first, copy) = (folder.path().join("a.md"), folder.path().join("b.md"));
            fs::write(&first, "the old words of a file").unwrap();
            assert_eq!(add(&mut store, folder.path()), (1, 0, 0));
            fs::copy(&first, &copy).unwrap();
            fs::write(&first, "some new words in the first, and more of them").unwrap();
            assert_eq!(add(&mut store, folder.path()), (1, 1, 0));
            assert!(text(&store, &first).contains("new words"));
            assert!(text(&store, &copy).contains("old words"));
            assert_eq!(add(&mut store, folder.path()), (0, 0, 2));
            assert!(store.check().unwrap().is_empty());
        }
    }

    #[test]
    fn a_vanished_path_gives_way_to_a_living_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join(".kb").join("kb.db")).unwrap();
        let (first, copy) = (folder.path().join("a.md"), folder.path().join("b.md"));
        fs::write(&first, "the same words twice").unwrap();
        fs::copy(&first, &copy).unwrap();
        assert_eq!(add(&mut store, folder.path()), (1, 0, 1));
        fs::remove_file(&first).unwrap();
        assert_eq!(add(&mut store, folder.path()), (0, 0, 1));
        let documents = store.documents(&Filter::default()).unwrap();
        assert_eq!(documents[0].path.as_deref(), copy.to_str());
    }
}
