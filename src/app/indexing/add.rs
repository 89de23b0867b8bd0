//! Adds files, folders, a note, or a document from a stream.

use std::path::PathBuf;

use crate::app::indexing::ingestion::{self, Walks, ingest, options};
use crate::app::session::observer::{NoteKeeper, SilentObserver};
use crate::app::session::typed::absolute;
use crate::app::{Observer, Session};
use crate::document::DocType;
use crate::error::{Error, Result};
use crate::extract::detect::TypeOverride;
use crate::ingest::foresee::{ForeseenFile, foresee};
use crate::ingest::{self as stage, ChunkingOptions, IngestReport};

pub use crate::app::indexing::ingestion::request::{AddRequest, DocumentSource};

/// Adds documents. Returns the report, and the given paths as absolute paths.
pub fn add(
    session: &Session,
    request: &AddRequest,
    observer: &dyn Observer,
) -> Result<(IngestReport, Vec<PathBuf>)> {
    session.require_writable()?;
    let roots = check(request)?;
    let notes = NoteKeeper::new(observer);
    let report = ingest(session, request, Walks::Named(&roots), &notes)?;
    Ok((IngestReport { notes: notes.kept(session.notices().to_vec()), ..report }, roots))
}

/// Returns the paths that a request names, made absolute, if its options can be combined.
pub(crate) fn check(request: &AddRequest) -> Result<Vec<PathBuf>> {
    let typed = request.source.paths();
    let roots = typed.iter().map(|path| absolute(path)).collect::<Result<Vec<_>>>()?;
    check_title(request, &roots)?;
    check_kind(request)?;
    if let DocumentSource::Note(text, _) = &request.source {
        stage::check_note(text)?;
    }
    // Conflicting options are refused before files are read.
    TypeOverride::new(request.doc_type, request.language)?;
    if let [root] = roots.as_slice()
        && root.symlink_metadata().is_err()
    {
        return Err(Error::PathNotFound { path: typed[0].clone() });
    }
    Ok(roots)
}

/// Returns the error of a run that added nothing: that of the only file, if it was named itself, or that
/// there are no files. Callers that show the complete report do not need it.
pub fn failure(
    request: &AddRequest,
    roots: &[PathBuf],
    report: &mut IngestReport,
) -> Option<Error> {
    let DocumentSource::Paths(typed) = &request.source else { return None };
    if report.is_success() {
        return None;
    }
    if let ([root], [typed], [(path, _)]) = (roots, typed.as_slice(), report.failed.as_slice())
        && root == path
    {
        return report.failed.pop().map(|(_, error)| error.in_file(typed));
    }
    if !report.found_nothing() {
        return None;
    }
    Some(no_files(typed))
}

/// Returns the error of a run that finds no files at the paths.
pub(crate) fn no_files(typed: &[PathBuf]) -> Error {
    let names: Vec<String> = typed.iter().map(|path| path.display().to_string()).collect();
    Error::usage(format!("there are no files in {}", names.join(", ")))
        .with_hint("hidden files and those listed in .gitignore are ignored")
}

/// Refuses a type or language for a note.
fn check_kind(request: &AddRequest) -> Result<()> {
    let is_other = request.doc_type.is_some_and(|doc_type| doc_type != DocType::Note)
        || request.language.is_some();
    if !matches!(request.source, DocumentSource::Note(..)) || !is_other {
        return Ok(());
    }
    Err(Error::usage("`--type` and `--language` apply to files, not to `--note`"))
}

/// Refuses a title for more than one document.
fn check_title(request: &AddRequest, roots: &[PathBuf]) -> Result<()> {
    let is_single = match request.source {
        DocumentSource::Paths(_) => matches!(roots, [root] if !root.is_dir()),
        DocumentSource::Bytes(_) | DocumentSource::Note(..) | DocumentSource::StoredNotes(_) => {
            true
        }
    };
    if request.title.is_none() || is_single {
        return Ok(());
    }
    Err(Error::usage("`--title` applies to a single file or a note")
        .with_hint("add the files one by one, or leave out the title"))
}

/// Returns what adding the files of a request would do with each of them. Without a database, none
/// is created, and every file is new. The model is not needed.
pub fn plan(session: &Session, request: &AddRequest) -> Result<Vec<ForeseenFile>> {
    if !matches!(request.source, DocumentSource::Paths(_)) {
        return Err(Error::usage("`--dry-run` works only with files and folders"));
    }
    let roots = check(request)?;
    // Nothing is chunked, so the limits of the model do not matter.
    let options =
        options::ingest_options(session, request, ChunkingOptions::new(1, 0), &SilentObserver)?;
    session.read_with_retry(|| {
        let store = session.open_existing()?;
        let starts = ingestion::starts(session, store.as_ref(), &roots, options.wanted)?;
        foresee(&starts, &options, store.as_ref())
    })
}
