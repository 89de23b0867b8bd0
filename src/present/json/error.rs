//! Writes errors.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::text::json::Json;

/// An error, printed on stderr if the format is JSON; stdout is then empty.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ErrorJson {
    /// What failed and on which object, for people.
    pub(in crate::present) error: String,
    /// Stable code for the kind of error.
    pub(in crate::present) code: &'static str,
    /// What to do next; null if there is no advice.
    pub(in crate::present) fix: Option<String>,
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
