//! Tests that removed and replaced text is in none of the files, and that a corrupted vector is
//! noticed.

use std::fs;

use rusqlite::{Connection, OpenFlags};

use crate::env::TestEnv;
use crate::word_model::{check_database, word_env};

/// Returns which files below the data directory contain a word, ignoring case.
fn holders(env: &TestEnv, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(env.path(".kb")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = fs::read(&path) else { continue };
        if memchr::memmem::find(&bytes.to_ascii_lowercase(), word.as_bytes()).is_some() {
            found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    found
}

#[track_caller]
fn assert_gone(env: &TestEnv, word: &str) {
    assert_eq!(holders(env, word), Vec::<String>::new(), "{word}");
    let terms = format!("SELECT count(*) FROM chunks_terms WHERE term LIKE '{word}%'");
    assert_eq!(env.sql::<i64>(&terms), 0, "{word}");
}

/// Writes a file of a few chunks about one word that no other file contains.
fn write(env: &TestEnv, name: &str, word: &str) {
    let filler = "the tide gauge in the harbour is frozen and the pump is on battery ".repeat(6);
    let section = |number: u8| format!("## Part {number}\n\n{filler} {word}{number}. {filler}\n\n");
    env.write(name, format!("# {word}\n\n{}{}{}", section(1), section(2), section(3)));
}

/// Returns a home with a folder of files, each about a different word.
fn filled() -> TestEnv {
    let env = word_env();
    for number in 0..12 {
        write(&env, &format!("notes/{number}.md"), &format!("zephyrine{number}x"));
    }
    env.ok(&["add", "notes"]);
    env
}

fn id_of(env: &TestEnv, name: &str) -> String {
    env.sql::<i64>(&format!("SELECT id FROM documents WHERE source_path LIKE '%/{name}'"))
        .to_string()
}

#[test]
fn removed_text_is_erased_from_all_files() {
    let env = filled();
    assert!(!holders(&env, "zephyrine3x").is_empty(), "the test finds what is there");
    env.ok(&["remove", "--yes", &id_of(&env, "3.md")]);
    assert_gone(&env, "zephyrine3x");
    env.ok(&["remove", "--yes", "notes/5.md"]);
    assert_gone(&env, "zephyrine5x");
    env.ok(&["backup", "copy.db"]);
    let copy = fs::read(env.path("copy.db")).unwrap();
    assert!(memchr::memmem::find(&copy, b"zephyrine4x").is_some());
    for word in ["zephyrine3x", "zephyrine5x"] {
        assert!(memchr::memmem::find(&copy, word.as_bytes()).is_none(), "{word}");
    }
    check_database(&env);
}

#[test]
fn replaced_text_is_erased_from_all_files() {
    let env = filled();
    write(&env, "notes/2.md", "quaternary");
    env.ok(&["update"]);
    assert_gone(&env, "zephyrine2x");
    fs::remove_file(env.path("notes/7.md")).unwrap();
    env.ok(&["update", "--prune"]);
    assert_gone(&env, "zephyrine7x");
    env.ok(&["add", "--note", "the brineworthy charger is under the stairs"]);
    assert!(!holders(&env, "brineworthi").is_empty());
    let id = env.sql::<i64>("SELECT max(id) FROM documents").to_string();
    env.ok(&["add", "--note", "the charger is on the shelf", "--replace", &id]);
    assert_gone(&env, "brineworth");
    write(&env, "notes/9.md", "septuagint");
    env.ok(&["add", "notes/9.md"]);
    assert_gone(&env, "zephyrine9x");
    check_database(&env);
}

#[test]
fn erasing_waits_for_another_reader_and_says_so() {
    let env = filled();
    write(&env, "note.md", "zephyrine33x");
    env.ok(&["add", "note.md"]);
    let reader =
        Connection::open_with_flags(env.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count: i64 =
        reader.query_row("SELECT count(*) FROM documents", [], |row| row.get(0)).unwrap();
    assert!(count > 0);
    let output = env.ok(&["remove", "--yes", &id_of(&env, "note.md")]);
    let note = "note: another process is reading the database; the removed text stays in";
    assert!(output.stderr.contains(note), "{}", output.stderr);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert!(!holders(&env, "zephyrine33x").is_empty());
    reader.execute_batch("COMMIT").unwrap();
    env.ok(&["search", "tide"]);
    assert_gone(&env, "zephyrine33x");
}

#[test]
fn a_flipped_bit_in_a_vector_is_noticed_and_repaired() {
    let env = filled();
    let id = id_of(&env, "4.md");
    let db = Connection::open(env.database()).unwrap();
    let place = format!(
        "SELECT chunk_id, chunk_offset FROM chunks_vec_rowids
        WHERE rowid = (SELECT min(id) FROM chunks WHERE document_id = {id})"
    );
    let (block, place): (i64, usize) =
        db.query_row(&place, [], |row| Ok((row.get(0)?, row.get::<_, u32>(1)? as usize))).unwrap();
    let vectors = "SELECT vectors FROM chunks_vec_vector_chunks00 WHERE rowid = ?";
    let mut vectors: Vec<u8> = db.query_row(vectors, [block], |row| row.get(0)).unwrap();
    // The lowest bit of a number.
    vectors[place * 32 * 4] ^= 1;
    let store = "UPDATE chunks_vec_vector_chunks00 SET vectors = ? WHERE rowid = ?";
    db.execute(store, (vectors, block)).unwrap();
    drop(db);
    let found = env.kb(&["doctor", "--format=json"]).expect(1);
    let expected = format!("1 vector has changed since being stored (document {id})");
    assert!(found.stdout.contains(&expected), "{}", found.stdout);
    fs::copy(env.database(), env.path("copy.db")).unwrap();
    let verified = env.kb(&["backup", "--verify", "copy.db"]).expect(2);
    assert!(verified.text().contains(&expected), "{}", verified.text());
    env.ok(&["doctor", "--fix"]);
    check_database(&env);
}
