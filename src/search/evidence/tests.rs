//! Tests passages: their chunks, their tokens, and what a budget leaves out.

use super::*;
use crate::document::{Chunk, DocType};
use crate::store::testing::TestDb;
use crate::store::{Store, StoredHit};

/// Returns a hit on chunk `index` of document `id`; each document has ten chunks.
fn hit(id: i64, index: u32, text: &str) -> Hit {
    let chunk = Chunk {
        text: text.to_owned(),
        context: String::new(),
        token_count: 100,
        section: None,
        symbol: None,
        page: None,
        last_page: None,
        page_label: None,
        start_line: Some(index * 10),
        end_line: Some(index * 10 + 9),
    };
    let chunk = StoredChunk { id: ChunkId(id * 10 + i64::from(index)), chunk_index: index, chunk };
    let stored = StoredHit {
        chunk,
        document_id: DocumentId(id),
        title: format!("Title {id}"),
        path: None,
        doc_type: DocType::Markdown,
        language: None,
        tags: Vec::new(),
        total_chunks: 10,
        date: None,
        date_origin: None,
    };
    Hit {
        score: 1.0,
        rerank_score: None,
        keyword: None,
        vector: None,
        token_match: None,
        stored,
        terms: Vec::new(),
        contributions: Vec::new(),
        num_copies: 0,
        stale: None,
        base: None,
    }
}

/// Counts words.
fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[track_caller]
fn check(hits: Vec<Hit>, budget: usize, expected: &[(&[i64], &str)]) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("kb.db")).unwrap();
    let results = SearchResults {
        typed: "q".into(),
        also: Vec::new(),
        total_matches: hits.len(),
        hits,
        confidence: None,
        no_basis: None,
        reranking: None,
    };
    let options = EvidenceOptions { budget: Some(budget), ..EvidenceOptions::default() };
    let evidence = gather(&store, results, options, Some(&words)).unwrap();
    let found: Vec<(Vec<i64>, &str)> = evidence
        .passages
        .iter()
        .map(|passage| {
            let chunk_ids = passage.chunk_ids.iter().map(|chunk_id| chunk_id.0).collect();
            (chunk_ids, passage.hit.stored.chunk.chunk.text.as_str())
        })
        .collect();
    let expected: Vec<(Vec<i64>, &str)> =
        expected.iter().map(|(chunk_ids, text)| (chunk_ids.to_vec(), *text)).collect();
    assert_eq!(found, expected);
    let total: usize = evidence.passages.iter().map(|passage| passage.num_tokens).sum();
    assert_eq!(total, evidence.num_tokens);
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
fn a_hit_far_below_the_best_does_not_fill_the_end() {
    let with_score = |score: f64, hit: Hit| Hit { score, ..hit };
    let hits = vec![
        with_score(1.0, hit(1, 0, "a b")),
        with_score(0.3, hit(2, 0, "c d")),
        with_score(0.29, hit(3, 0, "e f")),
    ];
    check(hits, 99, &[(&[10], "a b"), (&[20], "c d")]);
}

#[test]
fn neighbours_are_merged_at_the_position_of_the_better_one() {
    let hits = vec![hit(1, 2, "c c c"), hit(2, 0, "z"), hit(1, 1, "b b")];
    check(hits, 9, &[(&[11, 12], "b b\nc c c"), (&[20], "z")]);
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
    let gatherer = Gatherer {
        store: &store,
        num_tokens: None,
        weights: RefCell::default(),
        documents: HashMap::from([(DocumentId(1), chunks)]),
    };
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
        let mut gatherer = Gatherer {
            store: &db.store,
            num_tokens: None,
            weights: RefCell::default(),
            documents: HashMap::new(),
        };
        gatherer.load(&hit, context).unwrap();
        let loaded: Vec<u32> = gatherer.documents[&id].keys().copied().collect();
        assert_eq!(loaded, expected, "{context}");
    }
}

#[test]
fn without_a_tokenizer_embedded_tokens_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("kb.db")).unwrap();
    let hits = vec![hit(1, 0, "a"), hit(2, 0, "b"), hit(3, 0, "c")];
    let results = SearchResults {
        typed: "q".into(),
        also: Vec::new(),
        total_matches: 3,
        hits,
        confidence: None,
        no_basis: None,
        reranking: None,
    };
    let options = EvidenceOptions { budget: Some(250), ..EvidenceOptions::default() };
    let evidence = gather(&store, results, options, None).unwrap();
    assert_eq!((evidence.passages.len(), evidence.num_tokens), (2, 200));
}
