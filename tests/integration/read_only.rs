//! Databases that cannot be written: shared folders, read-only file systems, containers.
//!
//! As root these tests run kb as a user without rights, and otherwise as the user who runs them,
//! who loses the right to write for their time.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::json;

use crate::env::{Output, TestEnv};
use crate::left_out::left_out;
use crate::mcp_client::Client;
use crate::ordinary::{each, is_root};
use crate::upgrade::database_of;

/// The query of most tests.
const QUERY: &str = "harbour tide";

/// A home that another user can enter, with a program, a model and a database to read.
struct Shared {
    env: TestEnv,
}

impl Shared {
    /// Indexes two files and a note, and lets every user read everything.
    fn new() -> Self {
        let env = TestEnv::for_ordinary_user();
        env.write("docs/harbour.md", "# Tides\n\nThe harbour master writes the tide table.\n");
        env.write("docs/oven.md", "# Bread\n\nBake bread with salt in a warm oven.\n");
        env.ok(&["add", "docs", "--tags", "sample"]);
        env.ok(&["add", "--note", "The spare key is in the blue box."]);
        let shared = Self { env };
        shared.set_rights(0o755, 0o644);
        shared
    }

    /// Takes the right to write from everything, or gives it back.
    fn set_rights(&self, folder: u32, file: u32) {
        set_rights(&self.env.path(""), folder, file);
        fs::set_permissions(self.env.path("kb"), fs::Permissions::from_mode(0o555)).unwrap();
    }

    fn freeze(&self) {
        self.set_rights(0o555, 0o444);
    }

    /// Prepares a run as a user who may read but not write.
    fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        self.env.ordinary_command(args)
    }

    fn kb<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.env.ordinary_kb(args)
    }

    /// Returns every file below the home with what shows a change of it.
    fn files(&self) -> Vec<(PathBuf, u64, u64, Option<SystemTime>)> {
        let mut found = Vec::new();
        each(&self.env.path(""), &mut |path| {
            let metadata = path.symlink_metadata().unwrap();
            let time = metadata.modified().ok();
            found.push((path.to_owned(), metadata.len(), metadata.ino(), time));
        });
        found.sort();
        found
    }

    /// Changes the database as another kb would, and makes it read-only again.
    fn change(&self, sql: &str) {
        self.set_rights(0o755, 0o644);
        let db = Connection::open(self.env.database()).unwrap();
        db.execute_batch(sql).unwrap();
        drop(db);
        self.freeze();
    }

    /// Replaces the database with another one, and makes it read-only again.
    fn replace(&self, database: &[u8]) {
        self.set_rights(0o755, 0o644);
        fs::write(self.env.database(), database).unwrap();
        self.freeze();
    }
}

impl Drop for Shared {
    /// Lets the temporary folder be removed.
    fn drop(&mut self) {
        self.set_rights(0o755, 0o644);
    }
}

fn set_rights(place: &Path, folder: u32, file: u32) {
    let mut all = Vec::new();
    // A folder must be entered before its rights are taken.
    set_right(place, 0o755);
    each(place, &mut |path| {
        all.push(path.to_owned());
        if path.is_dir() {
            set_right(path, 0o755);
        }
    });
    for path in all.iter().rev() {
        set_right(path, if path.is_dir() { folder } else { file });
    }
}

fn set_right(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Every command that only reads.
const READING: [&[&str]; 22] = [
    &["search", QUERY],
    &["search", QUERY, "--fts-only"],
    &["search", QUERY, "--budget", "200"],
    &["search", QUERY, "--fresh"],
    &["why", QUERY, "1"],
    &["grep", ".", "--format", "json"],
    &["similar", "1", "--format", "json"],
    &["list", "--format", "json"],
    &["files", "--format", "json"],
    &["info", "1", "--format", "json"],
    &["outline", "1"],
    &["show", "3"],
    &["open", "1"],
    &["tags"],
    &["export", "-q"],
    &["export", "--query", QUERY, "-q"],
    &["embed", "--query", QUERY],
    &["eval", "--format", "json"],
    &["cache"],
    &["config"],
    &["update", "--dry-run"],
    &["add", "--dry-run", "docs"],
];

/// Every command that writes.
const WRITING: [&[&str]; 16] = [
    &["add", "docs"],
    &["add", "--note", "more"],
    &["init"],
    &["update"],
    &["update", "--reread"],
    &["watch"],
    &["reindex"],
    &["remove", "1", "--yes"],
    &["edit", "1", "--title", "Other"],
    &["tag", "1", "--add", "other"],
    &["tags", "rename", "sample", "other"],
    &["files", "--waive", "docs"],
    &["relocate", "docs", "elsewhere"],
    &["restore", "copy.db"],
    &["import", "-"],
    &["doctor", "--fix"],
];

#[test]
fn every_reading_command_answers_where_nothing_can_be_written() {
    let shared = Shared::new();
    // Before, as a user who may write; the time of an answer is not part of it.
    let before: Vec<Output> = READING.iter().map(|args| shared.env.ok(args)).collect();
    shared.freeze();
    let files = shared.files();
    for (args, before) in READING.iter().zip(before) {
        let output = shared.kb(args).expect(0);
        if !["cache", "config", "eval"].contains(&args[0]) {
            assert_eq!(output.stdout, before.stdout, "{args:?}");
        }
        assert!(!output.stderr.contains("error"), "{args:?}: {output:?}");
    }
    let log = shared.env.path("run.log");
    let output = shared.kb(&["list", "--log-file", log.to_str().unwrap()]).expect(0);
    assert!(output.stderr.contains("warning: this run is not logged"), "{output:?}");

    let status = shared.kb(&["status", "--scan", "--format", "json"]).expect(0).json();
    assert_eq!(status["read_only"], true);
    let status = shared.kb(&["status"]).expect(0).stdout;
    assert!(
        status.contains("read-only, because its file, folder or medium is not writable"),
        "{status}"
    );
    let doctor = shared.kb(&["doctor"]).expect(0).stdout;
    assert!(doctor.contains("the database is read-only: its file or folder"), "{doctor}");
    assert!(doctor.contains("sound: 3 documents"), "{doctor}");

    let copy = tempfile::tempdir().unwrap();
    set_right(copy.path(), 0o777);
    let file = copy.path().join("copy.db");
    shared.kb(&["backup", file.to_str().unwrap()]).expect(0);
    let file = copy.path().join("export.jsonl");
    shared.kb(&["export", file.to_str().unwrap()]).expect(0);

    let mut command = shared.command(&["mcp", "--tools=all"]);
    command.env("SKILLC_HOME", shared.env.path(""));
    let mut client = Client::over(command);
    client.greet();
    let found = client.data("kb_search", json!({ "query": QUERY }));
    assert_eq!(found["results"][0]["source"]["title"], "Tides", "{found}");
    let shown = client.data("kb_show", json!({ "document": "1" }));
    assert!(shown["text"].as_str().unwrap().contains("harbour master"), "{shown}");
    client.data("skill_list", json!({}));
    // A server that may write also starts, and refuses what it cannot do.
    let status = client.close();
    assert!(status.success());
    let mut client = Client::over(shared.command(&["mcp", "--allow-write"]));
    client.greet();
    let refused = client.call("kb_add", json!({ "paths": [shared.env.path("docs")] }));
    assert_eq!(refused["error"]["details"]["code"], "read_only", "{refused}");
    assert!(client.close().success());
    assert_eq!(shared.files(), files, "a file was created or changed");
}

#[test]
fn a_command_that_would_write_says_that_it_cannot() {
    let shared = Shared::new();
    shared.env.ok(&["backup", "copy.db"]);
    fs::write(shared.env.path("lines"), shared.env.ok(&["export", "-q"]).stdout).unwrap();
    shared.freeze();
    let files = shared.files();
    let database = shared.env.database();
    for args in WRITING {
        let mut command = shared.command(args);
        if args.contains(&"-") {
            command.stdin(fs::File::open(shared.env.path("lines")).unwrap());
        }
        let output = shared.env.finish(&mut command).expect(2);
        let said = format!("the database {} is read-only here", database.display());
        if args == ["doctor", "--fix"] {
            assert!(output.stdout.contains(&said), "{output:?}");
            continue;
        }
        let expected = format!(
            "error: {said}\nhint: copy the database to a folder that you can write to, and name that \
             folder with `--data-dir`\n"
        );
        assert_eq!(output.stderr, expected, "{args:?}");
        assert_eq!(output.stdout, "");
    }
    let error = shared.kb(&["tag", "1", "--add", "x", "--format", "json"]).expect(2).json_error();
    assert_eq!(error["code"], "read_only");
    assert_eq!(shared.files(), files, "a file was created or changed");
}

#[test]
fn changed_files_are_marked_and_not_read_again() {
    let shared = Shared::new();
    let text = "# Tides\n\nThe harbour office prints the tide table.\n";
    shared.env.write("docs/harbour.md", text);
    shared.freeze();
    for args in [&["search", QUERY, "--fresh"][..], &["search", QUERY]] {
        let mut command = shared.command(args);
        let found =
            shared.env.finish(command.env("KB_SEARCH_FRESHNESS", "refresh")).expect(0).json();
        assert_eq!(found["results"][0]["source"]["stale"], "changed", "{found}");
    }
}

#[test]
fn without_a_prepared_model_it_is_prepared_in_memory() {
    let shared = Shared::new();
    let batch = shared.env.write("queries.txt", format!("{QUERY}\nwarm oven\n"));
    let commands = [
        vec!["search", QUERY],
        vec!["embed", "--query", QUERY],
        vec!["search", "--batch", batch.to_str().unwrap()],
    ];
    let before: Vec<Output> = commands.iter().map(|args| shared.env.ok(args)).collect();
    fs::create_dir(shared.env.path("empty")).unwrap();
    shared.freeze();
    let files = shared.files();
    // An empty folder, and one that cannot be created.
    for cache in ["empty", "empty/missing"] {
        for (args, before) in commands.iter().zip(&before) {
            let mut command = shared.command(args);
            command.env("KB_CACHE_DIR", shared.env.path(cache));
            let output = shared.env.finish(&mut command).expect(0);
            assert_eq!(output.stdout, before.stdout, "{args:?}: {output:?}");
        }
    }
    assert_eq!(shared.files(), files, "a file was created or changed");
}

/// Returns the titles that `kb list` shows.
fn titles(shared: &Shared) -> Vec<String> {
    let listed = shared.kb(&["list", "--format", "json"]).expect(0).json();
    let documents = listed.as_array().unwrap();
    documents.iter().map(|document| document["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_log_is_read_with_its_shared_memory_and_never_left_out() {
    let shared = Shared::new();
    let database = shared.env.database();
    let side = |end: &str| PathBuf::from(format!("{}{end}", database.display()));
    // As a process leaves it that is killed, and while one is working.
    let db = Connection::open(&database).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
         UPDATE documents SET title = 'Ebb' WHERE id = 1;",
    )
    .unwrap();
    let kept: Vec<Vec<u8>> =
        ["", "-wal", "-shm"].map(|end| fs::read(side(end)).unwrap()).into_iter().collect();
    assert!(!kept[1].is_empty());
    shared.freeze();
    let files = shared.files();
    assert!(titles(&shared).contains(&"Ebb".to_owned()), "while it is open");
    assert_eq!(shared.files(), files);
    shared.set_rights(0o755, 0o644);
    drop(db);
    for (end, bytes) in ["", "-wal", "-shm"].iter().zip(&kept) {
        fs::write(side(end), bytes).unwrap();
    }
    shared.freeze();
    let files = shared.files();
    assert!(titles(&shared).contains(&"Ebb".to_owned()), "after a kill");
    shared.kb(&["search", QUERY]).expect(0);
    assert_eq!(shared.files(), files);

    // Without shared memory, reading the log would need writing.
    shared.set_rights(0o755, 0o644);
    fs::remove_file(side("-shm")).unwrap();
    shared.freeze();
    let output = shared.kb(&["list"]).expect(2);
    let expected = format!(
        "error: cannot read the database {0} without writing to its folder: {0}-wal has changes that \
         are not in the file yet\nhint: copy kb.db, and kb.db-wal if it exists, to a folder that you \
         can write to, and name that folder with `--data-dir`\n",
        database.display()
    );
    assert_eq!(output.stderr, expected);
    let error = shared.kb(&["search", QUERY]).expect(2).json_error();
    assert_eq!(error["code"], "needs_writing");
    assert!(!side("-shm").exists());
    // Following the advice gives the whole answer.
    let copy = tempfile::tempdir().unwrap();
    for name in ["kb.db", "kb.db-wal"] {
        fs::copy(shared.env.path(".kb").join(name), copy.path().join(name)).unwrap();
        set_right(&copy.path().join(name), 0o644);
    }
    let copied = ["list", "--data-dir", copy.path().to_str().unwrap()];
    assert!(shared.env.ok(&copied).stdout.contains("Ebb"));

    // An empty log has nothing to leave out.
    shared.set_rights(0o755, 0o644);
    fs::write(side("-wal"), "").unwrap();
    shared.freeze();
    assert!(titles(&shared).contains(&"Tides".to_owned()));
}

#[test]
fn an_older_schema_is_an_error_and_an_empty_file_is_no_database() {
    let shared = Shared::new();
    let newest: i64 = shared.env.sql("PRAGMA user_version");
    let bytes = database_of(14);
    shared.replace(&bytes);
    for args in [&["list"][..], &["search", QUERY, "--format", "human"], &["status"], &["mcp"]] {
        let output = shared.kb(args).expect(2);
        let said = format!("its schema has version 14, this kb needs {newest}\nhint: ");
        assert!(output.stderr.contains(&said), "{args:?}: {output:?}");
    }
    assert!(fs::read(shared.env.database()).unwrap() == bytes);
    shared.set_rights(0o755, 0o644);
    fs::write(shared.env.database(), "").unwrap();
    shared.freeze();
    assert!(shared.kb(&["list"]).expect(0).stdout.starts_with("Nothing has been added yet."));
}

#[test]
fn the_schema_before_is_searched_by_its_own_rules_and_said() {
    let shared = Shared::new();
    let newest: i64 = shared.env.sql("PRAGMA user_version");
    shared.replace(&database_of(15));
    let answer = shared.kb(&["search", "lamp keeper salt", "--fts-only"]).expect(0).json();
    assert_eq!(answer["results"][0]["source"]["title"], "Lamp", "{answer}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("an older kb made the database"), "{notes}");
    shared.kb(&["list"]).expect(0);
    let said = format!("its schema has version 15, this kb needs {newest}");
    let doctor = shared.kb(&["doctor"]).expect(2);
    assert!((doctor.stdout + &doctor.stderr).contains(&said));
}

#[test]
fn a_change_while_it_is_read_repeats_the_command_and_then_fails() {
    let shared = Shared::new();
    shared.freeze();
    let database = fs::File::options().read(true).open(shared.env.database()).unwrap();
    let original = database.metadata().unwrap().modified().unwrap();
    let touch = |number: u64| {
        database.set_modified(original - Duration::from_secs(number + 1)).unwrap();
    };
    // One change at any time: the command is repeated, and its answer is always complete.
    for number in 0..20 {
        let found = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(number * 4));
                touch(number);
            });
            shared.kb(&["search", QUERY]).expect(0).json()
        });
        assert_eq!(found["results"][0]["source"]["title"], "Tides");
    }
    // Changes without end.
    let is_over = AtomicBool::new(false);
    let refused = thread::scope(|scope| {
        scope.spawn(|| {
            for number in 100.. {
                touch(number);
                thread::sleep(Duration::from_micros(200));
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let outputs: Vec<Output> = (0..10).map(|_| shared.kb(&["search", QUERY])).collect();
        is_over.store(true, Ordering::Relaxed);
        outputs
    });
    let codes: Vec<i32> = refused.iter().map(|output| output.status).collect();
    assert!(codes.contains(&2) && codes.iter().all(|code| [0, 2].contains(code)), "{codes:?}");
    for output in refused.iter().filter(|output| output.status == 2) {
        assert_eq!(output.json_error()["code"], "changed_meanwhile", "{output:?}");
        assert_eq!(output.stdout, "");
    }
    shared.kb(&["search", QUERY]).expect(0);
}

#[test]
fn an_export_to_a_pipe_says_that_the_database_changed_under_it() {
    let shared = Shared::new();
    for number in 0..60 {
        shared
            .env
            .write(&format!("docs/{number}.md"), format!("# {number}\n\n{}", "salt ".repeat(900)));
    }
    shared.env.ok(&["add", "docs"]);
    shared.freeze();
    let mut command = shared.command(&["export", "-q"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // The first bytes are there, and the last ones wait for a reader.
    stdout.read_exact(&mut [0; 100]).unwrap();
    shared.change("UPDATE documents SET title = 'Other'");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    let output = shared.env.output(Vec::new(), output.stderr, output.status).expect(2);
    assert!(output.stderr.contains("changed_meanwhile"), "{output:?}");
}

/// Makes mounts that only this process sees read-only, and runs the rest of its arguments as a user
/// without rights. The first argument is the folder, or `/` for everything.
const MOUNTED: &str = r#"
set -e
place=$1; shift
mount --make-rprivate /
if [ "$place" = / ]; then
    while read -r _ _ _ _ at _; do mount -o remount,bind,ro "$at" 2>/dev/null || true; done </proc/self/mountinfo
else
    mount --bind "$place" "$place"
    mount -o remount,bind,ro "$place"
fi
if touch "$WRITTEN" 2>/dev/null; then echo "still writable: $WRITTEN" >&2; exit 99; fi
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"#;

/// Runs kb as a user without rights where a mount is read-only; `None` if the system does not let
/// us mount.
fn on_mount(shared: &Shared, place: &Path, args: &[&str]) -> Option<Output> {
    let program = shared.env.path("kb");
    let inner = shared.command(args);
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["-m", "sh", "-c", MOUNTED, "sh"]).arg(place).arg(program).args(args);
    command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    command.env("WRITTEN", shared.env.path(".kb/written")).current_dir(shared.env.path(""));
    let output = command.stdin(Stdio::null()).output().ok()?;
    let output = shared.env.output(output.stdout, output.stderr, output.status);
    let is_refused = ["unshare:", "mount:", "setpriv:", "still writable"]
        .iter()
        .any(|word| output.stderr.contains(word));
    (!is_refused).then_some(output)
}

#[test]
fn a_read_only_mount_and_a_read_only_root_are_searched() {
    let shared = Shared::new();
    // Only the mount keeps others from writing.
    shared.set_rights(0o777, 0o666);
    let expected = shared.kb(&["search", QUERY]).expect(0).stdout;
    for (name, place) in
        [("bind mount", shared.env.path("")), ("root of a container", PathBuf::from("/"))]
    {
        let what = format!("read_only: a read-only {name}");
        if !is_root() {
            left_out("root", &what);
            continue;
        }
        let Some(found) = on_mount(&shared, &place, &["search", QUERY]) else {
            left_out("mounts", &what);
            continue;
        };
        assert_eq!(found.expect(0).stdout, expected, "{name}");
        let doctor = on_mount(&shared, &place, &["doctor"]).unwrap().expect(0).stdout;
        assert!(doctor.contains("its file system is mounted read-only"), "{name}: {doctor}");
        let refused = on_mount(&shared, &place, &["add", "docs"]).unwrap().expect(2);
        assert!(refused.stderr.contains("is read-only here"), "{name}: {refused:?}");
    }
}
