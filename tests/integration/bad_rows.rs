//! Values in the database that kb never writes: they concern their row alone, `kb doctor` finds them, and `--fix` repairs them.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;
use crate::word_model::word_env;

/// Texts that are not UTF-8, and other values of the right type that kb never writes.
const BAD_TEXTS: [&str; 2] = ["CAST(x'6180ff' AS TEXT)", "'?'"];

/// Numbers that kb never writes.
const BAD_NUMBERS: [&str; 2] = ["-1", "9223372036854775807"];

/// Columns of text whose values have no form: any UTF-8 is one that kb may write, or another examination compares it.
const ANY_TEXT: &[(&str, &str)] = &[
    ("chunks", "context"),
    ("chunks", "created_at"),
    ("chunks", "text"),
    ("config", "key"),
    ("config", "value"),
    ("document_names", "tags"),
    ("document_names", "words"),
    ("document_paths", "path"),
    ("document_paths", "real_path"),
    ("documents", "content_hash"),
    ("documents", "created_at"),
    ("documents", "language"),
    ("documents", "making"),
    ("documents", "note_text"),
    ("documents", "source_path"),
    ("documents", "title"),
    ("documents", "updated_at"),
    ("ledger", "message"),
    ("ledger", "path"),
    ("ledger", "reader"),
    ("ledger", "reason"),
    ("roots", "language"),
    ("roots", "path"),
    ("roots", "real_path"),
    ("tags", "name"),
];

/// A home with a page, a note, a tag, a folder, and a file that failed.
fn filled() -> TestEnv {
    let env = word_env();
    env.write(
        "docs/page.md",
        "---\ntags: [harbour]\naliases: [wharf]\n---\n# Page\n\nanchor zephyrine",
    );
    env.write("docs/bad.pdf", "no PDF");
    env.kb(&["add", "docs"]);
    env.ok(&["add", "--note", "sail zephyrine"]);
    env
}

fn damage(env: &TestEnv, statement: &str) -> usize {
    let connection = Connection::open(env.database()).unwrap();
    connection
        .execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
        .unwrap();
    // A value that SQLite itself refuses cannot be there.
    connection.execute(statement, []).unwrap_or(0)
}

fn titles(env: &TestEnv) -> Vec<Value> {
    let listed = env.json(&["list", "--format=json"]);
    listed.as_array().unwrap().iter().map(|document| document["title"].clone()).collect()
}

/// Tools that read, each of which must work. They are those of the commands with their names.
fn reading() -> [(&'static str, Value); 6] {
    [
        ("kb_list", json!({})),
        ("kb_search", json!({ "query": "zephyrine", "fts_only": true })),
        ("kb_search", json!({ "query": "zephyrine anchor" })),
        ("kb_grep", json!({ "pattern": "zephyrine" })),
        ("kb_status", json!({})),
        ("kb_tags", json!({})),
    ]
}

/// Commands that are not tools, and must also work.
const OTHERS: [&[&str]; 2] = [&["files"], &["update"]];

#[test]
fn each_bad_value_concerns_its_row_alone_and_is_repaired() {
    let env = filled();
    let columns: Vec<(String, String, String)> = {
        let connection = Connection::open(env.database()).unwrap();
        let query = "
            SELECT tables.name, columns.name, columns.type
            FROM pragma_table_list AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.strict AND NOT tables.wr AND columns.type IN ('TEXT', 'INTEGER')
                AND columns.name <> 'id'";
        let mut statement = connection.prepare(query).unwrap();
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert!(columns.len() > 25, "{columns:?}");
    let num_documents = titles(&env).len();
    let good = std::fs::read(env.database()).unwrap();
    let mut num_tried = 0;
    for (table, column, kind) in &columns {
        let bad_values = match kind.as_str() {
            "INTEGER" => &BAD_NUMBERS[..],
            _ if ANY_TEXT.contains(&(table, column)) => &BAD_TEXTS[..1],
            _ => &BAD_TEXTS[..],
        };
        for bad in bad_values {
            std::fs::write(env.database(), &good).unwrap();
            for end in ["-wal", "-shm"] {
                let mut name = env.database().into_os_string();
                name.push(end);
                let _ = std::fs::remove_file(name);
            }
            let first = format!("(SELECT max(rowid) FROM {table} WHERE {column} IS NOT NULL)");
            let changed =
                damage(&env, &format!("UPDATE {table} SET {column} = {bad} WHERE rowid = {first}"));
            if changed == 0 {
                continue;
            }
            num_tried += 1;
            let what = format!("{table}.{column} = {bad}");
            // The name and the version of the schema, which every command checks first.
            if table != "config" {
                // SQLite refuses a chunk whose size does not fit; if it is there, the block of sizes is damaged, too.
                let is_named = |text: &str| kind == "INTEGER" && text.contains("kb doctor --fix");
                let mut server = Client::start(&env, "", &[]);
                for (tool, arguments) in reading() {
                    let answer = server.call(tool, arguments);
                    let is_good = answer["ok"] == true || is_named(&answer.to_string());
                    assert!(is_good, "{what}: {tool}: {answer}");
                }
                let listed = server.data("kb_list", json!({}));
                assert_eq!(listed.as_array().unwrap().len(), num_documents, "{what}");
                server.close();
                for command in OTHERS {
                    let output = env.kb(command);
                    let is_good = output.status == 0 || is_named(&output.stderr);
                    assert!(is_good, "{what}: {command:?}: {}", output.stderr);
                }
            }
            env.kb(&["doctor", "--fix"]);
            let doctor = env.kb(&["doctor"]);
            assert!(doctor.stdout.contains("sound: "), "{what}: {}", doctor.stdout);
        }
    }
    assert!(num_tried > 50, "{num_tried}");
}

#[test]
fn a_document_with_damaged_details_says_so_and_is_read_again() {
    let env = filled();
    let listed = env.json(&["list", "--format=json"]);
    let mut documents = listed.as_array().unwrap().iter();
    let id = &documents.find(|document| document["title"] == "Page").unwrap()["id"].to_string();
    let details = || env.json(&["info", id, "--format=json"]);
    let before = details();
    let bad = r#"{"page_count":-1,"quality":{}}"#;
    damage(&env, &format!("UPDATE documents SET metadata = '{bad}' WHERE id = {id}"));
    let info = details();
    let warning = &info["metadata"]["warnings"][0];
    assert!(warning.as_str().unwrap().contains("kb doctor --fix"), "{info}");
    let doctor = env.kb(&["doctor"]).expect(1);
    assert!(doctor.stdout.contains("values: 1 value in documents.metadata"), "{}", doctor.stdout);
    env.ok(&["doctor", "--fix"]);
    env.ok(&["update"]);
    assert_eq!(details()["metadata"], before["metadata"]);
}

#[test]
fn a_binding_that_cannot_be_read_is_repaired_with_its_vectors() {
    for (key, value) in [
        ("model_max_tokens", "99999999999"),
        ("model_precision", "float64"),
        ("embedding_dim", "x"),
    ] {
        let env = filled();
        let before = env.json(&["search", "zephyrine anchor"]);
        damage(&env, &format!("UPDATE config SET value = '{value}' WHERE key = '{key}'"));
        let error = env.kb(&["search", "zephyrine anchor"]).expect(2);
        assert!(error.stderr.contains("kb doctor --fix"), "{}", error.stderr);
        assert_eq!(error.json_error()["code"], json!("corrupt"));
        let doctor = env.kb(&["doctor"]).expect(1);
        assert!(doctor.stdout.contains(&format!("binding: config.{key}")), "{}", doctor.stdout);
        env.ok(&["doctor", "--fix"]);
        assert_eq!(env.json(&["search", "zephyrine anchor"]), before, "{key}");
    }
}
