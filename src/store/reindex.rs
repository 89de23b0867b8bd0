//! Another model's vectors in, a database bound to that model out.
//!
//! New vectors gather in `chunks_vec_next`, which nothing searches. Documents come and go under the
//! old binding meanwhile. The switch is one transaction; until then searches know nothing of it,
//! and a reindex that was interrupted goes on where it stopped.

use rusqlite::{Connection, named_params};

use crate::document::{Binding, ChunkId};
use crate::error::{Error, Result};

use super::binding::{self, Slot};
use super::fault::Step;
use super::{Store, vectors};

/// How far a reindex is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reindexing {
    /// Chunks that have a vector of the new model.
    pub num_embedded: u32,
    /// Chunks there are.
    pub num_chunks: u32,
}

/// A chunk that has no vector of the new model yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// Its key.
    pub chunk_id: ChunkId,
    /// What it is read with; see [`crate::document::Chunk::passage`].
    pub context: String,
    /// Its own text.
    pub text: String,
}

const PROGRESS: &str = "
    SELECT
        (SELECT count(*) FROM chunks_vec_next) AS num_embedded,
        (SELECT count(*) FROM chunks) AS num_chunks";

const FORGET_NEXT: &str = "DELETE FROM chunks_vec_next";

const UNEMBEDDED: &str = "
    SELECT id, context, text
    FROM chunks
    WHERE id > :after
        AND NOT EXISTS (SELECT 1 FROM chunks_vec_next WHERE chunk_id = chunks.id)
    ORDER BY id
    LIMIT :limit";

/// Passes over a chunk that was removed while it was embedded.
const INSERT_NEXT: &str = "
    INSERT OR REPLACE INTO chunks_vec_next (chunk_id, embedding)
    SELECT id, :embedding FROM chunks WHERE id = :chunk_id";

const TAKE_OVER: &str = "
    INSERT INTO chunks_vec (chunk_id, embedding)
    SELECT chunk_id, embedding FROM chunks_vec_next ORDER BY chunk_id";

impl Store {
    /// Begins to change the database to another model, or goes on with it if it was interrupted;
    /// what another, unfinished change has gathered is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`], [`Error::DiskFull`] and what else the database refuses.
    pub fn begin_reindex(&mut self, wanted: &Binding) -> Result<Reindexing> {
        let progress = self.write(|db| {
            if binding::load(db, Slot::Next)?.as_ref() != Some(wanted) {
                db.execute(FORGET_NEXT, [])?;
                binding::save(db, Slot::Next, wanted)?;
            }
            progress(db)
        })?;
        self.reindexing = Some(wanted.clone());
        Ok(progress)
    }

    /// Returns the next chunks without a vector of the new model: at most `limit`, by id, all
    /// greater than `after`.
    ///
    /// # Errors
    ///
    /// What the database refuses.
    pub fn unembedded(&self, after: ChunkId, limit: u32) -> Result<Vec<Unembedded>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(UNEMBEDDED)?;
            let chunks =
                statement.query_map(named_params! { ":after": after, ":limit": limit }, |row| {
                    Ok(Unembedded {
                        chunk_id: row.get(0)?,
                        context: row.get(1)?,
                        text: row.get(2)?,
                    })
                })?;
            Ok(chunks.collect::<Result<_, _>>()?)
        })
    }

    /// Keeps vectors of the new model in one transaction.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] when another process has begun a change to yet another model;
    /// [`Error::Locked`], [`Error::DiskFull`] and what else the database refuses.
    pub fn store_reindexed(&mut self, embedded: &[(ChunkId, Vec<f32>)]) -> Result<()> {
        let reindexing = self.reindexing.clone();
        self.write(|db| {
            let wanted = check(db, reindexing.as_ref())?;
            let mut statement = db.prepare_cached(INSERT_NEXT)?;
            for (chunk_id, vector) in embedded {
                vectors::require_unit_shape(vector, wanted.dim)?;
                statement.execute(named_params! {
                    ":chunk_id": chunk_id,
                    ":embedding": vectors::to_blob(vector),
                })?;
            }
            Ok(())
        })
    }

    /// Switches to the new model in one transaction, if each chunk has a vector of it; else
    /// changes nothing and says how far the reindex is. Done when `num_embedded` is `num_chunks`.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] when another process has begun a change to yet another model;
    /// [`Error::Locked`], [`Error::DiskFull`] and what else the database refuses.
    pub fn finish_reindex(&mut self) -> Result<Reindexing> {
        let reindexing = self.reindexing.clone();
        let (progress, wanted) = self.write(|db| {
            let wanted = check(db, reindexing.as_ref())?;
            let progress = progress(db)?;
            if progress.num_embedded == progress.num_chunks {
                vectors::make_table(db, wanted.dim)?;
                db.execute(TAKE_OVER, [])?;
                db.execute(FORGET_NEXT, [])?;
                binding::save(db, Slot::Current, &wanted)?;
                binding::clear(db, Slot::Next)?;
            }
            Ok((progress, wanted))
        })?;
        if progress.num_embedded == progress.num_chunks {
            self.reindexing = None;
            *self.bound.borrow_mut() = Some(wanted);
        }
        Ok(progress)
    }
}

/// Returns the binding that is being changed to, which must be the one this store began with.
fn check(db: &Connection, begun: Option<&Binding>) -> Step<Binding> {
    let begun = begun.ok_or_else(|| Error::Store("no reindex was begun".into()))?;
    match binding::load(db, Slot::Next)? {
        Some(found) if found == *begun => Ok(found),
        Some(found) => Err(binding::mismatch(&found, begun).into()),
        // Another process has finished the same change.
        None => match binding::load(db, Slot::Current)? {
            Some(found) if found != *begun => Err(binding::mismatch(&found, begun).into()),
            _ => Err(Error::Store("the reindex was finished by another process".into()).into()),
        },
    }
}

fn progress(db: &Connection) -> Step<Reindexing> {
    Ok(db.query_row(PROGRESS, [], |row| {
        Ok(Reindexing { num_embedded: row.get(0)?, num_chunks: row.get(1)? })
    })?)
}
