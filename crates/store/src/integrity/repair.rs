//! Repairs damaged parts from intact ones.
//!
//! Only redundant data can be rebuilt: indexes, hashes, sizes and codes from the text, vectors by
//! the model. Lost text can be read again from its source file, so its document is marked to be
//! read again. Only the named damage is touched.

use std::collections::HashSet;

use rusqlite::{Connection, named_params};

use crate::document::Chunk;
use crate::error::{Error, Result};
use crate::ids::ChunkId;

use super::finding::Damage;
use super::repair_vectors::{
    rebuild_codes, rebuild_vectors, remove_bad_vectors, remove_orphaned_vectors, remove_vectors,
};
use super::{examine, values};
use crate::Store;
use crate::db::fault::Step;
use crate::db::{erasing, sql};
use crate::documents::chunks::PassageHash;
use crate::keyword::{derived, fts, names, sizes};
use crate::vectors::layout::has_vector_table;
use crate::vectors::{fill_sums, tokens};

/// Removes rows whose references are missing. Foreign keys remove the chunks of a lost document and
/// the rows of a lost chunk, so this covers only what they missed.
const REMOVE_ORPHANS: &str = "
    DELETE FROM chunks WHERE document_id NOT IN (SELECT id FROM documents);
    DELETE FROM document_paths WHERE document_id NOT IN (SELECT id FROM documents);
    DELETE FROM document_tags
    WHERE document_id NOT IN (SELECT id FROM documents) OR tag_id NOT IN (SELECT id FROM tags);
    DELETE FROM chunks_vec_next WHERE chunk_id NOT IN (SELECT id FROM chunks);
    DELETE FROM chunks_next WHERE chunk_id NOT IN (SELECT id FROM chunks);
    DELETE FROM chunks_tokens WHERE chunk_id NOT IN (SELECT id FROM chunks);";

const REMOVE_TAGS: &str = "DELETE FROM tags WHERE id NOT IN (SELECT tag_id FROM document_tags)";

/// Sets a size and time that no file has, so the file is read the next time it is found.
const RESET_PATHS: &str = "
    INSERT INTO document_paths (path, document_id, size_bytes, mtime_ns)
    SELECT source_path, id, -1, 0
    FROM documents
    WHERE source_path IS NOT NULL
    ON CONFLICT (path) DO NOTHING;
    UPDATE documents
    SET source_path = (
        SELECT min(path) FROM document_paths WHERE document_paths.document_id = documents.id
    )
    WHERE NOT EXISTS (
        SELECT 1
        FROM document_paths
        WHERE document_paths.path = documents.source_path
            AND document_paths.document_id = documents.id
    );";

/// Excludes documents whose chunks have gaps from the lookup by content, so that their files are
/// read again: no content has an empty hash.
const MARK_HALF: &str = "
    UPDATE document_paths
    SET size_bytes = -1
    WHERE document_id IN (
        SELECT document_id FROM chunks GROUP BY document_id HAVING max(chunk_index) + 1 <> count(*)
    );
    UPDATE documents
    SET content_hash = ''
    WHERE id IN (
        SELECT document_id FROM chunks GROUP BY document_id HAVING max(chunk_index) + 1 <> count(*)
    );";

/// Works from the end of the gap on, so that no two chunks ever have the same index.
const CLOSE_GAPS: &str = "
    SELECT id, row_number() OVER (PARTITION BY document_id ORDER BY chunk_index) - 1
    FROM chunks
    WHERE document_id IN (
        SELECT document_id FROM chunks GROUP BY document_id HAVING max(chunk_index) + 1 <> count(*)
    )
    ORDER BY document_id, chunk_index";

const SET_INDEX: &str = "UPDATE chunks SET chunk_index = :chunk_index WHERE id = :id";

const SET_HASH: &str = "UPDATE chunks SET passage_hash = :hash WHERE id = :id";

const FREE_PAGES: &str = "
    SELECT freelist_count, page_count
    FROM pragma_freelist_count, pragma_page_count";

/// Fewer free pages are not worth a vacuum, which writes the whole file again: they are 1 MB, and later documents fill
/// them.
const FEW_PAGES: i64 = 256;

/// A smaller share of free pages is not worth a vacuum; this is its denominator.
const SMALL_SHARE: i64 = 5;

impl Store {
    /// Repairs the given damage in one transaction, except the binding ([`Store::repair_binding`]).
    /// Vectors that are then missing are supplied with
    /// [`Store::unvectored`] and [`Store::store_vectors`].
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if only a backup helps against the damage.
    pub fn repair(&mut self, damages: &[Damage]) -> Result<()> {
        if !damages.iter().all(|damage| damage.is_repairable()) {
            let detail = "its structure is damaged".to_owned();
            return Err(Error::Corrupt { path: self.path.clone(), detail });
        }
        let damages: HashSet<Damage> = damages.iter().copied().collect();
        let has = |damage| damages.contains(&damage);
        self.write(|db| {
            // The schema comes first: the steps after it rely on its triggers and indexes.
            if has(Damage::Schema) {
                repair_schema(db)?;
            }
            if has(Damage::Indexes) {
                db.execute_batch("REINDEX")?;
            }
            // Sizes come before chunks change: triggers of chunks write into the blocks of sizes.
            if has(Damage::Sizes) {
                sizes::rebuild(db)?;
            }
            if has(Damage::Values) {
                values::repair(db)?;
            }
            // The keyword index comes before rows are deleted: their triggers remove entries from it.
            if has(Damage::Keywords) {
                fts::rebuild(db)?;
            }
            if has(Damage::VectorTable) {
                rebuild_vectors(db)?;
            }
            if has(Damage::References) {
                db.execute_batch(REMOVE_ORPHANS)?;
            }
            if has(Damage::Gaps) {
                close_gaps(db)?;
            }
            if has(Damage::Paths) || has(Damage::References) {
                db.execute_batch(RESET_PATHS)?;
            }
            if has(Damage::Tags) || has(Damage::References) {
                sql::run(db, REMOVE_TAGS, [])?;
            }
            if has(Damage::Passages) {
                repair_hashes(db)?;
            }
            // An entry without a chunk cannot be removed alone, because its text is lost.
            if has(Damage::Grams) || has(Damage::References) {
                derived::rebuild(db)?;
                names::rebuild(db)?;
            }
            if has(Damage::BadVectors) || has(Damage::ChangedVectors) {
                remove_bad_vectors(db)?;
            }
            if has(Damage::LooseVectors) || has(Damage::References) {
                remove_orphaned_vectors(db)?;
            }
            if has(Damage::TokenCodes) {
                tokens::remove_changed(db)?;
            }
            if has(Damage::References) {
                sizes::rebuild(db)?;
            }
            if has(Damage::MissingVectors) && !has_vector_table(db)? {
                rebuild_vectors(db)?;
            }
            // Checksums come last, because they are made from the stored vectors, which must be right by then.
            if has(Damage::Checksums) {
                fill_sums::fill(db)?;
            }
            // Deleted rows and replaced texts are erased, and codes follow from the vectors that are left.
            erasing::mark(db)?;
            rebuild_codes(db)
        })
    }

    /// Returns free pages to the disk if there are many; returns whether it did.
    ///
    /// `VACUUM` may renumber rows of a table without an integer key, and `vec0` finds its vectors
    /// by such numbers. SQLite keeps the numbers if the table has an index, which that one has, and
    /// [`Store::examine`] would report a change.
    pub fn compact(&mut self) -> Result<bool> {
        let (num_free, num_pages): (i64, i64) = self
            .read(|db| Ok(db.query_row(FREE_PAGES, [], |row| Ok((row.get(0)?, row.get(1)?)))?))?;
        if num_free < FEW_PAGES || num_free < num_pages / SMALL_SHARE {
            return Ok(false);
        }
        self.vacuum()?;
        Ok(true)
    }
}

/// Creates triggers, indexes and views as the migrations do.
fn repair_schema(db: &Connection) -> Step<()> {
    for entry in examine::missing_schema(db)? {
        db.execute_batch(entry.sql)?;
    }
    Ok(())
}

/// Renumbers the chunks of an incomplete document, and marks its file to be read again.
fn close_gaps(db: &Connection) -> Step<()> {
    let moves: Vec<(ChunkId, i64)> = sql::rows(db, CLOSE_GAPS, [], |row| row.columns())?;
    db.execute_batch(MARK_HALF)?;
    moves.iter().try_for_each(|(id, chunk_index)| {
        sql::run(db, SET_INDEX, named_params! { ":id": id, ":chunk_index": chunk_index })
    })
}

/// Trusts the text: computes its hash again and removes its vector, to be computed again also.
fn repair_hashes(db: &Connection) -> Step<()> {
    let mut changed = Vec::new();
    examine::each_text(db, |chunk_id, context, text, hash| {
        let right = PassageHash::of(&Chunk::passage(context, text));
        if right.bytes().as_slice() != hash {
            changed.push((chunk_id, right));
        }
    })?;
    for (id, hash) in &changed {
        sql::run(db, SET_HASH, named_params! { ":id": id, ":hash": hash.bytes() })?;
    }
    let ids: Vec<ChunkId> = changed.into_iter().map(|chunk| chunk.0).collect();
    remove_vectors(db, &ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestDb, embedding, vector};

    fn damages(store: &Store) -> Vec<Damage> {
        let mut damages: Vec<Damage> =
            store.examine().unwrap().into_iter().map(|finding| finding.damage).collect();
        damages.sort();
        damages.dedup();
        damages
    }

    /// Repairs until nothing is left, at most as many times as `kb doctor` does.
    fn repair_all(store: &mut Store) {
        for _ in 0..2 {
            let found = damages(store);
            if found.is_empty() {
                return;
            }
            store.repair(&found).unwrap();
            store.binding().unwrap();
            let missing = store.unvectored(ChunkId(0), 100).unwrap();
            let text = |passage: &str| passage.rsplit("\n\n").next().unwrap().to_owned();
            let embedded: Vec<_> =
                missing.iter().map(|(id, passage)| (*id, embedding(&text(passage)))).collect();
            store.store_vectors(&embedded).unwrap();
        }
    }

    #[test]
    fn damage_is_repaired_and_the_rest_stays() {
        for (damage, expected) in [
            ("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')", Damage::Keywords),
            ("INSERT INTO chunks_grams (chunks_grams) VALUES ('delete-all')", Damage::Grams),
            ("DELETE FROM chunks_sizes_blocks", Damage::Sizes),
            ("UPDATE chunks_sizes_blocks SET sizes = randomblob(2048)", Damage::Sizes),
            ("DELETE FROM chunks_vec WHERE chunk_id = 1", Damage::MissingVectors),
            ("DROP TABLE chunks_vec", Damage::MissingVectors),
            ("UPDATE chunks_vec_rowids SET chunk_offset = 7 WHERE rowid = 1", Damage::VectorTable),
            ("DELETE FROM chunks_vec_vector_chunks00", Damage::VectorTable),
            ("UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(2048)", Damage::BadVectors),
            ("INSERT INTO chunks_vec_codes VALUES (1, x'00')", Damage::Codes),
            ("UPDATE chunks SET passage_hash = x'00'", Damage::Passages),
            ("INSERT INTO tags (name) VALUES ('loose')", Damage::Tags),
            ("DELETE FROM document_paths WHERE path = '/a.md'", Damage::Paths),
            ("DROP TRIGGER chunks_ai", Damage::Schema),
            ("DROP INDEX chunks_passage_hash", Damage::Schema),
            ("DROP VIEW document_dates", Damage::Schema),
            (
                "PRAGMA foreign_keys = OFF; INSERT INTO document_tags VALUES (77, 88);
                INSERT INTO document_paths VALUES ('/x', 99, 1, 1, NULL, NULL); PRAGMA foreign_keys = ON",
                Damage::References,
            ),
            (
                "PRAGMA foreign_keys = OFF;
                DELETE FROM documents WHERE id = 2; PRAGMA foreign_keys = ON",
                Damage::References,
            ),
        ] {
            let mut db = TestDb::new();
            let id = db.add("/a.md", &["one 東京都", "two", "three"], &["kept"]);
            db.add("/b.md", &["four"], &[]);
            let before = (db.texts(id), db.store.document(id).unwrap().unwrap());
            db.damage(damage);
            assert!(damages(&db.store).contains(&expected), "{damage}: {:?}", damages(&db.store));
            repair_all(&mut db.store);
            assert_eq!(db.store.check().unwrap(), Vec::<String>::new(), "{damage}");
            assert_eq!((db.texts(id), db.store.document(id).unwrap().unwrap()), before);
            let ranked = db.store.rank_by_cosine(&vector("two"), None, 1).unwrap();
            assert_eq!(db.store.hits(&[ranked[0].chunk_id]).unwrap()[0].chunk.chunk.text, "two");
            assert_eq!(db.store.occurrences("three").unwrap().len(), 1, "{damage}");
        }
    }

    #[test]
    fn a_document_with_missing_chunks_is_read_again() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["one", "two", "three"], &["kept"]);
        db.store.connection.execute_batch("DELETE FROM chunks WHERE chunk_index = 1").unwrap();
        assert_eq!(damages(&db.store), [Damage::Gaps, Damage::Grams, Damage::LooseVectors]);
        repair_all(&mut db.store);
        db.assert_intact();
        assert_eq!(db.texts(id), ["one", "three"]);
        let again = crate::testing::document("/a.md", &["one", "two", "three"], &[]);
        let known = db.store.known_path("/a.md").unwrap().unwrap();
        assert_ne!(Some(&known.stamp), again.stamp.as_ref(), "it is not taken for unchanged");
        let change = db.put(&again, &["one", "two", "three"], &[]);
        assert_eq!(change, crate::StoredChange::Updated(id));
        assert_eq!(db.texts(id), ["one", "two", "three"]);
        assert_eq!(db.store.document(id).unwrap().unwrap().tags, ["kept"]);
        db.assert_intact();
    }

    #[test]
    fn damage_that_needs_a_backup_is_left_alone() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one"], &[]);
        let outcome = db.store.repair(&[Damage::Sizes, Damage::Structure]);
        assert!(matches!(outcome, Err(Error::Corrupt { .. })));
        db.store.connection.execute_batch("DROP TABLE chunks_vec_next").unwrap();
        assert_eq!(damages(&db.store), [Damage::Tables]);
    }

    #[test]
    fn free_pages_are_returned_and_every_vector_is_found_again() {
        let mut db = TestDb::new();
        let texts: Vec<String> =
            (0..900).map(|number| format!("{number} {}", "long ".repeat(300))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let first = db.add("/a.md", &texts[..600], &[]);
        let second = db.add("/b.md", &texts[600..], &[]);
        assert!(!db.store.compact().unwrap(), "nothing is free");
        db.store.remove(first).unwrap();
        let before = db.store.stats().unwrap().db_size_bytes;
        assert!(db.store.compact().unwrap());
        assert!(db.store.stats().unwrap().db_size_bytes < before / 2);
        db.assert_intact();
        let ranked = db.store.rank_by_cosine(&vector(texts[700]), None, 3).unwrap();
        let chunks = db.store.chunks(second).unwrap();
        assert!(ranked.iter().any(|hit| hit.chunk_id == chunks[100].id));
    }
}
