//! Counts accesses from a skill's access log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::skill::caller::Caller;
use crate::skill::place::Skill;
use crate::store::skills::log;
use crate::store::skills::log::Access;
use crate::text::paths;

/// What to group counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Totals.
    Summary,
    /// Sections shown.
    Sections,
    /// Files that were opened or had a section shown.
    Files,
    /// Commands.
    Commands,
    /// Directories the commands were started in.
    Projects,
    /// Failed commands.
    Errors,
    /// Queries.
    Search,
}

impl GroupBy {
    /// All groupings.
    pub const ALL: [Self; 7] = [
        Self::Summary,
        Self::Sections,
        Self::Files,
        Self::Commands,
        Self::Projects,
        Self::Errors,
        Self::Search,
    ];

    /// Returns the word used on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Sections => "sections",
            Self::Files => "files",
            Self::Commands => "commands",
            Self::Projects => "projects",
            Self::Errors => "errors",
            Self::Search => "search",
        }
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

/// Which accesses were counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filters {
    /// RFC 3339, UTC.
    pub since: Option<String>,
    /// RFC 3339, UTC.
    pub until: Option<String>,
    /// Absolute, links resolved.
    pub projects: Vec<String>,
}

/// Counts of accesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillStats {
    /// Name of the skill.
    pub skill: String,
    /// Its directory.
    pub skill_path: String,
    /// The grouping.
    pub group_by: GroupBy,
    /// Which accesses were counted.
    pub filters: Filters,
    /// Times of the first and the last counted access; `None` if there is none.
    pub period: Option<(String, String)>,
    /// The counts.
    pub counts: Counts,
}

/// Counts, most frequent first, then in alphabetical order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counts {
    /// Totals.
    Summary {
        /// All accesses.
        total_accesses: usize,
        /// Different sections shown.
        unique_sections: usize,
        /// Different files opened or shown from.
        unique_files: usize,
        /// Accesses that failed.
        error_count: usize,
    },
    /// File, section, count.
    Sections(Vec<(String, String, usize)>),
    /// File, count.
    Files(Vec<(String, usize)>),
    /// Command, count; in alphabetical order.
    Commands(Vec<(String, usize)>),
    /// Directory, count.
    Projects(Vec<(String, usize)>),
    /// Command, its target, error line, count.
    Errors(Vec<(String, String, String, usize)>),
    /// Query, count.
    Search(Vec<(String, usize)>),
}

/// Counts the accesses of a skill; all zero if nothing was logged.
///
/// # Errors
///
/// [`Diagnostic::InvalidQueryType`] and [`Diagnostic::InvalidFilter`]; errors of reading a damaged
/// log.
pub(super) fn stats(caller: &Caller, skill: &Skill, options: &StatsOptions) -> Result<SkillStats> {
    let word = options.group_by.as_deref().unwrap_or(GroupBy::Summary.as_str());
    let group_by = GroupBy::ALL
        .into_iter()
        .find(|group_by| group_by.as_str() == word)
        .ok_or_else(|| Diagnostic::InvalidQueryType { query_type: word.to_owned() })?;
    let since = options.since.as_deref().map(time).transpose()?;
    let until = options.until.as_deref().map(time).transpose()?;
    let project = |typed: &String| project(&caller.cwd, typed);
    let projects = options.projects.iter().map(project).collect::<Result<Vec<_>>>()?;
    let skill_path = skill.skill_path();
    let is_in = |access: &Access| {
        let time = access.timestamp.parse::<jiff::Timestamp>().ok();
        access.skill_path == skill_path
            && since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && until.is_none_or(|until| time.is_some_and(|time| time <= until))
            && (projects.is_empty()
                || projects.iter().any(|project| is_below(&access.cwd, project)))
    };
    let mut accesses = log::read(&skill.log_path())?.unwrap_or_default();
    accesses.retain(is_in);
    let times = || accesses.iter().map(|access| &access.timestamp);
    let period = times().min().cloned().zip(times().max().cloned());
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
    let date = || {
        let date = typed.parse::<jiff::civil::Date>().ok()?;
        date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|start| start.timestamp())
    };
    let is_date = typed.len() == "2026-01-02".len();
    let time = if is_date { date() } else { typed.parse().ok() };
    time.ok_or_else(|| Diagnostic::InvalidFilter { message: typed.to_owned() }.into())
}

fn text(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns a directory in the form used by the log.
fn project(cwd: &Path, typed: &str) -> Result<String> {
    let path = cwd.join(typed).canonicalize().map_err(|_| Diagnostic::InvalidFilter {
        message: format!("project path not found: {typed}"),
    })?;
    Ok(paths::path_text(&path))
}

fn is_below(cwd: &str, project: &str) -> bool {
    cwd.strip_prefix(project)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || project.ends_with('/'))
}

fn count(group_by: GroupBy, accesses: &[Access]) -> Counts {
    let succeeded = || accesses.iter().filter(|access| access.error.is_none());
    let sections = || {
        succeeded().filter(|access| access.command == "show").filter_map(|access| {
            let args = args(access);
            Some((word(&args, "file")?, word(&args, "section")?))
        })
    };
    let files = || {
        succeeded().filter_map(|access| match access.command.as_str() {
            "show" => word(&args(access), "file"),
            "open" => word(&args(access), "path"),
            _ => None,
        })
    };
    match group_by {
        GroupBy::Summary => Counts::Summary {
            total_accesses: accesses.len(),
            unique_sections: sections().collect::<BTreeSet<_>>().len(),
            unique_files: files().collect::<BTreeSet<_>>().len(),
            error_count: accesses.iter().filter(|access| access.error.is_some()).count(),
        },
        GroupBy::Sections => Counts::Sections(
            by_count(sections())
                .into_iter()
                .map(|((file, section), count)| (file, section, count))
                .collect(),
        ),
        GroupBy::Files => Counts::Files(by_count(files())),
        GroupBy::Commands => Counts::Commands(
            tally(accesses.iter().map(|access| access.command.clone())).into_iter().collect(),
        ),
        GroupBy::Projects => {
            Counts::Projects(by_count(accesses.iter().map(|access| access.cwd.clone())))
        }
        GroupBy::Errors => Counts::Errors(
            by_count(accesses.iter().filter_map(|access| {
                Some((access.command.clone(), target(access), access.error.clone()?))
            }))
            .into_iter()
            .map(|((command, target, error), count)| (command, target, error, count))
            .collect(),
        ),
        GroupBy::Search => Counts::Search(by_count(
            accesses
                .iter()
                .filter(|access| access.command == "search")
                .filter_map(|access| word(&args(access), "query")),
        )),
    }
}

fn tally<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

fn by_count<T: Ord>(values: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut counts: Vec<_> = tally(values).into_iter().collect();
    // The sort is stable: equal counts stay in alphabetical order.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

fn args(access: &Access) -> Value {
    serde_json::from_str(&access.args).unwrap_or_default()
}

fn word(args: &Value, key: &str) -> Option<String> {
    args.get(key)?.as_str().map(str::to_owned)
}

/// Returns the target of a command: its section, path or query.
fn target(access: &Access) -> String {
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
