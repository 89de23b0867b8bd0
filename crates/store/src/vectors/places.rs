//! Finds the blocks of vectors, and the places of a block that have one.

use rusqlite::Connection;

use crate::db::{fault::Step, sql};
use crate::ids::ChunkId;

const LAST_BLOCK: &str = "SELECT coalesce(max(chunk_id), 0) FROM chunks_vec_chunks";

/// Returns the number of the last block, 0 if there is none; blocks are numbered from 1.
pub(crate) fn last_block(db: &Connection) -> Step<i64> {
    sql::value(db, LAST_BLOCK, [])
}

/// Returns the places of a block that have a vector, with the ids of their chunks; `None` if the
/// two columns contradict each other.
pub(crate) fn taken<'a, E>(
    validity: Result<&'a [u8], E>,
    rowids: Result<&'a [u8], E>,
) -> Option<impl Iterator<Item = (usize, ChunkId)> + 'a> {
    let (validity, (rowids, rest)) = (validity.ok()?, rowids.ok()?.as_chunks::<8>());
    (rest.is_empty() && rowids.len() == validity.len() * 8).then(|| {
        let ids = rowids.iter().map(|bytes| ChunkId(i64::from_ne_bytes(*bytes)));
        ids.enumerate().filter(move |(place, _)| validity[place / 8] >> (place % 8) & 1 == 1)
    })
}
