//! Tests merging imports: two machines that edit the same documents come to the same state, and lose nothing.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::contract::{self, Imported};
use crate::env::TestEnv;
use crate::word_model::check_database;

/// Two machines with the same two notes and a file.
fn machines() -> [TestEnv; 2] {
    let one = TestEnv::new();
    one.ok(&["add", "--note", "The charger is in the blue box.", "--tags", "station"]);
    one.ok(&["add", "--note", "The pump is in the cellar.", "--title", "Pump"]);
    one.write("docs/tide.md", "# Tide\n\nThe tide is high at noon.\n");
    one.ok(&["add", "docs"]);
    let two = TestEnv::new();
    let report = sync(&one, &two);
    assert_eq!((report.imported, report.merged, report.skipped), (3, 0, 0));
    [one, two]
}

/// Imports everything of one machine into another.
fn sync(from: &TestEnv, to: &TestEnv) -> Imported {
    to.write("sync.jsonl", from.ok(&["export", "--vectors"]).stdout);
    let report = contract::read(&to.ok(&["import", "sync.jsonl", "--format", "json"]));
    check_database(to);
    report
}

/// Returns the lines of an export without ids and paths, which may differ between machines.
fn state(env: &TestEnv) -> Vec<Value> {
    let text = env.ok(&["export", "--vectors"]).stdout;
    let mut lines: Vec<Value> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        for key in ["id", "path", "paths"] {
            line[key] = Value::Null;
        }
        for chunk in line["chunks"].as_array_mut().unwrap() {
            chunk["chunk_id"] = Value::Null;
        }
    }
    lines.sort_by_key(|line| line["content_hash"].as_str().unwrap().to_owned());
    lines
}

/// Imports in both directions until nothing changes, and compares the machines.
#[track_caller]
fn settle([one, two]: &[TestEnv; 2]) {
    sync(one, two);
    sync(two, one);
    assert_eq!(state(one), state(two));
    for (from, to) in [(one, two), (two, one)] {
        let before = to.ok(&["export", "--vectors"]).stdout;
        let report = sync(from, to);
        assert_eq!((report.imported, report.merged, report.conflicts.len()), (0, 0, 0));
        assert_eq!(to.ok(&["export", "--vectors"]).stdout, before);
    }
}

fn texts(env: &TestEnv) -> Vec<String> {
    let mut texts = env.sql_column("SELECT text FROM chunks");
    texts.sort();
    texts
}

/// The clock of the edits counts milliseconds.
fn later() {
    thread::sleep(Duration::from_millis(5));
}

#[test]
fn edits_of_different_things_are_united() {
    let both = machines();
    let [one, two] = &both;
    one.ok(&["edit", "1", "--title", "Charger"]);
    one.ok(&["tag", "1", "3", "--add", "one"]);
    two.ok(&["tag", "1", "--add", "two"]);
    two.ok(&["edit", "3", "--date", "2001-02-03"]);
    let report = sync(one, two);
    assert_eq!((report.merged, report.skipped), (2, 1));
    assert!(report.conflicts.is_empty());
    settle(&both);
    let info = one.json(&["info", "1", "--format", "json"]);
    assert_eq!(
        (&info["title"], &info["tags"]),
        (&json!("Charger"), &json!(["one", "station", "two"]))
    );
    let found = one.json(&["search", "charger", "--fts-only", "--format", "json"]);
    assert_eq!(found["results"][0]["source"]["title"], "Charger", "{found}");
    let date = one.sql::<String>("SELECT metadata ->> '$.date' FROM documents WHERE id = 3");
    assert_eq!(date, "2001-02-03");
    assert_eq!(one.json(&["info", "3", "--format", "json"])["tags"], json!(["one"]));
}

#[test]
fn the_newer_of_two_titles_and_dates_wins_and_both_are_listed() {
    let both = machines();
    let [one, two] = &both;
    one.ok(&["edit", "3", "--date", "2001-01-01"]);
    two.ok(&["edit", "2", "--title", "Older pump"]);
    later();
    one.ok(&["edit", "2", "--title", "Newer pump"]);
    two.ok(&["edit", "3", "--date", "2002-02-02"]);
    let report = sync(two, one);
    let conflicts: Vec<_> = report
        .conflicts
        .iter()
        .map(|conflict| {
            let [kept, other] =
                [&conflict.kept, &conflict.other].map(|text| text.as_deref().unwrap());
            (conflict.document_id, conflict.field.as_str(), kept, other, conflict.kept_import)
        })
        .collect();
    let expected = [
        (2, "title", "Newer pump", "Older pump", false),
        (3, "date", "2002-02-02", "2001-01-01", true),
    ];
    assert_eq!(conflicts, expected);
    two.write("sync.jsonl", one.ok(&["export"]).stdout);
    let human = two.ok(&["import", "sync.jsonl"]).stdout;
    assert!(human.contains("Merged into 1 document."), "{human}");
    assert!(!human.contains("conflict:"), "the other side has decided: {human}");
    settle(&both);
    assert_eq!(two.json(&["info", "2", "--format", "json"])["title"], "Newer pump");
    // A later edit is not a conflict with what was merged.
    two.ok(&["edit", "2", "--title", "Third"]);
    assert!(sync(two, one).conflicts.is_empty());
    settle(&both);
    assert_eq!(one.json(&["info", "2", "--format", "json"])["title"], "Third");
}

#[test]
fn the_edited_text_of_a_note_replaces_the_earlier_one() {
    let both = machines();
    let [one, two] = &both;
    for text in ["The charger is in the red box.", "The charger is in the green box."] {
        one.ok(&["add", "--replace", "1", "--note", text]);
    }
    two.ok(&["tag", "1", "--add", "two"]);
    let report = sync(one, two);
    assert_eq!((report.imported, report.merged, report.conflicts.len()), (0, 1, 0));
    settle(&both);
    assert_eq!(texts(two).len(), 3);
    let info = two.json(&["info", "1", "--format", "json"]);
    assert_eq!(info["tags"], json!(["station", "two"]));
    assert!(two.ok(&["show", "1"]).stdout.contains("green box"));
}

#[test]
fn a_note_that_was_edited_on_both_sides_keeps_both_texts() {
    let both = machines();
    let [one, two] = &both;
    one.ok(&["add", "--replace", "1", "--note", "The charger is in the red box."]);
    later();
    two.ok(&["add", "--replace", "1", "--note", "The charger is in the green box."]);
    two.write("sync.jsonl", one.ok(&["export"]).stdout);
    let human = two.ok(&["import", "sync.jsonl"]).stdout;
    assert!(human.contains("conflict: the text of note 1 was edited on both sides"), "{human}");
    let report = sync(two, one);
    assert_eq!(report.conflicts.len(), 1);
    let conflict = &report.conflicts[0];
    assert_eq!((conflict.field.as_str(), conflict.kept_import), ("text", true));
    let copy = conflict.copy_id.unwrap().to_string();
    assert!(one.ok(&["show", "1"]).stdout.contains("green box"));
    assert!(one.ok(&["show", &copy]).stdout.contains("red box"));
    settle(&both);
    assert_eq!(texts(one), texts(two));
    assert_eq!(texts(one).len(), 4);
}

#[test]
fn a_long_note_can_be_edited_after_an_import() {
    let one = TestEnv::new();
    let text = (0..200)
        .map(|number| format!("Line {number} of the gauge."))
        .collect::<Vec<_>>()
        .join("\n");
    one.ok(&["add", "--title", "Long", "--note", &text]);
    let two = TestEnv::new();
    sync(&one, &two);
    assert!(one.sql::<i64>("SELECT count(*) FROM chunks") > 1);
    let note =
        |env: &TestEnv| env.sql::<Option<String>>("SELECT note_text FROM documents").unwrap();
    assert_eq!(note(&one), text);
    assert_eq!(note(&two), text);
}

#[test]
fn a_file_with_another_content_at_the_same_path_is_listed_and_kept() {
    let one = TestEnv::new();
    one.write("docs/tide.md", "# Tide\n\nThe tide is high at noon.\n");
    one.ok(&["add", "docs"]);
    let text = one.ok(&["export", "--vectors"]).stdout;
    one.write(
        "sync.jsonl",
        text.replace("high at noon", "low at noon").replacen(
            "\"content_hash\":\"",
            "\"content_hash\":\"0000",
            1,
        ),
    );
    let line = fs::read_to_string(one.path("sync.jsonl")).unwrap();
    let mut document: Value = serde_json::from_str(line.lines().nth(1).unwrap()).unwrap();
    let hash = document["content_hash"].as_str().unwrap()[..64].to_owned();
    document["content_hash"] = json!(hash);
    document["tags"] = json!(["other"]);
    one.write("sync.jsonl", format!("{}\n{document}\n", line.lines().next().unwrap()));
    let report: Imported =
        contract::read(&one.ok(&["import", "sync.jsonl", "--trust-paths", "--format", "json"]));
    assert_eq!((report.imported, report.merged, report.conflicts.len()), (0, 1, 1));
    assert_eq!((report.conflicts[0].field.as_str(), report.conflicts[0].document_id), ("file", 1));
    assert!(texts(&one)[0].contains("high at noon"));
    assert_eq!(one.json(&["info", "1", "--format", "json"])["tags"], json!(["other"]));
}

/// Finding N10: an edit of the year 9999 replaced the user's, and won over every later one.
#[test]
fn an_edit_of_the_future_never_wins_over_one_of_the_user() {
    let both = machines();
    let [one, two] = &both;
    one.ok(&["edit", "2", "--title", "My pump"]);
    sync(one, two);
    two.ok(&["edit", "2", "--title", "Forged pump"]);
    one.ok(&["edit", "2", "--title", "My new pump"]);
    let export = two.ok(&["export", "--vectors"]).stdout;
    let mut lines: Vec<Value> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in lines.iter_mut().filter(|line| line["title"] == "Forged pump") {
        let times = line["edits"]["title"].as_array_mut().unwrap();
        *times.last_mut().unwrap() = json!("9999-12-31T23:59:59.000Z");
        (line["created_at"], line["updated_at"]) =
            (json!("9999-12-31T23:59:59Z"), json!("9999-12-31T23:59:59Z"));
    }
    let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    one.write("forged.jsonl", text.concat());
    let report: Imported = contract::read(&one.ok(&["import", "forged.jsonl", "--format", "json"]));
    let [conflict] = report.conflicts.as_slice() else { panic!("{:?}", report.conflicts) };
    assert_eq!((conflict.document_id, conflict.kept_import), (2, false));
    assert_eq!(one.json(&["info", "2", "--format", "json"])["title"], "My new pump");
    assert!(!one.ok(&["export"]).stdout.contains("9999-12-31"));
    check_database(one);
}

#[test]
fn edits_that_kb_does_not_write_are_refused() {
    let one = TestEnv::new();
    one.ok(&["add", "--note", "The charger is in the blue box.", "--title", "Charger"]);
    let text = one.ok(&["export"]).stdout;
    let mut lines = text.lines();
    let (head, note) = (lines.next().unwrap(), lines.next().unwrap());
    for (edits, expected) in [
        (
            json!({"title": ["now"], "date": [], "text": [], "former": []}),
            "edits `now` is not a time",
        ),
        (json!({"title": [], "date": [], "text": [], "former": ["x"]}), "is not 64 lower-case"),
        (json!({"title": []}), "missing field"),
    ] {
        let mut line: Value = serde_json::from_str(note).unwrap();
        line["edits"] = edits;
        one.write("bad.jsonl", format!("{head}\n{line}\n"));
        let output = one.kb(&["--data-dir", "new", "import", "bad.jsonl"]).expect(1);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
}

#[test]
fn a_killed_merge_is_repeated_and_loses_nothing() {
    let [one, two] = machines();
    one.ok(&["add", "--replace", "1", "--note", "The charger is in the red box."]);
    one.ok(&["edit", "2", "--title", "Cellar pump"]);
    one.ok(&["tag", "1", "2", "3", "--add", "one"]);
    later();
    two.ok(&["add", "--replace", "1", "--note", "The charger is in the green box."]);
    two.write("sync.jsonl", one.ok(&["export", "--vectors"]).stdout);
    two.ok(&["backup", "before.db"]);
    two.ok(&["import", "sync.jsonl"]);
    let expected = state(&two);
    for number in 0..16_u64 {
        two.ok(&["restore", "before.db"]);
        let mut command = two.command(&["import", "sync.jsonl"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(number * 4));
        let _ = child.kill();
        child.wait().unwrap();
        check_database(&two);
        assert!(texts(&two).iter().any(|text| text.contains("green box")));
        two.ok(&["import", "sync.jsonl"]);
        assert_eq!(state(&two), expected);
    }
}
