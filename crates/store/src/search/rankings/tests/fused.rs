//! Tests how both rankings are weighted and fused, and what comparing tokens changes.

use super::*;
use crate::document::Filter;
use crate::search::Recency;

#[test]
fn each_leg_gives_its_first_candidates() {
    let db = TestDb::new();
    let all: Vec<(i64, f64)> = (1..=301).map(|id| (id, 1.0)).collect();
    let negative: Vec<(i64, f64)> = all.iter().map(|(id, score)| (-id, *score)).collect();
    let options = by_score();
    assert_eq!(options.depth(), 300);
    assert_eq!(fuse_with(&db, &rankings(&all, None), &options).len(), 300);
    assert_eq!(fuse_with(&db, &rankings(&[], Some(leg(&all, 1.0, 0.0))), &options).len(), 300);
    let both = rankings(&all, Some(leg(&negative, 1.0, 0.0)));
    assert_eq!(fuse_with(&db, &both, &options).len(), 600);
    assert_eq!(fuse_with(&db, &both, &SearchOptions { limit: 101, ..options }).len(), 602);
    assert_eq!(fuse_with(&db, &rankings(&[], None), &by_score()), []);
}

#[test]
fn a_vector_leg_that_cannot_read_the_query_only_counts_alone() {
    let db = TestDb::new();
    let weights = |keyword: &[(i64, f64)], weight: f64| -> Vec<(i64, f64)> {
        let vector = Some(leg(&[(7, 0.9)], weight, 0.0));
        let found = fuse_with(&db, &rankings(keyword, vector), &by_score());
        let weight = |hit: &FusedChunk| Some((hit.chunk_id.0, hit.legs.vector?.weight));
        found.iter().filter_map(weight).collect()
    };
    assert_eq!(weights(&[(1, 2.0)], 0.0), []);
    assert_eq!(weights(&[(1, 2.0)], 0.5), [(7, 0.5)]);
    assert_eq!(weights(&[], 0.0), [(7, 1.0)]);
    assert_eq!(weights(&[], 0.5), [(7, 1.0)]);
}

#[test]
fn each_leg_has_its_own_weight_and_scale() {
    let db = TestDb::new();
    let vector = leg(&[(3, 1.0), (2, 0.5)], 0.5, 0.5);
    let both = Rankings { keyword_weight: 0.4, ..rankings(&[(1, 16.0), (2, 1.0)], Some(vector)) };
    let found = fuse_with(&db, &both, &by_score());
    assert_eq!(found.iter().map(|hit| hit.chunk_id.0).collect::<Vec<_>>(), [3, 1, 2]);
    let keyword = |hit: usize| found[hit].legs.keyword.unwrap();
    let vector = |hit: usize| found[hit].legs.vector.unwrap();
    assert_near(vector(0).weight, 0.5);
    assert_near(keyword(1).weight, 0.4);
    // A sixteenth to the power of three quarters is an eighth; a cosine at the floor keeps a tenth.
    assert_near(keyword(2).weight, 0.4 / 8.0);
    assert_near(vector(2).weight, 0.5 * 0.1);
    assert_near(found[2].score, (0.05 + 0.05) / 62.0);
    assert_eq!(
        (vector(0).raw, vector(2).raw, keyword(2).raw),
        (1.0, 0.5, 1.0),
        "cosines are shown"
    );
    let other_constant = SearchOptions { rrf_k: 0.0, ..by_score() };
    assert_near(fuse_with(&db, &both, &other_constant)[0].score, 0.5);
}

#[test]
fn hits_at_the_threshold_stay() {
    let db = TestDb::new();
    let found = |threshold: f64| {
        let options = SearchOptions { threshold: Some(threshold), ..by_score() };
        fuse_with(&db, &rankings(&[(1, 2.0), (2, 1.0), (3, 0.5)], None), &options).len()
    };
    assert_eq!(found(0.0), 3);
    assert_eq!(found(1.0 / 62.0), 2);
    assert_eq!(found(1.0 / 62.0 + 1e-12), 1);
    assert_eq!(found(1.0), 0);
}

#[test]
fn newer_documents_win_near_ties_and_no_more() {
    let mut db = TestDb::new();
    for (path, date) in [("/a.md", "2020-01-01"), ("/b.md", "2024-01-01"), ("/c.md", "2024-01-31")]
    {
        let mut new = document(path, &[path], &[]);
        new.metadata.created = Some(date.into());
        db.put(&new, &[path], &[]);
    }
    let found =
        |scores: [f64; 3], half_life_days: u32, newest: Option<&str>, path: Option<&str>| {
            let newest = newest.map(str::to_owned);
            let paths = path.iter().map(|path| (*path).to_owned()).collect();
            let recency = Some(Recency { half_life_days, newest });
            let filter = Filter { paths, ..Filter::default() };
            let options = SearchOptions { recency, filter, ..by_score() };
            let entries: Vec<(i64, f64)> = (1..).zip(scores).collect();
            let vector = leg(&entries, 1.0, 0.0);
            fuse_with(&db, &rankings(&entries, Some(vector)), &options)
        };
    let order = |fused: &[FusedChunk]| fused.iter().map(|hit| hit.chunk_id.0).collect::<Vec<_>>();
    let near = found([1.0, 0.99, 0.985], 30, None, None);
    assert_eq!(order(&near), [3, 2, 1]);
    let shares: Vec<f64> = near.iter().map(|hit| hit.recency.unwrap()).collect();
    assert_eq!(shares[0], 1.0);
    assert_near(shares[1], 0.975);
    assert_near(shares[2], 0.95);
    for hit in &near {
        let sum = hit.legs.keyword.unwrap().term + hit.legs.vector.unwrap().term;
        assert!((hit.score - sum).abs() < 1e-15 && hit.score <= 2.0 / 61.0, "{hit:?}");
    }
    // However old, a clearly better hit stays first; over many years a month is nothing.
    assert_eq!(order(&found([1.0, 0.8, 0.7], 1, None, None)), [1, 2, 3]);
    assert_eq!(order(&found([1.0, 0.99, 0.985], 36_500, None, None)), [1, 2, 3]);
    // Ages count from the newest document that passes the filter, or from a given day.
    let below = found([1.0, 0.99, 0.985], 30, None, Some("/a.md"));
    assert_eq!((order(&below), below[0].recency), (vec![1, 2, 3], Some(1.0)));
    let given = found([1.0, 0.99, 0.985], 30, Some("2024-03-01"), None);
    assert_eq!(order(&given), [1, 2, 3]);
    assert_near(given[2].recency.unwrap(), 0.975);
}

/// The codes that [`TestDb`] stores are the bytes of the text. The query's only token is like all bits.
#[test]
fn the_first_hits_are_ranked_again_by_their_tokens() {
    let mut db = TestDb::new();
    db.add("/a.md", &["@", "\u{7f}", "o"], &[]);
    let vector = VectorLeg {
        phrasings: vec![compass().embed_query("tide").unwrap()],
        ..leg(&[(1, 0.6), (2, 0.5), (9, 0.45), (3, 0.4)], 1.0, 0.0)
    };
    let rankings = rankings(&[(9, 1.0)], Some(vector));
    let compares = SearchOptions::default();
    assert!(compares.compares_tokens);
    let show = |options: &SearchOptions| -> Vec<(i64, u32, f64, Option<f64>)> {
        let fused = rankings.fuse(&db.store, options).unwrap();
        let mut found: Vec<_> = fused
            .iter()
            .map(|hit| {
                let vector = hit.legs.vector.unwrap();
                let token_match = hit.token_match.map(|found| (found * 100.0).round());
                (hit.chunk_id.0, vector.rank, vector.raw, token_match)
            })
            .collect();
        found.sort_by_key(|found| found.1);
        found
    };
    // One, seven and six of eight bits; chunk 9 has no codes.
    assert_eq!(
        show(&compares),
        [
            (2, 1, 0.5, Some(75.0)),
            (3, 2, 0.4, Some(50.0)),
            (9, 3, 0.45, None),
            (1, 4, 0.6, Some(-75.0))
        ]
    );
    assert_eq!(
        show(&by_score()),
        [(1, 1, 0.6, None), (2, 2, 0.5, None), (9, 3, 0.45, None), (3, 4, 0.4, None)]
    );
}

#[test]
fn tokens_match_as_well_as_those_of_the_phrasings_on_average() {
    let mut db = TestDb::new();
    db.add("/a.md", &["o", "@"], &[]);
    let phrasing = |token: &[f32]| QueryEmbedding {
        vector: Vec::new(),
        tokens: Arc::new(QueryTokens::new(token, token.len())),
    };
    let matches = |phrasings: Vec<QueryEmbedding>| {
        let leg = VectorLeg { phrasings, ..leg(&[], 1.0, 0.0) };
        let found = leg.matches(&db.store, &[1, 2, 99].map(ChunkId)).unwrap();
        let mut found: Vec<(i64, f64)> =
            found.into_iter().map(|(id, found)| (id.0, found)).collect();
        found.sort_by_key(|(id, _)| *id);
        found
    };
    let (all, none) = ([1.0; 8], [-1.0; 8]);
    let rounded = |found: Vec<(i64, f64)>| -> Vec<(i64, f64)> {
        found.into_iter().map(|(id, found)| (id, (found * 100.0).round())).collect()
    };
    assert_eq!(rounded(matches(vec![phrasing(&all)])), [(1, 50.0), (2, -75.0)]);
    assert_eq!(rounded(matches(vec![phrasing(&all), phrasing(&none)])), [(1, 0.0), (2, 0.0)]);
    let three = vec![phrasing(&all), phrasing(&all), phrasing(&none)];
    assert_eq!(rounded(matches(three)), [(1, 17.0), (2, -25.0)]);
    // One phrasing without tokens leaves nothing to compare.
    assert_eq!(matches(vec![phrasing(&all), phrasing(&[])]), []);
}
