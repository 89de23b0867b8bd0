//! Ranks chunks by BM25, from the terms and their occurrences. Pure.
//!
//! BM25 with fields (Robertson, Zaragoza and Taylor, CIKM 2004): a term's occurrences in the
//! chunk's context, in its text and in the rest of its document are weighted and added before they
//! saturate. So a chunk whose document is about the topic ranks above one that mentions it in
//! passing. On fifteen collections that raised nDCG@10 of this leg by 0.007 on average over FTS5's
//! `bm25()`, and by 0.02 where documents have several chunks.
//!
//! Very common terms are skipped where rarer ones occur: chunks are not scored if all their terms
//! together weigh less than the last entry of the ranking (Turtle and Flood, 1995). This does not
//! change the results.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ids::{ChunkId, Ranked};
use crate::search::term::{SATURATION, Span, Term, Totals, candidates, from_place};
use crate::{ChunkSizes, Occurrence};

/// Chunks scored per entry of the ranking before the deciding terms are known.
const FIRST_CANDIDATES: usize = 4;

/// The terms of a query with their statistics.
pub(super) struct Keywords {
    /// In the order of the query.
    terms: Vec<Term>,
    /// The name of each term.
    names: Vec<String>,
    sizes: ChunkSizes,
    totals: Totals,
}

/// Where a term of the query was found, ordered by chunk id.
#[derive(Default)]
pub(super) struct Found {
    /// In passages.
    pub(super) occurrences: Vec<Occurrence>,
    /// The chunks of documents that have it in their names.
    pub(super) named: Vec<ChunkId>,
}

/// How a term of the query contributed to a chunk.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Term")]
pub struct TermMatch {
    /// The term, as people write it.
    pub term: String,
    /// Number of chunks that contain it.
    #[serde(rename = "chunks")]
    pub num_chunks: u32,
    /// Its weight; larger for rare terms.
    pub weight: f64,
    /// Occurrences in the chunk's context: title and headings, or module and class.
    pub in_context: u32,
    /// Occurrences in the chunk's own text.
    pub in_text: u32,
    /// Whether it is in the name of the file, an alias or the name of the folder.
    pub in_name: bool,
    /// Occurrences in the whole document.
    pub in_document: u32,
    /// Its share of the chunk's BM25.
    #[serde(rename = "bm25")]
    pub score: f64,
}

impl Keywords {
    /// Creates the terms from their names, where they were found, the share of their weight
    /// that counts, in (0, 1], and the sizes of all chunks.
    pub(super) fn new(
        names: Vec<String>,
        found: &[Found],
        shares: &[f64],
        sizes: ChunkSizes,
    ) -> Self {
        let totals = Totals::of(&sizes);
        let terms = found
            .iter()
            .zip(shares)
            .map(|(found, share)| {
                Term::new(&found.occurrences, &found.named, *share, &sizes, &totals)
            })
            .collect();
        Self { terms, names, sizes, totals }
    }

    /// Ranks the chunks in which at least one term occurs. Best first, ties by chunk id; at most
    /// `depth`. Scores are positive.
    ///
    /// `passing` lists the chunks that pass the filter, ordered by id, if there is a filter. Other
    /// chunks are not ranked, but count in the statistics of the terms.
    pub(super) fn rank(&self, passing: Option<&[ChunkId]>, depth: usize) -> Vec<Ranked> {
        let mut terms: Vec<&Term> = self.terms.iter().collect();
        terms.sort_by_key(|term| term.entries.len());
        let mut num_candidates = 0;
        let num_deciding = terms
            .iter()
            .take_while(|term| {
                let is_needed = num_candidates < depth.saturating_mul(FIRST_CANDIDATES);
                num_candidates += term.entries.len();
                is_needed
            })
            .count();
        let mut ranked = self.rank_deciding(&terms, num_deciding, passing);
        // The last score can only rise with more candidates, so one correction is enough.
        let num_needed = num_needed(&terms, &ranked, depth);
        if num_needed > num_deciding {
            ranked = self.rank_deciding(&terms, num_needed, passing);
        }
        ranked.truncate(depth);
        ranked
    }

    /// Ranks the chunks that have any term, in documents that have one of the first `num_deciding`
    /// of `terms`.
    fn rank_deciding(
        &self,
        terms: &[&Term],
        num_deciding: usize,
        passing: Option<&[ChunkId]>,
    ) -> Vec<Ranked> {
        let mut candidates = candidates(terms, num_deciding, &self.sizes, &self.totals);
        for term in terms {
            term.add_to(&mut candidates);
        }
        let passes = |id| passing.is_none_or(|passing| passing.binary_search(&id).is_ok());
        let mut ranked: Vec<Ranked> = candidates
            .iter()
            .map(|candidate| Ranked {
                chunk_id: self.sizes.chunk_id(candidate.place),
                score: candidate.score,
            })
            .filter(|ranked| passes(ranked.chunk_id))
            .collect();
        ranked
            .sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
        ranked
    }

    /// Returns what each term that occurs in a chunk or its document contributes to the chunk, in
    /// the order of the query; the scores add up to the chunk's score.
    pub(super) fn matches(&self, chunk_id: ChunkId) -> Vec<TermMatch> {
        self.each_match(chunk_id).into_iter().flatten().collect()
    }

    /// Returns the score of a chunk for some of the terms, each with its whole weight; `None` if none of them occurs
    /// in it or its document.
    pub(super) fn score(&self, chunk_id: ChunkId, terms: &[usize]) -> Option<f64> {
        let found = self.each_match(chunk_id);
        let scores: Vec<f64> = terms
            .iter()
            .filter_map(|term| Some(found.get(*term)?.as_ref()?.score / self.terms[*term].share))
            .collect();
        (!scores.is_empty()).then(|| scores.iter().sum())
    }

    /// Returns what each term contributes to a chunk; `None` for a term that does not occur there.
    fn each_match(&self, chunk_id: ChunkId) -> Vec<Option<TermMatch>> {
        let Some(place) = self.sizes.places([chunk_id].into_iter()).flatten().next() else {
            return Vec::new();
        };
        let document = Span::around(place, 0, &self.sizes);
        let candidate = document.candidate(place, &self.sizes, &self.totals);
        let found = self.terms.iter().zip(&self.names).map(|(term, name)| {
            let own = from_place(&term.entries, document.places.start);
            let own =
                &own[..own.iter().take_while(|entry| entry.place < document.places.end).count()];
            let here = own.iter().find(|entry| entry.place == place);
            let in_document: u32 = own.iter().map(|entry| entry.in_text).sum();
            (!own.is_empty()).then(|| TermMatch {
                term: name.clone(),
                num_chunks: u32::try_from(term.entries.len()).unwrap_or(u32::MAX),
                weight: term.weight,
                in_context: here.map_or(0, |entry| entry.in_context),
                in_text: here.map_or(0, |entry| entry.in_text),
                in_name: here.is_some_and(|entry| entry.in_name),
                in_document,
                score: term.score(&candidate, here, in_document),
            })
        });
        found.collect()
    }

    /// Returns the share of the terms' weight that occurs in a chunk or its context, in 0..=1.
    pub(super) fn coverage(&self, chunk_id: ChunkId) -> f64 {
        let found = self.matches(chunk_id);
        let here =
            found.iter().filter(|found| found.in_name || found.in_context + found.in_text > 0);
        let all: f64 = self.terms.iter().map(|term| term.weight).sum();
        if all > 0.0 { here.map(|found| found.weight).sum::<f64>() / all } else { 0.0 }
    }
}

/// Returns how many of `terms`, the rarest first, may bring a chunk into the first `depth` of a ranking; the others
/// together weigh less than its last entry.
fn num_needed(terms: &[&Term], ranked: &[Ranked], depth: usize) -> usize {
    let last = if depth == 0 { None } else { ranked.get(depth - 1) };
    last.map_or(terms.len(), |last| {
        let mut rest = 0.0;
        let negligible = terms.iter().rev().take_while(|term| {
            rest += term.weight * (SATURATION + 1.0);
            rest < last.score
        });
        terms.len() - negligible.count()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::DocumentId;

    /// Returns the sizes of chunks with these documents and lengths, and ids from 1.
    fn sizes(chunks: &[(i64, u32)]) -> ChunkSizes {
        let ids = (1..).map(ChunkId);
        ids.zip(chunks).map(|(id, chunk)| (id, DocumentId(chunk.0), chunk.1)).collect()
    }

    /// Returns a term that occurs once in the text of each of these chunks.
    fn term(ids: &[i64]) -> Vec<Occurrence> {
        let occurrence = |&id| Occurrence { chunk_id: ChunkId(id), in_context: 0, in_text: 1 };
        ids.iter().map(occurrence).collect()
    }

    fn keywords(terms: &[Vec<Occurrence>], sizes: ChunkSizes) -> Keywords {
        let names = (0..terms.len()).map(|idx| idx.to_string()).collect();
        let found: Vec<Found> =
            terms.iter().map(|term| Found { occurrences: term.clone(), named: vec![] }).collect();
        Keywords::new(names, &found, &vec![1.0; terms.len()], sizes)
    }

    fn rank(
        terms: &[Vec<Occurrence>],
        sizes: &ChunkSizes,
        passing: Option<&[ChunkId]>,
        depth: usize,
    ) -> Vec<Ranked> {
        keywords(terms, sizes.clone()).rank(passing, depth)
    }

    #[track_caller]
    fn check(terms: &[Vec<Occurrence>], sizes: &ChunkSizes, expected: &[i64]) {
        let ranked = rank(terms, sizes, None, 100);
        assert_eq!(ranked.iter().map(|hit| hit.chunk_id.0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_rare_term_weighs_more() {
        let sizes = sizes(&[(1, 100), (2, 100), (3, 100), (4, 100), (5, 100)]);
        check(&[term(&[1, 2, 4]), term(&[3])], &sizes, &[3, 1, 2, 4]);
    }

    #[test]
    fn a_short_chunk_beats_a_long_one() {
        let sizes = sizes(&[(1, 200), (2, 100), (3, 100)]);
        check(&[term(&[1, 2])], &sizes, &[2, 1]);
    }

    #[test]
    fn the_context_weighs_more_than_the_text() {
        let sizes = sizes(&[(1, 100), (2, 100), (3, 100), (4, 100), (5, 100)]);
        let in_text = Occurrence { chunk_id: ChunkId(1), in_context: 0, in_text: 1 };
        let in_context = Occurrence { chunk_id: ChunkId(2), in_context: 1, in_text: 0 };
        check(&[vec![in_text, in_context]], &sizes, &[2, 1]);
    }

    #[test]
    fn a_chunk_gains_if_its_document_is_about_the_topic() {
        let sizes = sizes(&[(1, 100), (1, 100), (2, 100), (2, 100), (3, 100), (3, 100)]);
        // 1 and 3 have the same text, but the other chunk of 3's document repeats the term.
        check(&[term(&[1, 3]), term(&[4])], &sizes, &[4, 3, 1]);
    }

    #[test]
    fn a_term_that_all_chunks_have_still_ranks() {
        let sizes = sizes(&[(1, 100), (2, 50)]);
        check(&[term(&[1, 2])], &sizes, &[2, 1]);
    }

    #[test]
    fn filtered_chunks_are_not_ranked_but_count_in_the_statistics() {
        let sizes = sizes(&[(1, 100), (2, 100), (3, 100)]);
        let all = rank(&[term(&[1, 2])], &sizes, None, 10);
        assert_eq!(rank(&[term(&[1, 2])], &sizes, Some(&[ChunkId(2), ChunkId(3)]), 10), all[1..]);
    }

    #[test]
    fn a_removed_chunk_is_left_out() {
        check(&[term(&[1, 7])], &sizes(&[(1, 100)]), &[1]);
        check(&[], &sizes(&[(1, 100)]), &[]);
        check(&[term(&[1])], &sizes(&[]), &[]);
    }

    #[test]
    fn contributions_of_terms_add_up_to_the_score() {
        let sizes = sizes(&[(1, 100), (1, 50), (2, 100), (3, 80)]);
        let terms = [term(&[1, 2, 3]), term(&[2]), term(&[4]), term(&[])];
        let keywords = keywords(&terms, sizes);
        for ranked in keywords.rank(None, 10) {
            let matches = keywords.matches(ranked.chunk_id);
            let sum: f64 = matches.iter().map(|found| found.score).sum();
            assert!((sum - ranked.score).abs() < 1e-12);
        }
        let first = keywords.matches(ChunkId(1));
        assert_eq!(first.iter().map(|found| found.term.as_str()).collect::<Vec<_>>(), ["0", "1"]);
        assert_eq!((first[0].in_text, first[0].in_document, first[0].num_chunks), (1, 2, 3));
        assert_eq!((first[1].in_text, first[1].in_document), (0, 1));
        let [one, two] = [1, 2].map(|id| keywords.coverage(ChunkId(id)));
        assert!(one < two && two < 1.0);
        assert!(keywords.matches(ChunkId(99)).is_empty());
    }

    /// Skipping changes no answer, so its work is what shows it.
    #[test]
    fn a_term_that_cannot_change_the_ranking_is_skipped() {
        let sizes = sizes(&(1..=40).map(|id| (id, 100)).collect::<Vec<_>>());
        let rare = term(&[1, 2, 3]);
        let common = term(&(1..=39).collect::<Vec<_>>());
        let keywords = keywords(&[rare, common], sizes);
        let terms: Vec<&Term> = keywords.terms.iter().collect();
        let ranked = keywords.rank_deciding(&terms, 1, None);
        assert_eq!(ranked.len(), 3);
        for (depth, expected) in [(1, 1), (2, 1), (3, 1), (4, 2), (0, 2)] {
            assert_eq!(num_needed(&terms, &ranked, depth), expected, "{depth}");
        }
        // A term that weighs as much as the last entry is needed.
        let weight = terms[1].weight * (SATURATION + 1.0);
        for (score, expected) in [(weight, 2), (weight + 1e-9, 1)] {
            let last = [Ranked { chunk_id: ChunkId(1), score }];
            assert_eq!(num_needed(&terms, &last, 1), expected, "{score}");
        }
    }

    proptest! {
        #[test]
        fn every_chunk_with_a_term_is_ranked_once_above_zero(
            documents in prop::collection::vec((1_u32..400, 1_usize..4), 1..20),
            hits in prop::collection::vec(prop::collection::btree_set(1_i64..40, 0..20), 0..5),
        ) {
            let chunks: Vec<(i64, u32)> = (1..)
                .zip(&documents)
                .flat_map(|(id, &(tokens, count))| std::iter::repeat_n((id, tokens), count))
                .collect();
            let sizes = sizes(&chunks);
            let terms: Vec<Vec<Occurrence>> =
                hits.iter().map(|ids| term(&ids.iter().copied().collect::<Vec<_>>())).collect();
            let ranked = rank(&terms, &sizes, None, 1000);
            let mut ids: Vec<i64> = ranked.iter().map(|hit| hit.chunk_id.0).collect();
            ids.sort_unstable();
            let mut expected: Vec<i64> = hits
                .iter()
                .flatten()
                .copied()
                .filter(|id| usize::try_from(*id).unwrap() <= chunks.len())
                .collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(ids, expected);
            prop_assert!(ranked.iter().all(|ranked| ranked.score > 0.0 && ranked.score.is_finite()));
            prop_assert!(ranked.is_sorted_by(|a, b| (-a.score, a.chunk_id) < (-b.score, b.chunk_id)));
            let mut reversed = terms;
            reversed.reverse();
            let again: Vec<ChunkId> =
                rank(&reversed, &sizes, None, 1000).iter().map(|ranked| ranked.chunk_id).collect();
            prop_assert_eq!(again.len(), ranked.len());
        }

        /// Whatever is skipped, the requested entries are those of the full ranking.
        #[test]
        fn skipping_common_terms_changes_nothing(
            documents in prop::collection::vec((1_u32..400, 1_usize..4), 30..120),
            rates in prop::collection::vec((0_u8..100, any::<u32>()), 1..6),
            depth in 1_usize..30,
        ) {
            let chunks: Vec<(i64, u32)> = (1..)
                .zip(&documents)
                .flat_map(|(id, &(tokens, count))| std::iter::repeat_n((id, tokens), count))
                .collect();
            let terms: Vec<Vec<Occurrence>> = rates
                .iter()
                .map(|(rate, seed)| {
                    let ids = 1..=i64::try_from(chunks.len()).unwrap();
                    let number = |id: i64| (id.unsigned_abs() * 2_654_435_761) ^ u64::from(*seed);
                    term(&ids.filter(|id| number(*id) % 100 < (*rate).into()).collect::<Vec<_>>())
                })
                .collect();
            let sizes = sizes(&chunks);
            let mut whole = rank(&terms, &sizes, None, 10_000);
            whole.truncate(depth);
            prop_assert_eq!(rank(&terms, &sizes, None, depth), whole);
        }
    }
}
