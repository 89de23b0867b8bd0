//! Rankings in, one ranking out: reciprocal rank fusion. Pure.
//!
//! The one place where the legs meet; a reranker would replace [`fuse`] and nothing else.

use std::collections::HashMap;

use crate::document::{ChunkId, Ranked};

/// A leg's ranking and how much it counts.
#[derive(Debug, Clone, Copy)]
pub struct WeightedRanking<'a> {
    /// In (0, 1].
    pub weight: f64,
    /// Best first, each chunk once.
    pub ranking: &'a [Ranked],
}

/// A chunk with what each leg said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// Which chunk.
    pub chunk_id: ChunkId,
    /// Sum of the legs' terms; larger is better.
    pub score: f64,
    /// One entry a leg, in the order given; `None` where the leg did not rank this chunk.
    pub legs: Vec<Option<Leg>>,
}

/// What one leg said of one chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// The leg's part of the fused score: `weight / (rrf_k + rank)`.
    pub term: f64,
    /// Position in the leg's ranking, from 1.
    pub rank: u32,
    /// The leg's own relevance (BM25, cosine).
    pub raw: f64,
}

/// Fuses rankings: `score = Σ weight / (rrf_k + rank)`, rank from 1, over the rankings that hold
/// the chunk (Cormack, Clarke and Büttcher, SIGIR 2009, who propose `rrf_k` = 60).
///
/// Best first; equal scores in the order of chunk ids. No ranking at all gives an empty list.
pub fn fuse(rankings: &[WeightedRanking<'_>], rrf_k: f64) -> Vec<Fused> {
    let mut by_chunk: HashMap<ChunkId, Vec<Option<Leg>>> = HashMap::new();
    for (leg_idx, weighted) in rankings.iter().enumerate() {
        for (rank, entry) in (1_u32..).zip(weighted.ranking) {
            let term = weighted.weight / (rrf_k + f64::from(rank));
            by_chunk.entry(entry.chunk_id).or_insert_with(|| vec![None; rankings.len()])[leg_idx] =
                Some(Leg { term, rank, raw: entry.score });
        }
    }
    let mut fused: Vec<Fused> = by_chunk
        .into_iter()
        .map(|(chunk_id, legs)| Fused {
            chunk_id,
            score: legs.iter().flatten().map(|it| it.term).sum(),
            legs,
        })
        .collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranking(ids: &[ChunkId]) -> Vec<Ranked> {
        ids.iter().map(|&chunk_id| Ranked { chunk_id, score: 1.0 }).collect()
    }

    fn fuse_ids(rankings: &[&[ChunkId]]) -> Vec<Fused> {
        let lists: Vec<Vec<Ranked>> = rankings.iter().map(|it| ranking(it)).collect();
        let weighted: Vec<WeightedRanking<'_>> =
            lists.iter().map(|it| WeightedRanking { weight: 1.0, ranking: it }).collect();
        fuse(&weighted, 60.0)
    }

    #[track_caller]
    fn check(rankings: &[&[ChunkId]], expected: &[ChunkId]) {
        let ids: Vec<ChunkId> = fuse_ids(rankings).iter().map(|it| it.chunk_id).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn agreement_beats_a_single_first_place() {
        check(&[&[1, 2], &[3, 2]], &[2, 1, 3]);
    }

    #[test]
    fn an_empty_ranking_changes_nothing() {
        check(&[&[5, 4], &[]], &[5, 4]);
    }

    #[test]
    fn equal_scores_come_in_the_order_of_ids() {
        check(&[&[9], &[3]], &[3, 9]);
    }

    #[test]
    fn nothing_in_nothing_out() {
        check(&[], &[]);
    }

    #[test]
    fn the_score_is_the_sum_of_the_terms() {
        let best = &fuse_ids(&[&[7], &[7]])[0];
        assert!((best.score - 2.0 / 61.0).abs() < 1e-15);
        assert_eq!(best.legs[0].unwrap().rank, 1);
        assert!((best.legs[1].unwrap().term - 1.0 / 61.0).abs() < 1e-15);
    }

    #[test]
    fn a_smaller_weight_counts_less() {
        let (a, b) = (ranking(&[1]), ranking(&[2]));
        let fused = fuse(
            &[
                WeightedRanking { weight: 0.5, ranking: &a },
                WeightedRanking { weight: 1.0, ranking: &b },
            ],
            60.0,
        );
        assert_eq!(fused[0].chunk_id, 2);
    }

    proptest! {
        #[test]
        fn the_order_of_the_rankings_does_not_matter(
            a in proptest::sample::subsequence((0..30_i64).collect::<Vec<_>>(), 0..30).prop_shuffle(),
            b in proptest::sample::subsequence((0..30_i64).collect::<Vec<_>>(), 0..30).prop_shuffle(),
        ) {
            let ids = |it: Vec<Fused>| it.into_iter().map(|it| it.chunk_id).collect::<Vec<_>>();
            let fused = fuse_ids(&[&a, &b]);
            for hit in &fused {
                prop_assert!(hit.score > 0.0 && hit.score <= 2.0 / 61.0);
            }
            prop_assert_eq!(ids(fused), ids(fuse_ids(&[&b, &a])));
        }
    }
}
