//! Runs the command line with the process's arguments and exits with its status.

use std::process::ExitCode;

fn main() -> ExitCode {
    silence_runtime();
    kb::cli::run(std::env::args_os(), kb::mcp::run)
}

/// Turns off the telemetry of ONNX Runtime. Since 1.29 it stores events in a database and sends them;
/// only a variable set before it is loaded prevents that.
#[expect(
    unsafe_code,
    reason = "the library reads this variable itself, and there is no safe way to set it"
)]
fn silence_runtime() {
    // SAFETY: no thread has been started yet, so no other thread reads or writes the environment.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}
