//! Tests that every command refuses a database with anything that kb did not make, names it, and leaves it unchanged.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::env::TestEnv;

/// A statement without an end.
const ENDLESS: &str = "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
    SELECT id, id AS name FROM n";

fn change(database: &Path, sql: &str) {
    let db = Connection::open(database).unwrap();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    db.execute_batch(sql).unwrap();
}

/// A home with a note.
fn home() -> TestEnv {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "The valve is blue.", "--tags", "colour"]);
    env
}

/// A3: `kb list` ran until Ctrl-C, and `kb add` until the second one. `kb doctor` did not name the trigger.
#[test]
fn what_kb_did_not_make_is_refused_by_every_command() {
    let view = format!(
        "PRAGMA writable_schema = ON;
        DELETE FROM sqlite_schema WHERE tbl_name = 'tags';
        INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
        VALUES ('view', 'tags', 'tags', 0, 'CREATE VIEW tags AS {ENDLESS}')"
    );
    let trigger = format!(
        "CREATE TRIGGER log AFTER INSERT ON documents BEGIN
            INSERT INTO tags (name) SELECT 'x' FROM ({ENDLESS});
        END"
    );
    for (sql, object) in [(view, "view `tags`"), (trigger, "trigger `log` on `documents`")] {
        let env = home();
        env.ok(&["backup", "theirs.db"]);
        let sound = fs::read(env.database()).unwrap();
        let theirs = env.path("theirs.db");
        change(&env.database(), &sql);
        change(&theirs, &sql);
        let before = fs::read(env.database()).unwrap();
        for args in [
            &["list"][..],
            &["tags"],
            &["search", "valve", "--fts-only"],
            &["show", "1"],
            &["add", "--note", "more"],
            &["remove", "1", "--yes"],
            &["update"],
            &["reindex"],
            &["backup", "copy.db"],
        ] {
            let error = env.kb(&[args, &["--format", "json"]].concat()).expect(2).json_error();
            assert_eq!(error["code"], "altered_schema", "{args:?}: {error}");
            let text = error["error"].as_str().unwrap();
            assert!(text.ends_with(&format!("was changed outside kb: {object}")), "{text}");
            assert!(error["fix"].as_str().unwrap().contains("`kb restore FILE`"), "{error}");
        }
        let doctor = env.kb(&["doctor", "--fix"]).expect(2);
        assert!(doctor.stdout.contains(object), "{}", doctor.text());
        assert_eq!(fs::read(env.database()).unwrap(), before, "something was written");
        // Neither is it taken for a backup; a sound one is.
        for args in [&["restore", "theirs.db"][..], &["backup", "--verify", "theirs.db"]] {
            let refused = env.kb(args).expect(2);
            assert!(refused.stderr.contains(object), "{}", refused.text());
        }
        env.write("sound.db", sound);
        env.ok(&["restore", "sound.db"]);
        assert!(env.ok(&["list"]).stdout.contains("colour"));
    }
}

#[test]
fn an_index_of_the_user_is_listed_and_one_of_somebody_else_refused() {
    let env = home();
    change(&env.database(), "CREATE INDEX by_day ON documents (created_at)");
    env.ok(&["list"]);
    env.ok(&["add", "--note", "The pump is red."]);
    let doctor = env.ok(&["doctor"]);
    assert!(doctor.stdout.contains("index `by_day` on `documents`"), "{}", doctor.text());
    fs::create_dir(env.path("theirs")).unwrap();
    env.ok(&["backup", "theirs/kb.db"]);
    let refused = env.kb(&["list", "--data-dir", "theirs", "--format", "json"]).expect(2);
    assert_eq!(refused.json_error()["code"], "altered_schema");
    env.ok(&["base", "allow", "theirs", "--yes"]);
    env.ok(&["list", "--data-dir", "theirs"]);
}
