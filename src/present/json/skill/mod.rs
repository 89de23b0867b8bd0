//! Writes the JSON of skill commands, in the shapes of the skill protocols. Every key is always present,
//! except that a file has either `text` or `data`; values that do not apply are null.

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

/// Writes the error of a command: the line of the protocol, its code and a hint.
///
/// # Errors
///
/// Errors of writing.
pub fn error(error: &Diagnostic, program: Program, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson { error: error.line(program), code: error.code(), fix: error.hint() })
}

/// Writes the result of a command.
///
/// # Errors
///
/// Errors of writing.
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
