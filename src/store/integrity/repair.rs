//! Repairs what is damaged from what is intact.
//!
//! Only what stands twice can be made anew: indexes, hashes, sizes and codes from the text, vectors
//! by the model. Text that is lost is in the file it came from: its document is marked to be read
//! again. What is not named is not touched.

use std::collections::HashSet;

use rusqlite::{Connection, named_params};

use crate::document::{Chunk, ChunkId};
use crate::error::{Error, Result};

use super::examine;
use super::finding::Damage;
use super::repair_vectors::{
    encode_anew, rebuild_vectors, remove_bad_vectors, remove_loose_vectors, remove_vectors,
};
use crate::store::Store;
use crate::store::db::erase;
use crate::store::db::fault::Step;
use crate::store::documents::chunks::PassageHash;
use crate::store::keyword::{fts, grams, sizes};
use crate::store::vectors::sums;

/// What refers to nothing. Documents are referred to, chunks in their turn; a document's or a
/// chunk's own loss takes what hangs on it along, so here is only what foreign keys did not see.
const REMOVE_ORPHANS: &str = "
    DELETE FROM chunks WHERE document_id NOT IN (SELECT id FROM documents);
    DELETE FROM document_paths WHERE document_id NOT IN (SELECT id FROM documents);
    DELETE FROM document_tags
    WHERE document_id NOT IN (SELECT id FROM documents) OR tag_id NOT IN (SELECT id FROM tags);
    DELETE FROM chunks_vec_next WHERE chunk_id NOT IN (SELECT id FROM chunks);";

const REMOVE_TAGS: &str = "DELETE FROM tags WHERE id NOT IN (SELECT tag_id FROM document_tags)";

/// Size and time that no file has: the file is read when it is met again.
const MEND_PATHS: &str = "
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

/// A document whose chunks have gaps is taken out of the chunks, and its files are read again: no
/// bytes have an empty hash.
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

/// From the end of the gap on, so that no two chunks ever share an index.
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

/// Pages that are not worth a vacuum.
const FEW_PAGES: i64 = 256;

/// A share of free pages that is not worth a vacuum, as its denominator.
const SMALL_SHARE: i64 = 5;

impl Store {
    /// Mends what is named, in one transaction; vectors that are missing then are for
    /// [`Store::unvectored`] and [`Store::store_vectors`] to bring.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] and nothing is changed where it is damage that only a copy helps against;
    /// [`Error::Locked`], [`Error::DiskFull`] and what else the database refuses.
    pub fn repair(&mut self, damages: &[Damage]) -> Result<()> {
        if !damages.iter().all(|it| it.is_repairable()) {
            let detail = "its structure is damaged".to_owned();
            return Err(Error::Corrupt { path: self.path.clone(), detail });
        }
        let damages: HashSet<Damage> = damages.iter().copied().collect();
        let has = |it| damages.contains(&it);
        self.write(|db| {
            if has(Damage::Schema) {
                mend_schema(db)?;
            }
            if has(Damage::Indexes) {
                db.execute_batch("REINDEX")?;
            }
            // Before rows go: their triggers take entries out of the keyword index.
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
                db.execute_batch(MEND_PATHS)?;
            }
            if has(Damage::Tags) || has(Damage::References) {
                db.execute(REMOVE_TAGS, [])?;
            }
            if has(Damage::Passages) {
                mend_hashes(db)?;
            }
            // An entry without its chunk cannot be taken out alone: its text is lost.
            if has(Damage::Grams) || has(Damage::References) {
                grams::rebuild(db)?;
            }
            if has(Damage::BadVectors) || has(Damage::ChangedVectors) {
                remove_bad_vectors(db)?;
            }
            if has(Damage::LooseVectors) || has(Damage::References) {
                remove_loose_vectors(db)?;
            }
            if has(Damage::Sizes) || has(Damage::References) {
                sizes::rebuild(db)?;
            }
            if has(Damage::MissingVectors) && !super::check::has_vector_table(db)? {
                rebuild_vectors(db)?;
            }
            // Last, because it takes what is stored to be right.
            if has(Damage::Checksums) {
                sums::fill(db)?;
            }
            erase::mark(db)?;
            encode_anew(db)
        })
    }

    /// Gives free pages back to the disk where they are many; returns whether that was done.
    ///
    /// `VACUUM` may number rows anew where a table has no integer key, and `vec0` finds its vectors
    /// by such numbers: SQLite keeps them where the table has an index, as that one has, and
    /// [`Store::examine`] tells if it ever does not.
    ///
    /// # Errors
    ///
    /// As [`Store::repair`].
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

/// Makes triggers, indexes and views as the migrations do.
fn mend_schema(db: &Connection) -> Step<()> {
    for entry in examine::missing_schema(db)? {
        db.execute_batch(&format!("DROP {} IF EXISTS {}", entry.kind, entry.name))?;
        db.execute_batch(&entry.sql)?;
    }
    Ok(())
}

/// Makes the chunks of a half document countable again, and lets its file be read again.
fn close_gaps(db: &Connection) -> Step<()> {
    let mut statement = db.prepare(CLOSE_GAPS)?;
    let moves = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let moves: Vec<(ChunkId, i64)> = moves.collect::<Result<_, _>>()?;
    db.execute_batch(MARK_HALF)?;
    for (id, chunk_index) in moves {
        db.prepare_cached(SET_INDEX)?
            .execute(named_params! { ":id": id, ":chunk_index": chunk_index })?;
    }
    Ok(())
}

/// Goes by the text: its hash is computed anew and its vector removed, to be computed anew too.
fn mend_hashes(db: &Connection) -> Step<()> {
    let mut changed = Vec::new();
    examine::each_text(db, |chunk_id, context, text, hash| {
        let right = PassageHash::of(&Chunk::passage(context, text));
        if right.bytes().as_slice() != hash {
            changed.push((chunk_id, right));
        }
    })?;
    for (id, hash) in &changed {
        db.prepare_cached(SET_HASH)?.execute(named_params! { ":id": id, ":hash": hash.bytes() })?;
    }
    let ids: Vec<ChunkId> = changed.into_iter().map(|it| it.0).collect();
    remove_vectors(db, &ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{TestDb, vector};

    fn damages(store: &Store) -> Vec<Damage> {
        let mut damages: Vec<Damage> =
            store.examine().unwrap().into_iter().map(|it| it.damage).collect();
        damages.sort();
        damages.dedup();
        damages
    }

    /// Repairs until nothing is left to be done, at most as often as `kb doctor` does.
    fn mend(store: &mut Store) {
        for _ in 0..2 {
            let found = damages(store);
            if found.is_empty() {
                return;
            }
            store.repair(&found).unwrap();
            store.binding().unwrap();
            let missing = store.unvectored(ChunkId(0), 100).unwrap();
            let embedded: Vec<_> =
                missing.iter().map(|it| (it.chunk_id, vector(&it.text))).collect();
            store.store_vectors(&embedded).unwrap();
        }
    }

    #[test]
    fn what_is_damaged_is_mended_and_the_rest_stays() {
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
                INSERT INTO document_paths VALUES ('/x', 99, 1, 1, NULL); PRAGMA foreign_keys = ON",
                Damage::References,
            ),
            (
                "DROP TRIGGER chunks_vec_ad; PRAGMA foreign_keys = OFF;
                DELETE FROM documents WHERE id = 2; PRAGMA foreign_keys = ON",
                Damage::References,
            ),
        ] {
            let mut db = TestDb::new();
            let id = db.add("/a.md", &["one 東京都", "two", "three"], &["kept"]);
            db.add("/b.md", &["four"], &[]);
            let before = (db.texts(id), db.store.document(id).unwrap().unwrap());
            db.store.connection.execute_batch(damage).unwrap();
            assert!(damages(&db.store).contains(&expected), "{damage}: {:?}", damages(&db.store));
            mend(&mut db.store);
            assert_eq!(db.store.check().unwrap(), Vec::<String>::new(), "{damage}");
            assert_eq!((db.texts(id), db.store.document(id).unwrap().unwrap()), before);
            let ranked = db.store.rank_by_cosine(&vector("two"), None, 1).unwrap();
            assert_eq!(db.store.hits(&[ranked[0].chunk_id]).unwrap()[0].chunk.chunk.text, "two");
            assert_eq!(db.store.occurrences("three").unwrap().len(), 1, "{damage}");
        }
    }

    #[test]
    fn a_half_document_is_read_again() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["one", "two", "three"], &["kept"]);
        db.store.connection.execute_batch("DELETE FROM chunks WHERE chunk_index = 1").unwrap();
        assert_eq!(damages(&db.store), [Damage::Gaps]);
        mend(&mut db.store);
        db.assert_whole();
        assert_eq!(db.texts(id), ["one", "three"]);
        let again = crate::store::testing::document("/a.md", &["one", "two", "three"], &[]);
        let known = db.store.known_path("/a.md").unwrap().unwrap();
        assert_ne!(Some(&known.stamp), again.stamp.as_ref(), "it is not taken for unchanged");
        let change = db.put(&again, &["one", "two", "three"], &[]);
        assert_eq!(change, crate::store::Change::Updated(id));
        assert_eq!(db.texts(id), ["one", "two", "three"]);
        assert_eq!(db.store.document(id).unwrap().unwrap().tags, ["kept"]);
        db.assert_whole();
    }

    #[test]
    fn what_only_a_copy_helps_against_is_left_alone() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one"], &[]);
        let outcome = db.store.repair(&[Damage::Sizes, Damage::Structure]);
        assert!(matches!(outcome, Err(Error::Corrupt { .. })));
        db.store.connection.execute_batch("DROP TABLE chunks_vec_next").unwrap();
        assert_eq!(damages(&db.store), [Damage::Tables]);
    }

    #[test]
    fn free_pages_are_given_back_and_every_vector_is_found_again() {
        let mut db = TestDb::new();
        let texts: Vec<String> =
            (0..900).map(|it| format!("{it} {}", "long ".repeat(300))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let first = db.add("/a.md", &texts[..600], &[]);
        let second = db.add("/b.md", &texts[600..], &[]);
        assert!(!db.store.compact().unwrap(), "nothing is free");
        db.store.remove(first).unwrap();
        let before = db.store.stats().unwrap().db_size_bytes;
        assert!(db.store.compact().unwrap());
        assert!(db.store.stats().unwrap().db_size_bytes < before / 2);
        db.assert_whole();
        let ranked = db.store.rank_by_cosine(&vector(texts[700]), None, 3).unwrap();
        let chunks = db.store.chunks(second).unwrap();
        assert!(ranked.iter().any(|it| it.chunk_id == chunks[100].id));
    }
}
