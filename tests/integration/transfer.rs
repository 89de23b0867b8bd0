//! Tests `kb export` and `kb import`: moving everything from one database to another.

use std::fs;

use serde_json::{Value, json};

use crate::contract;
use crate::env::{TestEnv, with_stdin};
use crate::word_model::{check_database, word_env};

/// Exports to a file of the home and returns it.
fn exported(env: &TestEnv, name: &str, flags: &[&str]) -> String {
    let path = env.path(name);
    let path = path.to_str().unwrap();
    let output = env.ok(&[&["export", path], flags].concat());
    assert!(output.stdout.is_empty(), "{}", output.stdout);
    assert!(output.stderr.starts_with("Exported "), "{}", output.stderr);
    env.as_written(fs::read_to_string(path).unwrap())
}

#[track_caller]
fn check_import(env: &TestEnv, path: &str, expected: [u64; 4]) {
    let report: contract::Imported =
        contract::read(&env.ok(&["import", path, "--trust-paths", "--format", "json"]));
    let found = [report.imported, report.chunks, report.skipped, report.failed];
    assert_eq!(found, expected);
    check_database(env);
}

#[test]
fn an_imported_export_is_exported_identically() {
    let from = TestEnv::real_with_corpus();
    from.ok(&["tag", "1", "--add", "tide,station"]);
    from.ok(&["remove", "2", "--yes"]);
    let text = exported(&from, "all.jsonl", &["--vectors"]);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["kb_export"], 1);
    assert_eq!(lines[1]["tags"], json!(["sample", "station", "tide"]));
    assert_eq!(lines[1]["chunks"][0]["vector"].as_array().unwrap().len(), 384);
    assert_eq!(from.ok(&["export", "--vectors"]).stdout, text);

    let to = TestEnv::real();
    let (num_documents, num_chunks) =
        lines[1..].iter().fold((0, 0), |sum: (u64, u64), document| {
            (sum.0 + 1, sum.1 + document["chunks"].as_array().unwrap().len() as u64)
        });
    let path = to.write("all.jsonl", &text);
    let path = path.to_str().unwrap();
    check_import(&to, path, [num_documents, num_chunks, 0, 0]);
    assert_eq!(to.ok(&["export", "--vectors"]).stdout, text);
    // A second import, from stdin, changes nothing.
    let again = with_stdin(&to, &["import", "-", "--format=human"], &text).expect(0);
    assert!(
        again.stdout.starts_with("Imported 0 documents (0 chunks), skipped"),
        "{}",
        again.stdout
    );

    // An export has no token vectors; `kb reindex` makes them again.
    to.ok(&["reindex"]);
    let query = ["search", "what to do when the gauge is frozen", "--format=json"];
    assert_eq!(to.ok(&query).stdout, from.ok(&query).stdout);
}

#[test]
fn without_vectors_they_are_computed() {
    let from = TestEnv::new();
    from.ok(&["add", "--note", "The charger is in the blue box.", "--tags", "station"]);
    let with_vectors = from.ok(&["export", "--vectors"]).stdout;
    let text = exported(&from, "lines.jsonl", &[]);
    assert!(!text.contains("\"vector\""));
    let to = TestEnv::new();
    let path = to.write("lines.jsonl", &text);
    check_import(&to, path.to_str().unwrap(), [1, 1, 0, 0]);
    assert_eq!(to.ok(&["export", "--vectors"]).stdout, with_vectors);
}

#[test]
fn added_folders_are_followed_after_an_import() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# Gauge\n\nThe frozen gauge.\n");
    env.ok(&["add", "notes", "--tags", "station"]);
    let text = exported(&env, "all.jsonl", &["--vectors"]);
    fs::remove_dir_all(env.path(".kb")).unwrap();
    let path = env.write("all.jsonl", &text);
    check_import(&env, path.to_str().unwrap(), [1, 1, 0, 0]);
    env.write("notes/b.md", "# Pump\n\nThe pump in the cellar.\n");
    // The author of the export chose the folder; the user has to see it.
    let update = env.json(&["update", "--format", "json"]);
    assert_eq!(update["added"], 0);
    let note = update["notes"][0].as_str().unwrap();
    assert!(note.starts_with(&format!("not followed: {} (new", env.path("notes").display())));
    env.ok(&["base", "allow", "--files", "--yes"]);
    assert_eq!(env.json(&["update", "--format", "json"])["added"], 1);
    assert_eq!(
        env.json(&["list", "--tags", "station", "--format", "json"]).as_array().unwrap().len(),
        2
    );
}

#[test]
fn a_passage_that_the_model_would_cut_is_refused() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "The frozen gauge."]);
    let text = exported(&env, "all.jsonl", &[]);
    let long = text.replace("The frozen gauge.", &"The frozen gauge. ".repeat(100));
    let to = TestEnv::new();
    let path = to.write("long.jsonl", &long);
    let refused = to.kb(&["import", path.to_str().unwrap()]).expect(1);
    assert!(refused.stderr.contains("is too long for the model"), "{}", refused.stderr);
}

#[test]
fn a_bad_line_does_not_affect_others() {
    let from = TestEnv::new();
    from.ok(&["add", "--note", "The charger is in the blue box."]);
    let text = from.ok(&["export", "--vectors"]).stdout;
    let (head, note) = text.split_once('\n').unwrap();
    let to = TestEnv::new();
    let path = to.write("lines.jsonl", format!("{head}\n{{}}\n\n{note}"));
    check_import(&to, path.to_str().unwrap(), [1, 1, 0, 1]);

    let path = to.write("broken.jsonl", format!("{head}\nwords\n"));
    let output = to.kb(&["import", path.to_str().unwrap(), "--format=human"]).expect(1);
    assert!(
        output.stderr.contains("line 2: this is not a document of an export"),
        "{}",
        output.stderr
    );
    let path = to.write("words.jsonl", "words\n");
    let output = to.kb(&["import", path.to_str().unwrap(), "--format=human"]).expect(1);
    assert!(output.stderr.contains("is not that of an export of kb"), "{}", output.stderr);
}

#[test]
fn an_export_never_overwrites_a_file() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "The charger is in the blue box."]);
    let path = env.write("all.jsonl", "mine");
    let output = env.kb(&["export", path.to_str().unwrap()]).expect(1);
    assert!(output.stderr.contains("already exists"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(path).unwrap(), "mine");
}

#[test]
fn a_part_is_exported_and_imported() {
    let env = word_env();
    env.write("other/pump.md", "# Pump\n\nThe engine of the pump.\n");
    env.ok(&["add", "other", "--tags", "work"]);
    let titles = |args: &[&str]| -> Vec<String> {
        let lines = env.ok(&[&["export"], args].concat()).stdout;
        let lines = lines.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(&["--tags", "work"]), ["Pump"]);
    assert_eq!(titles(&["--type", "note"]), ["Lamp"]);
    assert_eq!(titles(&["--path", "docs"]), ["Cider", "Tides"]);
    assert_eq!(titles(&["--since", "2999"]), Vec::<String>::new());
    assert_eq!(titles(&[]).len(), 4);
    // The folder of the part is not added on the other side.
    env.ok(&["export", "part.jsonl", "--tags", "work", "--vectors"]);
    env.ok(&["--data-dir", "new", "init", "--model-dir", "tiny"]);
    env.ok(&["--data-dir", "new", "import", "part.jsonl", "--trust-paths"]);
    let found = env.ok(&["--data-dir", "new", "list", "--format", "json"]).json();
    assert_eq!(found.as_array().unwrap().len(), 1);
    let first: Value = serde_json::from_str(
        env.ok(&["--data-dir", "new", "export"]).stdout.lines().next().unwrap(),
    )
    .unwrap();
    assert_eq!(first["roots"], serde_json::json!([]));
}
