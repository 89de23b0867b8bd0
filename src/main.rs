//! Hands argv to the command line, gives it the server, and its status to the shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    silence_runtime();
    kb::cli::run(std::env::args_os(), kb::mcp::run)
}

/// Keeps ONNX Runtime from telling its makers of every start: since 1.29 it writes events to a
/// database of its own and sends them, and only a variable that is set before it is loaded stops it.
#[expect(unsafe_code, reason = "the one way to set a variable, which the library reads by itself")]
fn silence_runtime() {
    // SAFETY: nothing has been started yet, so no other thread reads or writes the environment.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}
