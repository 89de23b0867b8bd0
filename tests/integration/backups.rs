//! Tests backups that are made, checked and replaced by several processes at once, or next to what
//! other processes left.

use std::fs;
use std::process::{Child, Stdio};

use rusqlite::Connection;

use crate::env::TestEnv;
use crate::permissions::{check_mode, set_mode};
use crate::printed_paths::without_links;
use crate::word_model::check_database;

/// Starts the program and leaves it running.
fn start(env: &TestEnv, args: &[&str]) -> Child {
    env.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn finish(child: Child, status: i32) -> String {
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{printed}");
    printed
}

/// Leaves a database in `folder` as a killed process does: part of it is only in the log.
fn leave_log(env: &TestEnv, folder: &str) {
    fs::create_dir_all(env.path(folder)).unwrap();
    set_mode(&env.path(folder), 0o700);
    let source = env.path("live/kb.db");
    fs::create_dir_all(env.path("live")).unwrap();
    fs::copy(env.database(), &source).unwrap();
    let db = Connection::open(&source).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = wal;
        UPDATE documents SET title = 'Only in the log';",
    )
    .unwrap();
    for end in ["", "-wal"] {
        let name = format!("kb.db{end}");
        fs::copy(env.path(format!("live/{name}")), env.path(format!("{folder}/{name}"))).unwrap();
    }
}

/// Finding F4: the name of the scratch file was fixed, and a user's file of that name was removed.
#[test]
fn concurrent_backups_to_one_file_leave_it_sound_and_touch_nothing_else() {
    let env = TestEnv::with_corpus();
    env.write("copy.db.partial", "the user's");
    env.write("copy.db.partial-wal", "the user's, too");
    env.ok(&["backup", "copy.db"]);
    for _ in 0..3 {
        let backups: Vec<_> =
            (0..4).map(|_| start(&env, &["backup", "copy.db", "--force"])).collect();
        let looks: Vec<_> =
            (0..2).map(|_| start(&env, &["backup", "--verify", "copy.db"])).collect();
        for child in backups.into_iter().chain(looks) {
            assert_eq!(finish(child, 0), "");
        }
    }
    assert_eq!(fs::read_to_string(env.path("copy.db.partial")).unwrap(), "the user's");
    assert_eq!(fs::read_to_string(env.path("copy.db.partial-wal")).unwrap(), "the user's, too");
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(env.path(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let drafts = [names("."), names(".kb")].concat();
    assert!(!drafts.iter().any(|name| name.starts_with(".kb-draft")), "{drafts:?}");
}

/// Finding F4: 22 of 801 checks of a damaged file printed "Sound".
#[test]
fn concurrent_checks_do_not_swap_their_verdicts() {
    let env = TestEnv::with_corpus();
    env.ok(&["backup", "good.db"]);
    let bytes = fs::read(env.path("good.db")).unwrap();
    env.write("bad.db", &bytes[..bytes.len() / 2]);
    for _ in 0..6 {
        let good = start(&env, &["backup", "--verify", "good.db"]);
        let bad = start(&env, &["backup", "--verify", "bad.db"]);
        let printed = finish(bad, 2);
        assert!(printed.contains("bad.db is corrupt"), "{printed}");
        assert_eq!(finish(good, 0), "");
    }
}

/// Finding F5: the log of the old database was applied to the new one.
#[test]
fn a_backup_over_a_database_with_a_log_opens_as_the_copy() {
    let env = TestEnv::with_corpus();
    let answer = env.ok(&["list"]).stdout;
    leave_log(&env, "other");
    let verified = env.json(&["backup", "--verify", "other/kb.db", "--format", "json"]);
    let log = without_links(&env.path("other/kb.db-wal"));
    assert_eq!(verified["log"].as_str(), log.to_str());
    let printed = env.ok(&["backup", "--verify", "other/kb.db"]).stdout;
    assert!(
        printed.contains("kb.db-wal, which SQLite applies when it opens the file"),
        "{printed}"
    );

    env.ok(&["backup", "other/kb.db", "--force"]);
    assert!(!env.path("other/kb.db-wal").exists() && !env.path("other/kb.db-shm").exists());
    let verified = env.json(&["backup", "--verify", "other/kb.db", "--format", "json"]);
    assert!(verified["log"].is_null());
    assert_eq!(env.ok(&["--data-dir", "other", "list"]).stdout, answer);
    env.ok(&["--data-dir", "other", "doctor"]);

    // A log without its database belongs to the user, unless --force is given.
    leave_log(&env, "third");
    fs::remove_file(env.path("third/kb.db")).unwrap();
    let refused = env.kb(&["backup", "third/kb.db"]).expect(1).stderr;
    assert!(refused.contains("kb.db-wal already exists"), "{refused}");
    env.ok(&["backup", "third/kb.db", "--force"]);
    assert_eq!(env.ok(&["--data-dir", "third", "list"]).stdout, answer);
}

#[test]
fn a_database_that_another_process_has_open_is_not_replaced() {
    let env = TestEnv::with_corpus();
    leave_log(&env, "other");
    let in_use = Connection::open(env.path("other/kb.db")).unwrap();
    let title = || -> String {
        in_use.query_row("SELECT title FROM documents", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(title(), "Only in the log");
    let refused = env.kb(&["backup", "other/kb.db", "--force", "--format=json"]).expect(1);
    let error = refused.json_error();
    assert_eq!(error["code"], "locked");
    assert!(error["error"].as_str().unwrap().contains("other/kb.db is locked"), "{error}");
    assert_eq!(title(), "Only in the log");
}

/// The remains of a killed backup are private, and the next one removes them.
#[test]
fn the_remains_of_a_killed_backup_are_removed() {
    let env = TestEnv::with_corpus();
    let draft = env.path(".kb-draft-77-0123456789abcdef");
    fs::create_dir(&draft).unwrap();
    for name in ["lock", "new", "new-journal"] {
        fs::write(draft.join(name), "x").unwrap();
    }
    env.ok(&["backup", "copy.db"]);
    assert!(!draft.exists());
    check_mode(&env.path("copy.db"), 0o600);
}

fn titles(env: &TestEnv) -> Vec<String> {
    let list = env.ok(&["list", "--format", "json"]).json();
    list.as_array().unwrap().iter().map(|found| found["title"].as_str().unwrap().into()).collect()
}

#[test]
fn a_backup_is_restored_and_the_replaced_database_is_kept() {
    let env = TestEnv::with_corpus();
    let before = titles(&env);
    env.ok(&["backup", "copy.db"]);
    let bytes = fs::read(env.path("copy.db")).unwrap();
    env.ok(&["remove", "4", "--yes"]);
    let removed = titles(&env);
    assert_ne!(removed, before);
    let report = env.json(&["restore", "copy.db", "--format", "json"]);
    assert_eq!(report["total_documents"], 8);
    assert_eq!(titles(&env), before);
    assert_eq!(fs::read(env.path("copy.db")).unwrap(), bytes, "the backup does not change");
    // Back again.
    let replaced = report["replaced"].as_str().unwrap().to_owned();
    env.ok(&["restore", &replaced]);
    assert_eq!(titles(&env), removed);
    // On a machine that has no database yet.
    let report = env.json(&["--data-dir", "new", "restore", "copy.db", "--format", "json"]);
    assert!(report["replaced"].is_null());
}

#[test]
fn a_damaged_database_is_replaced_and_a_damaged_backup_is_not_restored() {
    let env = TestEnv::with_corpus();
    let before = titles(&env);
    env.ok(&["backup", "copy.db"]);
    let mut bytes = fs::read(env.path("copy.db")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0x5a);
    env.write("bad.db", &bytes);
    env.kb(&["restore", "bad.db"]).expect(2);
    env.kb(&["restore", "nosuch.db"]).expect(1);
    env.write("text.db", "no database at all");
    assert!(env.kb(&["restore", "text.db"]).status != 0);
    let database = env.database();
    env.kb(&["restore", database.to_str().unwrap()]).expect(1);
    assert_eq!(titles(&env), before);
    fs::write(&database, &bytes).unwrap();
    assert!(env.kb(&["list"]).status != 0 || env.kb(&["doctor"]).status != 0);
    env.ok(&["restore", "copy.db"]);
    assert_eq!(titles(&env), before);
    check_database(&env);
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let env = TestEnv::with_corpus();
    env.ok(&["backup", "copy.db"]);
    env.ok(&["remove", "4", "--yes"]);
    let db = Connection::open(env.database()).unwrap();
    let _: i64 = db.query_row("SELECT count(*) FROM documents", [], |row| row.get(0)).unwrap();
    let refused = env.kb(&["restore", "copy.db"]).expect(1);
    assert!(refused.stderr.contains("is locked by another process"), "{}", refused.stderr);
    assert_eq!(titles(&env).len(), 7);
    drop(db);
    env.ok(&["restore", "copy.db"]);
    assert_eq!(titles(&env).len(), 8);
}

#[test]
fn a_killed_restore_leaves_the_old_or_the_new_database() {
    let env = TestEnv::with_corpus();
    env.ok(&["backup", "eight.db"]);
    env.ok(&["remove", "4", "--yes"]);
    env.ok(&["backup", "seven.db"]);
    for number in 0..24_u64 {
        let backup = if number % 2 == 0 { "eight.db" } else { "seven.db" };
        let mut child = start(&env, &["restore", backup]);
        std::thread::sleep(std::time::Duration::from_millis(number * 3));
        let _ = child.kill();
        child.wait().unwrap();
        let num_documents = titles(&env).len();
        assert!(num_documents == 7 || num_documents == 8, "{num_documents}");
    }
    env.ok(&["restore", "eight.db"]);
    assert_eq!(titles(&env).len(), 8);
    check_database(&env);
    let leftovers = fs::read_dir(env.path(".kb")).unwrap();
    let is_draft = |name: &str| name.starts_with(".kb-draft-");
    assert!(!leftovers.flatten().any(|entry| is_draft(&entry.file_name().to_string_lossy())));
}
