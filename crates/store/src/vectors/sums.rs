//! Keeps a checksum of each stored vector, in blocks, so that a corrupted vector is noticed.
//!
//! SQLite does not notice a flipped bit in a blob, and a vector with one is still nearly a unit
//! vector. A checksum is computed from the vector as the model gave it, never from the stored one,
//! except in databases that had no checksums. When a document is erased, the checksums of its
//! emptied places are cleared.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::{Connection, named_params};
use sha2::{Digest, Sha256};

use super::layout::{has_vector_table, knows_vec0};
use super::places;
use crate::db::{fault::Step, sql};
use crate::ids::ChunkId;

/// Bytes of a checksum: the first of a SHA-256.
const SUM_LEN: usize = 8;

/// The checksum of a place without a vector.
const NONE: [u8; SUM_LEN] = [0; SUM_LEN];

const PLACE: &str = "SELECT chunk_id, chunk_offset FROM chunks_vec_rowids WHERE rowid = :chunk_id";

const SUMS: &str = "SELECT sums FROM chunks_vec_sums WHERE block = :block";

const SAVE: &str = "
    INSERT INTO chunks_vec_sums (block, sums)
    VALUES (:block, :sums)
    ON CONFLICT (block) DO UPDATE SET sums = excluded.sums";

const FORGET: &str = "DELETE FROM chunks_vec_sums";

const FORGET_LOOSE: &str = "
    DELETE FROM chunks_vec_sums
    WHERE block NOT IN (SELECT chunk_id FROM chunks_vec_chunks)";

const TAKEN: &str = "
    SELECT chunks_vec_sums.block, chunks_vec_sums.sums, validity, rowids
    FROM chunks_vec_sums
    JOIN chunks_vec_chunks ON chunks_vec_chunks.chunk_id = chunks_vec_sums.block";

/// Returns the checksum of a chunk's vector, given in its stored form.
pub(crate) fn sum(chunk_id: ChunkId, vector: &[u8]) -> [u8; SUM_LEN] {
    let digest =
        Sha256::new().chain_update(chunk_id.0.to_le_bytes()).chain_update(vector).finalize();
    let mut sum = NONE;
    sum.copy_from_slice(&digest[..SUM_LEN]);
    sum
}

/// Returns a block's checksum for a place; `None` if it has none.
pub(crate) fn at(sums: Option<&[u8]>, place: usize) -> Option<[u8; SUM_LEN]> {
    let (sums, _) = sums?.as_chunks::<SUM_LEN>();
    sums.get(place).copied().filter(|sum| *sum != NONE)
}

/// Checksums collected for writing, one block at a time.
#[derive(Default)]
pub(crate) struct BlockChecksums(BTreeMap<i64, Vec<u8>>);

impl BlockChecksums {
    /// Adds the checksum of a vector that was just stored.
    pub(crate) fn add(&mut self, db: &Connection, chunk_id: ChunkId, vector: &[u8]) -> Step<()> {
        let params = named_params! { ":chunk_id": chunk_id };
        let (block, place): (i64, i64) =
            db.prepare_cached(PLACE)?.query_row(params, |row| row.try_into())?;
        if let Entry::Vacant(entry) = self.0.entry(block) {
            let params = named_params! { ":block": block };
            let sums: Option<Vec<u8>> = sql::first_row(db, SUMS, params, |row| row.get(0))?;
            entry.insert(sums.unwrap_or_default());
        }
        self.set(block, usize::try_from(place).unwrap_or_default(), sum(chunk_id, vector));
        Ok(())
    }

    /// Adds the stored checksums of a block, to complete them.
    pub(super) fn begin(&mut self, block: i64, sums: Vec<u8>) {
        self.0.insert(block, sums);
    }

    pub(super) fn set(&mut self, block: i64, place: usize, sum: [u8; SUM_LEN]) {
        let sums = self.0.entry(block).or_default();
        let end = (place + 1) * SUM_LEN;
        if sums.len() < end {
            sums.resize(end, 0);
        }
        sums[end - SUM_LEN..end].copy_from_slice(&sum);
    }

    pub(crate) fn save(self, db: &Connection) -> Step<()> {
        self.0.into_iter().try_for_each(|(block, sums)| {
            sql::run(db, SAVE, named_params! { ":block": block, ":sums": sums })
        })
    }
}

/// Clears the checksums of emptied places, because they could confirm a guess of a removed text.
pub(crate) fn clear_empty(db: &Connection) -> Step<()> {
    if !has_vector_table(db)? || !knows_vec0(db)? {
        return sql::run(db, FORGET, []);
    }
    sql::run(db, FORGET_LOOSE, [])?;
    let mut cleared = BlockChecksums::default();
    let mut blocks = db.prepare(TAKEN)?;
    let mut blocks = blocks.query([])?;
    while let Some(row) = blocks.next()? {
        let (block, sums): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let Some(taken) = places::taken(row.get_ref(2)?.as_blob(), row.get_ref(3)?.as_blob())
        else {
            continue;
        };
        let mut kept = vec![0; sums.len()];
        for (place, _) in taken {
            let bytes = place * SUM_LEN..(place + 1) * SUM_LEN;
            if let (Some(kept), Some(sum)) = (kept.get_mut(bytes.clone()), sums.get(bytes)) {
                kept.copy_from_slice(sum);
            }
        }
        if kept != sums {
            cleared.begin(block, kept);
        }
    }
    cleared.save(db)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDb;
    use crate::{Damage, Erasure};

    /// Returns whether each place of all blocks has a checksum, in order.
    fn places(db: &TestDb) -> Vec<bool> {
        let mut statement =
            db.store.connection.prepare("SELECT sums FROM chunks_vec_sums ORDER BY block").unwrap();
        let blocks = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        blocks
            .flat_map(|sums| {
                let sums = sums.unwrap();
                (0..sums.len() / SUM_LEN)
                    .map(move |place| at(Some(&sums), place).is_some())
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn every_vector_has_a_checksum_and_an_emptied_place_has_none() {
        let mut db = TestDb::new();
        let first = db.add("/a.md", &["one", "two"], &[]);
        db.add("/b.md", &["three"], &[]);
        assert_eq!(places(&db), [true; 3]);
        db.store.remove(first).unwrap();
        db.assert_intact();
        assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
        assert_eq!(places(&db), [false, false, true]);
        let texts: Vec<String> = (0..300).map(|number| format!("text {number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        db.add("/c.md", &texts, &[]);
        assert_eq!(places(&db).iter().filter(|has_sum| **has_sum).count(), 301);
        db.assert_intact();
    }

    #[test]
    fn a_flipped_bit_is_noticed_and_its_document_named() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        let second = db.add("/b.md", &["three"], &[]);
        let (before, after): (Vec<u8>, Vec<u8>) = {
            let sql = "SELECT substr(vectors, 1, 32), substr(vectors, 33) FROM chunks_vec_vector_chunks00";
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            db.store.connection.query_row(sql, [], read).unwrap()
        };
        // The lowest bit of a number of the third vector, which stays a unit vector.
        let flipped = [before, vec![after[0] ^ 1], after[1..].to_vec()].concat();
        let flip = "UPDATE chunks_vec_vector_chunks00 SET vectors = ?";
        db.store.connection.execute(flip, [flipped]).unwrap();
        let found = db.store.examine().unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].damage, Damage::ChangedVectors);
        assert!(found[0].message.contains(&format!("(document {second})")), "{found:?}");
        db.store.repair(&[Damage::ChangedVectors]).unwrap();
        let missing = db.store.unvectored(ChunkId(0), 10).unwrap();
        assert!(matches!(missing.as_slice(), [(_, passage)] if passage.ends_with("three")));
    }

    #[test]
    fn an_older_database_gets_checksums() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        db.store.connection.execute("DELETE FROM chunks_vec_sums", []).unwrap();
        let damages: Vec<Damage> =
            db.store.examine().unwrap().into_iter().map(|finding| finding.damage).collect();
        assert_eq!(damages, [Damage::Checksums]);
        db.store.repair(&damages).unwrap();
        assert_eq!(places(&db), [true; 2]);
        db.assert_intact();
    }
}
