//! Hands argv to the library's command line and its status to the shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    kb::cli::run(std::env::args_os())
}
