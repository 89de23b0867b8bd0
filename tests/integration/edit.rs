//! Tests changing what is indexed: tags of many documents, removal by selection, titles, dates and
//! notes in the editor, and what is written before it goes.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{CORPUS, TestEnv};
use crate::word_model::check_database;

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
