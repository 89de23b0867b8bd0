//! Tests of the keyword ranking.

use proptest::prelude::*;

use super::*;
use crate::ids::DocumentId;
use crate::search::{TermStatistics, term_statistics};
use crate::testing::TestDb;
use crate::{NamedChunks, Occurrence};

/// Returns the sizes of chunks with these documents and lengths, and ids from 1.
fn sizes(chunks: &[(i64, u32)]) -> ChunkSizes {
    let ids = (1..).map(ChunkId);
    ids.zip(chunks).map(|(id, chunk)| (id, DocumentId(chunk.0), chunk.1)).collect()
}

/// Returns a term that occurs once in the text of each of these chunks.
fn term(ids: &[i64]) -> Vec<Occurrence> {
    let occurrence =
        |&id| Occurrence { chunk_id: ChunkId(id), in_context: 0, in_text: 1, is_other_form: false };
    ids.iter().map(occurrence).collect()
}

fn keywords(terms: &[Vec<Occurrence>], sizes: ChunkSizes) -> Keywords {
    let names = (0..terms.len()).map(|idx| idx.to_string()).collect();
    let found: Vec<TermMatches> = terms
        .iter()
        .map(|term| TermMatches { occurrences: term.clone(), ..TermMatches::default() })
        .collect();
    made(names, &found, sizes)
}

/// Returns the terms with their whole weight, of a knowledge base that is asked alone.
fn made(names: Vec<String>, found: &[TermMatches], sizes: ChunkSizes) -> Keywords {
    let totals = Totals::of(&sizes, &TermStatistics::default());
    Keywords::new(names, found, &vec![1.0; found.len()], totals, sizes)
}

fn rank(
    terms: &[Vec<Occurrence>],
    sizes: &ChunkSizes,
    passing: Option<&[ChunkId]>,
    depth: usize,
) -> Vec<RankedChunk> {
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
    let in_text =
        Occurrence { chunk_id: ChunkId(1), in_context: 0, in_text: 1, is_other_form: false };
    let in_context =
        Occurrence { chunk_id: ChunkId(2), in_context: 1, in_text: 0, is_other_form: false };
    check(&[vec![in_text, in_context]], &sizes, &[2, 1]);
}

#[test]
fn a_place_outweighs_all_other_terms() {
    let sizes = sizes(&[(1, 400), (2, 10), (3, 100), (4, 100), (5, 100)]);
    let terms = [term(&[2]), term(&[2]), term(&[2, 3])];
    let mut found: Vec<TermMatches> =
        terms.map(|occurrences| TermMatches { occurrences, ..TermMatches::default() }).into();
    let named = NamedChunks { by_name: vec![ChunkId(1), ChunkId(4)], ..NamedChunks::default() };
    found.push(TermMatches { named, is_meant: true, is_place: true, ..TermMatches::default() });
    let names = (0..found.len()).map(|idx| idx.to_string()).collect();
    let keywords = made(names, &found, sizes);
    let ranked: Vec<i64> = keywords.rank(None, 9).iter().map(|hit| hit.chunk_id.0).collect();
    assert_eq!(ranked, [4, 1, 2, 3]);
    assert_eq!([1, 2].map(|id| keywords.num_meant(ChunkId(id))), [MEANT_BY_PLACE, 0]);
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
    let terms: Vec<&WeightedTerm> = keywords.terms.iter().collect();
    let ranked = keywords.rank_deciding(&terms, 1, None, usize::MAX);
    assert_eq!(ranked.len(), 3);
    for (depth, expected) in [(1, 1), (2, 1), (3, 1), (4, 2), (0, 2)] {
        assert_eq!(num_needed(&terms, &ranked, depth), expected, "{depth}");
    }
    // A term that weighs as much as the last entry is needed.
    let weight = terms[1].greatest();
    for (score, expected) in [(weight, 2), (weight + 1e-9, 1)] {
        let last = [RankedChunk { chunk_id: ChunkId(1), score }];
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

/// Returns what chunks 1, 2, ... have of a query of a whole, its two parts, and a joined word made of these.
#[track_caller]
fn check_cover(whole: &[i64], parts: [&[i64]; 2], joined: &[i64], expected: &[f64]) {
    let sizes = sizes(&(1..=40).map(|number| (number, 100)).collect::<Vec<_>>());
    let of = |ids: &[i64]| TermMatches { occurrences: term(ids), ..TermMatches::default() };
    let found = [
        of(parts[0]),
        of(parts[1]),
        TermMatches { parts: vec![0, 1], ..of(whole) },
        TermMatches { parts: vec![0, 1], is_joined: true, ..of(joined) },
    ];
    let names = (0..found.len()).map(|idx| idx.to_string()).collect();
    let keywords = made(names, &found, sizes);
    let ids: Vec<ChunkId> = (1..).map(ChunkId).take(expected.len()).collect();
    let cover = keywords.cover(&ids);
    let all: f64 = cover.weights.iter().sum();
    for (id, expected) in ids.iter().zip(expected) {
        let share = cover.covered[id] / all;
        assert!((share - expected).abs() < 0.01, "{id:?}: {share}");
    }
}

#[test]
fn a_whole_covers_the_query_and_its_parts_only_what_the_rarest_of_them_does() {
    check_cover(&[1], [&[1, 2, 3], &[1, 2]], &[], &[1.0, 0.84, 0.73, 0.0]);
}

#[test]
fn parts_of_no_whole_count_each_and_a_joined_word_counts_for_all_of_them() {
    check_cover(&[], [&[1, 2], &[2, 3]], &[4], &[0.5, 1.0, 0.5, 1.0, 0.0]);
}

#[test]
fn the_rarest_of_few_words_or_half_of_many_is_found() {
    let sizes = sizes(&(1..=40).map(|number| (number, 100)).collect::<Vec<_>>());
    let common = term(&(2..=12).collect::<Vec<_>>());
    let few = keywords(&[term(&[1]), common.clone()], sizes.clone());
    assert!(few.is_found(&[ChunkId(1)]) && few.is_found(&[ChunkId(3), ChunkId(1)]));
    assert!(!few.is_found(&[ChunkId(3)]) && !few.is_found(&[]));
    let lacking = keywords(&[vec![], common.clone()], sizes.clone());
    assert!(!lacking.is_found(&[ChunkId(3)]), "the rarest word is nowhere");
    let many = keywords(&[term(&[1]), term(&[2]), term(&[2, 3]), term(&[2, 4])], sizes);
    assert!(many.is_found(&[ChunkId(2)]) && !many.is_found(&[ChunkId(1), ChunkId(3)]));
}

/// Passages of chunks 1 to 3, of which each has the term `typed` in any form, and what the first two lose.
#[track_caller]
fn check_forms(typed: &str, passages: [&str; 3], expected: [bool; 3]) {
    let sizes = sizes(&(1..=40).map(|number| (number, 100)).collect::<Vec<_>>());
    let typed = Some(typed.to_owned());
    let found = [TermMatches { typed, occurrences: term(&[1, 2, 3]), ..TermMatches::default() }];
    let keywords = made(vec!["term".into()], &found, sizes);
    let passages = (1..).map(ChunkId).zip(passages.map(str::to_owned)).collect();
    let cover = keywords.cover_in_other_forms(&passages);
    let has_other = [1, 2, 3].map(|id| cover.covered.get(&ChunkId(id)).is_some_and(|it| *it > 0.0));
    assert_eq!(has_other, expected);
    let is_rarer = cover.weights[0] > keywords.cover(&[]).weights[0];
    assert_eq!(is_rarer, expected.contains(&true), "{:?}", cover.weights);
}

#[test]
fn a_form_that_some_passages_have_is_rarer_than_the_term() {
    check_forms("informer", ["An Informer.", "it informs", "informers"], [false, true, true]);
    check_forms("git-lfs", ["git lfs", "use git-lfs!", "git_lfs"], [true, false, true]);
    check_forms("max_age", [r"the max\_age", "max-age", "MAX_AGE = 3"], [false, true, false]);
    check_forms("informer", ["informs", "inform", "informed"], [false; 3]);
    check_forms("informs", ["informs", "it informs", "Informs"], [false; 3]);
    check_forms("10", ["100", "10", "v10"], [true, false, true]);
}

#[test]
fn what_other_knowledge_bases_have_makes_a_term_less_rare() {
    let sizes = sizes(&[(1, 100), (2, 100)]);
    let totals = |num_elsewhere| {
        let mut elsewhere = TermStatistics::default();
        for _ in 0..num_elsewhere {
            elsewhere.add(&one_chunk());
        }
        Totals::of(&sizes, &elsewhere)
    };
    let weight = |totals: Totals, num_elsewhere| {
        let found =
            TermMatches { occurrences: term(&[1]), num_elsewhere, ..TermMatches::default() };
        Keywords::new(vec!["a".into()], &[found], &[1.0], totals, sizes.clone()).terms[0].weight
    };
    assert!(weight(totals(98), 0) > weight(totals(98), 9));
    assert!(weight(totals(98), 9) > weight(totals(8), 9));
}

/// Returns the statistics of a knowledge base with one passage.
fn one_chunk() -> TermStatistics {
    let mut db = TestDb::new();
    db.add("/a.md", &["one"], &[]);
    term_statistics(&db.store, &[]).unwrap()
}
