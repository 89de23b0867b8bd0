//! Tests rankings: against `vec0` itself, in parts, with and without codes.

use proptest::prelude::*;

use super::*;
use crate::document::Filter;
use crate::error::Error;
use crate::ids::DocumentId;
use crate::testing::{TestDb, vector};
use crate::vectors::to_blob;

/// The ranking of `vec0` itself.
const NEIGHBOURS: &str =
    "SELECT chunk_id, distance FROM chunks_vec WHERE embedding MATCH ? AND k = 4096";

fn texts() -> Vec<String> {
    (0..700).map(|number| format!("text {number} of {}", number % 7)).collect()
}

#[test]
fn the_ranking_is_that_of_vec0() {
    let mut db = TestDb::new();
    let texts = texts();
    for (idx, part) in texts.chunks(10).enumerate() {
        let part: Vec<&str> = part.iter().map(String::as_str).collect();
        db.add(&format!("/{idx}.md"), &part, &[]);
    }
    // Holes in a block, and entire blocks without vectors.
    for id in (1..=70).filter(|id| id % 3 == 0 || (20..50).contains(id)) {
        db.store.remove(DocumentId(id)).unwrap();
    }
    let query = vector("text 300 of 6");
    let blob = to_blob(&query);
    let mut statement = db.store.connection.prepare(NEIGHBOURS).unwrap();
    let rows = statement.query_map([blob], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let expected: Vec<(i64, f64)> = rows.collect::<Result<_, _>>().unwrap();
    let ranked = db.store.rank_by_cosine(&query, None, 4096).unwrap();
    assert_eq!(ranked.len(), expected.len());
    assert!(ranked.len() > 200);
    let cosine = |distance: f64| 1.0 - distance * distance / 2.0;
    for (found, (_, distance)) in ranked.iter().zip(&expected) {
        assert!((found.score - cosine(*distance)).abs() < 1e-6);
    }
    let ids = |mut ids: Vec<i64>| {
        ids.sort_unstable();
        ids
    };
    assert_eq!(
        ids(ranked.iter().map(|hit| hit.chunk_id.0).collect()),
        ids(expected.iter().map(|hit| hit.0).collect())
    );
    let best = db.store.rank_by_cosine(&query, None, 30).unwrap();
    assert_eq!(best, ranked[..30]);
    let in_parts = |db: &TestDb, min_coded| {
        for num_parts in [1, 2, 3, 5, 100] {
            let division = Division { num_parts: Some(num_parts), min_coded };
            let parts = db.store.rank_in_parts(&query, None, 30, division).unwrap();
            assert_eq!(parts, best, "{num_parts} {min_coded}");
        }
    };
    in_parts(&db, i64::MAX);
    // Reading ahead changes nothing, and is done once, before the first ranking.
    let reader = db.store.reader().unwrap();
    for is_enough in [true, false, false] {
        reader.read_ahead(&|| is_enough).unwrap();
        assert_eq!(reader.has_read_ahead.get(), !is_enough);
    }
    assert_eq!(reader.rank_by_cosine(&query, None, 30).unwrap(), best);
    assert!(db.store.has_read_ahead.get());
    // Without codes, and with them: for so few vectors all are read.
    in_parts(&db, 1);
    assert!(codes::make(&db.store.connection, 4, 1, 1).unwrap() > 3);
    in_parts(&db, 1);
}

#[test]
fn codes_are_removed_with_the_first_chunk_of_their_block() {
    let mut db = TestDb::new();
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let first = db.add("/a.md", &texts[..1], &[]);
    db.add("/b.md", &texts, &[]);
    let make = |db: &TestDb| codes::make(&db.store.connection, 4, 1, 1).unwrap();
    assert_eq!(codes::make(&db.store.connection, 4, 1, 100).unwrap(), 0);
    assert_eq!((make(&db), make(&db)), (5, 0));
    db.store.remove(first).unwrap();
    assert_eq!(make(&db), 1);
    let query = vector("text 300 of 6");
    let exact = db.store.rank_by_cosine(&query, None, 30).unwrap();
    let in_one = Division { num_parts: Some(1), min_coded: 1 };
    let coded = db.store.rank_in_parts(&query, None, 30, in_one).unwrap();
    assert_eq!(coded, exact);
    let some: Vec<ChunkId> = (300..320).map(ChunkId).collect();
    let in_two = Division { num_parts: Some(2), ..in_one };
    let coded = db.store.rank_in_parts(&query, Some(&some), 30, in_two).unwrap();
    assert_eq!(coded, db.store.rank_by_cosine(&query, Some(&some), 30).unwrap());
    db.store.connection.execute("UPDATE chunks_vec_codes SET codes = x'01'", []).unwrap();
    assert!(db.store.rank_in_parts(&query, None, 30, in_one).is_err());
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

#[test]
fn the_nearest_comes_first_with_its_cosine() {
    let mut db = TestDb::new();
    let texts = ["install git", "bake bread", "feed the cat"];
    let id = db.add("/a.md", &texts, &[]);
    let chunks = db.store.chunks(id).unwrap();
    let ranked = db.store.rank_by_cosine(&vector("bake bread"), None, 10).unwrap();
    assert_eq!(ranked.len(), 3);
    assert_eq!(ranked[0].chunk_id, chunks[1].id);
    for hit in ranked {
        let text = &chunks.iter().find(|chunk| chunk.id == hit.chunk_id).unwrap().chunk.text;
        assert!((hit.score - dot(&vector(text), &vector("bake bread"))).abs() < 1e-6);
    }
}

#[test]
fn equal_cosines_are_ordered_by_chunk_id_at_any_depth() {
    let mut db = TestDb::new();
    let texts = ["same"; 5];
    let id = db.add("/a.md", &texts, &[]);
    let ids: Vec<ChunkId> = db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect();
    for depth in [5, 100, u32::MAX] {
        let ranked = db.store.rank_by_cosine(&vector("same"), None, depth).unwrap();
        assert_eq!(ranked.iter().map(|hit| hit.chunk_id).collect::<Vec<_>>(), ids);
    }
}

#[test]
fn an_empty_database_or_depth_gives_an_empty_ranking() {
    let rank = |db: &TestDb, depth| db.store.rank_by_cosine(&vector("same"), None, depth).unwrap();
    assert!(rank(&TestDb::unbound(), 10).is_empty());
    let mut db = TestDb::new();
    assert!(rank(&db, 10).is_empty());
    db.add("/a.md", &["same"], &[]);
    assert!(rank(&db, 0).is_empty());
}

#[test]
fn a_query_of_another_width_or_with_nan_is_an_error() {
    let db = TestDb::new();
    for vector in [vec![1.0; 3], vec![f32::INFINITY; 4]] {
        let outcome = db.store.rank_by_cosine(&vector, None, 10);
        assert!(matches!(outcome, Err(Error::Store(_))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Any share of the documents may pass, and blocks may have many holes: the ranking equals
    /// the one from comparing all vectors.
    #[test]
    fn the_ranking_is_exact_at_any_selectivity(
        numbers in prop::collection::vec((0_u16..600, 0_u8..4), 1..400),
        depth in 1_u32..400,
    ) {
        let mut db = TestDb::new();
        let mut kept = Vec::new();
        for (position, (number, fate)) in numbers.iter().enumerate() {
            let text = format!("text {number}");
            let path = format!("/{position}.md");
            let tags: &[&str] = if *fate == 0 { &["wanted"] } else { &[] };
            let mut new = crate::testing::document(&path, &[&text], tags);
            new.content_hash = format!("hash {position}");
            let id = db.put(&new, &[&text], &[]).document_id();
            if *fate == 3 {
                db.store.remove(id).unwrap();
            } else {
                kept.push((db.store.chunks(id).unwrap()[0].id, text, *fate == 0));
            }
        }
        let query = vector("text 300");
        for wanted in [false, true] {
            let tags = if wanted { vec!["wanted".to_owned()] } else { vec![] };
            let filter = Filter { tags, ..Filter::default() };
            let passing = db.store.passing_chunks(&filter).unwrap();
            let passing = wanted.then_some(passing.as_slice());
            let ranked = db.store.rank_by_cosine(&query, passing, depth).unwrap();
            let mut expected: Vec<f64> = kept
                .iter()
                .filter(|(_, _, is_wanted)| *is_wanted || !wanted)
                .map(|(_, text, _)| dot(&vector(text), &query))
                .collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            expected.truncate(depth.try_into().unwrap());
            prop_assert_eq!(ranked.len(), expected.len());
            for (ranked, expected) in ranked.iter().zip(&expected) {
                prop_assert!((ranked.score - expected).abs() < 1e-5);
                prop_assert!(kept.iter().any(|stored| stored.0 == ranked.chunk_id && (stored.2 || !wanted)));
            }
        }
    }
}
