//! Serves the sections of skill directories.
//!
//! ```text
//! resolve → files → index ◄─► store ;  → search, outline, show, open, sources ; each is logged
//! ```
//!
//! A skill is a directory with a SKILL.md. This crate serves skills by two protocols and one
//! contract: the search and the gateway protocol of `skc`, whose stores, index files, messages and
//! logs are kept to the letter, and the registry of all skills in `kb.db`. The functions return
//! values; command line and servers present them.

#![expect(
    clippy::missing_errors_doc,
    reason = "its functions return one `Error`, whose variants say what happened"
)]

use kb_base::{diagnostic, error, files, hash, text, wording};
use kb_extract as extract;
use kb_store as store;

mod access_log;
pub mod build;
pub mod caller;
pub mod commands;
pub mod deploy;
pub mod front_matter;
pub mod index;
pub mod init;
pub mod install;
pub mod lint;
pub mod list;
pub mod manifest;
pub mod open;
pub mod page;
pub mod path;
pub mod place;
pub mod registry;
pub mod resolve;
pub mod search;
pub mod served;
pub mod show;
pub mod skill_files;
pub mod sources;
pub mod stats;
mod stub;
pub mod sync;
#[cfg(test)]
mod testing;

use serde_json::json;

use crate::access_log::logged;
use crate::build::{BuildOptions, BuildPlan, BuildResult};
use crate::caller::{Caller, WithWarnings};
use crate::diagnostic::Warning;
use crate::error::Result;
use crate::lint::LintResult;
use crate::open::{OpenedFile, SkillOpenOptions};
use crate::search::{SkillResults, SkillSearchOptions};
use crate::show::{OutlineOptions, OutlinedHeading, ShownSection, SkillShowOptions};
use crate::sources::{Sources, SourcesOptions};
use crate::stats::{SkillStats, StatsOptions};
use crate::text::paths;

/// Returns what a build would put into the folders of agents. Changes nothing.
pub fn plan(caller: &Caller, skill: &str, options: &BuildOptions) -> Result<BuildPlan> {
    build::plan(caller, skill, options)
}

/// Builds a skill: index, manifest, stub, and links where agents look.
pub fn build(caller: &Caller, skill: &str, options: &BuildOptions) -> WithWarnings<BuildResult> {
    let imported = options.is_import.then(|| build::import(caller, skill, options));
    let skill = match imported {
        Some(Ok(path)) => paths::path_text(&path),
        Some(Err(error)) => return Err(error).into(),
        None => skill.to_owned(),
    };
    let args = json!({
        "copy": options.is_copy,
        "force": options.is_forced,
        "global": options.is_global,
        "target": options.targets,
    });
    logged(caller, &skill, "build", |skill| (args, build::build(caller, skill, options)))
}

/// Searches a skill for the sections that contain all words of a query.
pub fn search(
    caller: &Caller,
    skill: &str,
    options: &SkillSearchOptions,
) -> WithWarnings<SkillResults> {
    logged(caller, skill, "search", |skill| {
        let outcome = search::search(caller, skill, options);
        let result_count = outcome.as_ref().map_or(0, |results| results.hits.len());
        (json!({ "query": options.query, "result_count": result_count }), outcome)
    })
}

/// Lists the headings of a skill.
pub fn outline(
    caller: &Caller,
    skill: &str,
    options: OutlineOptions,
) -> WithWarnings<Vec<OutlinedHeading>> {
    let args = json!({ "level": options.level });
    logged(caller, skill, "outline", |skill| (args, show::outline(skill, options)))
}

/// Shows a section of a skill.
pub fn show(
    caller: &Caller,
    skill: &str,
    options: &SkillShowOptions,
) -> WithWarnings<ShownSection> {
    let mut answer = logged(caller, skill, "show", |skill| {
        let outcome = show::show(caller, skill, options);
        let found = outcome.as_ref().ok();
        let args = json!({
            "file": found.map(|shown| &shown.file).or(options.file.as_ref()),
            "max_lines": options.max_lines,
            "section": options.section,
        });
        (args, outcome)
    });
    if answer.outcome.as_ref().is_ok_and(|shown| shown.is_ambiguous) {
        answer.warnings.insert(0, Warning::MultipleMatches(options.section.clone()));
    }
    answer
}

/// Reads a file of a skill.
pub fn open(caller: &Caller, skill: &str, options: &SkillOpenOptions) -> WithWarnings<OpenedFile> {
    let args = json!({ "max_lines": options.max_lines, "path": options.path });
    logged(caller, skill, "open", |skill| (args, open::open(skill, options)))
}

/// Lists the files of a skill.
pub fn sources(caller: &Caller, skill: &str, options: &SourcesOptions) -> WithWarnings<Sources> {
    let args = json!({
        "depth": options.depth,
        "dir": options.dir,
        "limit": options.limit,
        "pattern": options.pattern,
    });
    logged(caller, skill, "sources", |skill| (args, sources::sources(skill, options)))
}

/// Counts how a skill was used; this call is not counted.
pub fn stats(caller: &Caller, skill: &str, options: &StatsOptions) -> WithWarnings<SkillStats> {
    let args = json!({
        "group_by": options.group_by,
        "project": options.projects,
        "since": options.since,
        "until": options.until,
    });
    logged(caller, skill, "stats", |skill| (args, stats::stats(caller, skill, options)))
}

/// Checks a skill against the rules of the standard.
pub fn lint(caller: &Caller, skill: &str, is_forced: bool) -> WithWarnings<LintResult> {
    let args = json!({ "force": is_forced });
    logged(caller, skill, "lint", |skill| (args, lint::lint(skill, is_forced)))
}
