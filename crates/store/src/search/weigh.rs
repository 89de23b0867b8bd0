//! Weighs the first fused hits by the properties of their documents. Pure.
//!
//! The two scores of a passage do not show that the query names its file, that other passages of its document were found
//! too, or that it has or defines the exact text that the query asks for. Such evidence is a weight of the hit, at most 1,
//! that both terms of its score have. It acts where both legs have found something; a single leg keeps its own order.

use std::collections::{HashMap, HashSet};

use crate::ids::DocumentId;
use crate::numeric::power;
use crate::search::fuse::FusedChunk;

/// Number of first fused hits that are weighed, as many as are compared by tokens.
pub(super) const DEPTH: usize = 50;

// The numbers below, except [`EXACT`], were chosen on 183 questions about nine packages of source code, each package
// left out once, and on three collections of documents (benches/results/2026-11-26-document.md).

/// The increase of a hit's weight for each word of the query by which its document is named.
const NAME: f64 = 0.7;

/// The increase of a hit's weight for each exact term that the query asks for. An option or a version is found by
/// its letters, and a passage without it is near it in meaning only. With 2, 27 of 30 such queries over source code
/// find their document first; 19 do without.
const EXACT: f64 = 2.0;

/// The increase of the weight of a hit that defines a symbol which the query names.
const DEFINITION: f64 = 0.8;

/// How much the scores of a source file's next hits add to its best one, and the number of these. A file is about what
/// several of its functions are about; in prose, more hits of a document say nothing about the best one.
const SUPPORT: f64 = 0.1;
const NUM_SUPPORTING: usize = 5;

/// The share of its predecessor's weight that each further passage of a source file, or of another document,
/// keeps. Several passages of a paper or a report may be answers.
const FURTHER_IN_CODE: f64 = 0.4;
const FURTHER: f64 = 0.9;

/// The features of a hit, apart from its passage.
#[derive(Debug, Clone)]
pub(super) struct HitFeatures {
    pub(super) document_id: DocumentId,
    pub(super) is_code: bool,
    /// The number of words of the query by which its document is named.
    pub(super) num_names: u32,
    /// The number of exact terms that the query asks for and the passage has.
    pub(super) num_meant: u32,
    /// Whether it defines what the query names.
    pub(super) is_definition: bool,
}

impl HitFeatures {
    /// Returns the weight by the names and symbols that the query has.
    fn evidence(&self) -> f64 {
        1.0 + NAME * f64::from(self.num_names) + if self.is_definition { DEFINITION } else { 0.0 }
    }

    /// Returns the weight by the exact terms that the query asks for.
    fn exactness(&self) -> f64 {
        1.0 + EXACT * f64::from(self.num_meant)
    }

    /// Returns the weight by the other hits in the same document; their scores are best first.
    fn support(&self, of_documents: &HashMap<DocumentId, Vec<f64>>) -> f64 {
        let scores = &of_documents[&self.document_id];
        let next: f64 = scores[1..].iter().take(NUM_SUPPORTING).sum();
        1.0 + if self.is_code { SUPPORT * next / scores[0] } else { 0.0 }
    }
}

/// Shorter words are too common to name a symbol.
const MIN_SYMBOL_LETTERS: usize = 4;

/// A query with more words is a sentence, in which a plain word names nothing: "check whether a list is sorted" does not
/// ask for a function `check`.
const MAX_PLAIN_WORDS: usize = 3;

/// Returns the words of a query that may name a symbol, in small letters: in a sentence, those with a capital, a digit or
/// `_`, but for the capital with which it begins.
pub(super) fn words(passage: &str) -> Vec<String> {
    let words = passage.split_whitespace().filter(|word| !word.starts_with("--"));
    let words = words.flat_map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_sentence = words.len() > MAX_PLAIN_WORDS;
    let named = words.iter().enumerate().filter(|(at, word)| {
        // The first letter of a query does not count: a sentence begins with a capital.
        let mut rest = word.chars().skip(usize::from(*at == 0));
        !is_sentence || rest.any(|c| c.is_uppercase() || c.is_numeric() || c == '_')
    });
    named.map(|(_, word)| word.to_lowercase()).collect()
}

/// Whether a symbol's own name, without what it is part of, is one of these words.
pub(super) fn defines(symbol: &str, words: &HashSet<String>) -> bool {
    let name = symbol.rsplit(['.', ':']).next().unwrap_or(symbol);
    name.chars().count() >= MIN_SYMBOL_LETTERS && words.contains(&name.to_lowercase())
}

/// Weighs hits, best first, and orders them again. `about` has the first [`DEPTH`] of them; later ones stay behind these.
pub(super) fn weigh(fused: &mut [FusedChunk], about: &[HitFeatures]) {
    let (first, later) = fused.split_at_mut(about.len());
    let share = share_of_code(first, about);
    let most = most_of_kind(about, share, HitFeatures::evidence);
    let mut hits: Vec<(&mut FusedChunk, &HitFeatures)> = first.iter_mut().zip(about).collect();
    let most_exact = about.iter().map(HitFeatures::exactness).fold(1.0, f64::max);
    for (hit, about) in &mut hits {
        hit.weigh(about.evidence() / most(about) * about.exactness() / most_exact);
    }
    hits.sort_by(|a, b| a.0.order(b.0));
    let mut of_documents: HashMap<DocumentId, Vec<f64>> = HashMap::new();
    for (hit, about) in &hits {
        of_documents.entry(about.document_id).or_default().push(hit.score);
    }
    let most = most_of_kind(about, share, |about| about.support(&of_documents));
    let mut shares: HashMap<DocumentId, f64> = HashMap::new();
    for (hit, about) in &mut hits {
        let share = shares.entry(about.document_id).or_insert(1.0);
        hit.weigh(*share * about.support(&of_documents) / most(about));
        // If all hits are of one document, there is no other document to prefer.
        if of_documents.len() > 1 {
            *share *= if about.is_code { FURTHER_IN_CODE } else { FURTHER };
        }
    }
    drop(hits);
    first.sort_by(FusedChunk::order);
    let least = first.last().map_or(f64::INFINITY, |hit| hit.score);
    let best = later.first().map_or(0.0, |hit| hit.score);
    if best > least {
        // A little less than `least / best`, which may be rounded up.
        later.iter_mut().for_each(|hit| hit.weigh(0.99 * least / best));
    }
}

/// Returns the share of the scores that source code has.
fn share_of_code(hits: &[FusedChunk], about: &[HitFeatures]) -> f64 {
    let all: f64 = hits.iter().map(|hit| hit.score).sum();
    let code = hits.iter().zip(about).filter(|(_, about)| about.is_code);
    if all > 0.0 { code.map(|(hit, _)| hit.score).sum::<f64>() / all } else { 0.0 }
}

/// Returns the most that hits of the same kind have: a source file that is called as a word of the question is compared
/// with other source files. The more of the hits are code, the more is prose compared with it too: the change log of a library
/// must not answer a question about its source, and a source file not one about a handbook.
fn most_of_kind(
    about: &[HitFeatures],
    share_of_code: f64,
    evidence: impl Fn(&HitFeatures) -> f64,
) -> impl Fn(&HitFeatures) -> f64 {
    let code = most_of(about, true, &evidence);
    let prose = most_of(about, false, &evidence).max(power(code, share_of_code.powi(2)));
    move |about| if about.is_code { code } else { prose }
}

/// Returns the most that source files have, or other documents; at least 1.
fn most_of(about: &[HitFeatures], is_code: bool, evidence: impl Fn(&HitFeatures) -> f64) -> f64 {
    let same = about.iter().filter(|about| about.is_code == is_code);
    same.map(evidence).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{ChunkId, RankedChunk};
    use crate::search::fuse::{PerLeg, WeightedRanking, fuse};

    /// Hits 1, 2, ... whose scores fall evenly, a tenth from one to the next.
    fn hits(count: u8) -> Vec<FusedChunk> {
        let ranking: Vec<RankedChunk> = (0..count)
            .map(|idx| RankedChunk {
                chunk_id: ChunkId(i64::from(idx) + 1),
                score: 0.9_f64.powi(idx.into()),
            })
            .collect();
        let leg = WeightedRanking { weight: 1.0, power: 1.0, ranking: &ranking };
        fuse(PerLeg { keyword: leg, vector: leg }, 60.0)
    }

    fn about(document: i64) -> HitFeatures {
        HitFeatures {
            document_id: DocumentId(document),
            is_code: false,
            num_names: 0,
            num_meant: 0,
            is_definition: false,
        }
    }

    #[track_caller]
    fn check(about: &[HitFeatures], expected: &[i64]) {
        let mut fused = hits(u8::try_from(expected.len()).unwrap());
        weigh(&mut fused, about);
        let ids: Vec<i64> = fused.iter().map(|hit| hit.chunk_id.0).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn hits_of_which_nothing_is_known_keep_their_order() {
        check(&[1, 2, 3].map(about), &[1, 2, 3]);
        check(&[], &[1, 2, 3]);
        check(&[1, 1, 1].map(about), &[1, 2, 3]);
    }

    #[test]
    fn a_document_that_is_named_rises() {
        let named = HitFeatures { num_names: 1, ..about(3) };
        check(&[about(1), about(2), named], &[3, 1, 2]);
    }

    #[test]
    fn a_source_file_that_is_named_does_not_rise_above_prose() {
        let named = HitFeatures { is_code: true, num_names: 1, ..about(2) };
        check(&[about(1), named.clone()], &[1, 2]);
        check(&[HitFeatures { is_code: true, ..about(1) }, named], &[2, 1]);
    }

    #[test]
    fn a_passage_with_the_term_to_the_letter_rises_above_code_and_prose() {
        let meant = HitFeatures { num_meant: 1, ..about(3) };
        let named = HitFeatures { is_code: true, num_names: 1, ..about(2) };
        check(&[about(1), named, meant], &[3, 1, 2]);
    }

    #[test]
    fn a_definition_rises() {
        let definition = HitFeatures { is_definition: true, is_code: true, ..about(2) };
        let code = |document| HitFeatures { is_code: true, ..about(document) };
        check(&[code(1), definition], &[2, 1]);
    }

    #[test]
    fn a_symbol_is_named_by_its_own_name() {
        let named = |query: &str| words(query).into_iter().collect::<HashSet<String>>();
        let words = named("What does Command.invoke_all do, or run?");
        for (symbol, expected) in [
            ("Context.invoke_all", true),
            ("command", true),
            ("Group.run", false),
            ("a::All", false),
        ] {
            assert_eq!(defines(symbol, &words), expected, "{symbol}");
        }
        let sentence = named("Check whether a list is sorted by the check");
        assert!(!defines("check", &sentence) && defines("check", &named("sorted check")));
        assert!(!defines("verify", &named("--no-verify")), "an option");
    }

    #[test]
    fn further_passages_of_a_document_fall() {
        let code = |document| HitFeatures { is_code: true, ..about(document) };
        check(&[1, 1, 2, 3].map(code), &[1, 3, 4, 2]);
        check(&[1, 1, 2, 3].map(about), &[1, 2, 3, 4]);
        let mut fused = hits(2);
        weigh(&mut fused, &[1, 1].map(about));
        assert!(fused.iter().all(|hit| hit.document_weight == 1.0), "one document");
    }

    #[test]
    fn a_source_file_with_several_hits_rises() {
        let code = |document| HitFeatures { is_code: true, ..about(document) };
        check(&[1, 2, 2, 2].map(code), &[2, 1, 3, 4]);
        check(&[1, 2, 2, 2].map(about), &[1, 2, 3, 4]);
    }

    #[test]
    fn later_hits_stay_behind() {
        check(&[1, 1, 1, 2].map(about)[..3], &[1, 2, 3, 4]);
        let code = |document| HitFeatures { is_code: true, ..about(document) };
        check(&[1, 1, 2].map(code), &[1, 3, 2, 4, 5]);
    }

    proptest! {
        #[test]
        fn scores_stay_sums_of_weighted_terms(
            known in prop::collection::vec((1_i64..4, any::<bool>(), (0_u32..4, 0_u32..3), any::<bool>()), 0..9),
            num_later in 0_u8..4,
        ) {
            let about: Vec<HitFeatures> = known
                .into_iter()
                .map(|(document, is_code, (num_names, num_meant), is_definition)| {
                    HitFeatures { document_id: DocumentId(document), is_code, num_names, num_meant, is_definition }
                })
                .collect();
            let mut fused = hits(u8::try_from(about.len()).unwrap() + num_later);
            let before = fused.clone();
            weigh(&mut fused, &about);
            for pair in fused.windows(2) {
                prop_assert!(pair[0].score >= pair[1].score);
            }
            for hit in &fused {
                let PerLeg { keyword, vector } = hit.legs;
                let sum = keyword.unwrap().term + vector.unwrap().term;
                let old = before.iter().find(|old| old.chunk_id == hit.chunk_id).unwrap();
                prop_assert!((hit.score - sum).abs() < 1e-12 && hit.score <= old.score);
                prop_assert!((hit.score - old.score * hit.document_weight).abs() < 1e-12);
                prop_assert!(hit.document_weight > 0.0 && hit.document_weight <= 1.0);
            }
        }
    }
}
