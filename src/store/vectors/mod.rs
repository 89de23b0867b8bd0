//! Stores unit vectors and ranks them by cosine: the `vec0` table.
//!
//! The table is created here and not by a migration, because its width depends on the model. A
//! trigger removes a chunk's vector with the chunk, however the chunk is removed.
//!
//! In a large database a ranking first scans the codes of all vectors and then reads those that
//! seem nearest.

pub(in crate::store) mod codes;
pub(in crate::store) mod floor;
pub(in crate::store) mod reindex;
pub(in crate::store) mod scan;
pub(in crate::store) mod sums;
pub(in crate::store) mod tokens;

use std::ops::RangeInclusive;
use std::{panic, thread};

use rusqlite::types::Type;
use rusqlite::{Connection, Row, RowIndex, named_params};

use crate::document::{ChunkId, Embedding, Ranked};
use crate::error::{Error, Result};

use super::Store;
use super::db::binding::Slot;
use super::db::fault::Step;
use super::db::layout::Layout;
use super::db::{binding, by_sql, layout};
use super::vectors::scan::Candidate;
use super::vectors::sums::Sums;

/// Vectors in one block of `vec0`. A filtered search reads only the blocks with matching chunks,
/// and in each block only the range from the first to the last of them.
pub(super) const BLOCK_ROWS: u32 = 128;

/// Minimum number of vectors chosen by codes that are read and compared exactly; and per requested
/// hit, if that is more.
const MIN_RESCORED: usize = 1000;
const RESCORED_PER_HIT: usize = 2;

/// Minimum number of blocks per thread: for fewer, another thread with a separate connection costs
/// more than it saves.
const BLOCKS_PER_PART: i64 = 32;

const DROP_TABLE: &str = "
    DROP TRIGGER IF EXISTS chunks_vec_ad;
    DROP TABLE IF EXISTS chunks_vec;";

const MAKE_TRIGGER: &str = "
    CREATE TRIGGER chunks_vec_ad AFTER DELETE ON chunks BEGIN
        DELETE FROM chunks_vec WHERE chunk_id = old.id;
    END;";

const INSERT_VECTOR: &str =
    "INSERT INTO chunks_vec (chunk_id, embedding) VALUES (:chunk_id, :embedding)";

/// How the blocks are divided for ranking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Division {
    /// Parts ranked in parallel; `None` for as many as are worth it.
    pub(super) num_parts: Option<i64>,
    /// Minimum number of blocks for ranking by codes first.
    pub(super) min_coded: i64,
}

impl Store {
    /// Ranks chunks by the cosine between their vectors and `vector`. With a filter, ranks only
    /// those that pass it, whose ids are given in order. Best first, ties by chunk id; at most
    /// `depth`; empty if nothing was embedded. The score is in -1..=1, up to rounding, and exact.
    /// The ranking is also exact in a database of fewer than `codes::MIN_BLOCKS` blocks, and nearly
    /// exact in a larger one.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] if the database has been bound to another model since this store
    /// returned its binding.
    pub fn rank_by_cosine(
        &self,
        vector: &[f32],
        passing: Option<&[ChunkId]>,
        depth: u32,
    ) -> Result<Vec<Ranked>> {
        let division = Division { num_parts: None, min_coded: codes::MIN_BLOCKS };
        self.rank_in_parts(vector, passing, depth, division)
    }

    /// Ranks parts of the blocks in parallel, the first here and each other one on a separate
    /// connection.
    pub(super) fn rank_in_parts(
        &self,
        vector: &[f32],
        passing: Option<&[ChunkId]>,
        depth: u32,
        division: Division,
    ) -> Result<Vec<Ranked>> {
        let depth = usize::try_from(depth).unwrap_or(usize::MAX);
        let blocks = self.read(|db| {
            let Some(binding) = self.check_bound(db)? else { return Ok(Ok(0)) };
            require_unit_shape(vector, binding.dim)?;
            if self.layout(db)?.knows_vec0 {
                return Ok(Ok(scan::last_block(db)?));
            }
            Ok(Err(by_sql::nearest(db, vector, passing, depth)?))
        })?;
        let last = match blocks {
            Ok(last) => last,
            Err(ranked) => return Ok(ranked),
        };
        if last == 0 || depth == 0 {
            return Ok(Vec::new());
        }
        let parts = parts(last, division.num_parts);
        self.has_read_ahead.set(true);
        let mut readers: Vec<Self> =
            parts.iter().skip(1).map(|_| self.take_reader()).collect::<Result<_>>()?;
        let mut ranked = if last < division.min_coded {
            self.side_by_side(&mut readers, &parts, |db, part| {
                scan::nearest(db, vector, passing, depth, part.clone())
            })?
        } else {
            let num_rescored = MIN_RESCORED.max(depth.saturating_mul(RESCORED_PER_HIT));
            let mut candidates = self.side_by_side(&mut readers, &parts, |db, part| {
                scan::seemingly_nearest(db, vector, passing, num_rescored, part.clone())
            })?;
            // Chosen from all parts together, so that the number of parts does not change the
            // result.
            candidates.sort_unstable();
            candidates.truncate(num_rescored);
            candidates.sort_unstable_by_key(|candidate| (candidate.block, candidate.place));
            let part_len = candidates.len() / parts.len() + 1;
            let parts: Vec<&[Candidate]> = candidates.chunks(part_len).collect();
            self.side_by_side(&mut readers, &parts, |db, part| scan::rescored(db, vector, part))?
        };
        readers.into_iter().for_each(|reader| self.return_reader(reader));
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
        ranked.truncate(depth);
        Ok(ranked)
    }

    /// Lets the system map the pages of all vectors, once per connection, until `is_enough`: a ranking that comes
    /// later need not wait for them. Does nothing for a large database, of which a ranking reads few vectors.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn read_ahead(&self, is_enough: &dyn Fn() -> bool) -> Result<()> {
        if is_enough() || self.has_read_ahead.replace(true) {
            return Ok(());
        }
        let last = self.read(|db| match self.check_bound(db)? {
            Some(_) if self.layout(db)?.knows_vec0 => Ok(scan::last_block(db)?),
            _ => Ok(0),
        })?;
        if last >= codes::MIN_BLOCKS {
            return Ok(());
        }
        // Each connection maps the file for itself, so these are the ones that will rank.
        let parts = parts(last, None);
        let Some((first, further)) = parts.split_first() else { return Ok(()) };
        let readers: Vec<Self> =
            further.iter().map(|_| self.take_reader()).collect::<Result<_>>()?;
        for (reader, part) in
            [self].into_iter().chain(&readers).zip([first].into_iter().chain(further))
        {
            reader.read(|db| scan::touch(db, part.clone(), is_enough))?;
        }
        readers.into_iter().rev().for_each(|reader| self.return_reader(reader));
        Ok(())
    }

    /// Runs `work` on each part, the first here and each other one with one of `readers`; returns
    /// all results.
    fn side_by_side<P: Sync, T: Send>(
        &self,
        readers: &mut [Self],
        parts: &[P],
        work: impl Fn(&Connection, &P) -> Step<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let on = |store: &Self, part: &P| {
            store.read(|db| match store.check_bound(db)? {
                Some(_) => work(db, part),
                None => Ok(Vec::new()),
            })
        };
        let Some((first, further)) = parts.split_first() else { return Ok(Vec::new()) };
        let on = &on;
        thread::scope(|scope| {
            let threads: Vec<_> = readers
                .iter_mut()
                .zip(further)
                .map(|(reader, part)| scope.spawn(move || on(reader, part)))
                .collect();
            let mut found = on(self, first)?;
            for thread in threads {
                found.extend(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?);
            }
            Ok(found)
        })
    }

    /// Makes codes for all full blocks of a large database that have none; returns their number.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`], [`Error::DiskFull`] and other errors of the database.
    pub fn encode_vectors(&mut self) -> Result<usize> {
        self.write(|db| encode_from(db, 1))
    }
}

/// Makes codes for full blocks from `first` on that have none, in a large database.
pub(super) fn encode_from(db: &Connection, first: i64) -> Step<usize> {
    let Some(binding) = binding::load(db, Slot::Current)? else { return Ok(0) };
    if !layout::knows_vec0(db)? {
        return Ok(0);
    }
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    Ok(codes::make(db, dim, first, codes::MIN_BLOCKS)?)
}

/// Divides blocks into as many parts as are wanted, or worth it.
fn parts(last: i64, wanted: Option<i64>) -> Vec<RangeInclusive<i64>> {
    let part_len = last / wanted.unwrap_or_else(|| num_parts(last)).max(1) + 1;
    (1..=last)
        .step_by(usize::try_from(part_len).unwrap_or(usize::MAX))
        .map(|first| first..=first + part_len - 1)
        .collect()
}

/// Returns the number of parts in which it is worth ranking `num_blocks` in parallel.
fn num_parts(num_blocks: i64) -> i64 {
    let num_cores = thread::available_parallelism().map_or(1, usize::from);
    (num_blocks / BLOCKS_PER_PART).clamp(1, i64::try_from(num_cores).unwrap_or(1))
}

/// Replaces the table by an empty one for vectors of `dim` numbers.
pub(super) fn make_table(db: &Connection, dim: u32) -> Step<()> {
    codes::forget(db)?;
    sums::forget(db)?;
    floor::forget(db)?;
    tokens::forget(db)?;
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

/// Stores vectors of chunks that have none, along with their checksums and, in a large database,
/// their codes.
pub(super) struct VectorWriter<'a> {
    db: &'a Connection,
    /// Checksums and the number of the last block before writing; `None` if the layout of the table
    /// is unknown.
    extras: Option<(Sums, i64)>,
}

impl<'a> VectorWriter<'a> {
    /// `layout` is known to the caller's store: detecting it for each document takes as long as
    /// storing the document.
    pub(super) fn new(db: &'a Connection, layout: Layout) -> Step<Self> {
        let extras = match layout.knows_vec0 {
            true => Some((Sums::default(), scan::last_block(db)?)),
            false => None,
        };
        Ok(Self { db, extras })
    }

    /// Stores a chunk's vector, and the codes of its tokens if there are any.
    pub(super) fn insert(&mut self, chunk_id: ChunkId, embedding: &Embedding) -> Step<()> {
        if let Some(codes) = &embedding.codes {
            tokens::insert(self.db, chunk_id, codes)?;
        }
        self.insert_vector(chunk_id, &embedding.vector)
    }

    /// Stores a chunk's vector.
    pub(super) fn insert_vector(&mut self, chunk_id: ChunkId, vector: &[f32]) -> Step<()> {
        let bytes = to_blob(vector);
        self.db
            .prepare_cached(INSERT_VECTOR)?
            .execute(named_params! { ":chunk_id": chunk_id, ":embedding": bytes })?;
        match &mut self.extras {
            Some((sums, _)) => sums.add(self.db, chunk_id, &bytes),
            None => Ok(()),
        }
    }

    /// Writes the checksums and codes.
    pub(super) fn finish(self) -> Step<()> {
        let Some((sums, last_block)) = self.extras else { return Ok(()) };
        sums.save(self.db)?;
        let last = scan::last_block(self.db)?;
        if last > last_block {
            encode_from(self.db, last_block)?;
        }
        if floor::is_due(last_block, last) {
            floor::save(self.db)?;
        }
        Ok(())
    }
}

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
pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Vec<f32>> {
    from_column(row, 0)
}

/// Reads a vector from a column.
pub(super) fn from_column(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<Vec<f32>> {
    let blob = row
        .get_ref(column)?
        .as_blob()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, error.into()))?;
    let (numbers, _) = blob.as_chunks::<4>();
    Ok(numbers.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::Filter;
    use crate::store::testing::{TestDb, binding, vector};

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn the_nearest_comes_first_with_its_cosine() {
        let mut db = TestDb::new();
        let texts = ["install git", "bake bread", "feed the cat"];
        let id = db.add("/a.md", &texts, &[]);
        let chunks = db.store.chunks(id).unwrap();
        let ranked = db.store.rank_by_cosine(&vector("bake bread"), None, 10).unwrap();
        assert_eq!(ranked.len(), 3);
        assert_eq!(ranked[0].chunk_id, chunks[1].id);
        for hit in ranked {
            let text = &chunks.iter().find(|chunk| chunk.id == hit.chunk_id).unwrap().chunk.text;
            assert!((hit.score - dot(&vector(text), &vector("bake bread"))).abs() < 1e-6);
        }
    }

    #[test]
    fn equal_cosines_are_ordered_by_chunk_id_at_any_depth() {
        let mut db = TestDb::new();
        let texts = ["same"; 5];
        let id = db.add("/a.md", &texts, &[]);
        let ids: Vec<ChunkId> = db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect();
        for depth in [5, 100, u32::MAX] {
            let ranked = db.store.rank_by_cosine(&vector("same"), None, depth).unwrap();
            assert_eq!(ranked.iter().map(|hit| hit.chunk_id).collect::<Vec<_>>(), ids);
        }
    }

    #[test]
    fn an_empty_database_or_depth_gives_an_empty_ranking() {
        let rank =
            |db: &TestDb, depth| db.store.rank_by_cosine(&vector("same"), None, depth).unwrap();
        assert!(rank(&TestDb::unbound(), 10).is_empty());
        let mut db = TestDb::new();
        assert!(rank(&db, 10).is_empty());
        db.add("/a.md", &["same"], &[]);
        assert!(rank(&db, 0).is_empty());
    }

    #[test]
    fn a_query_of_another_width_or_with_nan_is_an_error() {
        let db = TestDb::new();
        for vector in [vec![1.0; 3], vec![f32::INFINITY; 4]] {
            let outcome = db.store.rank_by_cosine(&vector, None, 10);
            assert!(matches!(outcome, Err(Error::Store(_))));
        }
    }

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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Any share of the documents may pass, and blocks may have many holes: the ranking equals
        /// the one from comparing all vectors.
        #[test]
        fn the_ranking_is_exact_at_any_selectivity(
            numbers in prop::collection::vec((0_u16..600, 0_u8..4), 1..400),
            depth in 1_u32..400,
        ) {
            let mut db = TestDb::new();
            let mut kept = Vec::new();
            for (position, (number, fate)) in numbers.iter().enumerate() {
                let text = format!("text {number}");
                let path = format!("/{position}.md");
                let tags: &[&str] = if *fate == 0 { &["wanted"] } else { &[] };
                let mut new = super::super::testing::document(&path, &[&text], tags);
                new.content_hash = format!("hash {position}");
                let id = db.put(&new, &[&text], &[]).document_id();
                if *fate == 3 {
                    db.store.remove(id).unwrap();
                } else {
                    kept.push((db.store.chunks(id).unwrap()[0].id, text, *fate == 0));
                }
            }
            let query = vector("text 300");
            for wanted in [false, true] {
                let tags = if wanted { vec!["wanted".to_owned()] } else { vec![] };
                let filter = Filter { tags, ..Filter::default() };
                let passing = db.store.passing_chunks(&filter).unwrap();
                let passing = wanted.then_some(passing.as_slice());
                let ranked = db.store.rank_by_cosine(&query, passing, depth).unwrap();
                let mut expected: Vec<f64> = kept
                    .iter()
                    .filter(|(_, _, is_wanted)| *is_wanted || !wanted)
                    .map(|(_, text, _)| dot(&vector(text), &query))
                    .collect();
                expected.sort_by(|a, b| b.total_cmp(a));
                expected.truncate(depth.try_into().unwrap());
                prop_assert_eq!(ranked.len(), expected.len());
                for (ranked, expected) in ranked.iter().zip(&expected) {
                    prop_assert!((ranked.score - expected).abs() < 1e-5);
                    prop_assert!(kept.iter().any(|stored| stored.0 == ranked.chunk_id && (stored.2 || !wanted)));
                }
            }
        }
    }
}
