//! Makes the table of vectors, and writes vectors with their checksums and codes.
//!
//! The table is created here and not by a migration, because its width depends on the model. Vectors are deleted here
//! and not by a trigger, because SQLite trusts no trigger with a table of `vec0`.

use rusqlite::{Connection, named_params};

use super::layout::{has_vector_table, knows_vec0};
use super::sums::BlockChecksums;
use super::{BLOCK_ROWS, codes, floor, places, to_blob, tokens};
use crate::Store;
use crate::db::binding::{self, BindingSlot};
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::db::{config, sql};
use crate::document::{Binding, Embedding};
use crate::error::{Error, Result};
use crate::ids::{ChunkId, DocumentId};

/// Deletes the vectors and the rows that belong to them, because others take their place.
const DROP_TABLE: &str = "
    DELETE FROM chunks_vec_sums;
    DELETE FROM chunks_tokens;
    DROP TABLE IF EXISTS chunks_vec;";

const CHUNKS_OF_DOCUMENT: &str = "SELECT id FROM chunks WHERE document_id = :document_id";

const REMOVE_VECTOR: &str = "DELETE FROM chunks_vec WHERE chunk_id = :id";

const INSERT_VECTOR: &str =
    "INSERT INTO chunks_vec (chunk_id, embedding) VALUES (:chunk_id, :embedding)";

const HAS_CHUNKS: &str = "SELECT EXISTS (SELECT 1 FROM chunks)";

impl Store {
    /// Binds the database to a model, which creates the table of vectors. Does nothing if it is
    /// bound to the same model. A database without chunks can be bound again.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] if there are vectors of another model; nothing is changed in that
    /// case. [`Error::Store`] if [there are chunks without vectors](Store::lacks_vectors).
    pub fn bind(&mut self, wanted: &Binding) -> Result<()> {
        // Usually there is nothing to do, so the write lock is not taken.
        let bound = self.binding()?;
        if !bound.as_ref().is_some_and(|bound| is_bound_to(bound, wanted)) {
            self.write(|db| match binding::load(db, BindingSlot::Current)? {
                Some(bound) if is_bound_to(&bound, wanted) => Ok(()),
                // A database of an older kb does not know its model files, and accepts those that are there.
                Some(bound) if bound.fits(wanted) => {
                    binding::save(db, BindingSlot::Current, wanted)
                }
                Some(bound) if db.query_row(HAS_CHUNKS, [], |row| row.get(0))? => {
                    Err(binding::mismatch(&bound, wanted).into())
                }
                None if db.query_row(HAS_CHUNKS, [], |row| row.get(0))? => {
                    Err(Error::Store("there are chunks without vectors".into()).into())
                }
                _ => {
                    make_table(db, wanted.dim)?;
                    binding::save(db, BindingSlot::Current, wanted)
                }
            })?;
        }
        *self.bound.borrow_mut() = Some(wanted.clone());
        Ok(())
    }

    /// Whether there are chunks and no model: vectors of all of them come by a [reindex](Store::begin_reindex).
    pub fn lacks_vectors(&self) -> Result<bool> {
        self.read(|db| match binding::load(db, BindingSlot::Current)? {
            Some(_) => Ok(false),
            None => Ok(db.query_row(HAS_CHUNKS, [], |row| row.get(0))?),
        })
    }

    /// Makes codes for all full blocks of a large database that have none; returns their number.
    pub fn encode_vectors(&mut self) -> Result<usize> {
        self.write(|db| encode_from(db, 1))
    }
}

/// Makes codes for full blocks from `first` on that have none, in a large database.
pub(crate) fn encode_from(db: &Connection, first: i64) -> Step<usize> {
    let Some(binding) = binding::load(db, BindingSlot::Current)? else { return Ok(0) };
    if !knows_vec0(db)? {
        return Ok(0);
    }
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    codes::make(db, dim, first, codes::MIN_BLOCKS)
}

/// Removes the table of vectors, and what is made from them.
pub(crate) fn drop_table(db: &Connection) -> Step<()> {
    codes::forget(db)?;
    config::remove(db, floor::KEY)?;
    db.execute_batch(DROP_TABLE)?;
    Ok(())
}

/// Replaces the table by an empty one for vectors of `dim` numbers.
pub(crate) fn make_table(db: &Connection, dim: u32) -> Step<()> {
    drop_table(db)?;
    db.execute_batch(&table_sql(dim))?;
    Ok(())
}

/// Returns the statement that makes the table for vectors of `dim` numbers.
pub(crate) fn table_sql(dim: u32) -> String {
    format!(
        "CREATE VIRTUAL TABLE chunks_vec USING vec0 (
            chunk_id INTEGER PRIMARY KEY,
            embedding FLOAT[{dim}],
            chunk_size = {BLOCK_ROWS}
        )"
    )
}

/// Runs `remove`, which deletes the chunks of a document, and then deletes their vectors: the trigger that removes codes
/// looks up where the vector of a chunk is.
pub(crate) fn removing<T>(
    db: &Connection,
    id: DocumentId,
    remove: impl FnOnce() -> Step<T>,
) -> Step<T> {
    let params = named_params! { ":document_id": id };
    let chunks: Vec<ChunkId> = sql::rows(db, CHUNKS_OF_DOCUMENT, params, |row| row.get(0))?;
    let removed = remove()?;
    remove_vectors(db, &chunks)?;
    Ok(removed)
}

/// Deletes the vectors of some chunks, if there is a table of vectors.
pub(crate) fn remove_vectors(db: &Connection, ids: &[ChunkId]) -> Step<()> {
    if ids.is_empty() || !has_vector_table(db)? {
        return Ok(());
    }
    ids.iter().try_for_each(|id| sql::run(db, REMOVE_VECTOR, named_params! { ":id": id }))
}

/// Stores vectors of chunks that have none, along with their checksums and, in a large database,
/// their codes.
pub(crate) struct VectorWriter<'a> {
    db: &'a Connection,
    /// Checksums and the number of the last block before writing; `None` if the layout of the table
    /// is unknown.
    extras: Option<(BlockChecksums, i64)>,
}

impl<'a> VectorWriter<'a> {
    /// `layout` is known to the caller's store: detecting it for each document takes as long as
    /// storing the document.
    pub(crate) fn new(db: &'a Connection, layout: DirectReadSupport) -> Step<Self> {
        let extras = if layout.knows_vec0 {
            Some((BlockChecksums::default(), places::last_block(db)?))
        } else {
            None
        };
        Ok(Self { db, extras })
    }

    /// Stores a chunk's vector, and the codes of its tokens if there are any.
    pub(crate) fn insert(&mut self, chunk_id: ChunkId, embedding: &Embedding) -> Step<()> {
        if let Some(codes) = &embedding.codes {
            tokens::insert(self.db, chunk_id, codes)?;
        }
        self.insert_vector(chunk_id, &embedding.vector)
    }

    pub(crate) fn insert_vector(&mut self, chunk_id: ChunkId, vector: &[f32]) -> Step<()> {
        let bytes = to_blob(vector);
        let params = named_params! { ":chunk_id": chunk_id, ":embedding": bytes };
        sql::run(self.db, INSERT_VECTOR, params)?;
        match &mut self.extras {
            Some((sums, _)) => sums.add(self.db, chunk_id, &bytes),
            None => Ok(()),
        }
    }

    /// Writes the checksums and codes.
    pub(crate) fn finish(self) -> Step<()> {
        let Some((sums, last_block)) = self.extras else { return Ok(()) };
        sums.save(self.db)?;
        let last = places::last_block(self.db)?;
        if last > last_block {
            encode_from(self.db, last_block)?;
        }
        if floor::is_due(last_block, last) {
            floor::save(self.db)?;
        }
        Ok(())
    }
}

/// Whether the database is bound to the wanted model, and knows its files if these are given.
fn is_bound_to(bound: &Binding, wanted: &Binding) -> bool {
    bound.fits(wanted) && (bound.files.sha256.is_some() || wanted.files.sha256.is_none())
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestDb, binding};

    #[test]
    fn the_table_has_the_width_of_the_model() {
        let mut db = TestDb::unbound();
        db.store.bind(&crate::document::Binding { dim: 384, ..binding("mini") }).unwrap();
        let sql: String = db
            .store
            .connection
            .query_row("SELECT sql FROM sqlite_schema WHERE name = 'chunks_vec'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert!(sql.contains("vec0") && sql.contains("chunk_id INTEGER PRIMARY KEY"), "{sql}");
        assert!(sql.contains("embedding FLOAT[384]"), "{sql}");
    }
}
