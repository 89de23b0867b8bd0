//! Writes the report of relocate as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::relocate::Relocated;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// The report of `kb relocate`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct RelocatedJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Where the folder was.
    from: String,
    /// Where it is.
    to: String,
    /// Whether nothing was written.
    dry_run: bool,
    /// Remembered files below the folder.
    files: usize,
    /// How many of them have their remembered content.
    matching: usize,
    /// New paths of files that have other content, or cannot be read.
    changed: &'a [String],
    /// New paths at which there is no file.
    missing: &'a [String],
}

/// Writes the report of `kb relocate`.
///
/// # Errors
///
/// Errors of writing.
pub fn relocated(relocated: &Relocated, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&RelocatedJson {
        contract_version: CONTRACT_VERSION,
        from: relocated.from.display().to_string(),
        to: relocated.to.display().to_string(),
        dry_run: relocated.is_dry_run,
        files: relocated.num_files(),
        matching: relocated.num_matching,
        changed: &relocated.changed,
        missing: &relocated.missing,
    })
}
