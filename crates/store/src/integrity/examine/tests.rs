//! Tests that an examination reports damage, and nothing else: not during concurrent writes, nor after any changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;

use super::*;
use crate::document::{Binding, Embedding};
use crate::ids::DocumentId;
use crate::testing::{TestDb, binding, chunk, document, embedding};
use crate::{PathRole, PathStamp, RenewedChunk, UnembeddedChunk};

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
        // The flag is set before a failure is reported: otherwise the writers would never end.
        is_done.store(true, Ordering::Relaxed);
        for found in found {
            assert_eq!(found.unwrap(), []);
        }
    });
}

#[test]
fn each_kind_of_damage_is_reported() {
    for (damage, expected) in [
        ("DELETE FROM chunks_vec WHERE chunk_id = 1", "1 chunk without a vector"),
        ("DELETE FROM documents", "2 vectors without a chunk"),
        ("INSERT INTO tags (name) VALUES ('loose')", "1 tag that no document has"),
        ("DELETE FROM document_paths", "1 document whose path is not stored"),
        ("UPDATE documents SET source_path = NULL", "1 document without a primary path"),
        ("DELETE FROM chunks WHERE chunk_index = 0", "1 document with gaps"),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM documents",
            "rows with a reference to a missing row",
        ),
    ] {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        db.damage(damage);
        let faults = db.store.check().unwrap();
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{damage}: {faults:?}");
    }
}

/// A change of a folder or of the database that tracks it.
#[derive(Debug, Clone)]
enum Act {
    Write(u8, u8),
    Touch(u8),
    Delete(u8),
    /// Restores a deleted file, like a disk that is mounted again.
    Restore(u8),
    /// Scans all files as `kb add` does, this many ahead of the last commit.
    Scan(usize),
    Remove(DocumentId),
    Tag(DocumentId, u8),
    Untag(DocumentId, u8),
    Reindex(bool),
}

fn document_id() -> impl Strategy<Value = DocumentId> {
    (1_i64..12).prop_map(DocumentId)
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0_u8..5, 0_u8..4).prop_map(|(path, content)| Act::Write(path, content)),
        1 => (0_u8..5).prop_map(Act::Touch),
        2 => (0_u8..5).prop_map(Act::Delete),
        2 => (0_u8..5).prop_map(Act::Restore),
        4 => (1_usize..6).prop_map(Act::Scan),
        1 => document_id().prop_map(Act::Remove),
        1 => (document_id(), 0_u8..3).prop_map(|(id, tag)| Act::Tag(id, tag)),
        1 => (document_id(), 0_u8..3).prop_map(|(id, tag)| Act::Untag(id, tag)),
        1 => any::<bool>().prop_map(Act::Reindex),
    ]
}

/// Maps a path to its content and time of modification.
type Files = BTreeMap<String, (String, i64)>;

/// The decision on a file before it is committed.
enum Plan {
    Skip,
    Remember(DocumentId, String),
    Replace,
}

fn texts(content: &str) -> Vec<String> {
    (0..content.len()).map(|number| format!("{content} part {number}")).collect()
}

fn plan(db: &TestDb, stamp: &PathStamp, content: &str) -> Plan {
    let hash = format!("hash of {}", texts(content).join("|"));
    match db.store.known_path(&stamp.path).unwrap() {
        Some(known) if known.stamp == *stamp => Plan::Skip,
        _ => match db.store.document_by_hash(&hash).unwrap() {
            Some(same) => Plan::Remember(same.id, hash),
            None => Plan::Replace,
        },
    }
}

fn commit(db: &mut TestDb, files: &Files, stamp: &PathStamp, content: &str, plan: Plan) {
    match plan {
        Plan::Skip => return,
        Plan::Remember(id, hash) => {
            let shown = db.store.document(id).unwrap().and_then(|document| document.path);
            let is_gone = shown.is_none_or(|path| !files.contains_key(&path));
            let role = if is_gone { PathRole::Primary } else { PathRole::Further };
            if db.store.remember_path(id, &hash, stamp, role).unwrap() {
                return;
            }
        }
        Plan::Replace => {}
    }
    let texts = texts(content);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut new = document(&stamp.path, &texts, &["scanned"]);
    new.stamp = Some(stamp.clone());
    let chunks: Vec<_> = texts.iter().map(|text| chunk(text)).collect();
    let dim = db.store.binding().unwrap().unwrap().dim;
    let embeddings: Vec<_> = texts.iter().map(|text| widen(embedding(text), dim)).collect();
    let is_unchanged =
        |stamp: &PathStamp| files.get(&stamp.path).is_some_and(|file| file.1 == stamp.mtime_ns);
    db.store.replace(&new, &chunks, &embeddings, &is_unchanged).unwrap();
}

fn widen(mut embedding: Embedding, dim: u32) -> Embedding {
    embedding.vector.resize(dim.try_into().unwrap(), 0.0);
    embedding
}

fn scan(db: &mut TestDb, files: &Files, num_ahead: usize) {
    let files_in_order: Vec<_> = files.iter().collect();
    for window in files_in_order.chunks(num_ahead) {
        let plans: Vec<_> = window
            .iter()
            .map(|(path, (content, mtime_ns))| {
                let path = (*path).clone();
                let stamp = PathStamp { path, size_bytes: 1, mtime_ns: *mtime_ns, real_path: None };
                let plan = plan(db, &stamp, content);
                (stamp, content, plan)
            })
            .collect();
        for (stamp, content, plan) in plans {
            commit(db, files, &stamp, content, plan);
        }
    }
    for (path, (content, _)) in files {
        let known = db.store.known_path(path).unwrap().unwrap();
        assert_eq!(db.texts(known.document_id), texts(content), "{path}");
    }
}

fn reindex(db: &mut TestDb, is_finished: bool) {
    let dim = if db.store.binding().unwrap().unwrap().dim == 4 { 6 } else { 4 };
    db.store.begin_reindex(&Binding { dim, ..binding("small") }).unwrap();
    let embed = |found: &UnembeddedChunk| {
        RenewedChunk::kept(found, widen(embedding(&found.chunk.text), dim))
    };
    let limit = if is_finished { 10_000 } else { 3 };
    let chunks = db.store.unembedded(ChunkId(0), limit).unwrap();
    db.store.store_reindexed(&chunks.iter().map(embed).collect::<Vec<_>>()).unwrap();
    db.store.finish_reindex().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever happens to files and documents, in any order, the database stays intact, and
    /// after a scan it has the content of every file.
    #[test]
    fn nothing_is_lost_or_left_over(acts in prop::collection::vec(act(), 1..40)) {
        let mut db = TestDb::new();
        let (mut files, mut gone) = (Files::new(), Files::new());
        let mut now = 0;
        for act in acts {
            now += 1;
            match act {
                Act::Write(path, content) => {
                    let content = ["a", "bb", "ccc", "dddd"][usize::from(content)].to_owned();
                    files.insert(format!("/{path}.md"), (content, now));
                }
                Act::Touch(path) => {
                    if let Some(file) = files.get_mut(&format!("/{path}.md")) {
                        file.1 = now;
                    }
                }
                Act::Delete(path) => gone.extend(files.remove_entry(&format!("/{path}.md"))),
                Act::Restore(path) => files.extend(gone.remove_entry(&format!("/{path}.md"))),
                Act::Scan(num_ahead) => scan(&mut db, &files, num_ahead),
                Act::Remove(id) => drop(db.store.remove(id).unwrap()),
                Act::Tag(id, tag) => drop(db.store.add_tags(id, &[format!("tag {tag}")])),
                Act::Untag(id, tag) => drop(db.store.change_tags(&[id], &[], &[format!("tag {tag}")])),
                Act::Reindex(is_finished) => reindex(&mut db, is_finished),
            }
            prop_assert_eq!(db.store.check().unwrap(), Vec::<String>::new());
        }
        scan(&mut db, &files, 1);
        let words = db.store.occurrences("part").unwrap();
        prop_assert_eq!(words.len(), db.store.stats().unwrap().total_chunks as usize);
    }
}
