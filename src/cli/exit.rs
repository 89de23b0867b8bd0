//! The one table of exit codes.

use std::process::ExitCode;

use crate::diagnostic::Diagnostic;
use crate::error::Error;

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
    /// Exhaustive on purpose: a new error does not compile until it has a code.
    fn from(error: &Error) -> Self {
        match error {
            Error::Usage { .. }
            | Error::Config { .. }
            | Error::PathNotFound { .. }
            | Error::Io { .. }
            | Error::UnsupportedFormat { .. }
            | Error::NotAFile { .. }
            | Error::LinkRefused { .. }
            | Error::IgnoreFile { .. }
            | Error::OverLimit { .. }
            | Error::EmptyFile { .. }
            | Error::TooLarge { .. }
            | Error::Extract { .. }
            | Error::TooSlow { .. }
            | Error::InFile { .. }
            | Error::EmptyQuery
            | Error::UnknownDocument { .. }
            | Error::UnknownChunk { .. }
            | Error::AmbiguousDocument { .. }
            | Error::UnknownPart { .. }
            | Error::UnknownModel { .. }
            | Error::ModelMismatch { .. }
            | Error::NoModelFiles { .. }
            | Error::NotInstalled { .. }
            | Error::UntrustedModel { .. }
            | Error::Cancelled
            | Error::Locked { .. } => Self::User,
            Error::Skill(Diagnostic::Internal { .. }) => Self::System,
            Error::Skill(_) => Self::User,
            Error::Fetch { .. }
            | Error::Model { .. }
            | Error::CacheChanged { .. }
            | Error::Inference(_)
            | Error::Corrupt { .. }
            | Error::DiskFailed { .. }
            | Error::Foreign { .. }
            | Error::SchemaTooNew { .. }
            | Error::DiskFull { .. }
            | Error::Store(_)
            | Error::Output(_) => Self::System,
            Error::Interrupted { signal } => Self::Signal(u8::try_from(*signal).unwrap_or(0)),
        }
    }
}
