//! Tests that a server, a watch and a long `kb add` continue after an upgrade has replaced the program: the running
//! program reads the documents, and never starts the new file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kb_base::files::program::REPLACED;
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;
use crate::patience::{comes_true, status_of};
use crate::word_model::word_env;

/// A change of the file of a running program, by an installer, a user or an attacker.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    /// Another file is renamed over it.
    Renamed,
    Deleted,
    /// It is deleted, and the name by which the system then calls it is that of another program.
    DeletedAndForged,
}

const CHANGES: [Change; 3] = [Change::Renamed, Change::Deleted, Change::DeletedAndForged];

/// A home with its own copy of the program.
struct Installed {
    env: TestEnv,
    program: PathBuf,
}

impl Installed {
    fn new() -> Self {
        let env = word_env();
        let program = env.write("own/kb", "");
        fs::copy(env!("CARGO_BIN_EXE_kb"), &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { env, program }
    }

    fn command(&self, args: &[&str]) -> Command {
        self.env.command_of(&self.program, args)
    }

    /// Replaces the program by one that leaves a mark if it is started.
    fn change(&self, change: Change) {
        let script = format!("#!/bin/sh\necho started >>'{}'\n", self.env.path("mark").display());
        let other = self.env.write("own/other", script);
        fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
        match change {
            Change::Renamed => fs::rename(other, &self.program).unwrap(),
            Change::Deleted => fs::remove_file(&self.program).unwrap(),
            Change::DeletedAndForged => {
                fs::remove_file(&self.program).unwrap();
                fs::rename(other, self.env.path("own/kb (deleted)")).unwrap();
            }
        }
    }

    fn other_was_started(&self) -> bool {
        self.env.path("mark").exists()
    }

    /// Writes a page, which only a separate process reads.
    fn page(&self, name: &str) -> PathBuf {
        let text = format!("<html><body><p>zephyrine anchor of {name}</p></body></html>");
        self.env.write(name, text)
    }
}

#[test]
fn a_server_whose_program_was_replaced_goes_on_reading_and_says_so_once() {
    for change in CHANGES {
        let installed = Installed::new();
        let mut client = Client::over(installed.command(&["mcp", "--allow-write"]));
        client.greet();
        let mut messages = Vec::new();
        let mut added = |name: &str| -> Value {
            let path = installed.page(name);
            let arguments = json!({ "paths": [path], "detail": "full" });
            let id = client.ask("tools/call", json!({ "name": "kb_add", "arguments": arguments }));
            loop {
                let message = client.receive();
                if message["id"] == id {
                    return message["result"]["structuredContent"]["data"].clone();
                }
                messages.push(message.to_string());
            }
        };
        assert_eq!(added("one.html")["added"], 1);
        installed.change(change);
        for name in ["two.html", "three.html"] {
            let report = added(name);
            assert_eq!((&report["added"], &report["failed"]), (&json!(1), &json!(0)), "{change:?}");
        }
        let told = messages.iter().filter(|message| message.contains(REPLACED)).count();
        assert_eq!(told, 1, "{change:?}: {messages:?}");
        assert!(!installed.other_was_started(), "{change:?}");
    }
}

#[test]
fn a_watch_whose_program_was_replaced_goes_on_and_says_so_once() {
    let installed = Installed::new();
    installed.page("notes/one.html");
    assert!(installed.command(&["add", "notes"]).status().unwrap().success());
    let log = installed.env.path("watch.log");
    let mut command = installed.command(&["watch"]);
    let file = fs::File::create(&log).unwrap();
    let mut child = command.stdout(Stdio::null()).stderr(file).spawn().unwrap();
    let logged = |text: &str| comes_true(|| fs::read_to_string(&log).unwrap().contains(text));
    assert!(logged("watching "));
    installed.change(Change::Renamed);
    for name in ["notes/two.html", "notes/three.html"] {
        let path = installed.page(name);
        let line = format!("indexed: {}\n", path.display());
        assert!(logged(&line), "{}", fs::read_to_string(&log).unwrap());
    }
    child.kill().unwrap();
    status_of(&mut child);
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches(REPLACED).count(), 1, "{text}");
    assert!(!text.contains("failed"), "{text}");
    assert!(!installed.other_was_started());
}

#[test]
fn an_add_whose_program_is_replaced_meanwhile_reads_all_files() {
    let installed = Installed::new();
    let num_pages = 120;
    for number in 0..num_pages {
        installed.page(&format!("notes/{number}.html"));
    }
    let mut child = installed.command(&["add", "notes"]).stderr(Stdio::null()).spawn().unwrap();
    // While it runs; if it was faster, nothing is lost but the point of this test.
    assert!(comes_true(|| installed.env.path(".kb/kb.db").exists()));
    installed.change(Change::Renamed);
    assert!(status_of(&mut child).success());
    let listed = installed.env.json(&["list", "--format=json"]);
    let paths = listed.as_array().unwrap().iter().filter_map(|document| document["path"].as_str());
    assert_eq!(paths.filter(|path| path.ends_with(".html")).count(), num_pages);
    assert!(!installed.other_was_started());
}

#[test]
fn a_replaced_server_does_not_touch_a_database_that_the_new_version_has_migrated() {
    let installed = Installed::new();
    let path = installed.page("one.html");
    installed.env.ok(&["add", "one.html"]);
    let mut client = Client::over(installed.command(&["mcp", "--allow-write"]));
    client.greet();
    assert_ne!(client.data("kb_search", json!({ "query": "zephyrine" }))["results"], json!([]));
    installed.change(Change::Renamed);
    let connection = rusqlite::Connection::open(installed.env.database()).unwrap();
    let count = || -> i64 {
        connection.query_row("SELECT count(*) FROM documents", [], |row| row.get(0)).unwrap()
    };
    let before = count();
    connection.pragma_update(None, "user_version", 99).unwrap();
    for (tool, arguments) in [
        ("kb_search", json!({ "query": "zephyrine" })),
        ("kb_list", json!({})),
        ("kb_add", json!({ "paths": [path] })),
        ("kb_add_note", json!({ "text": "more" })),
    ] {
        let error = &client.call(tool, arguments)["error"];
        assert_eq!(error["details"]["code"], "schema_too_new", "{tool}: {error}");
        let fix = error["details"]["fix"].as_str().unwrap();
        assert!(fix.contains("restart servers"), "{tool}: {error}");
    }
    assert_eq!(count(), before);
}
