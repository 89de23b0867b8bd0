//! Writes the report of `kb update` as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::update::UpdateReport;
use crate::document::DocumentId;
use crate::present::json::{CONTRACT_VERSION, FailedJson};
use crate::text::json::Json;

/// The report of `kb update`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct UpdateJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Whether nothing was written; the other fields then show what would be done.
    dry_run: bool,
    /// New documents.
    added: usize,
    /// Documents with new content.
    updated: usize,
    /// Documents with a new path.
    moved: usize,
    /// Unchanged files.
    unchanged: usize,
    /// Files that could not be read.
    failed: Vec<FailedJson>,
    /// Files that failed in an earlier run and have not changed since; they were not read again.
    known_failed: usize,
    /// Missing files whose documents were kept.
    missing: Vec<MissingJson<'a>>,
    /// The files that have moved.
    moves: Vec<MoveJson<'a>>,
    /// With `--prune`: ids of the removed documents.
    removed: &'a [DocumentId],
    /// Missing and empty folders.
    away: Vec<String>,
    /// Folders from which nothing was removed, because too many documents are missing.
    refused: Vec<RefusedJson>,
    /// With `--reread`: documents that were made again.
    reread: usize,
    /// Documents made with other settings, another model or an older kb; `kb update --reread` makes them
    /// again.
    made_differently: usize,
    /// Folders, and files outside of them, that the database names and that were not read, because the user has
    /// not allowed it; one sentence each.
    notes: &'a [String],
}

/// A file that has moved.
#[derive(Serialize, JsonSchema)]
struct MoveJson<'a> {
    /// Its old path.
    from: &'a str,
    /// Its new path.
    to: &'a str,
    /// Its document.
    document_id: DocumentId,
}

/// A missing file.
#[derive(Serialize, JsonSchema)]
struct MissingJson<'a> {
    /// Its path.
    path: &'a str,
    /// Its document.
    document_id: DocumentId,
}

/// A folder from which nothing was removed.
#[derive(Serialize, JsonSchema)]
struct RefusedJson {
    /// The folder; null for files that were added by name.
    root: Option<String>,
    /// Documents of missing files.
    missing: usize,
    /// All documents of the folder.
    documents: usize,
}

/// Writes the report of `kb update`.
///
/// # Errors
///
/// Errors of writing.
pub fn update(report: &UpdateReport, out: &mut Json<'_>) -> io::Result<()> {
    let missing = report
        .missing
        .iter()
        .map(|file| MissingJson { path: &file.path, document_id: file.document_id });
    let refused = report.refused.iter().map(|refused| RefusedJson {
        root: refused.root.as_ref().map(|root| root.display().to_string()),
        missing: refused.num_lost,
        documents: refused.num_documents,
    });
    let moves = report.moves.iter().map(|moved| MoveJson {
        from: &moved.from,
        to: &moved.to,
        document_id: moved.document_id,
    });
    let json = UpdateJson {
        contract_version: CONTRACT_VERSION,
        dry_run: report.is_dry_run,
        added: report.added,
        updated: report.updated,
        moved: report.moved,
        unchanged: report.unchanged,
        failed: report.failed.iter().map(FailedJson::from).collect(),
        known_failed: report.known_failed,
        missing: missing.collect(),
        moves: moves.collect(),
        removed: &report.removed,
        away: report.away.iter().map(|folder| folder.display().to_string()).collect(),
        refused: refused.collect(),
        reread: report.reread,
        made_differently: report.made_differently,
        notes: &report.notes,
    };
    out.value(&json)
}
