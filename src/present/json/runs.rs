//! Writes the reports of add, backup, import and reindex as JSON.

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::backup::{Backup, Restored};
use crate::app::reindex::Reindexed;
use crate::document::DocumentId;
use crate::error::Error;
use crate::ingest::IngestReport;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;
use crate::transfer::{Conflict, Imported};

/// The report of `kb add`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ReportJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
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
    /// Chunks written.
    chunks: usize,
    /// Ids of the added and updated documents.
    document_ids: &'a [DocumentId],
    /// Why each file failed.
    errors: Vec<FailedJson>,
    /// Ignore files that were not used, with the reason.
    warnings: Vec<FailedJson>,
}

/// How many files of one kind were ignored.
#[derive(Serialize, JsonSchema)]
struct IgnoredKindJson<'a> {
    /// Their extension with its dot, `no extension`, or `empty`.
    kind: &'a str,
    /// How many there are.
    files: usize,
}

/// A file that could not be read.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct FailedJson {
    /// The file.
    path: String,
    /// Stable code, as in an error.
    code: String,
    /// The error message, for people.
    error: String,
}

impl FailedJson {
    pub(super) fn new(path: &Path, code: &str, error: String) -> Self {
        Self { path: path.display().to_string(), code: code.to_owned(), error }
    }
}

impl From<&(PathBuf, Error)> for FailedJson {
    fn from((path, error): &(PathBuf, Error)) -> Self {
        Self::new(path, error.code(), error.to_string())
    }
}

/// Writes the report of `kb add`.
///
/// # Errors
///
/// Errors of writing.
pub fn report(report: &IngestReport, out: &mut Json<'_>) -> io::Result<()> {
    let mut kinds: Vec<(&String, usize)> =
        report.ignored_kinds.iter().map(|(kind, num)| (kind, *num)).collect();
    kinds.sort_by_key(|(_, num)| Reverse(*num));
    let ignored_kinds = kinds.into_iter().map(|(kind, files)| IgnoredKindJson { kind, files });
    out.value(&ReportJson {
        contract_version: CONTRACT_VERSION,
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
        chunks: report.num_chunks,
        document_ids: &report.document_ids,
        errors: report.failed.iter().map(FailedJson::from).collect(),
        warnings: report.warnings.iter().map(FailedJson::from).collect(),
    })
}

/// A verified backup.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BackupJson {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The file.
    file: String,
    /// Its size in bytes.
    db_size_bytes: u64,
    /// Documents in it.
    total_documents: u32,
    /// Chunks in it.
    total_chunks: u32,
    /// A log next to it that SQLite applies when it is opened, and that belongs to the backup; null if there
    /// is none.
    log: Option<String>,
}

/// Writes the contents of a backup.
///
/// # Errors
///
/// Errors of writing.
pub fn backup(backup: &Backup, out: &mut Json<'_>) -> io::Result<()> {
    let Backup { file, verified } = backup;
    let stats = &verified.stats;
    let json = BackupJson {
        contract_version: CONTRACT_VERSION,
        file: file.display().to_string(),
        db_size_bytes: stats.db_size_bytes,
        total_documents: stats.total_documents(),
        total_chunks: stats.total_chunks,
        log: verified.log.as_ref().map(|log| log.display().to_string()),
    };
    out.value(&json)
}

/// The report of `kb import`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ImportedJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Imported documents.
    imported: usize,
    /// Their chunks.
    chunks: usize,
    /// Documents that are here and got a tag, an edit or a path.
    merged: usize,
    /// Documents that are here and stay unchanged.
    skipped: usize,
    /// Lines that could not be imported.
    failed: usize,
    /// Imported documents whose paths were left out, because `--trust-paths` was not given.
    without_file: usize,
    /// Folders left out for the same reason.
    folders_left_out: usize,
    /// What both sides had edited; the newer edit was kept.
    conflicts: Vec<ConflictJson<'a>>,
    /// The first 100 failed lines, with the reason.
    errors: Vec<BadLineJson<'a>>,
}

/// What both sides had edited.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ConflictJson<'a> {
    /// The document here.
    document_id: DocumentId,
    /// `title`, `date`, `text` of a note, or `file`: another content at the same path.
    field: &'static str,
    /// The kept title or date; for a text or file, the title of its document. Null for no date.
    kept: Option<&'a str>,
    /// The other one.
    other: Option<&'a str>,
    /// Whether the one that was kept is that of the import.
    kept_import: bool,
    /// The note that has the other text; null for all else.
    copy_id: Option<DocumentId>,
}

/// A line that could not be imported.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BadLineJson<'a> {
    /// Its number, from 1.
    line: u64,
    /// The reason, for people.
    error: &'a str,
}

/// Writes the report of `kb import`.
///
/// # Errors
///
/// Errors of writing.
pub fn imported(imported: &Imported, out: &mut Json<'_>) -> io::Result<()> {
    let errors =
        imported.failed.iter().map(|bad| BadLineJson { line: bad.number, error: &bad.reason });
    let json = ImportedJson {
        contract_version: CONTRACT_VERSION,
        imported: imported.num_documents,
        chunks: imported.num_chunks,
        merged: imported.num_merged,
        skipped: imported.num_skipped,
        failed: imported.num_failed,
        without_file: imported.num_without_file,
        folders_left_out: imported.num_folders_left_out,
        conflicts: imported.conflicts.iter().map(conflict).collect(),
        errors: errors.collect(),
    };
    out.value(&json)
}

fn conflict(conflict: &Conflict) -> ConflictJson<'_> {
    ConflictJson {
        document_id: conflict.document_id,
        field: conflict.field.as_str(),
        kept: conflict.kept.as_deref(),
        other: conflict.other.as_deref(),
        kept_import: conflict.is_import_kept,
        copy_id: conflict.copy_id,
    }
}

/// The report of `kb restore`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct RestoredJson {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The backup.
    file: String,
    /// The database that it is now.
    database: String,
    /// Documents in it.
    total_documents: u32,
    /// Chunks in it.
    total_chunks: u32,
    /// Where the database that was replaced is now; null if there was none.
    replaced: Option<String>,
}

/// Writes the report of `kb restore`.
///
/// # Errors
///
/// Errors of writing.
pub fn restored(restored: &Restored, out: &mut Json<'_>) -> io::Result<()> {
    let Restored { file, database, stats, replaced } = restored;
    out.value(&RestoredJson {
        contract_version: CONTRACT_VERSION,
        file: file.display().to_string(),
        database: database.display().to_string(),
        total_documents: stats.total_documents(),
        total_chunks: stats.total_chunks,
        replaced: replaced.as_ref().map(|path| path.display().to_string()),
    })
}

/// The report of `kb reindex`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ReindexedJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Embedded chunks.
    chunks: u64,
    /// The model that the database is now bound to.
    model_name: &'a str,
    /// Dimensions of a vector.
    embedding_dim: u32,
    /// Documents that would be split differently if they were read again; `kb update --reread` does
    /// that.
    made_differently: usize,
    /// The copy of the database from before; null if none was made.
    backup: Option<String>,
}

/// Writes the report of `kb reindex`.
///
/// # Errors
///
/// Errors of writing.
pub fn reindexed(reindexed: &Reindexed, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ReindexedJson {
        contract_version: CONTRACT_VERSION,
        chunks: reindexed.num_chunks,
        model_name: &reindexed.binding.model_name,
        embedding_dim: reindexed.binding.dim,
        made_differently: reindexed.made_differently,
        backup: reindexed.copy.as_ref().map(|path| path.display().to_string()),
    })
}
