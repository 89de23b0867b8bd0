//! Replaces all vectors by another model's and binds the database to it.
//!
//! New vectors gather in `chunks_vec_next`, which nothing searches. Documents come and go under the
//! old binding meanwhile. The switch is one transaction; until then searches know nothing of it,
//! and a reindex that was interrupted goes on where it stopped.

use rusqlite::{Connection, named_params};

use crate::document::{Binding, ChunkId};
use crate::error::{Error, Result};

use super::sums::Sums;
use crate::store::db::binding::{self, Slot};
use crate::store::db::erase;
use crate::store::db::fault::Step;
use crate::store::{Store, vectors};

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

const TAKEN_OVER: &str = "SELECT chunk_id, embedding FROM chunks_vec_next ORDER BY chunk_id";

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

    /// Returns what a reindex that was interrupted was changing to, and how far it came; `None` where
    /// none was begun.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] and what else the database refuses.
    pub fn interrupted_reindex(&self) -> Result<Option<(Binding, Reindexing)>> {
        self.read(|db| match binding::load(db, Slot::Next)? {
            Some(wanted) => Ok(Some((wanted, progress(db)?))),
            None => Ok(None),
        })
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

/// Keeps checksums of the vectors that were taken over, as they came from the model.
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

    /// The new model: wider, and it sees everything the same.
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
        chunks.last().map_or(after, |it| it.chunk_id)
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
        db.assert_whole();
    }

    #[test]
    fn it_does_not_switch_before_each_chunk_has_a_vector() {
        let mut db = db();
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 4);
        let progress = db.store.finish_reindex().unwrap();
        assert_eq!(progress, Reindexing { num_embedded: 4, num_chunks: 5 });
        assert_eq!(db.store.binding().unwrap(), Some(binding("small")));
        db.assert_whole();
    }

    #[test]
    fn an_interrupted_one_goes_on_where_it_stopped() {
        let mut db = db();
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 2);
        let mut next = Store::open(&db.path()).unwrap();
        assert_eq!(next.begin_reindex(&wide()).unwrap().num_embedded, 2);
        assert_eq!(next.unembedded(ChunkId(0), 100).unwrap().len(), 3);
        embed_next(&mut next, ChunkId(0), 100);
        next.finish_reindex().unwrap();
        assert_eq!(next.binding().unwrap(), Some(wide()));
        db.assert_whole();
    }

    #[test]
    fn one_to_yet_another_model_starts_anew() {
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
    fn documents_come_and_go_meanwhile() {
        let mut db = db();
        db.store.begin_reindex(&wide()).unwrap();
        embed_next(&mut db.store, ChunkId(0), 100);
        let known = db.store.known_path("/b.md").unwrap().unwrap();
        db.store.remove(known.document_id).unwrap();
        db.add("/a.md", &["one", "six"], &[]);
        db.add("/c.md", &["seven"], &[]);
        assert_eq!(db.store.finish_reindex().unwrap().num_embedded, 0);
        // A chunk that went while it was embedded does no harm.
        db.store.store_reindexed(&[(ChunkId(1), vec![0.0; 6])]).unwrap();
        embed_next(&mut db.store, ChunkId(0), 100);
        db.store.finish_reindex().unwrap();
        assert_eq!(db.store.binding().unwrap(), Some(wide()));
        assert_eq!(db.store.stats().unwrap().total_vectors, 3);
        db.assert_whole();
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
    fn an_empty_database_just_switches() {
        let mut db = TestDb::unbound();
        db.store.begin_reindex(&wide()).unwrap();
        db.store.finish_reindex().unwrap();
        assert_eq!(db.store.binding().unwrap(), Some(wide()));
        assert!(db.store.finish_reindex().is_err());
        db.assert_whole();
    }
}
