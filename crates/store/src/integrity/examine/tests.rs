//! Tests examinations during concurrent writes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::testing::TestDb;

/// F10: "fts5: corruption found reading blob" of a sound database.
#[test]
fn an_index_merged_by_another_process_is_not_damage() {
    let mut db = TestDb::new();
    for number in 0..12 {
        db.add(&format!("/{number}.md"), &["some words", "and more"], &[]);
    }
    let looker = Store::open(&db.path()).unwrap();
    looker.connection.execute(CHECK_FTS, []).unwrap();
    let merge = "INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')";
    db.store.connection.execute(merge, []).unwrap();
    let mut found = Vec::new();
    looker.examine_snapshot(&mut found).unwrap();
    assert_eq!(found, []);
}

#[test]
fn concurrent_writes_are_not_damage() {
    let db = TestDb::new();
    let path = db.path();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 0..2 {
            let (path, is_done) = (&path, &is_done);
            scope.spawn(move || {
                let mut store = Store::open(path).unwrap();
                let mut number = 0;
                while !is_done.load(Ordering::Relaxed) {
                    number += 1;
                    let name = format!("/{writer}/{}.md", number % 7);
                    let text = format!("words of version {number}");
                    let id = TestDb::add_to(&mut store, &name, &[&text, "more words"]);
                    if number % 3 == 0 {
                        store.remove(id).unwrap();
                    }
                }
            });
        }
        let store = Store::open(&path).unwrap();
        let found: Vec<_> = (0..40).map(|_| store.examine()).collect();
        // Also after a failure: the writers would never end.
        is_done.store(true, Ordering::Relaxed);
        for found in found {
            assert_eq!(found.unwrap(), []);
        }
    });
}
