//! Tests documents that are exported from one database and imported into another.

use super::*;
use crate::testing::{TestDb, vector};
use crate::{ImportOutcome, MergedDocument};

fn records(db: &TestDb) -> Vec<DocumentRecord> {
    let mut records = Vec::new();
    let collect = |record| {
        records.push(record);
        Ok(())
    };
    db.store.export(None, true, collect).unwrap();
    records
}

/// Returns a database with documents 2 and 3 and chunks 3 to 5.
fn filled() -> TestDb {
    let mut db = TestDb::new();
    db.add("/gone.md", &["ebb", "slack"], &[]);
    db.add("/b.md", &["flood"], &["tide", "water"]);
    db.add("/a.md", &["neap", "spring"], &["tide"]);
    db.store.remove(DocumentId(1)).unwrap();
    db.backdate();
    db
}

#[test]
fn an_import_equals_the_export() {
    let given = records(&filled());
    assert_eq!(given.iter().map(|record| record.id).collect::<Vec<_>>(), [2, 3].map(DocumentId));
    let mut to = TestDb::new();
    for record in &given {
        assert_eq!(to.store.import(record).unwrap(), ImportOutcome::Added(record.id));
    }
    assert_eq!(records(&to), given);
    // Importing again adds nothing.
    for record in &given {
        let same = MergedDocument { id: record.id, is_changed: false, conflicts: Vec::new() };
        assert_eq!(to.store.import(record).unwrap(), ImportOutcome::Merged(same));
    }
    assert_eq!(records(&to), given);
    to.assert_intact();
}

#[test]
fn existing_documents_stay_and_taken_ids_are_replaced() {
    let given = records(&filled());
    let mut to = TestDb::new();
    to.add("/x.md", &["other"], &[]);
    let here = records(&to);
    let mut at_its_path = DocumentRecord { tags: Vec::new(), ..given[0].clone() };
    at_its_path.paths[0].path = "/x.md".into();
    let outcome = to.store.import(&at_its_path).unwrap();
    let ImportOutcome::Merged(merged) = outcome else { panic!("{outcome:?}") };
    assert_eq!((merged.id, merged.is_changed), (DocumentId(1), false));
    assert_eq!(records(&to), here);
    let mut same_keys = given[0].clone();
    (same_keys.id, same_keys.chunks[0].id) = (DocumentId(1), ChunkId(1));
    assert_eq!(to.store.import(&same_keys).unwrap(), ImportOutcome::Added(DocumentId(2)));
    assert_eq!(records(&to)[1].chunks[0].id, ChunkId(2));
    to.assert_intact();
}

#[test]
fn a_database_without_free_ids_reports_so() {
    for (table, last) in
        [("documents", i64::MAX), ("documents", u32::MAX.into()), ("chunks", i64::MAX)]
    {
        let mut db = filled();
        let sql = "UPDATE sqlite_sequence SET seq = ?1 WHERE name = ?2";
        db.store.connection.execute(sql, (last, table)).unwrap();
        let mut record = records(&db).remove(0);
        record.content_hash = "other".into();
        record.path = None;
        record.paths.clear();
        // Both ids are taken, so new ones are needed.
        let error = db.store.import(&record).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{table} {last}: {error}");
        assert!(error.to_string().ends_with("its ids are used up"), "{error}");
    }
}

#[test]
fn an_invalid_record_changes_nothing() {
    let mut record = records(&filled()).remove(0);
    let mut to = TestDb::new();
    record.chunks[0].vector = None;
    assert_eq!(to.store.import(&record).unwrap(), ImportOutcome::NeedsVectors);
    record.chunks[0].vector = Some(vec![1.0]);
    assert!(matches!(to.store.import(&record), Err(Error::Usage { .. })));
    record.chunks[0].vector = Some(vector("flood"));
    record.metadata = "3".into();
    assert!(to.store.import(&record).is_err());
    assert!(records(&to).is_empty());
    to.assert_intact();
}
