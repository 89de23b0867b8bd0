//! Ranks vectors by their cosine with a query's, dividing the blocks among threads.
//!
//! In a large database a ranking first scans the codes of all vectors and then reads those that
//! seem nearest.

use std::ops::RangeInclusive;
use std::{panic, thread};

use rusqlite::Connection;

use super::nearest::VectorCandidate;
use super::{by_sql, codes, places, require_unit_shape, scan};
use crate::Store;
use crate::db::fault::Step;
use crate::error::Result;
use crate::ids::{ChunkId, RankedChunk};

/// Minimum number of vectors chosen by codes that are read and compared exactly; and per requested
/// hit, if that is more. It is five times the number with which 99.97 % of the ten nearest are found (`codes`).
const MIN_RESCORED: usize = 1000;
const RESCORED_PER_HIT: usize = 2;

/// Minimum number of blocks per thread: for fewer, another thread with a separate connection costs
/// more than it saves.
const BLOCKS_PER_PART: i64 = 32;

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
    pub fn rank_by_cosine(
        &self,
        vector: &[f32],
        passing: Option<&[ChunkId]>,
        depth: u32,
    ) -> Result<Vec<RankedChunk>> {
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
    ) -> Result<Vec<RankedChunk>> {
        let depth = usize::try_from(depth).unwrap_or(usize::MAX);
        let blocks = self.read(|db| {
            let Some(binding) = self.check_bound(db)? else { return Ok(Ok(0)) };
            require_unit_shape(vector, binding.dim)?;
            if self.layout(db)?.knows_vec0 {
                return places::last_block(db).map(Ok);
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
            // Candidates are chosen from all parts together, so that the number of parts does not change the result.
            candidates.sort_unstable();
            candidates.truncate(num_rescored);
            // Vectors are read in the order of the file.
            candidates.sort_unstable_by_key(|candidate| (candidate.block, candidate.place));
            let part_len = candidates.len() / parts.len() + 1;
            let parts: Vec<&[VectorCandidate]> = candidates.chunks(part_len).collect();
            self.side_by_side(&mut readers, &parts, |db, part| scan::rescored(db, vector, part))?
        };
        readers.into_iter().for_each(|reader| self.return_reader(reader));
        ranked.sort_by(RankedChunk::order);
        ranked.truncate(depth);
        Ok(ranked)
    }

    /// Lets the system map the pages of all vectors, once per connection, until `is_enough`: a ranking that comes
    /// later need not wait for them. Does nothing for a large database, of which a ranking reads few vectors.
    pub fn read_ahead(&self, is_enough: &dyn Fn() -> bool) -> Result<()> {
        if is_enough() || self.has_read_ahead.replace(true) {
            return Ok(());
        }
        let last = self.read(|db| match self.check_bound(db)? {
            Some(_) if self.layout(db)?.knows_vec0 => places::last_block(db),
            _ => Ok(0),
        })?;
        if last >= codes::MIN_BLOCKS {
            return Ok(());
        }
        // Each connection maps the file for itself, so the connections that will rank must read ahead.
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
        let Some((first, further)) = parts.split_first() else { return Ok(Vec::new()) };
        let work = &work;
        thread::scope(|scope| {
            let threads: Vec<_> = readers
                .iter_mut()
                .zip(further)
                .map(|(reader, part)| scope.spawn(move || reader.on_part(part, work)))
                .collect();
            let mut found = self.on_part(first, work)?;
            for thread in threads {
                found.extend(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?);
            }
            Ok(found)
        })
    }

    /// Runs `work` on a part; finds nothing if the database has no model any more.
    fn on_part<P, T>(
        &self,
        part: &P,
        work: impl FnOnce(&Connection, &P) -> Step<Vec<T>>,
    ) -> Result<Vec<T>> {
        self.read(|db| match self.check_bound(db)? {
            Some(_) => work(db, part),
            None => Ok(Vec::new()),
        })
    }
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

#[cfg(test)]
mod tests;
