//! Counts accesses from a skill's access log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::caller::Caller;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::place::Skill;
use crate::store::skills::log;
use crate::store::skills::log::SkillAccess;
use crate::text::{fields, paths};

fields::words! {
    /// The property by which counts are grouped.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum GroupBy {
        /// Totals.
        Summary = "summary",
        /// Sections shown.
        Sections = "sections",
        /// Files that were opened or had a section shown.
        Files = "files",
        /// Commands.
        Commands = "commands",
        /// Directories the commands were started in.
        Projects = "projects",
        /// Failed commands.
        Errors = "errors",
        /// Queries.
        Search = "search",
    }
}

/// Which accesses to count and how to group them; everything as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatsOptions {
    /// The word of a [`GroupBy`]; the summary if `None`.
    pub group_by: Option<String>,
    /// RFC 3339, or a date, which means its start in UTC.
    pub since: Option<String>,
    /// RFC 3339, or a date, which means its start in UTC.
    pub until: Option<String>,
    /// Only commands started at or below one of these directories.
    pub projects: Vec<String>,
}

/// The filters of a count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Filters {
    /// First instant, in UTC, RFC 3339.
    pub since: Option<String>,
    /// Last instant, in UTC, RFC 3339.
    pub until: Option<String>,
    /// Directories in which the skill was used.
    pub projects: Vec<String>,
}

/// The access counts of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillStats {
    /// Its name.
    pub skill: String,
    /// Its directory.
    pub skill_path: String,
    /// The counted value: that of `--group-by`.
    #[serde(rename = "query")]
    pub group_by: GroupBy,
    /// The filters.
    pub filters: Filters,
    /// First and last counted access.
    pub period: Period,
    /// The counts; their shape depends on `query`.
    #[serde(rename = "data")]
    pub counts: StatCounts,
}

/// A period; both ends are null if nothing was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Period {
    /// First access: RFC 3339, UTC.
    pub start: Option<String>,
    /// Last access: RFC 3339, UTC.
    pub end: Option<String>,
}

/// Counts; their shape depends on what was counted.
// The most frequent are first, then in alphabetical order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Counts")]
pub enum StatCounts {
    /// `summary`
    Summary {
        /// All accesses.
        total_accesses: usize,
        /// Distinct sections shown.
        unique_sections: usize,
        /// Distinct files opened or shown in part.
        unique_files: usize,
        /// Accesses that failed.
        error_count: usize,
    },
    /// `commands`: accesses by each command.
    Commands(BTreeMap<String, usize>),
    /// `sections`
    Sections(Vec<SectionCount>),
    /// `files`
    Files(Vec<FileCount>),
    /// `projects`
    Projects(Vec<ProjectCount>),
    /// `search`
    Search(Vec<QueryCount>),
    /// `errors`
    Errors(Vec<FailureCount>),
}

/// Accesses to a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Section")]
pub struct SectionCount {
    /// Its heading.
    pub section: String,
    /// File, relative to the skill.
    pub file: String,
    /// Accesses.
    pub count: usize,
}

/// Accesses to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "File")]
pub struct FileCount {
    /// File, relative to the skill.
    pub file: String,
    /// Accesses.
    pub count: usize,
}

/// Accesses from a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub struct ProjectCount {
    /// The directory.
    pub project: String,
    /// Accesses.
    pub count: usize,
}

/// Searches with the same query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Query")]
pub struct QueryCount {
    /// The query.
    pub query: String,
    /// Searches.
    pub count: usize,
}

/// Failures with the same target, command and error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Failure")]
pub struct FailureCount {
    /// The argument of the command.
    pub target: String,
    /// The command.
    pub command: String,
    /// The error message.
    pub error: String,
    /// Failures.
    pub count: usize,
}

/// Counts the accesses of a skill; all zero if nothing was logged.
pub(super) fn stats(caller: &Caller, skill: &Skill, options: &StatsOptions) -> Result<SkillStats> {
    let word = options.group_by.as_deref().unwrap_or(GroupBy::Summary.as_str());
    let group_by = GroupBy::ALL
        .into_iter()
        .find(|group_by| group_by.as_str() == word)
        .ok_or_else(|| Diagnostic::InvalidQueryType(word.to_owned()))?;
    let since = options.since.as_deref().map(time).transpose()?;
    let until = options.until.as_deref().map(time).transpose()?;
    let projects = options.projects.iter().map(|typed| project(&caller.cwd, typed));
    let projects = projects.collect::<Result<Vec<_>>>()?;
    let skill_path = skill.skill_path();
    let mut accesses = log::read(&skill.log_path())?.unwrap_or_default();
    accesses.retain(|access| {
        let time = access.timestamp.parse::<jiff::Timestamp>().ok();
        access.skill_path == skill_path
            && since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && until.is_none_or(|until| time.is_some_and(|time| time <= until))
            && (projects.is_empty()
                || projects.iter().any(|project| is_below(&access.cwd, project)))
    });
    let times = accesses.iter().map(|access| &access.timestamp);
    let period = Period { start: times.clone().min().cloned(), end: times.max().cloned() };
    Ok(SkillStats {
        skill: skill.name.clone(),
        skill_path,
        group_by,
        filters: Filters { since: since.map(text), until: until.map(text), projects },
        period,
        counts: count(group_by, &accesses),
    })
}

/// Parses a time, or a date as its start in UTC.
fn time(typed: &str) -> Result<jiff::Timestamp> {
    let is_date = typed.len() == "2026-01-02".len();
    let time = if is_date { start_of_date(typed) } else { typed.parse().ok() };
    time.ok_or_else(|| Diagnostic::InvalidFilter(typed.to_owned()).into())
}

fn start_of_date(typed: &str) -> Option<jiff::Timestamp> {
    let date = typed.parse::<jiff::civil::Date>().ok()?;
    date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|start| start.timestamp())
}

fn text(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns a directory in the form used by the log.
fn project(cwd: &Path, typed: &str) -> Result<String> {
    let path = paths::canonical(&cwd.join(typed))
        .map_err(|_| Diagnostic::InvalidFilter(format!("project path not found: {typed}")))?;
    Ok(paths::path_text(&path))
}

fn is_below(cwd: &str, project: &str) -> bool {
    cwd.strip_prefix(project)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || project.ends_with('/'))
}

fn count(group_by: GroupBy, accesses: &[SkillAccess]) -> StatCounts {
    match group_by {
        GroupBy::Summary => StatCounts::Summary {
            total_accesses: accesses.len(),
            unique_sections: sections(accesses).collect::<BTreeSet<_>>().len(),
            unique_files: files(accesses).collect::<BTreeSet<_>>().len(),
            error_count: accesses.iter().filter(|access| access.error.is_some()).count(),
        },
        GroupBy::Sections => {
            let sections = sections(accesses);
            StatCounts::Sections(by_count(sections, |(file, section), count| SectionCount {
                section,
                file,
                count,
            }))
        }
        GroupBy::Files => {
            StatCounts::Files(by_count(files(accesses), |file, count| FileCount { file, count }))
        }
        GroupBy::Commands => {
            StatCounts::Commands(tally(accesses.iter().map(|access| access.command.clone())))
        }
        GroupBy::Projects => {
            let projects = accesses.iter().map(|access| access.cwd.clone());
            StatCounts::Projects(by_count(projects, |project, count| ProjectCount {
                project,
                count,
            }))
        }
        GroupBy::Errors => {
            let failures = accesses.iter().filter_map(|access| {
                Some((access.command.clone(), target(access), access.error.clone()?))
            });
            StatCounts::Errors(by_count(failures, |(command, target, error), count| FailureCount {
                target,
                command,
                error,
                count,
            }))
        }
        GroupBy::Search => {
            let searches = accesses.iter().filter(|access| access.command == "search");
            let queries = searches.filter_map(|access| word(&args(access), "query"));
            StatCounts::Search(by_count(queries, |query, count| QueryCount { query, count }))
        }
    }
}

/// Returns the file and the section of each access that showed one.
fn sections(accesses: &[SkillAccess]) -> impl Iterator<Item = (String, String)> {
    succeeded(accesses).filter(|access| access.command == "show").filter_map(|access| {
        let args = args(access);
        Some((word(&args, "file")?, word(&args, "section")?))
    })
}

/// Returns the file of each access that showed a section or opened a file.
fn files(accesses: &[SkillAccess]) -> impl Iterator<Item = String> {
    succeeded(accesses).filter_map(|access| match access.command.as_str() {
        "show" => word(&args(access), "file"),
        "open" => word(&args(access), "path"),
        _ => None,
    })
}

fn succeeded(accesses: &[SkillAccess]) -> impl Iterator<Item = &SkillAccess> {
    accesses.iter().filter(|access| access.error.is_none())
}

fn tally<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

fn by_count<T: Ord, C>(values: impl Iterator<Item = T>, counted: impl Fn(T, usize) -> C) -> Vec<C> {
    let mut counts: Vec<_> = tally(values).into_iter().collect();
    // The sort is stable: equal counts stay in alphabetical order.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(value, count)| counted(value, count)).collect()
}

fn args(access: &SkillAccess) -> Value {
    serde_json::from_str(&access.args).unwrap_or_default()
}

fn word(args: &Value, key: &str) -> Option<String> {
    args.get(key)?.as_str().map(str::to_owned)
}

/// Returns the target of a command: its section, path or query.
fn target(access: &SkillAccess) -> String {
    let args = args(access);
    let target = match access.command.as_str() {
        "show" => word(&args, "section").map(|section| match word(&args, "file") {
            Some(file) => format!("{file}#{section}"),
            None => section,
        }),
        "open" => word(&args, "path"),
        "search" => word(&args, "query"),
        "sources" => word(&args, "dir"),
        _ => None,
    };
    target.unwrap_or_else(|| "<unknown>".into())
}

#[cfg(test)]
mod tests;
