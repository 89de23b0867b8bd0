//! Tests which legs run, what they read, and what each phrasing contributes.

use std::sync::Arc;

use super::*;
use crate::NewDocument;
use kb_embed::QueryTokens;

use crate::document::{Binding, Embedding, Format, Language};
use crate::embedder::EmbeddingSide;
use crate::search::TermStatistics;
use crate::search::parse::parse;
use crate::testing::{TestDb, binding, document, vector};

mod fused;
mod signals;

/// Embeds words of direction as such vectors, and does not know the word `zz`.
struct Compass(Binding);

impl Embedder for Compass {
    fn embed_passages(&self, _: &[&str]) -> Result<Vec<Embedding>> {
        unreachable!("a search embeds no passages")
    }

    fn embed_cut(&self, _: &str, _: EmbeddingSide) -> Result<(Embedding, bool)> {
        unreachable!("a search embeds queries only")
    }

    fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        let vector = match query {
            "north" => vec![1.0, 0.0, 0.0, 0.0],
            "south" => vec![-1.0, 0.0, 0.0, 0.0],
            "east" => vec![0.0, 1.0, 0.0, 0.0],
            other => vector(other),
        };
        Ok(QueryEmbedding { vector, tokens: Arc::new(QueryTokens::new(&[1.0; 8], 8)) })
    }

    fn num_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn num_unknown(&self, text: &str) -> usize {
        text.split_whitespace().filter(|word| *word == "zz").count()
    }

    fn binding(&self) -> &Binding {
        &self.0
    }
}

fn compass() -> Compass {
    Compass(binding("small"))
}

fn load() -> Result<Arc<dyn Embedder>> {
    Ok(Arc::new(compass()))
}

fn queries(typed: &[&str]) -> Vec<Query> {
    typed.iter().map(|typed| parse(typed).unwrap()).collect()
}

fn ranked(entries: &[(i64, f64)]) -> Vec<RankedChunk> {
    entries.iter().map(|&(id, score)| RankedChunk { chunk_id: ChunkId(id), score }).collect()
}

fn ids(ranking: &[RankedChunk]) -> Vec<i64> {
    ranking.iter().map(|entry| entry.chunk_id.0).collect()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
}

fn leg(ranking: &[(i64, f64)], weight: f64, floor: f64) -> VectorLeg {
    VectorLeg { ranking: ranked(ranking), weight, phrasings: Vec::new(), floor }
}

/// Returns rankings of a query whose words are looked for and do not occur.
fn rankings(keyword: &[(i64, f64)], vector: Option<VectorLeg>) -> Rankings {
    Rankings {
        num_typed: None,
        first_wanted: None,
        keywords: None,
        terms: Vec::new(),
        words: HashSet::new(),
        has_words: true,
        is_blank: false,
        keyword: ranked(keyword),
        keyword_weight: 1.0,
        vector,
    }
}

/// Returns a database with two texts about tides and one about code.
fn tides() -> TestDb {
    let mut db = TestDb::new();
    db.add("/a.md", &["high tide", "low tide tide"], &[]);
    db.add("/b.md", &["httprequest"], &[]);
    db
}

#[test]
fn an_average_of_nothing_is_zero() {
    assert_near(average([].into_iter()), 0.0);
    assert_near(average([5.0].into_iter()), 5.0);
    assert_near(average([1.0, 2.0, 6.0].into_iter()), 3.0);
}

#[test]
fn the_gap_is_to_the_mean_of_the_next_ten() {
    let gap = |scores: &[f64]| {
        let entries: Vec<(i64, f64)> = (1..).zip(scores.iter().copied()).collect();
        crate::search::confidence::first_and_gap(&ranked(&entries))
            .map(|(first, gap)| (first.chunk_id.0, first.score, gap))
    };
    assert_eq!(gap(&[]), None);
    assert_eq!(gap(&[5.0]), Some((1, 5.0, 0.0)));
    assert_eq!(gap(&[5.0, 4.0, 2.0]), Some((1, 5.0, 2.0)));
    let mut scores = [9.0; 12];
    (scores[0], scores[10], scores[11]) = (10.0, 4.0, -99.0);
    assert_eq!(gap(&scores), Some((1, 10.0, 1.5)));
}

#[test]
fn several_phrasings_are_embedded_as_their_mean() {
    for (typed, expected) in [
        (&["east"][..], [0.0, 1.0]),
        (&["north", "east"], [0.5_f32.sqrt(), 0.5_f32.sqrt()]),
        (&["north", "north", "south"], [1.0, 0.0]),
        // They cancel out.
        (&["south", "north"], [-1.0, 0.0]),
    ] {
        let (found, each) = embed_phrasings(&compass(), &queries(typed)).unwrap();
        assert_near(found[0].into(), expected[0].into());
        assert_near(found[1].into(), expected[1].into());
        assert_eq!((found.len(), each.len()), (4, typed.len()));
    }
}

#[test]
fn the_vector_leg_weighs_as_much_as_the_model_reads_on_average() {
    for (typed, expected) in [
        (&["harbour"][..], 1.0),
        (&["zz"], 0.0),
        (&["zz", "harbour"], 0.5),
        (&["zz", "harbour", "harbour", "harbour"], 0.75),
    ] {
        assert_near(vector_weight(&compass(), &queries(typed)), expected);
    }
}

#[test]
fn each_word_is_read_once_and_joined_words_only_if_they_occur() {
    let db = tides();
    let read = |queries: &[Query]| {
        let (keywords, places) =
            look_up(&db.store, queries, &TermStatistics::default(), None).unwrap();
        let names = |id| keywords.as_ref().unwrap().matches(ChunkId(id));
        let names = |id| names(id).into_iter().map(|found| found.term).collect::<Vec<_>>();
        (names(1), names(3), places)
    };
    let mut query = parse("tide").unwrap();
    query.wanted = ["tide", "Tide", "absent"].map(String::from).into();
    query.prefixes = vec!["hi".into()];
    query.joined = ["tidehigh", "httprequest"].map(String::from).into();
    let other = Query { wanted: vec!["low".into(), "TIDE".into()], ..parse("low").unwrap() };
    let (first, last, places) = read(&[query, other]);
    // A word that occurs elsewhere in the document is also matched.
    assert_eq!(first, ["tide", "hi*", "low"]);
    assert_eq!(last, ["httprequest"]);
    assert_eq!(places, [vec![0, 1, 2, 3], vec![4, 0]]);
}

#[test]
fn there_are_no_keywords_if_no_word_occurs() {
    let db = tides();
    let (keywords, places) =
        look_up(&db.store, &queries(&["absent", "gone"]), &TermStatistics::default(), None)
            .unwrap();
    assert!(keywords.is_none());
    assert_eq!(places, [[0], [1]]);
    let (keywords, _) =
        look_up(&db.store, &queries(&["absent", "tide"]), &TermStatistics::default(), None)
            .unwrap();
    assert!(keywords.is_some());
}

#[test]
fn the_keyword_score_of_several_phrasings_is_their_average() {
    let db = tides();
    let scores = |typed: &[&str]| {
        let (keywords, _) =
            look_up(&db.store, &queries(typed), &TermStatistics::default(), None).unwrap();
        let mut ranking = keywords.unwrap().rank(None, 10);
        ranking.sort_by_key(|entry| entry.chunk_id);
        ranking.into_iter().map(|entry| entry.score).collect::<Vec<_>>()
    };
    let (one, other, both) =
        (scores(&["tide"]), scores(&["low tide"]), scores(&["tide", "low tide"]));
    assert_eq!((one.len(), other.len(), both.len()), (2, 2, 2));
    for ((one, other), both) in one.into_iter().zip(other).zip(both) {
        assert!(one < other);
        assert_near(both, (one + other) / 2.0);
    }
}

/// Returns a database in which chunk 1 is code, and ten more are not.
fn code_and_text() -> TestDb {
    let mut db = TestDb::new();
    let new = NewDocument {
        format: Format::Code(Language::Rust),
        ..document("/a.rs", &["fn tide"], &[])
    };
    db.put(&new, &["fn tide"], &[]);
    let texts: Vec<String> = (0..10).map(|number| format!("tide {number}")).collect();
    db.add("/a.md", &texts.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    db
}

#[test]
fn keywords_weigh_less_the_more_code_they_find() {
    let db = code_and_text();
    let mut late: Vec<(i64, f64)> = (2..=11).map(|id| (id, 1.0)).collect();
    late.push((1, 1.0));
    let mut in_time = late.clone();
    in_time.swap(9, 10);
    for (typed, ranking, expected) in [
        (&["tide"][..], &[][..], 1.0),
        (&["tide"], &[(2, 1.0)], 1.0),
        (&["tide"], &[(1, 3.0), (2, 1.0)], 0.4),
        (&["tide"], &[(1, 5.0)], 0.2),
        (&["tide"], &[(1, 0.0), (2, 0.0)], 1.0),
        // A symbol asks for code.
        (&["tide_table"], &[(1, 5.0)], 1.0),
        (&["tide", "tide_table"], &[(1, 5.0)], 0.6),
        (&["tide"], &late, 1.0),
        (&["tide"], &in_time, 0.92),
    ] {
        let found = keyword_weight(&db.store, &queries(typed), &ranked(ranking)).unwrap();
        assert!((found - expected).abs() < 1e-12, "{typed:?}, {ranking:?}: {found}");
    }
}

/// Fuses without reading the database.
fn fuse_with(db: &TestDb, rankings: &Rankings, options: &SearchOptions) -> Vec<FusedChunk> {
    assert!(!options.compares_tokens);
    rankings.fuse(&db.store, options).unwrap()
}

fn by_score() -> SearchOptions {
    SearchOptions { compares_tokens: false, ..SearchOptions::default() }
}

fn ranked_for(db: &TestDb, typed: &[&str], legs: LegSelection) -> Rankings {
    rank(
        &db.store,
        &load,
        &queries(typed),
        RankOptions { legs, passing: None, depth: 10, elsewhere: &TermStatistics::default() },
    )
    .unwrap()
}

#[test]
fn only_the_selected_legs_run() {
    let db = tides();
    let refuse = || unreachable!("this leg needs no model");
    let options = RankOptions {
        legs: LegSelection::Keyword,
        passing: None,
        depth: 10,
        elsewhere: &TermStatistics::default(),
    };
    let keyword = rank(&db.store, &refuse, &queries(&["tide"]), options).unwrap();
    assert_eq!(ids(&keyword.keyword), [2, 1]);
    assert!(keyword.vector.is_none() && keyword.has_words && !keyword.is_blank);
    let vector = ranked_for(&db, &["tide"], LegSelection::Vector);
    assert!(vector.keyword.is_empty() && vector.keywords.is_none() && !vector.has_words);
    assert_eq!(vector.vector.unwrap().ranking.len(), 3);
    let both = ranked_for(&db, &["tide"], LegSelection::Both);
    assert_eq!((ids(&both.keyword), both.vector.unwrap().ranking.len()), (vec![2, 1], 3));
    // A database that is bound to no model has no vectors.
    for legs in [LegSelection::Both, LegSelection::Vector] {
        let options = RankOptions { legs, ..options };
        let unbound =
            rank(&TestDb::unbound().store, &refuse, &queries(&["tide"]), options).unwrap();
        assert!(unbound.vector.is_none());
    }
}

#[test]
fn filter_and_depth_hold_for_both_legs() {
    let db = tides();
    let rank = |passing: Option<&[ChunkId]>, depth| {
        let options = RankOptions {
            legs: LegSelection::Both,
            passing,
            depth,
            elsewhere: &TermStatistics::default(),
        };
        let found = rank(&db.store, &load, &queries(&["tide"]), options).unwrap();
        (ids(&found.keyword), ids(&found.vector.unwrap().ranking).len())
    };
    assert_eq!(rank(None, 1), (vec![2], 1));
    assert_eq!(rank(Some(&[ChunkId(1)]), 10), (vec![1], 1));
    assert_eq!(rank(Some(&[ChunkId(1), ChunkId(3)]), 10), (vec![1], 2));
}

#[test]
fn code_weakens_keywords_only_next_to_vectors() {
    let mut db = TestDb::new();
    let new = NewDocument {
        format: Format::Code(Language::Rust),
        ..document("/a.rs", &["fn tide"], &[])
    };
    db.put(&new, &["fn tide"], &[]);
    assert_near(ranked_for(&db, &["tide"], LegSelection::Both).keyword_weight, 0.2);
    assert_near(ranked_for(&db, &["tide"], LegSelection::Keyword).keyword_weight, 1.0);
    assert_near(ranked_for(&db, &["tide"], LegSelection::Vector).keyword_weight, 1.0);
}

#[test]
fn a_query_is_blank_if_no_phrasing_has_a_letter_or_digit() {
    let db = tides();
    for (typed, expected) in
        [(&["!?"][..], true), (&["!?", "--"], true), (&["!?", "tide"], false), (&["7"], false)]
    {
        let found = ranked_for(&db, typed, LegSelection::Both);
        assert_eq!(found.is_blank, expected, "{typed:?}");
    }
    assert!(!ranked_for(&db, &["!?"], LegSelection::Both).has_words);
    assert!(ranked_for(&db, &["!?", "tide"], LegSelection::Both).has_words);
}

#[test]
fn each_of_several_phrasings_has_its_contribution() {
    let db = tides();
    let both = ranked_for(&db, &["north", "low tide"], LegSelection::Both);
    let fused = both.fuse(&db.store, &by_score()).unwrap();
    let hit = |id| fused.iter().find(|hit| hit.chunk_id == ChunkId(id)).unwrap();
    for num_phrasings in [0, 1] {
        assert_eq!(both.contributions(&db.store, num_phrasings, hit(2)).unwrap(), []);
    }
    let found = both.contributions(&db.store, 2, hit(2)).unwrap();
    assert_eq!((found.len(), found[0].bm25), (2, None));
    // The score with both phrasings is the average of their scores.
    assert_near(found[1].bm25.unwrap() / 2.0, hit(2).legs.keyword.unwrap().raw);
    let stored = db.store.vectors(&[ChunkId(2)]).unwrap().remove(0);
    assert_near(found[0].cosine.unwrap(), stored[0].into());
    let own: f32 = stored.iter().zip(vector("low tide")).map(|(a, b)| a * b).sum();
    assert_near(found[1].cosine.unwrap(), own.into());
    // No word of it was ranked.
    let elsewhere = both.contributions(&db.store, 2, hit(3)).unwrap();
    assert!(elsewhere.iter().all(|own| own.bm25.is_none() && own.cosine.is_some()));
    let keyword = ranked_for(&db, &["north", "low tide"], LegSelection::Keyword);
    let found = keyword.contributions(&db.store, 2, hit(2)).unwrap();
    assert!(found[1].bm25.is_some() && found.iter().all(|own| own.cosine.is_none()));
}

#[test]
fn terms_are_those_of_the_chunk() {
    let db = tides();
    let found = ranked_for(&db, &["high tide"], LegSelection::Keyword);
    let terms = |id| found.terms(ChunkId(id)).into_iter().map(|term| term.term).collect::<Vec<_>>();
    assert_eq!((terms(1), terms(3)), (vec!["high".to_owned(), "tide".to_owned()], Vec::new()));
    assert_eq!(rankings(&[], None).terms(ChunkId(1)), []);
}
