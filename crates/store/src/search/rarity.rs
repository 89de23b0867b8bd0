//! Lowers hits that lack what is rare in a query. Pure.
//!
//! A query that hangs on one rare word is a look-up: a passage without that word is no answer, however near it is in
//! meaning. A question in a sentence hangs on none of its words, and its answer may have few of them. How much a query
//! hangs on single words is the sum of the squares of their shares of its rarity (the index of Herfindahl and Hirschman,
//! for the shares of firms in a market), each share lowered by how rare the word is here: 1 for one word that a single
//! passage has, and nearly 0 for a sentence or for common words. There is no step between the two.

use std::collections::{BTreeMap, HashMap};

use crate::ids::{ChunkId, RankedChunk};
use crate::numeric;
use crate::search::keyword::{Keywords, TermCoverage};

// These numbers were chosen on eleven collections, whose nDCG@10 stays the same on average, and on 350 look-ups
// (benches/results/2026-11-28-look-ups.md).

/// The share that a hit without any word of the query counts as having, so that it keeps some of its weight.
const LEAST: f64 = 0.02;

/// The least share of its weights that a hit keeps, so that scores keep their scale. A hit with this share is behind
/// all that have the word.
const MIN_SHARE: f64 = 0.05;

/// The power to which a hit's share of the query's rarity is raised, for a query that depends on one word.
const POWER: f64 = 10.0;

/// How fast that power falls for queries that depend on their words less.
const FALL: i32 = 3;

/// The power of a word's rarity: a word that a hundredth of the passages have is no look-up.
const RARITY_POWER: i32 = 3;

/// Returns the share of its weights that each hit of two rankings keeps, in (0, 1]. A single leg keeps its own order, unless
/// another knowledge base has what it lacks.
pub(super) fn shares(
    keywords: &Keywords,
    keyword: &[RankedChunk],
    vector: &[RankedChunk],
) -> HashMap<ChunkId, f64> {
    if vector.is_empty() || keyword.is_empty() && !keywords.is_shared {
        return HashMap::new();
    }
    let mut ids: Vec<ChunkId> = keyword.iter().chain(vector).map(|entry| entry.chunk_id).collect();
    ids.sort_unstable();
    ids.dedup();
    shares_by(&keywords.cover(&ids))
}

/// How much less a word counts that a passage has in another form than the one typed: "informs" for "informer", or
/// "git lfs" for "git-lfs". The values 0.2, 0.35 and 0.5 were compared: 0.35 finds all but one of the look-ups
/// that 0.5 finds.
const OTHER_FORM: f64 = 0.35;

/// Returns the share of its weights that each of the first hits keeps, from their passages, for what it has in another form
/// than the one typed. Hits that are missing keep all.
pub(super) fn shares_of_forms(
    keywords: &Keywords,
    passages: &BTreeMap<ChunkId, String>,
) -> HashMap<ChunkId, f64> {
    let TermCoverage { weights, rarities, covered } = keywords.cover_in_other_forms(passages);
    let all: f64 = weights.iter().sum();
    let power = power(&weights, &rarities);
    let shares = covered
        .into_iter()
        .map(|(id, other)| (id, numeric::power(1.0 - OTHER_FORM * other / all, power)));
    shares.collect()
}

/// Returns the share of its weights that each hit keeps.
fn shares_by(cover: &TermCoverage) -> HashMap<ChunkId, f64> {
    let all: f64 = cover.weights.iter().sum();
    let power = power(&cover.weights, &cover.rarities);
    let shares = cover.covered.iter().map(|(id, covered)| {
        if all > 0.0 {
            let has = LEAST + (1.0 - LEAST) * (covered / all).min(1.0);
            (*id, numeric::power(has, power).max(MIN_SHARE))
        } else {
            (*id, 1.0)
        }
    });
    shares.collect()
}

/// Returns the power to which what a hit has is raised.
fn power(weights: &[f64], rarities: &[f64]) -> f64 {
    POWER * hangs_on_words(weights, rarities).powi(FALL)
}

/// Returns how much a query hangs on single words, in 0..=1, from their weights and how rare each is here.
fn hangs_on_words(weights: &[f64], rarities: &[f64]) -> f64 {
    let all: f64 = weights.iter().sum();
    let words = weights.iter().zip(rarities);
    let squares = words.map(|(weight, rarity)| {
        let rare = rarity.min(1.0).powi(RARITY_POWER);
        (weight / all * rare).powi(2)
    });
    if all > 0.0 { squares.sum() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the share that a hit keeps which has what `covered` names of a query, by places.
    fn share(weights: &[f64], covered: &[usize]) -> f64 {
        let rarities = weights.iter().map(|weight| weight / 10.0).collect();
        let sum = covered.iter().map(|place| weights[*place]).sum();
        let cover = TermCoverage {
            weights: weights.to_vec(),
            rarities,
            covered: [(ChunkId(1), sum)].into(),
        };
        shares_by(&cover)[&ChunkId(1)]
    }

    #[test]
    fn a_hit_without_the_only_word_is_nothing_and_one_with_it_keeps_all() {
        assert!((share(&[10.0], &[]) - MIN_SHARE).abs() < 1e-12);
        assert!((share(&[10.0], &[0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_rare_word_outweighs_a_common_one() {
        assert!(share(&[10.0, 3.0], &[0]) > 5.0 * share(&[10.0, 3.0], &[1]));
    }

    #[test]
    fn a_sentence_and_a_common_word_hang_on_nothing() {
        assert!(share(&[6.0; 8], &[]) > 0.99);
        assert!(share(&[2.0], &[]) > 0.99);
    }

    #[test]
    fn more_words_matter_less_each_without_a_step() {
        let shares: Vec<f64> = (1..=8).map(|count| share(&vec![9.0; count], &[])).collect();
        assert!(shares.is_sorted() && shares[0] < 0.1 && shares[7] > 0.98, "{shares:?}");
    }

    #[test]
    fn without_words_nothing_is_lowered() {
        assert!((share(&[], &[]) - 1.0).abs() < 1e-12);
    }
}
