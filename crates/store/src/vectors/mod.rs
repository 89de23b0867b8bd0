//! Stores unit vectors and ranks them by cosine: the `vec0` table.
//!
//! `write` makes the table and fills it. For a query, `rank` divides its blocks among threads, `scan` compares the
//! vectors of some blocks, and `nearest` keeps the best.

pub(crate) mod blocks;
mod by_sql;
pub(crate) mod codes;
pub(crate) mod fill_sums;
pub(crate) mod floor;
pub(crate) mod layout;
mod nearest;
mod places;
mod rank;
pub(crate) mod reindex;
pub(crate) mod scan;
pub(crate) mod sums;
pub(crate) mod tokens;
mod write;

use rusqlite::RowIndex;
use rusqlite::types::Type;

use super::db::fault::Step;
use crate::db::row::StoredRow;
use crate::error::Error;

pub(super) use write::{
    VectorWriter, drop_table, encode_from, make_table, remove_vectors, removing, table_sql,
};

/// Vectors in one block of `vec0`. A filtered search reads only the blocks with matching chunks,
/// and in each block only the range from the first to the last of them.
pub(super) const BLOCK_ROWS: u32 = 128;

pub(super) const VECTOR: &str = "SELECT embedding FROM chunks_vec WHERE chunk_id = :chunk_id";

/// Refuses vectors that would make a ranking meaningless: another width, or a number that is not
/// finite.
pub(super) fn require_unit_shape(vector: &[f32], dim: u32) -> Step<()> {
    if vector.len() != usize::try_from(dim).unwrap_or(usize::MAX) {
        let reason = format!("a vector with {} dimensions for a database with {dim}", vector.len());
        return Err(Error::Store(reason.into()).into());
    }
    if !vector.iter().all(|number| number.is_finite()) {
        return Err(Error::Store("a vector has a value that is not a finite number".into()).into());
    }
    Ok(())
}

/// Returns the bytes in the form that `vec0` reads: 32-bit floats in native byte order.
pub(super) fn to_blob(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// Reads a vector from the first column.
pub(super) fn from_row(row: &StoredRow<'_>) -> rusqlite::Result<Vec<f32>> {
    from_column(row, 0)
}

pub(super) fn from_column(
    row: &StoredRow<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<Vec<f32>> {
    let blob = row
        .get_ref(column)?
        .as_blob()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, error.into()))?;
    let (numbers, _) = blob.as_chunks::<4>();
    Ok(numbers.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect())
}
