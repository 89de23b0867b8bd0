//! Equal files are cited, opened and compared at the path that the user means.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{TestEnv, with_stdin};
use crate::mcp_client::Client;
use crate::patience::comes_true;
use crate::screen::Screen;
use crate::terminal;

const GAUGE: &str = "# Gauge\n\nThe zephyrine gauge has a float.\n";

/// A home with two checkouts of one file, `wt/main/gauge.md` first.
fn worktrees() -> TestEnv {
    let env = TestEnv::new();
    for name in ["main", "feature"] {
        env.write(&format!("wt/{name}/gauge.md"), GAUGE);
        env.ok(&["add", "-q", &format!("wt/{name}")]);
    }
    env.write("wt/feature/other.md", "# Other\n\nThe zephyrine buoy.\n");
    env.ok(&["add", "-q", "wt/feature"]);
    env
}

fn main_path(env: &TestEnv) -> String {
    env.path("wt/main/gauge.md").display().to_string()
}

fn feature_path(env: &TestEnv) -> String {
    env.path("wt/feature/gauge.md").display().to_string()
}

/// Returns every value of a key anywhere in an answer.
fn values(answer: &Value, key: &str) -> Vec<String> {
    match answer {
        Value::Array(all) => all.iter().flat_map(|value| values(value, key)).collect(),
        Value::Object(all) => {
            let own = all.get(key).and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(all.values().flat_map(|value| values(value, key))).collect()
        }
        _ => Vec::new(),
    }
}

/// Checks that a command cites `wt/main` without a filter and `wt/feature` with it.
#[track_caller]
fn check(env: &TestEnv, args: &[&str]) {
    let (main, feature) = (main_path(env), feature_path(env));
    let shown = |rest: &[&str]| env.ok(&[args, rest].concat()).stdout;
    let all = shown(&[]);
    assert!(all.contains(&main) && !all.contains(&feature), "{args:?}: {all}");
    let all = shown(&["--path", "wt/feature"]);
    assert!(all.contains(&feature) && !all.contains("wt/main"), "{args:?}: {all}");
    let all = shown(&["--path", "wt/main"]);
    assert!(all.contains(&main) && !all.contains("wt/feature"), "{args:?}: {all}");
    let all = shown(&["--path", "wt"]);
    assert!(all.contains(&main) && !all.contains(&feature), "{args:?}: {all}");
}

#[test]
fn a_filter_decides_under_which_path_a_document_is_cited() {
    let env = worktrees();
    for format in ["json", "jsonl", "human", "md", "paths"] {
        check(&env, &["search", "zephyrine gauge", "--format", format]);
    }
    check(&env, &["search", "zephyrine gauge", "--budget", "500"]);
    check(&env, &["search", "zephyrine gauge", "--fts-only"]);
    for format in ["json", "jsonl", "human"] {
        check(&env, &["grep", "zephyrine gauge", "--format", format]);
    }
    check(&env, &["grep", "-l", "gauge"]);
    check(&env, &["list", "--format", "json"]);
    check(&env, &["similar", "2", "--format", "json"]);
    check(&env, &["similar", "2", "--format", "human"]);
    let filtered = ["search", "gauge", "--format", "paths", "--null", "--path", "wt/feature"];
    assert!(env.ok(&filtered).stdout.contains(&format!("{}\0", feature_path(&env))));
}

#[test]
fn each_line_of_a_batch_has_its_own_filter() {
    let env = worktrees();
    let lines = "{\"query\": \"gauge\", \"path\": \"wt/feature/gauge.md\"}\n\
                 {\"query\": \"gauge\", \"path\": \"wt/main\"}\n";
    let output = with_stdin(&env, &["search", "--batch", "-"], lines).expect(0);
    let answers: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values(&answers[0], "path"), [feature_path(&env)]);
    assert_eq!(values(&answers[1], "path"), [main_path(&env)]);
}

#[test]
fn a_document_named_by_a_path_is_opened_there() {
    let env = worktrees();
    for args in [&["open"][..], &["info"], &["outline"], &["show"]] {
        let shown = |typed: &str| {
            let answer = env.json(&[args, &[typed, "--format", "json"]].concat());
            values(&answer, "path")
        };
        assert_eq!(shown("wt/feature/gauge.md"), [feature_path(&env)], "{args:?}");
        assert_eq!(shown("wt/main/gauge.md"), [main_path(&env)], "{args:?}");
        assert_eq!(shown("1"), [main_path(&env)], "{args:?}");
    }
    // Each file is read itself, though the database has one text for both.
    env.write("wt/feature/gauge.md", "# Gauge\n\nChanged in the feature.\n");
    let opened = env.ok(&["open", "wt/feature/gauge.md"]);
    assert!(opened.stdout.contains("Changed in the feature"), "{}", opened.text());
    assert!(opened.stderr.contains("the file has changed"), "{}", opened.text());
    assert_eq!(env.ok(&["open", "wt/main/gauge.md"]).stdout, GAUGE);
    let shown = env.ok(&["show", "wt/feature/gauge.md"]);
    assert!(shown.stderr.contains("the file has changed"), "{}", shown.text());
    assert_eq!(env.ok(&["show", "wt/main/gauge.md"]).stderr, "");
    // What writes to the database still finds the document.
    env.ok(&["edit", "wt/feature/gauge.md", "--title", "Float gauge"]);
    assert_eq!(env.json(&["info", "1", "--format", "json"])["title"], "Float gauge");
}

#[test]
fn the_file_at_the_cited_path_is_the_one_that_is_compared_and_opened() {
    let mut env = worktrees();
    env.write("wt/feature/gauge.md", "# Gauge\n\nChanged in the feature.\n");
    env.ok(&["config", "set", "search.freshness", "mark"]);
    let stale = |args: &[&str], path: &str| {
        let answer = env.json(&[args, &["--path", path]].concat());
        values(&answer, "stale")
    };
    for args in [
        &["search", "zephyrine gauge"][..],
        &["grep", "zephyrine gauge", "--format", "json"],
        &["similar", "2", "--format", "json"],
        &["why", "zephyrine gauge", "1", "--format", "json"],
    ] {
        assert_eq!(stale(args, "wt/feature/gauge.md"), ["changed"], "{args:?}");
        assert_eq!(stale(args, "wt/main"), [] as [&str; 0], "{args:?}");
    }
    let editor = env.write("editor", "#!/bin/sh\necho \"$@\" >> \"$HOME/opened\"\n");
    fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.set("VISUAL", editor.to_str().unwrap());
    env.ok(&["search", "zephyrine gauge", "--path", "wt/feature/gauge.md", "--open", "1"]);
    env.ok(&["open", "wt/feature/gauge.md", "--editor"]);
    env.ok(&["open", "1", "--editor"]);
    let opened = fs::read_to_string(env.path("opened")).unwrap();
    let opened: Vec<&str> = opened.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(opened, [feature_path(&env), feature_path(&env), main_path(&env)]);
}

#[test]
fn a_changed_file_of_the_filter_is_read_again() {
    let env = worktrees();
    env.write("wt/feature/gauge.md", "# Gauge\n\nThe zephyrine gauge has no float.\n");
    let search = ["search", "zephyrine float", "--fresh", "--path", "wt/feature/gauge.md"];
    let answer = env.json(&search);
    assert!(answer["results"][0]["text"].as_str().unwrap().contains("no float"), "{answer:#}");
    assert_eq!(values(&answer, "path"), [feature_path(&env)]);
}

#[test]
fn find_shows_prints_and_reads_the_path_of_its_filter() {
    let env = worktrees();
    let args = ["find", "--print", "zephyrine gauge", "--path", "wt/feature/gauge.md"];
    let mut screen = Screen::start(&env, &args, 110, 30);
    screen.see(":3 The zephyrine gauge");
    // The outline keeps the path.
    screen.keys("\u{f}").see("outline of");
    let shown = screen.see("wt/feature/gauge.md");
    assert!(!shown.contains("wt/main"), "{shown}");
    let output = screen.leave("\r", &env);
    assert!(output.stdout.starts_with(&feature_path(&env)), "{}", output.text());
}

#[test]
fn find_opens_the_path_of_its_filter() {
    let mut env = worktrees();
    let editor = env.write("editor", "#!/bin/sh\necho \"$@\" > \"$HOME/opened\"\n");
    fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.set("VISUAL", editor.to_str().unwrap());
    let args = ["find", "zephyrine gauge", "--path", "wt/feature/gauge.md"];
    let mut screen = Screen::start(&env, &args, 110, 30);
    screen.see(":3 The zephyrine gauge");
    screen.keys("\r");
    assert!(comes_true(|| env.path("opened").exists()));
    screen.leave("\u{1b}", &env).expect(0);
    let opened = fs::read_to_string(env.path("opened")).unwrap();
    assert!(opened.trim_end().ends_with(&feature_path(&env)), "{opened}");
}

/// Runs kb in the checkout of the feature.
fn in_feature(env: &TestEnv, args: &[&str]) -> Command {
    let mut command = env.command(args);
    command.current_dir(env.path("wt/feature"));
    command
}

#[test]
fn people_see_the_path_below_the_working_directory_and_programs_do_not() {
    let env = worktrees();
    let human = ["--format", "human"];
    for args in [&["search", "zephyrine gauge"][..], &["similar", "2"], &["grep", "gauge"]] {
        let args = [args, &human].concat();
        let on_terminal = terminal::run_command(&env, in_feature(&env, &args), "", true, 90);
        let shown = on_terminal.stderr;
        assert!(shown.contains("gauge.md") && !shown.contains("wt/main"), "{args:?}: {shown}");
        let piped = env.finish(&mut in_feature(&env, &args)).stdout;
        assert!(piped.contains(&main_path(&env)), "{args:?}: {piped}");
    }
    let info = in_feature(&env, &["info", "1"]);
    let info = terminal::run_command(&env, info, "", true, 90).stderr;
    assert!(info.contains("wt/feature/gauge.md"), "{info}");
    for format in ["json", "jsonl", "md", "paths"] {
        let args = ["search", "zephyrine gauge", "--format", format];
        let shown = terminal::run_command(&env, in_feature(&env, &args), "", true, 300).stderr;
        assert!(shown.contains("wt/main/gauge.md"), "{format}: {shown}");
        assert!(!shown.contains("wt/feature/gauge.md"), "{format}: {shown}");
    }
    // A filter matters more than where a person is.
    let args = ["search", "zephyrine gauge", "--path", "../main", "--format", "human"];
    let shown = terminal::run_command(&env, in_feature(&env, &args), "", true, 90).stderr;
    assert!(shown.contains("wt/main/gauge.md"), "{shown}");
}

#[test]
fn agents_get_the_path_of_their_filter() {
    let env = worktrees();
    let mut client = Client::start(&env, ".", &[]);
    for (tool, input) in [
        ("kb_search", json!({ "query": "zephyrine gauge" })),
        ("kb_grep", json!({ "pattern": "zephyrine gauge" })),
        ("kb_list", json!({})),
        ("kb_similar", json!({ "document": 2 })),
    ] {
        for detail in ["compact", "full"] {
            let mut ask = |path: Option<&str>| {
                let mut input = input.clone();
                if let Some(path) = path {
                    input["path"] = env.path(path).display().to_string().into();
                }
                match detail {
                    "full" => client.data(tool, input).to_string(),
                    _ => client.text(tool, input),
                }
            };
            assert!(ask(None).contains(&main_path(&env)), "{tool} {detail}");
            let filtered = ask(Some("wt/feature"));
            assert!(filtered.contains(&feature_path(&env)), "{tool} {detail}: {filtered}");
            assert!(!filtered.contains("wt/main"), "{tool} {detail}: {filtered}");
        }
    }
    let input = json!({ "document": feature_path(&env) });
    for tool in ["kb_open", "kb_show", "kb_info"] {
        let answer = client.text(tool, input.clone());
        assert!(answer.contains(&feature_path(&env)), "{tool}: {answer}");
    }
}

#[test]
fn a_copy_cites_the_path_of_the_filter_too() {
    let Some((_, url)) = crate::push::database() else { return };
    let env = worktrees();
    env.ok(&["push", "--to", &url]);
    check(&env, &["search", "zephyrine gauge", "--from", &url]);
}
