//! Tests `kb relocate`, and folders that move together with the database.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::contract::{self, Relocated};
use crate::env::TestEnv;
use crate::word_model::check_database;

/// A home with three documents in `docs`, one of them tagged, and a failed file whose case is closed.
fn added() -> TestEnv {
    let env = TestEnv::new();
    env.write("docs/a.md", "# Alpha\n\nharbour\n");
    env.write("docs/sub/b.md", "# Beta\n\ntide\n");
    env.write("docs/c.md", "# Gamma\n\nsalt\n");
    env.write("docs/bad.md", [0_u8, 1, 2].repeat(50));
    env.ok(&["add", "docs", "--tags", "sea"]);
    env.ok(&["tag", "2", "--add", "own"]);
    env.ok(&["files", "--waive", "docs/bad.md"]);
    env
}

/// Returns id, path below the home and tags of every document.
fn listed(env: &TestEnv) -> Vec<Value> {
    let home = format!("{}/", env.path("").display()).replace("//", "/");
    let all = env.ok(&["export"]).stdout;
    let documents = all.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    documents
        .map(|document| {
            let path = document["path"].as_str().unwrap().replace(&home, "");
            json!([document["id"], path, document["tags"]])
        })
        .collect()
}

fn report(env: &TestEnv, args: &[&str]) -> Relocated {
    contract::read(&env.ok(&[&["relocate"], args, &["--format", "json"]].concat()))
}

#[track_caller]
fn refused(env: &TestEnv, args: &[&str], expected: &str) {
    let before = env.ok(&["export"]).stdout;
    let output = env.kb(&[&["relocate"], args].concat()).expect(1);
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    assert_eq!(output.stdout, "");
    assert_eq!(env.ok(&["export"]).stdout, before);
}

#[test]
fn a_relocated_folder_keeps_ids_tags_and_closed_cases() {
    let env = added();
    let before = listed(&env);
    fs::rename(env.path("docs"), env.path("moved")).unwrap();
    let dry = report(&env, &["docs", "moved", "--dry-run"]);
    assert!(dry.dry_run);
    assert_eq!((dry.files, dry.matching), (3, 3));
    assert_eq!(listed(&env), before);
    let done = report(&env, &["docs", "moved"]);
    assert_eq!((done.files, done.matching, done.dry_run), (3, 3, false));
    assert!(done.changed.is_empty() && done.missing.is_empty());
    assert!(done.from.ends_with("/docs") && done.to.ends_with("/moved"));
    assert_eq!(done.contract_version, 1);
    let expected: Vec<Value> = before
        .iter()
        .map(|document| {
            serde_json::from_str(&document.to_string().replace("docs/", "moved/")).unwrap()
        })
        .collect();
    assert_eq!(listed(&env), expected);
    let waived = env.ok(&["files", "--waived", "--format", "human"]).stdout;
    assert!(waived.contains("moved/bad.md"), "{waived}");
    let updated = env.ok(&["update"]).stdout;
    assert!(
        updated.contains("0 added, 0 updated, 0 moved, 3 unchanged, 0 failed, 0 missing"),
        "{updated}"
    );
    assert!(env.ok(&["open", "3"]).stdout.contains("tide"));
    // New files are found in the new folder, with the tags of the old one.
    env.write("moved/d.md", "# Delta\n\nwind\n");
    env.ok(&["update"]);
    assert_eq!(listed(&env)[3], json!([4, "moved/d.md", ["sea"]]));
    refused(&env, &["docs", "moved"], "nothing was added from");
    check_database(&env);
}

#[test]
fn files_are_compared_by_content_before_they_are_relocated() {
    let env = added();
    for (name, text) in
        [("a.md", "# Alpha\n\nharbour\n"), ("sub/b.md", "# Beta\n\nTIDE\n"), ("other.md", "other")]
    {
        env.write(&format!("copy/{name}"), text);
    }
    fs::remove_dir_all(env.path("docs")).unwrap();
    let output = env.ok(&["relocate", "docs", "copy"]).stdout;
    for expected in
        ["changed: ", "missing: ", "Relocated 3 files", "1 unchanged, 1 changed, 1 missing"]
    {
        assert!(output.contains(expected), "{output}");
    }
    // The copy has another time, but its content was compared: nothing is stale.
    let found = env.json(&["search", "harbour", "--fts-only", "--format", "json"]);
    assert_eq!(found["results"][0]["source"]["stale"], Value::Null, "{found}");
    let updated = env.ok(&["update"]).stdout;
    assert!(updated.contains("1 added, 1 updated"), "{updated}");
    assert!(updated.contains("1 missing"), "{updated}");
    check_database(&env);
}

#[test]
fn a_folder_that_cannot_be_the_same_is_refused() {
    let env = added();
    env.write("wrong/a.md", "something else, and longer\n");
    env.write("else/a.md", "# Other\n\nnothing\n");
    refused(&env, &["docs", "docs"], "is both the old and the new folder");
    refused(&env, &["docs", "docs/sub"], "contains the other");
    refused(&env, &["docs/sub", "docs"], "contains the other");
    refused(&env, &["docs", "missing"], "no such file or directory");
    refused(&env, &["docs", "docs/a.md"], "contains the other");
    refused(&env, &["docs", "wrong/a.md"], "is not a folder");
    refused(&env, &["never", "wrong"], "nothing was added from");
    refused(&env, &["docs", "wrong"], "has none of the 3 files");
    env.ok(&["add", "else"]);
    fs::write(env.path("else/c.md"), "# Gamma\n\nsalt\n").unwrap();
    refused(&env, &["docs", "else"], "already belongs to another document");
    let forced = report(&env, &["docs", "wrong", "--force"]);
    assert_eq!((forced.matching, forced.changed.len(), forced.missing.len()), (0, 1, 2));
    check_database(&env);
}

#[test]
fn a_folder_that_was_added_again_at_its_new_place_is_one_folder() {
    let env = added();
    let before = listed(&env);
    fs::rename(env.path("docs"), env.path("moved")).unwrap();
    env.ok(&["add", "moved"]);
    assert_eq!(report(&env, &["docs", "moved"]).matching, 3);
    assert_eq!(listed(&env).len(), before.len());
    let updated = env.ok(&["update"]).stdout;
    assert!(updated.contains("0 added, 0 updated, 0 moved, 3 unchanged"), "{updated}");
    assert!(!updated.contains("missing or empty"), "{updated}");
    check_database(&env);
}

#[test]
fn a_part_of_a_folder_is_relocated_and_followed() {
    let env = added();
    fs::rename(env.path("docs/sub"), env.path("elsewhere")).unwrap();
    assert_eq!(report(&env, &["docs/sub", "elsewhere"]).matching, 1);
    env.write("elsewhere/new.md", "# New\n\nwind\n");
    let updated = env.ok(&["update"]).stdout;
    assert!(updated.contains("1 added, 0 updated, 0 moved, 3 unchanged"), "{updated}");
    check_database(&env);
}

#[test]
fn folders_that_moved_with_the_database_are_followed() {
    let env = TestEnv::new();
    env.write("disk/docs/a.md", "# Alpha\n\nharbour\n");
    env.write("disk/docs/b.md", "# Beta\n\ntide\n");
    env.write("fixed/c.md", "# Gamma\n\nsalt\n");
    env.ok(&["--data-dir", "disk/kb", "add", "disk/docs", "fixed"]);
    fs::rename(env.path("disk"), env.path("stick")).unwrap();
    let update = ["--data-dir", "stick/kb", "update"];
    // At another place, the database is not known to be the user's own.
    env.kb(&update).expect(1);
    let output = env.ok(&["--data-dir", "stick/kb", "base", "allow", "--files", "--yes"]);
    assert!(output.stderr.contains("has moved with the database to"), "{}", output.text());
    let new = format!("followed from now on: {} (new", env.path("stick/docs").display());
    assert!(output.stderr.contains(&new), "{}", output.text());
    let output = env.ok(&update);
    assert!(
        output.stdout.contains("0 added, 0 updated, 0 moved, 3 unchanged"),
        "{}",
        output.text()
    );
    let opened = env.ok(&["--data-dir", "stick/kb", "open", "1"]);
    assert!(opened.stdout.contains("harbour"), "{}", opened.text());
    // A copy of the database alone leaves the folders where they are.
    fs::create_dir(env.path("copy")).unwrap();
    env.ok(&["--data-dir", "stick/kb", "backup", "copy/kb.db"]);
    env.ok(&["--data-dir", "copy", "base", "allow", "--files", "--yes"]);
    let output = env.ok(&["--data-dir", "copy", "update"]);
    assert!(!output.stderr.contains("has moved"), "{}", output.text());
    assert!(output.stdout.contains("3 unchanged"), "{}", output.text());
}

#[test]
fn an_export_is_relocated_on_a_second_machine() {
    let from = added();
    let text = from.ok(&["export"]).stdout;
    let to = TestEnv::new();
    to.write("export.jsonl", text);
    for (name, text) in [("a.md", "# Alpha\n\nharbour\n"), ("sub/b.md", "# Beta\n\ntide\n")] {
        to.write(&format!("papers/{name}"), text);
    }
    to.ok(&["import", "export.jsonl", "--trust-paths"]);
    let old = from.path("docs");
    let done = report(&to, &[old.to_str().unwrap(), "papers"]);
    assert_eq!((done.files, done.matching, done.missing.len()), (3, 2, 1));
    assert!(to.ok(&["open", "1"]).stdout.contains("harbour"));
    check_database(&to);
}

#[test]
fn a_killed_relocation_has_moved_everything_or_nothing() {
    let env = added();
    let (mut here, mut there) = ("docs", "moved");
    for number in 0..16_u64 {
        fs::rename(env.path(here), env.path(there)).unwrap();
        let mut command = env.command(&["relocate", here, there]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(number * 3));
        let _ = child.kill();
        child.wait().unwrap();
        let num_moved = listed(&env)
            .iter()
            .filter(|document| document[1].as_str().unwrap().starts_with(&format!("{there}/")))
            .count();
        assert!(num_moved == 0 || num_moved == 3, "{num_moved}");
        if num_moved == 0 {
            env.ok(&["relocate", here, there]);
        }
        check_database(&env);
        (here, there) = (there, here);
    }
}
