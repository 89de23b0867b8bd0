//! Writes the reports of add, backup, import and reindex as JSON.

use std::cmp::Reverse;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::backup::{Backup, Restored};
use crate::app::reindex::Reindexed;
use crate::ingest::{Failed, IngestReport};
use crate::present::json::answer;
use crate::store::DocumentId;
use crate::text::json::Json;
use crate::text::paths::path_text;

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

/// A verified backup.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BackupJson {
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
pub fn backup(backup: &Backup, out: &mut Json<'_>) -> io::Result<()> {
    let Backup { file, verified } = backup;
    let stats = &verified.stats;
    let json = BackupJson {
        file: path_text(file),
        db_size_bytes: stats.db_size_bytes,
        total_documents: stats.total_documents(),
        total_chunks: stats.total_chunks,
        log: verified.log.as_deref().map(path_text),
    };
    answer(&json, out)
}

/// The report of `kb restore`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct RestoredJson {
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
pub fn restored(restored: &Restored, out: &mut Json<'_>) -> io::Result<()> {
    let Restored { file, database, stats, replaced } = restored;
    answer(
        &RestoredJson {
            file: path_text(file),
            database: path_text(database),
            total_documents: stats.total_documents(),
            total_chunks: stats.total_chunks,
            replaced: replaced.as_deref().map(path_text),
        },
        out,
    )
}

/// The report of `kb reindex`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ReindexedJson<'a> {
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
pub fn reindexed(reindexed: &Reindexed, out: &mut Json<'_>) -> io::Result<()> {
    answer(
        &ReindexedJson {
            chunks: reindexed.num_chunks,
            model_name: &reindexed.binding.model_name,
            embedding_dim: reindexed.binding.dim,
            made_differently: reindexed.made_differently,
            backup: reindexed.copy.as_deref().map(path_text),
        },
        out,
    )
}
