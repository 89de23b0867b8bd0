//! Tests `kb watch` and `kb mcp --watch`: changes are indexed once files are quiet, other commands are not
//! blocked, and signals end it cleanly.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;
use crate::patience::{CAN_REQUEST_END, EndRequest, comes_true, end};
use crate::word_model::word_env;

/// A running `kb watch`.
struct Watch<'a> {
    env: &'a TestEnv,
    child: Child,
}

impl<'a> Watch<'a> {
    /// Starts it, and waits until it follows the folders.
    fn start(env: &'a TestEnv, args: &[&str]) -> Self {
        let log = File::create(env.path("watch.log")).unwrap();
        let mut command = env.command(&[&["watch"], args].concat());
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let watch = Self { env, child };
        watch.wait_for("watching ");
        watch
    }

    fn log(&self) -> String {
        log(self.env)
    }

    /// Waits until it has printed something.
    #[track_caller]
    fn wait_for(&self, text: &str) {
        assert!(comes_true(|| self.log().contains(text)), "no {text:?} in {}", self.log());
    }

    /// Tells it to end, and requires that it ends with success.
    #[track_caller]
    fn end(mut self, request: EndRequest) {
        end(&mut self.child, request);
    }
}

/// Returns what a watch has printed.
fn log(env: &TestEnv) -> String {
    env.as_written(fs::read_to_string(env.path("watch.log")).unwrap())
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home whose folder `notes` was added.
fn followed() -> TestEnv {
    let env = word_env();
    for (name, word) in [("a", "anchor"), ("b", "sail")] {
        env.write(&format!("notes/{name}.md"), format!("# {name}\n\n{word} zephyrine"));
    }
    env.ok(&["add", "notes"]);
    env
}

fn indexed(path: &Path) -> String {
    format!("indexed: {}\n", path.display())
}

/// Returns the texts that a search finds.
fn texts(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|result| result["text"].as_str().unwrap()).collect()
}

#[test]
fn saved_new_moved_and_removed_files_are_followed() {
    let env = followed();
    // Changed while nothing followed it.
    let b = env.write("notes/b.md", "# b\n\nsail zephyrine winter");
    let watch = Watch::start(&env, &[]);
    watch.wait_for(&indexed(&b));
    let a = env.write("notes/a.md", "# a\n\nanchor zephyrine summer");
    watch.wait_for(&indexed(&a));
    env.write("notes/deep/er/other.md", "# other\n\npress cellar");
    let new = env.write("notes/deep/er/new.md", "# new\n\nvalve zephyrine");
    watch.wait_for(&indexed(&new));
    let answer = env.json(&["search", "zephyrine", "--fts-only"]);
    let mut found = texts(&answer);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "# a\n\nanchor zephyrine summer",
            "# b\n\nsail zephyrine winter",
            "# new\n\nvalve zephyrine",
        ]
    );
    fs::rename(&new, env.path("notes/moved.md")).unwrap();
    watch.wait_for(&format!(
        "moved: {} to {}\n",
        new.display(),
        env.path("notes/moved.md").display()
    ));
    fs::remove_file(&a).unwrap();
    watch.wait_for(&format!("missing: {}\n", a.display()));
    assert_eq!(env.json(&["list", "--format=json"]).as_array().unwrap().len(), 7, "as update does");
    watch.end(EndRequest::CtrlC);
    assert!(env.kb(&["doctor"]).stdout.contains("database  sound: "));
}

#[test]
fn every_line_names_its_file_and_the_last_one_counts() {
    let env = followed();
    let watch = Watch::start(&env, &["--summary"]);
    let bad = env.write("notes/bad.pdf", "no PDF");
    watch.wait_for(&format!("failed: {}: its content does not match", bad.display()));
    let new = env.write("notes/new.md", "# new\n\nvalve");
    watch.wait_for(&indexed(&new));
    watch.end(EndRequest::Terminate);
    let log = log(&env);
    if CAN_REQUEST_END {
        assert_eq!(log.lines().last(), Some("ended: 1 indexed, 1 failed"), "{log}");
    }
    assert!(!log.contains("error:"), "{log}");
}

#[test]
fn files_that_no_update_would_read_are_left_alone() {
    let env = followed();
    let watch = Watch::start(&env, &[]);
    env.write("notes/.hidden.md", "# hidden\n\nanchor");
    env.write("notes/.git/HEAD", "ref");
    env.write("notes/data.xyz", "no format claims it");
    env.write("notes/.kbignore", "ignored.md\n");
    env.write("notes/ignored.md", "# ignored\n\nanchor");
    let last = env.write("notes/last.md", "# last\n\nanchor");
    watch.wait_for(&indexed(&last));
    // Several writes in a row, which are one change unless kb or this test is held up in between.
    let written = env.path("notes/written.md");
    for number in 0..10 {
        fs::write(&written, format!("# written\n\nanchor {number}")).unwrap();
        thread::sleep(Duration::from_millis(30));
    }
    watch.wait_for(&indexed(&written));
    watch.end(EndRequest::Terminate);
    let log = log(&env);
    let (last, written) =
        (log.matches(&indexed(&last)).count(), log.matches(&indexed(&written)).count());
    assert_eq!(log.matches("indexed: ").count(), last + written, "{log}");
    assert_eq!(last, 1, "{log}");
}

#[test]
fn a_folder_that_is_removed_and_made_again_is_still_followed() {
    let env = followed();
    let watch = Watch::start(&env, &[]);
    for round in 0..3 {
        fs::remove_dir_all(env.path("notes")).unwrap();
        if round > 0 {
            thread::sleep(Duration::from_millis(700));
        }
        let a = env.write("notes/a.md", format!("# a\n\nanchor round{round}"));
        let is_read = comes_true(|| watch.log().matches(&indexed(&a)).count() > round);
        assert!(is_read, "{}", watch.log());
        let later =
            env.write(&format!("notes/later{round}.md"), format!("# later\n\nsail {round}"));
        watch.wait_for(&indexed(&later));
    }
}

#[test]
fn folders_and_files_added_later_are_followed_and_others_are_not() {
    let env = followed();
    let watch = Watch::start(&env, &[]);
    env.write("other/c.md", "# c\n\nvalve");
    let single = env.write("single.md", "# single\n\nvalve engine");
    env.ok(&["add", "other", "single.md"]);
    for (path, text) in [("other/c.md", "valve"), ("single.md", "engine")] {
        // The folder is followed a moment after it was added.
        let mut edition = 0;
        let line = indexed(&env.path(path));
        let is_read = comes_true(|| {
            edition += 1;
            env.write(path, format!("# {text}\n\n{text} edition{edition}"));
            thread::sleep(Duration::from_millis(1500));
            watch.log().contains(&line)
        });
        assert!(is_read, "{}", watch.log());
    }
    env.write("neighbour.md", "# neighbour\n\nnobody added it");
    fs::write(&single, "# single\n\nwinter").unwrap();
    let is_winter =
        || texts(&env.json(&["search", "winter", "--fts-only"])).contains(&"# single\n\nwinter");
    assert!(comes_true(is_winter), "{}", watch.log());
    assert!(!watch.log().contains("neighbour"), "{}", watch.log());
}

#[test]
fn other_commands_are_not_blocked() {
    let env = followed();
    let watch = Watch::start(&env, &[]);
    for round in 0..5 {
        let a = env.write("notes/a.md", format!("# a\n\nanchor round{round}"));
        env.ok(&["add", "--note", &format!("note {round}")]);
        env.ok(&["search", "anchor"]);
        env.ok(&["update"]);
        env.ok(&["tag", "4", "--add", &format!("t{round}")]);
        assert!(a.exists());
    }
    // Another process is writing: the change is indexed when it has finished.
    let writer = rusqlite::Connection::open(env.database()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let late = env.write("notes/late.md", "# late\n\nvalve");
    thread::sleep(Duration::from_secs(7));
    drop(writer);
    watch.wait_for(&indexed(&late));
    watch.end(EndRequest::CtrlC);
    assert!(env.kb(&["doctor"]).stdout.contains("database  sound: "));
}

#[test]
fn a_path_that_was_not_added_is_refused_and_nothing_added_waits() {
    let env = followed();
    env.write("strange/x.md", "# x\n\nvalve");
    let refused = env.kb(&["watch", "strange"]).expect(1);
    assert!(refused.stderr.starts_with("error: "), "{}", refused.text());
    assert!(refused.stderr.contains("strange has not been added\n"), "{}", refused.text());
    let empty = TestEnv::new();
    let log = File::create(empty.path("watch.log")).unwrap();
    let child = empty.command(&["watch"]).stderr(log).spawn().unwrap();
    let watch = Watch { env: &empty, child };
    watch.wait_for("Nothing has been added yet. `kb add DIRECTORY` adds documents. Waiting.\n");
    empty.write("notes/a.md", "# a\n\nanchor");
    empty.ok(&["add", "notes"]);
    let b = empty.write("notes/b.md", "# b\n\nsail");
    watch.wait_for(&indexed(&b));
}

#[test]
fn a_named_folder_is_followed_alone() {
    let env = followed();
    env.write("other/c.md", "# c\n\nvalve");
    env.ok(&["add", "other"]);
    let watch = Watch::start(&env, &["other"]);
    env.write("notes/a.md", "# a\n\nwinter");
    let c = env.write("other/c.md", "# c\n\nsummer");
    watch.wait_for(&indexed(&c));
    assert!(!watch.log().contains("notes"), "{}", watch.log());
}

#[test]
fn kills_while_it_indexes_lose_nothing() {
    let env = followed();
    for round in 0..6_u64 {
        let watch = Watch::start(&env, &[]);
        for number in 0..20 {
            env.write(&format!("notes/{number}.md"), format!("# {number}\n\nanchor round{round}"));
        }
        thread::sleep(Duration::from_millis(400 + round * 90));
        drop(watch);
    }
    env.ok(&["update"]);
    assert!(env.kb(&["doctor"]).stdout.contains("database  sound: "));
    let found = env.json(&["search", "round5", "--fts-only", "--top", "50", "--copies"]);
    assert_eq!(texts(&found).iter().filter(|text| text.contains("round5")).count(), 20);
}

#[test]
fn a_server_follows_folders_too() {
    let env = followed();
    let mut server = Client::start(&env, "", &["--watch"]);
    env.write("notes/a.md", "# a\n\nanchor zephyrine summer");
    let query = json!({ "query": "anchor summer", "fts_only": true });
    let mut answer = Value::Null;
    let is_read = comes_true(|| {
        answer = server.data("kb_search", query.clone());
        texts(&answer).contains(&"# a\n\nanchor zephyrine summer")
    });
    assert!(is_read, "{answer}");
    assert!(server.close().success());
}

#[test]
fn the_services_run_commands_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/services");
    let unit = fs::read_to_string(root.join("kb-watch.service")).unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/env ")).unwrap();
    let plist = fs::read_to_string(root.join("kb-search.watch.plist")).unwrap();
    let words: Vec<&str> = plist
        .split_once("<array>")
        .and_then(|(_, rest)| rest.split_once("</array>"))
        .unwrap()
        .0
        .lines()
        .filter_map(|line| line.trim().strip_prefix("<string>")?.strip_suffix("</string>"))
        .collect();
    assert_eq!(words[0], "/usr/bin/env");
    let env = TestEnv::without_model();
    for command in [start.split(' ').collect::<Vec<_>>(), words[1..].to_vec()] {
        assert_eq!(command[0], "kb");
        let help = env.ok(&[&command[1..], &["--help"]].concat());
        assert!(help.stdout.contains("Usage: kb watch"), "{}", help.stdout);
    }
}
