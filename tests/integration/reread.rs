//! Tests that documents made with other settings are counted, and made again on request.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::word_model::{WordModel, check_database, find, word_env};

fn outdated(env: &TestEnv) -> Value {
    env.ok(&["status", "--format", "json"]).json()["made_differently"].clone()
}

fn num_chunks(env: &TestEnv, id: u32) -> u32 {
    env.sql(&format!("SELECT count(*) FROM chunks WHERE document_id = {id}"))
}

/// A home with the three documents of the word model, a long file (4), a short one (5) and a note
/// (6), and settings that split Markdown and text differently.
fn changed_settings() -> TestEnv {
    let env = word_env();
    let text = "The tide gauge and the pump in the harbour on the chart. ".repeat(12);
    env.write("mine/long.md", format!("# Long\n\n{text}\n"));
    env.write("mine/short.txt", "salt on the anchor");
    env.ok(&["add", "mine", "--tags", "kept"]);
    env.ok(&["add", "--note", "the keeper paints the engine", "--title", "Paint"]);
    assert_eq!(outdated(&env), 0);
    env.ok(&["config", "set", "chunking.markdown.max_tokens", "30"]);
    env
}

#[test]
fn changed_settings_are_counted_by_status_doctor_and_update() {
    let env = changed_settings();
    assert_eq!(outdated(&env), 4);
    let line = "4 documents were indexed with other settings, another model or an older kb";
    assert!(env.ok(&["status"]).stdout.contains(line));
    let update = env.ok(&["update"]);
    assert!(update.stdout.contains(line), "{}", update.stdout);
    let doctor = env.ok(&["doctor"]).stdout;
    assert!(doctor.contains("`kb update --reread`"), "{doctor}");
    // Only the counting: nothing was made again.
    assert_eq!(num_chunks(&env, 4), 2);
}

#[test]
fn rereading_keeps_ids_tags_titles_and_vectors_of_equal_chunks() {
    let env = changed_settings();
    env.ok(&["tag", "5", "--remove", "kept"]);
    let vector = "SELECT hex(embedding) FROM chunks_vec WHERE chunk_id = (SELECT id FROM chunks WHERE document_id = 5)";
    let before: String = env.sql(vector);
    let report = env.ok(&["update", "--reread", "--format", "json"]).json();
    assert_eq!((&report["reread"], &report["made_differently"]), (&json!(4), &json!(0)));
    assert_eq!(report["updated"], 0);
    assert!(num_chunks(&env, 4) > 4);
    assert_eq!(env.sql::<String>(vector), before);
    let info = |id: &str| env.ok(&["info", id, "--format", "json"]).json();
    assert_eq!(info("4")["tags"], json!(["kept"]));
    assert_eq!(info("5")["tags"], json!([]), "a removed tag does not come back");
    assert_eq!(info("6")["title"], "Paint");
    assert_eq!(find(&env, &["the pump on the chart"])[0], "Long");
    check_database(&env);
    // The content is that of a fresh database.
    let texts = |args: &[&str]| -> Vec<String> {
        let lines = env.ok(&[args, &["export", "-"]].concat()).stdout;
        let documents = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let long = documents.filter(|line| line["title"] == "Long");
        let chunks = long.flat_map(|line| line["chunks"].as_array().unwrap().clone());
        chunks.map(|chunk| chunk["text"].as_str().unwrap().to_owned()).collect()
    };
    let fresh = ["--data-dir", "fresh"];
    env.ok(&[&fresh[..], &["init", "--model-dir", "tiny"]].concat());
    env.ok(&[&fresh[..], &["config", "set", "chunking.markdown.max_tokens", "30"]].concat());
    env.ok(&[&fresh[..], &["add", "mine"]].concat());
    assert_eq!(texts(&[]), texts(&fresh));
    assert!(texts(&[]).len() > 4);
}

#[test]
fn a_selection_leaves_other_documents_and_files_alone() {
    let env = changed_settings();
    env.write("mine/new.md", "# New\n\nnot yet");
    let report = env.ok(&["update", "--reread", "Long", "--format", "json"]).json();
    assert_eq!((&report["reread"], &report["made_differently"]), (&json!(1), &json!(3)));
    assert_eq!(report["added"], 0);
    let report = env.ok(&["update", "--reread", "--type", "pdf", "--format", "json"]).json();
    assert_eq!(report["reread"], 0);
    let report = env.ok(&["update", "--reread", "--type", "mail", "--format", "json"]).json();
    assert_eq!(report["reread"], 0);
    let report = env.ok(&["update", "--reread", "--path", "mine", "--format", "json"]).json();
    assert_eq!((&report["reread"], &report["made_differently"]), (&json!(1), &json!(2)));
    env.kb(&["update", "--reread", "nosuch"]).expect(1);
    env.kb(&["update", "--type", "pdf"]).expect(1);
}

#[test]
fn a_missing_file_keeps_its_document() {
    let env = changed_settings();
    fs::remove_file(env.path("mine/long.md")).unwrap();
    let report = env.ok(&["update", "--reread", "--path", "mine", "--format", "json"]).json();
    assert_eq!((&report["reread"], &report["made_differently"]), (&json!(1), &json!(3)));
    assert_eq!(find(&env, &["the pump on the chart"])[0], "Long");
}

#[test]
fn notes_are_split_again_for_another_model() {
    let env = word_env();
    let text = "The tide gauge and the pump in the harbour on the chart. ".repeat(16);
    env.ok(&["add", "--note", text.trim(), "--tags", "kept"]);
    WordModel { seed: 2, max_seq_length: 40, ..WordModel::default() }.write(&env.path("short"));
    env.ok(&["reindex", "--model-dir", "short"]);
    WordModel { seed: 3, max_seq_length: 256, ..WordModel::default() }.write(&env.path("wide"));
    env.ok(&["reindex", "--model-dir", "wide"]);
    assert!(num_chunks(&env, 4) > 3);
    let report = env.ok(&["update", "--reread", "--format", "json"]).json();
    assert_eq!((&report["reread"], &report["made_differently"]), (&json!(4), &json!(0)));
    assert_eq!(
        env.sql::<String>("SELECT group_concat(text, '|') FROM chunks WHERE document_id = 4"),
        text.trim()
    );
    // The same text is still the same note.
    let again = env.ok(&["add", "--note", text.trim()]);
    assert!(again.stderr.contains("1 skipped"), "{}", again.stderr);
    check_database(&env);
}

#[test]
fn documents_cut_for_a_shorter_model_are_made_again_after_the_way_back() {
    let env = changed_settings();
    env.ok(&["update", "--reread"]);
    let before = num_chunks(&env, 4);
    WordModel { seed: 2, max_seq_length: 24, ..WordModel::default() }.write(&env.path("short"));
    env.ok(&["reindex", "--model-dir", "short"]);
    assert!(num_chunks(&env, 4) > before);
    env.ok(&["reindex", "--model-dir", "tiny"]);
    let outdated = outdated(&env).as_u64().unwrap();
    assert!(outdated > 0, "chunks of half the length are not what this model gets");
    let report = env.ok(&["update", "--reread", "--format", "json"]).json();
    assert_eq!((&report["reread"], &report["made_differently"]), (&json!(outdated), &json!(0)));
    assert_eq!(num_chunks(&env, 4), before);
    check_database(&env);
}

#[test]
fn a_model_that_is_set_but_not_used_is_shown_with_its_remedy() {
    let mut env = word_env();
    let other = env.path("other");
    WordModel { seed: 2, ..WordModel::default() }.write(&other);
    env.set("KB_EMBEDDING_MODEL_DIR", other.to_str().unwrap());
    let status = env.ok(&["status", "--format", "json"]).json();
    assert_eq!(status["model_name"], "tiny");
    assert!(status["model_wanted"].as_str().unwrap().ends_with("other"), "{status}");
    assert!(env.ok(&["status"]).stdout.contains("Model wanted"));
    let doctor = env.kb(&["doctor"]).stdout;
    assert!(doctor.contains("kb reindex"), "{doctor}");
    assert!(!doctor.contains("kb init"), "{doctor}");
}

#[test]
fn an_import_knows_how_its_documents_were_made() {
    let env = changed_settings();
    env.ok(&["export", "all.jsonl"]);
    env.ok(&["--data-dir", "new", "init", "--model-dir", "tiny"]);
    env.ok(&["--data-dir", "new", "import", "all.jsonl", "--trust-paths"]);
    let status = env.ok(&["--data-dir", "new", "status", "--format", "json"]).json();
    assert_eq!(status["made_differently"], 0, "the settings there are those that made them");
    // A line of an older kb, and one that kb does not write.
    let text = fs::read_to_string(env.path("all.jsonl")).unwrap();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[1].as_object_mut().unwrap().remove("making");
    lines[2]["making"] = json!("x".repeat(300));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    env.write("old.jsonl", text.join("\n") + "\n");
    env.ok(&["--data-dir", "third", "init", "--model-dir", "tiny"]);
    let report = env
        .ok(&["--data-dir", "third", "import", "old.jsonl", "--trust-paths", "--format", "json"]);
    assert_eq!(report.json()["failed"], 1);
    let status = env.ok(&["--data-dir", "third", "status", "--format", "json"]).json();
    assert_eq!(status["made_differently"], 1);
}

#[test]
fn a_document_of_a_format_that_is_no_longer_read_stays_until_its_file_changes() {
    let env = word_env();
    let path = env.write("pages/tide.wiki", "== Gauge ==\n\nThe '''tide''' gauge on the pump.\n");
    env.ok(&["add", "pages"]);
    // An earlier kb read these files as MediaWiki's markup.
    let old =
        "UPDATE documents SET metadata = json_set(metadata, '$.format', 'mediawiki') WHERE id = 4";
    rusqlite::Connection::open(env.database()).unwrap().execute(old, []).unwrap();
    let format = || env.json(&["info", "4", "--format=json"])["metadata"]["format"].clone();
    assert_eq!(format(), "mediawiki");
    assert_eq!(env.json(&["list", "--format=json"]).as_array().unwrap().len(), 4);
    assert!(env.ok(&["show", "4"]).stdout.contains("gauge on the pump"));
    assert!(env.ok(&["search", "tide gauge", "--fts-only"]).stdout.contains("tide.wiki"));
    let update = env.json(&["update", "--format=json"]);
    assert_eq!((&update["unchanged"], &update["updated"]), (&json!(3), &json!(0)));
    assert_eq!(format(), "mediawiki");
    // An export of it can be imported, and its title changed.
    env.ok(&["export", "all.jsonl"]);
    let imported = env.kb(&["import", "all.jsonl"]).expect(0);
    assert!(imported.text().contains("failed 0"), "{}", imported.text());
    env.ok(&["edit", "4", "--title", "Page"]);
    assert_eq!(env.json(&["info", "4", "--format=json"])["title"], "Page");
    fs::write(&path, "The '''anchor''' on the chart.\n").unwrap();
    env.ok(&["update"]);
    assert_eq!(format(), "text");
    assert!(env.ok(&["show", "4"]).stdout.contains("'''anchor'''"));
}
