//! Writes answers with the version of the contract first, and errors.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::text::json::Json;
use crate::wording::Wording;

/// Increases only if a documented key is removed, renamed or changes its type.
pub(crate) const CONTRACT_VERSION: u32 = 1;

/// The first key of an answer, and what it means.
pub(crate) const VERSION_KEY: &str = "contract_version";
pub(crate) const VERSION_MEANING: &str =
    "Increases only if a key is removed, renamed or changes its type.";

/// An answer after the version of the contract.
#[derive(Serialize)]
pub(crate) struct VersionedAnswer<'a, T> {
    contract_version: u32,
    #[serde(flatten)]
    answer: &'a T,
}

impl<'a, T> VersionedAnswer<'a, T> {
    pub(crate) fn of(answer: &'a T) -> Self {
        Self { contract_version: CONTRACT_VERSION, answer }
    }
}

/// Writes an answer after the version of the contract.
pub fn answer(answer: &impl Serialize, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&VersionedAnswer::of(answer))
}

/// An error, printed on stderr if the format is JSON; stdout is then empty.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorJson {
    /// The failure and the object that it concerns, for people.
    pub(crate) error: String,
    /// Stable code for the kind of error.
    pub(crate) code: &'static str,
    /// The next step; null if there is no advice.
    pub(crate) fix: Option<Wording>,
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
