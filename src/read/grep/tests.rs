//! Tests which lines of which documents are returned, and where they are from.

use super::*;
use crate::document::{Chunk, Embedding, LineRange};
use crate::store::testing::{TestDb, chunk, document, embedding};

/// A chunk's text, and its lines.
type Piece<'a> = (&'a str, Option<LineRange>);

fn add(db: &mut TestDb, path: &str, pieces: &[Piece<'_>]) -> DocumentId {
    let texts: Vec<&str> = pieces.iter().map(|(text, _)| *text).collect();
    let of_piece = |(text, lines): &Piece<'_>| Chunk { lines: *lines, ..chunk(text) };
    let chunks: Vec<Chunk> = pieces.iter().map(of_piece).collect();
    let embeddings: Vec<Embedding> = texts.iter().map(|text| embedding(text)).collect();
    let new = document(path, &texts, &[]);
    db.store.replace(&new, &chunks, &embeddings, &|_| true).unwrap().document_id()
}

fn pattern(typed: &str) -> LinePattern {
    LinePattern::new(typed, PatternOptions::default()).unwrap()
}

/// Returns a database of one document.
fn database(pieces: &[Piece<'_>]) -> TestDb {
    let mut db = TestDb::new();
    add(&mut db, "/a.md", pieces);
    db
}

/// Searches the only document, which has a match.
#[track_caller]
fn search(db: &TestDb, typed: &str, detail: GrepDetail) -> MatchedDocument {
    let mut found = grep(&db.store, &[DocumentId(1)], &pattern(typed), detail).unwrap();
    assert_eq!((found.len(), found[0].document_id), (1, DocumentId(1)));
    found.remove(0)
}

/// Returns the lines, a matching one after `*`, one after a gap after `|`.
fn shown(lines: &[GrepLine]) -> Vec<String> {
    let show = |line: &GrepLine| {
        let gap = if line.is_after_gap { "|" } else { "" };
        let mark = if line.matches.is_empty() { "" } else { "*" };
        format!("{gap}{mark}{}", line.text)
    };
    lines.iter().map(show).collect()
}

const TEXT: Piece<'_> =
    ("zero\nx one\ntwo\nthree\nfour\nx five\nsix\nx seven", LineRange::new(1, 8));

#[test]
fn lines_around_a_match_are_shown_once_and_a_gap_is_marked() {
    let db = database(&[TEXT]);
    for (around, expected) in [
        (0, "*x one, |*x five, |*x seven"),
        (1, "zero, *x one, two, |four, *x five, six, *x seven"),
        (2, "zero, *x one, two, three, four, *x five, six, *x seven"),
        (usize::MAX, "zero, *x one, two, three, four, *x five, six, *x seven"),
    ] {
        let found = search(&db, "x ", GrepDetail::Lines(around));
        assert_eq!(shown(&found.lines).join(", "), expected, "{around}");
        assert_eq!(found.num_lines, 3, "{around}");
    }
    let found = search(&db, "x five|six|four", GrepDetail::Lines(0));
    assert_eq!(shown(&found.lines).join(", "), "*four, *x five, *six");
    let found = search(&db, "two|four", GrepDetail::Lines(1));
    assert_eq!(shown(&found.lines).join(", "), "x one, *two, three, *four, x five");
    let found = search(&db, "zero|seven", GrepDetail::Lines(1));
    assert_eq!(shown(&found.lines).join(", "), "*zero, x one, |six, *x seven");
}

#[test]
fn numbers_and_names_come_without_lines() {
    let db = database(&[TEXT]);
    for (detail, num_lines) in [(GrepDetail::Count, 3), (GrepDetail::Name, 1)] {
        let found = search(&db, "x ", detail);
        assert_eq!((found.num_lines, found.lines.len()), (num_lines, 0), "{detail:?}");
    }
}

/// Finds lines in two chunks; checks the numbers of their chunks and their lines in the file.
#[track_caller]
fn check_places(pieces: [Piece<'_>; 2], expected: &[(&str, i64, Option<LineRange>)]) {
    let db = database(&pieces);
    for (typed, chunk_id, lines) in expected {
        let found = search(&db, typed, GrepDetail::Lines(0)).lines;
        assert_eq!(found.len(), 1, "{typed}");
        assert_eq!((found[0].chunk_id.0, found[0].place.lines), (*chunk_id, *lines), "{typed}");
    }
}

#[test]
fn a_line_is_from_its_chunk_and_has_its_number() {
    let line = |number| LineRange::new(number, number);
    check_places(
        [("one\ntwo", LineRange::new(1, 2)), ("three\nfour", LineRange::new(3, 4))],
        &[("one", 1, line(1)), ("two", 1, line(2)), ("three", 2, line(3)), ("four", 2, line(4))],
    );
    // After a blank line, which is in no chunk.
    check_places([("one", line(1)), ("two", line(5))], &[("two", 2, line(5))]);
}

#[test]
fn a_line_in_a_text_that_differs_from_its_file_has_the_lines_of_its_chunk() {
    check_places(
        [("one\ntwo\nthree", LineRange::new(1, 2)), ("four\nfive", None)],
        &[("one", 1, LineRange::new(1, 1)), ("two", 1, LineRange::new(1, 2)), ("five", 2, None)],
    );
}

#[test]
fn a_line_of_two_chunks_is_from_the_one_that_matched_first() {
    let db = database(&[("one two", LineRange::new(7, 7)), ("three four", LineRange::new(7, 7))]);
    for (typed, chunk_id, expected) in
        [("two", 1, &["two"][..]), ("four", 2, &["four"]), ("t[wh]\\w+", 1, &["two", "three"])]
    {
        let found = search(&db, typed, GrepDetail::Lines(0));
        let line = &found.lines[0];
        assert_eq!(line.text, "one two three four");
        let matches: Vec<&str> = line.matches.iter().map(|at| &line.text[at.clone()]).collect();
        assert_eq!((line.chunk_id, &matches[..]), (ChunkId(chunk_id), expected), "{typed}");
        assert_eq!(found.first_chunk, ChunkId(1), "the line begins there");
    }
    let db = database(&[("one", LineRange::new(1, 1)), ("two", LineRange::new(2, 2))]);
    assert_eq!(search(&db, "two", GrepDetail::Count).first_chunk, ChunkId(2));
}

#[test]
fn many_documents_are_searched_once_each_and_stay_in_order() {
    let mut db = TestDb::new();
    let mut ids: Vec<DocumentId> = Vec::new();
    // Several batches for each thread.
    for number in 0..35 {
        let text = if number % 3 == 0 { "the gauge froze" } else { "the tide" };
        ids.push(add(
            &mut db,
            &format!("/{number}.md"),
            &[(text, None), (&number.to_string(), None)],
        ));
    }
    ids.push(DocumentId(999));
    let found = grep(&db.store, &ids, &pattern("gauge"), GrepDetail::Lines(0)).unwrap();
    let expected: Vec<DocumentId> = ids[..35].iter().copied().step_by(3).collect();
    assert_eq!(found.iter().map(|found| found.document_id).collect::<Vec<_>>(), expected);
    for found in found {
        assert_eq!(shown(&found.lines), ["*the gauge froze"]);
    }
    let found = grep(&db.store, &ids[1..2], &pattern("gauge"), GrepDetail::Name).unwrap();
    assert_eq!(found, []);
    assert_eq!(grep(&db.store, &[], &pattern("gauge"), GrepDetail::Name).unwrap(), []);
}

#[test]
fn lines_before_a_position_end_at_a_limit() {
    let text = "a\nbb\n\nc";
    for (start, least, around, expected) in [
        (6, 0, 2, &["bb", ""][..]),
        (6, 0, 9, &["a", "bb", ""]),
        (6, 0, 0, &[]),
        (6, 5, 9, &[""]),
        (6, 2, 9, &["bb", ""]),
        (6, 6, 9, &[]),
        (0, 0, 9, &[]),
    ] {
        let found = before(text, start, least, around);
        let found: Vec<&str> = found.into_iter().map(|line| &text[line]).collect();
        assert_eq!(found, expected, "{start}, {least}, {around}");
    }
}
