//! Tests that copies equal their originals, also when made concurrently or next to files left by
//! killed processes.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rusqlite::Connection;

use super::*;
use crate::ids::DocumentId;
use crate::testing::{TestDb, vector};

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the content of a database's own tables, row by row with the numbers of the rows.
fn rows(db: &Connection) -> BTreeMap<String, Vec<String>> {
    let mut tables = db
        .prepare(
            "SELECT name FROM sqlite_schema
            WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND sql NOT LIKE '%WITHOUT ROWID%'",
        )
        .unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let dump = |table: String| {
        let columns: Vec<String> = {
            let mut columns = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
            let found = columns.query_map([&table], |row| row.get(0)).unwrap();
            found.collect::<Result<_, _>>().unwrap()
        };
        let values: Vec<String> = columns.iter().map(|name| format!("quote(\"{name}\")")).collect();
        let sql = format!(
            "SELECT _rowid_ || '|' || {} FROM \"{table}\" ORDER BY _rowid_",
            values.join("||','||")
        );
        let mut statement = db.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        let rows = rows.collect::<Result<_, _>>().unwrap();
        (table, rows)
    };
    tables.map(|table| dump(table.unwrap())).collect()
}

#[test]
fn a_copy_gives_the_same_answers_as_the_original() {
    let mut db = TestDb::new();
    db.add("/a.md", &["one", "two"], &["tag"]);
    db.add("/b.md", &["three"], &[]);
    db.store.remove(DocumentId(1)).unwrap();
    db.add("/c.md", &["four"], &[]);
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("copy.db");
    fs::write(&target, "").unwrap();
    let stats = db.store.back_up(&target, ExistingTarget::Replace).unwrap();
    assert_eq!((stats.total_chunks, stats.total_vectors), (2, 2));
    assert_eq!(names(dir.path()), ["copy.db"]);
    let verified = Store::verify(&target, dir.path()).unwrap();
    assert_eq!((verified.stats, verified.log), (stats, None));
    assert_eq!(names(dir.path()), ["copy.db"]);
    let copy = Store::open_existing(&target).unwrap().unwrap();
    let nearest = |store: &Store| store.rank_by_cosine(&vector("four"), None, 9).unwrap();
    assert_eq!(nearest(&copy), nearest(&db.store));
    let error = db.store.back_up(&target, ExistingTarget::Keep).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

/// `vec0` finds blocks of 1,024 vectors by the row numbers of tables that declare no integer key.
#[test]
fn every_row_of_a_copy_keeps_its_number() {
    let mut db = TestDb::new();
    let texts: Vec<String> = (0..3500).map(|number| format!("chunk number {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (number, texts) in texts.chunks(700).enumerate() {
        db.add(&format!("/{number}.md"), texts, &["tag"]);
    }
    // The entire first block is removed, others have holes, and one is filled again.
    for id in [1, 2, 4] {
        db.store.remove(DocumentId(id)).unwrap();
    }
    db.add("/f.md", &texts[..100], &[]);
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("copy.db");
    db.store.back_up(&target, ExistingTarget::Keep).unwrap();
    let copy = Store::open_existing(&target).unwrap().unwrap();
    let (original, copied) = (rows(&db.store.connection), rows(&copy.connection));
    assert!(original["chunks_vec_vector_chunks00"].len() > 1);
    assert!(!original["chunks_vec_vector_chunks00"][0].starts_with("1|"), "a block has gone");
    let tables: Vec<&String> = original.keys().collect();
    assert_eq!(copied.keys().collect::<Vec<_>>(), tables);
    for table in tables {
        assert!(original[table] == copied[table], "{table} differs");
    }
    for text in texts.iter().step_by(50) {
        let nearest = |store: &Store| store.rank_by_cosine(&vector(text), None, 30).unwrap();
        assert_eq!(nearest(&copy), nearest(&db.store), "{text}");
    }
}

#[test]
fn removed_content_is_not_in_a_copy() {
    let mut db = TestDb::new();
    db.add("/a.md", &["the quick brown fox"], &[]);
    db.add("/b.md", &["something else"], &[]);
    db.store.remove(DocumentId(1)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("copy.db");
    db.store.back_up(&target, ExistingTarget::Keep).unwrap();
    let bytes = fs::read(&target).unwrap();
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("something else") && !has("quick brown"));
}

#[test]
fn a_damaged_database_leaves_no_copy_and_an_older_one_stays() {
    let mut db = TestDb::new();
    db.add("/a.md", &["one"], &[]);
    db.store.connection.execute_batch("DELETE FROM chunks_vec").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("copy.db");
    fs::write(&target, "an older one").unwrap();
    let error = db.store.back_up(&target, ExistingTarget::Replace).unwrap_err();
    assert!(matches!(&error, Error::Corrupt { path, .. } if *path == db.path()), "{error}");
    assert_eq!(fs::read(&target).unwrap(), b"an older one");
    assert_eq!(names(dir.path()), ["copy.db"]);
}

/// F4: 487 of 847 runs blamed the database.
#[test]
fn an_unwritable_target_is_named() {
    let mut db = TestDb::new();
    db.add("/a.md", &["one"], &[]);
    let dir = tempfile::tempdir().unwrap();
    for target in [dir.path().join("missing/copy.db"), dir.path().to_owned()] {
        let error = db.store.back_up(&target, ExistingTarget::Replace).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if *path == target), "{error}");
    }
    let draft = dir.path().join("taken.db");
    fs::create_dir(&draft).unwrap();
    let target = dir.path().join("copy.db");
    let error = copy_into(&db.store.connection, &db.store.path, &draft, &target).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == target), "{error}");
}

#[test]
fn an_invalid_copy_is_reported_and_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy.db");
    let verify = || Store::verify(&path, dir.path()).unwrap_err();
    assert!(matches!(verify(), Error::PathNotFound { .. }));
    fs::write(&path, "x".repeat(5000)).unwrap();
    assert!(matches!(verify(), Error::Corrupt { .. }));
    let mut db = TestDb::new();
    db.add("/a.md", &["one"], &[]);
    db.store.back_up(&path, ExistingTarget::Replace).unwrap();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(verify(), Error::Corrupt { .. }));
    assert_eq!(fs::read(&path).unwrap(), bytes[..bytes.len() / 2]);
    assert_eq!(names(dir.path()), ["copy.db"]);
}

/// Leaves a database at `path` as a killed process does: the last document is only in the log.
fn leave_log(path: &Path, name: &str) {
    let mut db = TestDb::new();
    db.add(name, &["first"], &[]);
    // The first document is in the file itself.
    db.store.connection.query_row(CHECKPOINT, [], |_| Ok(())).unwrap();
    db.add("/logged.md", &["second"], &[]);
    for end in ["", "-wal"] {
        fs::copy(side_file(&db.path(), end), side_file(path, end)).unwrap();
    }
}

/// F5: the old log was applied to the new file.
#[test]
fn a_database_with_a_leftover_log_is_replaced_completely() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("kb.db");
    for is_file_there in [true, false] {
        leave_log(&target, "/old.md");
        if !is_file_there {
            fs::remove_file(&target).unwrap();
        }
        let mut db = TestDb::new();
        for name in ["/1.md", "/2.md", "/3.md"] {
            db.add(name, &[name], &[]);
        }
        let stats = db.store.back_up(&target, ExistingTarget::Replace).unwrap();
        assert_eq!(names(dir.path()), ["kb.db"]);
        assert_eq!(
            Store::verify(&target, dir.path()).unwrap(),
            CopyVerification { stats, log: None }
        );
        let copy = Store::open(&target).unwrap();
        assert_eq!(copy.stats().unwrap().total_documents(), 3);
        assert_eq!(copy.check().unwrap(), Vec::<String>::new());
        copy.close().unwrap();
    }
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("kb.db");
    let in_use = Store::open(&target).unwrap();
    in_use.connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    let mut db = TestDb::new();
    db.add("/new.md", &["new"], &[]);
    let error = db.store.back_up(&target, ExistingTarget::Replace).unwrap_err();
    assert!(matches!(&error, Error::Locked { path } if *path == target), "{error}");
    assert_eq!(in_use.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_log_that_changes_the_content_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kb.db");
    leave_log(&path, "/old.md");
    let before = (fs::read(&path).unwrap(), fs::read(side_file(&path, "-wal")).unwrap());
    let verified = Store::verify(&path, dir.path()).unwrap();
    assert_eq!(verified.stats.total_documents(), 2);
    assert_eq!(verified.log, Some(side_file(&path, "-wal")));
    let after = (fs::read(&path).unwrap(), fs::read(side_file(&path, "-wal")).unwrap());
    assert_eq!(before, after);
    // An empty log changes nothing.
    fs::write(side_file(&path, "-wal"), "").unwrap();
    let verified = Store::verify(&path, dir.path()).unwrap();
    assert_eq!((verified.stats.total_documents(), verified.log), (1, None));
}

#[test]
fn a_log_of_another_database_is_named_as_the_fault() {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("kb.db"), dir.path().join("other.db"));
    let mut db = TestDb::new();
    let texts: Vec<String> = (0..300).map(|number| format!("some text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    db.add("/big.md", &texts, &[]);
    db.store.back_up(&path, ExistingTarget::Keep).unwrap();
    leave_log(&other, "/old.md");
    fs::rename(side_file(&other, "-wal"), side_file(&path, "-wal")).unwrap();
    let error = Store::verify(&path, dir.path()).unwrap_err();
    let expected = "kb.db-wal, which belongs to another database; without it the file is intact";
    assert!(error.to_string().contains(expected), "{error}");
}

/// F4: the scratch names were fixed.
#[test]
fn concurrent_copies_to_one_target_leave_it_intact_at_every_moment() {
    let mut db = TestDb::new();
    db.add("/a.md", &["one", "two"], &[]);
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("copy.db");
    fs::write(dir.path().join("copy.db.partial"), "the user's").unwrap();
    db.store.back_up(&target, ExistingTarget::Replace).unwrap();
    let path = db.path();
    let is_done = AtomicBool::new(false);
    let num_looks = thread::scope(|scope| {
        let backups: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let store = Store::open(&path).unwrap();
                    for _ in 0..8 {
                        store.back_up(&target, ExistingTarget::Replace).unwrap();
                    }
                })
            })
            .collect();
        let looks = scope.spawn(|| {
            let mut num_looks = 0;
            while !is_done.load(Ordering::Relaxed) {
                let found = Store::verify(&target, dir.path()).unwrap();
                assert_eq!(found.stats.total_chunks, 2);
                num_looks += 1;
            }
            num_looks
        });
        backups.into_iter().for_each(|backup| backup.join().unwrap());
        is_done.store(true, Ordering::Relaxed);
        looks.join().unwrap()
    });
    assert!(num_looks > 0);
    assert_eq!(names(dir.path()), ["copy.db", "copy.db.partial"]);
}

/// F4: two concurrent examinations swapped their results.
#[test]
fn concurrent_examinations_keep_their_results() {
    let mut db = TestDb::new();
    db.add("/a.md", &["one", "two"], &[]);
    let dir = tempfile::tempdir().unwrap();
    let (good, bad) = (dir.path().join("good.db"), dir.path().join("bad.db"));
    db.store.back_up(&good, ExistingTarget::Keep).unwrap();
    let bytes = fs::read(&good).unwrap();
    fs::write(&bad, &bytes[..bytes.len() / 2]).unwrap();
    thread::scope(|scope| {
        for path in [&good, &bad, &good, &bad] {
            let (scratch, is_good) = (dir.path(), *path == good);
            scope.spawn(move || {
                for _ in 0..20 {
                    assert_eq!(Store::verify(path, scratch).is_ok(), is_good);
                }
            });
        }
    });
    assert_eq!(names(dir.path()), ["bad.db", "good.db"]);
}
