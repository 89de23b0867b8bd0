//! Exports the knowledge base, or a part of it, as lines of JSON.

use crate::app::query::choose::{DocumentChoice, SelectionCriteria, choose};
use crate::app::session::export_file::{ExportFile, write_file};
use crate::app::session::observer::AppEvent;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::text::json::JsonLine;
use crate::transfer::{self, ExportSummary};

/// A request to export.
#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// Whether vectors are included.
    pub with_vectors: bool,
    /// The documents to export, without added folders; everything by default.
    pub criteria: Option<SelectionCriteria>,
}

/// Writes the knowledge base, or a part of it, to a file. An existing file is replaced if `is_replacing`.
pub fn export_to_file(
    session: &Session,
    request: &ExportRequest,
    file: &ExportFile,
    observer: &dyn Observer,
) -> Result<ExportSummary> {
    session.read_with_retry(|| {
        write_file(&file.path, file.is_replacing, |write| {
            export_counted(session, request, observer, write, &|num_done, total| {
                observer.on_event(AppEvent::Counted { things: "documents", num_done, total });
            })
        })
    })
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
    session.read_consistent(|| {
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
        // The count begins at 0, because the first line is the head.
        let mut num_lines = 0;
        transfer::export(&store, ids.as_deref(), &folders, request.with_vectors, |line| {
            emit(line)?;
            report(num_lines, total);
            num_lines += 1;
            Ok(())
        })
    })
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
}
