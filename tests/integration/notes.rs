//! Tests that the same notes are in JSON, on stderr of the command line and in the text over MCP.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;

/// Filters that no document of the samples passes: of the command line, of a tool, and what the notes say.
fn filters(env: &TestEnv) -> Vec<(Vec<String>, Value, String)> {
    let nowhere = env.path("nowhere").display().to_string();
    let row = |flags: &[&str], arguments: Value, note: &str| {
        (flags.iter().map(|&flag| flag.to_owned()).collect(), arguments, note.to_owned())
    };
    vec![
        row(
            &["--path", &nowhere],
            json!({ "path": nowhere }),
            &format!("there is no document at or below {nowhere}"),
        ),
        row(
            &["--tags", "nosuch"],
            json!({ "tags": ["nosuch"] }),
            "no document has the tag `nosuch`",
        ),
        row(
            &["--language", "rust"],
            json!({ "language": "rust" }),
            "no document is source code in `rust`",
        ),
        row(
            &["--since", "2031"],
            json!({ "since": "2031" }),
            "no document has the date 2031 or a later one",
        ),
        row(
            &["--until", "1931"],
            json!({ "until": "1931" }),
            "no document has the date 1931 or an earlier one",
        ),
        row(
            &["--added-since", "2131"],
            json!({ "added_since": "2131" }),
            "no document was added on 2131 or later",
        ),
        row(
            &["--type", "pdf", "--language", "python"],
            json!({ "type": "pdf", "language": "python" }),
            "no document passes all filters together",
        ),
    ]
}

fn with(mut arguments: Value, name: &str, value: impl Into<Value>) -> Value {
    arguments[name] = value.into();
    arguments
}

#[test]
fn a_filter_that_no_document_passes_is_named_on_every_face() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    for (flags, filter, note) in filters(&env) {
        let expected = json!([note]);
        for (tool, command, argument) in [
            ("kb_search", vec!["search", "winter"], ("query", json!("winter"))),
            ("kb_grep", vec!["grep", "winter"], ("pattern", json!("winter"))),
            ("kb_similar", vec!["similar", "1"], ("document", json!(1))),
        ] {
            let command = command.into_iter().map(str::to_owned).chain(flags.clone());
            let all: Vec<String> = command.chain(["--format=json".into()]).collect();
            let output = env.ok(&all);
            assert!(output.stderr.contains(&note), "{all:?}: {}", output.stderr);
            assert_eq!(output.json()["notes"], expected, "{all:?}");
            let arguments = with(filter.clone(), argument.0, argument.1);
            assert_eq!(client.data(tool, arguments.clone()), output.json(), "{all:?}");
            let text = client.text(tool, arguments);
            assert!(text.contains(&format!("note: {note}")), "{text}");
            if tool == "kb_search" {
                assert!(output.json()["confidence"].is_null());
                assert_eq!(output.json()["confidence_reason"], "no document passes the filter");
                assert!(text.contains("no document passes the filter"), "{text}");
                assert!(!text.contains("probably not here"), "{text}");
            }
        }
        let text = client.text("kb_list", filter.clone());
        assert!(text.contains(&format!("note: {note}")), "{text}");
        assert_eq!(client.call("kb_list", filter)["notes"], expected);
    }
    let data = client.data("kb_search", json!({ "query": "winter" }));
    assert!(data.get("notes").is_none(), "{data}");
    assert!(!data["confidence"].is_null() && data["confidence_reason"].is_string(), "{data}");
    assert!(client.close().success());
}

#[test]
fn an_empty_knowledge_base_is_no_reason_to_say_that_the_answer_is_not_there() {
    let env = TestEnv::without_model();
    let mut client = Client::start(&env, "", &[]);
    let found = env.json(&["search", "winter", "--format=json"]);
    assert!(found["confidence"].is_null());
    assert_eq!(found["confidence_reason"], "nothing has been added yet");
    assert!(found["notes"][0].as_str().unwrap().starts_with("Nothing has been added yet"));
    let text = client.text("kb_search", json!({ "query": "winter" }));
    assert!(text.contains("note: Nothing has been added yet"), "{text}");
    assert!(!text.contains("probably not here"), "{text}");
    let text = client.text("kb_grep", json!({ "pattern": "winter" }));
    assert!(text.contains("note: Nothing has been added yet"), "{text}");
    assert!(client.text("kb_list", json!({})).contains("Nothing has been added yet"));
}

#[test]
fn stale_files_are_counted_in_the_notes() {
    let env = TestEnv::new();
    let path = env.write("docs/a.md", "The gauge is frozen.\n");
    env.write("docs/b.md", "The gauge is dry.\n");
    env.ok(&["add", "docs"]);
    fs::write(path, "The winter is over.\n").unwrap();
    let advice = "1 of these files has changed since it was indexed; `kb update` reads it again";
    for args in [&["search", "gauge", "--fts-only"][..], &["grep", "gauge"], &["similar", "b.md"]] {
        let notes = env.json(&[args, &["--format=json"]].concat())["notes"].take();
        assert_eq!(notes, json!([advice]), "{args:?}");
    }
    let mut client = Client::start(&env, "", &[]);
    let text = client.text("kb_grep", json!({ "pattern": "gauge" }));
    assert!(text.ends_with(advice), "{text}");
}

#[test]
fn the_knowledge_base_of_a_project_is_named() {
    let env = TestEnv::with_corpus();
    env.write("project/a.md", "The ebb is low.\n");
    let here = |args: &[&str]| env.finish(env.command(args).current_dir(env.path("project")));
    here(&["init", "--here"]).expect(0);
    here(&["add", "."]).expect(0);
    let found = here(&["search", "ebb", "--format=json"]).expect(0);
    let note = found.json()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("using the knowledge base of the project"), "{note}");
    assert!(found.stderr.contains(&note), "{}", found.stderr);
    let mut client = Client::start(&env, "project", &[]);
    let text = client.text("kb_search", json!({ "query": "ebb" }));
    assert!(text.contains(&format!("note: {note}")), "{text}");
}
