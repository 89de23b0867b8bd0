//! Writes the report of push as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::push::PushReport;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// The report of `kb push`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct PushedJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Host and database, without password.
    target: &'a str,
    /// Whether the copy was made from nothing.
    fresh: bool,
    /// Documents of the database.
    documents: u64,
    /// Documents that were new or changed there.
    sent: u64,
    /// Documents that were removed there.
    removed: u64,
    /// Chunks that were sent, with unchanged neighbours.
    chunks_sent: u64,
}

/// Writes the report of `kb push`.
///
/// # Errors
///
/// Errors of writing.
pub fn pushed(report: &PushReport, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&PushedJson {
        contract_version: CONTRACT_VERSION,
        target: &report.target,
        fresh: report.is_fresh,
        documents: report.num_documents,
        sent: report.num_sent,
        removed: report.num_removed,
        chunks_sent: report.num_chunks_sent,
    })
}
