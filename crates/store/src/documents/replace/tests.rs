//! Tests what a new document replaces, and what stays.

use super::*;
use crate::PathRole;
use crate::document::{Format, Quality};
use crate::testing::{TestDb, binding, chunk, document, embedding, stamp};

#[test]
fn a_new_document_is_added_completely() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["install git", "remove git"], &["tools", "vcs"]);
    let stored = db.store.document(id).unwrap().unwrap();
    assert_eq!(stored.chunk_count, 2);
    assert_eq!(stored.tags, ["tools", "vcs"]);
    assert_eq!(stored.path.as_deref(), Some("/a.md"));
    assert_eq!(stored.format, "markdown");
    db.assert_intact();
}

#[test]
fn a_changed_file_keeps_id_tags_and_creation_time() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["old words"], &["one"]);
    db.backdate();
    let before = db.store.document(id).unwrap().unwrap();
    let change = db.put(&document("/a.md", &["new words"], &["two"]), &["new words"], &[]);
    assert_eq!(change, StoredChange::Updated(id));
    let after = db.store.document(id).unwrap().unwrap();
    assert_eq!(after.created_at, before.created_at);
    assert_ne!(after.updated_at, before.updated_at);
    assert_eq!(after.tags, ["one", "two"]);
    assert_eq!(db.texts(id), ["new words"]);
    db.assert_intact();
}

#[test]
fn pages_read_later_replace_the_earlier_text() {
    let mut db = TestDb::new();
    let mut scan = document("/a.pdf", &["stamp"], &["one"]);
    scan.metadata.quality = Some(Quality { pages_awaiting_ocr: 2, ..Quality::default() });
    let id = db.put(&scan, &["stamp"], &[]).document_id();
    assert_eq!(db.put(&scan, &["stamp"], &[]), StoredChange::Unchanged(id));
    assert_eq!(db.store.known_path("/a.pdf").unwrap().unwrap().pages_awaiting_ocr, 2);
    scan.metadata.quality = Some(Quality { pages_ocr: 2, ..Quality::default() });
    assert_eq!(db.put(&scan, &["high water"], &[]), StoredChange::Updated(id));
    assert_eq!(db.texts(id), ["high water"]);
    assert_eq!(db.store.known_path("/a.pdf").unwrap().unwrap().pages_awaiting_ocr, 0);
    db.assert_intact();
}

#[test]
fn a_title_given_by_the_user_outlives_the_content() {
    let mut db = TestDb::new();
    let mut titled = document("/a.md", &["old"], &[]);
    titled.title = "Mine".into();
    titled.is_title_given = true;
    let id = db.put(&titled, &["old"], &[]).document_id();
    assert_eq!(db.store.known_path("/a.md").unwrap().unwrap().title_given.as_deref(), Some("Mine"));
    db.add("/a.md", &["new"], &[]);
    assert_eq!(db.store.document(id).unwrap().unwrap().title, "Mine");
    let mut retitled = document("/a.md", &["new"], &[]);
    retitled.title = "Mine too".into();
    retitled.is_title_given = true;
    assert_eq!(db.put(&retitled, &["new"], &[]), StoredChange::Updated(id));
    assert_eq!(db.store.document(id).unwrap().unwrap().title, "Mine too");
    db.assert_intact();
}

#[test]
fn the_same_content_is_stored_once_in_any_order() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["words"], &["one"]);
    let again = db.put(&document("/a.md", &["words"], &["two"]), &["words"], &["/a.md"]);
    assert_eq!(again, StoredChange::Unchanged(id));
    let copy = db.put(&document("/b.md", &["words"], &[]), &["words"], &["/a.md"]);
    assert_eq!(copy, StoredChange::Unchanged(id));
    let stored = db.store.document(id).unwrap().unwrap();
    assert_eq!(stored.tags, ["one", "two"]);
    assert_eq!(stored.path.as_deref(), Some("/a.md"));
    assert_eq!(db.store.known_path("/b.md").unwrap().unwrap().document_id, id);
    assert_eq!(db.store.stats().unwrap().total_chunks, 1);
    db.assert_intact();
}

#[test]
fn a_moved_file_is_shown_at_its_new_path() {
    let mut db = TestDb::new();
    let id = db.add("/old.md", &["words"], &[]);
    db.put(&document("/new.md", &["words"], &[]), &["words"], &["/new.md"]);
    assert_eq!(db.store.document(id).unwrap().unwrap().path.as_deref(), Some("/new.md"));
    db.assert_intact();
}

#[test]
fn when_the_primary_copy_changes_the_other_keeps_the_old_text() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["old"], &["work"]);
    let chunk_id = db.store.chunks(id).unwrap()[0].id;
    db.store.remember_path(id, "hash of old", &stamp("/b.md"), PathRole::Further).unwrap();
    let change = db.put(&document("/a.md", &["new"], &[]), &["new"], &["/a.md", "/b.md"]);
    assert_eq!(change, StoredChange::Updated(id));
    assert_eq!(db.texts(id), ["new"]);
    let other = db.store.known_path("/b.md").unwrap().unwrap();
    assert_ne!(other.document_id, id);
    assert!(other.is_primary());
    assert_eq!(other.content_hash, "hash of old");
    assert_eq!(db.store.chunks(other.document_id).unwrap()[0].id, chunk_id);
    assert_eq!(db.store.document(other.document_id).unwrap().unwrap().tags, ["work"]);
    db.assert_intact();
}

#[test]
fn when_another_copy_changes_the_document_stays() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["old"], &["work"]);
    db.store.remember_path(id, "hash of old", &stamp("/b.md"), PathRole::Further).unwrap();
    let change = db.put(&document("/b.md", &["new"], &[]), &["new"], &["/a.md", "/b.md"]);
    let StoredChange::Added(copy) = change else { panic!("{change:?}") };
    assert_eq!(db.texts(id), ["old"]);
    assert_eq!(db.texts(copy), ["new"]);
    assert_eq!(db.store.document(copy).unwrap().unwrap().tags, ["work"]);
    assert_eq!(db.store.known_path("/a.md").unwrap().unwrap().document_id, id);
    db.assert_intact();
}

#[test]
fn a_missing_or_changed_copy_is_forgotten_and_read_again() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["old"], &[]);
    db.store.remember_path(id, "hash of old", &stamp("/b.md"), PathRole::Further).unwrap();
    let change = db.put(&document("/a.md", &["new"], &[]), &["new"], &["/a.md"]);
    assert_eq!(change, StoredChange::Updated(id));
    assert_eq!(db.store.known_path("/b.md").unwrap(), None);
    db.assert_intact();
}

#[test]
fn the_same_content_read_another_way_replaces_the_document() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["words"], &[]);
    db.store.remember_path(id, "hash of words", &stamp("/b.md"), PathRole::Further).unwrap();
    let mut note = document("/b.md", &["words"], &[]);
    note.format = Format::Note;
    assert_eq!(db.put(&note, &["words"], &["/a.md", "/b.md"]), StoredChange::Updated(id));
    let stored = db.store.document(id).unwrap().unwrap();
    assert_eq!(stored.doc_type.as_str(), "note");
    assert_eq!(stored.path.as_deref(), Some("/a.md"));
    db.assert_intact();
}

#[test]
fn a_disk_that_fills_half_way_changes_nothing() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["old words"], &["one"]);
    let before = (db.store.document(id).unwrap(), db.texts(id));
    let pages: i64 =
        db.store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    db.store.connection.pragma_update(None, "max_page_count", pages).unwrap();
    let long = "much more text than fits ".repeat(4000);
    let chunks = [chunk("short"), chunk(&long)];
    let embeddings = [embedding("short"), embedding(&long)];
    let new = document("/a.md", &["short", &long], &["two"]);
    let error = db.store.replace(&new, &chunks, &embeddings, &|_| false).unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert_eq!((db.store.document(id).unwrap(), db.texts(id)), before);
    db.assert_intact();
}

#[test]
fn vectors_that_do_not_match_are_refused_before_any_write() {
    let mut db = TestDb::new();
    let new = document("/a.md", &["words"], &[]);
    for vectors in [vec![], vec![vec![1.0; 3]], vec![vec![f32::NAN, 0.0, 0.0, 0.0]]] {
        let embed = |vector| Embedding { vector, codes: None };
        let embeddings: Vec<Embedding> = vectors.into_iter().map(embed).collect();
        let outcome = db.store.replace(&new, &[chunk("words")], &embeddings, &|_| false);
        assert!(matches!(outcome, Err(Error::Store(_))));
    }
    assert_eq!(db.store.known_path("/a.md").unwrap(), None);
    db.assert_intact();
}

#[test]
fn a_store_with_an_outdated_model_cannot_write_vectors() {
    let mut db = TestDb::new();
    let mut other = Store::open(&db.path()).unwrap();
    other.bind(&binding("other")).unwrap();
    let new = document("/a.md", &["words"], &[]);
    let outcome = db.store.replace(&new, &[chunk("words")], &[embedding("words")], &|_| false);
    assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
    db.assert_intact();
}

/// Found from outside: "no space left to write kb.db".
#[test]
fn running_out_of_ids_is_not_reported_as_a_full_disk() {
    for spend in [
        "UPDATE documents SET id = 9223372036854775807 WHERE id = 1",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'chunks'",
    ] {
        let mut db = TestDb::new();
        db.add("/a.md", &["one"], &[]);
        let spend = format!("PRAGMA foreign_keys = OFF; {spend}; PRAGMA foreign_keys = ON");
        db.store.connection.execute_batch(&spend).unwrap();
        let new = document("/b.md", &["two"], &[]);
        let outcome = db.store.replace(&new, &[chunk("two")], &[embedding("two")], &|_| false);
        let error = outcome.unwrap_err();
        assert_eq!(error.code(), "corrupt");
        assert!(error.to_string().ends_with("its ids are used up"), "{error}");
    }
}
