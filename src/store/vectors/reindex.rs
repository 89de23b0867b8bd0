//! Replaces all vectors by another model's and binds the database to that model.
//!
//! New vectors are collected in `chunks_vec_next`, which is not searched. Meanwhile documents are
//! added and removed under the old binding. The switch is one transaction, and searches do not
//! notice it before. An interrupted reindex continues where it stopped.

use rusqlite::{Connection, named_params};

use crate::document::{Binding, ChunkId};
use crate::error::{Error, Result};

use super::sums::Sums;
use crate::store::db::binding::{self, Slot};
use crate::store::db::erase;
use crate::store::db::fault::Step;
use crate::store::{Store, vectors};

/// The progress of a reindex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reindexing {
    /// Chunks that have a vector of the new model.
    pub num_embedded: u32,
    /// Number of all chunks.
    pub num_chunks: u32,
}

/// A chunk without a vector of the new model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// Its key.
    pub chunk_id: ChunkId,
    /// Its context, embedded with the text; see [`crate::document::Chunk::passage`].
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

/// Skips a chunk that was removed while it was embedded.
const INSERT_NEXT: &str = "
    INSERT OR REPLACE INTO chunks_vec_next (chunk_id, embedding)
    SELECT id, :embedding FROM chunks WHERE id = :chunk_id";

const TAKE_OVER: &str = "
    INSERT INTO chunks_vec (chunk_id, embedding)
    SELECT chunk_id, embedding FROM chunks_vec_next ORDER BY chunk_id";

const TAKEN_OVER: &str = "SELECT chunk_id, embedding FROM chunks_vec_next ORDER BY chunk_id";

impl Store {
    /// Begins to change the database to another model, or continues an interrupted change to that
    /// model. Drops the vectors of an unfinished change to yet another model.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`], [`Error::DiskFull`] and other errors of the database.
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

    /// Returns the target and the progress of an interrupted reindex; `None` if none was begun.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] and other errors of the database.
    pub fn interrupted_reindex(&self) -> Result<Option<(Binding, Reindexing)>> {
        self.read(|db| match binding::load(db, Slot::Next)? {
            Some(wanted) => Ok(Some((wanted, progress(db)?))),
            None => Ok(None),
        })
    }

    /// Returns the next chunks without a vector of the new model: at most `limit`, ordered by id,
    /// all with ids above `after`.
    ///
    /// # Errors
    ///
    /// Errors of the database.
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

    /// Stores vectors of the new model in one transaction.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] if another process has begun a change to yet another model;
    /// [`Error::Locked`], [`Error::DiskFull`] and other errors of the database.
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

    /// Switches to the new model in one transaction if each chunk has a vector of it. Otherwise
    /// changes nothing and returns the progress. Done when `num_embedded` is `num_chunks`.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] if another process has begun a change to yet another model;
    /// [`Error::Locked`], [`Error::DiskFull`] and other errors of the database.
    pub fn finish_reindex(&mut self) -> Result<Reindexing> {
        let reindexing = self.reindexing.clone();
        let (progress, wanted) = self.write(|db| {
            let wanted = check(db, reindexing.as_ref())?;
            let progress = progress(db)?;
            if progress.num_embedded == progress.num_chunks {
                vectors::make_table(db, wanted.dim)?;
                db.execute(TAKE_OVER, [])?;
                add_sums(db)?;
                db.execute(FORGET_NEXT, [])?;
                erase::mark(db)?;
                binding::save(db, Slot::Current, &wanted)?;
                binding::clear(db, Slot::Next)?;
                vectors::encode_from(db, 1)?;
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

/// Returns the target binding, which must be the one this store began with.
fn check(db: &Connection, begun: Option<&Binding>) -> Step<Binding> {
    let begun = begun.ok_or_else(|| Error::Store("no reindex is in progress".into()))?;
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

/// Stores checksums of the new vectors, as the model gave them.
fn add_sums(db: &Connection) -> Step<()> {
    let mut sums = Sums::default();
    let mut vectors = db.prepare(TAKEN_OVER)?;
    let mut vectors = vectors.query([])?;
    while let Some(row) = vectors.next()? {
        sums.add(db, row.get(0)?, &row.get::<_, Vec<u8>>(1)?)?;
    }
    sums.save(db)
}

fn progress(db: &Connection) -> Step<Reindexing> {
    Ok(db.query_row(PROGRESS, [], |row| {
        Ok(Reindexing { num_embedded: row.get(0)?, num_chunks: row.get(1)? })
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{TestDb, binding, vector};

    /// The new model: wider, but it ranks the same way.
    fn wide() -> Binding {
        Binding { dim: 6, ..binding("wide") }
    }

    fn embed(chunk: &Unembedded) -> (ChunkId, Vec<f32>) {
        let mut vector = vector(&chunk.text);
        vector.extend([0.0, 0.0]);
        (chunk.chunk_id, vector)
    }

    fn embed_next(store: &mut Store, after: ChunkId, limit: u32) -> ChunkId {
        let chunks = store.unembedded(after, limit).unwrap();
        let embedded: Vec<_> = chunks.iter().map(embed).collect();
        store.store_reindexed(&embedded).unwrap();
        chunks.last().map_or(after, |chunk| chunk.chunk_id)
    }

    fn db() -> TestDb {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two", "three"], &[]);
        db.add("/b.md", &["four", "five"], &[]);
        db
    }

    fn best(store: &Store, vector: &[f32]) -> ChunkId {
        store.rank_by_cosine(vector, None, 10).unwrap()[0].chunk_id
    }

    #[test]
    fn every_vector_is_replaced_and_the_width_may_change() {
        let mut db = db();
        let old_best = best(&db.store, &vector("four"));
        let begun = db.store.begin_reindex(&wide()).unwrap();
        assert_eq!(begun, Reindexing { num_embedded: 0, num_chunks: 5 });
        let last = embed_next(&mut db.store, ChunkId(0), 3);
        embed_next(&mut db.store, last, 3);
        assert_eq!(best(&db.store, &vector("four")), old_best);
        let done = db.store.finish_reindex().unwrap();
        assert_eq!(done.num_embedded, done.num_chunks);
        assert_eq!(db.store.binding().unwrap(), Some(wide()));
        let mut query = vector("four");
        query.extend([0.0, 0.0]);
        assert_eq!(best(&db.store, &query), old_best);
        db.assert_intact();
    }

    #[test]
    fn no_switch_happens_before_each_chunk_has_a_vector() {
        let mut db = db();
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 4);
        let progress = db.store.finish_reindex().unwrap();
        assert_eq!(progress, Reindexing { num_embedded: 4, num_chunks: 5 });
        assert_eq!(db.store.binding().unwrap(), Some(binding("small")));
        db.assert_intact();
    }

    #[test]
    fn an_interrupted_reindex_continues_where_it_stopped() {
        let mut db = db();
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 2);
        let mut next = Store::open(&db.path()).unwrap();
        assert_eq!(next.begin_reindex(&wide()).unwrap().num_embedded, 2);
        assert_eq!(next.unembedded(ChunkId(0), 100).unwrap().len(), 3);
        embed_next(&mut next, ChunkId(0), 100);
        next.finish_reindex().unwrap();
        assert_eq!(next.binding().unwrap(), Some(wide()));
        db.assert_intact();
    }

    #[test]
    fn a_reindex_to_yet_another_model_starts_again() {
        let mut db = db();
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 2);
        let mut other = Store::open(&db.path()).unwrap();
        let third = Binding { model_name: "third".into(), ..wide() };
        assert_eq!(other.begin_reindex(&third).unwrap().num_embedded, 0);
        let late = [(ChunkId(1), vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0])];
        let outcome = db.store.store_reindexed(&late);
        assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
        assert!(matches!(db.store.finish_reindex(), Err(Error::ModelMismatch { .. })));
    }

    #[test]
    fn documents_can_be_added_and_removed_during_a_reindex() {
        let mut db = db();
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 100);
        let known = db.store.known_path("/b.md").unwrap().unwrap();
        db.store.remove(known.document_id).unwrap();
        db.add("/a.md", &["one", "six"], &[]);
        db.add("/c.md", &["seven"], &[]);
        assert_eq!(db.store.finish_reindex().unwrap().num_embedded, 0);
        // Storing the vector of a chunk that was removed meanwhile is harmless.
        db.store.store_reindexed(&[(ChunkId(1), vec![0.0; 6])]).unwrap();
        embed_next(&mut db.store, ChunkId(0), 100);
        db.store.finish_reindex().unwrap();
        assert_eq!(db.store.binding().unwrap(), Some(wide()));
        assert_eq!(db.store.stats().unwrap().total_vectors, 3);
        db.assert_intact();
    }

    #[test]
    fn other_connections_never_mix_the_two_models() {
        let mut db = db();
        let reader = db.store.reader().unwrap();
        let old_best = best(&reader, &vector("four"));
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 100);
        assert_eq!(best(&reader, &vector("four")), old_best);
        db.store.finish_reindex().unwrap();
        let outcome = reader.rank_by_cosine(&vector("four"), None, 10);
        assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
        let mut query = vector("four");
        query.extend([0.0, 0.0]);
        assert_eq!(best(&db.store.reader().unwrap(), &query), old_best);
    }

    #[test]
    fn an_empty_database_switches_at_once() {
        let mut db = TestDb::unbound();
        db.store.begin_reindex(&wide()).unwrap();
        db.store.finish_reindex().unwrap();
        assert_eq!(db.store.binding().unwrap(), Some(wide()));
        assert!(db.store.finish_reindex().is_err());
        db.assert_intact();
    }
}
