//! What the walk finds in, what is to be done with each file out, on all workers.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::{fs, panic};

use crate::document::{Format, Language};
use crate::error::{Error, Failure, Result};
use crate::hash;
use crate::ingest::walk::Found;
use crate::ingest::{IngestOptions, Services, detect, paths, prepare, walk};
use crate::store::{KnownPath, Store};
use crate::trace::stage;

use super::{Message, Outcome};

/// Finds files and sends them to the workers, which ask first whether a file may be new.
#[derive(Clone, Copy)]
pub(super) struct Planner<'a> {
    pub(super) reader: &'a Mutex<Store>,
    pub(super) services: &'a Services<'a>,
    pub(super) options: &'a IngestOptions,
    pub(super) is_stopped: &'a AtomicBool,
}

impl Planner<'_> {
    /// Walks, until it is stopped or done.
    pub(super) fn walk(
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

    /// Returns what is to be done with a file.
    pub(super) fn outcome(self, item: Result<Found>) -> Outcome {
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

    /// Returns the connection that reads.
    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
