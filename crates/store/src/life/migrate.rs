//! Applies `migrations/*.sql`, so that every database has the newest schema.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};

use crate::db::fault::{DatabaseFault, Step};
use crate::db::schema::{APPLICATION_ID, ERASE, LETTERS, PACK, refuse_newer, version};
use crate::db::{config, sql};
use crate::ids::ChunkId;
use crate::keyword::{derived, names};
use crate::vectors::{fill_sums, tokens};

/// Pause before trying again while another process creates the file.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// Where the database states the version of its schema for people.
const STATED_VERSION: &str = "schema_version";

/// The last chunk whose terms are made after the migration to schema 16; missing when all are.
const UNMADE: &str = "letters_made_to";

/// Chunks whose terms are made in one transaction: about two seconds of work, which is the most that a killed process
/// loses.
pub(crate) const CHUNKS_PER_STEP: u32 = 20_000;

const HAS_DOCUMENT: &str = "SELECT EXISTS (SELECT 1 FROM documents)";

/// Puts the file into WAL mode, which is stored in the file; writes nothing if it is in WAL mode
/// already.
///
/// SQLite does not wait here for another process that is about to do the same, hence the loop.
pub(crate) fn enter_wal(connection: &Connection, patience: Duration) -> Step<()> {
    let start = Instant::now();
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
            Err(error) if DatabaseFault::is_busy(&error) && start.elapsed() < patience => {
                thread::sleep(RETRY_PAUSE);
            }
            other => return Ok(other?),
        }
    }
}

/// Applies the pending `migrations`, each in a separate transaction. Those of a new database are one, so
/// that a full disk leaves none which a later command must migrate.
///
/// `found` is the result of [`version`]. The version is read again under the write lock, because
/// another process may be opening the same file.
pub(crate) fn apply(
    connection: &mut Connection,
    found: i64,
    migrations: &[(i64, &str)],
) -> Step<()> {
    refuse_newer(found, migrations)?;
    if migrations.last().is_none_or(|(version, _)| *version == found) {
        return Ok(());
    }
    let num_together = if found == 0 { migrations.len() } else { 1 };
    for together in migrations.chunks(num_together) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (version_after, sql) in together {
            migrate(&transaction, *version_after, sql)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Applies a migration, unless the database has it.
fn migrate(transaction: &Connection, version_after: i64, sql: &str) -> Step<()> {
    if version(transaction)? >= version_after {
        return Ok(());
    }
    refuse_other_version(transaction)?;
    transaction.execute_batch(sql)?;
    if version_after == LETTERS && sql::value(transaction, HAS_DOCUMENT, [])? {
        derived::forget(transaction)?;
        config::set(transaction, UNMADE, "0")?;
    }
    if version_after == ERASE {
        fill_sums::fill(transaction)?;
    }
    if version_after == PACK {
        tokens::pack(transaction)?;
    }
    config::set(transaction, STATED_VERSION, version_after.to_string())?;
    transaction.pragma_update(None, "user_version", version_after)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(())
}

/// Makes the terms of schema 16 from the stored texts, if they are not all made: in steps, so that a killed process has lost only
/// the last one. Must run before anything else is written.
pub(crate) fn make_letters(connection: &mut Connection, chunks_per_step: u32) -> Step<()> {
    while made_to(connection)?.is_some() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made the terms since the last step.
        if let Some(last) = made_to(&transaction)? {
            match derived::make_after(&transaction, last, chunks_per_step)? {
                Some(ChunkId(last)) => config::set(&transaction, UNMADE, last.to_string())?,
                None => {
                    names::settle(&transaction)?;
                    config::remove(&transaction, UNMADE)?;
                }
            }
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Returns the last chunk whose terms are made; `None` if all are.
fn made_to(connection: &Connection) -> Step<Option<ChunkId>> {
    let last: Option<String> = config::value(connection, UNMADE)?;
    Ok(last.map(|last| ChunkId(last.parse().unwrap_or_default())))
}

/// Refuses to migrate a database whose two versions contradict each other: a migration would find
/// the objects it is to create.
fn refuse_other_version(connection: &Connection) -> Step<()> {
    let found = version(connection)?;
    if found == 0 {
        return Ok(());
    }
    match config::value::<String>(connection, STATED_VERSION)? {
        Some(stated) if stated == found.to_string() => Ok(()),
        stated => Err(DatabaseFault::Corrupt(format!(
            "its header has schema version {found}, its settings have {}",
            stated.as_deref().unwrap_or("none")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use crate::db::schema::{MIGRATIONS, NEWEST};
    use crate::error::Error;
    use crate::testing::{TestDb, WITHOUT_LETTERS};

    fn text(db: &TestDb, sql: &str) -> String {
        db.store.connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Returns whether the database accepts the statement.
    fn accepts(db: &TestDb, sql: &str) -> bool {
        db.store.connection.execute_batch(sql).is_ok()
    }

    #[test]
    fn the_version_is_in_three_places() {
        let db = TestDb::new();
        assert_eq!(
            text(&db, "SELECT value FROM config WHERE key = 'schema_version'"),
            NEWEST.to_string()
        );
        assert_eq!(version(&db.store.connection).unwrap(), NEWEST);
        assert_eq!(db.store.stats().unwrap().schema_version, NEWEST);
    }

    #[test]
    fn pending_migrations_run_in_order_and_keep_the_data() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["words"], &["one"]);
        let more: Vec<(i64, &str)> = MIGRATIONS
            .iter()
            .copied()
            .chain([
                (NEWEST + 1, "CREATE TABLE second (id INTEGER PRIMARY KEY) STRICT;"),
                (NEWEST + 2, "INSERT INTO second VALUES (3);"),
            ])
            .collect();
        apply(&mut db.store.connection, NEWEST, &more).unwrap();
        assert_eq!(version(&db.store.connection).unwrap(), NEWEST + 2);
        let stated = text(&db, "SELECT value FROM config WHERE key = 'schema_version'");
        assert_eq!(stated, (NEWEST + 2).to_string());
        assert_eq!(db.texts(id), ["words"]);
        // Another process that read the old version a moment ago repeats nothing.
        apply(&mut db.store.connection, NEWEST, &more).unwrap();
        assert_eq!(text(&db, "SELECT group_concat(id) FROM second"), "3");
    }

    #[test]
    fn a_database_of_the_first_schema_gets_all_later_changes() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["words"], &["one"]);
        let path = db.path();
        // Back to the first schema.
        let back = "
            DROP TRIGGER documents_names_ai;
            DROP TRIGGER documents_names_au;
            DROP TABLE document_names_fts;
            DROP TABLE document_names;
            DROP TABLE chunks_exact_terms;
            DROP TABLE chunks_exact;
            DROP TABLE roots;
            DROP TABLE ledger;
            DROP TABLE skills;
            DROP VIEW document_dates;
            ALTER TABLE document_paths DROP COLUMN real_path;
            ALTER TABLE document_paths DROP COLUMN on_mount;
            DROP TRIGGER chunks_sizes_ai;
            DROP TRIGGER chunks_sizes_au;
            DROP TRIGGER chunks_sizes_ad;
            DROP TABLE chunks_sizes_blocks;
            DROP TABLE chunks_vec_codes;
            DROP TABLE chunks_vec_sums;
            DROP TABLE chunks_grams_terms;
            DROP TABLE chunks_grams;
            DROP TRIGGER documents_edits_ai;
            DROP TRIGGER documents_title_au;
            DROP TRIGGER documents_date_au;
            DROP TRIGGER documents_text_au;
            DROP INDEX documents_edits;
            ALTER TABLE documents DROP COLUMN edits;
            ALTER TABLE documents DROP COLUMN making;
            ALTER TABLE documents DROP COLUMN note_text;
            ALTER TABLE chunks_vec_next DROP COLUMN token_count;
            ALTER TABLE chunks_vec_next DROP COLUMN codes;
            DROP TABLE chunks_tokens;
            DROP TABLE chunks_next;
            CREATE INDEX chunks_sizes ON chunks (id, document_id, token_count);
            UPDATE config SET value = '1' WHERE key = 'schema_version'";
        db.store.connection.execute_batch(WITHOUT_LETTERS).unwrap();
        db.store.connection.execute_batch(back).unwrap();
        db.store.connection.pragma_update(None, "user_version", 1).unwrap();
        db.store.close().unwrap();
        db.store = Store::open(&path).unwrap();
        assert!(db.store.skills().unwrap().is_empty());
        assert_eq!(db.texts(id), ["words"]);
        assert_eq!(version(&db.store.connection).unwrap(), NEWEST);
        db.assert_intact();
    }

    #[test]
    fn words_of_an_older_database_are_found_in_all_forms() {
        let mut db = TestDb::new();
        db.add("/a.md", &["Größe und Straße, 1,234,567"], &["gardening"]);
        let path = db.path();
        // An older kb had other terms in its own two indexes, none for this text.
        let emptied = "
            INSERT INTO chunks_grams (chunks_grams) VALUES ('delete-all');
            INSERT INTO chunks_exact (chunks_exact) VALUES ('delete-all');";
        db.store.connection.execute_batch(emptied).unwrap();
        db.store.connection.execute_batch(WITHOUT_LETTERS).unwrap();
        db.store.close().unwrap();
        db.store = Store::open(&path).unwrap();
        for word in ["groesse", "strasse", "1234567"] {
            assert_eq!(db.store.occurrences(word).unwrap().len(), 1, "{word}");
        }
        assert_eq!(db.store.named_chunks("gardening").unwrap().by_tag.len(), 1);
        assert_eq!(db.store.near_words("größse", 1).unwrap().len(), 1);
        db.assert_intact();
    }

    #[test]
    fn terms_that_a_killed_process_left_unmade_are_made_by_the_next() {
        let mut db = TestDb::new();
        db.add("/a.md", &["Straße", "Wrocław", "cœur"], &["gardening"]);
        db.store.connection.execute_batch(WITHOUT_LETTERS).unwrap();
        apply(&mut db.store.connection, NEWEST - 1, MIGRATIONS).unwrap();
        let transaction = db.store.connection.transaction().unwrap();
        assert_eq!(derived::make_after(&transaction, ChunkId(0), 2).unwrap(), Some(ChunkId(2)));
        config::set(&transaction, UNMADE, "2").unwrap();
        transaction.commit().unwrap();
        assert!(db.store.occurrences("coeur").unwrap().is_empty());
        let path = db.path();
        db.store.close().unwrap();
        db.store = Store::open(&path).unwrap();
        for word in ["strasse", "wroclaw", "coeur"] {
            assert_eq!(db.store.occurrences(word).unwrap().len(), 1, "{word}");
        }
        assert_eq!(db.store.named_chunks("gardening").unwrap().by_tag.len(), 3);
        assert_eq!(made_to(&db.store.connection).unwrap(), None);
        db.assert_intact();
    }

    #[test]
    fn a_failed_migration_leaves_the_previous_version() {
        let mut db = TestDb::new();
        let broken = [(NEWEST + 1, "CREATE TABLE half (id INTEGER) STRICT; nonsense;")];
        assert!(apply(&mut db.store.connection, NEWEST, &broken).is_err());
        assert_eq!(version(&db.store.connection).unwrap(), NEWEST);
        assert!(!accepts(&db, "SELECT * FROM half"));
        db.assert_intact();
    }

    /// Found from outside, like the next one: "table roots already exists", without a next step.
    #[test]
    fn both_versions_set_back_are_reported_as_corruption() {
        for wrong in 0..NEWEST - 1 {
            let db = TestDb::new();
            let path = db.path();
            let set = "UPDATE config SET value = ?1 WHERE key = 'schema_version'";
            db.store.connection.execute(set, [wrong.to_string()]).unwrap();
            db.store.connection.pragma_update(None, "user_version", wrong).unwrap();
            db.store.close().unwrap();
            // A migration that finds nothing to do may have raised the version.
            let error = Store::open(&path).unwrap_err();
            assert_eq!(error.code(), "corrupt", "{wrong}: {error}");
            assert!(error.to_string().contains("it does not have schema version"), "{error}");
            assert!(!error.to_string().contains('\n') && error.hint().is_some(), "{error}");
        }
    }

    #[test]
    fn a_version_that_was_set_back_is_reported_as_corruption() {
        let db = TestDb::new();
        let path = db.path();
        db.store.connection.pragma_update(None, "user_version", 3).unwrap();
        db.store.close().unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert_eq!(error.code(), "corrupt");
        let said = "it does not have schema version 3, which it states";
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.hint().is_some());
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_newer_database_is_refused_and_unchanged() {
        let db = TestDb::new();
        db.store.connection.pragma_update(None, "user_version", NEWEST + 8).unwrap();
        let path = db.path();
        db.store.close().unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = Store::open(&path).unwrap_err();
        let Error::SchemaTooNew { found, supported, .. } = error else { panic!("{error}") };
        assert_eq!((found, supported), (NEWEST + 8, NEWEST));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn documents_have_the_documented_columns_and_types() {
        let db = TestDb::new();
        let insert = |columns: &str, values: &str| {
            accepts(&db, &format!("INSERT INTO documents ({columns}) VALUES ({values})"))
        };
        for doc_type in ["pdf", "markdown", "code", "note"] {
            assert!(insert("title, content_hash, doc_type", &format!("'t', 'h', '{doc_type}'")));
        }
        assert!(!insert("title, content_hash, doc_type", "'t', 'h', 'html'"));
        assert!(!insert("content_hash, doc_type", "'h', 'note'"));
        assert!(!insert("title, doc_type", "'t', 'note'"));
        assert!(!insert("title, content_hash", "'t', 'h'"));
        assert!(accepts(&db, "SELECT id, source_path, language FROM documents"));
        assert_eq!(text(&db, "SELECT metadata FROM documents"), "{}");
        let created_at = text(&db, "SELECT created_at FROM documents");
        assert!(created_at.starts_with("20") && created_at.ends_with('Z'), "{created_at}");
    }

    #[test]
    fn constraints_of_chunks_tags_and_config_hold() {
        let mut db = TestDb::new();
        db.add("/a.md", &["words"], &["one"]);
        let chunk = "INSERT INTO chunks (document_id, chunk_index, text, passage_hash)";
        assert!(!accepts(&db, &format!("{chunk} VALUES (99, 0, 't', x'00')")), "foreign key");
        assert!(!accepts(&db, &format!("{chunk} VALUES (1, 0, 't', x'00')")), "unique index");
        assert!(accepts(&db, &format!("{chunk} VALUES (1, 1, 't', x'00')")));
        assert_eq!(text(&db, "SELECT metadata FROM chunks WHERE chunk_index = 1"), "{}");
        assert!(accepts(&db, "SELECT token_count, created_at FROM chunks"));
        assert!(!accepts(&db, "INSERT INTO tags (name) VALUES ('one')"), "unique");
        assert!(!accepts(&db, "INSERT INTO document_tags VALUES (1, 1)"), "primary key");
        assert!(!accepts(&db, "INSERT INTO config (key) VALUES ('k')"), "not null");
        let fts = text(&db, "SELECT sql FROM sqlite_schema WHERE name = 'chunks_fts'");
        for part in ["content = 'chunks'", "content_rowid = 'id'", "tokenize = 'porter unicode61'"]
        {
            assert!(fts.contains(part), "{part}");
        }
        assert!(accepts(&db, "DELETE FROM tags"));
        assert_eq!(text(&db, "SELECT count(*) || '' FROM document_tags"), "0");
    }
}
