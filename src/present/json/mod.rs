//! Writes answers as JSON. A result carries its JSON where it has the same shape; here are the others. The
//! schemas and `tests/fixtures/promises.txt` keep a renamed field from breaking a script. Every documented
//! key is always present, except those that a flag requests; values that do not apply are null.

mod bases;
mod clients;
mod convert;
mod doctor;
mod documents;
mod edit;
mod eval;
mod files;
mod grep;
pub mod read;
mod runs;
mod search;
pub mod skill;
mod status;
mod tags;
mod why;

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::DocType;
use crate::error::Error;
use crate::store::{DocumentId, PassingDocument, StoredDocument, StoredHit};
use crate::text::fields;
use crate::text::json::Json;

pub(super) use bases::BasesJson;
pub use bases::bases;
pub(super) use clients::ClientChangedJson;
pub use clients::client_changed;
pub(super) use convert::{ConversionJson, ConvertedJson};
pub use convert::{conversion, converted, converted_line};
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
pub(super) use runs::{BackupJson, ReindexedJson, ReportJson, RestoredJson};
pub use runs::{backup, reindexed, report, restored};
pub(super) use search::{ResultJson, SearchJson, SimilarJson};
pub use search::{found, hit_lines, search_line, similar, vector};
pub(super) use status::{SetupJson, StatusJson};
pub use status::{setup, status};
pub(super) use tags::{RenamedTagJson, TaggedAllJson, TaggedJson};
pub use tags::{renamed_tag, tagged, tagged_all};
pub(super) use why::WhyJson;
pub use why::why;

/// Increases only if a documented key is removed, renamed or changes its type.
pub(super) const CONTRACT_VERSION: u32 = 1;

/// The first key of an answer, and what it means.
pub(super) const VERSION_KEY: &str = "contract_version";
pub(super) const VERSION_MEANING: &str =
    "Increases only if a key is removed, renamed or changes its type.";

/// An answer after the version of the contract.
#[derive(Serialize)]
struct Versioned<'a, T> {
    contract_version: u32,
    #[serde(flatten)]
    answer: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    fn of(answer: &'a T) -> Self {
        Self { contract_version: CONTRACT_VERSION, answer }
    }
}

/// Writes an answer after the version of the contract.
pub fn answer(answer: &impl Serialize, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&Versioned::of(answer))
}

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
pub fn error_line(error: &Error, out: &mut Json<'_>) -> io::Result<()> {
    out.line(&ErrorJson::from(error))
}

/// Writes an error.
pub fn error(error: &Error, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson::from(error))
}

/// Where a text is from.
#[derive(Serialize, JsonSchema)]
struct SourceJson<'a> {
    /// Id of the document, as `kb info` takes it.
    document_id: DocumentId,
    /// Title of the document.
    title: &'a str,
    #[serde(flatten, serialize_with = "fields::place")]
    #[schemars(with = "fields::Place<'_>")]
    path: &'a Option<String>,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    doc_type: DocType,
}

impl<'a> From<&'a StoredDocument> for SourceJson<'a> {
    fn from(document: &'a StoredDocument) -> Self {
        let StoredDocument { id, title, path, doc_type, .. } = document;
        Self { document_id: *id, title, path, doc_type: *doc_type }
    }
}

impl<'a> From<&'a StoredHit> for SourceJson<'a> {
    fn from(hit: &'a StoredHit) -> Self {
        let StoredHit { document_id, title, path, doc_type, .. } = hit;
        Self { document_id: *document_id, title, path, doc_type: *doc_type }
    }
}

impl<'a> From<&'a PassingDocument> for SourceJson<'a> {
    fn from(document: &'a PassingDocument) -> Self {
        let PassingDocument { id, title, path, doc_type } = document;
        Self { document_id: *id, title, path, doc_type: *doc_type }
    }
}
