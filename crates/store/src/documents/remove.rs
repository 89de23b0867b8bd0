//! Removes documents.

use rusqlite::{Connection, named_params};

use super::remembered::KnownPath;
use super::{ledger, path_rows, tags};
use crate::db::erasing;
use crate::db::fault::Step;
use crate::error::Result;
use crate::ids::DocumentId;
use crate::keyword::derived;
use crate::{Store, vectors};

const REMOVE_DOCUMENT: &str = "DELETE FROM documents WHERE id = :id";

impl Store {
    /// Removes a document with its chunks, keyword index, vectors, paths and unused tags; returns
    /// whether it existed.
    pub fn remove(&mut self, id: DocumentId) -> Result<bool> {
        self.write(|db| delete(db, id))
    }
}

/// Removes a document; foreign keys and triggers remove what depends on it but the vectors of its chunks.
pub(super) fn delete(db: &Connection, id: DocumentId) -> Step<bool> {
    derived::remove(db, id)?;
    erasing::mark_chunks(db, id)?;
    for stamp in path_rows::others(db, id, "")? {
        ledger::reopen(db, &stamp.path)?;
    }
    vectors::removing(db, id, || {
        Ok(db.prepare_cached(REMOVE_DOCUMENT)?.execute(named_params! { ":id": id })? > 0)
    })
}

/// Updates or removes a document whose path has passed to `heir`.
pub(crate) fn release(db: &Connection, before: &KnownPath, heir: DocumentId) -> Step<()> {
    let id = before.document_id;
    match path_rows::others(db, id, &before.stamp.path)?.first() {
        Some(other) if before.is_primary() => path_rows::set_primary(db, id, &other.path),
        Some(_) => Ok(()),
        None => {
            tags::copy(db, id, heir)?;
            delete(db, id)?;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Damage;
    use crate::testing::TestDb;

    #[test]
    fn a_removed_document_leaves_nothing() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["install git", "more"], &["only", "both"]);
        let other = db.add("/b.md", &["something"], &["both"]);
        assert!(db.store.remove(id).unwrap());
        assert!(!db.store.remove(id).unwrap());
        assert_eq!(db.store.known_path("/a.md").unwrap(), None);
        for (table, rows) in [("chunks", 1), ("chunks_vec", 1), ("document_tags", 1), ("tags", 1)] {
            let sql = format!("SELECT count(*) FROM {table}");
            let found: i64 = db.store.connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(found, rows, "{table}");
        }
        assert_eq!(db.store.documents(&Default::default()).unwrap()[0].id, other);
        db.assert_intact();
    }

    #[test]
    fn a_manual_delete_cascades_to_all_that_sqlite_keeps() {
        let mut db = TestDb::new();
        db.add("/a.md", &["install git"], &["one"]);
        db.store.connection.execute("DELETE FROM documents", []).unwrap();
        assert_eq!(db.store.tags().unwrap(), []);
        // The data that kb derives from the text remains until `kb doctor --fix`.
        let found: Vec<Damage> =
            db.store.examine().unwrap().into_iter().map(|finding| finding.damage).collect();
        let own = [Damage::Grams, Damage::LooseVectors];
        assert!(found.iter().all(|damage| own.contains(damage)), "{found:?}");
        db.store.repair(&found).unwrap();
        db.assert_intact();
        assert_eq!(db.store.stats().unwrap().total_vectors, 0);
    }
}
