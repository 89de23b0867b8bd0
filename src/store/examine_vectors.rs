//! The table of vectors in, where it contradicts itself, the binding or the codes out.
//!
//! Reads what `vec0` keeps, block by block; see `scan.rs`.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::document::ChunkId;

use super::binding::Slot;
use super::examine::{Damage, Finding};
use super::fault::Step;
use super::{binding, codes, scan};

/// How far the square of a vector's length may be from 1.
const LENGTH_SLACK: f32 = 0.1;

const BLOCKS: &str = "
    SELECT
        chunks_vec_chunks.chunk_id,
        chunks_vec_chunks.validity,
        chunks_vec_chunks.rowids,
        chunks_vec_vector_chunks00.vectors,
        chunks_vec_codes.codes
    FROM chunks_vec_chunks
    LEFT JOIN chunks_vec_vector_chunks00
        ON chunks_vec_vector_chunks00.rowid = chunks_vec_chunks.chunk_id
        AND chunks_vec_vector_chunks00._rowid_ = chunks_vec_chunks.chunk_id
    LEFT JOIN chunks_vec_codes ON chunks_vec_codes.block = chunks_vec_chunks.chunk_id
    ORDER BY chunks_vec_chunks.chunk_id";

/// Where `vec0` looks for one vector.
const PLACES: &str = "SELECT rowid, chunk_id, chunk_offset FROM chunks_vec_rowids";

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

/// What a block of vectors holds.
pub(super) struct Block {
    pub(super) number: i64,
    /// Place and chunk of each vector.
    pub(super) places: Vec<(usize, ChunkId)>,
    /// All vectors, one after the other, as the machine writes numbers.
    pub(super) vectors: Vec<u8>,
    codes: Option<Vec<u8>>,
}

impl Block {
    /// Returns the bytes of the vector at a place; `None` where the block is too short.
    pub(super) fn vector(&self, place: usize, dim: usize) -> Option<&[u8]> {
        self.vectors.get(place * dim * 4..(place + 1) * dim * 4)
    }
}

/// Calls `look` with every block; `None` for one that cannot be read.
pub(super) fn each_block(db: &Connection, mut look: impl FnMut(Option<&Block>)) -> Step<()> {
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
    let codes = row.get(4)?;
    Ok(places.zip(vectors).map(|(places, vectors)| Block {
        number,
        places: places.collect(),
        vectors,
        codes,
    }))
}

/// Whether the bytes are a unit vector of `dim` numbers.
pub(super) fn is_unit(vector: &[u8], dim: usize) -> bool {
    let (numbers, _) = vector.as_chunks::<4>();
    let square: f32 = numbers.iter().map(|it| f32::from_ne_bytes(*it).powi(2)).sum();
    numbers.len() == dim && (square - 1.0).abs() < LENGTH_SLACK
}

/// Compares the table of vectors with the binding and with itself, and the codes with the vectors.
pub(super) fn examine(db: &Connection, found: &mut Vec<Finding>) -> Step<()> {
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
        let message = format!("the vectors are not of {} numbers, as the model's are", binding.dim);
        found.push(Finding::new(Damage::VectorTable, message));
        return Ok(());
    }
    if !db.query_row(TRIGGERS, [], |row| row.get::<_, bool>(0))? {
        let message = "what removes a vector with its chunk is missing";
        found.push(Finding::new(Damage::VectorTable, message));
    }
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    let mut places = places(db)?;
    let (mut num_unreadable, mut num_bad, mut num_astray, mut num_codes) = (0, 0, 0, 0);
    each_block(db, |block| {
        let Some(block) = block else {
            num_unreadable += 1;
            return;
        };
        for (place, chunk_id) in &block.places {
            num_astray += i64::from(places.remove(chunk_id) != Some((block.number, *place)));
            num_bad += i64::from(!block.vector(*place, dim).is_some_and(|it| is_unit(it, dim)));
        }
        let is_right = |it: &Vec<u8>| *it == codes::encode(&block.vectors, dim);
        num_codes += i64::from(!block.codes.as_ref().is_none_or(is_right));
    })?;
    num_astray += i64::try_from(places.len()).unwrap_or(i64::MAX);
    num_codes += db.query_row(LOOSE_CODES, [], |row| row.get::<_, i64>(0))?;
    let counts = [
        (Damage::VectorTable, num_unreadable, "blocks of vectors that cannot be read"),
        (Damage::VectorTable, num_astray, "vectors that are not where they are looked for"),
        (Damage::BadVectors, num_bad, "vectors that are no unit vectors"),
        (Damage::Codes, num_codes, "blocks whose coarse codes are not those of their vectors"),
    ];
    found.extend(
        counts.into_iter().filter_map(|(it, count, what)| Finding::counted(it, count, what)),
    );
    Ok(())
}

/// Returns where each chunk's vector is looked for: block and place.
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
    use super::super::testing::{TestDb, vector};
    use super::*;

    #[track_caller]
    fn check(damage: &str, expected: Damage) {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two", "three"], &[]);
        db.store.connection.execute_batch(damage).unwrap();
        let found = db.store.examine().unwrap();
        assert!(found.iter().any(|it| it.damage == expected), "{damage}: {found:?}");
    }

    #[test]
    fn a_table_that_contradicts_itself_is_told() {
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
    fn a_vector_that_is_none_is_told() {
        for damage in [
            "UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(2048)",
            "UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(16)",
            "UPDATE chunks_vec_vector_chunks00 SET vectors = CAST(
                unhex('ffffffff') || substr(vectors, 5) AS BLOB)",
        ] {
            check(damage, Damage::BadVectors);
        }
        assert!(is_unit(&super::super::vectors::to_blob(&vector("x")), 4));
    }

    #[test]
    fn codes_of_other_vectors_are_told() {
        check("INSERT INTO chunks_vec_codes VALUES (1, x'00')", Damage::Codes);
        check("INSERT INTO chunks_vec_codes VALUES (5, x'00')", Damage::Codes);
    }
}
