//! Counts a log of a few accesses by every grouping.

use super::super::resolve;
use super::super::testing::World;
use super::*;

/// Logs accesses: time, command, cwd, args, error.
fn world(accesses: &[(&str, &str, &str, &str, Option<&str>)]) -> (World, Skill) {
    let world = World::new();
    world.skill("project/.skillc/skills/x");
    let skill = resolve::resolve(&world.caller, "x").unwrap();
    for (timestamp, command, cwd, args, error) in accesses {
        let access = SkillAccess {
            timestamp: (*timestamp).into(),
            run_id: "r".into(),
            command: (*command).into(),
            skill: "x".into(),
            skill_path: skill.skill_path(),
            cwd: world.path(cwd).display().to_string(),
            args: (*args).into(),
            error: error.map(str::to_owned),
        };
        log::append(&skill.log_path(), &access).unwrap();
    }
    (world, skill)
}

fn sample() -> (World, Skill) {
    let found = "error[E021]: file not found: 'n'";
    world(&[
        ("2026-01-01T10:00:00Z", "outline", "project", "{\"level\":null}", None),
        ("2026-01-02T10:00:00Z", "show", "project", "{\"file\":\"a.md\",\"section\":\"S\"}", None),
        (
            "2026-01-03T10:00:00Z",
            "show",
            "project/sub",
            "{\"file\":\"a.md\",\"section\":\"S\"}",
            None,
        ),
        ("2026-01-04T10:00:00Z", "show", "project2", "{\"file\":\"a.md\",\"section\":\"A\"}", None),
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
        ("2026-01-09T10:00:00Z", "search", "project", "{\"query\":\"q\",\"result_count\":1}", None),
        ("2026-01-10T10:00:00Z", "search", "project", "{\"query\":\"a\",\"result_count\":0}", None),
        ("2026-01-11T10:00:00Z", "future", "project", "not json", None),
    ])
}

fn counts(sample: &(World, Skill), group_by: &str) -> StatCounts {
    let options = StatsOptions { group_by: Some(group_by.into()), ..StatsOptions::default() };
    stats(&sample.0.caller, &sample.1, &options).unwrap().counts
}

fn pair(name: &str, count: usize) -> (String, usize) {
    (name.to_owned(), count)
}

fn section(name: &str, count: usize) -> SectionCount {
    SectionCount { section: name.to_owned(), file: "a.md".to_owned(), count }
}

#[test]
fn accesses_are_counted_by_the_requested_grouping() {
    let sample = sample();
    assert_eq!(
        counts(&sample, "summary"),
        StatCounts::Summary {
            total_accesses: 11,
            unique_sections: 2,
            unique_files: 2,
            error_count: 3
        }
    );
    assert_eq!(
        counts(&sample, "sections"),
        StatCounts::Sections(vec![section("S", 2), section("A", 1)])
    );
    assert_eq!(
        counts(&sample, "files"),
        StatCounts::Files(vec![
            FileCount { file: "a.md".into(), count: 3 },
            FileCount { file: "b.md".into(), count: 1 }
        ])
    );
    assert_eq!(
        counts(&sample, "commands"),
        StatCounts::Commands(BTreeMap::from([
            pair("future", 1),
            pair("open", 3),
            pair("outline", 1),
            pair("search", 2),
            pair("show", 4),
        ]))
    );
    assert_eq!(
        counts(&sample, "search"),
        StatCounts::Search(vec![
            QueryCount { query: "a".into(), count: 1 },
            QueryCount { query: "q".into(), count: 1 }
        ])
    );
    let StatCounts::Projects(projects) = counts(&sample, "projects") else { panic!() };
    let found: Vec<usize> = projects.iter().map(|project| project.count).collect();
    assert_eq!(found, [8, 2, 1]);
    let StatCounts::Errors(errors) = counts(&sample, "errors") else { panic!() };
    assert_eq!(errors[0].count, 2);
    assert_eq!((errors[0].command.as_str(), errors[0].target.as_str()), ("open", "n"));
    assert_eq!((errors[1].command.as_str(), errors[1].target.as_str()), ("show", "X"));
}

#[test]
fn filters_apply_before_counting() {
    let sample = sample();
    let total = |since: Option<&str>, until: Option<&str>, projects: &[&str]| {
        let options = StatsOptions {
            group_by: None,
            since: since.map(str::to_owned),
            until: until.map(str::to_owned),
            projects: projects.iter().map(|&project| project.to_owned()).collect(),
        };
        let found = stats(&sample.0.caller, &sample.1, &options).unwrap();
        let StatCounts::Summary { total_accesses, .. } = found.counts else { panic!() };
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
fn invalid_options_are_reported() {
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
        StatCounts::Summary {
            total_accesses: 0,
            unique_sections: 0,
            unique_files: 0,
            error_count: 0
        }
    );
    assert_eq!(counts(&sample, "errors"), StatCounts::Errors(Vec::new()));
    let found = stats(&sample.0.caller, &sample.1, &StatsOptions::default()).unwrap();
    assert_eq!(found.period, Period { start: None, end: None });
}

#[test]
fn another_skill_of_the_same_name_is_not_counted() {
    let (world, skill) = sample();
    let other = Skill { dir: world.path("elsewhere"), ..skill };
    let found = stats(&world.caller, &other, &StatsOptions::default()).unwrap();
    assert_eq!(found.period, Period { start: None, end: None });
}
