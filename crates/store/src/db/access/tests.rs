//! Tests how databases are opened that cannot be written; `read_only` drives the binary.

use std::fs;

use super::*;
use crate::Store;
use crate::document::Filter;
use crate::testing::TestDb;

/// Opens a database as one that cannot be written, as `connect_to_read` does.
fn frozen(path: &Path) -> Connection {
    OpenMode::Frozen(FileMark::of(path).unwrap()).open_to_read(path).unwrap()
}

const COUNT: &str = "SELECT count(*) FROM documents";

#[test]
fn a_frozen_database_is_read_without_another_file_whatever_its_name() {
    let mut db = TestDb::new();
    db.add("/a.md", &["words"], &[]);
    let original = db.path();
    db.store.close().unwrap();
    for name in ["kb.db", "a b?c#d%41&immutable=0.db", "données.db", "it's.db"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::copy(&original, &path).unwrap();
        let connection = frozen(&path);
        assert_eq!(connection.query_row(COUNT, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
        assert!(connection.execute_batch("DELETE FROM documents").is_err());
        let mapped: i64 =
            connection.pragma_query_value(None, "mmap_size", |row| row.get(0)).unwrap();
        assert_eq!(mapped, 0, "a file that another process cuts off must not be mapped");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "{name}");
    }
}

#[test]
fn a_mark_shows_every_change() {
    let mut db = TestDb::new();
    db.add("/a.md", &["words"], &[]);
    let path = db.path();
    db.store.close().unwrap();
    // The clock of a file system may tick less often than this test changes the file.
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let mark = FileMark::of(&path).unwrap();
    assert!(mark.is_current(&path));
    let change = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    // Through the log: SQLite does not count such a change in the header, but the time shows it.
    change("UPDATE documents SET title = 'b'");
    assert!(!mark.is_current(&path));
    // Without the log, the count shows even a change that keeps size and time.
    let mark = FileMark::of(&path).unwrap();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    change("PRAGMA journal_mode = DELETE; UPDATE documents SET title = 'c'");
    file.set_modified(time).unwrap();
    assert_eq!(FileVersion::of(&path).unwrap(), mark.version);
    assert!(!mark.is_current(&path));
    fs::remove_file(&path).unwrap();
    assert!(!mark.is_current(&path));
}

#[test]
fn a_database_that_can_be_written_has_no_mark() {
    let db = TestDb::new();
    assert_eq!(OpenMode::of(&db.path()).unwrap(), OpenMode::Write);
    assert_eq!(Store::mark(&db.path()), None);
    assert!(!Store::is_read_only_at(&db.path()));
    assert!(!Store::is_read_only_at(&db.path().with_file_name("missing.db")));
    assert!(!db.store.is_read_only());
    db.store.require_unchanged().unwrap();
    assert!(db.store.documents(&Filter::default()).unwrap().is_empty());
}
