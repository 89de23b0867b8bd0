//! Tests that every answer has a note while a run stores documents that it may lack, and none after a killed run.

use std::process::{Child, Stdio};

use rusqlite::Connection;
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;
use crate::patience::comes_true;
use crate::patience::status_of;

/// The note about `kb add` before it has stored anything.
const ADDING: &str = "`kb add` is running";

/// Starts a run that waits until the returned connection lets go of the database.
fn waiting_run(env: &TestEnv) -> (Child, Connection) {
    let writer = Connection::open(env.database()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    env.write("docs/new.md", "# Moorings\n\nThe mooring lines are checked on Fridays.");
    let mut command = env.command(&["add", "docs"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let answer = || env.json(&["status", "--format", "json"])["running"].clone();
    assert!(comes_true(|| answer() == json!({ "command": "add", "stored": null, "total": null })));
    // It would not wait for ever.
    #[cfg(unix)]
    kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
    (child, writer)
}

fn notes(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    env.json(&[args, &["--format", "json"]].concat())["notes"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

#[cfg(unix)]
#[test]
fn answers_say_that_documents_may_be_missing_as_long_as_a_run_stores_some() {
    let env = TestEnv::with_corpus();
    let searches: [&[&str]; 3] = [&["search", "mooring"], &["grep", "mooring"], &["similar", "4"]];
    let mut client = Client::start(&env, "", &[]);
    let (mut child, writer) = waiting_run(&env);
    for args in &searches[..2] {
        assert!(notes(&env, args).contains(&json!(ADDING)), "{args:?}");
    }
    for args in [searches[0], searches[1], searches[2], &["list"]] {
        let said = env.ok(&[args, &["--format", "human"]].concat()).stderr;
        assert!(said.contains(&format!("note: {ADDING}\n")), "{args:?}: {said}");
    }
    let status = env.ok(&["status", "--format", "human"]).stdout;
    assert!(status.starts_with(&format!("Running:   {ADDING}\n")), "{status}");
    for (tool, input) in [
        ("kb_search", json!({ "query": "mooring" })),
        ("kb_grep", json!({ "pattern": "mooring" })),
        ("kb_list", json!({})),
        ("kb_status", json!({})),
    ] {
        let text = client.text(tool, input);
        assert!(text.contains(ADDING), "{tool}: {text}");
    }
    client.close();
    drop(writer);
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    assert!(status_of(&mut child).success());
    assert_eq!(notes(&env, searches[0]), Vec::<Value>::new());
    assert_eq!(env.json(&["status", "--format", "json"])["running"], Value::Null);
    assert!(!env.path(".kb/kb.db-run").exists());
}

#[test]
fn what_a_killed_run_left_says_nothing_and_is_cleared_by_the_next() {
    let env = TestEnv::with_corpus();
    let (mut child, writer) = waiting_run(&env);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(writer);
    assert!(env.path(".kb/kb.db-run").exists());
    assert_eq!(env.json(&["status", "--format", "json"])["running"], Value::Null);
    assert_eq!(notes(&env, &["search", "frozen gauge"]), Vec::<Value>::new());
    env.ok(&["add", "docs"]);
    assert!(!env.path(".kb/kb.db-run").exists());
    // No process holds it.
    env.write(".kb/kb.db-run", "add 1 2");
    assert_eq!(notes(&env, &["search", "frozen gauge"]), Vec::<Value>::new());
}
