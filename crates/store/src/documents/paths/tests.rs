//! Tests paths of documents on a real database.

use rusqlite::StatementStatus;

use super::PathRole;
use crate::documents::path_rows::{KNOWN_PATH, known};
use crate::ids::DocumentId;
use crate::testing::{TestDb, document, stamp};

#[test]
fn a_lookup_is_prepared_once() {
    let mut db = TestDb::new();
    for path in ["/a.md", "/b.md", "/c.md"] {
        db.add(path, &["words"], &[]);
        assert!(known(&db.store.connection, path).unwrap().is_some());
    }
    let statement = db.store.connection.prepare_cached(KNOWN_PATH).unwrap();
    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
}

#[test]
fn an_unknown_path_is_unknown() {
    let db = TestDb::new();
    assert_eq!(db.store.known_path("/a.md").unwrap(), None);
}

#[test]
fn a_known_path_has_all_that_is_needed_to_skip_its_file() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["words"], &[]);
    let known = db.store.known_path("/a.md").unwrap().unwrap();
    assert_eq!(known.document_id, id);
    assert_eq!(known.stamp, stamp("/a.md"));
    assert_eq!(known.content_hash, "hash of words");
    assert_eq!(known.title_given, None);
    assert!(known.is_primary());
}

#[test]
fn the_resolved_path_of_a_file_is_kept_until_it_is_named_again() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["words"], &[]);
    let real = |path: &str| super::PathStamp {
        real_path: (!path.is_empty()).then(|| path.to_owned()),
        ..stamp("/a.md")
    };
    for (seen, expected) in [("/b.md", "/b.md"), ("", "/b.md"), ("/c.md", "/c.md")] {
        db.store.remember_path(id, "hash of words", &real(seen), PathRole::Further).unwrap();
        assert_eq!(db.store.known_path("/a.md").unwrap().unwrap().stamp, real(expected));
    }
    db.assert_intact();
}

#[test]
fn a_renamed_path_keeps_its_document_and_replaces_no_other() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["words"], &[]);
    let other = db.add("/c.md", &["others"], &[]);
    db.store.rename_path("/a.md", "/b.md").unwrap();
    assert_eq!(db.store.document(id).unwrap().unwrap().path.as_deref(), Some("/b.md"));
    assert_eq!(db.store.known_path("/a.md").unwrap(), None);
    db.store.rename_path("/b.md", "/c.md").unwrap();
    assert_eq!(db.store.document(id).unwrap().unwrap().path.as_deref(), Some("/b.md"));
    assert_eq!(db.store.known_path("/c.md").unwrap().unwrap().document_id, other);
    db.assert_intact();
}

#[test]
fn a_copy_is_remembered_and_may_become_primary() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["words"], &[]);
    db.store.remember_path(id, "hash of words", &stamp("/b.md"), PathRole::Further).unwrap();
    assert!(!db.store.known_path("/b.md").unwrap().unwrap().is_primary());
    db.store.remember_path(id, "hash of words", &stamp("/b.md"), PathRole::Primary).unwrap();
    assert_eq!(db.store.document(id).unwrap().unwrap().path.as_deref(), Some("/b.md"));
    assert_eq!(db.store.known_path("/a.md").unwrap().unwrap().document_id, id);
    db.assert_intact();
}

#[test]
fn a_touched_file_gets_a_new_stamp() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["words"], &[]);
    let mut touched = stamp("/a.md");
    touched.mtime_ns += 1;
    db.store.remember_path(id, "hash of words", &touched, PathRole::Further).unwrap();
    assert_eq!(db.store.known_path("/a.md").unwrap().unwrap().stamp, touched);
}

#[test]
fn a_path_that_passes_to_another_document_leaves_nothing_stale() {
    let mut db = TestDb::new();
    let gone = db.add("/a.md", &["old"], &["work"]);
    let heir = db.add("/b.md", &["new"], &["home"]);
    db.store.remember_path(heir, "hash of new", &stamp("/a.md"), PathRole::Further).unwrap();
    assert_eq!(db.store.document(gone).unwrap(), None);
    assert_eq!(db.store.document(heir).unwrap().unwrap().tags, ["home", "work"]);
    db.assert_intact();
}

#[test]
fn a_document_that_loses_its_primary_path_shows_another() {
    let mut db = TestDb::new();
    let copied = db.add("/a.md", &["old"], &[]);
    db.store.remember_path(copied, "hash of old", &stamp("/c.md"), PathRole::Further).unwrap();
    let other = db.add("/b.md", &["new"], &[]);
    db.store.remember_path(other, "hash of new", &stamp("/a.md"), PathRole::Further).unwrap();
    assert_eq!(db.store.document(copied).unwrap().unwrap().path.as_deref(), Some("/c.md"));
    db.assert_intact();
}

#[test]
fn a_note_given_as_text_is_shown_under_the_file_with_its_text() {
    let mut db = TestDb::new();
    let mut note = document("", &["words"], &[]);
    note.stamp = None;
    let id = db.put(&note, &["words"], &[]).document_id();
    db.store.remember_path(id, "hash of words", &stamp("/note.txt"), PathRole::Further).unwrap();
    assert_eq!(db.store.document(id).unwrap().unwrap().path.as_deref(), Some("/note.txt"));
    db.assert_intact();
}

#[test]
fn a_document_with_new_content_gets_no_path() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["old"], &[]);
    db.add("/a.md", &["new"], &[]);
    for id in [id, DocumentId(7)] {
        let outcome = db.store.remember_path(id, "hash of old", &stamp("/b.md"), PathRole::Primary);
        assert!(!outcome.unwrap());
    }
    assert_eq!(db.store.known_path("/b.md").unwrap(), None);
    db.assert_intact();
}
