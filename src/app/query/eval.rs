//! Measures retrieval quality with questions whose answers are known.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::indexing::add;
use crate::app::indexing::ingestion::request::{AddRequest, DocumentSource};
use crate::app::session::absent;
use crate::app::session::typed::absolute;
use crate::app::{Observer, Session};
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::eval::beir::{self, BeirCollection};
use crate::eval::{self, Evaluation, JudgedQuestion, known_item};
use crate::files::open::{self, SymlinkPolicy};
use crate::files::{private, write};
use crate::search::SearchOptions;
use crate::store::{DocumentId, Store};
use crate::text::paths;

/// The measured retrieval quality.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EvalReport {
    /// One entry per kind of question.
    pub collections: Vec<MeasuredQuestions>,
}

/// Questions of one kind, with their measures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Collection")]
pub struct MeasuredQuestions {
    /// Name of the folder; `headings` or `phrases` for questions from the user's documents.
    pub name: String,
    /// The measures.
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

/// A folder with documents, questions and judgments in the layout of BEIR.
#[derive(Debug, Clone)]
pub struct CollectionRequest {
    /// The folder, as typed.
    pub folder: PathBuf,
    /// Data directory for its documents; by default `eval/NAME` in that of the session.
    pub work: Option<PathBuf>,
    /// Extension of the files written for its documents, which decides how they are read.
    pub extension: String,
    /// Most questions to ask.
    pub max_queries: usize,
}

/// Asks up to `max_queries` questions of each kind, derived from the documents themselves.
pub fn own_documents(
    session: &Session,
    max_queries: usize,
    observer: &dyn Observer,
) -> Result<Vec<MeasuredQuestions>> {
    session.read_with_retry(|| {
        let store = session
            .open_existing()?
            .filter(has_chunks)
            .ok_or_else(|| absent::nothing_added("; or name a folder with judgments"))?;
        let found = known_item::questions(&store, max_queries)?;
        [("headings", found.headings), ("phrases", found.phrases)]
            .into_iter()
            .map(|(name, judged)| {
                let evaluation = measure(session, &store, &judged, observer)?;
                Ok(MeasuredQuestions { name: name.to_owned(), evaluation })
            })
            .collect()
    })
}

fn has_chunks(store: &Store) -> bool {
    store.stats().is_ok_and(|stats| stats.total_chunks > 0)
}

/// Adds the documents of a folder to a separate database and asks the folder's questions.
pub fn collection(
    session: &Session,
    request: &CollectionRequest,
    observer: &dyn Observer,
) -> Result<MeasuredQuestions> {
    let collection = beir::read(&request.folder)?;
    let folder = absolute(&request.folder)?;
    let name = folder.file_name().map_or("eval".into(), |name| name.to_string_lossy().into_owned());
    let work = match &request.work {
        Some(work) => absolute(work)?,
        None => session.data_dir().join("eval").join(&name),
    };
    let files = work.join("files");
    let paths = write_files(&collection, &files, &request.extension)?;
    remove_left_over(&files, &paths)?;
    let session = session.scratch_in(&work)?;
    add::add(&session, &AddRequest::of(DocumentSource::Paths(vec![files.clone()])), observer)?;
    let mut store = session.open_store()?;
    let mut ids: HashMap<String, DocumentId> = store
        .documents(&Filter::default())?
        .into_iter()
        .filter_map(|document| Some((document.path?, document.id)))
        .collect();
    let wanted: HashSet<&PathBuf> = paths.values().collect();
    for (_, id) in ids.extract_if(|path, _| is_left_over(&paths::path_of(path), &files, &wanted)) {
        store.remove(id)?;
    }
    let mut judged: Vec<JudgedQuestion> = Vec::new();
    for query in collection.queries.iter().take(request.max_queries) {
        let grades = collection.judgments[&query.id].iter();
        let relevant = grades.filter_map(|(entry, grade)| {
            let path = paths::path_text(paths.get(entry)?);
            Some((*ids.get(&path)?, *grade))
        });
        judged.push(JudgedQuestion { query: query.text.clone(), relevant: relevant.collect() });
    }
    let evaluation = measure(&session, &store, &judged, observer)?;
    Ok(MeasuredQuestions { name, evaluation })
}

/// Writes each document to a file, unless the file is up to date. Returns the paths by document name.
fn write_files(
    collection: &BeirCollection,
    files: &Path,
    extension: &str,
) -> Result<HashMap<String, PathBuf>> {
    private::create_folder(files).map_err(|source| Error::of_file(files, source))?;
    let mut paths = HashMap::new();
    for (number, document) in collection.documents.iter().enumerate() {
        let path = files.join(format!("d{number:06}.{extension}"));
        let title = document.title.trim();
        // Only Markdown has a way to state the title.
        let head = if title.is_empty() || extension != "md" {
            String::new()
        } else {
            format!("# {title}\n\n")
        };
        let text = format!("{head}{}\n", document.text.trim());
        let before = open::read(&path, SymlinkPolicy::RefuseBelow(files), text.len() as u64);
        if before.ok().as_deref() != Some(text.as_bytes()) {
            write::overwrite_unsynced(&path, text.as_bytes())
                .map_err(|source| Error::of_file(&path, source))?;
        }
        paths.insert(document.id.clone(), path);
    }
    Ok(paths)
}

/// Removes the files of an earlier collection of the same name. Removes no other file, because the
/// directory is the user's choice and may hold their documents.
fn remove_left_over(files: &Path, paths: &HashMap<String, PathBuf>) -> Result<()> {
    let wanted: HashSet<&PathBuf> = paths.values().collect();
    for entry in open::list(files, SymlinkPolicy::Follow)? {
        let path = files.join(entry.name);
        if is_left_over(&path, files, &wanted) {
            write::remove(&path).map_err(|source| Error::of_file(&path, source))?;
        }
    }
    Ok(())
}

fn is_left_over(path: &PathBuf, files: &Path, wanted: &HashSet<&PathBuf>) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.parent() == Some(files) && is_written_here(&name) && !wanted.contains(path)
}

/// Whether a file name has the form of [`write_files`]: `d000042.md`.
fn is_written_here(name: &str) -> bool {
    let number = name.strip_prefix('d').and_then(|rest| rest.split_once('.')).map(|parts| parts.0);
    number.is_some_and(|number| number.len() >= 6 && number.bytes().all(|c| c.is_ascii_digit()))
}

fn measure(
    session: &Session,
    store: &Store,
    judged: &[JudgedQuestion],
    observer: &dyn Observer,
) -> Result<Evaluation> {
    let binding = store.binding()?;
    let settings = &session.config().search;
    let options = SearchOptions {
        limit: settings.default_top,
        rrf_k: settings.rrf_k,
        compares_tokens: session.config().embedding.token_vectors,
        keeps_copies: true,
        ..SearchOptions::default()
    };
    eval::evaluate(store, &|| session.embedder(binding.as_ref(), observer), judged, &options)
}
