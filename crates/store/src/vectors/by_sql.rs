//! Ranks chunks through the SQL of vec0, for databases with an unknown layout (`layout.rs`).
//!
//! This is slower than reading its tables directly, and gives the same answers.

use rusqlite::{Connection, named_params};

use super::{scan, to_blob};
use crate::db::fault::Step;
use crate::db::row::StoredRow;
use crate::db::{columns, sql};
use crate::ids::{ChunkId, RankedChunk};

const NEAREST: &str = "
    SELECT chunk_id, embedding
    FROM chunks_vec
    WHERE embedding MATCH :query AND k = :depth";

const NEAREST_PASSING: &str = "
    SELECT chunk_id, embedding
    FROM chunks_vec
    WHERE embedding MATCH :query
        AND k = :depth
        AND chunk_id IN (SELECT value FROM json_each(:passing))";

const ALL: &str = "SELECT chunk_id, embedding FROM chunks_vec";

/// The most neighbours that vec0 searches for at once.
const MAX_DEPTH: usize = 4096;

/// Neighbours beyond the requested ones, because vec0 orders equally near ones differently.
const MARGIN: usize = 64;

/// Ranks chunks as [`scan::nearest`] does, over all blocks.
pub(crate) fn nearest(
    db: &Connection,
    query: &[f32],
    passing: Option<&[ChunkId]>,
    depth: usize,
) -> Step<Vec<RankedChunk>> {
    let read = |row: &StoredRow<'_>| -> rusqlite::Result<Option<RankedChunk>> {
        let chunk_id = row.get(0)?;
        if passing.is_some_and(|passing| passing.binary_search(&chunk_id).is_err()) {
            return Ok(None);
        }
        let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
        Ok(Some(RankedChunk { chunk_id, score: f64::from(scan::dot(query, bytes)) }))
    };
    let wanted = depth.saturating_add(MARGIN);
    let (blob, num_wanted) = (to_blob(query), i64::try_from(wanted).unwrap_or(i64::MAX));
    let found: Vec<Option<RankedChunk>> = match passing {
        // Reading all rows takes several times as long as vec0's own search.
        _ if wanted > MAX_DEPTH => sql::rows(db, ALL, [], read)?,
        None => {
            sql::rows(db, NEAREST, named_params! { ":query": blob, ":depth": num_wanted }, read)?
        }
        Some(passing) => {
            let passing = columns::to_json(passing)?;
            let params =
                named_params! { ":query": blob, ":depth": num_wanted, ":passing": passing };
            sql::rows(db, NEAREST_PASSING, params, read)?
        }
    };
    let mut ranked: Vec<RankedChunk> = found.into_iter().flatten().collect();
    ranked.sort_by(RankedChunk::order);
    ranked.truncate(depth);
    Ok(ranked)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Store;
    use crate::ids::ChunkId;
    use crate::testing::{TestDb, vector};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// After any sequence of changes, both ways find the same, with the same scores.
        #[test]
        fn both_ways_give_the_same_answers(
            steps in prop::collection::vec(
                (0_u8..30, prop::collection::vec("[abcé ]{0,12}( word| aa|東京){0,20}", 0..6)),
                1..60,
            ),
            depth in 1_u32..200,
        ) {
            let mut db = TestDb::new();
            for (number, texts) in &steps {
                let path = format!("/{number}.md");
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                match (texts.is_empty(), db.store.known_path(&path).unwrap()) {
                    (false, _) => drop(db.add(&path, &texts, &[])),
                    (true, Some(known)) => drop(db.store.remove(known.document_id).unwrap()),
                    (true, None) => {}
                }
            }
            let other = Store::open(&db.path()).unwrap();
            other.binding().unwrap();
            other.forget_layout();
            for text in ["word", "aa", "abc", "é", "東京", "aa word", "absent"] {
                prop_assert_eq!(
                    db.store.occurrences(text).unwrap(), other.occurrences(text).unwrap()
                );
            }
            let all: Vec<_> = (0..200).filter(|id| id % 3 > 0).map(ChunkId).collect();
            for passing in [None, Some(all.as_slice())] {
                for depth in [depth, 5000] {
                    let query = vector("aa word");
                    prop_assert_eq!(
                        db.store.rank_by_cosine(&query, passing, depth).unwrap(),
                        other.rank_by_cosine(&query, passing, depth).unwrap()
                    );
                }
            }
        }
    }
}
