//! Tests that databases whose tables were made by another version of SQLite or sqlite-vec give the
//! same results.

use rusqlite::Connection;

use crate::env::TestEnv;

/// Changes the definition of a table into one kb does not know, without changing its meaning.
fn disguise(env: &TestEnv, table: &str) {
    let db = Connection::open(env.database()).unwrap();
    db.execute_batch("PRAGMA writable_schema = ON").unwrap();
    let change = "UPDATE sqlite_schema SET sql = sql || ' -- of another version' WHERE name = ?";
    assert_eq!(db.execute(change, [table]).unwrap(), 1);
}

#[test]
fn an_unknown_layout_does_not_change_answers() {
    let env = TestEnv::with_corpus();
    let searches: [&[&str]; 6] = [
        &["search", "what to do when the gauge is frozen", "--explain"],
        &["search", "calibrate the tide gauge", "--top", "30"],
        &["search", "\"tide gauge\" salt"],
        &["search", "install*", "--format", "human"],
        &["search", "storm warning", "--type", "markdown"],
        &["search", "storm -harbour", "--tags", "absent"],
    ];
    let answers = || searches.map(|search| env.ok(search).stdout);
    let before = answers();
    disguise(&env, "chunks_fts_idx");
    assert_eq!(answers(), before);
    disguise(&env, "chunks_vec_chunks");
    assert_eq!(answers(), before);
    let num_chunks: i64 = env.sql("SELECT count(*) FROM chunks");
    assert_eq!(env.json(&["status", "--format=json"])["total_chunks"], num_chunks);
    // Writing also continues to work.
    env.ok(&["add", "--note", "the zephyrine anchor lies in the cellar"]);
    let found = env.json(&["search", "zephyrine anchor"]);
    assert!(found["results"][0]["text"].as_str().unwrap().contains("zephyrine"));
    let id = env.sql::<i64>("SELECT max(id) FROM documents").to_string();
    env.ok(&["remove", "--yes", &id]);
    assert_eq!(answers(), before);
    assert!(env.kb(&["doctor"]).stdout.contains("database  sound: "));
}
