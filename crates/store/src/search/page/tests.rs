//! Tests which candidates are shown: order, limits, near copies and tables of contents.

use super::*;
use crate::search::fuse::PerLeg;
use crate::testing::{TestDb, document};

/// A passage that is long enough to have near copies.
const PASSAGE: &str = "the gauge is read at eight in the morning and at six in the evening by a keeper who \
                       is nearest to it on that day";

const CONTENTS: &str = "1 Tides...... 3 2 Gauges...... 8, 86 Floats...... xi";

fn fused(ids: impl IntoIterator<Item = i64>) -> Vec<FusedChunk> {
    let of_id = |id| FusedChunk {
        chunk_id: ChunkId(id),
        score: 1.0,
        legs: PerLeg::default(),
        token_match: None,
        document_weight: 1.0,
        recency: None,
    };
    ids.into_iter().map(of_id).collect()
}

/// Makes the candidates many, with chunks that do not exist.
fn padded(ids: &[i64], num_candidates: usize) -> Vec<FusedChunk> {
    fused(ids.iter().copied().chain(1000..).take(num_candidates))
}

fn options(limit: u32) -> SearchOptions {
    SearchOptions { limit, ..SearchOptions::default() }
}

/// Returns the chunks shown and how many near copies of each were skipped.
fn shown(db: &TestDb, fused: &[FusedChunk], options: &SearchOptions) -> Vec<(i64, u32)> {
    let shown = page(&db.store, fused, options).unwrap();
    shown
        .iter()
        .map(|hit| {
            assert_eq!(hit.stored.chunk.id, hit.fused.chunk_id);
            (hit.fused.chunk_id.0, hit.num_copies)
        })
        .collect()
}

fn ids(db: &TestDb, fused: &[FusedChunk], options: &SearchOptions) -> Vec<i64> {
    shown(db, fused, options).into_iter().map(|(id, _)| id).collect()
}

/// Returns a database of a document with chunks 1 to 3, and one with chunks 4 and 5.
fn two_documents(texts: [&str; 5]) -> TestDb {
    let mut db = TestDb::new();
    db.add("/a.md", &texts[..3], &[]);
    db.add("/b.md", &texts[3..], &[]);
    db
}

#[test]
fn a_page_has_at_most_the_limit_in_the_given_order() {
    let db = two_documents(["one", "two", "three", "four", "five"]);
    let found = fused([5, 1, 4, 2, 3]);
    for (limit, expected) in
        [(0, &[][..]), (1, &[5]), (4, &[5, 1, 4, 2]), (5, &[5, 1, 4, 2, 3]), (6, &[5, 1, 4, 2, 3])]
    {
        assert_eq!(ids(&db, &found, &options(limit)), expected, "{limit}");
    }
    assert_eq!(ids(&db, &[], &options(9)), [0; 0]);
}

#[test]
fn a_removed_chunk_gives_its_place_to_the_next() {
    let db = two_documents(["one", "two", "three", "four", "five"]);
    assert_eq!(ids(&db, &fused([99, 1, 98, 2, 3]), &options(2)), [1, 2]);
    assert_eq!(ids(&db, &fused([99, 98]), &options(2)), [0; 0]);
}

#[test]
fn tables_of_contents_come_last_if_there_is_room() {
    let db = two_documents([CONTENTS, "two", "three", CONTENTS, "five"]);
    let found = fused([4, 2, 1, 3, 5]);
    for (limit, expected) in
        [(3, &[2, 3, 5][..]), (4, &[2, 3, 5, 4]), (5, &[2, 3, 5, 4, 1]), (9, &[2, 3, 5, 4, 1])]
    {
        assert_eq!(ids(&db, &found, &options(limit)), expected, "{limit}");
    }
}

#[test]
fn a_document_has_at_most_its_number_of_hits() {
    let db = two_documents(["one", "two", "three", "four", "five"]);
    let found = fused([1, 2, 3, 4, 5]);
    for (most, limit, expected) in [
        (0, 9, &[][..]),
        (1, 9, &[1, 4]),
        (2, 9, &[1, 2, 4, 5]),
        (3, 9, &[1, 2, 3, 4, 5]),
        (1, 1, &[1]),
        (2, 3, &[1, 2, 4]),
    ] {
        let options = SearchOptions { per_document: Some(most), ..options(limit) };
        assert_eq!(ids(&db, &found, &options), expected, "{most}, {limit}");
    }
}

#[test]
fn a_table_of_contents_counts_after_the_text_of_its_document() {
    let db = two_documents([CONTENTS, "two", "three", CONTENTS, CONTENTS]);
    let found = fused([1, 4, 5, 2, 3]);
    for (most, expected) in [(1, &[2, 4][..]), (2, &[2, 3, 4, 5]), (3, &[2, 3, 1, 4, 5])] {
        let options = SearchOptions { per_document: Some(most), ..options(9) };
        assert_eq!(ids(&db, &found, &options), expected, "{most}");
    }
}

#[test]
fn near_copies_among_many_candidates_are_counted_instead_of_shown() {
    let copy = format!("{PASSAGE} today");
    let mut db = TestDb::new();
    db.add("/a.md", &[PASSAGE, "two", &copy], &[]);
    let mut same_title = document("/other/a.md", &[PASSAGE, "five"], &[]);
    same_title.title = "Title of /a.md".to_owned();
    db.put(&same_title, &[PASSAGE, "five"], &[]);
    let many = padded(&[1, 2, 3, 4, 5], MIN_DEPTH as usize);
    assert_eq!(shown(&db, &many, &options(9)), [(1, 2), (2, 0), (5, 0)]);
    // A copy takes no place.
    assert_eq!(shown(&db, &many, &options(3)), [(1, 2), (2, 0), (5, 0)]);
    assert_eq!(shown(&db, &many, &options(2)), [(1, 0), (2, 0)]);
    let all = [1, 2, 3, 4, 5];
    let keeps_copies = SearchOptions { keeps_copies: true, ..options(9) };
    assert_eq!(ids(&db, &many, &keeps_copies), all);
    let few = padded(&[1, 2, 3, 4, 5], MIN_DEPTH as usize - 1);
    assert_eq!(ids(&db, &few, &options(9)), all);
    // Only candidates for which their documents have room are counted.
    let per_document = SearchOptions { per_document: Some(3), ..options(9) };
    assert_eq!(ids(&db, &many, &per_document), all);
}

#[test]
fn a_near_copy_in_a_document_of_another_title_is_shown() {
    let db = two_documents([PASSAGE, "two", PASSAGE, PASSAGE, "five"]);
    let many = padded(&[1, 2, 3, 4, 5], MIN_DEPTH as usize);
    assert_eq!(shown(&db, &many, &options(9)), [(1, 1), (2, 0), (4, 0), (5, 0)]);
}

#[test]
fn only_the_first_candidates_are_checked_for_copies() {
    let mut texts: Vec<String> = (0..NUM_CHECKED + 2).map(|number| number.to_string()).collect();
    for idx in [0, NUM_CHECKED - 1, NUM_CHECKED] {
        texts[idx] = PASSAGE.to_owned();
    }
    let mut db = TestDb::new();
    db.add("/a.md", &texts.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let all: Vec<i64> = (1..).take(texts.len()).collect();
    let found = shown(&db, &padded(&all, 400), &options(400));
    let first_copy = i64::try_from(NUM_CHECKED).unwrap();
    let expected: Vec<i64> = all.into_iter().filter(|id| *id != first_copy).collect();
    assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
    assert_eq!(found.iter().map(|(_, num_copies)| num_copies).sum::<u32>(), 1);
    assert_eq!(found[0].1, 1);
}
