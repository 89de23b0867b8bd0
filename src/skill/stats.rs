//! A skill's access log in, counts out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::ingest::walk;
use crate::skill::caller::Caller;
use crate::skill::resolve::Skill;
use crate::store::skill_log;
use crate::store::skill_log::Access;

/// What to count by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Totals.
    Summary,
    /// Sections shown.
    Sections,
    /// Files opened and shown from.
    Files,
    /// Commands.
    Commands,
    /// Directories the commands were started in.
    Projects,
    /// What failed.
    Errors,
    /// Queries.
    Search,
}

impl GroupBy {
    /// All of them.
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

/// Which accesses to count, and by what; everything as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatsOptions {
    /// A word of [`GroupBy`]; the summary without.
    pub group_by: Option<String>,
    /// RFC 3339, or a date: from its beginning, UTC.
    pub since: Option<String>,
    /// RFC 3339, or a date: to its beginning, UTC.
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
    /// What was counted by.
    pub group_by: GroupBy,
    /// Which accesses were counted.
    pub filters: Filters,
    /// Times of the first and the last of them; `None` if there is none.
    pub period: Option<(String, String)>,
    /// The counts.
    pub counts: Counts,
}

/// Counts, most frequent first, then in order of the alphabet.
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
    /// Command, count; in order of the alphabet.
    Commands(Vec<(String, usize)>),
    /// Directory, count.
    Projects(Vec<(String, usize)>),
    /// Command, what it was asked for, error line, count.
    Errors(Vec<(String, String, String, usize)>),
    /// Query, count.
    Search(Vec<(String, usize)>),
}

/// Counts the accesses of a skill; zeros where nothing was logged.
///
/// # Errors
///
/// [`Diagnostic::InvalidQueryType`] and [`Diagnostic::InvalidFilter`]; what a damaged log gives.
pub(super) fn stats(caller: &Caller, skill: &Skill, options: &StatsOptions) -> Result<SkillStats> {
    let word = options.group_by.as_deref().unwrap_or(GroupBy::Summary.as_str());
    let group_by = GroupBy::ALL
        .into_iter()
        .find(|it| it.as_str() == word)
        .ok_or_else(|| Diagnostic::InvalidQueryType { query_type: word.to_owned() })?;
    let since = options.since.as_deref().map(time).transpose()?;
    let until = options.until.as_deref().map(time).transpose()?;
    let project = |typed: &String| project(&caller.cwd, typed);
    let projects = options.projects.iter().map(project).collect::<Result<Vec<_>>>()?;
    let skill_path = skill.skill_path();
    let is_in = |access: &Access| {
        let time = access.timestamp.parse::<jiff::Timestamp>().ok();
        access.skill_path == skill_path
            && since.is_none_or(|since| time.is_some_and(|it| it >= since))
            && until.is_none_or(|until| time.is_some_and(|it| it <= until))
            && (projects.is_empty() || projects.iter().any(|it| is_below(&access.cwd, it)))
    };
    let mut accesses = skill_log::read(&skill.log_path())?.unwrap_or_default();
    accesses.retain(is_in);
    let times = || accesses.iter().map(|it| &it.timestamp);
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

/// Reads a time, or a date as its beginning in UTC.
fn time(typed: &str) -> Result<jiff::Timestamp> {
    let date = || {
        let date = typed.parse::<jiff::civil::Date>().ok()?;
        date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|it| it.timestamp())
    };
    let is_date = typed.len() == "2026-01-02".len();
    let time = if is_date { date() } else { typed.parse().ok() };
    time.ok_or_else(|| Diagnostic::InvalidFilter { message: typed.to_owned() }.into())
}

fn text(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns a directory as the log has it.
fn project(cwd: &Path, typed: &str) -> Result<String> {
    let path = cwd.join(typed).canonicalize().map_err(|_| Diagnostic::InvalidFilter {
        message: format!("project path not found: {typed}"),
    })?;
    Ok(walk::path_text(&path))
}

fn is_below(cwd: &str, project: &str) -> bool {
    cwd.strip_prefix(project)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || project.ends_with('/'))
}

fn count(group_by: GroupBy, accesses: &[Access]) -> Counts {
    let succeeded = || accesses.iter().filter(|it| it.error.is_none());
    let sections = || {
        succeeded().filter(|it| it.command == "show").filter_map(|it| {
            let args = args(it);
            Some((word(&args, "file")?, word(&args, "section")?))
        })
    };
    let files = || {
        succeeded().filter_map(|it| match it.command.as_str() {
            "show" => word(&args(it), "file"),
            "open" => word(&args(it), "path"),
            _ => None,
        })
    };
    match group_by {
        GroupBy::Summary => Counts::Summary {
            total_accesses: accesses.len(),
            unique_sections: sections().collect::<BTreeSet<_>>().len(),
            unique_files: files().collect::<BTreeSet<_>>().len(),
            error_count: accesses.iter().filter(|it| it.error.is_some()).count(),
        },
        GroupBy::Sections => Counts::Sections(
            by_count(sections())
                .into_iter()
                .map(|((file, section), count)| (file, section, count))
                .collect(),
        ),
        GroupBy::Files => Counts::Files(by_count(files())),
        GroupBy::Commands => Counts::Commands(
            tally(accesses.iter().map(|it| it.command.clone())).into_iter().collect(),
        ),
        GroupBy::Projects => Counts::Projects(by_count(accesses.iter().map(|it| it.cwd.clone()))),
        GroupBy::Errors => Counts::Errors(
            by_count(
                accesses
                    .iter()
                    .filter_map(|it| Some((it.command.clone(), target(it), it.error.clone()?))),
            )
            .into_iter()
            .map(|((command, target, error), count)| (command, target, error, count))
            .collect(),
        ),
        GroupBy::Search => Counts::Search(by_count(
            accesses
                .iter()
                .filter(|it| it.command == "search")
                .filter_map(|it| word(&args(it), "query")),
        )),
    }
}

fn tally<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    values.for_each(|it| *counts.entry(it).or_default() += 1);
    counts
}

fn by_count<T: Ord>(values: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut counts: Vec<_> = tally(values).into_iter().collect();
    // Stable, so that equal counts stay in order of the alphabet.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

fn args(access: &Access) -> Value {
    serde_json::from_str(&access.args).unwrap_or_default()
}

fn word(args: &Value, key: &str) -> Option<String> {
    args.get(key)?.as_str().map(str::to_owned)
}

/// Returns what a command was asked for.
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
mod tests {
    use super::super::resolve;
    use super::super::testing::World;
    use super::*;

    /// Logs accesses: time, command, cwd, args, error.
    fn world(accesses: &[(&str, &str, &str, &str, Option<&str>)]) -> (World, Skill) {
        let world = World::new();
        world.skill("project/.skillc/skills/x");
        let skill = resolve::resolve(&world.caller, "x").unwrap();
        for (timestamp, command, cwd, args, error) in accesses {
            let access = Access {
                timestamp: (*timestamp).into(),
                run_id: "r".into(),
                command: (*command).into(),
                skill: "x".into(),
                skill_path: skill.skill_path(),
                cwd: world.path(cwd).display().to_string(),
                args: (*args).into(),
                error: error.map(str::to_owned),
            };
            skill_log::append(&skill.log_path(), &access).unwrap();
        }
        (world, skill)
    }

    fn sample() -> (World, Skill) {
        let found = "error[E021]: file not found: 'n'";
        world(&[
            ("2026-01-01T10:00:00Z", "outline", "project", "{\"level\":null}", None),
            (
                "2026-01-02T10:00:00Z",
                "show",
                "project",
                "{\"file\":\"a.md\",\"section\":\"S\"}",
                None,
            ),
            (
                "2026-01-03T10:00:00Z",
                "show",
                "project/sub",
                "{\"file\":\"a.md\",\"section\":\"S\"}",
                None,
            ),
            (
                "2026-01-04T10:00:00Z",
                "show",
                "project2",
                "{\"file\":\"a.md\",\"section\":\"A\"}",
                None,
            ),
            (
                "2026-01-05T10:00:00Z",
                "show",
                "project2",
                "{\"section\":\"X\"}",
                Some("error[E020]: no"),
            ),
            ("2026-01-06T10:00:00.5+00:00", "open", "project", "{\"path\":\"b.md\"}", None),
            ("2026-01-07T10:00:00Z", "open", "project", "{\"path\":\"n\"}", Some(found)),
            ("2026-01-08T10:00:00Z", "open", "project", "{\"path\":\"n\"}", Some(found)),
            (
                "2026-01-09T10:00:00Z",
                "search",
                "project",
                "{\"query\":\"q\",\"result_count\":1}",
                None,
            ),
            (
                "2026-01-10T10:00:00Z",
                "search",
                "project",
                "{\"query\":\"a\",\"result_count\":0}",
                None,
            ),
            ("2026-01-11T10:00:00Z", "future", "project", "not json", None),
        ])
    }

    fn counts(sample: &(World, Skill), group_by: &str) -> Counts {
        let options = StatsOptions { group_by: Some(group_by.into()), ..StatsOptions::default() };
        stats(&sample.0.caller, &sample.1, &options).unwrap().counts
    }

    fn pair(name: &str, count: usize) -> (String, usize) {
        (name.to_owned(), count)
    }

    #[test]
    fn everything_is_counted_by_what_was_asked() {
        let sample = sample();
        assert_eq!(
            counts(&sample, "summary"),
            Counts::Summary {
                total_accesses: 11,
                unique_sections: 2,
                unique_files: 2,
                error_count: 3
            }
        );
        assert_eq!(
            counts(&sample, "sections"),
            Counts::Sections(vec![("a.md".into(), "S".into(), 2), ("a.md".into(), "A".into(), 1)])
        );
        assert_eq!(counts(&sample, "files"), Counts::Files(vec![pair("a.md", 3), pair("b.md", 1)]));
        assert_eq!(
            counts(&sample, "commands"),
            Counts::Commands(vec![
                pair("future", 1),
                pair("open", 3),
                pair("outline", 1),
                pair("search", 2),
                pair("show", 4),
            ])
        );
        assert_eq!(counts(&sample, "search"), Counts::Search(vec![pair("a", 1), pair("q", 1)]));
        let Counts::Projects(projects) = counts(&sample, "projects") else { panic!() };
        let found: Vec<usize> = projects.iter().map(|it| it.1).collect();
        assert_eq!(found, [8, 2, 1]);
        let Counts::Errors(errors) = counts(&sample, "errors") else { panic!() };
        assert_eq!(errors[0].3, 2);
        assert_eq!((errors[0].0.as_str(), errors[0].1.as_str()), ("open", "n"));
        assert_eq!((errors[1].0.as_str(), errors[1].1.as_str()), ("show", "X"));
    }

    #[test]
    fn filters_come_before_counting() {
        let sample = sample();
        let total = |since: Option<&str>, until: Option<&str>, projects: &[&str]| {
            let options = StatsOptions {
                group_by: None,
                since: since.map(str::to_owned),
                until: until.map(str::to_owned),
                projects: projects.iter().map(|&it| it.to_owned()).collect(),
            };
            let found = stats(&sample.0.caller, &sample.1, &options).unwrap();
            let Counts::Summary { total_accesses, .. } = found.counts else { panic!() };
            total_accesses
        };
        assert_eq!(total(Some("2026-01-03"), None, &[]), 9);
        assert_eq!(total(Some("2026-01-03T10:00:00Z"), None, &[]), 9);
        assert_eq!(total(Some("2026-01-03T12:30:00+02:00"), None, &[]), 8);
        assert_eq!(total(None, Some("2026-01-03"), &[]), 2);
        assert_eq!(total(Some("2026-01-06"), Some("2026-01-07"), &[]), 1);
        std::fs::create_dir_all(sample.0.path("project/sub")).unwrap();
        std::fs::create_dir_all(sample.0.path("project2")).unwrap();
        assert_eq!(total(None, None, &["."]), 9, "not project2");
        assert_eq!(total(None, None, &["sub/../sub"]), 1);
        assert_eq!(total(None, None, &["sub", "../project2"]), 3);
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        let sample = sample();
        let check = |options: StatsOptions, expected: &str| {
            let error = stats(&sample.0.caller, &sample.1, &options).unwrap_err();
            assert_eq!(format!("{} {error}", error.code()), expected);
        };
        let all = StatsOptions::default;
        check(
            StatsOptions { group_by: Some("searches".into()), ..all() },
            "E030 invalid query type: 'searches'",
        );
        for time in ["foo", "2026-13-01", "2026-1-1", "", "2026-01-01T10:00:00"] {
            let expected = format!("E031 invalid filter: '{time}'");
            check(StatsOptions { since: Some(time.into()), ..all() }, &expected);
            check(StatsOptions { until: Some(time.into()), ..all() }, &expected);
        }
        check(
            StatsOptions { projects: vec!["nope".into()], ..all() },
            "E031 invalid filter: 'project path not found: nope'",
        );
    }

    #[test]
    fn without_a_log_everything_is_zero() {
        let sample = world(&[]);
        assert_eq!(
            counts(&sample, "summary"),
            Counts::Summary {
                total_accesses: 0,
                unique_sections: 0,
                unique_files: 0,
                error_count: 0
            }
        );
        assert_eq!(counts(&sample, "errors"), Counts::Errors(Vec::new()));
        let found = stats(&sample.0.caller, &sample.1, &StatsOptions::default()).unwrap();
        assert_eq!(found.period, None);
    }

    #[test]
    fn another_skill_of_the_same_name_is_not_counted() {
        let (world, skill) = sample();
        let other = Skill { dir: world.path("elsewhere"), ..skill };
        let found = stats(&world.caller, &other, &StatsOptions::default()).unwrap();
        assert_eq!(found.period, None);
    }
}
