//! Compares kb's reading of the index with FTS5's own answers.

use proptest::prelude::*;

use super::*;
use crate::db::connection::on_pages;
use crate::testing::TestDb;

/// FTS5's own answer, one row per occurrence.
const INSTANCES: &str = "
        SELECT doc, col = 'context' FROM chunks_terms WHERE term = ? ORDER BY doc, col, offset";

fn expected(db: &Connection, term: &str) -> Vec<Occurrence> {
    expected_of(db, INSTANCES, term)
}

fn expected_of(db: &Connection, instances: &str, term: &str) -> Vec<Occurrence> {
    let mut statement = db.prepare(instances).unwrap();
    let mut rows = statement.query([term]).unwrap();
    let mut found: Vec<Occurrence> = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let chunk_id = row.get(0).unwrap();
        if found.last().is_none_or(|occurrence| occurrence.chunk_id != chunk_id) {
            found.push(Occurrence { chunk_id, in_context: 0, in_text: 0, is_other_form: false });
        }
        let last = found.last_mut().unwrap();
        *(if row.get(1).unwrap() { &mut last.in_context } else { &mut last.in_text }) += 1;
    }
    found
}

#[track_caller]
fn check(db: &TestDb, terms: &[&str]) {
    for term in terms {
        assert_eq!(
            WORDS.occurrences(&db.store.connection, term).unwrap(),
            expected(&db.store.connection, term),
            "{term}"
        );
    }
}

#[test]
fn an_empty_index_has_no_term() {
    check(&TestDb::new(), &["word", ""]);
}

#[test]
fn lists_that_fill_many_leaves_are_read_to_the_end() {
    let mut db = TestDb::new();
    let long = "common word ".repeat(9000) + "end";
    let short: Vec<String> = (0..3000).map(|number| format!("common text{number} word")).collect();
    let short: Vec<&str> = short.iter().map(String::as_str).collect();
    db.add("/a.md", &[&long, "common", &long, "nothing"], &[]);
    db.add("/b.md", &short, &[]);
    db.add("/c.md", &[&long], &[]);
    let terms = ["common", "word", "end", "text7", "text2999", "noth", "absent", "", "zz"];
    check(&db, &terms);
    db.rebuild_keyword_indexes();
    check(&db, &terms);
}

#[test]
fn lists_may_be_split_anywhere() {
    let mut db = TestDb::new();
    // Small leaves, so that every list crosses many of them.
    let resize = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('pgsz', 200)";
    db.store.connection.execute(resize, []).unwrap();
    for len in 0..60 {
        let filler = format!("{}aword", "a ".repeat(len));
        let texts: Vec<String> =
            (0..40).map(|number| format!("setup {filler} b{number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        db.add(&format!("/{len}.md"), &texts, &[]);
    }
    check(&db, &["setup", "a", "aword", "b7"]);
    db.rebuild_keyword_indexes();
    check(&db, &["setup", "a", "aword", "b7"]);
}

#[test]
fn removed_or_changed_text_is_not_found() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["apples and pears", "apples"], &[]);
    db.add("/b.md", &["apples again"], &[]);
    db.store.connection.execute("UPDATE chunks SET text = 'pear' WHERE id = 2", []).unwrap();
    check(&db, &["appl", "pear", "and"]);
    db.store.remove(id).unwrap();
    check(&db, &["appl", "pear", "and"]);
    assert_eq!(WORDS.occurrences(&db.store.connection, "appl").unwrap().len(), 1);
}

#[test]
fn the_second_index_is_read_as_fts5_reads_it() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["水族館の水", "Größe, 1,234,567", "水"], &[]);
    db.add("/b.md", &["水 GPU加速"], &[]);
    let terms = |db: &TestDb| -> Vec<String> {
        let all = "SELECT DISTINCT term FROM chunks_grams_terms ORDER BY term";
        sql::rows(&db.store.connection, all, [], |row| row.get(0)).unwrap()
    };
    let check = |db: &TestDb, known: &[String]| {
        let db = &db.store.connection;
        for term in known {
            let instances = INSTANCES.replace("chunks_terms", "chunks_grams_terms");
            let found = GRAMS.occurrences(db, term).unwrap();
            assert_eq!(found, expected_of(db, &instances, term), "{term}");
        }
        let mut walked = Vec::new();
        let mut from = String::new();
        while let Some(term) = GRAMS.first_term_from(db, &from).unwrap() {
            from = format!("{term}\0");
            walked.push(term);
        }
        walked
    };
    let all = terms(&db);
    assert!(all.len() > 10, "{all:?}");
    assert_eq!(check(&db, &all), all);
    db.store.remove(id).unwrap();
    let rest = terms(&db);
    assert!(rest.len() < all.len() && !rest.is_empty());
    assert_eq!(check(&db, &all), rest);
}

#[test]
fn invalid_bytes_are_corruption_and_never_a_panic() {
    let mut db = TestDb::new();
    db.add("/a.md", &["apples and pears", "apples"], &[]);
    for block in
        ["x''", "x'00'", "x'00000000ffffffff'", "x'0000ffff'", "x'00000004'", "x'0000000401'", "7"]
    {
        for range in ["id = 10", "id > 10"] {
            let savepoint = db.store.connection.savepoint().unwrap();
            let sql = format!("UPDATE chunks_fts_data SET block = {block} WHERE {range}");
            on_pages(&savepoint, |db| db.execute_batch(&sql)).unwrap();
            let _ = WORDS.occurrences(&savepoint, "appl");
            let _ = WORDS.first_term_from(&savepoint, "b");
            drop(savepoint);
        }
    }
}

/// A change of the index.
#[derive(Debug, Clone)]
enum Act {
    /// Adds chunks with these numbers of repetitions, in one transaction.
    Add(Vec<u16>),
    /// Removes the chunks at these positions, in one transaction.
    Remove(Vec<u16>),
    Merge(u8),
    Optimize,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => prop::collection::vec(0_u16..200, 1..12).prop_map(Act::Add),
        6 => prop::collection::vec(any::<u16>(), 1..20).prop_map(Act::Remove),
        2 => (1_u8..40).prop_map(Act::Merge),
        1 => Just(Act::Optimize),
    ]
}

/// Returns a text in which lists of positions are short and long, and terms rare and common.
fn text(seed: u16) -> String {
    let len = usize::from(seed % 90) * usize::from(1 + seed % 3);
    let word = |idx: usize| match (idx * 31 + usize::from(seed)) % 11 {
        0..=5 => "common".to_owned(),
        6 | 7 => format!("some{}", (idx + usize::from(seed)) % 7),
        8 => format!("rare{}", usize::from(seed) % 50),
        _ => format!("only{seed}x{idx}"),
    };
    (0..len).map(word).collect::<Vec<_>>().join(" ")
}

fn apply(db: &Connection, ids: &mut Vec<i64>, act: &Act) {
    let change = db.unchecked_transaction().unwrap();
    match act {
        Act::Add(seeds) => {
            for seed in seeds {
                let insert = "
                        INSERT INTO chunks (document_id, chunk_index, text, context, passage_hash)
                        SELECT 1, ifnull(max(id), 0) + 1, ?, 'common head', x'00' FROM chunks";
                change.execute(insert, [text(*seed)]).unwrap();
                ids.push(change.last_insert_rowid());
            }
        }
        Act::Remove(places) => {
            for place in places.iter().take(ids.len()) {
                let id = ids.remove(usize::from(*place) % ids.len());
                change.execute("DELETE FROM chunks WHERE id = ?", [id]).unwrap();
            }
        }
        Act::Merge(num_pages) => {
            let merge = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)";
            change.execute(merge, [num_pages]).unwrap();
        }
        Act::Optimize => {
            let optimize = "INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')";
            change.execute(optimize, []).unwrap();
        }
    }
    change.commit().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// With leaves of a few words each, lists are split and emptied in every possible way.
    #[test]
    fn lists_changed_in_place_are_read_as_fts5_reads_them(
        acts in prop::collection::vec(act(), 1..60),
        leaf_len in 40_u16..300,
    ) {
        let db = TestDb::new();
        let db = &db.store.connection;
        let insert = "INSERT INTO documents (title, content_hash, doc_type) VALUES ('', '', 'note')";
        db.execute(insert, []).unwrap();
        let resize = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('pgsz', ?)";
        db.execute(resize, [leaf_len]).unwrap();
        let mut ids = Vec::new();
        let mut terms = std::collections::BTreeSet::new();
        for act in &acts {
            apply(db, &mut ids, act);
            if let Act::Add(seeds) = act {
                terms.extend(seeds.iter().flat_map(|seed| {
                    text(*seed).split(' ').map(str::to_owned).collect::<Vec<_>>()
                }));
            }
        }
        on_pages(db, super::super::separators::replace).unwrap();
        let check = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)";
        db.execute(check, []).unwrap();
        let step = 1 + terms.len() / 150;
        let fixed = ["common", "head", "some1", "some6", "rare3", "absent"].map(str::to_owned);
        for term in fixed.iter().chain(terms.iter().step_by(step)) {
            prop_assert_eq!(WORDS.occurrences(db, term).unwrap(), expected(db, term), "{}", term);
            let next = "SELECT min(term) FROM chunks_terms WHERE term >= ?";
            let next: Option<String> = db.query_row(next, [term], |row| row.get(0)).unwrap();
            prop_assert_eq!(WORDS.first_term_from(db, term).unwrap(), next, "{}", term);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After every added, changed or removed document, kb reads the same as FTS5.
    #[test]
    fn occurrences_equal_those_of_fts5(
        steps in prop::collection::vec(
            (0_u8..12, prop::collection::vec("[abcé ]{0,12}( word| aa){0,40}", 0..6)),
            1..30,
        ),
    ) {
        let mut db = TestDb::new();
        for (number, texts) in &steps {
            let path = format!("/{number}.md");
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            if texts.is_empty() {
                let known = db.store.documents(&crate::document::Filter::default()).unwrap();
                if let Some(document) = known.first() {
                    db.store.remove(document.id).unwrap();
                }
            } else {
                db.add(&path, &texts, &[]);
            }
        }
        for term in ["word", "aa", "a", "b", "e", "abc", "setup", "x"] {
            prop_assert_eq!(
                WORDS.occurrences(&db.store.connection, term).unwrap(),
                expected(&db.store.connection, term)
            );
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = segments(&bytes);
        if let Some(leaf) = Leaf::new(&bytes) {
            let _ = leaf.find(b"0a");
        }
        let mut found = Vec::new();
        let _ = OccurrenceList { found: &mut found, chunk_id: 0, rest_len: 3, column: Some(0) }.read(&bytes);
    }
}
