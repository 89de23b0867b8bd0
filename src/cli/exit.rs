//! Maps outcomes to exit codes. [`Error::fixed_by`] decides which errors the user can fix.

use std::process::ExitCode;

use crate::error::{Error, Fixer};

/// The outcome of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitStatus {
    /// Success, including an empty result, `--help` and a closed pipe.
    Success,
    /// An error that the user can fix.
    User,
    /// An error of the machine.
    System,
    /// Ended by the signal with this number.
    Signal(u8),
}

/// Shells report a process ended by a signal as this plus the signal's number.
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
