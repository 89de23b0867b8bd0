//! The JSON of skill commands: its own structs, shaped as the protocols say. Every key is always
//! there, but of a file either its text or its bytes; what does not apply is null.

mod gateway;
mod manage;
mod stats;

use std::io;

use crate::diagnostic::{Diagnostic, Program};
use crate::present::json::ErrorJson;
use crate::text::json::Json;

pub(in crate::present) use gateway::{HeadingJson, OpenJson, SearchJson, ShowJson, SourceJson};
pub use gateway::{open, outline, search, show, sources};
pub(in crate::present) use manage::{
    BuildJson, InitJson, InstallJson, LintJson, ListJson, SyncJson,
};
pub use manage::{build, init, install, lint, list, sync};
pub(in crate::present) use stats::StatsJson;
pub use stats::stats;

/// Writes why a command failed: the line of the protocol, its code and what to do next.
///
/// # Errors
///
/// What writing gives.
pub fn error(error: &Diagnostic, program: Program, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson { error: error.line(program), code: error.code(), fix: error.hint() })
}
