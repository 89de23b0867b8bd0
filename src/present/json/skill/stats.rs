//! Writes the access counts of a skill as JSON.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::skill::stats::{Counts, SkillStats};
use crate::text::json::Json;

/// The access counts of a skill.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct StatsJson<'a> {
    /// Its name.
    skill: &'a str,
    /// Its directory.
    skill_path: &'a str,
    /// What was counted: the value of `--group-by`.
    query: &'a str,
    /// The filters.
    filters: FiltersJson<'a>,
    /// First and last counted access.
    period: PeriodJson<'a>,
    /// The counts; their shape depends on `query`.
    data: CountsJson<'a>,
}

/// The filters of a count.
#[derive(Serialize, JsonSchema)]
struct FiltersJson<'a> {
    /// First instant, in UTC, RFC 3339.
    since: Option<&'a str>,
    /// Last instant, in UTC, RFC 3339.
    until: Option<&'a str>,
    /// Directories in which the skill was used.
    projects: &'a [String],
}

/// A period; both ends are null if nothing was counted.
#[derive(Serialize, JsonSchema)]
struct PeriodJson<'a> {
    /// First access: RFC 3339, UTC.
    start: Option<&'a str>,
    /// Last access: RFC 3339, UTC.
    end: Option<&'a str>,
}

/// Counts; their shape depends on what was counted.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum CountsJson<'a> {
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
    Commands(BTreeMap<&'a str, usize>),
    /// `sections`
    Sections(Vec<SectionJson<'a>>),
    /// `files`
    Files(Vec<FileJson<'a>>),
    /// `projects`
    Projects(Vec<ProjectJson<'a>>),
    /// `search`
    Search(Vec<QueryJson<'a>>),
    /// `errors`
    Errors(Vec<FailureJson<'a>>),
}

/// Accesses to a section.
#[derive(Serialize, JsonSchema)]
struct SectionJson<'a> {
    /// Its heading.
    section: &'a str,
    /// File, relative to the skill.
    file: &'a str,
    /// Accesses.
    count: usize,
}

/// Accesses to a file.
#[derive(Serialize, JsonSchema)]
struct FileJson<'a> {
    /// File, relative to the skill.
    file: &'a str,
    /// Accesses.
    count: usize,
}

/// Accesses from a directory.
#[derive(Serialize, JsonSchema)]
struct ProjectJson<'a> {
    /// The directory.
    project: &'a str,
    /// Accesses.
    count: usize,
}

/// Searches with the same query.
#[derive(Serialize, JsonSchema)]
struct QueryJson<'a> {
    /// The query.
    query: &'a str,
    /// Searches.
    count: usize,
}

/// Failures with the same target, command and error.
#[derive(Serialize, JsonSchema)]
struct FailureJson<'a> {
    /// The argument of the command.
    target: &'a str,
    /// The command.
    command: &'a str,
    /// The error message.
    error: &'a str,
    /// Failures.
    count: usize,
}

impl<'a> From<&'a Counts> for CountsJson<'a> {
    fn from(counts: &'a Counts) -> Self {
        match counts {
            &Counts::Summary { total_accesses, unique_sections, unique_files, error_count } => {
                Self::Summary { total_accesses, unique_sections, unique_files, error_count }
            }
            Counts::Commands(counts) => {
                Self::Commands(counts.iter().map(|(name, count)| (name.as_str(), *count)).collect())
            }
            Counts::Sections(counts) => {
                let rows = counts.iter();
                let rows =
                    rows.map(|(file, section, count)| SectionJson { section, file, count: *count });
                Self::Sections(rows.collect())
            }
            Counts::Files(counts) => Self::Files(
                counts.iter().map(|(file, count)| FileJson { file, count: *count }).collect(),
            ),
            Counts::Projects(counts) => Self::Projects(
                counts
                    .iter()
                    .map(|(project, count)| ProjectJson { project, count: *count })
                    .collect(),
            ),
            Counts::Search(counts) => Self::Search(
                counts.iter().map(|(query, count)| QueryJson { query, count: *count }).collect(),
            ),
            Counts::Errors(counts) => {
                let row = |(command, target, error, count): &'a (String, String, String, usize)| {
                    FailureJson { target, command, error, count: *count }
                };
                Self::Errors(counts.iter().map(row).collect())
            }
        }
    }
}

/// Writes counts.
pub(super) fn stats(stats: &SkillStats, out: &mut Json<'_>) -> io::Result<()> {
    let period = stats.period.as_ref();
    out.value(&StatsJson {
        skill: &stats.skill,
        skill_path: &stats.skill_path,
        query: stats.group_by.as_str(),
        filters: FiltersJson {
            since: stats.filters.since.as_deref(),
            until: stats.filters.until.as_deref(),
            projects: &stats.filters.projects,
        },
        period: PeriodJson {
            start: period.map(|period| period.0.as_str()),
            end: period.map(|period| period.1.as_str()),
        },
        data: (&stats.counts).into(),
    })
}
