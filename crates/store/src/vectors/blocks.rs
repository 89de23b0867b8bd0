//! Reads all blocks of vectors, with what is stored about them.

use rusqlite::{Connection, Row};

use super::{places, sums};
use crate::db::fault::Step;
use crate::ids::ChunkId;

/// How far the square of a vector's length may differ from 1. This is ten times what an import accepts, so that `kb
/// doctor` never rejects what was stored.
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

pub(crate) struct VectorBlock {
    pub(crate) number: i64,
    /// Place and chunk of each vector.
    pub(crate) places: Vec<(usize, ChunkId)>,
    /// All vectors, concatenated, in native byte order.
    pub(crate) vectors: Vec<u8>,
    pub(crate) codes: Option<Vec<u8>>,
    pub(crate) sums: Option<Vec<u8>>,
}

impl VectorBlock {
    /// Returns the bytes of the vector at a place; `None` if the block is too short.
    pub(crate) fn vector(&self, place: usize, dim: usize) -> Option<&[u8]> {
        self.vectors.get(place * dim * 4..(place + 1) * dim * 4)
    }

    /// Returns the checksum of the vector at a place; `None` if it has none.
    pub(crate) fn sum(&self, place: usize) -> Option<[u8; 8]> {
        sums::at(self.sums.as_deref(), place)
    }

    /// Returns the vector at a place if it is a unit vector and matches its checksum, if there is
    /// one.
    pub(crate) fn intact_vector(
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
pub(crate) fn each_block(db: &Connection, mut look: impl FnMut(Option<&VectorBlock>)) -> Step<()> {
    let mut statement = db.prepare(BLOCKS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        look(block(row)?.as_ref());
    }
    Ok(())
}

fn block(row: &Row<'_>) -> rusqlite::Result<Option<VectorBlock>> {
    let places = places::taken(row.get_ref(1)?.as_blob(), row.get_ref(2)?.as_blob());
    let vectors: Option<Vec<u8>> = row.get(3)?;
    let number = row.get(0)?;
    let (codes, sums) = (row.get(4)?, row.get(5)?);
    Ok(places.zip(vectors).map(|(places, vectors)| VectorBlock {
        number,
        places: places.collect(),
        vectors,
        codes,
        sums,
    }))
}

/// Whether the bytes are a unit vector of `dim` numbers.
pub(crate) fn is_unit(vector: &[u8], dim: usize) -> bool {
    let (numbers, _) = vector.as_chunks::<4>();
    let square: f32 = numbers.iter().map(|bytes| f32::from_ne_bytes(*bytes).powi(2)).sum();
    numbers.len() == dim && (square - 1.0).abs() < LENGTH_SLACK
}
