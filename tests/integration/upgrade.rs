//! Tests that this program works with homes of earlier ones: a database of every schema, and all files that the
//! programs of 841bdc8 and of release 0.2.0 made. Their README describes their origin.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde_json::{Value, json};

use crate::contract::{Reindexed, Setting, Update, read};
use crate::env::{KNOWN_BASES, TestEnv};
use crate::printed_paths::without_links;
use crate::word_model::check_database;

/// The home in which the fixtures were made.
const OLD_HOME: &str = "/tmp/kb-upgrade-home";

/// The homes that have all that their programs could make.
const FULL_HOMES: [&str; 2] = ["841bdc8", "0.2.0"];

/// Where its programs remembered the folders that the user named.
const KNOWN_BASES_OF_OLD: &str = ".local/state/kb/known_bases";

/// Queries that every home can answer, and the documents that answer them.
const KNOWN: [(&str, i64); 4] = [
    ("the float of the gauge hangs in a pipe of iron that the station built", 3),
    ("lamp keeper salt", 4),
    ("pump house behind the clock", 2),
    ("last boat leaves at nine", 6),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/upgrade")
}

/// Unpacks a home, in which kb finds itself at home, and what its program listed in each base.
fn home(name: &str) -> (TestEnv, Value) {
    let env = TestEnv::new();
    let file = fs::File::open(fixtures().join(format!("{name}.zip"))).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let here = without_links(&env.path(""));
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if let Ok(text) = str::from_utf8(&bytes) {
            bytes = text.replace(OLD_HOME, here.to_str().unwrap()).into_bytes();
        }
        let name = entry.name().unwrap().replace(KNOWN_BASES_OF_OLD, KNOWN_BASES);
        let path = env.write(&name, bytes);
        if name.ends_with("kb.db") {
            move_in(&path, here.to_str().unwrap());
        }
    }
    let listed = fs::read_to_string(env.path("list.json")).unwrap();
    (env, serde_json::from_str(&listed).unwrap())
}

/// Returns the database of a schema, as the last program with it left it.
pub(crate) fn database_of(version: i64) -> Vec<u8> {
    let file = fs::File::open(fixtures().join(format!("schema-{version:02}.zip"))).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(".kb/kb.db").unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Replaces the old home in every text of a database, and changes nothing else.
fn move_in(database: &Path, here: &str) {
    let db = Connection::open(database).unwrap();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    let columns = "
        SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
        WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'";
    for (table, column) in pairs(&db, columns) {
        let change = format!(
            "UPDATE \"{table}\" SET \"{column}\" = replace(\"{column}\", ?1, ?2)
             WHERE typeof(\"{column}\") = 'text' AND instr(\"{column}\", ?1)"
        );
        db.execute(&change, [OLD_HOME, here]).unwrap();
    }
}

fn pairs(db: &Connection, sql: &str) -> Vec<(String, String)> {
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Returns the contents that an upgrade must keep, by plain SQL: documents, tags, chunks, vectors.
fn kept(env: &TestEnv) -> Vec<String> {
    [
        "SELECT json_array(id, title, doc_type, content_hash, created_at) FROM documents ORDER BY id",
        "SELECT json_array(document_id, name) FROM document_tags JOIN tags ON tags.id = tag_id ORDER BY 1",
        "SELECT json_array(id, document_id, chunk_index, text) FROM chunks ORDER BY id",
        "SELECT hex(vectors) FROM chunks_vec_vector_chunks00 ORDER BY rowid",
    ]
    .iter()
    .flat_map(|sql| env.sql_column(sql))
    .collect()
}

/// Returns what a list shows of each document.
fn shown(list: &Value) -> Vec<Value> {
    let keys = ["id", "title", "type", "tags", "chunk_count", "created_at"];
    let documents = list.as_array().unwrap().iter();
    documents.map(|document| keys.iter().map(|key| document[*key].clone()).collect()).collect()
}

fn list(env: &TestEnv, base: &str) -> Vec<Value> {
    shown(&env.json(&["--base", base, "list", "--format", "json"]))
}

/// Requires that searches by both rankings, or by one of them, find the known documents.
#[track_caller]
fn check_searches(env: &TestEnv, legs: &[&str]) {
    for (query, id) in KNOWN {
        let answer = env.json(&[&["search", query], legs].concat());
        assert_eq!(answer["results"][0]["source"]["document_id"], id, "{query} {legs:?}");
    }
}

/// Runs a command that must not embed anything.
#[track_caller]
fn without_embedding(env: &TestEnv, args: &[&str]) -> Update {
    let output = env.ok(&[args, &["-vv", "--format", "json"]].concat());
    assert!(output.stderr.contains("time  total "), "{}", output.stderr);
    assert!(!output.stderr.contains("time  embed "), "{}", output.stderr);
    read(&output)
}

/// Continues with a home: reads, updates, copies, embeds again, adds.
fn go_on(env: &TestEnv, listed: &Value) {
    let before = kept(env);
    let documents = shown(listed);
    let first = env.ok(&["list", "--format", "json"]);
    assert!(first.stderr.contains("the previous database was saved as"), "{}", first.stderr);
    assert_eq!(shown(&first.json()), documents);
    for legs in [&[][..], &["--fts-only"], &["--vec-only"]] {
        check_searches(env, legs);
    }
    let lines = env.json(&["grep", "pump house", "--format", "json"]);
    assert_eq!(lines["results"][0]["document_id"], 2, "{lines}");
    let report = without_embedding(env, &["update"]);
    assert_eq!((report.added, report.updated, report.moved), (0, 0, 0), "{report:?}");
    assert_eq!((report.failed.len(), report.removed.len(), report.away.len()), (0, 0, 0));
    assert_eq!(kept(env), before);
    check_database(env);

    // A copy, and the same in another home.
    env.ok(&["backup", "copy.db"]);
    env.ok(&["export", "all.jsonl", "--vectors"]);
    let other = TestEnv::new();
    other.ok(&["import", env.path("all.jsonl").to_str().unwrap()]);
    let titles = |env: &TestEnv| -> BTreeSet<String> {
        let tagged = "SELECT json_array(d.title, group_concat(name)) FROM documents AS d
            LEFT JOIN document_tags ON document_id = d.id LEFT JOIN tags ON tags.id = tag_id
            GROUP BY d.id";
        env.sql_column(tagged).into_iter().collect()
    };
    assert_eq!(titles(&other), titles(env));

    // Ids and tags are kept when everything is made and embedded again.
    let identity = |list: &[Value]| -> Vec<Value> {
        list.iter().map(|document| json!([document[0], document[3], document[5]])).collect()
    };
    let reread: Update = read(&env.ok(&["update", "--reread", "--format", "json"]));
    assert_eq!((reread.updated, reread.failed.len()), (0, 0), "{reread:?}");
    let reindexed: Reindexed = read(&env.ok(&["reindex", "--format", "json"]));
    assert_eq!(reindexed.model_name, "small-model");
    assert_eq!(identity(&list(env, "default")), identity(&documents));
    check_searches(env, &[]);
    check_database(env);

    env.ok(&["restore", "copy.db"]);
    assert_eq!(kept(env), before);
    // The id of a removed document is not given again.
    let last: i64 = env.sql("SELECT seq FROM sqlite_sequence WHERE name = 'documents'");
    env.ok(&["add", "--note", "The sluice is new."]);
    assert_eq!(env.sql::<i64>("SELECT max(id) FROM documents"), last + 1);
}

#[test]
fn a_database_of_every_schema_goes_on() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "new"]);
    for version in 1..env.sql::<i64>("PRAGMA user_version") {
        let (env, listed) = home(&format!("schema-{version:02}"));
        assert_eq!(env.sql::<i64>("PRAGMA user_version"), version);
        go_on(&env, &listed["default"]);
    }
}

/// Continues with all that is in a full home, whose program left `num_files` files in their places.
#[track_caller]
fn go_on_with_all(name: &str, num_files: u64) -> TestEnv {
    let (env, listed) = home(name);
    go_on(&env, &listed["default"]);
    // Reading all again embeds nothing and keeps edits; a file that was missing still is.
    let report = without_embedding(&env, &["update", "--reread"]);
    assert_eq!((report.reread, report.missing.len()), (num_files, 1), "{report:?}");
    assert!(report.missing[0].path.ends_with("more/harbour.html"));
    let edited = &env.json(&["search", KNOWN[2].0])["results"][0]["source"];
    let title_and_date = ["title", "date", "date_origin"].map(|key| edited[key].clone());
    assert_eq!(title_and_date, ["Keys of the house", "2026-02-03", "user"].map(Value::from));
    assert!(env.ok(&["show", "4"]).stdout.contains("the salt and the rope"));
    // Every kind of document is found by what only it has.
    for (query, id) in [
        ("Guillemot OR Kittiwake berth", 7),
        ("spiders enclosure letter", 8),
        ("Petrel crossings", 9),
        ("fuel of the tug Albatross", 10),
        ("dinghy trawler dues", 11),
        ("mean level of the basin", 12),
        ("double the mooring lines", 13),
        ("lifts the gate", 14),
    ] {
        let answer = env.json(&["search", query]);
        assert_eq!(answer["results"][0]["source"]["document_id"], id, "{query}: {answer}");
    }
    // The second base.
    assert_eq!(list(&env, "work"), shown(&listed["work"]));
    let report = without_embedding(&env, &["--base", "work", "update"]);
    assert_eq!((report.unchanged, report.notes.len()), (1, 0), "{report:?}");
    let both = env.json(&["--base", "work,default", "search", "oil for the pump"]);
    assert_eq!(both["results"][0]["source"]["title"], "Pump", "{both}");
    // Its export and its database as a backup, each in another home.
    let other = TestEnv::new();
    other.ok(&["import", env.path("export.jsonl").to_str().unwrap()]);
    let without_ids = |list: Vec<Value>| -> BTreeSet<String> {
        let line = |document: &Value| json!([document[1], document[2], document[3]]).to_string();
        list.iter().map(line).collect()
    };
    assert_eq!(without_ids(list(&other, "default")), without_ids(shown(&listed["default"])));
    let (old, _) = home(name);
    let backup = old.database().display().to_string();
    other.ok(&["backup", "--verify", &backup]);
    other.ok(&["restore", &backup]);
    assert_eq!(list(&other, "default"), shown(&listed["default"]));
    env
}

#[test]
fn a_home_of_841bdc8_goes_on_with_all_that_is_in_it() {
    go_on_with_all("841bdc8", 12);
}

#[test]
fn a_home_of_0_2_0_goes_on_with_all_that_is_in_it() {
    let env = go_on_with_all("0.2.0", 26);
    for (word, name) in [
        ("swivel", "moorings.rst"),
        ("fairway", "briefing.srt"),
        ("foghorn", "bell.rtf"),
        ("dredger", "inbox.mbox"),
        ("turnstile", "depths.tsv"),
        ("hygrometer", "sensors.jsonl"),
        ("counterweight", "crane.yaml"),
        ("pratique", "signals.xml"),
        ("penstock", "sluice.rs"),
        ("occulting", "buoy.kt"),
        ("winch", "winch.log.gz"),
        ("capstan", "drawer.zip"),
        ("solstice", "almanac.epub"),
        ("apprentice", "rota.odt"),
    ] {
        let source = &env.json(&["search", word])["results"][0]["source"];
        assert!(source["path"].as_str().unwrap().ends_with(name), "{word}: {source}");
    }
}

/// One of its passages had 29 codes of 8 bytes.
#[test]
fn codes_of_tokens_of_841bdc8_are_packed() {
    let (env, _) = home("841bdc8");
    let longest = "SELECT max(length(codes)) FROM chunks_tokens";
    assert_eq!(env.sql::<i64>(longest), 29 * 8);
    env.ok(&["list"]);
    assert_eq!(env.sql::<i64>(longest), 20 * 8);
    check_database(&env);
}

/// A field may have become one that is always there.
#[test]
fn the_promises_of_earlier_programs_still_hold() {
    for name in FULL_HOMES {
        let (env, _) = home(name);
        let lines = |path: &Path| fs::read_to_string(path).unwrap();
        let today = lines(&fixtures().join("../promises.txt"));
        let today: BTreeSet<&str> = today.lines().collect();
        let then = lines(&env.path("promises.txt"));
        assert!(then.lines().count() > 800);
        for line in then.lines().filter(|line| !line.starts_with('#')) {
            let is_kept = today.contains(line) || today.contains(&*line.replacen("?: ", ": ", 1));
            assert!(is_kept, "{name}: {line}");
        }
    }
}

#[test]
fn the_settings_of_earlier_programs_are_accepted() {
    for name in FULL_HOMES {
        let (env, _) = home(name);
        let file = env.path(".kb/config.yaml");
        fs::rename(env.path("config.example.yaml"), &file).unwrap();
        let output = env.ok(&["config", "--format", "json"]);
        assert_eq!(output.stderr, "");
        let settings: Vec<Setting> = read(&output);
        let from_file = |setting: &&Setting| setting.origin == file.display().to_string();
        assert!(settings.iter().filter(from_file).count() > 30, "{name}");
        env.ok(&["--data-dir", ".kb", "search", "tide", "--fts-only"]);
    }
}
