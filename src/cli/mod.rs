//! Argv in, bytes and an exit status out: the edge.

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program and returns its exit status.
pub fn run(_args: impl Iterator<Item = OsString>) -> ExitCode {
    ExitCode::SUCCESS
}
