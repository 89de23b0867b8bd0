//! A keyword expression in, a BM25 ranking out.

use crate::document::{Filter, Ranked};
use crate::error::Result;

use super::Store;
use super::filter::{FilterValues, passing_chunks};

/// `bm25()` is smaller-is-better in SQLite; the minus sign makes it a score. `rowid` breaks ties,
/// so equal scores come back in the same order every time.
macro_rules! rank_matching {
    ($($condition:expr)?) => {
        concat!(
            "SELECT chunks_fts.rowid AS chunk_id, -bm25(chunks_fts) AS score
            FROM chunks_fts
            WHERE chunks_fts MATCH :match_expr ",
            $($condition,)?
            " ORDER BY score DESC, chunk_id
            LIMIT :depth"
        )
    };
}

const RANK_ALL: &str = rank_matching!();

/// The plus sign keeps SQLite from asking the index once for each chunk that passes.
const RANK_PASSING: &str =
    rank_matching!(concat!("AND +chunks_fts.rowid IN (", passing_chunks!(), ")"));

const REBUILD: &str = "INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')";

impl Store {
    /// Ranks chunks of documents that pass `filter` by BM25. Best first, ties by chunk id; at most
    /// `depth`. Scores are positive, and tiny in small collections.
    ///
    /// `match_expr` is FTS5's query language; the caller quotes what the user typed.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Store`] for an expression FTS5 does not understand.
    pub fn rank_by_bm25(
        &self,
        match_expr: &str,
        filter: &Filter,
        depth: u32,
    ) -> Result<Vec<Ranked>> {
        self.read(|db| {
            let values = FilterValues::new(filter)?;
            let own: [(&str, &dyn rusqlite::ToSql); 2] =
                [(":match_expr", &match_expr), (":depth", &depth)];
            let (sql, params) = if filter.is_empty() {
                (RANK_ALL, own.to_vec())
            } else {
                (RANK_PASSING, values.of_chunks(&own))
            };
            let mut statement = db.prepare_cached(sql)?;
            let ranked = statement.query_map(params.as_slice(), |row| {
                Ok(Ranked { chunk_id: row.get(0)?, score: row.get(1)? })
            })?;
            Ok(ranked.collect::<Result<_, _>>()?)
        })
    }

    /// Makes the keyword index anew from the chunks.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Locked`], [`crate::error::Error::DiskFull`] and what else the
    /// database refuses.
    pub fn rebuild_fts(&mut self) -> Result<()> {
        self.write(|db| {
            db.execute(REBUILD, [])?;
            Ok(())
        })
    }
}
