//! Presents what a run did as JSON.

use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::backup::Backup;
use crate::app::reindex::Reindexed;
use crate::document::DocumentId;
use crate::error::Error;
use crate::ingest::IngestReport;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;
use crate::transfer::Imported;

/// What a run of `kb add` did.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ReportJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Documents that are new.
    added: usize,
    /// Documents whose content was replaced.
    updated: usize,
    /// Files whose content is in the database already.
    skipped: usize,
    /// How many of them are new files, and copies of other documents.
    copies: usize,
    /// How many of the updated documents have the same content and a new title.
    retitled: usize,
    /// Documents that were in the database already and have a new tag.
    tagged: usize,
    /// Files in folders that kb does not read.
    ignored: usize,
    /// Files that could not be read.
    failed: usize,
    /// Chunks that were written.
    chunks: usize,
    /// Ids of the documents that were added or updated.
    document_ids: &'a [DocumentId],
    /// Why each file failed.
    errors: Vec<FailedJson>,
    /// Ignore files that were not used, and why.
    warnings: Vec<FailedJson>,
}

/// A file that could not be read.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct FailedJson {
    /// The file.
    path: String,
    /// Stable word, as in an error.
    code: &'static str,
    /// What failed, for people.
    error: String,
}

impl From<&(PathBuf, Error)> for FailedJson {
    fn from((path, error): &(PathBuf, Error)) -> Self {
        Self { path: path.display().to_string(), code: error.code(), error: error.to_string() }
    }
}

/// Writes what a run of `kb add` did.
///
/// # Errors
///
/// What writing gives.
pub fn report(report: &IngestReport, out: &mut Json<'_>) -> io::Result<()> {
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
        chunks: report.num_chunks,
        document_ids: &report.document_ids,
        errors: report.failed.iter().map(FailedJson::from).collect(),
        warnings: report.warnings.iter().map(FailedJson::from).collect(),
    })
}

/// A copy of the database that was examined.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BackupJson {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The copy.
    file: String,
    /// Its size in bytes.
    db_size_bytes: u64,
    /// Documents in it.
    total_documents: u32,
    /// Chunks in it.
    total_chunks: u32,
    /// File next to it that changes what opens, and without which it is not complete; null without.
    log: Option<String>,
}

/// Writes what a copy of the database holds.
///
/// # Errors
///
/// What writing gives.
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

/// What a run of `kb import` did.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ImportedJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Documents that were imported.
    imported: usize,
    /// Their chunks.
    chunks: usize,
    /// Documents that are here already.
    skipped: usize,
    /// Lines that could not be imported.
    failed: usize,
    /// Imported documents whose file was left out, for want of `--trust-paths`.
    without_file: usize,
    /// Folders that were left out for the same reason.
    folders_left_out: usize,
    /// Why lines failed; the first 100.
    errors: Vec<BadLineJson<'a>>,
}

/// A line that could not be imported.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BadLineJson<'a> {
    /// Its number, from 1.
    line: u64,
    /// What is wrong with it, for people.
    error: &'a str,
}

/// Writes what a run of `kb import` did.
///
/// # Errors
///
/// What writing gives.
pub fn imported(imported: &Imported, out: &mut Json<'_>) -> io::Result<()> {
    let errors =
        imported.failed.iter().map(|bad| BadLineJson { line: bad.number, error: &bad.reason });
    let json = ImportedJson {
        contract_version: CONTRACT_VERSION,
        imported: imported.num_documents,
        chunks: imported.num_chunks,
        skipped: imported.num_skipped,
        failed: imported.num_failed,
        without_file: imported.num_without_file,
        folders_left_out: imported.num_folders_left_out,
        errors: errors.collect(),
    };
    out.value(&json)
}

/// What a run of `kb reindex` did.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ReindexedJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Chunks that were embedded.
    chunks: u64,
    /// Model the database is bound to now.
    model_name: &'a str,
    /// Numbers in a vector.
    embedding_dim: u32,
}

/// Writes what a run of `kb reindex` did.
///
/// # Errors
///
/// What writing gives.
pub fn reindexed(reindexed: &Reindexed, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ReindexedJson {
        contract_version: CONTRACT_VERSION,
        chunks: reindexed.num_chunks,
        model_name: &reindexed.binding.model_name,
        embedding_dim: reindexed.binding.dim,
    })
}
