//! Keeps the intact vectors of a damaged table; the model computes the others again.

use std::collections::HashSet;

use rusqlite::{Connection, named_params};

use crate::document::{Binding, Chunk, Embedding};
use crate::error::Result;
use crate::ids::ChunkId;

use crate::Store;
use crate::db::binding::{self, BindingSlot};
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::db::sql;
use crate::vectors::layout::has_vector_table;
use crate::vectors::{self, VectorWriter, blocks, codes};

const LOOSE_VECTORS: &str =
    "SELECT rowid FROM chunks_vec_rowids WHERE rowid NOT IN (SELECT id FROM chunks)";

const CHUNK_IDS: &str = "SELECT id FROM chunks";

const UNVECTORED: &str = "
    SELECT id, context, text
    FROM chunks
    WHERE id > :after AND id NOT IN (SELECT rowid FROM chunks_vec_rowids)
    ORDER BY id
    LIMIT :limit";

const HAS_CHUNK: &str = "
    SELECT
        EXISTS (SELECT 1 FROM chunks WHERE id = :id)
        AND NOT EXISTS (SELECT 1 FROM chunks_vec_rowids WHERE rowid = :id)";

impl Store {
    /// Replaces a binding that cannot be read by that of `model`, if the vectors are by a model of this name; else the vectors
    /// are removed, and the next reindex makes them again.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn repair_binding(&mut self, model: Option<&Binding>) -> Result<()> {
        self.write(|db| {
            let name: Option<String> = binding::model_name(db)?;
            if let Some(model) = model.filter(|model| name.as_ref() == Some(&model.model_name)) {
                return binding::save(db, BindingSlot::Current, model);
            }
            vectors::drop_table(db)?;
            binding::clear(db, BindingSlot::Current)
        })
    }

    /// Returns the passages of chunks without a vector: at most `limit`, ordered by id, all with ids
    /// above `after`.
    pub fn unvectored(&self, after: ChunkId, limit: u32) -> Result<Vec<(ChunkId, String)>> {
        self.read(|db| {
            let params = named_params! { ":after": after, ":limit": limit };
            sql::rows(db, UNVECTORED, params, |row| {
                let (context, text): (String, String) = (row.get(1)?, row.get(2)?);
                Ok((row.get(0)?, Chunk::passage(&context, &text)))
            })
        })
    }

    /// Stores vectors of chunks that have none, in one transaction; skips chunks that were removed
    /// or got a vector meanwhile.
    pub fn store_vectors(&mut self, embedded: &[(ChunkId, Embedding)]) -> Result<()> {
        let bound = self.bound.borrow().clone();
        self.write(|db| {
            let Some(binding) = binding::check(db, bound.as_ref())? else { return Ok(()) };
            let mut writer = VectorWriter::new(db, DirectReadSupport::read(db)?)?;
            for (chunk_id, embedding) in embedded {
                vectors::require_unit_shape(&embedding.vector, binding.dim)?;
                if sql::value(db, HAS_CHUNK, named_params! { ":id": chunk_id })? {
                    writer.insert(*chunk_id, embedding)?;
                }
            }
            writer.finish()
        })
    }
}

/// Removes vectors that do not have unit length or differ from their checksums.
pub(crate) fn remove_bad_vectors(db: &Connection) -> Step<()> {
    let Some(binding) = binding::load(db, BindingSlot::Current)? else { return Ok(()) };
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    let mut bad = Vec::new();
    blocks::each_block(db, |block| {
        let Some(block) = block else { return };
        for (place, chunk_id) in &block.places {
            if block.intact_vector(*place, *chunk_id, dim).is_none() {
                bad.push(*chunk_id);
            }
        }
    })?;
    remove_vectors(db, &bad)
}

/// Removes the vectors of some chunks, and the codes, which are rebuilt.
pub(crate) fn remove_vectors(db: &Connection, ids: &[ChunkId]) -> Step<()> {
    if ids.is_empty() || !has_vector_table(db)? {
        return Ok(());
    }
    codes::forget(db)?;
    vectors::remove_vectors(db, ids)
}

pub(crate) fn remove_orphaned_vectors(db: &Connection) -> Step<()> {
    if !has_vector_table(db)? {
        return Ok(());
    }
    let loose: Vec<ChunkId> = sql::rows(db, LOOSE_VECTORS, [], |row| row.get(0))?;
    remove_vectors(db, &loose)
}

/// Rebuilds the table of vectors from the intact vectors of existing chunks.
pub(crate) fn rebuild_vectors(db: &Connection) -> Step<()> {
    let Some(binding) = binding::load(db, BindingSlot::Current)? else { return Ok(()) };
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    let mut waiting: HashSet<ChunkId> = sql::rows(db, CHUNK_IDS, [], |row| row.get(0))?;
    let mut good = Vec::new();
    if has_vector_table(db)? {
        // A table with missing parts has no vectors to keep.
        let _ = blocks::each_block(db, |block| {
            for (place, chunk_id) in block.iter().flat_map(|block| &block.places) {
                let vector = block.and_then(|block| block.intact_vector(*place, *chunk_id, dim));
                if let (Some(vector), true) = (vector, waiting.remove(chunk_id)) {
                    let (numbers, _) = vector.as_chunks::<4>();
                    let numbers: Vec<f32> =
                        numbers.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect();
                    good.push((*chunk_id, numbers));
                }
            }
        });
    }
    good.sort_unstable_by_key(|entry| entry.0);
    vectors::make_table(db, binding.dim)?;
    let mut writer = VectorWriter::new(db, DirectReadSupport::read(db)?)?;
    for (chunk_id, vector) in &good {
        writer.insert_vector(*chunk_id, vector)?;
    }
    writer.finish()
}

/// Rebuilds the codes: this is cheap, and right after any repair of the vectors.
pub(crate) fn rebuild_codes(db: &Connection) -> Step<()> {
    codes::forget(db)?;
    vectors::encode_from(db, 1)?;
    Ok(())
}
