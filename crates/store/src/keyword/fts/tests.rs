//! Tests of finding words and phrases in the keyword index.

use super::*;
use crate::ids::ChunkId;
use crate::ids::DocumentId;
use crate::testing::{TestDb, document};
use crate::text::language::NaturalLanguage;
use crate::{Damage, Erasure};

fn found(db: &TestDb, text: &str) -> Vec<ChunkId> {
    let found = db.store.occurrences(text).unwrap();
    assert!(found.is_sorted_by(|a, b| a.chunk_id < b.chunk_id));
    found.into_iter().map(|occurrence| occurrence.chunk_id).collect()
}

#[test]
fn the_triggers_alone_update_the_index() {
    let mut db = TestDb::new();
    db.add("/a.md", &["apples"], &[]);
    let run = |sql: &str| db.store.connection.execute(sql, []).unwrap();
    let indexed = |word: &str| -> i64 {
        let sql = "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?1";
        db.store.connection.query_row(sql, [word], |row| row.get(0)).unwrap()
    };
    let check = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)";
    // `chunks_ai`, `chunks_au` and `chunks_ad`, each fired only by a statement on `chunks`.
    run("INSERT INTO chunks (document_id, chunk_index, text, passage_hash)
        VALUES (1, 1, 'pears', x'00')");
    assert_eq!((indexed("apples"), indexed("pears")), (1, 1));
    run(check);
    run("UPDATE chunks SET text = 'plums' WHERE text = 'pears'");
    assert_eq!((indexed("pears"), indexed("plums")), (0, 1));
    run(check);
    run("DELETE FROM chunks WHERE text = 'plums'");
    assert_eq!((indexed("apples"), indexed("plums")), (1, 0));
    run(check);
    let sql = "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema
        WHERE type = 'trigger' AND name IN ('chunks_ai', 'chunks_ad', 'chunks_au') ORDER BY name)";
    let names: String = db.store.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(names, "chunks_ad,chunks_ai,chunks_au");
}

#[test]
fn occurrences_are_merged_by_chunk() {
    let one = Occurrence { chunk_id: ChunkId(1), in_context: 1, in_text: 2, is_other_form: false };
    let two = Occurrence { chunk_id: ChunkId(2), ..one };
    let both = Occurrence { in_context: 2, in_text: 4, ..one };
    assert_eq!(Occurrence::merged(vec![one, two], vec![one], |a, b| a + b), [both, two]);
    assert_eq!(Occurrence::merged(vec![two], vec![one], u32::max), [one, two]);
    assert_eq!(Occurrence::merged(Vec::new(), vec![one], u32::max), [one]);
}

#[test]
fn a_chunk_is_found_as_soon_as_it_is_stored() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["about apples", "about pears"], &[]);
    let chunks = db.store.chunks(id).unwrap();
    assert_eq!(found(&db, "pears"), [chunks[1].id]);
}

#[test]
fn words_are_stemmed_and_folded() {
    let mut db = TestDb::new();
    db.add("/a.md", &["how to install git in a café"], &[]);
    assert_eq!(found(&db, "Installing").len(), 1);
    assert_eq!(found(&db, "CAFE").len(), 1);
}

#[test]
fn a_plain_word_is_the_term_that_the_tokenizer_finds() {
    const STEMS: &str =
        "a by cat hop hopp fall feed tr sky relat gener oper activ analog possi conditi 4wd";
    const ENDINGS: &str = " s sses ies ss eed ed ing ational tional enci anci izer logi bli alli entli \
        eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti icate ative alize iciti \
        ical ful ness al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize y e le ll";
    let db = TestDb::new();
    for (stem, ending) in
        STEMS.split(' ').flat_map(|stem| ENDINGS.split(' ').map(move |end| (stem, end)))
    {
        for word in ENDINGS.split(' ').map(|last| format!("{stem}{ending}{last}")) {
            let found = terms(&db.store.connection, &word).ok();
            assert_eq!(found, tokenized(&db.store.connection, &word).ok(), "{word}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_plain_word_is_the_term_that_the_tokenizer_finds(word in "[a-zA-Z0-9]{1,70}") {
        let db = Connection::open_in_memory().unwrap();
        assert_eq!(terms(&db, &word).ok(), tokenized(&db, &word).ok());
    }
}

#[test]
fn occurrences_are_counted_by_column() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["setup, set up, setup"], &[]);
    let chunk_id = db.store.chunks(id).unwrap()[0].id;
    let found = db.store.occurrences("setup").unwrap();
    assert_eq!(found, [Occurrence { chunk_id, in_context: 1, in_text: 2, is_other_form: false }]);
}

#[test]
fn several_words_are_a_phrase() {
    let mut db = TestDb::new();
    db.add("/a.md", &["git lfs", "lfs for git", "git-lfs or git_lfs"], &[]);
    assert_eq!(found(&db, "git-lfs").len(), 2);
}

#[test]
fn a_prefix_finds_all_words_that_begin_so() {
    let mut db = TestDb::new();
    db.add("/a.md", &["configure", "configuration files", "con", "figure"], &[]);
    assert_eq!(db.store.occurrences_of_prefix("config").unwrap().len(), 2);
    assert!(db.store.occurrences_of_prefix("configz").unwrap().is_empty());
}

#[test]
fn scripts_without_spaces_are_found_inside_their_runs() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["東京都の水族館でGPU加速を使う", "京都へ行く"], &[]);
    let ids: Vec<ChunkId> = db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect();
    assert_eq!(found(&db, "水族"), [ids[0]]);
    assert_eq!(found(&db, "水族館"), [ids[0]]);
    assert_eq!(found(&db, "京都"), ids);
    assert!(found(&db, "族水").is_empty());
    assert_eq!(found(&db, "水"), [ids[0]]);
    assert_eq!(found(&db, "gpu"), [ids[0]]);
    db.store.remove(id).unwrap();
    assert!(found(&db, "水族").is_empty());
    db.assert_intact();
}

/// Adds a document in a language.
fn add_in(db: &mut TestDb, code: &str, path: &str, texts: &[&str]) -> DocumentId {
    let mut new = document(path, texts, &[]);
    new.metadata.natural_language = Some(code.to_owned());
    db.put(&new, texts, &[]).document_id()
}

fn languages(db: &TestDb) -> Vec<&'static str> {
    let connection = &db.store.connection;
    let layout = db.store.layout(connection).unwrap();
    let found = grams::languages(connection, layout).unwrap();
    found.into_iter().map(NaturalLanguage::code).collect()
}

#[test]
fn words_of_another_language_are_found_by_their_stems() {
    let mut db = TestDb::new();
    let english = db.add("/en.md", &["houses of the harbour"], &[]);
    let german = add_in(&mut db, "de", "/de.md", &["Die Häuser am Hafen", "Schlüssel"]);
    let russian = add_in(&mut db, "ru", "/ru.md", &["Где лежат ключи"]);
    let ids = |db: &TestDb, id| -> Vec<ChunkId> {
        db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect()
    };
    assert_eq!(found(&db, "Haus"), [ids(&db, german)[0]]);
    assert_eq!(found(&db, "hauser"), [ids(&db, german)[0]]);
    assert_eq!(found(&db, "Schlüsseln"), [ids(&db, german)[1]]);
    assert_eq!(found(&db, "ключами"), ids(&db, russian));
    assert_eq!(found(&db, "house"), ids(&db, english));
    assert_eq!(found(&db, "der Häuser am Hafens").len(), 0, "a phrase has all words in order");
    assert_eq!(found(&db, "die Haus am Hafens"), [ids(&db, german)[0]]);
    db.assert_intact();
    for id in [german, russian] {
        db.store.remove(id).unwrap();
    }
    assert!(found(&db, "Haus").is_empty() && found(&db, "ключами").is_empty());
    // Until leftovers are removed, the index has marks of removed terms.
    assert_eq!(db.store.clean_leftovers().unwrap(), Erasure::Done);
    assert!(languages(&db).is_empty());
    db.assert_intact();
}

#[test]
fn a_word_as_typed_and_its_stem_count_once() {
    let mut db = TestDb::new();
    let id = add_in(&mut db, "de", "/de.md", &["Hafen, Hafens, Haus"]);
    let chunk_id = db.store.chunks(id).unwrap()[0].id;
    let found = db.store.occurrences("Hafen").unwrap();
    assert_eq!(found, [Occurrence { chunk_id, in_context: 0, in_text: 2, is_other_form: false }]);
}

#[test]
fn the_languages_of_the_index_are_read_from_it() {
    let mut db = TestDb::new();
    for (code, text) in [("ru", "ключ"), ("de", "Haus"), ("en", "house"), ("zh", "水族館")] {
        add_in(&mut db, code, &format!("/{code}.md"), &[text]);
    }
    assert_eq!(languages(&db), ["de", "ru"]);
}

#[test]
fn a_change_of_the_language_leaves_no_stem_behind() {
    let mut db = TestDb::new();
    let id = add_in(&mut db, "de", "/a.md", &["Häuser"]);
    assert_eq!(add_in(&mut db, "sv", "/a.md", &["hamnarna"]), id);
    assert!(found(&db, "Haus").is_empty());
    assert_eq!(found(&db, "hamn").len(), 1);
    db.assert_intact();
}

#[test]
fn removed_words_do_not_match() {
    let mut db = TestDb::new();
    let id = db.add("/a.md", &["apples"], &[]);
    db.store.remove(id).unwrap();
    assert!(found(&db, "apples").is_empty());
    db.assert_intact();
}

#[test]
fn changed_words_match_and_old_ones_do_not() {
    let mut db = TestDb::new();
    db.add("/a.md", &["apples"], &[]);
    db.store.connection.execute("UPDATE chunks SET text = 'pears'", []).unwrap();
    assert!(found(&db, "apples").is_empty());
    assert_eq!(found(&db, "pears").len(), 1);
    let faults = db.store.examine().unwrap();
    let found: Vec<Damage> = faults.iter().map(|fault| fault.damage).collect();
    assert_eq!(found, [Damage::Passages, Damage::Grams], "{faults:?}");
}

#[test]
fn an_index_that_drifted_is_rebuilt() {
    let mut db = TestDb::new();
    db.add("/a.md", &["apples", "水族館"], &[]);
    for table in ["chunks_fts", "chunks_grams"] {
        let sql = format!("INSERT INTO {table} ({table}) VALUES ('delete-all')");
        db.store.connection.execute(&sql, []).unwrap();
    }
    assert!(found(&db, "apples").is_empty() && found(&db, "水族").is_empty());
    assert_eq!(db.store.check().unwrap().len(), 2);
    db.rebuild_keyword_indexes();
    assert_eq!((found(&db, "apples").len(), found(&db, "水族").len()), (1, 1));
    db.assert_intact();
}

#[test]
fn any_text_is_a_plain_string() {
    let mut db = TestDb::new();
    db.add("/a.md", &["apples"], &[]);
    for text in ["???", "", "apples AND", "\"", "a\0b", "text:apples NEAR(", "^apples*"] {
        found(&db, text);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    /// Words of any script, in any form: folding is the same in a text and in a query.
    #[test]
    fn a_word_of_a_text_is_found_as_it_is_and_folded(word in "[a-zA-ZäöüßØłđœﬁ１Ａ²éÉñşİıа-яЁёά-ώא-תؤ-ي\u{300}-\u{303}\u{64b}-\u{64e}\u{ad}\u{200b}]{2,12}") {
        let words: Vec<_> = crate::text::forms::words(&word).collect();
        if let [range] = words.as_slice() {
            let word = &word[range.clone()];
            let mut db = TestDb::new();
            db.add("/a.md", &[word, "another"], &[]);
            let folded = crate::text::forms::folded(word).into_owned();
            for query in [word, &*folded] {
                if crate::text::forms::words(query).count() == 1 {
                    let found = db.store.occurrences(&crate::text::forms::seen(query)).unwrap();
                    proptest::prop_assert!(found.iter().any(|found| found.chunk_id == ChunkId(1)), "{word:?} {query:?}");
                }
            }
        }
    }
}
