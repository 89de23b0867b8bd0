//! Tests added folders in other added folders: each file belongs to the innermost one, whichever command
//! asks.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::SystemTime;

use serde_json::json;

use crate::env::TestEnv;
use crate::word_model::word_env;

const INNER: &str = "# Gauge\n\nThe gauge is frozen.\n\n## Pump\n\nThe pump has salt.\n";
const CHANGED: &str = "# Gauge\n\nThe gauge is new.\n\n## Valve\n\nThe valve has paint.\n";

/// A home with a folder `a`, in which `a/b` is read as Markdown whatever its names say.
fn nested(inner_tags: &str, outer_tags: &str) -> TestEnv {
    let env = word_env();
    env.write("a/b/x.txt", INNER);
    env.write("a/y.txt", "# Not a heading\n\nThe anchor is old.\n");
    env.ok(&["add", "a/b", "--type", "markdown", "--tags", inner_tags]);
    env.ok(&["add", "a", "--tags", outer_tags]);
    env
}

/// Requires that a document was read as a format and has these tags.
#[track_caller]
fn check(env: &TestEnv, path: &str, format: &str, tags: &[&str]) {
    let info = env.json(&["info", env.path(path).to_str().unwrap(), "--format", "json"]);
    assert_eq!(
        (&info["metadata"]["format"], &info["tags"]),
        (&json!(format), &json!(tags)),
        "{path}"
    );
}

/// Requires that every command that compares files with the database finds nothing to do.
#[track_caller]
fn check_settled(env: &TestEnv) {
    let dry = env.json(&["update", "--dry-run", "--format", "json"]);
    for key in ["added", "updated", "moved"] {
        assert_eq!(dry[key], 0, "{key}: {dry}");
    }
    let status = env.json(&["status", "--scan", "--format", "json"]);
    let out_of_date = status["out_of_date"].as_object().unwrap();
    for (key, count) in out_of_date.iter().filter(|(key, _)| *key != "failed") {
        assert_eq!(*count, 0, "{key}");
    }
    let update = env.json(&["update", "--format", "json"]);
    for key in ["added", "updated", "moved"] {
        assert_eq!(update[key], 0, "{key}: {update}");
    }
}

/// Gives a file another content and another time.
fn change(env: &TestEnv, path: &str, text: &str) {
    let path = env.write(path, text);
    let later = SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
}

#[test]
fn the_innermost_folder_says_how_a_file_is_read_whatever_the_tags() {
    for (inner, outer) in [("zzz", "aaa"), ("aaa", "zzz")] {
        let env = nested(inner, outer);
        check(&env, "a/b/x.txt", "markdown", &["aaa", "zzz"]);
        check(&env, "a/y.txt", "text", &[outer]);
        check_settled(&env);
        change(&env, "a/b/x.txt", CHANGED);
        env.write("a/b/new.txt", INNER.replace("salt", "rope"));
        let dry = env.json(&["update", "--dry-run", "--format", "json"]);
        assert_eq!((&dry["updated"], &dry["added"]), (&json!(1), &json!(1)), "{dry}");
        let report = env.json(&["update", "--format", "json"]);
        assert_eq!((&report["updated"], &report["added"]), (&json!(1), &json!(1)), "{report}");
        check(&env, "a/b/x.txt", "markdown", &["aaa", "zzz"]);
        check(&env, "a/b/new.txt", "markdown", &["aaa", "zzz"]);
        check_settled(&env);
    }
}

#[test]
fn a_folder_that_says_nothing_is_read_as_the_one_around_it() {
    let env = word_env();
    env.write("a/b/x.txt", INNER);
    env.ok(&["add", "a/b"]);
    check(&env, "a/b/x.txt", "text", &[]);
    env.ok(&["add", "a", "--type", "markdown", "--tags", "aaa"]);
    check(&env, "a/b/x.txt", "text", &["aaa"]);
    check_settled(&env);
    change(&env, "a/b/x.txt", CHANGED);
    env.ok(&["update"]);
    check(&env, "a/b/x.txt", "markdown", &["aaa"]);
    // Adding a part once more does not change how it is read.
    env.write("a/b/new.txt", INNER);
    env.ok(&["add", "a/b/new.txt"]);
    env.write("a/c/other.txt", INNER.replace("salt", "rope"));
    env.ok(&["add", "a/c"]);
    for path in ["a/b/new.txt", "a/c/other.txt"] {
        check(&env, path, "markdown", &["aaa"]);
    }
    check_settled(&env);
}

#[test]
fn reading_again_and_refreshing_keep_the_type_of_the_innermost_folder() {
    let env = nested("zzz", "aaa");
    env.ok(&["config", "set", "chunking.markdown.max_tokens", "64"]);
    let report = env.json(&["update", "--reread", "--format", "json"]);
    assert_eq!(report["made_differently"], 0, "{report}");
    check(&env, "a/b/x.txt", "markdown", &["aaa", "zzz"]);
    check_settled(&env);
    change(&env, "a/b/x.txt", CHANGED);
    let answer = env.json(&["search", "gauge frozen", "--fresh", "--format", "json"]);
    assert!(answer["results"].as_array().is_some_and(|results| !results.is_empty()), "{answer}");
    check(&env, "a/b/x.txt", "markdown", &["aaa", "zzz"]);
    check_settled(&env);
}

#[test]
fn a_folder_is_looked_at_once_although_two_added_folders_contain_it() {
    let env = word_env();
    env.write("a/b/x.md", "# X\n\nThe sail is old.\n");
    env.write("a/b/bad.md", [0_u8, 1, 2, 3].repeat(64));
    env.write("a/.hidden/h.md", "# H\n\nThe rope is old.\n");
    for folder in ["a/b", "a/.hidden", "a"] {
        env.kb(&["add", folder]);
    }
    check_settled(&env);
    let files = env.json(&["files", "--format", "json"]);
    let paths: Vec<&str> = files["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths.iter().filter(|path| path.ends_with("bad.md")).count(), 1, "{files}");
    assert_eq!(files["counts"]["ignored"], 0, "{files}");
    // Whatever part is named.
    for named in ["a", "a/b", "a/.hidden", "a/b/x.md"] {
        change(&env, "a/b/x.md", &format!("# X\n\nThe sail of {named} is new.\n"));
        let is_in = "a/b/x.md".starts_with(named);
        let report = env.json(&["update", named, "--format", "json"]);
        assert_eq!(report["updated"], u32::from(is_in), "{named}: {report}");
    }
    env.ok(&["update"]);
    check_settled(&env);
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_belongs_to_the_folder_in_which_it_is() {
    let env = word_env();
    env.write("a/x.md", "# X\n\nThe sail is old.\n");
    env.write("b/sub/y.md", "# Y\n\nThe rope is old.\n");
    env.write("far/z.md", "# Z\n\nThe pump is old.\n");
    for (target, link) in [
        ("../b/sub", "a/sub"),
        ("../b/sub/y.md", "a/y.md"),
        ("../far", "a/far"),
        ("../far", "b/far"),
    ] {
        symlink(target, env.path(link)).unwrap();
    }
    env.ok(&["add", "a", "--follow", "--tags", "aaa"]);
    env.ok(&["add", "b", "--follow", "--tags", "bbb"]);
    check_settled(&env);
    change(&env, "b/sub/y.md", "# Y\n\nThe rope is new.\n");
    change(&env, "far/z.md", "# Z\n\nThe pump is new.\n");
    env.write("b/sub/new.md", "# New\n\nThe valve is new.\n");
    let report = env.json(&["update", "--format", "json"]);
    assert_eq!(report["added"], 1, "{report}");
    check(&env, "b/sub/new.md", "markdown", &["bbb"]);
    assert_eq!(env.sql::<u32>("SELECT count(*) FROM document_paths WHERE path LIKE '%/new.md'"), 1);
    check_settled(&env);
}

#[test]
fn a_removed_inner_folder_belongs_to_the_outer_one_until_it_is_added_again() {
    let env = nested("zzz", "aaa");
    env.ok(&["remove", "a/b", "--yes"]);
    // The outer folder still has the file.
    let report = env.json(&["update", "--format", "json"]);
    assert_eq!(report["added"], 1, "{report}");
    check(&env, "a/b/x.txt", "text", &["aaa"]);
    check_settled(&env);
    env.ok(&["add", "a/b", "--type", "markdown", "--tags", "zzz"]);
    change(&env, "a/b/x.txt", CHANGED);
    env.ok(&["update"]);
    check(&env, "a/b/x.txt", "markdown", &["aaa", "zzz"]);
    check_settled(&env);
}

#[test]
fn rules_and_losses_are_those_of_the_innermost_folder() {
    let env = nested("zzz", "aaa");
    let answer = env.json(&["remove", "a/b/x.txt", "--dry-run", "--format", "json"]);
    assert!(!answer.to_string().contains("edited tags"), "{answer}");
    env.ok(&["remove", "a/b/x.txt", "--ignore", "--yes"]);
    assert_eq!(fs::read_to_string(env.path("a/b/.kbignore")).unwrap(), "/x.txt\n");
    assert!(!Path::new(&env.path("a/.kbignore")).exists());
    check_settled(&env);
}

#[test]
fn a_moved_outer_folder_takes_the_inner_one_with_it() {
    let env = nested("zzz", "aaa");
    fs::rename(env.path("a"), env.path("moved")).unwrap();
    env.ok(&["relocate", "a", "moved"]);
    check_settled(&env);
    change(&env, "moved/b/x.txt", CHANGED);
    env.ok(&["update"]);
    check(&env, "moved/b/x.txt", "markdown", &["aaa", "zzz"]);
    check_settled(&env);
}

#[test]
fn a_watcher_sees_a_folder_that_is_hidden_in_another_one() {
    let env = word_env();
    env.write("a/.notes/x.md", "# X\n\nThe sail is old.\n");
    env.write("a/y.md", "# Y\n\nThe rope is old.\n");
    env.ok(&["add", "a/.notes", "a"]);
    let mut watcher = env.command(&["watch"]).spawn().unwrap();
    let is_there =
        || env.sql::<u32>("SELECT count(*) FROM document_paths WHERE path LIKE '%/new.md'") > 0;
    // The watcher may not have begun when the file is written first.
    for _ in 0..600 {
        env.write("a/.notes/new.md", "# New\n\nThe valve is new.\n");
        if is_there() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    assert!(is_there());
}
