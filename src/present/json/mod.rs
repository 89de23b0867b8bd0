//! Writes answers as JSON. A result carries its JSON where it has the same shape; here are the others. The
//! schemas and `tests/fixtures/promises.txt` keep a renamed field from breaking a script. Every documented
//! key is always present, except those that a flag requests; values that do not apply are null.

mod bases;
mod clients;
mod convert;
mod doctor;
mod documents;
mod edit;
mod error;
mod eval;
mod files;
mod grep;
pub mod read;
mod runs;
mod search;
pub mod skill;
mod source;
mod status;
mod tags;
mod version;
mod why;

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
pub(super) use error::ErrorJson;
pub use error::{error, error_line};
pub(super) use eval::EvalJson;
pub use eval::eval;
pub(super) use files::{FilesJson, PlanCounts, PlanJson, WaivedJson, groups};
pub use files::{files, plan, waived};
pub(super) use grep::{GrepJson, GrepLineJson};
pub use grep::{grep, grep_lines};
pub(super) use runs::ReportJson;
pub use runs::report;
pub(super) use search::{ResultJson, SearchJson, SimilarJson};
pub use search::{found, hit_lines, search_line, similar, vector};
use source::SourceJson;
pub(super) use status::{SetupJson, StatusJson};
pub use status::{setup, status};
pub(super) use tags::{TaggedAllJson, TaggedJson};
pub use tags::{tagged, tagged_all};
use version::Versioned;
pub use version::answer;
pub(super) use version::{VERSION_KEY, VERSION_MEANING};
pub(super) use why::WhyJson;
pub use why::why;
