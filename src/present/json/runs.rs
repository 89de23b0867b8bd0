//! Writes the report of `kb add` as JSON.

use std::cmp::Reverse;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::ingest::{Failed, IngestReport};
use crate::present::json::answer;
use crate::store::DocumentId;
use crate::text::json::Json;

/// The report of `kb add`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ReportJson<'a> {
    /// New documents.
    added: usize,
    /// Documents with new content.
    updated: usize,
    /// Files whose content is already in the database.
    skipped: usize,
    /// How many of the skipped files are new files that are copies of other documents.
    copies: usize,
    /// How many of the updated documents only have a new title.
    retitled: usize,
    /// Existing documents that got a new tag.
    tagged: usize,
    /// Files in folders that kb does not read.
    ignored: usize,
    /// Files that could not be read.
    failed: usize,
    /// How many files of each kind were ignored, the most frequent first.
    ignored_kinds: Vec<IgnoredKindJson<'a>>,
    /// Files that failed in an earlier run and have not changed since; they were not read again.
    known_failed: usize,
    /// Added and updated files of whose words more than a tenth was left out.
    lossy: usize,
    /// Chunks written.
    chunks: usize,
    /// Ids of the added and updated documents.
    document_ids: &'a [DocumentId],
    /// Why each file failed.
    errors: Vec<Failed>,
    /// Ignore files that were not used, with the reason.
    warnings: Vec<Failed>,
    /// What else is worth knowing, such as languages that the model cannot read; absent if there is nothing.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
}

/// How many files of one kind were ignored.
#[derive(Serialize, JsonSchema)]
struct IgnoredKindJson<'a> {
    /// Their extension with its dot, `no extension`, or `empty`.
    kind: &'a str,
    /// How many there are.
    files: usize,
}

/// Writes the report of `kb add`.
pub fn report(report: &IngestReport, out: &mut Json<'_>) -> io::Result<()> {
    let mut kinds: Vec<(&String, usize)> =
        report.ignored_kinds.iter().map(|(kind, num)| (kind, *num)).collect();
    kinds.sort_by_key(|(_, num)| Reverse(*num));
    let ignored_kinds = kinds.into_iter().map(|(kind, files)| IgnoredKindJson { kind, files });
    answer(
        &ReportJson {
            added: report.added,
            updated: report.updated,
            skipped: report.skipped,
            copies: report.copies,
            retitled: report.retitled,
            tagged: report.tagged,
            ignored: report.ignored,
            failed: report.failed.len(),
            ignored_kinds: ignored_kinds.collect(),
            known_failed: report.known_failed,
            lossy: report.lossy,
            chunks: report.num_chunks,
            document_ids: &report.document_ids,
            errors: report.failed.iter().map(Failed::from).collect(),
            warnings: report.warnings.iter().map(Failed::from).collect(),
            notes: &report.notes,
        },
        out,
    )
}
