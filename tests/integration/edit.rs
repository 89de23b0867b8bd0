//! Tests changing what is indexed: tags of many documents, removal by selection, titles, dates and
//! notes in the editor, and exports of documents before their removal.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{CORPUS, TestEnv, with_stdin};
use crate::permissions::check_mode;
#[cfg(unix)]
use crate::permissions::set_mode;
use crate::word_model::{check_database, word_env};

/// Returns the tags of every document, by id.
fn tags(env: &TestEnv) -> Vec<(i64, Vec<String>)> {
    let list = env.json(&["list", "--format=json"]);
    let tags = |document: &Value| serde_json::from_value(document["tags"].clone()).unwrap();
    let documents = list.as_array().unwrap().iter();
    documents.map(|document| (document["id"].as_i64().unwrap(), tags(document))).collect()
}

/// Returns the ids of the documents with a tag.
fn tagged(env: &TestEnv, tag: &str) -> Vec<i64> {
    let is_tagged = |entry: &(i64, Vec<String>)| entry.1.iter().any(|name| name == tag);
    tags(env).into_iter().filter(is_tagged).map(|entry| entry.0).collect()
}

#[test]
fn many_documents_are_tagged_by_id_path_and_name() {
    let env = TestEnv::with_corpus();
    let handbook = format!("{CORPUS}/station-handbook.md");
    let output = env.ok(&["tag", "1", "8", "charger", &handbook, "1", "--add", "mine"]);
    assert_eq!(output.stdout, "Selected 4 documents; changed the tags of 4.\n");
    assert_eq!(tagged(&env, "mine"), [1, 4, 7, 8]);
    let output = env.ok(&["tag", "1", "2", "--add", "mine"]);
    assert_eq!(output.stdout, "Selected 2 documents; changed the tags of 1.\n");
    let answer = env.json(&["tag", "1", "3", "--remove", "mine", "--format=json"]);
    assert_eq!((&answer["selected"], &answer["changed"]), (&json!(2), &json!([1])));
    assert_eq!(answer["documents"][1]["id"], 3);
    // A command that changes nothing reports that.
    let same = env.ok(&["tag", "3", "--remove", "mine"]);
    assert!(same.stderr.contains("no tags were changed"), "{same:?}");
    // A single name has the answer that a single id always had.
    let answer = env.json(&["tag", "charger", "--add", "x", "--format=json"]);
    assert_eq!((&answer["id"], answer["tags"].as_array().map(Vec::len)), (&json!(7), Some(4)));
    // If one is not found, none is changed.
    let refused = env.kb(&["tag", "1", "2", "no such document", "--add", "half"]).expect(1);
    assert!(refused.stderr.contains("document not found: no such document"), "{refused:?}");
    assert!(tagged(&env, "half").is_empty());
}

#[test]
fn documents_are_tagged_by_what_they_are() {
    let env = TestEnv::with_corpus();
    let output = env.ok(&["tag", "--type", "code", "--add", "source"]);
    assert_eq!(output.stdout, "Selected 3 documents; changed the tags of 3.\n");
    assert_eq!(tagged(&env, "source"), [1, 2, 6]);
    env.ok(&["tag", "--path", CORPUS, "--add", "corpus"]);
    assert_eq!(tagged(&env, "corpus"), [1, 2, 3, 4, 5, 6]);
    env.ok(&["tag", "--tags", "station,handbook", "--add", "both", "--remove", "handbook"]);
    assert_eq!((tagged(&env, "both"), tagged(&env, "handbook")), (vec![4], vec![]));
    env.ok(&["tag", "--type", "note", "--path", CORPUS, "--add", "none"]);
    assert!(tagged(&env, "none").is_empty());
    let output = env.ok(&["tag", "--tags", "nobody", "--add", "x"]);
    assert_eq!(output.stdout, "Selected 0 documents; changed the tags of 0.\n");
    assert!(output.stderr.contains("no document has the tag `nobody`"), "{output:?}");
}

#[test]
fn the_documents_of_search_results_are_tagged() {
    let env = TestEnv::with_corpus();
    let search = ["search", "frozen gauge", "--type", "markdown", "--top", "2"];
    let answer = env.json(&search);
    let hits = answer["results"].as_array().unwrap().iter();
    let mut expected: Vec<i64> =
        hits.map(|hit| hit["source"]["document_id"].as_i64().unwrap()).collect();
    expected.sort_unstable();
    expected.dedup();
    let tag = ["tag", "--query", "frozen gauge", "--type=markdown", "--top=2", "--add=found"];
    let output = env.ok(&tag);
    assert!(output.stdout.starts_with(&format!("Selected {} document", expected.len())));
    assert_eq!(tagged(&env, "found"), expected);
}

#[test]
fn documents_are_named_or_selected_but_not_both() {
    let env = TestEnv::with_corpus();
    let refused = env.kb(&["tag", "1", "--type", "code", "--add", "x"]).expect(1).stderr;
    assert!(refused.contains("cannot be used with"), "{refused}");
    for args in
        [&["tag", "--add", "x"][..], &["tag", "--type=code"], &["tag", "--top=3", "--add=x"]]
    {
        env.kb(args).expect(1);
    }
    assert!(tagged(&env, "x").is_empty());
}

#[test]
fn a_tag_is_renamed_and_merged_everywhere() {
    let env = TestEnv::with_corpus();
    env.ok(&["tag", "--type=code", "--add", "old"]);
    env.ok(&["tag", "6", "8", "--add", "new"]);
    assert_eq!(
        env.ok(&["tags", "rename", "station", "harbour"]).stdout,
        "Renamed 'station' to 'harbour': 2 documents.\n"
    );
    assert_eq!((tagged(&env, "station"), tagged(&env, "harbour")), (vec![], vec![4, 7]));
    let answer = env.json(&["tags", "rename", "old", "new", "--format=json"]);
    assert_eq!((&answer["documents"], &answer["merged"]), (&json!(3), &json!(true)));
    assert_eq!((tagged(&env, "old"), tagged(&env, "new")), (vec![], vec![1, 2, 6, 8]));
    for args in [["tags", "rename", "old", "x"], ["tags", "rename", "new", "new"]] {
        env.kb(&args).expect(1);
    }
    check_database(&env);
}

#[test]
fn new_files_of_a_folder_get_the_renamed_tag() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# A\n\nThe first gauge.\n");
    env.ok(&["add", "notes", "--tags", "old,kept"]);
    env.ok(&["tags", "rename", "old", "new"]);
    env.write("notes/b.md", "# B\n\nThe second gauge.\n");
    env.ok(&["update"]);
    let expected = vec!["kept".to_owned(), "new".to_owned()];
    assert_eq!(tags(&env), [(1, expected.clone()), (2, expected)]);
}

#[test]
fn a_killed_change_of_tags_changes_all_documents_or_none() {
    let env = TestEnv::new();
    for number in 0..200 {
        env.write(&format!("notes/{number}.md"), format!("# Note {number}\n\nGauge {number}.\n"));
    }
    env.ok(&["add", "notes"]);
    for round in 0..20_u64 {
        let tag = format!("round-{round}");
        let mut command = env.command(&["tag", "--path=notes", "--add", &tag]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(3 * round));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        let num_tagged = tagged(&env, &tag).len();
        assert!([0, 200].contains(&num_tagged), "{num_tagged} of 200 in round {round}");
    }
    check_database(&env);
}

/// Returns the ids of all documents.
fn ids(env: &TestEnv) -> Vec<i64> {
    tags(env).into_iter().map(|entry| entry.0).collect()
}

#[test]
fn documents_are_removed_by_what_they_are() {
    let env = TestEnv::with_corpus();
    let output = env.ok(&["remove", "--type=code", "--dry-run"]);
    assert!(output.stdout.ends_with("Would remove 3 documents.\n"), "{output:?}");
    assert!(output.stdout.contains("backup_log.sh"), "{output:?}");
    let answer = env.json(&["remove", "--type=code", "--dry-run", "--format=json"]);
    assert_eq!((&answer["removed"], &answer["dry_run"]), (&json!([1, 2, 6]), &json!(true)));
    assert_eq!(ids(&env).len(), 8);
    // It asks as ever.
    env.kb(&["remove", "--type=code"]).expect(1);
    env.kb(&["remove"]).expect(1);
    env.kb(&["remove", "4", "--type=code", "--yes"]).expect(1);
    assert_eq!(ids(&env).len(), 8);
    assert_eq!(env.ok(&["remove", "--type=code", "--yes"]).stdout, "Removed 3 documents.\n");
    env.ok(&["remove", "--tags=station", "--type=note", "--yes"]);
    assert_eq!(ids(&env), [3, 4, 5, 8]);
    let of_path = ["remove", "--path", CORPUS, "--query=frozen gauge", "--top=1", "--yes"];
    assert_eq!(env.ok(&of_path).stdout, "Removed 1 document.\n");
    assert_eq!(ids(&env).len(), 3);
    assert_eq!(env.ok(&["remove", "--tags=nobody", "--yes"]).stdout, "Removed 0 documents.\n");
    check_database(&env);
}

#[test]
fn a_path_selects_only_what_is_nowhere_else() {
    let env = TestEnv::new();
    env.write("a/x.md", "# Gauge\n\nThe frozen gauge.\n");
    env.write("b/copy.md", "# Gauge\n\nThe frozen gauge.\n");
    env.write("a/y.md", "# Pump\n\nThe pump in the cellar.\n");
    env.ok(&["add", "a", "b"]);
    assert_eq!(env.ok(&["remove", "--path=a", "--yes"]).stdout, "Removed 1 document.\n");
    let left = env.json(&["list", "--format=json"]);
    assert!(left[0]["path"].as_str().unwrap().ends_with("b/copy.md"), "{left}");
}

#[test]
fn an_ignored_document_stays_away() {
    let env = TestEnv::new();
    for name in ["a.md", "b [1].md", "sub/c.md", "sub/d.md", "other/e.md"] {
        env.write(&format!("notes/{name}"), format!("# {name}\n\nThe gauge, as {name} has it.\n"));
    }
    env.write("notes/.kbignore", "*.tmp");
    env.ok(&["add", "notes"]);
    let path = |name: &str| env.path(format!("notes/{name}")).display().to_string();
    let output = env.ok(&["remove", &path("b [1].md"), "--ignore", "--yes"]);
    assert_eq!(output.stdout, "Removed 1 document. Added 1 rule to .kbignore.\n");
    assert_eq!(output.stderr, "");
    let rules = || fs::read_to_string(env.path("notes/.kbignore")).unwrap();
    assert_eq!(rules(), "*.tmp\n/b \\[1\\].md\n");
    env.ok(&["remove", &path("sub"), "--ignore", "--yes"]);
    assert_eq!(rules(), "*.tmp\n/b \\[1\\].md\n/sub/\n");
    env.ok(&["update"]);
    env.ok(&["add", "notes"]);
    assert_eq!(ids(&env).len(), 2);
    // The same rule is not written twice.
    env.ok(&["add", &path("b [1].md")]);
    let output = env.ok(&["remove", &path("b [1].md"), "--ignore", "--yes"]);
    assert_eq!(output.stdout, "Removed 1 document.\n");
    assert_eq!(rules(), "*.tmp\n/b \\[1\\].md\n/sub/\n");
    // The file is created where there is none.
    fs::remove_file(env.path("notes/.kbignore")).unwrap();
    env.ok(&["remove", "--path", &path("other"), "--ignore", "--yes"]);
    assert_eq!(rules(), "/other/e.md\n");
}

#[test]
fn a_rule_needs_an_added_folder() {
    let env = TestEnv::new();
    let file = env.write("alone/a.md", "# A\n\nThe gauge.\n").display().to_string();
    env.write("notes/b.md", "# B\n\nThe pump.\n");
    env.ok(&["add", &file, "notes"]);
    env.ok(&["add", &file]);
    env.ok(&["add", "--note", "The valve."]);
    for (args, message) in [
        (&["remove", &file, "--ignore", "--yes"][..], "is not below an added folder"),
        (&["remove", "--type=note", "--ignore", "--yes"], "has no file to ignore"),
        (&["remove", "notes", "--ignore", "--yes"], "is or contains an added folder"),
    ] {
        let refused = env.kb(args).expect(1).stderr;
        assert!(refused.contains(message), "{args:?}: {refused}");
    }
    assert_eq!(ids(&env).len(), 3);
    assert!(!env.path("alone/.kbignore").exists() && !env.path("notes/.kbignore").exists());
}

#[test]
fn removing_reports_what_no_file_has() {
    let env = TestEnv::new();
    env.write("notes/a.md", "---\ntags: [stated]\n---\n\n# A\n\nThe gauge.\n");
    let titled = env.write("notes/b.md", "# B\n\nThe pump.\n").display().to_string();
    env.write("notes/c.md", "# C\n\nThe valve.\n");
    env.write("notes/d.md", "# D\n\nThe rope.\n");
    env.ok(&["add", "notes", "--tags", "folder"]);
    env.ok(&["add", &titled, "--title", "My pump"]);
    env.ok(&["tag", "C", "--add", "mine"]);
    env.ok(&["add", "--note", "The anchor.", "--tags", "harbour"]);
    fs::remove_file(env.path("notes/d.md")).unwrap();
    let expected = "these are in no file and will be lost: 1 note, 1 document with a missing file, \
        1 edited title and 1 document with edited tags; `--export FILE` saves them\n";
    let refused = env.kb(&["remove", "--path=notes"]).expect(1).stderr;
    assert!(refused.contains("1 document with a missing file, 1 edited title"), "{refused}");
    let output = env.ok(&["remove", "1", "2", "3", "4", "5", "--yes"]);
    assert!(output.stderr.contains(expected), "{output:?}");
}

#[test]
fn what_was_removed_comes_back_with_its_ids() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# Gauge\n\nThe frozen gauge.\n");
    env.write("notes/b.md", "# Pump\n\nThe pump in the cellar.\n");
    env.ok(&["add", "notes"]);
    env.ok(&["add", "--note", "The anchor of the boat.", "--title", "Anchor", "--tags", "boat"]);
    env.ok(&["tag", "1", "3", "--add", "mine"]);
    let everything = || env.json(&["list", "--format=json"]);
    let before = everything();
    let output = env.ok(&["remove", "1", "3", "--export", "gone.jsonl", "--yes"]);
    assert!(output.stderr.contains("Exported 2 documents to gone.jsonl."), "{output:?}");
    let file = env.path("gone.jsonl");
    check_mode(&file, 0o600);
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 3);
    // It is not overwritten, and then nothing is removed.
    let refused = env.kb(&["remove", "2", "--export", "gone.jsonl", "--yes"]).expect(1);
    assert!(refused.stderr.contains("already exists"), "{refused:?}");
    assert_eq!(ids(&env), [2]);
    env.ok(&["import", "gone.jsonl"]);
    let text = everything();
    assert_eq!((&text[0]["path"], &text[0]["title"]), (&Value::Null, &before[0]["title"]));
    assert_eq!((&text[0]["tags"], &text[2]), (&before[0]["tags"], &before[2]));
    // The file with the same bytes joins again.
    env.ok(&["update"]);
    assert_eq!(everything()[0]["path"], before[0]["path"]);
    assert_eq!((ids(&env), &everything()[0]["tags"]), (vec![1, 2, 3], &before[0]["tags"]));
    // With its path at once.
    env.ok(&["remove", "1", "--export", "gone.jsonl", "--force", "--yes"]);
    env.ok(&["import", "gone.jsonl", "--trust-paths"]);
    assert_eq!(everything()[0]["path"], before[0]["path"]);
    // A folder that was forgotten also comes back.
    env.ok(&["remove", "notes", "--export", "folder.jsonl", "--yes"]);
    env.ok(&["import", "folder.jsonl", "--trust-paths"]);
    env.write("notes/c.md", "# New\n\nA new note on salt.\n");
    env.ok(&["base", "allow", "--files", "--yes"]);
    env.ok(&["update"]);
    assert_eq!(ids(&env).len(), 4);
    check_database(&env);
}

#[test]
fn an_update_exports_what_it_removes() {
    let env = TestEnv::new();
    for name in ["a", "b", "c", "d"] {
        env.write(&format!("notes/{name}.md"), format!("# {name}\n\nThe gauge of {name}.\n"));
    }
    env.ok(&["add", "notes"]);
    env.ok(&["tag", "1", "--add", "mine"]);
    fs::remove_file(env.path("notes/a.md")).unwrap();
    env.kb(&["update", "--export", "gone.jsonl"]).expect(1);
    env.write("taken.jsonl", "mine");
    env.kb(&["update", "--prune", "--export", "taken.jsonl"]).expect(1);
    assert_eq!(ids(&env).len(), 4);
    let output = env.ok(&["update", "--prune", "--export", "gone.jsonl"]);
    assert!(output.stderr.contains("Exported 1 document to gone.jsonl."), "{output:?}");
    assert_eq!(ids(&env), [2, 3, 4]);
    env.ok(&["import", "gone.jsonl"]);
    assert_eq!(tagged(&env, "mine"), [1]);
    // Without anything to remove, no file is written.
    env.ok(&["update", "--prune", "--export", "nothing.jsonl"]);
    assert!(!env.path("nothing.jsonl").exists());
}

#[test]
fn a_killed_removal_has_exported_everything_that_is_gone() {
    let env = TestEnv::new();
    for number in 0..60 {
        env.ok(&["add", "--note", &format!("Note {number} about the gauge.")]);
    }
    for round in 0..12_u64 {
        let file = format!("gone-{round}.jsonl");
        let mut command = env.command(&["remove", "--type=note", "--yes", "--export", &file]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(6 * round));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        check_database(&env);
        if env.path(&file).exists() {
            let lines = fs::read_to_string(env.path(&file)).unwrap();
            assert_eq!(lines.lines().count(), 61, "round {round}");
            env.ok(&["import", &file]);
        }
        assert_eq!(ids(&env), (1..=60).collect::<Vec<_>>(), "round {round}");
    }
}

/// Puts an editor on the `PATH` that runs a shell script with the page as `$1`.
#[cfg(unix)]
fn editor(env: &mut TestEnv, script: &str) {
    let path = env.write("bin/ed-test", format!("#!/bin/sh\n{script}\n"));
    set_mode(&path, 0o755);
    env.set("VISUAL", "ed-test");
    env.set("PATH", &format!("{}:/usr/bin:/bin", env.path("bin").display()));
}

/// Returns the page that an editor would show, without changing anything.
#[cfg(unix)]
fn page(env: &mut TestEnv, document: &str) -> String {
    editor(env, "cp \"$1\" \"$HOME/page\"");
    let output = env.ok(&["edit", document]);
    assert_eq!(output.stdout, "Nothing changed.\n");
    fs::read_to_string(env.path("page")).unwrap()
}

/// Edits a document by replacing its page.
#[cfg(unix)]
fn edit_as(env: &mut TestEnv, document: &str, page: &str) -> crate::env::Output {
    env.write("new-page", page);
    editor(env, "cat \"$HOME/new-page\" >\"$1\"");
    env.kb(&["edit", document])
}

#[test]
fn a_title_date_and_tags_are_set_directly() {
    let env = TestEnv::with_corpus();
    let info = |key: &str| env.json(&["info", "4", "--format=json"])[key].clone();
    let edit = ["edit", "station-handbook", "--title", "Zeppelin manual", "--date=2001-02-03"];
    let answer = env.json(&[&edit[..], &["--tags=b,a", "--format=json"]].concat());
    assert_eq!(answer["changed"], json!(["title", "tags", "date"]));
    assert_eq!((info("title"), info("tags")), (json!("Zeppelin manual"), json!(["a", "b"])));
    assert_eq!(info("metadata")["date"], "2001-02-03");
    // The title is part of the text that is searched, and the date of the filters.
    let found = env.json(&["search", "zeppelin", "--fts-only", "--until=2001-03"]);
    let source = &found["results"][0]["source"];
    assert_eq!((&source["document_id"], &source["date"]), (&json!(4), &json!("2001-02-03")));
    assert_eq!(source["date_origin"], "user");
    check_database(&env);
    // Nothing is written where nothing changes.
    assert_eq!(env.ok(&edit).stdout, "Nothing changed.\n");
    env.ok(&["edit", "4", "--date", ""]);
    assert_eq!(info("metadata")["date"], Value::Null);
    for args in [["--date", "2001-02-30"], ["--date", "2001"], ["--title", " "]] {
        env.kb(&["edit", "4", args[0], args[1]]).expect(1);
    }
}

#[test]
fn an_edited_title_and_date_survive_updates() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# Stated\n\nThe gauge.\n");
    env.ok(&["add", "notes"]);
    env.ok(&["edit", "1", "--title", "Mine", "--date", "2001-02-03"]);
    env.write("notes/a.md", "# Stated anew\n\nThe gauge, and the pump in the cellar.\n");
    // A title that is part of the text is not made from a file that is not indexed.
    let refused = env.kb(&["edit", "1", "--title", "Other"]).expect(1).stderr;
    assert!(refused.contains("has changed since it was indexed"), "{refused}");
    env.ok(&["update"]);
    let info = env.json(&["info", "1", "--format=json"]);
    assert_eq!((&info["title"], &info["metadata"]["date"]), (&json!("Mine"), &json!("2001-02-03")));
    env.ok(&["export", "all.jsonl"]);
    env.ok(&["remove", "1", "--yes"]);
    env.ok(&["import", "all.jsonl"]);
    assert_eq!(env.json(&["info", "1", "--format=json"])["metadata"]["date"], "2001-02-03");
}

#[cfg(unix)]
#[test]
fn a_note_is_edited_as_front_matter_and_text() {
    let mut env = TestEnv::new();
    env.ok(&["add", "--note", "Call the bank.\n\nBefore noon.", "--tags", "todo"]);
    let shown = page(&mut env, "1");
    let expected = "---\ntitle: \"Call the bank.\"\ntags: [\"todo\"]\ndate: \n---\n\nCall the bank.\n\nBefore noon.\n";
    assert_eq!(shown, expected);
    let edited = "---\ntitle: \"Call the bank.\"\ntags: [todo, money]\ndate: 2026-05-17\n---\n\nCall the broker.\n";
    let output = edit_as(&mut env, "1", edited).expect(0);
    assert_eq!(output.stdout, "Changed tags, date, text of document 1, 'Call the broker.'.\n");
    let info = env.json(&["info", "1", "--format=json"]);
    assert_eq!((&info["tags"], &info["id"]), (&json!(["money", "todo"]), &json!(1)));
    assert_eq!(env.json(&["show", "1", "--format=json"])["text"], "Call the broker.");
    assert_eq!(env.json(&["search", "noon", "--fts-only"])["total_matches"], 0);
    // An edited title is kept when the text changes.
    edit_as(&mut env, "1", &edited.replace("Call the bank", "Money")).expect(0);
    let text = page(&mut env, "1").replace("broker", "harbour master");
    edit_as(&mut env, "1", &text).expect(0);
    assert_eq!(env.json(&["info", "1", "--format=json"])["title"], "Money.");
    assert!(!env.path(".kb/edit-1.md").exists());
    check_database(&env);
}

#[cfg(unix)]
#[test]
fn an_empty_or_unchanged_page_changes_nothing() {
    let mut env = TestEnv::with_corpus();
    let before = env.ok(&["export"]).stdout;
    for document in ["4", "7"] {
        page(&mut env, document);
        for empty in ["", " \n\n"] {
            let output = edit_as(&mut env, document, empty).expect(0);
            assert_eq!(output.stdout, "Nothing changed.\n");
        }
        assert!(!env.path(format!(".kb/edit-{document}.md")).exists());
    }
    // An editor that fails changes nothing.
    editor(&mut env, "exit 3");
    env.kb(&["edit", "7"]).expect(1);
    assert!(!env.path(".kb/edit-7.md").exists());
    assert_eq!(env.ok(&["export"]).stdout, before);
}

#[cfg(unix)]
#[test]
fn a_page_with_an_error_is_kept_and_opened_again() {
    let mut env = TestEnv::with_corpus();
    let before = env.ok(&["export"]).stdout;
    for (text, line) in [
        ("---\ntitle: \"a\ntags: []\n---\n\nText.\n", "line "),
        ("title: a\n", "line 1: the first line is not `---`"),
        ("---\ntitle: a\n\nText.\n", "line 4: the second line `---` is missing"),
        ("---\ntitle: a\nauthor: b\n---\n\nText.\n", "line 3: only title, tags and date"),
        ("---\ndate: 2026-02-30\n---\n\nText.\n", "line 2: February 2026 has 28 days"),
        ("---\ntitle: []\n---\n\nText.\n", "line 2: the title is not text"),
        ("---\ntitle: a\n---\n\n", "line 4: the note is empty"),
    ] {
        let output = edit_as(&mut env, "7", text).expect(1);
        assert!(output.stderr.contains(line), "{text}: {}", output.stderr);
        assert!(
            output.stderr.contains("`kb edit 7` opens the saved text again"),
            "{}",
            output.stderr
        );
        assert_eq!(fs::read_to_string(env.path(".kb/edit-7.md")).unwrap(), text);
    }
    let limit = [("KB_INGESTION_MAX_FILE_MB", "1")];
    env.write("new-page", "word ".repeat(220_000));
    let output = env.kb_with(&limit, &["edit", "7"]).expect(1);
    assert!(output.stderr.contains("edit-7.md, it is larger than 1 MB"), "{}", output.stderr);
    edit_as(&mut env, "7", "---\ntitle: a\n---\n\n").expect(1);
    check_mode(&env.path(".kb/edit-7.md"), 0o600);
    assert_eq!(env.ok(&["export"]).stdout, before);
    editor(&mut env, "sed -i 's/^title: .*/title: Mended/; s/^$/\\nThe charger./' \"$1\"");
    let output = env.ok(&["edit", "7"]);
    assert!(output.stderr.contains("this text was saved"), "{output:?}");
    assert_eq!(env.json(&["info", "7", "--format=json"])["title"], "Mended");
    assert!(!env.path(".kb/edit-7.md").exists());
    // The text of a file is edited in the file.
    let output = edit_as(&mut env, "4", "---\ntitle: a\n---\n\nNew text.\n").expect(1);
    assert!(output.stderr.contains("edit the file instead"), "{output:?}");
}

#[cfg(unix)]
#[test]
fn a_removal_erases_the_kept_page_of_an_edit() {
    let mut env = TestEnv::new();
    for note in ["The quince secret.", "The pear secret.", "The plum secret."] {
        env.ok(&["add", "--note", note]);
    }
    env.write("notes/a.md", "# Kiwi\n\nThe gauge.\n");
    env.ok(&["add", "notes"]);
    let wrong = "---\ntitle: [\n---\n\nThe quince secret, edited.\n";
    for document in ["1", "2", "4"] {
        edit_as(&mut env, document, wrong).expect(1);
    }
    let pages = |env: &TestEnv| {
        let names = fs::read_dir(env.path(".kb")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut pages: Vec<String> = names.filter(|name| name.starts_with("edit-")).collect();
        pages.sort();
        pages
    };
    assert_eq!(pages(&env), ["edit-1.md", "edit-2.md", "edit-4.md"]);
    env.ok(&["remove", "1", "--yes"]);
    assert_eq!(pages(&env), ["edit-2.md", "edit-4.md"]);
    // So does `kb update --prune`.
    env.write("notes/b.md", "# Fig\n\nThe pump.\n");
    env.ok(&["update"]);
    fs::remove_file(env.path("notes/a.md")).unwrap();
    env.ok(&["update", "--prune", "--force"]);
    assert_eq!(pages(&env), ["edit-2.md"]);
    // Pages that an older kb left are named, and deleted on request. Other files are the user's.
    env.write(".kb/edit-1.md", "left");
    env.write(".kb/edit-01.md", "mine");
    env.write(".kb/edit-x.md", "mine");
    let told = env.ok(&["doctor"]).stdout;
    assert!(
        told.contains("edit-1.md is a saved text of `kb edit` whose document was removed"),
        "{told}"
    );
    assert!(!told.contains("edit-2.md") && !told.contains("edit-01.md"), "{told}");
    env.ok(&["doctor", "--fix"]);
    assert_eq!(pages(&env), ["edit-01.md", "edit-2.md", "edit-x.md"]);
}

#[cfg(unix)]
#[test]
fn a_document_that_changed_meanwhile_is_not_overwritten() {
    let mut env = TestEnv::new();
    env.ok(&["add", "--note", "The first text."]);
    let kb = env!("CARGO_BIN_EXE_kb");
    let other = format!(
        "{kb} add --note 'The second text.' --replace 1 -q; sed -i 's/first/third/' \"$1\""
    );
    editor(&mut env, &other);
    let output = env.kb(&["edit", "1"]).expect(1);
    assert!(output.stderr.contains("document 1 has changed in the meantime"), "{output:?}");
    assert!(output.stderr.contains("the edited text was saved"), "{output:?}");
    assert_eq!(env.json(&["show", "1", "--format=json"])["text"], "The second text.");
    assert!(fs::read_to_string(env.path(".kb/edit-1.md")).unwrap().contains("third"));
}

#[test]
fn a_title_from_a_file_name_follows_the_file() {
    let env = TestEnv::new();
    let code = "package main\n\n// Reads the frozen gauge.\nfunc Read() int { return 1 }\n";
    let old = env.write("src/gauge.go", code).display().to_string();
    env.write("src/note.md", "# Stated\n\nThe pump.\n");
    env.write("src/own.go", "package main\n\nfunc Own() int { return 2 }\n");
    env.ok(&["add", "src"]);
    env.ok(&["tag", "1", "--add", "mine"]);
    let own = env.path("src/own.go").display().to_string();
    env.ok(&["edit", &own, "--title", "My own"]);
    let before = env.json(&["info", &old, "--format=json"]);
    assert_eq!(before["title"], "gauge");
    for (from, to) in [("gauge.go", "meter.go"), ("note.md", "other.md"), ("own.go", "new.go")] {
        fs::rename(env.path(format!("src/{from}")), env.path(format!("src/{to}"))).unwrap();
    }
    let foreseen = env.json(&["update", "--dry-run", "--format=json"]);
    let answer = env.json(&["update", "--format=json"]);
    assert_eq!((&answer["moved"], &answer["moves"]), (&json!(3), &foreseen["moves"]));
    assert_eq!((&answer["updated"], &answer["unchanged"]), (&json!(0), &json!(0)));
    let new = env.path("src/meter.go").display().to_string();
    assert_eq!(answer["moves"][0], json!({ "from": old, "to": new, "document_id": before["id"] }));
    let after = env.json(&["info", &new, "--format=json"]);
    assert_eq!((&after["title"], &after["id"]), (&json!("meter"), &before["id"]));
    assert_eq!(
        (&after["tags"], &after["content_hash"]),
        (&json!(["mine"]), &before["content_hash"])
    );
    let cited = env.ok(&["search", "frozen", "--fts-only", "--format=md"]).stdout;
    assert!(cited.contains("meter.go") && !cited.contains("gauge.go"), "{cited}");
    // Only the words of the new name are in the context that is searched.
    let found = env.json(&["search", "meter", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["document_id"], before["id"]);
    let titles = env.json(&["list", "--format=json"]);
    let titles: Vec<&Value> = titles.as_array().unwrap().iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, [&json!("meter"), &json!("Stated"), &json!("My own")]);
    // A copy changes nothing, and neither does a second run.
    fs::copy(env.path("src/meter.go"), env.path("src/copy.go")).unwrap();
    env.ok(&["update"]);
    assert_eq!(env.json(&["info", &new, "--format=json"])["title"], "meter");
    check_database(&env);
}

#[test]
fn moved_files_are_listed_up_to_ten() {
    let env = TestEnv::new();
    for number in 0..12 {
        env.write(&format!("a/{number}.md"), format!("# Note {number}\n\nGauge {number}.\n"));
    }
    env.ok(&["add", "a"]);
    fs::create_dir(env.path("a/below")).unwrap();
    for number in 0..12 {
        let name = format!("{number}.md");
        fs::rename(env.path("a").join(&name), env.path("a/below").join(&name)).unwrap();
    }
    let output = env.ok(&["update"]).stdout;
    let start = format!("moved: {}/", env.path("a").display());
    assert_eq!(output.lines().filter(|line| line.starts_with(&start)).count(), 10, "{output}");
    assert!(output.contains("moved: 2 more (") && output.contains("12 moved"), "{output}");
}

/// The text of a document from standard input is only in the database.
#[test]
fn a_document_without_a_file_gets_a_new_title() {
    let env = word_env();
    let text = "# Pumps\n\nThe zephyrine pump.\n\n# Valves\n\nThe valve of the cellar.\n";
    let added =
        with_stdin(&env, &["add", "-", "--title", "Cellar", "--tags", "a", "--format=json"], text);
    let id = added.json()["document_ids"][0].to_string();
    let before = env.json(&["show", &id, "--format=json"]);
    env.ok(&["edit", &id, "--title", "Under the house", "--tags", "b"]);
    let after = env.json(&["info", &id, "--format=json"]);
    assert_eq!((&after["title"], &after["tags"]), (&json!("Under the house"), &json!(["b"])));
    assert!(after["path"].is_null());
    assert_eq!(env.json(&["show", &id, "--format=json"])["text"], before["text"]);
    // The title is found as part of every chunk; the old one is not.
    let found = env.json(&["search", "under house", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["document_id"].to_string(), id, "{found}");
    let old: i64 = env.sql("SELECT count(*) FROM chunks WHERE context LIKE 'Cellar%'");
    let new: i64 = env.sql("SELECT count(*) FROM chunks WHERE context LIKE 'Under the house%'");
    assert!(old == 0 && new > 0);
    check_database(&env);
}
