//! Writes the JSON of skill commands, in the shapes of the skill protocols. Every key is always present,
//! except that a file has either `text` or `data`; values that do not apply are null.

mod gateway;
mod manage;

use std::io;

use crate::app::skills::SkillAnswer;
use crate::diagnostic::{Diagnostic, Program};
use crate::present::json::ErrorJson;
use crate::text::json::Json;

pub(in crate::present) use gateway::{OpenJson, SourceJson};
pub(in crate::present) use manage::{BuildJson, LintJson, ListJson, SyncJson};

/// Writes the error of a command: the line of the protocol, its code and a hint.
pub fn error(error: &Diagnostic, program: Program, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson { error: error.line(program), code: error.code(), fix: error.hint() })
}

/// Writes the result of a command.
pub fn answer(answer: &SkillAnswer, out: &mut Json<'_>) -> io::Result<()> {
    match answer {
        SkillAnswer::List(list) => manage::list(list, out),
        SkillAnswer::Build(report) => manage::build(report, out),
        SkillAnswer::Search(results) => out.value(results),
        SkillAnswer::Outline(headings) => out.value(headings),
        SkillAnswer::Show(shown) => out.value(shown),
        SkillAnswer::Open(opened) => gateway::open(opened, out),
        SkillAnswer::Sources(sources) => gateway::sources(sources, out),
        SkillAnswer::Stats(counts) => out.value(counts),
        SkillAnswer::Lint(linted) => manage::lint(linted, out),
        SkillAnswer::Sync { synced, errors } => manage::sync(synced, errors, out),
        SkillAnswer::Init(made) => out.value(made),
        SkillAnswer::Install(installed) => out.value(installed),
    }
}
