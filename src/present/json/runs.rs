//! What a run did in, JSON out.

use std::io;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::ingest::IngestReport;
use crate::present::json::{CONTRACT_VERSION, write};
use crate::store::Stats;
use crate::transfer::Imported;

#[derive(Serialize)]
struct ReportJson<'a> {
    contract_version: u32,
    added: usize,
    updated: usize,
    skipped: usize,
    ignored: usize,
    failed: usize,
    chunks: usize,
    document_ids: &'a [i64],
    errors: Vec<FailedJson>,
}

#[derive(Serialize)]
struct FailedJson {
    path: String,
    code: &'static str,
    error: String,
}

/// Writes what a run of `kb add` did.
///
/// # Errors
///
/// What writing gives.
pub fn report(report: &IngestReport, out: &mut dyn Write) -> io::Result<()> {
    write(
        &ReportJson {
            contract_version: CONTRACT_VERSION,
            added: report.added,
            updated: report.updated,
            skipped: report.skipped,
            ignored: report.ignored,
            failed: report.failed.len(),
            chunks: report.num_chunks,
            document_ids: &report.document_ids,
            errors: report
                .failed
                .iter()
                .map(|(path, error)| FailedJson {
                    path: path.display().to_string(),
                    code: error.code(),
                    error: error.to_string(),
                })
                .collect(),
        },
        out,
    )
}

#[derive(Serialize)]
struct BackupJson {
    contract_version: u32,
    file: String,
    db_size_bytes: u64,
    total_documents: u32,
    total_chunks: u32,
}

/// Writes what a copy of the database holds.
///
/// # Errors
///
/// What writing gives.
pub fn backup(file: &Path, stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
    let json = BackupJson {
        contract_version: CONTRACT_VERSION,
        file: file.display().to_string(),
        db_size_bytes: stats.db_size_bytes,
        total_documents: stats.total_documents(),
        total_chunks: stats.total_chunks,
    };
    write(&json, out)
}

#[derive(Serialize)]
struct ImportedJson {
    contract_version: u32,
    imported: usize,
    chunks: usize,
    skipped: usize,
    failed: usize,
}

/// Writes what a run of `kb import` did.
///
/// # Errors
///
/// What writing gives.
pub fn imported(imported: &Imported, out: &mut dyn Write) -> io::Result<()> {
    let json = ImportedJson {
        contract_version: CONTRACT_VERSION,
        imported: imported.num_documents,
        chunks: imported.num_chunks,
        skipped: imported.num_skipped,
        failed: imported.num_failed,
    };
    write(&json, out)
}

#[derive(Serialize)]
struct ReindexedJson<'a> {
    contract_version: u32,
    chunks: u64,
    model_name: &'a str,
    embedding_dim: u32,
}

/// Writes what a run of `kb reindex` did.
///
/// # Errors
///
/// What writing gives.
pub fn reindexed(
    num_chunks: u64,
    model_name: &str,
    embedding_dim: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    let contract_version = CONTRACT_VERSION;
    write(&ReindexedJson { contract_version, chunks: num_chunks, model_name, embedding_dim }, out)
}
