//! Searches the files for removed content.

mod traces;

use std::fs;
use std::path::Path;

use aho_corasick::AhoCorasick;

use traces::{DIM, Traces, bytes, codes, db, found, holds, put, traces, vector};

use super::*;
use crate::db::schema::MIGRATIONS;
use crate::document::{Binding, Embedding};
use crate::ids::{ChunkId, DocumentId};
use crate::life::migrate;
use crate::testing::{TestDb, binding, stamp};
use crate::vectors::codes;
use crate::{ForgetOutcome, PassageHash};

#[test]
fn removed_or_replaced_content_is_not_in_the_files() {
    let mut db = db();
    let mut live: Vec<(DocumentId, String, Traces)> = Vec::new();
    let (mut removed, mut num_searched) = (Vec::new(), 0);
    for n in 0..160 {
        let path = format!("/{n}.md");
        let traces = traces(n);
        live.push((put(&mut db, &path, &traces), path, traces));
    }
    for n in 160..280 {
        let at = n * 7919 % live.len();
        match n % 3 {
            0 => {
                let (_, path, before) = live.swap_remove(at);
                let after = traces(n);
                live.push((put(&mut db, &path, &after), path, after));
                removed.push(before);
            }
            1 => {
                let (id, _, before) = live.swap_remove(at);
                assert!(db.store.remove(id).unwrap());
                removed.push(before);
            }
            _ => {
                let (id, path, before) = live.swap_remove(at);
                let forgotten = db.store.forget_path(&path, id, true).unwrap();
                assert_eq!(forgotten, ForgetOutcome::Document(id));
                removed.push(before);
            }
        }
        if n % 20 == 0 {
            assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
            assert_eq!(found(&db, &removed[num_searched..]), Vec::<String>::new());
            num_searched = removed.len();
            db.assert_intact();
        }
    }
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    assert_eq!(found(&db, &removed), Vec::<String>::new());
    let left: Vec<Traces> = live.into_iter().map(|(_, _, traces)| traces).collect();
    assert!(found(&db, &left).len() > left.len(), "the test finds existing documents");
    db.assert_intact();
}

/// Another SQLite may lay the indexes out in another way; kb then rebuilds them instead of changing them.
#[test]
fn no_separator_is_removed_text_in_an_unknown_layout_either() {
    let mut db = db();
    // Small leaves have many separators.
    for table in ["chunks_fts", "chunks_grams"] {
        let resize = format!("INSERT INTO {table} ({table}, rank) VALUES ('pgsz', 200)");
        db.store.connection.execute(&resize, []).unwrap();
    }
    let word = |n: usize| format!("w{:07}x{n}", n * 7919 % 4000);
    let letter = |n: usize| char::from_u32(0x4e00 + u32::try_from(n).unwrap()).unwrap();
    let text = |first: usize| {
        let words: Vec<String> = (first..first + 20).map(word).collect();
        format!("{} {}", words.join(" "), (first..first + 20).map(letter).collect::<String>())
    };
    for document in 0..10 {
        let texts = (0..20).map(|part| text(document * 400 + part * 20)).collect();
        put(&mut db, &format!("/{document}.md"), &Traces { words: Vec::new(), texts });
    }
    // Simulates many more chunks, because the indexes of a few are merged instead.
    let many = "
        INSERT INTO chunks (id, document_id, chunk_index, text, passage_hash)
        VALUES (100000, 1, 999, '', x'00')";
    db.store.connection.execute(many, []).unwrap();
    for id in [3, 6, 9] {
        db.store.remove(DocumentId(id)).unwrap();
    }
    db.store.connection.execute("DELETE FROM chunks WHERE id = 100000", []).unwrap();
    let removed: Vec<usize> = [2, 5, 8].into_iter().flat_map(|n| n * 400..(n + 1) * 400).collect();
    let shown = |db: &TestDb, table: &str, text: &dyn Fn(usize) -> String| -> usize {
        let sql = format!("SELECT CAST(term AS BLOB) FROM {table}_idx");
        let mut statement = db.store.connection.prepare(&sql).unwrap();
        let separators: Vec<Vec<u8>> =
            statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        removed.iter().filter(|n| holds(&separators, text(**n).as_bytes())).count()
    };
    let shown = |db: &TestDb| {
        [shown(db, "chunks_fts", &word), shown(db, "chunks_grams", &|n| letter(n).to_string())]
    };
    let [words, letters] = shown(&db);
    assert!(words > 0 && letters > 0, "the test shows nothing: {words}, {letters}");
    db.damage("UPDATE chunks_fts_config SET v = 6 WHERE k = 'version'");
    assert!(!knows_fts5(&db.store.connection).unwrap());
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    assert_eq!(shown(&db), [0, 0]);
    assert_eq!(db.store.occurrences(&word(0)).unwrap().len(), 1);
    db.assert_intact();
}

#[test]
fn many_removals_merge_the_indexes_and_a_few_do_not() {
    let mut db = db();
    for n in 0..40 {
        put(&mut db, &format!("/{n}.md"), &traces(n));
    }
    // Simulates many more removals.
    let many = "
        INSERT INTO chunks (id, document_id, chunk_index, text, passage_hash)
        VALUES (20000, 1, 1, '', x'00')";
    db.store.connection.execute(many, []).unwrap();
    let is_in_place = |db: &TestDb| db.store.read(super::is_in_place).unwrap();
    let mut removed = Vec::new();
    for id in 2..36 {
        db.store.remove(DocumentId(id)).unwrap();
        removed.push(traces(usize::try_from(id).unwrap() - 1));
        assert_eq!(
            is_in_place(&db),
            removed.iter().map(|traces| traces.texts.len()).sum::<usize>() <= 50
        );
    }
    assert!(!is_in_place(&db));
    db.store = Store::open(&db.path()).unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    assert!(is_in_place(&db));
    assert_eq!(found(&db, &removed), Vec::<String>::new());
    db.store.remove(DocumentId(38)).unwrap();
    assert!(is_in_place(&db));
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    assert_eq!(found(&db, &[traces(37)]), Vec::<String>::new());
}

#[test]
fn a_leftover_log_does_not_hide_a_further_removal() {
    let mut db = db();
    for n in 0..60 {
        put(&mut db, &format!("/{n}.md"), &traces(n));
    }
    let reader = db.store.reader().unwrap();
    reader.connection.execute_batch("BEGIN; SELECT count(*) FROM documents").unwrap();
    db.store.remove(DocumentId(1)).unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::WaitsForReader);
    for id in 20..40 {
        db.store.remove(DocumentId(id)).unwrap();
    }
    assert_eq!(db.store.read(marked).unwrap().as_deref(), Some(PAGES));
    reader.connection.execute_batch("COMMIT").unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    assert_eq!(found(&db, &(19..39).map(traces).collect::<Vec<_>>()), Vec::<String>::new());
}

#[test]
fn codes_of_removed_vectors_are_gone() {
    let mut db = db();
    for n in 0..260 {
        put(&mut db, &format!("/{n}.md"), &traces(n));
    }
    let dim = usize::try_from(DIM).unwrap();
    assert!(codes::make(&db.store.connection, dim, 1, 1).unwrap() > 3);
    let code =
        |n: usize| codes::encode(&crate::vectors::to_blob(&vector(&traces(n).texts[0])), dim);
    assert!(holds(&bytes(&db.path()), &code(20)));
    for id in 10..30 {
        db.store.remove(DocumentId(id)).unwrap();
    }
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    for n in 9..29 {
        assert!(!holds(&bytes(&db.path()), &code(n)), "{n}");
    }
    assert!(holds(&bytes(&db.path()), &code(200)));
}

#[test]
fn a_reader_delays_erasing_and_the_next_call_continues() {
    let mut db = db();
    let gone = traces(3);
    let id = put(&mut db, "/a.md", &gone);
    put(&mut db, "/b.md", &traces(4));
    let reader = db.store.reader().unwrap();
    reader.connection.execute_batch("BEGIN; SELECT count(*) FROM documents").unwrap();
    db.store.remove(id).unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::WaitsForReader);
    assert!(!found(&db, &[traces(3)]).is_empty(), "the reader needs it");
    reader.connection.execute_batch("COMMIT").unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    assert_eq!(found(&db, &[gone]), Vec::<String>::new());
    assert_eq!(db.store.read(marked).unwrap(), None);
    assert_eq!(fs::metadata(format!("{}-wal", db.path().display())).unwrap().len(), 0);
}

#[test]
fn the_next_connection_to_close_empties_the_log() {
    let mut db = db();
    let id = put(&mut db, "/a.md", &traces(3));
    let reader = db.store.reader().unwrap();
    reader.connection.execute_batch("BEGIN; SELECT count(*) FROM documents").unwrap();
    db.store.remove(id).unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::WaitsForReader);
    Store::open(&db.path()).unwrap().close().unwrap();
    assert!(!found(&db, &[traces(3)]).is_empty());
    reader.connection.execute_batch("COMMIT").unwrap();
    Store::open(&db.path()).unwrap().close().unwrap();
    assert_eq!(found(&db, &[traces(3)]), Vec::<String>::new());
}

#[test]
fn a_killed_process_leaves_erasing_to_the_next() {
    let mut db = db();
    for n in 0..60 {
        put(&mut db, &format!("/{n}.md"), &traces(n));
    }
    for id in 20..40 {
        db.store.remove(DocumentId(id)).unwrap();
    }
    let path = db.path();
    db.store = Store::open(&path).unwrap();
    assert_eq!(db.store.read(marked).unwrap().as_deref(), Some(PAGES));
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    let removed: Vec<Traces> = (19..39).map(traces).collect();
    assert_eq!(found(&db, &removed), Vec::<String>::new());
}

#[test]
fn a_reindex_leaves_no_old_vector() {
    let mut db = db();
    for n in 0..40 {
        put(&mut db, &format!("/{n}.md"), &traces(n));
    }
    let wide = Binding { dim: 6, ..binding("wide") };
    db.store.begin_reindex(&wide).unwrap();
    let chunks = db.store.unembedded(ChunkId(0), 1000).unwrap();
    let vectors: Vec<_> = chunks
        .iter()
        .map(|chunk| {
            let vector = vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            crate::RenewedChunk::kept(chunk, Embedding { vector, codes: None })
        })
        .collect();
    db.store.store_reindexed(&vectors).unwrap();
    db.store.finish_reindex().unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    let files = bytes(&db.path());
    let parts = (0..40).flat_map(|n| traces(n).texts).flat_map(|text| {
        let vector = crate::vectors::to_blob(&vector(&text))[128..192].to_vec();
        let codes = codes(&text);
        codes.chunks(16).map(<[u8]>::to_vec).chain([vector]).collect::<Vec<_>>()
    });
    let search = AhoCorasick::new(parts).unwrap();
    assert!(files.iter().all(|file| !search.is_match(file)));
    db.assert_intact();
}

/// Creates a database as an older kb did, in which something was removed.
fn old_database(path: &Path, schema: usize) {
    // Opening any store registers vec0.
    drop(db());
    let mut old = Connection::open(path).unwrap();
    migrate::enter_wal(&old, PATIENCE).unwrap();
    migrate::apply(&mut old, 0, &MIGRATIONS[..schema]).unwrap();
    old.execute_batch(&format!(
        "PRAGMA foreign_keys = ON;
        INSERT INTO config (key, value) VALUES
            ('model_name', 'small'), ('embedding_dim', '{DIM}'), ('model_max_tokens', '256'),
            ('model_precision', 'int8'), ('passage_prefix', '');
        CREATE VIRTUAL TABLE chunks_vec USING vec0 (
            chunk_id INTEGER PRIMARY KEY,
            embedding FLOAT[{DIM}],
            chunk_size = 128
        );
        CREATE TRIGGER chunks_vec_ad AFTER DELETE ON chunks BEGIN
            DELETE FROM chunks_vec WHERE chunk_id = old.id;
        END;"
    ))
    .unwrap();
    for n in 0..60 {
        let stamp = stamp(&format!("/{n}.md"));
        let insert = "INSERT INTO documents (title, source_path, content_hash, doc_type)
            VALUES ('', ?1, ?1, 'note')";
        old.execute(insert, [&stamp.path]).unwrap();
        let id = old.last_insert_rowid();
        let insert = "INSERT INTO document_paths (path, document_id, size_bytes, mtime_ns)
            VALUES (?, ?, 1, 1)";
        old.execute(insert, (&stamp.path, id)).unwrap();
        for (idx, text) in (0_u32..).zip(&traces(n).texts) {
            let hash = PassageHash::of(&crate::document::Chunk::passage("", text));
            let insert =
                "INSERT INTO chunks (document_id, chunk_index, text, token_count, passage_hash)
                VALUES (?, ?, ?, 7, ?)";
            old.execute(insert, (id, idx, text, hash.bytes())).unwrap();
            let chunk_id = old.last_insert_rowid();
            let grams = crate::keyword::grams::indexed(text, None);
            let insert = "INSERT INTO chunks_grams (rowid, context, text) VALUES (?, '', ?)";
            old.execute(insert, (chunk_id, grams)).unwrap();
            let insert = "INSERT INTO chunks_vec (chunk_id, embedding) VALUES (?, ?)";
            let vector = crate::vectors::to_blob(&vector(text));
            old.execute(insert, (chunk_id, vector)).unwrap();
        }
    }
    for id in 20..40 {
        let grams =
            "DELETE FROM chunks_grams WHERE rowid IN (SELECT id FROM chunks WHERE document_id = ?)";
        old.execute(grams, [id]).unwrap();
        old.execute("DELETE FROM documents WHERE id = ?", [id]).unwrap();
    }
}

#[test]
fn databases_of_all_earlier_schemas_are_cleaned_and_erase_from_then_on() {
    // The sixth schema is the first that erases.
    for schema in 1..6 {
        let mut db = TestDb::unbound();
        let path = db.path();
        db.store.close().unwrap();
        fs::remove_file(&path).unwrap();
        old_database(&path, schema);
        db.store = Store::open(&path).unwrap();
        db.store.binding().unwrap();
        db.assert_intact();
        let removed: Vec<Traces> = (19..39).map(traces).collect();
        assert!(!found(&db, &removed).is_empty(), "schema {schema}: the test shows nothing");
        assert!(db.store.has_leftovers().unwrap());
        assert_eq!(db.store.clean_leftovers().unwrap(), Erasure::Done);
        assert!(!db.store.has_leftovers().unwrap());
        assert_eq!(found(&db, &removed), Vec::<String>::new(), "schema {schema}");
        db.store.remove(DocumentId(3)).unwrap();
        db.store.remove(DocumentId(55)).unwrap();
        assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
        assert_eq!(found(&db, &[traces(2), traces(54)]), Vec::<String>::new());
        assert_eq!(db.store.occurrences("東京").unwrap().len(), live_chunks(&db));
        db.assert_intact();
    }
}

fn live_chunks(db: &TestDb) -> usize {
    db.store.stats().unwrap().total_chunks.try_into().unwrap()
}

#[test]
fn a_new_database_has_no_leftovers() {
    let mut db = db();
    let id = put(&mut db, "/a.md", &traces(1));
    assert!(!db.store.has_leftovers().unwrap());
    db.store.remove(id).unwrap();
    assert!(db.store.has_leftovers().unwrap());
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    assert!(!db.store.has_leftovers().unwrap());
}

#[test]
fn a_removed_run_in_a_script_without_spaces_leaves_no_pair() {
    let mut db = db();
    let id = put(&mut db, "/a.md", &Traces { words: Vec::new(), texts: vec!["秘密水族館".into()] });
    put(&mut db, "/b.md", &Traces { words: Vec::new(), texts: vec!["東京都".into()] });
    db.store.remove(id).unwrap();
    assert_eq!(db.store.finish_erasing().unwrap(), Erasure::Done);
    let terms = "SELECT group_concat(term, ' ') FROM chunks_grams_terms";
    let terms: String = db.store.connection.query_row(terms, [], |row| row.get(0)).unwrap();
    assert_eq!(terms, "京 京都 東 東京 都");
    assert!(!holds(&bytes(&db.path()), "水族".as_bytes()));
    db.assert_intact();
}
