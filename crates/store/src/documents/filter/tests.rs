//! Tests the filter of documents.

use super::*;
use crate::document::{DocType, Format, Headed, Language};
use crate::ids::{ChunkId, DocumentId};
use crate::testing::{TestDb, document, vector};

fn db() -> TestDb {
    let mut db = TestDb::new();
    db.add("/data/notes/a.md", &["apple one"], &["fruit", "red"]);
    db.add("/data/notes/b.md", &["apple two"], &["fruit"]);
    db.add("/data/notes.md", &["apple three"], &["red"]);
    db.add("/data/100%_done/c.md", &["apple four"], &[]);
    db.add("/data/100x_done/d.md", &["apple five"], &[]);
    let mut code = document("/data/e.py", &["apple six"], &["red"]);
    code.format = Format::Code(Language::Python);
    db.put(&code, &["apple six"], &[]);
    db.assert_intact();
    db
}

/// Checks that both rankings and the list pass the same documents.
#[track_caller]
fn check(filter: &Filter, expected: &[i64]) {
    let db = db();
    let passing = db.store.passing_chunks(filter).unwrap();
    assert_eq!(passing.iter().map(|chunk_id| chunk_id.0).collect::<Vec<_>>(), expected);
    for depth in [100, 5000] {
        let ranked = db.store.rank_by_cosine(&vector("apple"), Some(&passing), depth).unwrap();
        let mut by_vector: Vec<i64> = ranked.iter().map(|hit| hit.chunk_id.0).collect();
        by_vector.sort_unstable();
        assert_eq!(by_vector, expected, "by vector, depth {depth}");
    }
    if filter.excluded.is_empty() {
        let listed = db.store.documents(filter).unwrap();
        assert_eq!(
            listed.iter().map(|document| document.id.0).collect::<Vec<_>>(),
            expected,
            "listed"
        );
        assert_eq!(db.store.has_document(filter).unwrap(), !expected.is_empty());
    }
}

fn kind(word: &str) -> Filter {
    Filter { kind: Some(word.parse().unwrap()), ..Filter::default() }
}

fn tags(tags: &[&str]) -> Filter {
    Filter { tags: tags.iter().map(|&tag| tag.to_owned()).collect(), ..Filter::default() }
}

fn below(path: &str) -> Filter {
    Filter { paths: vec![path.to_owned()], ..Filter::default() }
}

#[test]
fn an_empty_filter_passes_all_documents() {
    check(&Filter::default(), &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_type_restricts_both_rankings() {
    check(&kind("code"), &[6]);
    check(&kind("pdf"), &[]);
}

#[test]
fn a_format_or_a_group_of_them_restricts_both_rankings() {
    check(&kind("python"), &[6]);
    check(&kind("docx"), &[]);
    check(&kind("mail"), &[]);
    let mut db = db();
    for (path, format) in [("/f.eml", Headed::Eml), ("/g.mbox", Headed::Mbox)] {
        let mut new = document(path, &[path], &[]);
        new.format = Format::Headed(format);
        db.put(&new, &[path], &[]);
    }
    for (word, expected) in [
        ("mail", &["/f.eml", "/g.mbox"][..]),
        ("eml", &["/f.eml"]),
        ("sheet", &[]),
        ("code", &["/data/e.py"]),
    ] {
        let listed = db.store.documents(&kind(word)).unwrap();
        let paths: Vec<&str> = listed.iter().filter_map(|found| found.path.as_deref()).collect();
        assert_eq!(paths, expected, "{word}");
    }
    assert_eq!(db.store.documents(&kind("markdown")).unwrap().len(), 7);
}

#[test]
fn all_given_tags_must_be_present() {
    check(&tags(&["red"]), &[1, 3, 6]);
    check(&tags(&["fruit", "red"]), &[1]);
    check(&tags(&["fruit", "fruit"]), &[1, 2]);
    check(&tags(&["fruit", "unknown"]), &[]);
}

#[test]
fn a_path_matches_complete_components() {
    check(&below("/data/notes"), &[1, 2]);
    check(&below("/data/notes/"), &[1, 2]);
    check(&below("/data/notes.md"), &[3]);
    check(&below("/data/note"), &[]);
    check(&below("/data"), &[1, 2, 3, 4, 5, 6]);
    check(&below("/"), &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn paths_have_no_special_characters() {
    check(&below("/data/100%_done"), &[4]);
    check(&below("/data/%"), &[]);
}

#[test]
fn excluded_words_are_left_out_of_both_rankings() {
    let excluded = |words: &[&str]| {
        let excluded = words.iter().map(|&word| word.to_owned()).collect();
        Filter { excluded, ..Filter::default() }
    };
    check(&excluded(&["three", "five"]), &[1, 2, 4, 6]);
    check(&excluded(&["t*", "apple fi*"]), &[1, 4, 6]);
}

#[test]
fn exclusions_in_scripts_without_spaces_match_inside_runs() {
    let mut db = TestDb::new();
    let texts = ["東京都の水族館", "京都へ行くGPU加速", "water", "gpu"];
    let id = db.add("/a.md", &texts, &[]);
    let ids: Vec<ChunkId> = db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect();
    let passing = |text: &str| {
        let filter = Filter { excluded: vec![text.to_owned()], ..Filter::default() };
        let passing = db.store.passing_chunks(&filter).unwrap();
        let with = db.store.chunks_with(text).unwrap();
        assert!(with.is_sorted_by(|a, b| a < b));
        assert!(ids.iter().all(|id| with.contains(id) != passing.contains(id)), "{text}");
        (0..ids.len()).filter(|idx| passing.contains(&ids[*idx])).collect::<Vec<_>>()
    };
    assert_eq!(passing("水族"), [1, 2, 3]);
    assert_eq!(passing("水"), [1, 2, 3]);
    assert_eq!(passing("京都"), [2, 3]);
    assert_eq!(passing("gpu"), [0, 2]);
    assert_eq!(passing("GPU加速"), [0, 2, 3]);
    assert_eq!(passing("東京水"), [0, 1, 2, 3]);
}

#[test]
fn languages_excluded_tags_and_days_restrict() {
    let mut db = db();
    let python = Filter { language: Some(Language::Python), ..Filter::default() };
    check(&python, &[6]);
    check(&Filter { excluded_tags: vec!["red".into()], ..Filter::default() }, &[2, 4, 5]);
    let mut dated = document("/data/f.md", &["apple seven"], &[]);
    dated.metadata.created = Some("2001-09-09T10:00:00Z".into());
    let id = db.put(&dated, &["apple seven"], &[]).document_id();
    let mut undated = document("/data/g.md", &["apple eight"], &[]);
    undated.metadata.created = Some("last spring".into());
    let other = db.put(&undated, &["apple eight"], &[]).document_id();
    let days = |since: &str, until: &str| {
        let day = |day: &str| Some(day.to_owned()).filter(|day| !day.is_empty());
        let filter = Filter { since: day(since), until: day(until), ..Filter::default() };
        let listed = db.store.documents(&filter).unwrap();
        listed
            .iter()
            .map(|document| document.id)
            .filter(|found| [id, other].contains(found))
            .collect::<Vec<_>>()
    };
    assert_eq!(days("2001", "2001"), [id]);
    assert_eq!(days("2001-09-09", "2001-09-09"), [id]);
    assert_eq!(days("2001-09-10", "2001-12"), [] as [DocumentId; 0]);
    assert_eq!(days("", "2001-09-08"), days("2001-10", "2002"));
    assert_eq!(days("2001-08", ""), [id, other]);
    // The day of its file.
    assert_eq!(days("2023-11-14", "2023-11"), [other]);
}

#[test]
fn the_day_of_adding_restricts_both_rankings() {
    let mut db = TestDb::new();
    for (path, text, added) in [
        ("/a.md", "apple one", "2026-05-16T23:59:59Z"),
        ("/b.md", "apple two", "2026-05-17T00:00:00Z"),
    ] {
        let id = db.add(path, &[text], &[]);
        let sql = "UPDATE documents SET created_at = ?1 WHERE id = ?2";
        db.store.connection.execute(sql, (added, id.0)).unwrap();
    }
    let passing = |day: &str| {
        let filter = Filter { added_since: Some(day.to_owned()), ..Filter::default() };
        let listed = db.store.documents(&filter).unwrap();
        let chunks = db.store.passing_chunks(&filter).unwrap();
        assert_eq!(chunks.len(), listed.len(), "{day}");
        listed.iter().map(|document| document.title.clone()).collect::<Vec<_>>()
    };
    assert_eq!(passing("2026-05").len(), 2);
    assert_eq!(passing("2026-05-16").len(), 2);
    assert_eq!(passing("2026-05-17"), ["Title of /b.md"]);
    assert_eq!(passing("2026-05-18"), [] as [&str; 0]);
    assert_eq!(passing("2027"), [] as [&str; 0]);
}

#[test]
fn all_conditions_must_hold() {
    let filter = Filter {
        kind: Some(DocumentKind::Type(DocType::Markdown)),
        paths: vec!["/data".into()],
        excluded: vec!["one".into()],
        ..tags(&["red"])
    };
    check(&filter, &[3]);
}

#[test]
fn a_number_is_a_document_if_there_is_one_and_else_a_path() {
    let numbered = |id: i64, path: &str| Filter {
        numbered: vec![NumberedPath { id, path: path.to_owned() }],
        ..Filter::default()
    };
    check(&numbered(2, "/data/notes"), &[2]);
    check(&numbered(99, "/data/notes"), &[1, 2]);
    check(&numbered(99, "/99"), &[]);
    check(&Filter { paths: vec!["/data/notes".into()], ..numbered(6, "/6") }, &[1, 2, 6]);
}
