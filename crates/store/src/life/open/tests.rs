//! Tests which files are opened, which are refused, and which stay unchanged.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::db::fault::Step;
use crate::db::sql;
use crate::document::Filter;
use crate::ids::DocumentId;
use crate::testing::{TestDb, binding, chunk, document, embedding, vector};

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kb.db");
    (directory, path)
}

fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Checks that the file is refused and no byte of it changes.
#[track_caller]
fn check_refused(path: &Path, is_expected: impl Fn(&Error) -> bool) {
    let before = fs::read(path).unwrap();
    let error = Store::open(path).unwrap_err();
    assert!(is_expected(&error), "{error}");
    let error = Store::open_existing(path).unwrap_err();
    assert!(is_expected(&error), "{error}");
    assert_eq!(fs::read(path).unwrap(), before);
}

#[test]
fn large_files_are_mapped_as_well() {
    let (_directory, path) = scratch();
    let store = Store::open(&path).unwrap();
    let mapped: i64 =
        store.connection.pragma_query_value(None, "mmap_size", |row| row.get(0)).unwrap();
    assert_eq!(mapped, 16 << 30, "SQLite is built with another limit than in .cargo/config.toml");
}

#[test]
fn reading_creates_no_file() {
    let (directory, path) = scratch();
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert!(files(directory.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn file_and_directory_are_private_to_the_owner() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, _) = scratch();
    let path = directory.path().join("new").join("kb.db");
    let store = Store::open(&path).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&path.with_file_name("kb.db-wal")), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    drop(store);
}

#[test]
fn an_empty_file_counts_as_none_and_becomes_a_database_where_one_is_made() {
    let (_directory, path) = scratch();
    fs::write(&path, "").unwrap();
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.stats().unwrap().total_chunks, 0);
}

#[test]
fn garbage_is_corrupt() {
    let (_directory, path) = scratch();
    for bytes in [vec![b'x'; 20], vec![b'x'; 5000], b"SQLite format 3\0 and no more".to_vec()] {
        fs::write(&path, bytes).unwrap();
        check_refused(&path, |error| matches!(error, Error::Corrupt { .. }));
    }
}

#[test]
fn a_truncated_database_is_corrupt() {
    let mut db = TestDb::new();
    db.add("/a.md", &["words"], &[]);
    let path = db.path();
    db.store.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    for length in [50, 100, 4096, bytes.len() / 2] {
        fs::write(&path, &bytes[..length]).unwrap();
        check_refused(&path, |error| matches!(error, Error::Corrupt { .. }));
    }
}

#[test]
fn a_page_of_garbage_is_corruption_whenever_it_is_read() {
    let mut db = TestDb::new();
    for number in 0..200 {
        db.add(&format!("/{number}.md"), &[&format!("some words {number}")], &[]);
    }
    let path = db.path();
    db.store.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[8192..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let outcome = Store::open(&path).and_then(|store| store.documents(&Filter::default()));
    assert!(matches!(outcome, Err(Error::Corrupt { .. })), "{outcome:?}");
}

#[test]
fn a_database_of_another_program_is_foreign() {
    for (setup, is_ours) in [
        ("CREATE TABLE theirs (id INTEGER)", false),
        ("PRAGMA application_id = 7", false),
        ("PRAGMA journal_mode = WAL; CREATE TABLE theirs (id INTEGER)", false),
        ("PRAGMA journal_mode = WAL", true),
    ] {
        let (_directory, path) = scratch();
        Connection::open(&path).unwrap().execute_batch(setup).unwrap();
        if is_ours {
            // The file left by a kb that is killed just after creating it.
            Store::open(&path).unwrap();
        } else {
            check_refused(&path, |error| matches!(error, Error::Foreign { .. }));
        }
    }
}

#[test]
fn the_log_of_a_foreign_database_is_not_checkpointed() {
    let (directory, path) = scratch();
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE theirs (id INTEGER)").unwrap();
    let (copies, copy) = scratch();
    for name in ["kb.db", "kb.db-wal"] {
        fs::copy(directory.path().join(name), copies.path().join(name)).unwrap();
    }
    let log = fs::read(copy.with_file_name("kb.db-wal")).unwrap();
    check_refused(&copy, |error| matches!(error, Error::Foreign { .. }));
    assert_eq!(fs::read(copy.with_file_name("kb.db-wal")).unwrap(), log);
}

#[test]
fn a_directory_at_the_path_is_an_error() {
    let (_directory, path) = scratch();
    fs::create_dir(&path).unwrap();
    assert!(matches!(Store::open(&path), Err(Error::Io { .. })));
}

#[test]
fn a_clean_close_leaves_one_file_that_can_be_copied() {
    let mut db = TestDb::new();
    db.add("/a.md", &["install git", "bake bread"], &["one"]);
    let reader = db.store.reader().unwrap();
    let query = vector("bake bread");
    let expected = reader.rank_by_cosine(&query, None, 10).unwrap();
    reader.close().unwrap();
    let path = db.path();
    db.store.close().unwrap();
    assert_eq!(files(path.parent().unwrap()), ["kb.db"]);
    let (_directory, copy) = scratch();
    fs::copy(&path, &copy).unwrap();
    let copied = Store::open_existing(&copy).unwrap().unwrap();
    assert_eq!(copied.rank_by_cosine(&query, None, 10).unwrap(), expected);
    assert_eq!(copied.occurrences("git").unwrap().len(), 1);
}

#[test]
fn a_killed_process_loses_no_stored_document() {
    let mut db = TestDb::new();
    db.add("/a.md", &["words"], &[]);
    // The files left by a kill, with a log that is not checkpointed.
    let (copies, copy) = scratch();
    for name in files(db.path().parent().unwrap()) {
        fs::copy(db.path().with_file_name(&name), copies.path().join(&name)).unwrap();
    }
    assert!(files(copies.path()).contains(&"kb.db-wal".to_owned()));
    let store = Store::open(&copy).unwrap();
    assert_eq!(store.documents(&Filter::default()).unwrap().len(), 1);
    assert!(store.check().unwrap().is_empty());
}

#[test]
fn opening_an_intact_database_writes_nothing() {
    let mut db = TestDb::new();
    db.add("/a.md", &["words"], &[]);
    let path = db.path();
    db.store.close().unwrap();
    let before = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    let store = Store::open(&path).unwrap();
    store.reader().unwrap().documents(&Filter::default()).unwrap();
    store.close().unwrap();
    let after = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    assert!(before == after);
}

#[test]
fn foreign_keys_are_enforced_on_every_connection() {
    let db = TestDb::new();
    for store in [&db.store, &db.store.reader().unwrap(), &Store::open(&db.path()).unwrap()] {
        let is_on: bool =
            store.connection.pragma_query_value(None, "foreign_keys", |row| row.get(0)).unwrap();
        assert!(is_on);
    }
}

#[test]
fn a_reader_sees_the_old_document_until_the_new_one_is_complete() {
    let mut db = TestDb::new();
    db.add("/a.md", &["old"], &[]);
    let reader = db.store.reader().unwrap();
    let words = |word| reader.occurrences(word).unwrap().len();
    db.store
        .write(|db| {
            db.execute("UPDATE chunks SET text = 'new'", [])?;
            assert_eq!((words("old"), words("new")), (1, 0));
            Ok(())
        })
        .unwrap();
    assert_eq!((words("old"), words("new")), (0, 1));
}

#[test]
fn a_reader_cannot_write() {
    let db = TestDb::new();
    let mut reader = db.store.reader().unwrap();
    assert!(reader.remove(DocumentId(1)).is_err());
}

#[test]
fn a_writer_that_waits_too_long_reports_a_lock() {
    let mut db = TestDb::new();
    let other = Connection::open(db.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    db.store.connection.busy_timeout(Duration::from_millis(20)).unwrap();
    let outcome = db.store.remove(DocumentId(1));
    assert!(matches!(outcome, Err(Error::Locked { .. })), "{outcome:?}");
    assert!(db.store.documents(&Filter::default()).unwrap().is_empty());
    other.execute_batch("ROLLBACK").unwrap();
    db.store.remove(DocumentId(1)).unwrap();
}

#[test]
fn concurrent_opening_of_a_new_database_works() {
    for _ in 0..10 {
        let (_directory, path) = scratch();
        thread::scope(|scope| {
            for number in 0..6 {
                let path = &path;
                scope.spawn(move || {
                    let mut store = Store::open(path).unwrap();
                    store.bind(&binding("small")).unwrap();
                    let text = format!("words {number}");
                    let new = document(&format!("/{number}.md"), &[&text], &["all"]);
                    let embeddings = [embedding(&text)];
                    store.replace(&new, &[chunk(&text)], &embeddings, &|_| true).unwrap();
                });
            }
        });
        let store = Store::open(&path).unwrap();
        assert_eq!(store.documents(&Filter::default()).unwrap().len(), 6);
        assert!(store.check().unwrap().is_empty());
    }
}

#[test]
fn every_connection_has_the_same_settings() {
    let db = TestDb::new();
    for store in [&db.store, &db.store.reader().unwrap()] {
        for (pragma, expected) in [
            ("foreign_keys", 1),
            ("synchronous", 1),
            ("cache_size", -16384),
            ("temp_store", 2),
            ("secure_delete", 1),
            ("busy_timeout", 5000),
        ] {
            let found: i64 =
                store.connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap();
            assert_eq!(found, expected, "{pragma}");
        }
        for (config, expected) in [
            (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
            (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false),
        ] {
            assert_eq!(store.connection.db_config(config).unwrap(), expected);
        }
    }
}

#[test]
fn patience_is_shortened_and_never_extended() {
    let db = TestDb::new();
    for (patience, expected) in [
        (Duration::ZERO, 0),
        (Duration::from_millis(4999), 4999),
        (Duration::from_millis(5001), 5000),
        (Duration::from_secs(3600), 5000),
    ] {
        db.store.wait_at_most(patience).unwrap();
        let found: i64 =
            db.store.connection.pragma_query_value(None, "busy_timeout", |row| row.get(0)).unwrap();
        assert_eq!(found, expected);
    }
}

#[test]
fn only_one_that_creates_makes_a_database_and_its_folders() {
    let (directory, _) = scratch();
    let path = directory.path().join("a/b/kb.db");
    let guard = |_: &OldDatabase<'_>| None;
    assert!(Store::open_guarded(&path, false, &guard).unwrap().is_none());
    assert!(!path.parent().unwrap().exists());
    assert!(Store::open_guarded(&path, true, &guard).unwrap().is_some());
    assert!(Store::open_guarded(&path, false, &guard).unwrap().is_some());
}

/// A statement without an end.
const ENDLESS: &str = "
    WITH RECURSIVE numbers (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers)
    SELECT max(id) FROM numbers";

/// Ctrl-C, or a client that no longer waits.
#[test]
fn a_cancelled_request_ends_a_statement_without_an_end() {
    let db = TestDb::new();
    let path = db.path();
    let flag = Arc::new(AtomicBool::new(false));
    let mut store = cancel::under(Arc::clone(&flag), || Store::open(&path)).unwrap();
    let run = |db: &Connection| -> Step<i64> { sql::value(db, ENDLESS, []) };
    flag.store(true, Ordering::Relaxed);
    assert!(matches!(store.read(run), Err(Error::Cancelled)));
    assert!(matches!(store.reader().unwrap().read(run), Err(Error::Cancelled)));
    assert!(matches!(store.write(run), Err(Error::Cancelled)));
    // The connection is kept for a request that has not been cancelled.
    let idle = store.take_reader().unwrap();
    store.return_reader(idle);
    let next = Arc::new(AtomicBool::new(false));
    cancel::under(Arc::clone(&next), || store.renew_cancellation()).unwrap();
    assert!(store.tags().unwrap().is_empty());
    next.store(true, Ordering::Relaxed);
    assert!(matches!(store.take_reader().unwrap().read(run), Err(Error::Cancelled)));
}

/// A search of a large database takes readers from a reader.
#[test]
fn a_reader_of_an_idle_reader_belongs_to_the_request_that_takes_it() {
    let db = TestDb::new();
    let path = db.path();
    let first = Arc::new(AtomicBool::new(false));
    let mut store = cancel::under(Arc::clone(&first), || Store::open(&path)).unwrap();
    let reader = store.take_reader().unwrap();
    reader.return_reader(reader.take_reader().unwrap());
    store.return_reader(reader);
    let second = Arc::new(AtomicBool::new(true));
    cancel::under(second, || store.renew_cancellation()).unwrap();
    let innermost = store.take_reader().unwrap().take_reader().unwrap();
    // Ends by itself, if only after several times the second that a cancelled statement has.
    let long = ENDLESS.replace("FROM numbers)", "FROM numbers LIMIT 20000000)");
    let run = |db: &Connection| -> Step<i64> { sql::value(db, &long, []) };
    assert!(matches!(innermost.read(run), Err(Error::Cancelled)));
}

mod schemas;
