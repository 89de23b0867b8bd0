//! Maps outcomes to exit codes, and reports the error of a command. [`Error::fixed_by`] decides which errors the user
//! can fix.

use std::io;
use std::process::ExitCode;

use crate::app::agents::skills;
use crate::cli::{messages, streams};
use crate::config::OutputFormat;
use crate::diagnostic::Program;
use crate::error::{Error, Fixer, Result};
use crate::present::json::skill as skill_json;
use crate::present::text::skill as skill_text;

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

/// Reports the error of a command, if any, and returns the exit status.
pub(super) fn end(outcome: Result<ExitStatus>, format: OutputFormat) -> ExitStatus {
    match outcome {
        Ok(status) => status,
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitStatus::Success
        }
        Err(error) => report(&error, format),
    }
}

/// Prints an error on stderr and returns its exit status.
pub(super) fn report(error: &Error, format: OutputFormat) -> ExitStatus {
    messages::error(error, format);
    error.into()
}

/// Prints the error of a skill command and returns its exit status.
pub(super) fn report_of_skill(error: Error, program: Program, format: OutputFormat) -> ExitStatus {
    let error = skills::in_words_of_protocol(error);
    let Error::Skill(diagnostic) = &error else { return report(&error, format) };
    // If stderr is closed, the message is lost.
    let _ = match (format, program) {
        (OutputFormat::Json, Program::Kb) => {
            streams::json_aside(|out| skill_json::error(diagnostic, program, out))
        }
        _ => streams::text_aside(|out| skill_text::error(diagnostic, program, out)),
    };
    (&error).into()
}
