//! Examines the machine, the cache and the database, and repairs what can be repaired.

mod cache;
mod database;
mod machine;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::text::fields;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No problem.
    Ok,
    /// No problem, but worth knowing.
    Note,
    /// A problem that has been repaired.
    Repaired,
    /// A problem.
    Fault,
}

impl Verdict {
    /// Returns the word for JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Repaired => "repaired",
            Self::Fault => "fault",
        }
    }
}

fields::words!(Verdict);

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// What was checked, in one word.
    pub name: &'static str,
    /// `ok`, `note`, `repaired` or `fault`.
    pub verdict: Verdict,
    /// The finding, for people: a sentence without a full stop.
    pub message: String,
    /// What to do next; null if nothing needs to be done.
    pub fix: Option<String>,
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
    pub fn count(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }

    fn add(&mut self, name: &'static str, verdict: Verdict, message: impl Into<String>) {
        self.checks.push(Check { name, verdict, message: message.into(), fix: None });
    }

    fn add_with_fix(
        &mut self,
        name: &'static str,
        verdict: Verdict,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let fix = Some(fix.into());
        self.checks.push(Check { name, verdict, message: message.into(), fix });
    }

    /// Adds an error as a fault, with the error's hint.
    fn add_error(&mut self, name: &'static str, error: &Error) {
        self.is_beyond_repair |= matches!(
            error,
            Error::Corrupt { .. }
                | Error::DiskFailed { .. }
                | Error::Foreign { .. }
                | Error::SchemaTooNew { .. }
                | Error::ReadOnly { .. }
                | Error::NeedsWriting { .. }
                | Error::Store(_)
                | Error::DiskFull { .. }
        );
        let (message, fix) = (error.to_string(), error.hint());
        self.checks.push(Check { name, verdict: Verdict::Fault, message, fix });
    }
}

/// Examines everything kb needs and, if `is_fixing`, repairs what can be repaired.
pub fn examine(session: &Session, is_fixing: bool, observer: &dyn Observer) -> Result<Findings> {
    session.steadily(|| examine_once(session, is_fixing, observer))
}

fn examine_once(session: &Session, is_fixing: bool, observer: &dyn Observer) -> Result<Findings> {
    let mut findings = Findings::default();
    machine::version(&mut findings);
    machine::files(session, is_fixing, &mut findings)?;
    machine::disk(session, &mut findings);
    machine::copies(session, &mut findings);
    // A database that cannot be opened is reported below.
    let bound = session.open_existing().ok().flatten();
    let bound = bound.and_then(|store| store.binding().ok().flatten());
    // The cache comes first, because its files would run in this process. The model comes before the
    // database, because a repair may compute vectors.
    let is_safe = cache::examine(session, bound.as_ref(), is_fixing, observer, &mut findings);
    machine::model(session, bound.as_ref(), is_safe, observer, &mut findings);
    // A repair may embed passages, which loads the model.
    database::examine(session, is_fixing && is_safe, observer, &mut findings);
    machine::sandbox(session, &mut findings);
    machine::ocr(session, &mut findings);
    machine::skill(session, &mut findings);
    machine::clients(session, &mut findings);
    Ok(findings)
}
