//! Equal files are cited, opened and compared at the path that the user means, and lines for people name the
//! knowledge base where they must.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{Output, TestEnv, with_stdin};
use crate::mcp_client::Client;
use crate::patience::comes_true;
#[cfg(unix)]
use crate::screen::Screen;
#[cfg(unix)]
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
    // Commands that write to the database still find the document.
    env.ok(&["edit", "wt/feature/gauge.md", "--title", "Float gauge"]);
    assert_eq!(env.json(&["info", "1", "--format", "json"])["title"], "Float gauge");
}

#[cfg(unix)]
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

#[cfg(unix)]
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

#[cfg(unix)]
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

#[cfg(unix)]
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
        // Compact passages name their documents by title and id.
        let has_passages = ["kb_search", "kb_similar"].contains(&tool);
        for detail in ["compact", "full"].into_iter().skip(usize::from(has_passages)) {
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

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn a_copy_cites_the_path_of_the_filter_too() {
    let Some((_, url)) = crate::push::database() else { return };
    let env = worktrees();
    env.ok(&["push", &url]);
    check(&env, &["search", "zephyrine gauge", "--from", &url]);
}

/// A home with a diary in the default knowledge base and a contract in `work`, both document 1.
fn diary_and_contract() -> TestEnv {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "My private diary about the zephyrine sea"]);
    env.ok(&["base", "add", "work"]);
    env.ok(&["--base", "work", "add", "--note", "The zephyrine period is three months"]);
    env
}

/// Runs the command of the line with this text, as a person would type it.
#[track_caller]
fn follow(env: &TestEnv, shown: &Output, text: &str) -> String {
    let lines: Vec<&str> = shown.stdout.lines().collect();
    let at = lines.iter().position(|line| line.contains(text)).unwrap();
    let command = lines[at..].iter().find_map(|line| line.trim().strip_prefix("kb ")).unwrap();
    env.ok(&command.split(' ').collect::<Vec<_>>()).stdout
}

#[test]
fn the_command_below_a_hit_shows_the_document_of_the_hit() {
    let env = diary_and_contract();
    for bases in ["work,default", "default,work", "work"] {
        let args = ["--base", bases, "search", "zephyrine", "--format", "human"];
        let shown = env.ok(&args);
        let work = shown.stdout.lines().find(|line| line.contains("three months [note]")).unwrap();
        assert!(work.ends_with("[note] [work]"), "{bases}: {work}");
        let command = "   kb --base work show 1\n";
        assert!(shown.stdout.contains(command), "{bases}: {}", shown.stdout);
        assert!(follow(&env, &shown, "three months").contains("three months"), "{bases}");
        if bases != "work" {
            let own = shown.stdout.lines().find(|line| line.contains("diary")).unwrap();
            assert!(own.ends_with("[note]"), "{bases}: {own}");
            assert!(follow(&env, &shown, "private diary").contains("diary"), "{bases}");
            // Two documents are two groups, though both are number 1.
            assert!(shown.stdout.contains(" show 1\n\n2. "), "{}", shown.stdout);
        }
    }
    // The default one needs no name.
    let shown = env.ok(&["search", "zephyrine", "--format", "human"]).stdout;
    assert!(shown.contains("   kb show 1\n") && !shown.contains("[default]"), "{shown}");
}

#[test]
fn lines_for_people_name_the_base_of_the_command() {
    let env = diary_and_contract();
    env.ok(&["--base", "work", "add", "--note", "The zephyrine notice of the harbour"]);
    let in_work = |args: &[&str]| env.ok(&[&["--base", "work"][..], args].concat());
    let shown = |args: &[&str]| in_work(args).stdout;
    assert!(shown(&["similar", "1", "--format", "human"]).contains("kb --base work show 2\n"));
    assert!(shown(&["info", "1"]).starts_with("Document 1 [work]\n"));
    assert!(env.ok(&["info", "1"]).stdout.starts_with("Document 1\n"));
    let outline = shown(&["outline", "1", "--format", "human"]);
    assert!(outline.lines().next().unwrap().contains("[note] [work] "), "{outline}");
    assert!(shown(&["grep", "period", "--format", "human"]).contains(" (note 1) [work]\n"));
    let none = shown(&["list", "--tags", "nothing", "--format", "human"]);
    assert!(none.starts_with("No documents match. `kb --base work list`"), "{none}");
    assert!(shown(&["tags", "--format", "human"]).contains("`kb --base work tag DOC"));
    let failed = env.kb(&["--base", "work", "open", "1", "--editor"]).expect(1);
    assert!(failed.stderr.contains("hint: `kb --base work show 1`"), "{}", failed.stderr);
    let failed = env.kb(&["--base", "work", "remove", "1"]).expect(1);
    assert!(failed.stderr.contains("kb --base work remove --yes 1"), "{}", failed.stderr);
    // Commands about all knowledge bases name none.
    let failed = env.kb(&["--base", "work,", "list"]).expect(1);
    assert!(failed.stderr.contains("`kb base list`"), "{}", failed.stderr);
    // The words of the query are not changed.
    let shown = shown(&["search", "zephyrine `kb list`", "--format", "human"]);
    assert!(shown.starts_with("Search: \"zephyrine `kb list`\""), "{shown}");
}

#[cfg(unix)]
#[test]
fn find_names_the_base_on_its_screen() {
    let env = diary_and_contract();
    let args = ["--base", "work", "find", "zephyrine"];
    let mut screen = Screen::start(&env, &args, 110, 30);
    screen.see("kb --base work show 1 [work]");
    screen.leave("\u{1b}", &env).expect(0);
}

#[test]
fn advice_about_stale_files_is_given_for_each_base() {
    let env = diary_and_contract();
    for (base, name) in [("default", "a"), ("work", "b")] {
        env.write(
            &format!("{name}/{name}.md"),
            format!("# {name}\n\nA zephyrine valve of {name}.\n"),
        );
        env.ok(&["--base", base, "add", name]);
        env.write(&format!("{name}/{name}.md"), "# New\n\nSomething else.\n");
    }
    for base in ["default", "work"] {
        env.ok(&["--base", base, "config", "set", "search.freshness", "mark"]);
    }
    let search = ["--base", "default,work", "search", "zephyrine valve"];
    let human = env.ok(&[&search[..], &["--format", "human"]].concat()).stdout;
    let paths = env.ok(&[&search[..], &["--format", "paths"]].concat()).stderr;
    for text in [human, paths] {
        assert!(
            text.contains("1 of these files has changed since it was indexed; `kb update`"),
            "{text}"
        );
        assert!(text.contains("indexed; `kb --base work update`"), "{text}");
    }
}

#[test]
fn in_a_project_its_base_needs_no_name_and_the_default_one_does() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "My private diary about the zephyrine sea"]);
    fs::create_dir_all(env.path("project")).unwrap();
    let here = |args: &[&str]| {
        let mut command = env.command(args);
        env.finish(command.current_dir(env.path("project"))).expect(0)
    };
    here(&["init", "--here"]);
    here(&["add", "--note", "The zephyrine period is three months"]);
    let shown = here(&["search", "zephyrine", "--format", "human"]).stdout;
    assert!(shown.contains("   kb show 1\n"), "{shown}");
    let both = ["--base", "project,default", "search", "zephyrine", "--format", "human"];
    let shown = here(&both).stdout;
    assert!(shown.contains("   kb show 1\n"), "{shown}");
    assert!(shown.contains("[note] [default]\n"), "{shown}");
    assert!(shown.contains("   kb --base default show 1\n"), "{shown}");
}
