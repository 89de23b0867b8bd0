//! The JSON of skill commands: its own structs, shaped as the protocols say. Every key is always
//! there, but of a file either its text or its bytes; what does not apply is null.

mod gateway;
mod manage;
mod stats;

use std::io;

use crate::app::skills::SkillAnswer;
use crate::diagnostic::{Diagnostic, Program};
use crate::present::json::ErrorJson;
use crate::text::json::Json;

pub(in crate::present) use gateway::{HeadingJson, OpenJson, SearchJson, ShowJson, SourceJson};
pub(in crate::present) use manage::{
    BuildJson, InitJson, InstallJson, LintJson, ListJson, SyncJson,
};
pub(in crate::present) use stats::StatsJson;

/// Writes why a command failed: the line of the protocol, its code and what to do next.
///
/// # Errors
///
/// What writing gives.
pub fn error(error: &Diagnostic, program: Program, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson { error: error.line(program), code: error.code(), fix: error.hint() })
}

/// Writes what came of a command.
///
/// # Errors
///
/// What writing gives.
pub fn answer(answer: &SkillAnswer, out: &mut Json<'_>) -> io::Result<()> {
    match answer {
        SkillAnswer::List(list) => manage::list(list, out),
        SkillAnswer::Build(report) => manage::build(report, out),
        SkillAnswer::Search(results) => gateway::search(results, out),
        SkillAnswer::Outline(headings) => gateway::outline(headings, out),
        SkillAnswer::Show(shown) => gateway::show(shown, out),
        SkillAnswer::Open(opened) => gateway::open(opened, out),
        SkillAnswer::Sources(sources) => gateway::sources(sources, out),
        SkillAnswer::Stats(counts) => stats::stats(counts, out),
        SkillAnswer::Lint(linted) => manage::lint(linted, out),
        SkillAnswer::Sync { synced, errors } => manage::sync(synced, errors, out),
        SkillAnswer::Init(made) => manage::init(made, out),
        SkillAnswer::Install(installed) => manage::install(installed, out),
    }
}
