//! The JSON contract: its own structs, so that renaming a field inside cannot break a script
//! outside. Every documented key is always there, but for those that a flag asks for; what does not apply
//! is null.

mod cache;
mod doctor;
mod documents;
mod eval;
pub mod read;
mod runs;
mod search;
pub mod skill;
mod status;
mod update;
mod why;

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::text::json::Json;

pub(super) use cache::{CacheJson, CleanedJson};
pub use cache::{cache, cleaned};
pub(super) use doctor::DoctorJson;
pub use doctor::doctor;
pub(super) use documents::{InfoJson, ListedJson, PREVIEW_CHARS, RemovedJson, TagJson, TaggedJson};
pub use documents::{info, list, removed, tagged, tags};
pub(super) use eval::EvalJson;
pub use eval::eval;
pub(super) use runs::{BackupJson, FailedJson, ImportedJson, ReindexedJson, ReportJson};
pub use runs::{backup, imported, reindexed, report};
pub(super) use search::{ResultJson, SearchJson, SimilarJson, TermJson};
pub use search::{evidence_line, found, hit_lines, passage_lines, search_line, similar, vector};
pub(super) use status::{SettingJson, SetupJson, StatusJson};
pub use status::{settings, setup, status};
pub(super) use update::UpdateJson;
pub use update::update;
pub(super) use why::WhyJson;
pub use why::why;

/// Grows only when a documented key is removed, renamed or changes its type.
pub(super) const CONTRACT_VERSION: u32 = 1;

/// An error, on stderr where the format is JSON; stdout is empty then.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ErrorJson {
    /// What failed and on what, for people.
    pub(super) error: String,
    /// Stable word for the kind of error.
    pub(super) code: &'static str,
    /// What to do next; null where nothing can be said.
    pub(super) fix: Option<String>,
}

impl From<&Error> for ErrorJson {
    fn from(error: &Error) -> Self {
        Self { error: error.to_string(), code: error.code(), fix: error.hint() }
    }
}

/// Writes an error on one line.
///
/// # Errors
///
/// What writing gives.
pub fn error_line(error: &Error, out: &mut Json<'_>) -> io::Result<()> {
    out.line(&ErrorJson::from(error))
}

/// Writes an error.
///
/// # Errors
///
/// What writing gives.
pub fn error(error: &Error, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson::from(error))
}
