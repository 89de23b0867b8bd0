//! Turns outcomes into exit codes; [`Error::fixed_by`] says which errors the user can fix.

use std::process::ExitCode;

use crate::error::{Error, Fixer};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitStatus {
    /// Done; an empty answer, `--help` and a closed pipe included.
    Success,
    /// The user can fix it.
    User,
    /// The machine got in the way.
    System,
    /// A signal ended it; holds the signal's number.
    Signal(u8),
}

/// Shells report a death by signal as this plus the signal's number.
const SIGNAL_BASE: u8 = 128;

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Success => Self::SUCCESS,
            ExitStatus::User => Self::from(1),
            ExitStatus::System => Self::from(2),
            ExitStatus::Signal(number) => Self::from(SIGNAL_BASE.saturating_add(number)),
        }
    }
}

impl From<&Error> for ExitStatus {
    fn from(error: &Error) -> Self {
        match (error, error.fixed_by()) {
            (Error::Interrupted { signal }, _) => Self::Signal(u8::try_from(*signal).unwrap_or(0)),
            (_, Fixer::User) => Self::User,
            (_, Fixer::Machine) => Self::System,
        }
    }
}
