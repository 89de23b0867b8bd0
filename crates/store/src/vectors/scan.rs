//! Finds the stored vectors nearest to a query's, reading the tables behind `vec0`.
//!
//! The layout of `vec0` suits a scan: it stores whole blocks of vectors, one blob per block. Its
//! own query takes 19 ms for 22,000 vectors of 384 numbers and 300 neighbours, mostly because it
//! sorts each block by repeated search; this module takes a third of that. The layout is part of
//! the file format, and so of the pinned version; tests compare the two.
//!
//! In a large database the codes of the vectors (`codes.rs`) first choose those worth reading.

use std::ops::RangeInclusive;

use rusqlite::blob::Blob;
use rusqlite::{Connection, MAIN_DB, Row, named_params};
use wide::f32x4;

use crate::ids::{ChunkId, RankedChunk};

use super::codes;
use super::codes::QueryLookupTable;
use super::nearest::{NearestVectors, VectorCandidate};
use super::places::taken;
use crate::db::fault::{DatabaseFault, Step};

/// Blocks, oldest first. `validity` has a bit for each place, `rowids` the id of the chunk there.
const BLOCKS: &str = "
    SELECT chunk_id, validity, rowids
    FROM chunks_vec_chunks
    WHERE chunk_id BETWEEN :first AND :last
    ORDER BY chunk_id";

/// The same blocks with the codes of their vectors, if they have any.
const CODED_BLOCKS: &str = "
    SELECT chunks_vec_chunks.chunk_id, validity, rowids, codes
    FROM chunks_vec_chunks
    LEFT JOIN chunks_vec_codes ON chunks_vec_codes.block = chunks_vec_chunks.chunk_id
    WHERE chunks_vec_chunks.chunk_id BETWEEN :first AND :last
    ORDER BY chunks_vec_chunks.chunk_id";

/// The table and column with the concatenated vectors of a block, ordered by place.
const VECTORS_TABLE: &str = "chunks_vec_vector_chunks00";
const VECTORS_COLUMN: &str = "vectors";

/// Numbers multiplied at once, four in each of four registers: fixed, so that a cosine is the same number on every
/// processor.
const LANES: usize = 16;

/// Ranks chunks of some blocks by the dot product of their vectors with `query`; best first, ties
/// by chunk id, at most `depth`. If `passing` is given, only the chunks in it, which is ordered by
/// id.
pub(crate) fn nearest(
    db: &Connection,
    query: &[f32],
    passing: Option<&[ChunkId]>,
    depth: usize,
    blocks: RangeInclusive<i64>,
) -> Step<Vec<RankedChunk>> {
    let range = named_params! { ":first": blocks.start(), ":last": blocks.end() };
    let mut nearest = NearestVectors::new(depth);
    let mut vectors = Vectors::new(db, query);
    let mut blocks = db.prepare_cached(BLOCKS)?;
    let mut blocks = blocks.query(range)?;
    let mut places = Vec::new();
    while let Some(row) = blocks.next()? {
        let block: i64 = row.get(0)?;
        read_places(row, block, passing, &mut places)?;
        vectors.compare(block, &places, |place, chunk_id, score| {
            nearest.offer(VectorCandidate { score, chunk_id, block, place });
        })?;
    }
    Ok(nearest.ranked())
}

/// Finds the chunks of some blocks whose vectors seem nearest to `query` by their codes. For a
/// block without codes, compares the vectors themselves. Best first, at most `depth`.
pub(super) fn seemingly_nearest(
    db: &Connection,
    query: &[f32],
    passing: Option<&[ChunkId]>,
    depth: usize,
    blocks: RangeInclusive<i64>,
) -> Step<Vec<VectorCandidate>> {
    let range = named_params! { ":first": blocks.start(), ":last": blocks.end() };
    let mut nearest = NearestVectors::new(depth);
    let mut vectors = Vectors::new(db, query);
    let table = QueryLookupTable::new(query);
    let code_len = codes::code_len(query.len());
    let mut blocks = db.prepare_cached(CODED_BLOCKS)?;
    let mut blocks = blocks.query(range)?;
    let mut places = Vec::new();
    while let Some(row) = blocks.next()? {
        let block: i64 = row.get(0)?;
        read_places(row, block, passing, &mut places)?;
        let codes = row.get_ref(3)?.as_blob_or_null().map_err(|_| damaged(block))?;
        match codes::of_block(codes, query.len())? {
            Some(codes) => {
                for (place, chunk_id) in &places {
                    let code = codes.get(place * code_len..(place + 1) * code_len);
                    let score = table.estimate(code.ok_or_else(|| damaged(block))?);
                    nearest.offer(VectorCandidate {
                        score,
                        chunk_id: *chunk_id,
                        block,
                        place: *place,
                    });
                }
            }
            None => vectors.compare(block, &places, |place, chunk_id, score| {
                nearest.offer(VectorCandidate { score, chunk_id, block, place });
            })?,
        }
    }
    Ok(nearest.into_candidates())
}

/// Compares `query` with the vectors of candidates, in no particular order. Candidates that another
/// process has removed meanwhile are left out.
pub(super) fn rescored(
    db: &Connection,
    query: &[f32],
    candidates: &[VectorCandidate],
) -> Step<Vec<RankedChunk>> {
    let mut ranked = Vec::with_capacity(candidates.len());
    let mut vectors = Vectors::new(db, query);
    let mut places = Vec::new();
    let mut statement = db.prepare_cached(BLOCKS)?;
    for candidates in candidates.chunk_by(|a, b| a.block == b.block) {
        let Some(block) = candidates.first().map(|candidate| candidate.block) else { continue };
        let mut rows = statement.query(named_params! { ":first": block, ":last": block })?;
        let Some(row) = rows.next()? else { continue };
        read_places(row, block, None, &mut places)?;
        places.retain(|(place, chunk_id)| {
            candidates
                .iter()
                .any(|candidate| (candidate.place, candidate.chunk_id) == (*place, *chunk_id))
        });
        vectors.compare(block, &places, |_, chunk_id, score| {
            ranked.push(RankedChunk { chunk_id, score: f64::from(score) });
        })?;
    }
    Ok(ranked)
}

/// Touches the pages of some blocks' vectors until `is_enough`. SQLite finds the last number of a block by going
/// through all its pages.
pub(crate) fn touch(
    db: &Connection,
    blocks: RangeInclusive<i64>,
    is_enough: &dyn Fn() -> bool,
) -> Step<()> {
    let mut open: Option<Blob<'_>> = None;
    for block in blocks {
        if is_enough() {
            break;
        }
        // A block that another process has removed is left out.
        open = match open.take() {
            None => db.blob_open(MAIN_DB, VECTORS_TABLE, VECTORS_COLUMN, block, true).ok(),
            Some(mut blob) => blob.reopen(block).ok().map(|()| blob),
        };
        if let Some(blob) = &open
            && let Some(last) = blob.len().checked_sub(1)
        {
            blob.read_at_exact(&mut [0], last).map_err(|_| damaged(block))?;
        }
    }
    Ok(())
}

/// Reads the vectors of blocks and compares them with a query's.
struct Vectors<'a> {
    db: &'a Connection,
    query: &'a [f32],
    blob: Option<Blob<'a>>,
    bytes: Vec<u8>,
}

impl<'a> Vectors<'a> {
    fn new(db: &'a Connection, query: &'a [f32]) -> Self {
        Self { db, query, blob: None, bytes: Vec::new() }
    }

    /// Calls `found` with place, chunk and dot product for each of the given places of a block, in
    /// their order; reads the range from the first to the last of them.
    fn compare(
        &mut self,
        block: i64,
        places: &[(usize, ChunkId)],
        mut found: impl FnMut(usize, ChunkId, f32),
    ) -> Step<()> {
        let (Some((first, _)), Some((last, _))) = (places.first(), places.last()) else {
            return Ok(());
        };
        let stride = size_of_val(self.query);
        let blob = match self.blob.take() {
            None => self.db.blob_open(MAIN_DB, VECTORS_TABLE, VECTORS_COLUMN, block, true)?,
            Some(mut blob) => {
                blob.reopen(block)?;
                blob
            }
        };
        let blob = self.blob.insert(blob);
        self.bytes.resize((last - first + 1) * stride, 0);
        blob.read_at_exact(&mut self.bytes, first * stride).map_err(|_| damaged(block))?;
        for (place, chunk_id) in places {
            let at = (place - first) * stride;
            found(*place, *chunk_id, dot(self.query, &self.bytes[at..at + stride]));
        }
        Ok(())
    }
}

/// Fills `places` with the block's chunks that pass.
fn read_places(
    row: &Row<'_>,
    block: i64,
    passing: Option<&[ChunkId]>,
    places: &mut Vec<(usize, ChunkId)>,
) -> Step<()> {
    places.clear();
    places.extend(
        taken(row.get_ref(1)?.as_blob(), row.get_ref(2)?.as_blob())
            .ok_or_else(|| damaged(block))?,
    );
    let Some(passing) = passing else { return Ok(()) };
    let ids = places.iter().map(|taken| taken.1);
    let (Some(least), Some(greatest)) = (ids.clone().min(), ids.max()) else { return Ok(()) };
    // The ids of a block are close together, so only a small part of a long list has to be
    // searched.
    let passing = &passing[passing.partition_point(|id| *id < least)..];
    let passing = &passing[..passing.partition_point(|id| *id <= greatest)];
    places.retain(|(_, id)| passing.binary_search(id).is_ok());
    Ok(())
}

fn damaged(block: i64) -> DatabaseFault {
    DatabaseFault::Corrupt(format!("block {block} of the vectors cannot be read"))
}

/// Returns the dot product of a vector and the bytes of another vector of the same width.
pub(crate) fn dot(left: &[f32], right: &[u8]) -> f32 {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<{ LANES * size_of::<f32>() }>();
    // The type names the registers: what the compiler makes of a plain array depends on its level of optimisation.
    let mut sums = [f32x4::ZERO; 4];
    for (left, right) in left.iter().zip(right) {
        let left: [f32x4; 4] = bytemuck::pod_read_unaligned(bytemuck::bytes_of(left));
        let right: [f32x4; 4] = bytemuck::pod_read_unaligned(right);
        for lane in 0..4 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let sums: [f32; LANES] = bytemuck::cast(sums);
    let (right_rest, _) = right_rest.as_chunks::<4>();
    let rest =
        left_rest.iter().zip(right_rest).map(|(left, right)| left * f32::from_ne_bytes(*right));
    sums.iter().sum::<f32>() + rest.sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Chunk, Embedding};
    use crate::error::Error;
    use crate::testing::{TestDb, chunk, document, vector};
    use crate::vectors::places::last_block;

    #[test]
    fn contradicting_columns_are_reported_as_corruption() {
        for damage in [
            "UPDATE chunks_vec_chunks SET validity = x'01'",
            "UPDATE chunks_vec_chunks SET validity = 7",
            "UPDATE chunks_vec_chunks SET rowids = x'0102'",
            "UPDATE chunks_vec_vector_chunks00 SET vectors = x'0102'",
            "DELETE FROM chunks_vec_vector_chunks00",
        ] {
            let mut db = TestDb::new();
            db.add("/a.md", &["words"], &[]);
            db.damage(damage);
            let outcome = db.store.rank_by_cosine(&vector("words"), None, 10);
            assert!(matches!(outcome, Err(Error::Corrupt { .. } | Error::Store(_))), "{damage}");
        }
    }

    #[test]
    fn each_chunk_is_compared_by_its_own_code() {
        let mut db = TestDb::new();
        // The corners of a cube in turn, so that signs are enough to tell them apart.
        let corner = |number: usize| {
            (0..4)
                .map(|axis| if number >> axis & 1 == 0 { 0.5 } else { -0.5 })
                .collect::<Vec<f32>>()
        };
        let texts: Vec<String> = (0..400).map(|number| number.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let chunks: Vec<Chunk> = texts.iter().map(|text| chunk(text)).collect();
        let embeddings: Vec<Embedding> =
            (0..400).map(|number| Embedding { vector: corner(number), codes: None }).collect();
        let new = document("/a.md", &texts, &[]);
        let id = db.store.replace(&new, &chunks, &embeddings, &|_| false).unwrap().document_id();
        let ids: Vec<ChunkId> = db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect();
        let connection = &db.store.connection;
        let num_blocks = codes::make(connection, 4, 1, 1).unwrap();
        assert!(num_blocks > 1);
        let coded = 1..=last_block(connection).unwrap() - 1;
        for number in 0..16 {
            let found =
                seemingly_nearest(connection, &corner(number), None, 10, coded.clone()).unwrap();
            let corners: Vec<usize> = found
                .iter()
                .map(|found| ids.iter().position(|id| *id == found.chunk_id).unwrap() % 16)
                .collect();
            assert_eq!(corners, [number; 10]);
        }
    }

    #[test]
    fn every_number_of_any_width_is_summed() {
        for len in [0_u16, 1, 15, 16, 17, 32, 384, 385] {
            let numbers: Vec<f32> = (0..len).map(f32::from).collect();
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            let expected: f64 =
                numbers.iter().map(|number| f64::from(*number) * f64::from(*number)).sum();
            assert!((f64::from(dot(&numbers, &bytes)) - expected).abs() <= expected * 1e-6);
        }
    }
}
