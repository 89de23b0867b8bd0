//! Merges the answers of several knowledge bases into one. Pure.
//!
//! If all bases are bound to one model, a cosine means the same in each, and a BM25 nearly the same: every hit is then
//! weighted against the best of all bases, and its ranks count the better hits of the others too. Vectors of different models
//! cannot be compared, so then only the places in the answers count. Equal scores are ordered by base, then chunk id.

use crate::numeric;
use crate::search::evidence::{FormCost, keep_within};
use crate::search::fuse::{self, KEYWORD_POWER, LegScore, VECTOR_POWER};
use crate::search::{
    Confidence, EvidenceSummary, Hit, NoBasis, Reranking, SearchAnswer, UnmetPhrasing,
};
use crate::store::ChunkId;
use crate::text::contents::is_contents;

/// How answers are merged.
pub(crate) struct MergeOptions {
    /// Most hits to return.
    pub(crate) limit: u32,
    /// The tokens that the form of the answer adds to the passages.
    pub(crate) form: Option<FormCost>,
    /// The fusion constant.
    pub(crate) rrf_k: f64,
    /// Whether all answers are of one model.
    pub(crate) is_comparable: bool,
    /// Why no program orders the hits, if the settings name one.
    pub(crate) reranking: Option<Reranking>,
}

impl MergeOptions {
    /// Merges answers to one query, which are all chunks or all passages.
    pub(crate) fn merge(&self, mut answers: Vec<SearchAnswer>) -> SearchAnswer {
        let mut merged =
            SearchAnswer { reranking: self.reranking.clone(), ..SearchAnswer::empty(&[]) };
        merged.unmet = unmet_in_all(&answers);
        for completed in answers.iter().flat_map(|answer| &answer.completed) {
            if !merged.completed.contains(completed) {
                merged.completed.push(completed.clone());
            }
        }
        let mut searched = answers.iter().filter(|answer| !is_void(answer)).peekable();
        merged.is_unmet = searched.peek().is_some() && searched.all(|answer| answer.is_unmet);
        if !merged.is_unmet {
            // If one base has the phrase, the answers of the others, which ignored the quotes, are withdrawn.
            answers.iter_mut().filter(|answer| answer.is_unmet).for_each(withdraw);
        }
        let judged = answers.iter().filter(|answer| answer.confidence.is_some());
        let best = judged.max_by(|one, other| probability(one).total_cmp(&probability(other)));
        merged.confidence = best.and_then(|answer| answer.confidence);
        merged.grounds = best.map(|answer| answer.grounds.clone()).unwrap_or_default();
        let mut all = Vec::new();
        for answer in answers {
            merged.total_matches += answer.total_matches;
            merged.no_basis = merged.no_basis.or(answer.no_basis);
            (merged.typed, merged.also, merged.wanted) = (answer.typed, answer.also, answer.wanted);
            merged.gathered = answer.gathered;
            all.push(answer.hits);
        }
        merged.no_basis = merged.no_basis.filter(|_| merged.confidence.is_none());
        merged.hits = self.ordered(all);
        match merged.gathered {
            Some(EvidenceSummary { budget: Some(budget), .. }) => {
                keep_within(budget, self.form, &mut merged);
            }
            _ => merged.hits.truncate(self.limit as usize),
        }
        merged.compare_titles();
        merged
    }

    /// Orders the hits of all answers, best first; tables of contents come last, as in each answer.
    fn ordered(&self, mut answers: Vec<Vec<Hit>>) -> Vec<Hit> {
        if self.is_comparable {
            self.weigh(&mut answers);
        } else {
            self.score_by_rank(&mut answers);
        }
        let numbered = answers.into_iter().enumerate();
        let mut hits: Vec<(usize, Hit)> = numbered
            .flat_map(|(base, found)| found.into_iter().map(move |hit| (base, hit)))
            .collect();
        hits.sort_by(|(base, one), (other_base, other)| {
            is_table_of_contents(one)
                .cmp(&is_table_of_contents(other))
                .then(other.score.total_cmp(&one.score))
                .then(base.cmp(other_base))
                .then(id(one).cmp(&id(other)))
        });
        hits.into_iter().map(|(_, hit)| hit).collect()
    }

    /// Gives each hit the score for its place: only ranks are fused.
    fn score_by_rank(&self, answers: &mut [Vec<Hit>]) {
        for answer in answers {
            for (place, hit) in (1_u32..).zip(answer) {
                let score = fuse::term(1.0, place, self.rrf_k);
                let factor = if hit.score > 0.0 { score / hit.score } else { 0.0 };
                for leg in [&mut hit.keyword, &mut hit.vector].into_iter().flatten() {
                    leg.weight *= factor;
                    leg.term *= factor;
                }
                hit.score = score;
            }
        }
    }

    /// Weighs the hits of each answer against those of all.
    fn weigh(&self, answers: &mut [Vec<Hit>]) {
        self.weigh_leg(answers, |hit| &mut hit.keyword, KEYWORD_POWER);
        self.weigh_leg(answers, |hit| &mut hit.vector, VECTOR_POWER);
        for hit in answers.iter_mut().flatten() {
            hit.score = term(hit.keyword) + term(hit.vector);
        }
    }

    fn weigh_leg(
        &self,
        answers: &mut [Vec<Hit>],
        leg_of: impl Fn(&mut Hit) -> &mut Option<LegScore>,
        power: f64,
    ) {
        let scores: Vec<Vec<f64>> = answers
            .iter_mut()
            .map(|answer| {
                let legs = answer.iter_mut().filter_map(|hit| *leg_of(hit));
                legs.map(|leg| leg.raw).collect()
            })
            .collect();
        let best_of_all = scores.iter().map(|scores| best(scores)).fold(0.0_f64, f64::max);
        for (base, answer) in answers.iter_mut().enumerate() {
            let share = if best_of_all > 0.0 { best(&scores[base]) / best_of_all } else { 1.0 };
            for leg in answer.iter_mut().filter_map(|hit| leg_of(hit).as_mut()) {
                let others = scores.iter().enumerate().filter(|(other, _)| *other != base);
                let better = others.flat_map(|(_, scores)| scores).filter(|raw| **raw > leg.raw);
                leg.rank =
                    leg.rank.saturating_add(u32::try_from(better.count()).unwrap_or(u32::MAX));
                leg.weight *= numeric::power(share, power);
                leg.term = fuse::term(leg.weight, leg.rank, self.rrf_k);
            }
        }
    }
}

fn probability(answer: &SearchAnswer) -> f64 {
    answer.probability().unwrap_or_default()
}

fn is_table_of_contents(hit: &Hit) -> bool {
    is_contents(&hit.stored.chunk.chunk.text)
}

/// Returns the part of the score that a leg adds; 0 if it did not find the chunk.
fn term(leg: Option<LegScore>) -> f64 {
    leg.map_or(0.0, |leg| leg.term)
}

/// Returns the largest score; at least 0.
fn best(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(0.0_f64, f64::max)
}

/// Whether a base had nothing to search.
fn is_void(answer: &SearchAnswer) -> bool {
    let is_empty = answer.hits.is_empty() && answer.confidence == Some(Confidence::None);
    matches!(answer.no_basis, Some(NoBasis::Filter | NoBasis::Nothing))
        || is_empty && !answer.is_unmet
}

/// Takes the hits of a base back, as if the quotes had been kept.
fn withdraw(answer: &mut SearchAnswer) {
    answer.hits.clear();
    answer.total_matches = 0;
    (answer.confidence, answer.no_basis) = (None, Some(NoBasis::Unmet));
}

/// Returns the phrasings that no base meets. A base that has nothing to search is left out.
fn unmet_in_all(answers: &[SearchAnswer]) -> Vec<UnmetPhrasing> {
    let mut all = answers.iter().filter(|answer| !is_void(answer)).map(|answer| &answer.unmet);
    let mut found = all.next().cloned().unwrap_or_default();
    for other in all {
        found.retain_mut(|own| {
            let same = other.iter().find(|unmet| unmet.typed == own.typed);
            own.nowhere.retain(|phrase| same.is_some_and(|same| same.nowhere.contains(phrase)));
            same.is_some()
        });
    }
    found
}

fn id(hit: &Hit) -> ChunkId {
    hit.stored.chunk.id
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::{Chunk, DocType};
    use crate::search::CitedPlace;
    use crate::store::{DocumentId, StoredChunk, StoredHit};

    fn leg(rank: u32, raw: f64) -> Option<LegScore> {
        Some(LegScore { term: 1.0 / (60.0 + f64::from(rank)), weight: 1.0, rank, raw })
    }

    fn hit(base: &str, id: i64, keyword: Option<LegScore>, vector: Option<LegScore>) -> Hit {
        let chunk = Chunk { text: format!("text {id}"), token_count: 2, ..Chunk::default() };
        let stored = StoredHit {
            chunk: StoredChunk { id: ChunkId(id), chunk_index: 0, chunk },
            document_id: DocumentId(id),
            title: String::new(),
            path: None,
            doc_type: DocType::Note,
            format: "note".into(),
            language: None,
            tags: Vec::new(),
            total_chunks: 1,
            date: None,
            date_origin: None,
            superseded: None,
            natural_language: None,
            aliases: Vec::new(),
        };
        let term = |leg: Option<LegScore>| leg.map_or(0.0, |leg| leg.term);
        Hit {
            score: term(keyword) + term(vector),
            rerank_score: None,
            keyword,
            vector,
            token_match: None,
            document_weight: 1.0,
            recency: None,
            stored,
            terms: Vec::new(),
            contributions: Vec::new(),
            num_copies: 0,
            stale: None,
            base: Some(base.to_owned()),
            shares_title: false,
            conflict_of: None,
            at: CitedPlace::default(),
            passage: None,
        }
    }

    fn merged(is_comparable: bool, answers: Vec<Vec<Hit>>) -> Vec<Hit> {
        let merging =
            MergeOptions { limit: 10, rrf_k: 60.0, is_comparable, reranking: None, form: None };
        let answers = answers.into_iter().map(|hits| SearchAnswer {
            typed: "q".into(),
            total_matches: hits.len(),
            hits,
            confidence: Some(Confidence::Low),
            ..SearchAnswer::empty(&[])
        });
        merging.merge(answers.collect()).hits
    }

    fn places(hits: &[Hit]) -> Vec<(&str, i64)> {
        hits.iter().map(|hit| (hit.base.as_deref().unwrap_or("-"), hit.stored.chunk.id.0)).collect()
    }

    #[test]
    fn a_weak_best_hit_of_one_base_comes_after_good_ones_of_another() {
        let good = (1..4).map(|rank| hit("a", i64::from(rank), None, leg(rank, 0.8))).collect();
        let weak = vec![hit("b", 9, None, leg(1, 0.2))];
        let hits = merged(true, vec![weak, good]);
        assert_eq!(places(&hits), [("a", 1), ("a", 2), ("a", 3), ("b", 9)]);
        assert_eq!(hits[3].vector.unwrap().rank, 4);
    }

    #[test]
    fn different_models_are_merged_by_places_alone() {
        let sure = vec![hit("a", 1, None, leg(1, 0.9)), hit("a", 2, None, leg(2, 0.89))];
        let unsure = vec![hit("b", 1, leg(1, 3.0), leg(1, 0.2)), hit("b", 7, None, leg(2, 0.1))];
        let hits = merged(false, vec![sure, unsure]);
        assert_eq!(places(&hits), [("a", 1), ("b", 1), ("a", 2), ("b", 7)]);
        assert!((hits[0].score - 1.0 / 61.0).abs() < 1e-12);
        assert!((hits[0].score - hits[1].score).abs() < 1e-12);
    }

    #[test]
    fn an_empty_base_changes_nothing() {
        let hits = || vec![hit("a", 1, leg(1, 2.0), leg(1, 0.5)), hit("a", 2, None, leg(2, 0.4))];
        let alone = merged(true, vec![hits()]);
        let beside = merged(true, vec![Vec::new(), hits()]);
        assert_eq!(places(&alone), places(&beside));
        for (one, other) in alone.iter().zip(hits()) {
            assert!((one.score - other.score).abs() < 1e-12);
        }
    }

    #[test]
    fn a_phrase_is_missing_if_no_base_with_passages_has_it() {
        let unmet = |typed: &str, nowhere: &[&str]| UnmetPhrasing {
            typed: typed.to_owned(),
            phrases: vec!["a".into(), "b".into()],
            nowhere: nowhere.iter().map(|&phrase| phrase.to_owned()).collect(),
        };
        let answer = |unmet: Vec<UnmetPhrasing>| SearchAnswer {
            unmet,
            confidence: None,
            ..SearchAnswer::empty(&[])
        };
        let check = |answers: Vec<SearchAnswer>, expected: &[UnmetPhrasing]| {
            assert_eq!(unmet_in_all(&answers), expected);
        };
        let both = unmet("q", &["a", "b"]);
        check(vec![], &[]);
        check(
            vec![answer(vec![both.clone()]), SearchAnswer::empty(&[])],
            std::slice::from_ref(&both),
        );
        check(vec![answer(vec![both.clone()]), answer(vec![])], &[]);
        check(vec![answer(vec![both.clone()]), answer(vec![unmet("r", &[])])], &[]);
        let (one, other) = (answer(vec![both]), answer(vec![unmet("q", &["b"])]));
        check(vec![one.clone(), other.clone()], &[unmet("q", &["b"])]);
        check(vec![other, one, answer(vec![unmet("q", &["a"])])], &[unmet("q", &[])]);
    }

    proptest! {
        #[test]
        fn scores_are_sums_of_terms_and_fall(
            cosines in prop::collection::vec(prop::collection::vec(0.01_f64..1.0, 0..6), 1..4),
            is_comparable: bool,
        ) {
            let answers: Vec<Vec<Hit>> = cosines
                .iter()
                .map(|cosines| {
                    let mut cosines = cosines.clone();
                    cosines.sort_by(|a, b| b.total_cmp(a));
                    (1_u32..)
                        .zip(cosines)
                        .map(|(rank, raw)| hit("x", i64::from(rank), leg(rank, raw), leg(rank, raw)))
                        .collect()
                })
                .collect();
            let hits = merged(is_comparable, answers);
            for pair in hits.windows(2) {
                prop_assert!(pair[0].score >= pair[1].score);
            }
            for hit in &hits {
                let sum = hit.keyword.unwrap().term + hit.vector.unwrap().term;
                prop_assert!((hit.score - sum).abs() < 1e-12);
                prop_assert!(hit.score > 0.0 && hit.score <= 2.0 / 61.0);
            }
        }
    }
}
