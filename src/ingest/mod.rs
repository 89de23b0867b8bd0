//! Turns files into stored chunks: walk → detect → extract → chunk → embed → store.
//!
//! ```text
//! planner ──► rayon workers ──────► embedding threads ──► writer (the calling thread)
//! walk        unchanged? read,      one passage after     commits documents in the
//!             hash, detect,         another               order they were found
//!             extract, chunk
//! ```
//!
//! The number of documents in progress is bounded: each takes a permit when it is found and gives
//! it back when it is committed. Commits follow the order of the walk, so the same files get the
//! same ids. A file that cannot be read becomes a line in the report and never stops the run. A
//! failure of the database or of the model stops the run and keeps everything committed before.

pub mod detect;
mod edit;
pub mod foresee;
pub mod freshness;
mod ledger;
pub mod making;
mod options;
pub mod pace;
mod pipeline;
mod prepare;
pub mod reach;
mod report;
pub mod survey;
pub mod walk;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::document::{DocType, DocumentId};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::hash;
use crate::ingest::detect::TypeOverride;
use crate::ingest::prepare::{Prepared, ReadFile};
use crate::ingest::reach::Reach;
use crate::ingest::walk::{Found, Start};
use crate::store::Store;

pub use crate::extract::clock::CpuBudget;
pub use edit::EditedText;
pub use options::{ChunkingOptions, IngestOptions};
pub use report::{Event, IngestReport, OnEvent};

/// Counts the tokens of a text, without special tokens.
pub type NumTokens<'a> = dyn Fn(&str) -> usize + Sync + 'a;

/// The services that the stages depend on.
pub struct Services<'a> {
    /// Counts tokens as the embedder does.
    pub num_tokens: &'a NumTokens<'a>,
    /// Embeds; called from several threads.
    pub embedder: &'a dyn Embedder,
}

/// One run of all stages.
pub struct Run<'a> {
    /// Where documents are stored.
    pub store: &'a mut Store,
    /// Counts and embeds.
    pub services: &'a Services<'a>,
    /// How documents are read and split.
    pub options: &'a IngestOptions,
    /// Receives events as they happen.
    pub on_event: &'a mut OnEvent<'a>,
    /// Counts the documents committed, even if an error stops the run.
    pub report: IngestReport,
}

/// Returns the value of `documents.content_hash` for these bytes: SHA-256, lower-case hex.
pub fn content_hash(bytes: &[u8]) -> String {
    hash::sha256(bytes)
}

/// Refuses an empty note before a model is loaded.
///
/// # Errors
///
/// [`Error::Usage`] for a note without a visible character.
pub fn check_note(text: &str) -> Result<()> {
    if !text.trim().is_empty() {
        return Ok(());
    }
    Err(Error::Usage {
        message: "the note is empty".into(),
        hint: Some("`kb add --note \"what to remember\"`".into()),
    })
}

/// The title of a document that has neither a file nor a title.
const UNNAMED: &str = "standard input";

impl Run<'_> {
    /// Ingests files and folders.
    ///
    /// # Errors
    ///
    /// Only what stops a run: a failure of the database or of the model. Everything committed
    /// before stays.
    pub fn ingest(&mut self, starts: &[Start]) -> Result<()> {
        pipeline::run(self, starts)
    }

    /// Ingests a note given as text. It replaces the note with the id `replaced`, if there is one. A
    /// note that is already stored gets the title and the tags of the options.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for a blank note, [`Error::UnknownDocument`] if `replaced` is not a note
    /// given as text, and any failure of the model or of the database.
    pub fn ingest_note(&mut self, text: &str, replaced: Option<DocumentId>) -> Result<()> {
        check_note(text)?;
        let mut options = self.options.clone();
        if let Some(id) = replaced {
            let unknown = || Error::UnknownDocument { id: id.to_string() };
            let note = self.store.document(id)?.ok_or_else(unknown)?;
            if note.doc_type != DocType::Note || note.path.is_some() {
                return Err(Error::NotANote { id: id.to_string() });
            }
            if options.title.is_none() && note.is_title_given {
                options.title = Some(note.title);
            }
        }
        let hash = content_hash(text.as_bytes());
        let stored = self.store.document_by_hash(&hash)?;
        let stored = stored.filter(|note| note.doc_type == DocType::Note && note.path.is_none());
        let retitled = stored.as_ref().filter(|note| {
            let title = (note.is_title_given).then_some(&note.title);
            options.title.is_some() && title != options.title.as_ref()
        });
        let is_retitled = replaced.is_none() && retitled.is_some();
        let is_tagged = replaced.is_none()
            && stored
                .as_ref()
                .is_some_and(|note| options.tags.iter().any(|tag| !note.tags.contains(tag)));
        let replaced = replaced.or_else(|| retitled.map(|note| note.id));
        let budget = CpuBudget::new(options.max_cpu);
        let num_tokens = self.services.num_tokens;
        let prepared = prepare::prepare_note(text, hash, &options, num_tokens, &budget)?;
        let vectors = embed(self.services, &prepared, &budget)?;
        let (document, chunks) = (&prepared.document, &prepared.chunks);
        let change = match replaced {
            Some(id) => self.store.replace_note(id, document, chunks, &vectors)?,
            None => self.store.replace(document, chunks, &vectors, &|_| false)?,
        };
        self.report.retitled += usize::from(is_retitled);
        self.report.tagged += usize::from(is_tagged);
        self.report.count(change, &prepared, self.on_event);
        Ok(())
    }

    /// Splits stored notes again.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`], and errors of the model and the database.
    pub fn reread_notes(&mut self, ids: &[DocumentId]) -> Result<()> {
        for id in ids {
            if self.options.is_cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            // It may have been removed meanwhile.
            let Some(note) = self.store.document(*id)? else { continue };
            let Some(text) = self.store.note_text(*id)? else { continue };
            let title = note.is_title_given.then_some(note.title);
            let options = IngestOptions { title, ..self.options.clone() };
            let budget = CpuBudget::new(options.max_cpu);
            let num_tokens = self.services.num_tokens;
            let hash = note.content_hash;
            let mut prepared = prepare::prepare_note(&text, hash, &options, num_tokens, &budget)?;
            prepared.document.metadata = note.metadata;
            let vectors = embed(self.services, &prepared, &budget)?;
            let (document, chunks) = (&prepared.document, &prepared.chunks);
            let change = self.store.replace_note(*id, document, chunks, &vectors)?;
            self.report.count(change, &prepared, self.on_event);
        }
        Ok(())
    }

    /// Ingests the bytes of a document that has no file. The content decides the format unless the
    /// options do; text is read as Markdown.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyFile`] and [`Error::Extract`], and any failure of the model or of the
    /// database.
    pub fn ingest_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let path = PathBuf::from(UNNAMED);
        let text = TypeOverride { doc_type: Some(DocType::Markdown), language: None };
        let format = match detect::detect(&path, bytes, true, self.options.wanted) {
            Err(Error::UnsupportedFormat { .. }) => detect::detect(&path, bytes, true, text)?,
            other => other?,
        };
        let format = format.ok_or_else(|| Error::EmptyFile { path: path.clone() })?;
        let size_bytes = bytes.len() as u64;
        // There is no file to open.
        let reach = Reach::Anywhere;
        let found = Found { path, size_bytes, mtime_ns: 0, is_named: true, reach };
        let content_hash = content_hash(bytes);
        let file = ReadFile { found: &found, bytes, format, content_hash, given_title: None };
        let budget = CpuBudget::new(self.options.max_cpu);
        let num_tokens = self.services.num_tokens;
        let mut prepared = prepare::prepare_file(file, self.options, num_tokens, &budget)?;
        prepared.document.stamp = None;
        let vectors = embed(self.services, &prepared, &budget)?;
        let (document, chunks) = (&prepared.document, &prepared.chunks);
        let change = self.store.replace(document, chunks, &vectors, &|_| false)?;
        self.report.count(change, &prepared, self.on_event);
        Ok(())
    }
}

/// How many passages are embedded at a time. The number is small so that one long document is
/// spread over all threads, and so that a document that uses up its time is stopped soon.
const PASSAGES_PER_JOB: usize = 8;

/// Embeds the chunks of one document.
fn embed(
    services: &Services<'_>,
    prepared: &Prepared,
    budget: &CpuBudget,
) -> Result<Vec<Vec<f32>>> {
    let passages = prepared.passages();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    let mut vectors = Vec::with_capacity(passages.len());
    for passages in passages.chunks(PASSAGES_PER_JOB) {
        budget.check()?;
        vectors.extend(budget.spend(|| services.embedder.embed_passages(passages))?);
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;
    use std::sync::{Condvar, Mutex};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::chunk::{ChunkOptions, Strategy};
    use crate::document::{Binding, Filter, Precision};
    use crate::embed::Side;

    /// Embeds a passage by counting its letters.
    struct LetterEmbedder(Binding);

    impl Embedder for LetterEmbedder {
        fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>> {
            let embed = |passage: &&str| {
                let mut counts = [1.0_f32; 8];
                passage.bytes().for_each(|byte| counts[usize::from(byte % 8)] += 1.0);
                let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
                counts.map(|count| count / length).to_vec()
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

    fn letters() -> LetterEmbedder {
        LetterEmbedder(Binding {
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
        let chunking = ChunkingOptions {
            pdf: chunking.clone(),
            markdown: chunking.clone(),
            code: chunking.clone(),
            note: chunking,
        };
        IngestOptions { chunking, num_embedders: 2, ..IngestOptions::new(PathBuf::new(), 256, 2) }
    }

    /// Ingests a folder and returns how many documents were added, updated and skipped.
    fn add(store: &mut Store, folder: &Path) -> (usize, usize, usize) {
        let num_tokens = |text: &str| text.split_whitespace().count();
        let services = Services { num_tokens: &num_tokens, embedder: &letters() };
        let report = add_with(store, folder, &services, &options(), &mut |_| {});
        (report.added, report.updated, report.skipped)
    }

    fn add_with(
        store: &mut Store,
        folder: &Path,
        services: &Services<'_>,
        options: &IngestOptions,
        on_event: &mut OnEvent<'_>,
    ) -> IngestReport {
        store.bind(services.embedder.binding()).unwrap();
        let report = IngestReport::default();
        let mut run = Run { store, services, options, on_event, report };
        run.ingest(&[Start::named(folder)]).unwrap();
        assert!(run.report.failed.is_empty(), "{:?}", run.report.failed);
        run.report
    }

    /// Creates a folder with this many files, and a database.
    fn folder_of(num_files: usize) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..num_files {
            fs::write(folder.path().join(format!("{number}.md")), format!("file {number}"))
                .unwrap();
        }
        let store = Store::open(&folder.path().join(".kb").join("kb.db")).unwrap();
        (folder, store)
    }

    /// Makes threads wait until the expected number is counted. The time limit makes a program that
    /// never gets there fail instead of hang.
    #[derive(Default)]
    struct CountBarrier {
        counted: Mutex<BTreeSet<String>>,
        changed: Condvar,
    }

    impl CountBarrier {
        fn count(&self, name: String) {
            self.counted.lock().unwrap().insert(name);
            self.changed.notify_all();
        }

        fn wait_for(&self, expected: usize) {
            let counted = self.counted.lock().unwrap();
            let limit = Duration::from_secs(60);
            drop(
                self.changed.wait_timeout_while(counted, limit, |counted| counted.len() < expected),
            );
        }
    }

    /// Returns the text that is stored for a path.
    fn text(store: &Store, path: &Path) -> String {
        let known = store.known_path(&path.to_string_lossy()).unwrap().unwrap();
        let chunks = store.chunks(known.document_id).unwrap();
        chunks.into_iter().map(|stored| stored.chunk.text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn copying_a_file_and_then_changing_it_loses_nothing() {
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
    fn a_missing_path_is_replaced_by_one_that_exists() {
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

    #[test]
    fn as_many_files_are_read_in_parallel_as_there_are_workers() {
        for num_workers in [1, 3] {
            let (folder, mut store) = folder_of(12);
            let readers = CountBarrier::default();
            let num_tokens = |text: &str| {
                readers.count(format!("{:?}", thread::current().id()));
                readers.wait_for(num_workers);
                text.split_whitespace().count()
            };
            let options = IngestOptions { num_workers, ..options() };
            let services = Services { num_tokens: &num_tokens, embedder: &letters() };
            let report = add_with(&mut store, folder.path(), &services, &options, &mut |_| {});
            assert_eq!(report.added, 12);
            assert_eq!(readers.counted.into_inner().unwrap().len(), num_workers);
        }
    }

    /// Embeds like [`LetterEmbedder`], but waits until the expected number of documents is in progress.
    struct WaitingEmbedder<'a> {
        letters: LetterEmbedder,
        found: &'a CountBarrier,
        expected: usize,
    }

    impl Embedder for WaitingEmbedder<'_> {
        fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>> {
            self.found.wait_for(self.expected);
            self.letters.embed_passages(passages)
        }

        fn embed_cut(&self, text: &str, side: Side) -> Result<(Vec<f32>, bool)> {
            self.letters.embed_cut(text, side)
        }

        fn num_tokens(&self, text: &str) -> usize {
            self.letters.num_tokens(text)
        }

        fn num_unknown(&self, text: &str) -> usize {
            self.letters.num_unknown(text)
        }

        fn binding(&self) -> &Binding {
            self.letters.binding()
        }
    }

    #[test]
    fn the_batch_size_limits_the_documents_in_progress() {
        for batch_size in [1, 4] {
            let (folder, mut store) = folder_of(12);
            let found = CountBarrier::default();
            let embedder =
                WaitingEmbedder { letters: letters(), found: &found, expected: batch_size };
            let num_tokens = |text: &str| text.split_whitespace().count();
            let options = IngestOptions { num_workers: 1, batch_size, ..options() };
            let services = Services { num_tokens: &num_tokens, embedder: &embedder };
            let (mut num_stored, mut most) = (0, 0);
            let mut on_event = |event: Event<'_>| match event {
                Event::Found { num_files } => {
                    found.count(num_files.to_string());
                    most = most.max(num_files - num_stored);
                }
                Event::Stored { .. } => num_stored += 1,
                _ => {}
            };
            let report = add_with(&mut store, folder.path(), &services, &options, &mut on_event);
            assert_eq!((report.added, most), (12, batch_size));
        }
    }
}
