//! Tests passages: their chunks, their tokens, and what a budget leaves out.

use std::collections::BTreeSet;

use super::*;
use crate::document::{Chunk, DocType, LineRange, PageRange};
use crate::ids::{ChunkId, DocumentId};
use crate::search::CitedPlace;
use crate::testing::TestDb;
use crate::{Store, StoredChunk, StoredHit};

/// Returns a hit on chunk `index` of document `id`; each document has ten chunks.
fn hit(id: i64, index: u32, text: &str) -> Hit {
    let chunk = Chunk {
        text: text.to_owned(),
        token_count: 100,
        lines: Some(LineRange::between(index * 10, index * 10 + 9)),
        ..Chunk::default()
    };
    let chunk = StoredChunk { id: ChunkId(id * 10 + i64::from(index)), chunk_index: index, chunk };
    let stored = StoredHit {
        chunk,
        document_id: DocumentId(id),
        title: format!("Title {id}"),
        path: None,
        doc_type: DocType::Markdown,
        format: "markdown".into(),
        language: None,
        tags: Vec::new(),
        total_chunks: 10,
        date: None,
        date_origin: None,
        superseded: None,
        natural_language: None,
        aliases: Vec::new(),
    };
    Hit {
        score: 1.0,
        rerank_score: None,
        keyword: None,
        vector: None,
        token_match: None,
        document_weight: 1.0,
        recency: None,
        stored,
        terms: Vec::new(),
        contributions: Vec::new(),
        num_copies: 0,
        stale: None,
        base: None,
        shares_title: false,
        conflict_of: None,
        at: CitedPlace::default(),
        passage: None,
    }
}

/// Returns the chunks of a passage.
fn chunk_ids(hit: &Hit) -> Vec<i64> {
    hit.passage.iter().flat_map(|passage| &passage.chunk_ids).map(|id| id.0).collect()
}

fn results(hits: Vec<Hit>) -> SearchAnswer {
    let confidence = Some(Confidence::Low);
    SearchAnswer { total_matches: hits.len(), hits, confidence, ..SearchAnswer::empty(&[]) }
}

#[track_caller]
fn check(hits: Vec<Hit>, budget: usize, expected: &[(&[i64], &str)]) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("kb.db")).unwrap();
    let results = results(hits);
    let options = EvidenceOptions { budget: Some(budget), ..EvidenceOptions::default() };
    let evidence = gather(&store, results, options).unwrap();
    let found: Vec<(Vec<i64>, &str)> = evidence
        .hits
        .iter()
        .map(|hit| (chunk_ids(hit), hit.stored.chunk.chunk.text.as_str()))
        .collect();
    let expected: Vec<(Vec<i64>, &str)> =
        expected.iter().map(|(chunk_ids, text)| (chunk_ids.to_vec(), *text)).collect();
    assert_eq!(found, expected);
    let total = num_tokens_of(&evidence.hits);
    assert_eq!(
        evidence.gathered,
        Some(EvidenceSummary { budget: Some(budget), num_tokens: total })
    );
    assert!(total <= budget);
}

#[test]
fn a_hit_that_does_not_fit_is_skipped() {
    let hits = || vec![hit(1, 0, "a b c"), hit(2, 0, "d e f g h i"), hit(3, 0, "j k")];
    check(hits(), 5, &[(&[10], "a b c"), (&[30], "j k")]);
    check(hits(), 2, &[(&[30], "j k")]);
    check(hits(), 1, &[]);
}

#[test]
fn the_passage_that_adds_most_comes_first_into_a_budget_and_the_answer_is_in_order_of_scores() {
    let db = TestDb::new();
    let with_score = |score: f64, hit: Hit| Hit { score, ..hit };
    let hits = || {
        vec![
            with_score(1.0, hit(1, 0, "the gauge of the burn")),
            with_score(0.95, hit(2, 0, "the gauge of the pier")),
            with_score(0.9, hit(3, 0, "frost and ice on it")),
        ]
    };
    let chosen = |budget| {
        let options = EvidenceOptions { budget: Some(budget), ..EvidenceOptions::default() };
        let answer = SearchAnswer { wanted: QueryTerms::new("gauge frost"), ..results(hits()) };
        let found = gather(&db.store, answer, options).unwrap().hits;
        found.iter().map(|hit| hit.stored.document_id.0).collect::<Vec<_>>()
    };
    assert_eq!(chosen(6), [3]);
    assert_eq!(chosen(12), [1, 3]);
    assert_eq!(chosen(18), [1, 2, 3]);
}

#[test]
fn what_a_program_has_ordered_stays_in_its_order() {
    let db = TestDb::new();
    let ordered = |score, hit: Hit| Hit { rerank_score: Some(score), ..hit };
    let hits =
        vec![ordered(0.9, hit(1, 0, "the gauge")), ordered(0.8, hit(2, 0, "frost on the gauge"))];
    let options = EvidenceOptions { budget: Some(4), ..EvidenceOptions::default() };
    let answer = SearchAnswer { wanted: QueryTerms::new("gauge frost"), ..results(hits) };
    assert_eq!(chunk_ids(&gather(&db.store, answer, options).unwrap().hits[0]), [10]);
}

#[test]
fn neighbours_are_merged_at_the_position_of_the_better_one() {
    let hits = vec![hit(1, 2, "c c c"), hit(2, 0, "z"), hit(1, 1, "b b")];
    check(hits, 10, &[(&[11, 12], "b b\nc c c"), (&[20], "z")]);
}

#[test]
fn a_near_copy_is_left_out() {
    let text = "the gauge is read at eight in the morning and at six in the evening";
    let other = format!("{text} too");
    check(
        vec![hit(1, 0, text), hit(2, 0, &other), hit(3, 0, "x")],
        99,
        &[(&[10], text), (&[30], "x")],
    );
    // A part of a passage adds nothing new, but the passage adds to the part.
    let part = "the gauge is read at eight in the morning";
    check(vec![hit(1, 0, text), hit(2, 0, part)], 99, &[(&[10], text)]);
    check(vec![hit(1, 0, part), hit(2, 0, text)], 99, &[(&[10], part), (&[20], text)]);
}

#[test]
fn any_number_of_neighbours_gives_at_most_the_document() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("kb.db")).unwrap();
    let chunks = (0..5).map(|index| (index, hit(1, index, "tide").stored.chunk)).collect();
    let mut gatherer = Gatherer::new(&store, QueryTerms::default());
    gatherer.documents = HashMap::from([(DocumentId(1), chunks)]);
    for (at, context, expected) in
        [(2, 0, 2..=2), (2, 1, 1..=3), (0, 1, 0..=1), (4, 9, 0..=4), (2, u32::MAX, 0..=4)]
    {
        let found: Vec<u32> = gatherer.around(DocumentId(1), at, context).collect();
        assert_eq!(found, expected.collect::<Vec<_>>(), "{at}, {context}");
    }
}

/// Loading more changes no answer, so the loaded chunks are what shows it.
#[test]
fn a_document_is_loaded_only_if_neighbours_are_wanted() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["low", "tide", "high"], &[]);
    let stored = db.store.chunks(id).unwrap().remove(1);
    let mut hit = hit(id.0, 1, "tide");
    hit.stored.chunk = stored;
    for (context, expected) in [(0, &[1][..]), (1, &[0, 1, 2]), (u32::MAX, &[0, 1, 2])] {
        let mut gatherer = Gatherer::new(&db.store, QueryTerms::default());
        gatherer.load(&hit, context).unwrap();
        let loaded: Vec<u32> = gatherer.documents[&id].keys().copied().collect();
        assert_eq!(loaded, expected, "{context}");
    }
}

/// Returns the chunks of each passage.
fn passages(store: &Store, hits: Vec<Hit>, options: EvidenceOptions) -> Vec<Vec<i64>> {
    let evidence = gather(store, results(hits), options).unwrap();
    evidence.hits.iter().map(chunk_ids).collect()
}

#[test]
fn at_most_so_many_hits_are_used() {
    let db = TestDb::new();
    let text = "the gauge is read at eight in the morning";
    // The copy is not used, so it does not count.
    let hits = || vec![hit(1, 0, text), hit(2, 0, text), hit(3, 0, "c"), hit(4, 0, "d")];
    let all = [[10], [30], [40]];
    for budget in [None, Some(99)] {
        for (limit, num_passages) in
            [(Some(0), 0), (Some(1), 1), (Some(2), 2), (Some(3), 3), (None, 3)]
        {
            let options = EvidenceOptions { budget, limit, ..EvidenceOptions::default() };
            assert_eq!(passages(&db.store, hits(), options), all[..num_passages], "{limit:?}");
        }
    }
    assert!(passages(&db.store, Vec::new(), EvidenceOptions::default()).is_empty());
}

#[test]
fn neighbours_are_added_if_they_fit() {
    let mut db = TestDb::new();
    let texts = ["one two", "three four five", "six", "seven eight", "nine"];
    let id = db.add("/a.md", &texts, &[]);
    let other = db.add("/b.md", &["ten eleven"], &[]);
    let hit_at = |id: DocumentId, index: usize| {
        let mut hit = hit(id.0, 0, "");
        hit.stored.chunk = db.store.chunks(id).unwrap().remove(index);
        hit
    };
    for (context, budget, expected) in [
        (0, None, &[&[3][..], &[6]][..]),
        (1, None, &[&[2, 3, 4], &[6]]),
        (9, None, &[&[1, 2, 3, 4, 5], &[6]]),
        (1, Some(8), &[&[2, 3, 4], &[6]]),
        (1, Some(7), &[&[2, 3, 4]]),
        (1, Some(6), &[&[2, 3, 4]]),
        // Without neighbours, the hit fits.
        (1, Some(5), &[&[3], &[6]]),
        (1, Some(3), &[&[3], &[6]]),
        (1, Some(2), &[&[3]]),
        (1, Some(1), &[&[3]]),
        (1, Some(0), &[]),
    ] {
        let options = EvidenceOptions { context, budget, ..EvidenceOptions::default() };
        let hits = vec![hit_at(id, 2), hit_at(other, 0)];
        let found = passages(&db.store, hits, options);
        assert_eq!(found, expected, "{context}, {budget:?}");
    }
}

#[test]
fn another_hit_of_a_document_costs_only_what_it_adds() {
    let hits = || vec![hit(1, 0, "a b"), hit(2, 0, "c"), hit(1, 1, "d e"), hit(1, 5, "f")];
    check(hits(), 7, &[(&[10, 11], "a b\nd e"), (&[20], "c"), (&[15], "f")]);
    check(hits(), 6, &[(&[10, 11], "a b\nd e"), (&[20], "c")]);
    check(hits(), 4, &[(&[10], "a b"), (&[20], "c"), (&[15], "f")]);
    check(hits(), 3, &[(&[10], "a b"), (&[20], "c")]);
    // A hit that is part of the answer already is used, too, and adds nothing.
    check(vec![hit(1, 0, "a b"), hit(1, 0, "a b")], 2, &[(&[10], "a b")]);
}

#[test]
fn a_passage_has_the_lines_and_pages_of_all_its_chunks() {
    let db = TestDb::new();
    let on_page = |index: u32| {
        let mut hit = hit(1, index, &format!("words{index}"));
        let chunk = &mut hit.stored.chunk.chunk;
        chunk.pages = PageRange::new(index, index + 1);
        chunk.page_label = Some(format!("p. {index}"));
        hit
    };
    let hits = vec![on_page(3), on_page(2), on_page(4), on_page(7)];
    let options = EvidenceOptions::default();
    let evidence = gather(&db.store, results(hits), options).unwrap();
    let found: Vec<_> = evidence
        .hits
        .iter()
        .map(|hit| {
            let chunk = &hit.stored.chunk.chunk;
            (chunk.lines, chunk.pages, chunk.page_label.as_deref())
        })
        .collect();
    let expected = [
        (LineRange::new(20, 49), PageRange::new(2, 5), Some("p. 2")),
        (LineRange::new(70, 79), PageRange::new(7, 8), Some("p. 7")),
    ];
    assert_eq!(found, expected);
    assert_eq!((num_tokens_of(&evidence.hits), evidence.total_matches), (11, 4));
}

#[test]
fn tokens_are_counted_unless_they_are_far_over_the_budget() {
    let db = TestDb::new();
    for (num_tokens, budget, expected) in [
        (10_000, 0, false),
        (10_001, 0, true),
        (10_016, 2, false),
        (10_017, 2, true),
        (u32::MAX, usize::MAX, false),
    ] {
        let chunks = [(0, num_tokens - 1), (1, 1)].map(|(index, token_count)| {
            let mut stored = hit(1, index, "tide").stored.chunk;
            stored.chunk.token_count = token_count;
            (index, stored)
        });
        let mut gatherer = Gatherer::new(&db.store, QueryTerms::default());
        gatherer.documents = HashMap::from([(DocumentId(1), chunks.into())]);
        let found = gatherer.is_far_over(DocumentId(1), &BTreeSet::from([0, 1]), budget);
        assert_eq!(found, expected, "{num_tokens}, {budget}");
    }
}

#[test]
fn an_answer_that_is_there_ends_when_no_passage_adds_a_rare_word() {
    let db = TestDb::new();
    let mut hits: Vec<Hit> = (1..30).map(|id| hit(id, 0, &format!("gauge word{id}"))).collect();
    hits[9].stored.chunk.chunk.text = "the frost of the gauge".into();
    let budget = EvidenceOptions { budget: Some(99), ..EvidenceOptions::default() };
    for (confidence, options, typed, expected) in [
        (Some(Confidence::High), budget, "gauge", 3),
        (Some(Confidence::High), budget, "gauge word1 word2 word3 word9", 4),
        (Some(Confidence::High), EvidenceOptions { limit: Some(2), ..budget }, "gauge", 2),
        (Some(Confidence::Low), budget, "gauge", 29),
        (None, budget, "gauge", 29),
        (Some(Confidence::None), EvidenceOptions::default(), "gauge", 29),
    ] {
        let answer =
            SearchAnswer { confidence, wanted: QueryTerms::new(typed), ..results(hits.clone()) };
        let found = gather(&db.store, answer, options).unwrap().hits.len();
        assert_eq!(found, expected, "{confidence:?}, {typed}");
    }
}

#[test]
fn an_answer_that_is_not_there_has_at_most_150_tokens() {
    let db = TestDb::new();
    let hits: Vec<Hit> = (1..40)
        .map(|id| hit(id, 0, &format!("gauge {}", format!("word{id} ").repeat(20))))
        .collect();
    for (budget, expected) in [(1_000, 150), (100, 100)] {
        let options = EvidenceOptions { budget: Some(budget), ..EvidenceOptions::default() };
        let answer = SearchAnswer { confidence: Some(Confidence::None), ..results(hits.clone()) };
        let found = gather(&db.store, answer, options).unwrap();
        let num_tokens = num_tokens_of(&found.hits);
        assert!((expected * 8 / 10..=expected).contains(&num_tokens), "{num_tokens}");
    }
}

#[test]
fn what_the_form_adds_is_within_the_budget() {
    let db = TestDb::new();
    let form = FormCost {
        frame: |_| 10,
        of_hit: |hit, written| {
            let is_known =
                written.iter().any(|other| other.stored.document_id == hit.stored.document_id);
            if is_known { 2 } else { 5 }
        },
    };
    let hits = || vec![hit(1, 0, "a"), hit(1, 5, "b"), hit(2, 0, "c")];
    for (budget, expected) in [(15, 0), (16, 1), (18, 1), (19, 2), (24, 2), (25, 3)] {
        let options = EvidenceOptions {
            budget: Some(budget),
            form: Some(form),
            ..EvidenceOptions::default()
        };
        assert_eq!(passages(&db.store, hits(), options).len(), expected, "{budget}");
    }
}

/// Returns the passage with the second of four chunks: prose with a caption, and a table of three chunks.
fn table_passage(budget: usize) -> String {
    let mut db = TestDb::new();
    let head = "| station | rain |\n| --- | --- |\n";
    let rows = |from: u32| -> String {
        (from..from + 9).map(|row| format!("| mark {row} | {row} |\n")).collect()
    };
    let texts = [
        "It rains often.\n\nTable 1: rain in mm".to_owned(),
        format!("{head}{}", rows(10)),
        format!("{head}{}", rows(20)),
        format!("{head}{}\nEnd of the table.", rows(30)),
    ];
    let texts: Vec<&str> = texts.iter().map(|text| text.trim_end()).collect();
    let id = db.add("/a.md", &texts, &[]);
    let mut hit = hit(id.0, 0, "");
    hit.stored.chunk = db.store.chunks(id).unwrap().remove(2);
    let options = EvidenceOptions { budget: Some(budget), ..EvidenceOptions::default() };
    let answer = SearchAnswer { wanted: QueryTerms::new("mark 31"), ..results(vec![hit]) };
    gather(&db.store, answer, options).unwrap().hits.remove(0).stored.chunk.chunk.text
}

#[test]
fn a_hit_in_a_table_brings_caption_head_and_the_whole_table_or_rows_that_match() {
    let whole = table_passage(2_000);
    assert!(whole.starts_with("Table 1: rain in mm\n\n| station | rain |"), "{whole}");
    assert!((10..39).all(|row| row % 10 == 9 || whole.contains(&format!("| mark {row} |"))));
    assert_eq!((whole.matches("---").count(), whole.matches("rows").count()), (2, 0), "{whole}");
    let part = table_passage(200);
    assert!(part.contains("| station | rain |") && part.contains("| mark 31 | 31 |"), "{part}");
    assert!(part.contains("| mark 32 |") && !part.contains("| mark 13 |"), "{part}");
    assert!(part.contains("… ") && part.contains(" rows"), "{part}");
}
