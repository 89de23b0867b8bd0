//! Exports the knowledge base, or a part of it, as lines of JSON.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::app::choose::{DocumentChoice, SelectionCriteria, choose};
use crate::app::observer::AppEvent;
use crate::app::typed::absolute;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::files::write::{self, Draft};
use crate::store::{AddedFolder, DocumentId, Store};
use crate::text::json::JsonLine;
use crate::text::number::counted;
use crate::transfer::{self, ExportSummary};

/// A request to export.
#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// Whether vectors are included.
    pub with_vectors: bool,
    /// The documents to export, without added folders; everything by default.
    pub criteria: Option<SelectionCriteria>,
}

/// A file to export to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// The file, as typed.
    pub path: PathBuf,
    /// Whether an existing file is replaced.
    pub is_replacing: bool,
}

/// Writes the knowledge base, or a part of it, to a file. An existing file is replaced if `is_replacing`.
pub fn export_to_file(
    session: &Session,
    request: &ExportRequest,
    file: &ExportFile,
    observer: &dyn Observer,
) -> Result<ExportSummary> {
    session.steadily(|| {
        write_file(&file.path, file.is_replacing, |write| {
            let report = |num_done, total| {
                observer.on_event(AppEvent::Counted { things: "documents", num_done, total });
            };
            export_counted(session, request, observer, write, &report)
        })
    })
}

/// Writes documents and added folders to a file before they are removed; nothing is written if there are
/// none.
pub(super) fn export_documents(
    store: &Store,
    ids: &[DocumentId],
    folders: &[AddedFolder],
    file: &ExportFile,
    observer: &dyn Observer,
) -> Result<()> {
    if ids.is_empty() && folders.is_empty() {
        return Ok(());
    }
    let exported = write_file(&file.path, file.is_replacing, |write| {
        transfer::export(store, Some(ids), folders, false, write)
    })?;
    let documents = counted(exported.num_documents, "document");
    observer.note(&format!("Exported {documents} to {}.", file.path.display()));
    Ok(())
}

/// Writes lines to a file that only its owner can read, and that is complete or not there.
fn write_file(
    file: &Path,
    is_replacing: bool,
    export: impl FnOnce(&mut dyn FnMut(&JsonLine) -> Result<()>) -> Result<ExportSummary>,
) -> Result<ExportSummary> {
    let path = absolute(file)?;
    let fail = |source| Error::of_file(&path, source);
    if path.symlink_metadata().is_ok() && !is_replacing {
        return Err(exists(&path));
    }
    let draft = if is_replacing { Draft::create(&path) } else { Draft::create_own(&path) };
    let mut draft = draft.map_err(fail)?;
    let mut out = BufWriter::new(draft.file());
    let mut write = |line: &JsonLine| out.write_all(line.as_str().as_bytes()).map_err(fail);
    let exported = export(&mut write)?;
    out.flush().map_err(fail)?;
    drop(out);
    let published = if is_replacing { draft.publish() } else { draft.publish_new() };
    published.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(&path),
        _ => fail(error),
    })?;
    Ok(exported)
}

/// Passes each line of the export to `emit`.
pub fn export(
    session: &Session,
    request: &ExportRequest,
    observer: &dyn Observer,
    emit: impl FnMut(&JsonLine) -> Result<()>,
) -> Result<ExportSummary> {
    export_counted(session, request, observer, emit, &|_, _| {})
}

/// The same; reports how many documents of how many were passed.
fn export_counted(
    session: &Session,
    request: &ExportRequest,
    observer: &dyn Observer,
    mut emit: impl FnMut(&JsonLine) -> Result<()>,
    report: &dyn Fn(u64, u64),
) -> Result<ExportSummary> {
    session.once(|| {
        let missing = || Error::PathNotFound { path: session.database() };
        let (store, ids, folders) = match &request.criteria {
            None => {
                let store = session.open_existing()?.ok_or_else(missing)?;
                let folders = store.all_roots()?;
                (store, None, folders)
            }
            Some(criteria) => {
                let choice = DocumentChoice::Matching(Box::new(criteria.clone()));
                let (store, ids) = choose(session, &choice, observer)?.ok_or_else(missing)?;
                (store, Some(ids), Vec::new())
            }
        };
        let total = match &ids {
            Some(ids) => ids.len() as u64,
            None => store.stats()?.documents.iter().map(|(_, count)| u64::from(*count)).sum(),
        };
        // The first line is the head.
        let mut num_lines = 0;
        let emit = |line: &JsonLine| {
            emit(line)?;
            report(num_lines, total);
            num_lines += 1;
            Ok(())
        };
        transfer::export(&store, ids.as_deref(), &folders, request.with_vectors, emit)
    })
}

/// Writes a file that only its owner can read.
pub fn write_bytes(file: &ExportFile, bytes: &[u8]) -> Result<()> {
    let path = absolute(&file.path)?;
    let written = match file.is_replacing {
        true => write::replace(&path, bytes),
        false => write::create_new(&path, bytes),
    };
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(&path),
        _ => Error::of_file(&path, error),
    })
}

fn exists(path: &Path) -> Error {
    Error::usage(format!("{} already exists", path.display()))
        .with_hint("name another file, or replace this one with --force")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;
    use crate::document::Filter;

    fn world() -> World {
        let world = World::new();
        world.add_named("docs/a.md", "ebb");
        world.add_note("n", "flood");
        world
    }

    #[test]
    fn a_file_is_written_once_and_replaced_on_request() {
        let world = world();
        let export = |is_replacing, criteria| {
            let file = ExportFile { path: world.path("all.jsonl"), is_replacing };
            let request = ExportRequest { criteria, ..ExportRequest::default() };
            export_to_file(&world.session, &request, &file, &world)
        };
        let lines = || std::fs::read_to_string(world.path("all.jsonl")).unwrap().lines().count();
        assert_eq!(
            export(false, None).unwrap(),
            ExportSummary { num_documents: 2, num_chunks: 2, has_vectors: true }
        );
        assert_eq!(lines(), 3);
        let message = export(false, None).unwrap_err().to_string();
        assert!(message.ends_with("all.jsonl already exists"), "{message}");
        let paths = vec![world.path("docs").display().to_string()];
        let filter = Filter { paths, ..Filter::default() };
        let criteria = SelectionCriteria { filter, ..SelectionCriteria::default() };
        assert_eq!(export(true, Some(criteria)).unwrap().num_documents, 1);
        assert_eq!(lines(), 2);
        let empty = World::new();
        let file = ExportFile { path: empty.path("x.jsonl"), is_replacing: false };
        let nothing = export_to_file(&empty.session, &ExportRequest::default(), &file, &empty);
        assert!(nothing.is_err() && !empty.path("x.jsonl").exists());
    }

    #[test]
    fn nothing_is_written_for_no_documents() {
        let world = world();
        let file = ExportFile { path: world.path("x.jsonl"), is_replacing: false };
        let store = world.store();
        export_documents(&store, &[], &[], &file, &world).unwrap();
        assert!(!file.path.exists());
        export_documents(&store, &[DocumentId(1)], &[], &file, &world).unwrap();
        assert!(file.path.exists() && world.heard("Exported 1 document to"));
    }
}
