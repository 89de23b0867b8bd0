//! Presents what an update found and did as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::update::UpdateReport;
use crate::document::DocumentId;
use crate::present::json::{CONTRACT_VERSION, FailedJson};
use crate::text::json::Json;

/// What an update found and did.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct UpdateJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Whether nothing was written; the counts then say what would be done.
    dry_run: bool,
    /// Documents that are new.
    added: usize,
    /// Documents whose content was replaced.
    updated: usize,
    /// Documents that are under another path now.
    moved: usize,
    /// Files that are as they were.
    unchanged: usize,
    /// Files that could not be read.
    failed: Vec<FailedJson>,
    /// Files that are gone and whose documents are still there.
    missing: Vec<MissingJson<'a>>,
    /// With `--prune`: ids of the documents that were removed.
    removed: &'a [DocumentId],
    /// Folders that are gone or empty.
    away: Vec<String>,
    /// Folders of which nothing was removed, because too much would have gone.
    refused: Vec<RefusedJson>,
}

/// A file that is gone.
#[derive(Serialize, JsonSchema)]
struct MissingJson<'a> {
    /// Where it was.
    path: &'a str,
    /// Its document.
    document_id: DocumentId,
}

/// A folder of which nothing was removed.
#[derive(Serialize, JsonSchema)]
struct RefusedJson {
    /// The folder; null for the files that were named themselves.
    root: Option<String>,
    /// Documents that would have gone.
    missing: usize,
    /// Documents it has.
    documents: usize,
}

/// Writes what an update found and did.
///
/// # Errors
///
/// What writing gives.
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
    let json = UpdateJson {
        contract_version: CONTRACT_VERSION,
        dry_run: report.is_dry_run,
        added: report.added,
        updated: report.updated,
        moved: report.moved,
        unchanged: report.unchanged,
        failed: report.failed.iter().map(FailedJson::from).collect(),
        missing: missing.collect(),
        removed: &report.removed,
        away: report.away.iter().map(|folder| folder.display().to_string()).collect(),
        refused: refused.collect(),
    };
    out.value(&json)
}
