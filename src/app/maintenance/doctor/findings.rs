//! Collects the outcomes of checks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::text::fields;
use crate::wording::Wording;

fields::words! {
    /// The outcome of a check.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CheckVerdict {
        /// No problem.
        Ok = "ok",
        /// No problem, but worth knowing.
        Note = "note",
        /// A problem that has been repaired.
        Repaired = "repaired",
        /// A problem.
        Fault = "fault",
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// The subject of the check, in one word.
    pub name: &'static str,
    /// `ok`, `note`, `repaired` or `fault`.
    pub verdict: CheckVerdict,
    /// The finding, for people: a sentence without a full stop.
    pub message: String,
    /// The next step; null if none is needed.
    pub fix: Option<Wording>,
}

/// All checks of one examination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// In the order of examination.
    pub checks: Vec<Check>,
    /// Whether something is damaged that kb cannot repair.
    pub is_beyond_repair: bool,
}

impl Findings {
    /// Returns how many checks have this verdict.
    pub fn count(&self, verdict: CheckVerdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }

    pub(super) fn add(
        &mut self,
        name: &'static str,
        verdict: CheckVerdict,
        message: impl Into<String>,
    ) {
        self.checks.push(Check { name, verdict, message: message.into(), fix: None });
    }

    pub(super) fn add_with_fix(
        &mut self,
        name: &'static str,
        verdict: CheckVerdict,
        message: impl Into<String>,
        fix: impl Into<Wording>,
    ) {
        let fix = Some(fix.into());
        self.checks.push(Check { name, verdict, message: message.into(), fix });
    }

    /// Adds an error with its hint.
    pub(super) fn add_error_as(
        &mut self,
        name: &'static str,
        verdict: CheckVerdict,
        error: &Error,
    ) {
        let (message, fix) = (error.to_string(), error.hint());
        self.checks.push(Check { name, verdict, message, fix });
    }

    /// Adds an error as a fault, with the error's hint.
    pub(super) fn add_error(&mut self, name: &'static str, error: &Error) {
        self.is_beyond_repair |= matches!(
            error,
            Error::Corrupt { .. }
                | Error::DiskFailed { .. }
                | Error::Foreign { .. }
                | Error::SchemaTooNew { .. }
                | Error::AlteredSchema { .. }
                | Error::ReadOnly { .. }
                | Error::NeedsWriting { .. }
                | Error::Store(_)
                | Error::DiskFull { .. }
        );
        self.add_error_as(name, CheckVerdict::Fault, error);
    }
}
