//! Writes answers as JSON. A result carries its JSON where it has the same shape; here are the others. The
//! schemas and `tests/fixtures/promises.txt` keep a renamed field from breaking a script. Every documented
//! key is always present, except those that a flag requests; values that do not apply are null.

mod convert;
mod documents;
mod files;
mod grep;
mod manage;
pub mod read;
mod search;
pub mod skill;
mod status;
mod version;
mod why;

pub(super) use convert::{ConversionJson, ConvertedJson};
pub use convert::{conversion, converted, converted_line};
use documents::SourceJson;
pub(super) use documents::{
    EditedJson, InfoJson, ListedJson, PREVIEW_CHARS, TaggedAllJson, TaggedJson,
};
pub use documents::{edited, info, list, tagged, tagged_all};
pub(super) use files::ReportJson;
pub use files::report;
pub(super) use files::{PlanCounts, PlanJson, WaivedJson, groups};
pub use files::{plan, waived};
pub(super) use grep::{GrepJson, GrepLineJson};
pub use grep::{grep, grep_lines};
pub(super) use manage::{BasesJson, ClientChangedJson, DoctorJson};
pub use manage::{bases, client_changed, doctor};
pub(super) use search::{ResultJson, SearchJson, SimilarJson};
pub use search::{found, hit_lines, search_line, similar, vector};
pub(super) use status::{SetupJson, StatusJson};
pub use status::{setup, status};
use version::VersionedAnswer;
pub(super) use version::{ErrorJson, VERSION_KEY, VERSION_MEANING};
pub use version::{answer, error, error_line};
pub(super) use why::WhyJson;
pub use why::why;
