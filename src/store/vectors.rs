//! Unit vectors in, cosine rankings out: the `vec0` table.
//!
//! The table is made here and not by a migration, because its width is the model's. A trigger
//! removes a chunk's vector with the chunk, however that goes.

use rusqlite::{Connection, Row, named_params, types::Type};

use crate::document::{ChunkId, Filter, Ranked};
use crate::error::{Error, Result};

use super::Store;
use super::fault::Step;
use super::filter::{FilterValues, passing_chunks};

/// Vectors in one block of `vec0`.
const BLOCK_ROWS: u32 = 1024;

/// The most neighbours one query of `vec0` returns (`SQLITE_VEC_VEC0_K_MAX` in sqlite-vec.c).
const MAX_NEIGHBOURS: u32 = 4096;

const DROP_TABLE: &str = "
    DROP TRIGGER IF EXISTS chunks_vec_ad;
    DROP TABLE IF EXISTS chunks_vec;";

const MAKE_TRIGGER: &str = "
    CREATE TRIGGER chunks_vec_ad AFTER DELETE ON chunks BEGIN
        DELETE FROM chunks_vec WHERE chunk_id = old.id;
    END;";

const INSERT_VECTOR: &str =
    "INSERT INTO chunks_vec (chunk_id, embedding) VALUES (:chunk_id, :embedding)";

/// Between unit vectors, cosine = 1 - distance² / 2. `vec0` takes no second ordering, so ties are
/// broken one level out.
macro_rules! rank_nearest {
    ($($condition:expr)?) => {
        concat!(
            "WITH nearest AS MATERIALIZED (
                SELECT chunk_id, distance
                FROM chunks_vec
                WHERE embedding MATCH :vector AND k = :depth ",
            $($condition,)?
            ")
            SELECT chunk_id, 1.0 - distance * distance / 2.0 AS score
            FROM nearest
            ORDER BY score DESC, chunk_id"
        )
    };
}

const RANK_ALL: &str = rank_nearest!();

const RANK_PASSING: &str = rank_nearest!(concat!("AND chunk_id IN (", passing_chunks!(), ")"));

/// The same ranking row by row: some times slower, but without a limit to its depth.
const RANK_DEEP: &str = concat!(
    "WITH compared AS MATERIALIZED (
        SELECT chunk_id, vec_distance_L2(embedding, :vector) AS distance
        FROM chunks_vec
    )
    SELECT chunk_id, 1.0 - distance * distance / 2.0 AS score
    FROM compared
    WHERE chunk_id IN (",
    passing_chunks!(),
    ")
    ORDER BY score DESC, chunk_id
    LIMIT :depth"
);

impl Store {
    /// Ranks chunks of documents that pass `filter` by the cosine between their vectors and
    /// `vector`, exactly. Best first, ties by chunk id; at most `depth`; empty before anything was
    /// embedded. The score lies in -1..=1, up to rounding.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] when the database has been bound to another model since this store
    /// told its binding.
    pub fn rank_by_cosine(
        &self,
        vector: &[f32],
        filter: &Filter,
        depth: u32,
    ) -> Result<Vec<Ranked>> {
        self.read(|db| {
            let Some(binding) = self.check_bound(db)? else { return Ok(Vec::new()) };
            require_unit_shape(vector, binding.dim)?;
            if depth == 0 {
                return Ok(Vec::new());
            }
            let sql = match filter {
                _ if depth > MAX_NEIGHBOURS => RANK_DEEP,
                _ if filter.is_empty() => RANK_ALL,
                _ => RANK_PASSING,
            };
            let values = FilterValues::new(filter)?;
            let vector = to_blob(vector);
            let own: [(&str, &dyn rusqlite::ToSql); 2] = [(":vector", &vector), (":depth", &depth)];
            let mut statement = db.prepare_cached(sql)?;
            let params = if sql == RANK_ALL { own.to_vec() } else { values.of_chunks(&own) };
            let ranked = statement.query_map(params.as_slice(), |row| {
                Ok(Ranked { chunk_id: row.get(0)?, score: row.get(1)? })
            })?;
            Ok(ranked.collect::<Result<_, _>>()?)
        })
    }
}

/// Makes the empty table for vectors of `dim` numbers, in place of the one there is.
pub(super) fn make_table(db: &Connection, dim: u32) -> Step<()> {
    db.execute_batch(DROP_TABLE)?;
    db.execute_batch(&format!(
        "CREATE VIRTUAL TABLE chunks_vec USING vec0 (
            chunk_id INTEGER PRIMARY KEY,
            embedding FLOAT[{dim}],
            chunk_size = {BLOCK_ROWS}
        )"
    ))?;
    db.execute_batch(MAKE_TRIGGER)?;
    Ok(())
}

pub(super) fn insert(db: &Connection, chunk_id: ChunkId, vector: &[f32]) -> Step<()> {
    db.prepare_cached(INSERT_VECTOR)?
        .execute(named_params! { ":chunk_id": chunk_id, ":embedding": to_blob(vector) })?;
    Ok(())
}

/// Refuses what would make a ranking meaningless: another width, or a number that is none.
pub(super) fn require_unit_shape(vector: &[f32], dim: u32) -> Step<()> {
    if vector.len() != usize::try_from(dim).unwrap_or(usize::MAX) {
        let reason = format!("a vector of {} numbers for a database of {dim}", vector.len());
        return Err(Error::Store(reason.into()).into());
    }
    if !vector.iter().all(|it| it.is_finite()) {
        return Err(Error::Store("a vector holds a value that is not a number".into()).into());
    }
    Ok(())
}

/// Returns the bytes `vec0` reads: 32-bit floats in the machine's own order.
pub(super) fn to_blob(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|it| it.to_ne_bytes()).collect()
}

/// Reads a vector from the first column.
pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Vec<f32>> {
    let blob = row
        .get_ref(0)?
        .as_blob()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, error.into()))?;
    let (numbers, _) = blob.as_chunks::<4>();
    Ok(numbers.iter().map(|it| f32::from_ne_bytes(*it)).collect())
}
