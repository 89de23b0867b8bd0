//! Tests what only Windows has: drives and either slash, names in one case, reserved names, files that another process
//! holds open, code pages, and ends without a signal.
//!
//! These tests compare what kb prints byte for byte, unlike the others, see [`crate::printed_paths`].

use std::fs::{self, File};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::left_out::left_out;
use crate::mcp_client::Client;
use crate::patience::{comes_true, output_of, status_of};
use crate::word_model::{check_database, word_env};

/// Returns a path below the home as kb stores it and prints it for programs.
fn text(env: &TestEnv, relative: &str) -> String {
    env.path(relative).to_str().unwrap().to_owned()
}

/// Returns a path below the home as messages show it.
fn shown(env: &TestEnv, relative: &str) -> String {
    text(env, relative).replace('/', "\\")
}

/// The output of a run, byte for byte.
struct Printed {
    stdout: String,
    stderr: String,
    status: Option<i32>,
}

/// Runs a prepared command.
fn run(command: &mut Command) -> Printed {
    let output = command.output().unwrap();
    let utf8 = |bytes| String::from_utf8(bytes).expect("UTF-8 in a pipe, whatever the code page");
    Printed {
        stdout: utf8(output.stdout),
        stderr: utf8(output.stderr),
        status: output.status.code(),
    }
}

/// Runs the program and requires a status.
#[track_caller]
fn printed(env: &TestEnv, args: &[&str], status: i32) -> Printed {
    let printed = run(&mut env.command(args));
    let told = format!("{args:?}: {}{}", printed.stdout, printed.stderr);
    assert_eq!(printed.status, Some(status), "{told}");
    // The prefix of paths that Windows takes to the letter is only printed if it was typed.
    assert!(!told.contains(r"\\?\") || args.iter().any(|arg| arg.contains(r"\\?\")), "{told}");
    printed
}

/// Runs the program, requires success and reads its answer.
#[track_caller]
fn json_of(env: &TestEnv, args: &[&str]) -> Value {
    let printed = printed(env, args, 0);
    serde_json::from_str(&printed.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", printed.stdout))
}

/// Returns the paths of all documents that have one, as they are stored.
#[track_caller]
fn paths(env: &TestEnv) -> Vec<String> {
    let list = json_of(env, &["list", "--format", "json"]);
    let all = list.as_array().unwrap().iter().filter_map(|document| document["path"].as_str());
    let mut paths: Vec<String> = all.map(str::to_owned).collect();
    paths.sort();
    paths
}

#[test]
fn a_file_is_one_document_however_its_path_is_typed() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# Gauge\n\nThe zephyrine gauge.\n");
    let (path, native) = (text(&env, "notes/a.md"), shown(&env, "notes/a.md"));
    let added = printed(&env, &["add", r"notes\a.md"], 0).stderr;
    assert!(
        added.contains("Added 1 document. 0 failed. 0 skipped (already indexed).\n"),
        "{added}"
    );
    let (drive, below) = native.split_once(':').unwrap();
    for typed in [
        "notes/a.md".to_owned(),
        r".\notes\..\notes/a.md".to_owned(),
        native.clone(),
        path.clone(),
        format!("{}:{below}", drive.to_lowercase()),
        format!("{}:{below}", drive.to_uppercase()),
        // On the drive of the working directory.
        below.to_owned(),
        format!(r"\\?\{native}"),
        native.to_uppercase(),
    ] {
        let again = printed(&env, &["add", &typed], 0).stderr;
        let expected = "Added 0 documents. 0 failed. 1 skipped (already indexed).\n";
        assert!(again.contains(expected), "{typed}: {again}");
        let info = json_of(&env, &["info", &typed, "--format", "json"]);
        assert_eq!((&info["id"], &info["path"]), (&json!(1), &json!(path)), "{typed}");
    }
    assert_eq!(paths(&env), [path.as_str()]);
}

#[test]
fn a_folder_is_one_folder_however_its_path_is_typed() {
    let env = TestEnv::new();
    env.write("notes/deep/a.md", "# Gauge\n\nThe zephyrine gauge.\n");
    env.write("notes/b.md", "# Pump\n\nThe zephyrine pump.\n");
    let (path, native) = (text(&env, "notes"), shown(&env, "notes"));
    printed(&env, &["add", r"notes\"], 0);
    for typed in ["notes/", "notes", r".\notes", &native, &path] {
        let again = printed(&env, &["add", typed], 0).stderr;
        let expected = "Added 0 documents. 0 failed. 2 skipped (already indexed).\n";
        assert!(again.contains(expected), "{typed}: {again}");
    }
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM roots"), 1);
    for typed in [r"notes\deep", "notes/deep", r"notes\deep\", &format!("{native}/deep")] {
        let found = json_of(&env, &["search", "zephyrine", "--fts-only", "--path", typed]);
        assert_eq!(found["total_matches"], 1, "{typed}: {found}");
    }
    let lines = printed(&env, &["search", "zephyrine gauge", "--fts-only", "--format=paths"], 0);
    let first = lines.stdout.lines().next().unwrap();
    assert!(first.contains(&text(&env, "notes/deep/a.md")), "{first}");
}

#[test]
fn that_nothing_confines_a_reader_is_said_when_files_are_added() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# Gauge\n\nThe zephyrine gauge.\n");
    let note = "note: files are read without a sandbox here";
    let added = printed(&env, &["add", "notes"], 0).stderr;
    assert_eq!(added.matches(note).count(), 1, "{added}");
    assert!(!printed(&env, &["update"], 0).stderr.contains(note));
    assert!(!printed(&env, &["add", "--note", "The pump."], 0).stderr.contains(note));
    let doctor = printed(&env, &["doctor"], 0).stdout;
    assert!(doctor.contains("files are read without a sandbox here"), "{doctor}");
}

#[test]
fn a_path_on_the_network_is_a_path() {
    let env = TestEnv::new();
    let missing = printed(&env, &["add", r"\\no-such-host-of-kb\share\a.md"], 1).stderr;
    assert_eq!(missing.lines().count(), 1, "{missing}");
    assert!(missing.starts_with("error: "), "{missing}");
    env.write("notes/a.md", "# Gauge\n\nThe zephyrine gauge.\n");
    let native = shown(&env, "notes");
    let share = format!(r"\\localhost\{}", native.replacen(':', "$", 1));
    if !Path::new(&share).exists() {
        return left_out("share", "a folder on the network");
    }
    printed(&env, &["add", &share], 0);
    assert_eq!(paths(&env), [format!("{share}/a.md").replace('\\', "/")]);
    printed(&env, &["update"], 0);
    assert_eq!(printed(&env, &["open", "1"], 0).stdout, "# Gauge\n\nThe zephyrine gauge.\n");
}

#[test]
fn names_with_spaces_and_umlauts_are_printed_as_they_are() {
    let env = TestEnv::new();
    let name = "Notizen 2026/Größe & Übung/Möwe (1) 東京.md";
    env.write(name, "# Möwe\n\nDie Möwe zählt Größen.\n");
    printed(&env, &["add", "Notizen 2026"], 0);
    let path = text(&env, name);
    assert_eq!(paths(&env), [path.as_str()]);
    let found = json_of(&env, &["search", "größen möwe", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["path"], path);
    // A pipe gets UTF-8, whatever the code page of the console is.
    let human = printed(&env, &["search", "möwe", "--fts-only", "--format=human"], 0).stdout;
    assert!(human.contains("Die Möwe zählt Größen."), "{human}");
    assert_eq!(printed(&env, &["open", &path], 0).stdout, "# Möwe\n\nDie Möwe zählt Größen.\n");
    let by_name = json_of(&env, &["info", "Möwe (1) 東京.md", "--format", "json"]);
    assert_eq!(by_name["id"], 1);
}

#[test]
fn a_path_longer_than_windows_usually_takes_is_read() {
    let env = TestEnv::new();
    let deep = format!("deep/{}", ["a folder with a rather long name"; 9].join("/"));
    env.write(&format!("{deep}/storm.md"), "# Storm\n\nThe zephyrine anchor.\n");
    let path = text(&env, &format!("{deep}/storm.md"));
    assert!(path.len() > 300, "{path}");
    printed(&env, &["add", "deep"], 0);
    assert_eq!(paths(&env), [path.as_str()]);
    assert_eq!(json_of(&env, &["search", "zephyrine", "--fts-only"])["returned"], 1);
    assert_eq!(printed(&env, &["open", "1"], 0).stdout, "# Storm\n\nThe zephyrine anchor.\n");
    env.write(&format!("{deep}/storm.md"), "# Storm\n\nThe zephyrine rope is new.\n");
    let updated = printed(&env, &["update"], 0).stdout;
    assert!(updated.contains("1 updated"), "{updated}");
    if Path::new(&path).canonicalize().is_err() {
        return left_out("long-paths", "a long path that is named alone");
    }
    let again = printed(&env, &["add", &path], 0).stderr;
    assert!(again.contains("1 skipped"), "{again}");
    assert_eq!(paths(&env), [path.as_str()]);
}

#[test]
fn names_that_differ_in_case_are_one_file() {
    let env = TestEnv::new();
    env.write("Notes/Gauge.md", "# Gauge\n\nThe zephyrine gauge.\n");
    printed(&env, &["add", "notes/gauge.MD"], 0);
    printed(&env, &["add", "NOTES"], 0);
    // The name on disk is the one that is stored.
    let path = text(&env, "Notes/Gauge.md");
    assert_eq!(paths(&env), [path.as_str()]);
    // Written under another name, it is the same file with other content.
    env.write("notes/GAUGE.md", "# Gauge\n\nThe zephyrine pump.\n");
    printed(&env, &["update"], 0);
    assert_eq!(paths(&env), [path.as_str()]);
    assert_eq!(json_of(&env, &["search", "pump", "--fts-only"])["returned"], 1);
    // Only the case of its name changes.
    fs::rename(env.path("Notes/Gauge.md"), env.path("Notes/gauge.md")).unwrap();
    printed(&env, &["update", "--prune", "--force"], 0);
    let found = paths(&env);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].eq_ignore_ascii_case(&path), "{found:?}");
}

/// Names of devices, which every folder has.
const RESERVED: [&str; 8] =
    ["con", "nul", "NUL.md", "aux", "prn", "com1", r"notes\con", r"\\.\pipe\kb-no-such-pipe"];

#[test]
fn a_reserved_name_is_one_clear_line_and_never_waits() {
    let env = TestEnv::new();
    fs::create_dir(env.path("notes")).unwrap();
    for name in RESERVED {
        for args in [&["add", name][..], &["convert", name], &["import", name]] {
            // Its input stays open, so that reading the console or the input would wait.
            let mut command = env.command(args);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let input = child.stdin.take();
            let output = output_of(&env, child);
            drop(input);
            let first = output.stderr.lines().next().unwrap_or_default().to_owned();
            assert_eq!(output.status, 1, "{args:?}: {}", output.text());
            assert!(first.starts_with("error: "), "{args:?}: {}", output.text());
        }
    }
    assert_eq!(paths(&env), [""; 0]);
}

#[test]
fn a_file_that_a_process_holds_is_one_line_and_the_run_goes_on() {
    let env = TestEnv::new();
    let held = env.write("notes/held.md", "# Held\n\nThe zephyrine valve.\n");
    let shared = env.write("notes/shared.md", "# Shared\n\nThe zephyrine sail.\n");
    env.write("notes/good.md", "# Good\n\nThe zephyrine gauge.\n");
    // As a program does that lets others read, and as one that does not.
    let (alone, with_readers) =
        (File::options().read(true).write(true).share_mode(0).open(&held), {
            const SHARE_READ: u32 = 1;
            File::options().read(true).write(true).share_mode(SHARE_READ | 2).open(&shared)
        });
    let (alone, with_readers) = (alone.unwrap(), with_readers.unwrap());
    let added = printed(&env, &["add", "notes"], 0).stderr;
    assert!(added.contains("Added 2 documents. 1 failed."), "{added}");
    let named: Vec<&str> = added.lines().filter(|line| line.contains("held.md")).collect();
    assert_eq!(named.len(), 1, "{added}");
    assert!(named[0].contains(&shown(&env, "notes/held.md")), "{added}");
    // Named alone, it is an error.
    let alone_named = printed(&env, &["add", "notes/held.md"], 1).stderr;
    assert_eq!(alone_named.matches("error: ").count(), 1, "{alone_named}");
    drop((alone, with_readers));
    let updated = printed(&env, &["update"], 0).stdout;
    assert!(updated.contains("1 added"), "{updated}");
    assert_eq!(paths(&env).len(), 3);
    // An indexed file that is held keeps its document.
    let alone = File::options().read(true).write(true).share_mode(0).open(&held).unwrap();
    printed(&env, &["update"], 0);
    drop(alone);
    assert_eq!(paths(&env).len(), 3);
    check_database(&env);
}

#[test]
fn lines_that_end_as_on_windows_are_cited_by_their_numbers() {
    let env = TestEnv::new();
    let content =
        "# Head\r\n\r\nOne line.\r\nThe zephyrine gauge.\r\n\r\n## Next\r\n\r\nThe pump.\r\n";
    env.write("notes/a.md", content);
    env.write("notes/b.py", "import os\r\n\r\ndef zephyrine():\r\n    return 1\r\n");
    printed(&env, &["add", "notes"], 0);
    let lines = printed(&env, &["grep", "zephyrine"], 0).stdout;
    for (name, line) in [("a.md", "4"), ("b.py", "3")] {
        let start = format!("{}\n{line}: ", text(&env, &format!("notes/{name}")));
        assert!(lines.contains(&start), "{start}: {lines}");
    }
    assert!(!lines.contains('\r'), "{lines:?}");
    let answer = json_of(&env, &["search", "pump", "--fts-only", "--top=1"]);
    assert_eq!(answer["results"][0]["source"]["end_line"], 8, "{answer}");
    let cited = printed(&env, &["search", "pump", "--fts-only", "--top=1", "--format=paths"], 0);
    assert_eq!(cited.stdout, format!("{}:8\n", text(&env, "notes/a.md")));
    // The bytes of the file are kept.
    let path = text(&env, "notes/a.md");
    assert_eq!(printed(&env, &["open", &path], 0).stdout, content);
    let one = printed(&env, &["open", &path, "--lines=4:4"], 0).stdout;
    assert_eq!(one, "The zephyrine gauge.\r\n");
}

/// Starts a run whose output is not read.
fn start(env: &TestEnv, args: &[&str]) -> Child {
    env.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the number of stored documents, as another process sees it; 0 while it cannot be read.
fn num_stored(env: &TestEnv) -> i64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let Ok(db) = Connection::open_with_flags(env.database(), flags) else { return 0 };
    db.query_row("SELECT count(*) FROM documents", [], |row| row.get(0)).unwrap_or(0)
}

#[test]
fn a_run_that_was_killed_again_and_again_is_completed_by_the_next() {
    const NUM_FILES: i64 = 150;
    let env = TestEnv::new();
    for number in 0..NUM_FILES {
        let text = format!("# Report {number}\n\n{}", "The zephyrine rope is old. ".repeat(9));
        env.write(&format!("docs/{number:03}.md"), text);
    }
    for round in 1..=4 {
        let before = num_stored(&env);
        let mut child = start(&env, &["add", "docs"]);
        let is_further = || num_stored(&env) >= before + 5 || child.try_wait().unwrap().is_some();
        assert!(comes_true(is_further), "round {round} stores nothing");
        // There is no signal that it could catch: this is TerminateProcess.
        child.kill().unwrap();
        status_of(&mut child);
        check_database(&env);
    }
    printed(&env, &["add", "docs"], 0);
    assert_eq!(num_stored(&env), NUM_FILES);
    let again = printed(&env, &["add", "docs"], 0).stderr;
    assert!(again.contains("Added 0 documents. 0 failed. 150 skipped"), "{again}");
    let doctor = printed(&env, &["doctor"], 0).stdout;
    assert!(doctor.contains("database  sound: "), "{doctor}");
    // Nothing that a killed run began is left next to the database.
    let names = fs::read_dir(env.path(".kb")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_str().unwrap().contains("draft")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The variable that names a program which starts another in a console of its own, and presses Ctrl-C there.
const CTRL_C: &str = "KB_TEST_CTRL_C";

#[test]
fn ctrl_c_ends_a_run_after_the_document_in_progress() {
    #[expect(clippy::disallowed_methods, reason = "`packaging/windows` names the program")]
    let Some(program) = std::env::var_os(CTRL_C) else {
        return left_out("console", "Ctrl-C");
    };
    let env = TestEnv::new();
    env.write("notes/a.md", "# A\n\nanchor\n");
    printed(&env, &["add", "notes"], 0);
    // The program ends what it started when its own input ends, and prints the status.
    let mut command = env.command_of(Path::new(&program), &[env!("CARGO_BIN_EXE_kb"), "watch"]);
    let log = File::create(env.path("watch.log")).unwrap();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let log = || fs::read_to_string(env.path("watch.log")).unwrap();
    assert!(comes_true(|| log().contains("watching ")), "{}", log());
    drop(child.stdin.take());
    assert_eq!(status_of(&mut child).code(), Some(0), "{}", log());
    assert!(log().lines().last().unwrap().starts_with("ended: "), "{}", log());
}

#[test]
fn a_server_takes_either_line_end_and_paths_with_backslashes() {
    let env = word_env();
    let mut client = Client::start(&env, "", &["--allow-write"]);
    env.write("notes/Größe.md", "# Größe\r\n\r\nThe zephyrine gauge.\r\n");
    let hello = json!({ "jsonrpc": "2.0", "id": "crlf", "method": "ping" });
    client.send_line(&format!("{hello}\r"));
    assert_eq!(client.receive()["id"], "crlf");
    let added = client.data("kb_add", json!({ "paths": [shown(&env, "notes")] }));
    assert_eq!(added["added"], 1, "{added}");
    let answer = client.data("kb_search", json!({ "query": "zephyrine", "fts_only": true }));
    let path = answer["results"][0]["source"]["path"].as_str().unwrap();
    assert_eq!(path, env.path("notes/Größe.md").to_str().unwrap());
    let info = client.data("kb_info", json!({ "document": shown(&env, "notes/Größe.md") }));
    assert_eq!(info["title"], "Größe");
    // It ends when its input does.
    assert!(client.close().success());
}

/// A program that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn saved_renamed_and_removed_files_are_followed() {
    let env = word_env();
    env.write("notes/a.md", "# A\n\nanchor zephyrine\n");
    printed(&env, &["add", "notes"], 0);
    let log = File::create(env.path("watch.log")).unwrap();
    let mut command = env.command(&["watch"]);
    let child = Killed(command.stdout(Stdio::null()).stderr(log).spawn().unwrap());
    let log = || fs::read_to_string(env.path("watch.log")).unwrap();
    let sees = |text: String| assert!(comes_true(|| log().contains(&text)), "{text}: {}", log());
    sees("watching ".to_owned());
    // Editors write a new file and rename it over the old one.
    env.write("notes/a.md.tmp", "# A\n\nanchor zephyrine summer\n");
    fs::rename(env.path("notes/a.md.tmp"), env.path("notes/a.md")).unwrap();
    sees(format!("indexed: {}\n", text(&env, "notes/a.md")));
    fs::rename(env.path("notes/a.md"), env.path("notes/b.md")).unwrap();
    sees(format!("moved: {} to {}\n", text(&env, "notes/a.md"), text(&env, "notes/b.md")));
    fs::remove_file(env.path("notes/b.md")).unwrap();
    sees(format!("missing: {}\n", text(&env, "notes/b.md")));
    drop(child);
    check_database(&env);
}

#[test]
fn a_database_in_use_is_backed_up_and_never_half_replaced() {
    let env = TestEnv::with_corpus();
    printed(&env, &["backup", "copy.db"], 0);
    printed(&env, &["remove", "1", "2", "--yes"], 0);
    let mut client = Client::start(&env, "", &[]);
    client.data("kb_search", json!({ "query": "frozen gauge" }));
    printed(&env, &["backup", "second.db"], 0);
    // The server has the database open, so that Windows does not let its name go.
    let restored = run(&mut env.command(&["restore", "copy.db"]));
    let left = paths(&env).len();
    if restored.status == Some(0) {
        assert_eq!(left, 6, "{}", restored.stderr);
    } else {
        assert_eq!(left, 4, "{}", restored.stderr);
        assert!(restored.stderr.starts_with("error: "), "{}", restored.stderr);
        let is_one_line =
            restored.stderr.lines().skip(1).all(|line| line.trim().starts_with("hint: "));
        assert!(is_one_line, "{}", restored.stderr);
    }
    client.data("kb_search", json!({ "query": "frozen gauge" }));
    assert!(client.close().success());
    printed(&env, &["restore", "copy.db"], 0);
    assert_eq!(paths(&env).len(), 6);
    check_database(&env);
}

#[test]
fn vectors_are_made_again_while_a_server_has_the_database_open() {
    let env = word_env();
    let mut client = Client::start(&env, "", &[]);
    client.data("kb_search", json!({ "query": "frozen tide" }));
    printed(&env, &["reindex"], 0);
    let answer = client.data("kb_search", json!({ "query": "frozen tide" }));
    assert_eq!(answer["results"][0]["source"]["title"], "Tides", "{answer}");
    assert!(client.close().success());
    let doctor = printed(&env, &["doctor"], 0).stdout;
    assert!(doctor.contains("database  sound: "), "{doctor}");
}

/// Windows itself calls the variable `Path`.
#[test]
fn programs_are_found_however_the_variable_is_written() {
    let env = TestEnv::with_corpus();
    // A program that fails: kb, which has no command of this name.
    fs::hard_link(env!("CARGO_BIN_EXE_kb"), env.path("bin/ed-test.exe")).unwrap();
    for name in ["PATH", "Path", "path"] {
        let mut command = env.command(&["open", "4", "--editor"]);
        command.env_remove("PATH").env(name, env.path("bin")).env("VISUAL", "ed-test");
        let opened = run(&mut command);
        assert!(
            opened.stderr.contains("the editor `ed-test` failed: "),
            "{name}: {}",
            opened.stderr
        );
    }
}
