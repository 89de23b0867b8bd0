//! Defines the JSON contract in separate structs, so that renaming an internal field cannot break a
//! script. Every documented key is always present, except those that a flag requests; values that do not
//! apply are null.

mod bases;
mod cache;
mod clients;
mod convert;
mod doctor;
mod documents;
mod edit;
mod eval;
mod files;
mod grep;
mod push;
pub mod read;
mod relocate;
mod remove;
mod runs;
mod search;
pub mod skill;
mod status;
mod tags;
mod update;
mod why;

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::text::json::Json;
use crate::text::paths;

pub(super) use bases::{BaseChangedJson, BasesJson};
pub use bases::{base_changed, bases};
pub(super) use cache::{CacheJson, CleanedJson};
pub use cache::{cache, cleaned};
pub(super) use clients::ClientChangedJson;
pub use clients::client_changed;
pub(super) use convert::{ConversionJson, ConvertedJson};
pub use convert::{conversion, converted, converted_line, failed_line};
pub(super) use doctor::DoctorJson;
pub use doctor::doctor;
pub(super) use documents::{InfoJson, ListedJson, PREVIEW_CHARS};
pub use documents::{info, list};
pub(super) use edit::EditedJson;
pub use edit::edited;
pub(super) use eval::EvalJson;
pub use eval::eval;
pub(super) use files::{FilesJson, PlanCounts, PlanJson, WaivedJson, groups};
pub use files::{files, plan, waived};
pub(super) use grep::{GrepJson, GrepLineJson};
pub use grep::{grep, grep_lines};
pub(super) use push::PushedJson;
pub use push::pushed;
pub(super) use relocate::RelocatedJson;
pub use relocate::relocated;
pub(super) use remove::RemovedJson;
pub use remove::removed;
pub(super) use runs::{
    BackupJson, FailedJson, ImportedJson, ReindexedJson, ReportJson, RestoredJson,
};
pub use runs::{backup, imported, reindexed, report, restored};
pub(super) use search::{ResultJson, SearchJson, SimilarJson, TermJson};
pub use search::{found, hit_lines, search_line, similar, vector};
pub(super) use status::{SettingJson, SetupJson, StatusJson};
pub use status::{settings, setup, status};
pub(super) use tags::{RenamedTagJson, TagJson, TaggedAllJson, TaggedJson};
pub use tags::{renamed_tag, tagged, tagged_all, tags};
pub(super) use update::UpdateJson;
pub use update::update;
pub(super) use why::WhyJson;
pub use why::why;

/// Increases only if a documented key is removed, renamed or changes its type.
pub(super) const CONTRACT_VERSION: u32 = 1;

/// An error, printed on stderr if the format is JSON; stdout is then empty.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ErrorJson {
    /// What failed and on which object, for people.
    pub(super) error: String,
    /// Stable code for the kind of error.
    pub(super) code: &'static str,
    /// What to do next; null if there is no advice.
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
/// Errors of writing.
pub fn error_line(error: &Error, out: &mut Json<'_>) -> io::Result<()> {
    out.line(&ErrorJson::from(error))
}

/// Writes an error.
///
/// # Errors
///
/// Errors of writing.
pub fn error(error: &Error, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson::from(error))
}

/// Returns the path of the file of a document; of one in a container, that of the container.
pub(super) fn file_of(path: &str) -> &str {
    paths::split_member(path).0
}

/// Returns the name of a document in its container.
pub(super) fn member_of(path: &str) -> Option<&str> {
    paths::split_member(path).1
}
