//! Tests the copies of the database that kb makes itself: before a migration, a reindex and a restore.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::Value;

use crate::contract::{OwnCopy, Reindexed, Removed, Status, read};
use crate::env::TestEnv;
use crate::permissions::{check_mode, set_mode};
use crate::printed_paths::{without_links, written};
use crate::word_model::word_env;

/// The schema of an old kb, and the number of its last migration.
const OLD_SCHEMA: [&str; 5] = [
    include_str!("../../migrations/0001_documents.sql"),
    include_str!("../../migrations/0002_skills.sql"),
    include_str!("../../migrations/0003_scale.sql"),
    include_str!("../../migrations/0004_roots.sql"),
    include_str!("../../migrations/0005_real_paths.sql"),
];

fn with_note() -> TestEnv {
    let env = word_env();
    env.ok(&["add", "--note", "the zephyrine anchor lies in the cellar"]);
    env
}

/// Makes a database as an old kb left it, with the folder `/old` and no document.
fn make_old(env: &TestEnv) {
    fs::create_dir_all(env.path(".kb")).unwrap();
    set_mode(&env.path(".kb"), 0o700);
    let db = Connection::open(env.database()).unwrap();
    for sql in OLD_SCHEMA {
        db.execute_batch(sql).unwrap();
    }
    db.execute("INSERT OR REPLACE INTO config (key, value) VALUES ('schema_version', '5')", [])
        .unwrap();
    db.execute("INSERT INTO roots (path) VALUES ('/old')", []).unwrap();
    db.pragma_update(None, "user_version", 5).unwrap();
    db.pragma_update(None, "application_id", 0x6b62_6462).unwrap();
}

/// Returns the copies in the data directory, sorted by name.
fn copies(env: &TestEnv) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(env.path(".kb")).unwrap().map(|entry| written(&entry.unwrap().path()));
    let is_copy = |path: &PathBuf| path.display().to_string().contains("/kb-before-");
    let mut copies: Vec<PathBuf> = entries.filter(is_copy).collect();
    copies.sort();
    copies
}

#[test]
fn a_database_is_copied_before_its_schema_changes() {
    let env = TestEnv::new();
    make_old(&env);
    let printed = env.ok(&["list"]).stderr;
    let made = copies(&env);
    assert_eq!(made.len(), 1, "{printed}");
    assert!(made[0].display().to_string().contains("/kb-before-migration-"), "{made:?}");
    assert!(
        printed.contains(&format!("the previous database was saved as {}", made[0].display())),
        "{printed}"
    );
    check_mode(&made[0], 0o600);
    // The copy has the old schema, so an old kb can read it.
    let copy = Connection::open(&made[0]).unwrap();
    let found = copy.query_row(
        "SELECT path, (SELECT user_version FROM pragma_user_version) FROM roots",
        [],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)),
    );
    assert_eq!(found.unwrap(), ("/old".to_owned(), 5));
    drop(copy);
    // Later commands find the newest schema.
    assert_eq!(env.ok(&["list"]).stderr, "");
    assert_eq!(copies(&env), made);
    env.ok(&["restore", made[0].to_str().unwrap()]);
    assert_eq!(env.sql::<String>("SELECT path FROM roots"), "/old");
}

/// Takes back what the schema got after version 12, that of the last kb that did not note mounted disks.
const TO_VERSION_12: &str = "
    DROP TABLE words;
    DROP TRIGGER tags_names_au;
    DROP TRIGGER document_tags_names_ai;
    DROP TRIGGER document_tags_names_ad;
    DROP TRIGGER documents_names_ai;
    DROP TRIGGER documents_names_au;
    DROP TABLE document_names_fts;
    DROP TABLE document_names;
    DROP TABLE chunks_exact_terms;
    DROP TABLE chunks_exact;
    UPDATE document_paths SET on_mount = NULL;
    PRAGMA writable_schema = ON; -- DROP COLUMN needs the module of vectors
    UPDATE sqlite_schema SET sql = replace(sql, ', on_mount INTEGER', '') WHERE name = 'document_paths';
    PRAGMA writable_schema = RESET;
    UPDATE config SET value = '12' WHERE key = 'schema_version';
    PRAGMA user_version = 12;";

#[test]
fn a_disk_that_only_an_older_kb_saw_is_not_a_deletion() {
    let env = word_env();
    for name in ["a.md", "b.md", "disk/c.md", "disk/deep/d.md"] {
        env.write(&format!("notes/{name}"), format!("# {name}\n\nzephyrine {name}\n"));
    }
    env.ok(&["add", "notes"]);
    Connection::open(env.database()).unwrap().execute_batch(TO_VERSION_12).unwrap();
    // The mount point is not deleted.
    fs::rename(env.path("notes/disk"), env.path("away")).unwrap();
    fs::create_dir(env.path("notes/disk")).unwrap();
    let count = "SELECT count(*) FROM documents";
    let before: i64 = env.sql(count);
    for args in [&["update", "--prune"][..], &["update", "--prune", "--force"]] {
        let output = env.ok(args).text();
        assert!(output.contains("missing or empty, so nothing was removed: "), "{output}");
        assert_eq!(env.sql::<i64>(count), before);
    }
    assert_eq!(copies(&env).len(), 1);
    fs::remove_dir(env.path("notes/disk")).unwrap();
    fs::rename(env.path("away"), env.path("notes/disk")).unwrap();
    let back = env.ok(&["update", "--prune"]).stdout;
    assert!(back.contains("6 unchanged") && back.contains("0 removed"), "{back}");
}

#[test]
fn processes_that_migrate_at_once_make_one_copy() {
    let mut env = TestEnv::new();
    env.set("KB_BACKUP_KEEP", "9");
    make_old(&env);
    let children: Vec<_> = (0..6)
        .map(|_| env.command(&["list"]).stdout(std::process::Stdio::null()).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let made = copies(&env);
    assert_eq!(made.len(), 1, "{made:?}");
    let copy = Connection::open(&made[0]).unwrap();
    let version: i64 = copy.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 5);
}

#[test]
fn backup_keep_limits_the_copies_and_zero_makes_none() {
    let mut env = with_note();
    let made = |env: &TestEnv| read::<Reindexed>(&env.ok(&["reindex", "--format", "json"])).backup;
    let first = made(&env).unwrap();
    assert_eq!(copies(&env), [PathBuf::from(&first)]);
    let second = made(&env).unwrap();
    assert_eq!(copies(&env), [PathBuf::from(&second)], "the older copy is deleted");
    env.ok(&["backup", "--verify", &second]);
    env.set("KB_BACKUP_KEEP", "2");
    let third = made(&env).unwrap();
    assert_eq!(copies(&env).len(), 2);
    env.set("KB_BACKUP_KEEP", "0");
    assert_eq!(made(&env), None);
    assert_eq!(copies(&env).len(), 2, "what there is stays: {third}");
    fs::remove_file(env.database()).unwrap();
    make_old(&env);
    assert!(!env.ok(&["list"]).stderr.contains("kb-before-"));
    assert_eq!(copies(&env).len(), 2);
}

#[test]
fn a_database_that_restore_replaced_is_not_counted() {
    let env = with_note();
    env.ok(&["backup", "copy.db"]);
    env.ok(&["restore", "copy.db"]);
    for _ in 0..2 {
        env.ok(&["reindex"]);
    }
    let names: Vec<String> = copies(&env).iter().map(|path| path.display().to_string()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].contains("before-reindex") && names[1].contains("before-restore"));
}

/// D29: copies that kb made itself may have what was removed.
#[test]
fn a_removal_lists_the_copies_that_may_have_the_text_and_deletes_them() {
    let env = with_note();
    env.ok(&["add", "--note", "a second note about the harbour"]);
    env.ok(&["reindex"]);
    let made = copies(&env);
    let has_text = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(9).any(|window| window == b"zephyrine")
    };
    assert!(has_text(&made[0]));
    let plain = env.ok(&["remove", "4", "--yes"]);
    let note = format!(
        "note: 1 copy of the database that kb made may still contain the removed text: {}; \
         `kb remove --backups` deletes it",
        made[0].display()
    );
    assert!(plain.stderr.contains(&note), "{}", plain.text());
    let status: Status = read(&env.ok(&["status", "--format", "json"]));
    assert_eq!(status.backups.len(), 1);
    assert_eq!(status.backups[0].before, "reindex");
    assert!(env.ok(&["status"]).stdout.contains("1 copy of the database"));
    assert!(env.ok(&["doctor"]).stdout.contains("1 copy of the database that kb made"));

    let planned: Removed = read(&env.ok(&["remove", "--backups", "--dry-run", "--format=json"]));
    assert_eq!((planned.backups.len(), planned.backups_deleted.len()), (1, 0));
    let refused = env.kb(&["remove", "--backups"]).expect(1);
    assert!(refused.stderr.contains("`--yes`"), "{}", refused.stderr);
    assert_eq!(copies(&env), made, "nothing is deleted without a yes");
    env.write(".kb/kb-before-the-flood.db", "mine");
    let done: Removed = read(&env.ok(&["remove", "--backups", "--yes", "--format", "json"]));
    assert!(done.removed.is_empty() && done.backups.is_empty());
    let deleted = |copy: &OwnCopy| (PathBuf::from(&copy.file), copy.size_bytes > 0);
    assert_eq!(
        done.backups_deleted.iter().map(deleted).collect::<Vec<_>>(),
        [(made[0].clone(), true)]
    );
    assert_eq!(copies(&env), [without_links(&env.path(".kb/kb-before-the-flood.db"))]);

    // With a removal.
    env.ok(&["reindex"]);
    let both = env.ok(&["remove", "5", "--backups", "--yes"]);
    assert_eq!(both.stdout, "Removed 1 document. Deleted 1 copy of the database.\n");
    assert!(!both.stderr.contains("may still have"), "{}", both.stderr);
    assert_eq!(copies(&env).len(), 1);
}

#[test]
fn no_copy_is_no_reason_to_complain() {
    let env = with_note();
    let done: Value = env.json(&["remove", "--backups", "--yes", "--format", "json"]);
    assert_eq!(done["backups_deleted"], serde_json::json!([]));
    assert!(!env.ok(&["remove", "4", "--yes"]).stderr.contains("copy of the database"));
    env.kb(&["remove"]).expect(1);
}
