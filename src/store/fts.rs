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

#[cfg(test)]
mod tests {
    use super::super::testing::TestDb;
    use crate::document::{ChunkId, Filter};
    use crate::error::Error;

    fn ranked(db: &TestDb, match_expr: &str) -> Vec<ChunkId> {
        let ranked = db.store.rank_by_bm25(match_expr, &Filter::default(), 100).unwrap();
        assert!(ranked.iter().all(|it| it.score > 0.0));
        assert!(ranked.is_sorted_by(|a, b| (-a.score, a.chunk_id) <= (-b.score, b.chunk_id)));
        ranked.into_iter().map(|it| it.chunk_id).collect()
    }

    #[test]
    fn a_chunk_is_found_as_soon_as_it_is_stored() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["about apples", "about pears"], &[]);
        let chunks = db.store.chunks(id).unwrap();
        assert_eq!(ranked(&db, "\"pears\""), [chunks[1].id]);
    }

    #[test]
    fn words_are_stemmed() {
        let mut db = TestDb::new();
        db.add("/a.md", &["how to install git"], &[]);
        assert_eq!(ranked(&db, "\"installing\"").len(), 1);
    }

    #[test]
    fn the_context_is_indexed_with_the_text() {
        let mut db = TestDb::new();
        db.add("/a.md", &["words"], &[]);
        assert_eq!(ranked(&db, "\"setup\"").len(), 1);
    }

    #[test]
    fn equal_scores_order_by_chunk_id_and_depth_cuts_the_end() {
        let mut db = TestDb::new();
        for path in ["/a.md", "/b.md", "/c.md"] {
            db.add(path, &["the same words", path], &[]);
        }
        let all = ranked(&db, "\"same\"");
        assert_eq!(all.len(), 3);
        let two = db.store.rank_by_bm25("\"same\"", &Filter::default(), 2).unwrap();
        assert_eq!(two.iter().map(|it| it.chunk_id).collect::<Vec<_>>(), all[..2]);
    }

    #[test]
    fn removed_words_match_no_more() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["apples"], &[]);
        db.store.remove(id).unwrap();
        assert!(ranked(&db, "\"apples\"").is_empty());
        db.assert_whole();
    }

    #[test]
    fn changed_words_match_and_the_old_ones_do_not() {
        let mut db = TestDb::new();
        db.add("/a.md", &["apples"], &[]);
        db.store.connection.execute("UPDATE chunks SET text = 'pears'", []).unwrap();
        assert!(ranked(&db, "\"apples\"").is_empty());
        assert_eq!(ranked(&db, "\"pears\"").len(), 1);
        db.assert_whole();
    }

    #[test]
    fn an_index_that_drifted_is_rebuilt() {
        let mut db = TestDb::new();
        db.add("/a.md", &["apples"], &[]);
        db.store
            .connection
            .execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')", [])
            .unwrap();
        assert!(ranked(&db, "\"apples\"").is_empty());
        assert_eq!(db.store.check().unwrap().len(), 1);
        db.store.rebuild_fts().unwrap();
        assert_eq!(ranked(&db, "\"apples\"").len(), 1);
        db.assert_whole();
    }

    #[test]
    fn a_word_that_is_none_matches_nothing_and_bad_syntax_is_an_error() {
        let mut db = TestDb::new();
        db.add("/a.md", &["apples"], &[]);
        assert!(ranked(&db, "\"???\"").is_empty());
        let outcome = db.store.rank_by_bm25("apples AND", &Filter::default(), 10);
        assert!(matches!(outcome, Err(Error::Store(_))));
    }
}
