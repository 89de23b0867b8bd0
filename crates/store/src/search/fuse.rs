//! Merges the rankings of both legs into one by weighted reciprocal rank fusion. Pure.
//!
//! This is the only place where the legs meet; a reranker would replace only [`fuse`].
//!
//! Ranks alone discard how sure a leg was: a first entry far ahead of the second counts as much as
//! one among equals. So the weight of a hit is the leg's weight times the hit's score relative to
//! the leg's best. Compared with equal weights, that raised nDCG@10 by 0.010 on average over six
//! English sets, and by 0.06 and more where one leg cannot read the language.

use std::collections::HashMap;

use crate::ids::{ChunkId, RankedChunk};
use crate::numeric::power;

/// Exponent of a keyword score relative to the best. BM25 with fields falls faster than relevance
/// does: on eleven collections this exponent raised nDCG@10 of the fusion by 0.001 on average, by
/// 0.005 on questions to FAQs and 0.014 on claims; it cost 0.011 in German, 0.003 to 0.004 on three
/// others.
pub const KEYWORD_POWER: f64 = 0.75;

/// Exponent of a cosine relative to the best.
pub const VECTOR_POWER: f64 = 1.0;

/// The value to which the floor of a model's cosines is mapped, so that unrelated hits keep a share.
/// With 0.1 all of twelve collections gain from this scale and the tokens together, with two models;
/// with 0, nDCG@10 is 0.002 lower on average and 0.011 lower in German.
const FLOOR_SHARE: f64 = 0.1;

/// Least share of a leg's weight that a hit keeps, so that every ranked hit counts.
const MIN_STRENGTH: f64 = 0.01;

/// A pair of values, one per leg.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerLeg<T> {
    /// The value of the keyword leg (BM25).
    pub keyword: T,
    /// The value of the vector leg (cosine).
    pub vector: T,
}

/// A leg's ranking and its weight.
#[derive(Debug, Clone, Copy)]
pub struct WeightedRanking<'a> {
    /// Weight of its best hit, in (0, 1].
    pub weight: f64,
    /// Exponent of the relative score: 1 keeps it unchanged, a smaller one raises hits far below
    /// the best.
    pub power: f64,
    /// Best first, each chunk once.
    pub ranking: &'a [RankedChunk],
}

/// A chunk with each leg's contribution.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedChunk {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Sum of the legs' terms; larger is better.
    pub score: f64,
    /// The contribution of each leg; `None` if the leg did not rank this chunk.
    pub legs: PerLeg<Option<LegScore>>,
    /// How well the query's tokens match the chunk's (`late.rs`); `None` if they were not compared.
    pub token_match: Option<f64>,
    /// The weight by the properties of its document (`weigh.rs`), in (0, 1]; part of the legs' weights.
    pub document_weight: f64,
    /// The part of `document_weight` by the age of its document (`recency.rs`); `None` if ages do not count.
    pub recency: Option<f64>,
}

impl FusedChunk {
    /// Compares hits, the better one first; equal scores by chunk id.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.score.total_cmp(&self.score).then(self.chunk_id.cmp(&other.chunk_id))
    }

    /// Lowers the weight of both legs to this share, because of the hit's document.
    pub(super) fn weigh(&mut self, share: f64) {
        self.document_weight *= share;
        self.lower(share);
    }

    /// Lowers the weight of both legs to this share.
    pub(super) fn lower(&mut self, share: f64) {
        self.score *= share;
        for leg in [&mut self.legs.keyword, &mut self.legs.vector].into_iter().flatten() {
            leg.term *= share;
            leg.weight *= share;
        }
    }
}

/// One leg's contribution to one chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LegScore {
    /// The leg's part of the fused score: `weight / (rrf_k + rank)`.
    pub term: f64,
    /// The leg's weight times `raw` relative to the leg's best, raised to the leg's power, times the
    /// document's weight, in (0, 1].
    pub weight: f64,
    /// Position in the leg's ranking, from 1.
    pub rank: u32,
    /// The leg's own relevance (BM25, cosine).
    pub raw: f64,
}

/// Fuses rankings: `score = Σ weight / (rrf_k + rank)`, rank from 1, over the rankings that contain
/// the chunk (Cormack, Clarke and Büttcher, SIGIR 2009, who propose `rrf_k` = 60). The weight is
/// the ranking's weight, times a power of the entry's score divided by the score of the ranking's
/// first entry. If only one ranking has entries, the weight is the ranking's alone.
///
/// Best first; equal scores in the order of chunk ids. Two empty rankings give an empty list.
pub fn fuse(rankings: PerLeg<WeightedRanking<'_>>, rrf_k: f64) -> Vec<FusedChunk> {
    fuse_with_shares(rankings, rrf_k, &HashMap::new())
}

/// Fuses rankings, and lowers each hit to its share by the rarity of what it has; a hit without one is not lowered.
pub(super) fn fuse_with_shares(
    rankings: PerLeg<WeightedRanking<'_>>,
    rrf_k: f64,
    shares: &HashMap<ChunkId, f64>,
) -> Vec<FusedChunk> {
    let PerLeg { keyword, vector } = rankings;
    let is_alone = keyword.ranking.is_empty() || vector.ranking.is_empty();
    let mut by_chunk: HashMap<ChunkId, PerLeg<Option<LegScore>>> =
        HashMap::with_capacity(keyword.ranking.len() + vector.ranking.len());
    for (chunk_id, leg) in entries(keyword, is_alone, rrf_k) {
        by_chunk.entry(chunk_id).or_default().keyword = Some(leg);
    }
    for (chunk_id, leg) in entries(vector, is_alone, rrf_k) {
        by_chunk.entry(chunk_id).or_default().vector = Some(leg);
    }
    let mut fused: Vec<FusedChunk> = by_chunk
        .into_iter()
        .map(|(chunk_id, legs)| FusedChunk {
            chunk_id,
            score: term_of(legs.keyword) + term_of(legs.vector),
            legs,
            token_match: None,
            document_weight: 1.0,
            recency: None,
        })
        .collect();
    for hit in &mut fused {
        hit.lower(shares.get(&hit.chunk_id).copied().unwrap_or(1.0));
    }
    fused.sort_by(FusedChunk::order);
    fused
}

/// Returns a leg's part of a score.
fn term_of(leg: Option<LegScore>) -> f64 {
    leg.map_or(0.0, |leg| leg.term)
}

/// Returns cosines on a scale that is the same for every model: 1 stays 1, and `floor`, the cosine
/// of unrelated passages, becomes [`FLOOR_SHARE`]. Models whose cosines are all near 1 would
/// otherwise give all hits nearly the same weight.
pub(super) fn above_floor(ranking: &[RankedChunk], floor: f64) -> Vec<RankedChunk> {
    let above = ranking.iter().map(|entry| {
        let score = FLOOR_SHARE + (1.0 - FLOOR_SHARE) * (entry.score - floor) / (1.0 - floor);
        RankedChunk { score, ..*entry }
    });
    above.collect()
}

/// Returns the share of one leg in a score, for a rank from 1.
pub fn term(weight: f64, rank: u32, rrf_k: f64) -> f64 {
    weight / (rrf_k + f64::from(rank))
}

/// Returns a leg's contribution to each chunk it ranks, best first.
fn entries(
    leg: WeightedRanking<'_>,
    is_alone: bool,
    rrf_k: f64,
) -> impl Iterator<Item = (ChunkId, LegScore)> {
    let best = leg.ranking.first().map_or(0.0, |entry| entry.score);
    (1_u32..).zip(leg.ranking).map(move |(rank, entry)| {
        let strength = if is_alone { 1.0 } else { power(strength(entry.score, best), leg.power) };
        let weight = leg.weight * strength;
        (
            entry.chunk_id,
            LegScore { term: term(weight, rank, rrf_k), weight, rank, raw: entry.score },
        )
    })
}

/// Returns a score relative to the best one. If the best is not above zero, which a cosine may be,
/// relative scores are meaningless and all entries count the same.
fn strength(score: f64, best: f64) -> f64 {
    if best > 0.0 { (score / best).clamp(MIN_STRENGTH, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranked(id: i64, score: f64) -> RankedChunk {
        RankedChunk { chunk_id: ChunkId(id), score }
    }

    fn ranking(ids: &[i64]) -> Vec<RankedChunk> {
        ids.iter().map(|&id| ranked(id, 1.0)).collect()
    }

    fn leg(ranking: &[RankedChunk]) -> WeightedRanking<'_> {
        WeightedRanking { weight: 1.0, power: 1.0, ranking }
    }

    fn fuse_ids(keyword: &[i64], vector: &[i64]) -> Vec<FusedChunk> {
        let (keyword, vector) = (ranking(keyword), ranking(vector));
        fuse(PerLeg { keyword: leg(&keyword), vector: leg(&vector) }, 60.0)
    }

    #[track_caller]
    fn check(keyword: &[i64], vector: &[i64], expected: &[i64]) {
        let ids: Vec<i64> =
            fuse_ids(keyword, vector).iter().map(|fused| fused.chunk_id.0).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn agreement_beats_a_single_first_place() {
        check(&[1, 2], &[3, 2], &[2, 1, 3]);
    }

    #[test]
    fn an_empty_ranking_changes_nothing() {
        check(&[5, 4], &[], &[5, 4]);
        check(&[], &[5, 4], &[5, 4]);
    }

    #[test]
    fn equal_scores_are_ordered_by_id() {
        check(&[9], &[3], &[3, 9]);
    }

    #[test]
    fn empty_rankings_give_no_hits() {
        check(&[], &[], &[]);
    }

    #[test]
    fn the_score_is_the_sum_of_the_terms() {
        let best = &fuse_ids(&[7], &[7])[0];
        assert!((best.score - 2.0 / 61.0).abs() < 1e-15);
        assert_eq!(best.legs.keyword.unwrap().rank, 1);
        assert!((best.legs.vector.unwrap().term - 1.0 / 61.0).abs() < 1e-15);
    }

    #[test]
    fn a_smaller_weight_counts_less() {
        let (a, b) = (ranking(&[1]), ranking(&[2]));
        let keyword = WeightedRanking { weight: 0.5, ..leg(&a) };
        let fused = fuse(PerLeg { keyword, vector: leg(&b) }, 60.0);
        assert_eq!(fused[0].chunk_id, ChunkId(2));
    }

    #[test]
    fn a_hit_counts_relative_to_the_best_of_its_leg() {
        let sure = [ranked(1, 8.0), ranked(2, 2.0)];
        let unsure = [ranked(3, 0.5), ranked(2, 0.45), ranked(1, -0.1)];
        let [keyword, vector] =
            [&sure[..], &unsure].map(|ranking| WeightedRanking { weight: 0.5, ..leg(ranking) });
        let fused = fuse(PerLeg { keyword, vector }, 60.0);
        assert_eq!(fused.iter().map(|fused| fused.chunk_id.0).collect::<Vec<_>>(), [2, 1, 3]);
        let keyword = |hit: usize| fused[hit].legs.keyword.unwrap().weight;
        let vector = |hit: usize| fused[hit].legs.vector.unwrap().weight;
        assert!((keyword(0) - 0.125).abs() < 1e-15 && (vector(0) - 0.45).abs() < 1e-15);
        assert!((keyword(1) - 0.5).abs() < 1e-15 && (vector(1) - 0.005).abs() < 1e-15);
    }

    #[test]
    fn a_smaller_power_raises_the_hits_below_the_best() {
        let ranking = [ranked(1, 4.0), ranked(2, 1.0)];
        let keyword = WeightedRanking { power: 0.5, ..leg(&ranking) };
        let fused = fuse(PerLeg { keyword, vector: leg(&ranking) }, 60.0);
        let PerLeg { keyword, vector } = fused[1].legs;
        assert!((keyword.unwrap().weight - 0.5).abs() < 1e-15);
        assert!((vector.unwrap().weight - 0.25).abs() < 1e-15);
    }

    #[test]
    fn cosines_below_zero_count_the_same() {
        let ranking = [ranked(1, -0.1), ranked(2, -0.2)];
        let leg = WeightedRanking { weight: 0.5, ..leg(&ranking) };
        let fused = fuse(PerLeg { keyword: leg, vector: leg }, 60.0);
        assert!(fused.iter().all(|fused| fused.legs.keyword.unwrap().weight == 0.5));
    }

    #[test]
    fn a_single_leg_is_ranked_by_rank() {
        let ranking = [ranked(1, 9.0), ranked(2, 1.0)];
        let fused = fuse(PerLeg { keyword: leg(&ranking), vector: leg(&[]) }, 60.0);
        assert!((fused[1].score - 1.0 / 62.0).abs() < 1e-15);
    }

    #[test]
    fn the_scale_of_cosines_goes_from_the_floor_to_one() {
        for floor in [0.0, 0.3, 0.8] {
            let scaled = above_floor(&[ranked(1, 1.0), ranked(2, floor)], floor);
            assert_eq!(scaled[0].chunk_id, ChunkId(1));
            assert!((scaled[0].score - 1.0).abs() < 1e-12, "{floor}");
            assert!((scaled[1].score - FLOOR_SHARE).abs() < 1e-12, "{floor}");
        }
    }

    proptest! {
        /// A model whose cosines are squeezed towards 1 gives the same order.
        #[test]
        fn squeezed_cosines_give_the_same_order(
            cosines in proptest::collection::vec(0.0..1.0_f64, 1..40),
            words in proptest::sample::subsequence((0..60_i64).collect::<Vec<_>>(), 0..40).prop_shuffle(),
            floor in 0.0..0.3_f64,
            squeeze in 0.1..1.0_f64,
        ) {
            let mut cosines = cosines;
            cosines.sort_by(|a, b| b.total_cmp(a));
            let squeezed = |cosine: f64| 1.0 - squeeze * (1.0 - cosine);
            let keyword = ranking(&words);
            let fused = |change: &dyn Fn(f64) -> f64| {
                let vector = (0..).zip(&cosines).map(|(id, cosine)| ranked(id, change(*cosine)));
                let vector = above_floor(&vector.collect::<Vec<_>>(), change(floor));
                fuse(PerLeg { keyword: leg(&keyword), vector: leg(&vector) }, 60.0)
            };
            let (plain, squeezed) = (fused(&|cosine| cosine), fused(&squeezed));
            for (plain, squeezed) in plain.iter().zip(&squeezed) {
                prop_assert!((plain.score - squeezed.score).abs() < 1e-9);
            }
        }

        #[test]
        fn the_order_of_the_rankings_does_not_matter(
            a in proptest::sample::subsequence((0..30_i64).collect::<Vec<_>>(), 0..30).prop_shuffle(),
            b in proptest::sample::subsequence((0..30_i64).collect::<Vec<_>>(), 0..30).prop_shuffle(),
        ) {
            let ids = |fused: Vec<FusedChunk>| fused.into_iter().map(|hit| hit.chunk_id).collect::<Vec<_>>();
            let fused = fuse_ids(&a, &b);
            for hit in &fused {
                prop_assert!(hit.score > 0.0 && hit.score <= 2.0 / 61.0);
            }
            prop_assert_eq!(ids(fused), ids(fuse_ids(&b, &a)));
        }
    }
}
