//! Tests ingestion: copies, missing paths, parallel workers and the batch size.

mod notes;
mod runs;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::*;
use crate::chunk::{ChunkOptions, Strategy};
use crate::document::{Binding, DocType, Embedding, Filter, ModelFiles, Precision};
use crate::embedder::{Embedder, EmbeddingSide, QueryEmbedding};
use crate::error::Error;
use crate::extract::detect::{TextExtensions, TypeOverride};
use crate::extract::sandbox::ReadOptions;
use crate::store::Store;
use crate::walk::WalkOptions;

/// Embeds a passage by counting its letters. The function counts tokens.
struct LetterEmbedder<'a>(Binding, &'a (dyn Fn(&str) -> usize + Sync));

fn num_words(text: &str) -> usize {
    text.split_whitespace().count()
}

impl Embedder for LetterEmbedder<'_> {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Embedding>> {
        let embed = |passage: &&str| {
            let mut counts = [1.0_f32; 8];
            passage.bytes().for_each(|byte| counts[usize::from(byte % 8)] += 1.0);
            let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
            let vector = counts.map(|count| count / length).to_vec();
            Embedding { vector, codes: None }
        };
        Ok(passages.iter().map(embed).collect())
    }

    fn embed_cut(&self, text: &str, _: EmbeddingSide) -> Result<(Embedding, bool)> {
        Ok((self.embed_passages(&[text])?.remove(0), false))
    }

    fn embed_query(&self, _: &str) -> Result<QueryEmbedding> {
        unreachable!("these tests do not search")
    }

    fn num_tokens(&self, text: &str) -> usize {
        (self.1)(text)
    }

    fn num_unknown(&self, _: &str) -> usize {
        0
    }

    fn binding(&self) -> &Binding {
        &self.0
    }
}

fn letters() -> LetterEmbedder<'static> {
    let binding = Binding {
        model_name: "letters".into(),
        dim: 8,
        max_tokens: 256,
        precision: Precision::Fp32,
        passage_prefix: String::new(),
        files: ModelFiles::default(),
    };
    LetterEmbedder(binding, &num_words)
}

pub(crate) fn options() -> IngestOptions {
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
    IngestOptions {
        walk: WalkOptions {
            max_file_mb: 100,
            follow_links: false,
            text_extensions: TextExtensions::NONE,
        },
        wanted: TypeOverride::default(),
        title: None,
        tags: Vec::new(),
        chunking,
        pdf: ReadOptions::new(PathBuf::new()),
        num_workers: 4,
        batch_size: 50,
        num_embedders: 2,
        max_cpu: Duration::from_secs(600),
        is_cancelled: Arc::default(),
        keeps_tags: false,
        inline_tags: false,
        rereads: Arc::default(),
    }
}

/// Ingests a folder and returns how many documents were added, updated and skipped.
fn add(store: &mut Store, folder: &Path) -> (usize, usize, usize) {
    let embedder = letters();
    let report = add_with(store, folder, &embedder, &options(), &mut |_| {});
    (report.added, report.updated, report.skipped)
}

fn add_with(
    store: &mut Store,
    folder: &Path,
    embedder: &dyn Embedder,
    options: &IngestOptions,
    on_event: &mut OnEvent<'_>,
) -> IngestReport {
    store.bind(embedder.binding()).unwrap();
    let report = IngestReport::default();
    let mut run = IngestRun { store, embedder: Some(embedder), options, on_event, report };
    run.ingest(&[Start::named(folder)]).unwrap();
    assert!(run.report.failed.is_empty(), "{:?}", run.report.failed);
    run.report
}

/// Creates a folder with this many files, and a database.
fn folder_of(num_files: usize) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..num_files {
        fs::write(folder.path().join(format!("{number}.md")), format!("file {number}")).unwrap();
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
        drop(self.changed.wait_timeout_while(counted, limit, |counted| counted.len() < expected));
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
            num_words(text)
        };
        let options = IngestOptions { num_workers, ..options() };
        let embedder = LetterEmbedder(letters().0, &num_tokens);
        let report = add_with(&mut store, folder.path(), &embedder, &options, &mut |_| {});
        assert_eq!(report.added, 12);
        assert_eq!(readers.counted.into_inner().unwrap().len(), num_workers);
    }
}

#[test]
fn a_long_file_comes_after_short_ones_whatever_the_number_of_threads() {
    for (num_workers, num_embedders, batch_size) in [(1, 1, 1), (3, 2, 50), (2, 3, 4)] {
        let (folder, mut store) = folder_of(12);
        fs::write(folder.path().join("0.md"), "a long file\n\n".repeat(800)).unwrap();
        let options = IngestOptions { num_workers, num_embedders, batch_size, ..options() };
        let embedder = letters();
        let mut names = Vec::new();
        let mut on_event = |event: IngestEvent<'_>| {
            if let IngestEvent::Stored { path: Some(path), .. } = event {
                names.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
            }
        };
        let report = add_with(&mut store, folder.path(), &embedder, &options, &mut on_event);
        assert_eq!(names, ["1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9", "0"]);
        let ids: Vec<i64> = report.document_ids.iter().map(|id| id.0).collect();
        assert!(ids.into_iter().eq(1..=12));
    }
}

/// Embeds like [`LetterEmbedder`], but waits until the expected number of documents is in progress.
struct WaitingEmbedder<'a> {
    letters: LetterEmbedder<'static>,
    found: &'a CountBarrier,
    expected: usize,
}

impl Embedder for WaitingEmbedder<'_> {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Embedding>> {
        self.found.wait_for(self.expected);
        self.letters.embed_passages(passages)
    }

    fn embed_cut(&self, text: &str, side: EmbeddingSide) -> Result<(Embedding, bool)> {
        self.letters.embed_cut(text, side)
    }

    fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        self.letters.embed_query(query)
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
        let embedder = WaitingEmbedder { letters: letters(), found: &found, expected: batch_size };
        let options = IngestOptions { num_workers: 1, batch_size, ..options() };
        let (mut num_stored, mut most) = (0, 0);
        let mut on_event = |event: IngestEvent<'_>| match event {
            IngestEvent::Found(num_files) => {
                found.count(num_files.to_string());
                most = most.max(num_files - num_stored);
            }
            IngestEvent::Stored { .. } => num_stored += 1,
            _ => {}
        };
        let report = add_with(&mut store, folder.path(), &embedder, &options, &mut on_event);
        assert_eq!((report.added, most), (12, batch_size));
    }
}

#[test]
fn only_a_note_given_as_text_is_replaced() {
    for doc_type in [None, Some(DocType::Note)] {
        let (folder, mut store) = folder_of(1);
        let embedder = letters();
        store.bind(embedder.binding()).unwrap();
        let mut options = options();
        options.wanted.doc_type = doc_type;
        let (report, on_event) = (IngestReport::default(), &mut |_: IngestEvent<'_>| {});
        let mut run = IngestRun {
            store: &mut store,
            embedder: Some(&embedder),
            options: &options,
            on_event,
            report,
        };
        run.ingest(&[Start::named(&folder.path().join("0.md"))]).unwrap();
        run.ingest_note("High at noon.", None).unwrap();
        let [file, note] = run.report.document_ids[..] else { panic!("{:?}", run.report) };
        run.ingest_note("High at one.", Some(note)).unwrap();
        assert_eq!(run.report.document_ids[2..], [note]);
        let outcome = run.ingest_note("High at two.", Some(file));
        assert!(matches!(outcome, Err(Error::NotANote { .. })), "{doc_type:?}");
    }
}
