//! The JSON contract: its own structs, so that renaming a field inside cannot break a script
//! outside. Every documented key is always there; what does not apply is null.

mod documents;
mod runs;
mod search;
mod status;

use std::io;
use std::io::Write;

use serde::Serialize;

use crate::error::Error;

pub(super) use documents::PREVIEW_CHARS;
pub use documents::{info, list, removed, tagged, tags};
pub use runs::{backup, imported, reindexed, report};
pub(super) use search::TermJson;
pub use search::{
    evidence, evidence_line, hit_lines, passage_lines, search, search_line, similar, vector,
};
pub use status::{settings, setup, status};

/// Grows only when a documented key is removed, renamed or changes its type.
pub(super) const CONTRACT_VERSION: u32 = 1;

/// Writes one value and a line end.
pub(super) fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Writes a value on a line of its own.
fn write_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct ErrorJson {
    error: String,
    code: &'static str,
    fix: Option<String>,
}

/// Writes an error on a line of its own.
///
/// # Errors
///
/// What writing gives.
pub fn error_line(error: &Error, out: &mut dyn Write) -> io::Result<()> {
    write_line(&ErrorJson { error: error.to_string(), code: error.code(), fix: error.hint() }, out)
}

/// Writes an error.
///
/// # Errors
///
/// What writing gives.
pub fn error(error: &Error, out: &mut dyn Write) -> io::Result<()> {
    write(&ErrorJson { error: error.to_string(), code: error.code(), fix: error.hint() }, out)
}
