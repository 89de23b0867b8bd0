//! Finds contradictions in the table of vectors, and with the binding and the codes.
//!
//! Reads the tables of `vec0`, one block at a time; see `scan.rs`.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::document::ChunkId;

use super::finding::{Damage, Finding};
use crate::store::db::binding::Slot;
use crate::store::db::fault::Step;
use crate::store::db::{binding, layout};
use crate::store::documents::rows;
use crate::store::vectors::{codes, scan, sums};

/// How far the square of a vector's length may differ from 1.
const LENGTH_SLACK: f32 = 0.1;

const BLOCKS: &str = "
    SELECT
        chunks_vec_chunks.chunk_id,
        chunks_vec_chunks.validity,
        chunks_vec_chunks.rowids,
        chunks_vec_vector_chunks00.vectors,
        chunks_vec_codes.codes,
        chunks_vec_sums.sums
    FROM chunks_vec_chunks
    LEFT JOIN chunks_vec_vector_chunks00
        ON chunks_vec_vector_chunks00.rowid = chunks_vec_chunks.chunk_id
        AND chunks_vec_vector_chunks00._rowid_ = chunks_vec_chunks.chunk_id
    LEFT JOIN chunks_vec_codes ON chunks_vec_codes.block = chunks_vec_chunks.chunk_id
    LEFT JOIN chunks_vec_sums ON chunks_vec_sums.block = chunks_vec_chunks.chunk_id
    ORDER BY chunks_vec_chunks.chunk_id";

/// The place where `vec0` looks for a vector.
const PLACES: &str = "SELECT rowid, chunk_id, chunk_offset FROM chunks_vec_rowids";

const DOCUMENTS: &str = "
    SELECT DISTINCT document_id
    FROM chunks
    WHERE id IN (SELECT value FROM json_each(:chunk_ids))
    ORDER BY document_id";

/// Maximum number of documents with damaged vectors to name; the others are counted.
const MAX_NAMED: usize = 10;

const TABLE_SQL: &str = "SELECT sql FROM sqlite_schema WHERE name = 'chunks_vec'";

const TRIGGERS: &str = "
    SELECT
        EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'chunks_vec_ad')
        AND (
            EXISTS (
                SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'chunks_vec_codes_bd'
            )
            OR NOT EXISTS (SELECT 1 FROM chunks_vec_codes)
        )";

const LOOSE_CODES: &str = "
    SELECT count(*)
    FROM chunks_vec_codes
    WHERE block NOT IN (SELECT chunk_id FROM chunks_vec_chunks)";

/// A block of vectors.
pub(in crate::store) struct Block {
    pub(in crate::store) number: i64,
    /// Place and chunk of each vector.
    pub(in crate::store) places: Vec<(usize, ChunkId)>,
    /// All vectors, concatenated, in native byte order.
    pub(in crate::store) vectors: Vec<u8>,
    codes: Option<Vec<u8>>,
    /// Checksums of the vectors.
    pub(in crate::store) sums: Option<Vec<u8>>,
}

impl Block {
    /// Returns the bytes of the vector at a place; `None` if the block is too short.
    pub(in crate::store) fn vector(&self, place: usize, dim: usize) -> Option<&[u8]> {
        self.vectors.get(place * dim * 4..(place + 1) * dim * 4)
    }

    /// Returns the checksum of the vector at a place; `None` if it has none.
    pub(in crate::store) fn sum(&self, place: usize) -> Option<[u8; 8]> {
        sums::at(self.sums.as_deref(), place)
    }

    /// Returns the vector at a place if it is a unit vector and matches its checksum, if there is
    /// one.
    pub(in crate::store) fn intact_vector(
        &self,
        place: usize,
        chunk_id: ChunkId,
        dim: usize,
    ) -> Option<&[u8]> {
        let vector = self.vector(place, dim).filter(|vector| is_unit(vector, dim))?;
        let is_same = self.sum(place).is_none_or(|sum| sum == sums::sum(chunk_id, vector));
        is_same.then_some(vector)
    }
}

/// Calls `look` with every block; `None` for an unreadable one.
pub(in crate::store) fn each_block(
    db: &Connection,
    mut look: impl FnMut(Option<&Block>),
) -> Step<()> {
    let mut statement = db.prepare(BLOCKS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        look(block(row)?.as_ref());
    }
    Ok(())
}

fn block(row: &Row<'_>) -> rusqlite::Result<Option<Block>> {
    let places = scan::taken(row.get_ref(1)?.as_blob(), row.get_ref(2)?.as_blob());
    let vectors: Option<Vec<u8>> = row.get(3)?;
    let number = row.get(0)?;
    let (codes, sums) = (row.get(4)?, row.get(5)?);
    Ok(places.zip(vectors).map(|(places, vectors)| Block {
        number,
        places: places.collect(),
        vectors,
        codes,
        sums,
    }))
}

/// Whether the bytes are a unit vector of `dim` numbers.
pub(in crate::store) fn is_unit(vector: &[u8], dim: usize) -> bool {
    let (numbers, _) = vector.as_chunks::<4>();
    let square: f32 = numbers.iter().map(|bytes| f32::from_ne_bytes(*bytes).powi(2)).sum();
    numbers.len() == dim && (square - 1.0).abs() < LENGTH_SLACK
}

/// Compares the table of vectors with the binding and with itself, and the codes with the vectors.
pub(in crate::store) fn examine(db: &Connection, found: &mut Vec<Finding>) -> Step<()> {
    let sql: Option<String> = db.query_row(TABLE_SQL, [], |row| row.get(0)).optional()?;
    let binding = binding::load(db, Slot::Current)?;
    let (Some(sql), Some(binding)) = (&sql, &binding) else {
        if sql.is_some() != binding.is_some() {
            let message = "there are vectors without a model, or a model without vectors";
            found.push(Finding::new(Damage::VectorTable, message));
        }
        return Ok(());
    };
    if !sql.contains(&format!("FLOAT[{}]", binding.dim)) {
        let message =
            format!("the vectors do not have {} dimensions, as the model's do", binding.dim);
        found.push(Finding::new(Damage::VectorTable, message));
        return Ok(());
    }
    if !layout::knows_vec0(db)? {
        return Ok(());
    }
    if !db.query_row(TRIGGERS, [], |row| row.get::<_, bool>(0))? {
        let message = "the triggers that remove a chunk's vector are missing";
        found.push(Finding::new(Damage::VectorTable, message));
    }
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    let mut places = places(db)?;
    let (mut num_unreadable, mut num_bad, mut num_astray, mut num_codes) = (0, 0, 0, 0);
    let (mut num_unsummed, mut changed) = (0, Vec::new());
    each_block(db, |block| {
        let Some(block) = block else {
            num_unreadable += 1;
            return;
        };
        for (place, chunk_id) in &block.places {
            num_astray += i64::from(places.remove(chunk_id) != Some((block.number, *place)));
            let vector = block.vector(*place, dim);
            num_bad += i64::from(!vector.is_some_and(|vector| is_unit(vector, dim)));
            match (block.sum(*place), vector) {
                (None, _) => num_unsummed += 1,
                (Some(sum), Some(vector)) if sum != sums::sum(*chunk_id, vector) => {
                    changed.push(*chunk_id);
                }
                _ => {}
            }
        }
        let is_right = |codes: &Vec<u8>| *codes == codes::encode(&block.vectors, dim);
        num_codes += i64::from(!block.codes.as_ref().is_none_or(is_right));
    })?;
    num_astray += i64::try_from(places.len()).unwrap_or(i64::MAX);
    num_codes += db.query_row(LOOSE_CODES, [], |row| row.get::<_, i64>(0))?;
    let counts = [
        (Damage::VectorTable, num_unreadable, "block of vectors that cannot be read"),
        (Damage::VectorTable, num_astray, "vector in the wrong place"),
        (Damage::BadVectors, num_bad, "vector without unit length"),
        (Damage::Checksums, num_unsummed, "vector without a checksum"),
        (Damage::Codes, num_codes, "block with codes that do not match the vectors"),
    ];
    found.extend(
        counts
            .into_iter()
            .filter_map(|(damage, count, what)| Finding::counted(damage, count, what)),
    );
    if !changed.is_empty() {
        let (count, documents) = (changed.len(), documents_of(db, &changed)?);
        let what = if count == 1 { "vector has" } else { "vectors have" };
        let message = format!("{count} {what} changed since being stored ({documents})");
        found.push(Finding::new(Damage::ChangedVectors, message));
    }
    Ok(())
}

/// Returns the names of the documents of chunks.
fn documents_of(db: &Connection, chunk_ids: &[ChunkId]) -> Step<String> {
    let mut statement = db.prepare(DOCUMENTS)?;
    let params = named_params! { ":chunk_ids": rows::to_json(chunk_ids)? };
    let ids = statement.query_map(params, |row| row.get::<_, i64>(0))?;
    let ids: Vec<String> = ids.map(|id| id.map(|id| id.to_string())).collect::<Result<_, _>>()?;
    let (first, further) = ids.split_at(ids.len().min(MAX_NAMED));
    let more =
        if further.is_empty() { String::new() } else { format!(" and {} more", further.len()) };
    let noun = if ids.len() == 1 { "document" } else { "documents" };
    Ok(format!("{noun} {}{more}", first.join(", ")))
}

/// Returns the block and place of each chunk's vector.
fn places(db: &Connection) -> Step<HashMap<ChunkId, (i64, usize)>> {
    let mut statement = db.prepare(PLACES)?;
    let rows = statement.query_map([], |row| {
        let place: i64 = row.get(2)?;
        Ok((row.get(0)?, (row.get(1)?, usize::try_from(place).unwrap_or(usize::MAX))))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{TestDb, vector};

    #[track_caller]
    fn check(damage: &str, expected: Damage) {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two", "three"], &[]);
        db.store.connection.execute_batch(damage).unwrap();
        let found = db.store.examine().unwrap();
        assert!(found.iter().any(|finding| finding.damage == expected), "{damage}: {found:?}");
    }

    #[test]
    fn a_contradicting_table_is_reported() {
        for damage in [
            "UPDATE chunks_vec_rowids SET chunk_offset = 7 WHERE rowid = 1",
            "UPDATE chunks_vec_chunks SET rowids = zeroblob(1024)",
            "UPDATE chunks_vec_chunks SET rowids = x'00'",
            "UPDATE chunks_vec_vector_chunks00 SET _rowid_ = 9",
            "DELETE FROM chunks_vec_vector_chunks00",
            "DROP TRIGGER chunks_vec_ad",
            "UPDATE config SET value = '5' WHERE key = 'embedding_dim'",
            "DELETE FROM config WHERE key = 'model_name'",
        ] {
            check(damage, Damage::VectorTable);
        }
    }

    #[test]
    fn an_invalid_vector_is_reported() {
        for damage in [
            "UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(2048)",
            "UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(16)",
            "UPDATE chunks_vec_vector_chunks00 SET vectors = CAST(
                unhex('ffffffff') || substr(vectors, 5) AS BLOB)",
        ] {
            check(damage, Damage::BadVectors);
        }
        assert!(is_unit(&crate::store::vectors::to_blob(&vector("x")), 4));
    }

    #[test]
    fn codes_of_other_vectors_are_reported() {
        check("INSERT INTO chunks_vec_codes VALUES (1, x'00')", Damage::Codes);
        check("INSERT INTO chunks_vec_codes VALUES (5, x'00')", Damage::Codes);
    }
}
