//! Ranks the first hits of the vector leg again by the tokens of query and passage (late
//! interaction). Pure.
//!
//! A passage's one vector says what it is about, its tokens also whether each word of the query has
//! a match. The leg's score becomes the cosine plus how far the match is above or below the usual
//! one. So it acts through the leg's ranks and weights, and the fused score stays the sum of two
//! terms. With the default model, that raised nDCG@10 on twelve collections by 0.006 on average, by
//! -0.002 to 0.016 on each. With gte-small it changes nothing; no other variant clearly helps both
//! models (`benches/results/2026-11-24-tokens.md`).

use std::collections::HashMap;

use crate::ids::{ChunkId, RankedChunk};

/// Number of first fused hits that are compared by tokens. It is fixed, so that the order of the
/// first results is the same for every limit.
pub(super) const DEPTH: usize = 50;

/// Returns the match of a passage at which its cosine stays unchanged, given the cosine of unrelated
/// passages: tokens of models with larger cosines match better. A constant that is 0.05 lower or
/// higher changes nDCG@10 by 0.001 on average.
pub(super) fn usual_match(floor: f64) -> f64 {
    0.25 + 0.4 * floor
}

/// Ranks a leg again: first the hits that were compared, by cosine and match, then the others in
/// their order, none with a higher score. A first hit without a match is ranked by its cosine.
///
/// `first` are the hits to compare, `matches` how well the tokens of those match that have any.
/// `weight` is the leg's weight, by how well the model reads the query, and `usual` the result of
/// [`usual_match`].
pub(super) fn rerank(
    ranking: &[RankedChunk],
    first: &[ChunkId],
    matches: &HashMap<ChunkId, f64>,
    weight: f64,
    usual: f64,
) -> Vec<RankedChunk> {
    let (mut reranked, rest): (Vec<RankedChunk>, Vec<RankedChunk>) =
        ranking.iter().partition(|entry| first.contains(&entry.chunk_id));
    for entry in &mut reranked {
        if let Some(found) = matches.get(&entry.chunk_id) {
            entry.score += weight * (found - usual);
        }
    }
    reranked.sort_by(RankedChunk::order);
    let least = reranked.last().map_or(f64::INFINITY, |entry| entry.score);
    reranked.extend(
        rest.into_iter().map(|entry| RankedChunk { score: entry.score.min(least), ..entry }),
    );
    reranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(entries: &[(i64, f64)]) -> Vec<RankedChunk> {
        entries.iter().map(|&(id, score)| RankedChunk { chunk_id: ChunkId(id), score }).collect()
    }

    #[track_caller]
    fn check(matches: &[(i64, f64)], weight: f64, expected: &[(i64, f64)]) {
        let before = ranking(&[(1, 0.6), (2, 0.5), (3, 0.4), (4, 0.3)]);
        let matches = matches.iter().map(|&(id, found)| (ChunkId(id), found)).collect();
        let first = [1, 2, 3].map(ChunkId);
        let found = rerank(&before, &first, &matches, weight, 0.3);
        let expected = ranking(expected);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.chunk_id, expected.chunk_id);
            assert!((found.score - expected.score).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn a_better_match_rises() {
        let expected = [(2, 0.7), (1, 0.5), (3, 0.4), (4, 0.3)];
        check(&[(1, 0.2), (2, 0.5), (3, 0.3)], 1.0, &expected);
    }

    #[test]
    fn hits_without_a_match_keep_their_cosine() {
        check(&[], 1.0, &[(1, 0.6), (2, 0.5), (3, 0.4), (4, 0.3)]);
        check(&[(3, 0.55)], 1.0, &[(3, 0.65), (1, 0.6), (2, 0.5), (4, 0.3)]);
    }

    #[test]
    fn later_hits_stay_behind() {
        check(&[(3, 0.0)], 1.0, &[(1, 0.6), (2, 0.5), (3, 0.1), (4, 0.1)]);
    }

    #[test]
    fn the_match_counts_as_much_as_the_model_reads_the_query() {
        check(&[(2, 0.5)], 0.25, &[(1, 0.6), (2, 0.55), (3, 0.4), (4, 0.3)]);
        check(&[(2, 0.5)], 0.0, &[(1, 0.6), (2, 0.5), (3, 0.4), (4, 0.3)]);
    }
}
