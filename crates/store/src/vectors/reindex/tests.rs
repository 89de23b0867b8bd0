//! Tests the switch from one model to another.

use super::*;
use crate::testing::{TestDb, binding, embedding, vector};

/// The new model: wider, but it ranks the same way.
fn wide() -> Binding {
    Binding { dim: 6, ..binding("wide") }
}

fn wide_embedding(text: &str) -> Embedding {
    let mut embedding = embedding(text);
    embedding.vector.extend([0.0, 0.0]);
    embedding
}

fn embed(found: &UnembeddedChunk) -> RenewedChunk {
    RenewedChunk::kept(found, wide_embedding(&found.chunk.text))
}

/// Splits each chunk with more than one word into words.
fn split(found: &UnembeddedChunk) -> RenewedChunk {
    let words: Vec<&str> = found.chunk.text.split(' ').collect();
    let piece = |word: &&str| {
        let chunk = Chunk { text: (*word).to_owned(), token_count: 1, ..found.chunk.clone() };
        (chunk, wide_embedding(word))
    };
    let pieces = words.iter().map(piece).collect();
    RenewedChunk { chunk_id: found.chunk_id, pieces, is_split: words.len() > 1 }
}

fn embed_next(store: &mut Store, after: ChunkId, limit: u32) -> ChunkId {
    let chunks = store.unembedded(after, limit).unwrap();
    let embedded: Vec<_> = chunks.iter().map(embed).collect();
    store.store_reindexed(&embedded).unwrap();
    chunks.last().map_or(after, |chunk| chunk.chunk_id)
}

fn db() -> TestDb {
    let mut db = TestDb::new();
    db.add("/a.md", &["one", "two", "three"], &[]);
    db.add("/b.md", &["four", "five"], &[]);
    db
}

fn best(store: &Store, vector: &[f32]) -> ChunkId {
    store.rank_by_cosine(vector, None, 10).unwrap()[0].chunk_id
}

#[test]
fn every_vector_is_replaced_and_the_width_may_change() {
    let mut db = db();
    let old_best = best(&db.store, &vector("four"));
    let begun = db.store.begin_reindex(&wide()).unwrap();
    assert_eq!(begun, ReindexProgress { num_embedded: 0, num_chunks: 5 });
    let last = embed_next(&mut db.store, ChunkId(0), 3);
    embed_next(&mut db.store, last, 3);
    assert_eq!(best(&db.store, &vector("four")), old_best);
    let done = db.store.finish_reindex().unwrap();
    assert_eq!(done.num_embedded, done.num_chunks);
    assert_eq!(db.store.binding().unwrap(), Some(wide()));
    let mut query = vector("four");
    query.extend([0.0, 0.0]);
    assert_eq!(best(&db.store, &query), old_best);
    db.assert_intact();
}

#[test]
fn no_switch_happens_before_each_chunk_has_a_vector() {
    let mut db = db();
    db.store.begin_reindex(&wide()).unwrap();
    embed_next(&mut db.store, ChunkId(0), 4);
    let progress = db.store.finish_reindex().unwrap();
    assert_eq!(progress, ReindexProgress { num_embedded: 4, num_chunks: 5 });
    assert_eq!(db.store.binding().unwrap(), Some(binding("small")));
    db.assert_intact();
}

#[test]
fn an_interrupted_reindex_continues_where_it_stopped() {
    let mut db = db();
    db.store.begin_reindex(&wide()).unwrap();
    embed_next(&mut db.store, ChunkId(0), 2);
    let mut next = Store::open(&db.path()).unwrap();
    assert_eq!(next.begin_reindex(&wide()).unwrap().num_embedded, 2);
    assert_eq!(next.unembedded(ChunkId(0), 100).unwrap().len(), 3);
    embed_next(&mut next, ChunkId(0), 100);
    next.finish_reindex().unwrap();
    assert_eq!(next.binding().unwrap(), Some(wide()));
    db.assert_intact();
}

#[test]
fn a_reindex_to_yet_another_model_starts_again() {
    let mut db = db();
    db.store.begin_reindex(&wide()).unwrap();
    embed_next(&mut db.store, ChunkId(0), 2);
    let mut other = Store::open(&db.path()).unwrap();
    let third = Binding { model_name: "third".into(), ..wide() };
    assert_eq!(other.begin_reindex(&third).unwrap().num_embedded, 0);
    let late = embed(&db.store.unembedded(ChunkId(0), 1).unwrap()[0]);
    let outcome = db.store.store_reindexed(&[late]);
    assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
    assert!(matches!(db.store.finish_reindex(), Err(Error::ModelMismatch { .. })));
}

#[test]
fn documents_can_be_added_and_removed_during_a_reindex() {
    let mut db = db();
    db.store.begin_reindex(&wide()).unwrap();
    let removed = embed(&db.store.unembedded(ChunkId(0), 1).unwrap()[0]);
    embed_next(&mut db.store, ChunkId(0), 100);
    let known = db.store.known_path("/b.md").unwrap().unwrap();
    db.store.remove(known.document_id).unwrap();
    db.add("/a.md", &["one", "six"], &[]);
    db.add("/c.md", &["seven"], &[]);
    assert_eq!(db.store.finish_reindex().unwrap().num_embedded, 0);
    // Storing the vector of a chunk that was removed meanwhile is harmless.
    db.store.store_reindexed(&[removed]).unwrap();
    embed_next(&mut db.store, ChunkId(0), 100);
    db.store.finish_reindex().unwrap();
    assert_eq!(db.store.binding().unwrap(), Some(wide()));
    assert_eq!(db.store.stats().unwrap().total_vectors, 3);
    db.assert_intact();
}

#[test]
fn other_connections_never_mix_the_two_models() {
    let mut db = db();
    let reader = db.store.reader().unwrap();
    let old_best = best(&reader, &vector("four"));
    db.store.begin_reindex(&wide()).unwrap();
    embed_next(&mut db.store, ChunkId(0), 100);
    assert_eq!(best(&reader, &vector("four")), old_best);
    db.store.finish_reindex().unwrap();
    let outcome = reader.rank_by_cosine(&vector("four"), None, 10);
    assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
    let mut query = vector("four");
    query.extend([0.0, 0.0]);
    assert_eq!(best(&db.store.reader().unwrap(), &query), old_best);
}

#[test]
fn chunks_that_are_too_long_are_replaced_by_their_pieces_at_the_switch() {
    let mut db = TestDb::new();
    let first = db.add("/a.md", &["one", "two three four", "five"], &["kept"]);
    let second = db.add("/b.md", &["six"], &[]);
    let ids = |db: &TestDb, id| -> Vec<ChunkId> {
        db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect()
    };
    let before = ids(&db, second);
    db.store.begin_reindex(&wide()).unwrap();
    let renewed: Vec<_> = db.store.unembedded(ChunkId(0), 100).unwrap().iter().map(split).collect();
    db.store.store_reindexed(&renewed).unwrap();
    // Nothing changes before the switch.
    assert_eq!(db.store.chunks(first).unwrap().len(), 3);
    assert!(db.store.unembedded(ChunkId(0), 100).unwrap().is_empty());
    db.store.finish_reindex().unwrap();
    let texts: Vec<String> =
        db.store.chunks(first).unwrap().into_iter().map(|stored| stored.chunk.text).collect();
    assert_eq!(texts, ["one", "two", "three", "four", "five"]);
    assert_eq!(ids(&db, second), before);
    let three = best(&db.store, &wide_embedding("three").vector);
    assert_eq!(db.store.hits(&[three]).unwrap()[0].chunk.chunk.text, "three");
    assert_eq!(db.store.document(first).unwrap().unwrap().tags, ["kept"]);
    db.assert_intact();
}

#[test]
fn pieces_of_a_document_that_changes_meanwhile_are_forgotten() {
    let mut db = TestDb::new();
    db.add("/a.md", &["two three"], &[]);
    db.store.begin_reindex(&wide()).unwrap();
    let renewed: Vec<_> = db.store.unembedded(ChunkId(0), 100).unwrap().iter().map(split).collect();
    db.store.store_reindexed(&renewed).unwrap();
    let known = db.store.known_path("/a.md").unwrap().unwrap();
    db.store.remove(known.document_id).unwrap();
    let new = db.add("/a.md", &["seven eight"], &[]);
    let progress = db.store.finish_reindex().unwrap();
    assert_eq!(progress, ReindexProgress { num_embedded: 0, num_chunks: 1 });
    embed_next(&mut db.store, ChunkId(0), 100);
    db.store.finish_reindex().unwrap();
    assert_eq!(db.store.chunks(new).unwrap()[0].chunk.text, "seven eight");
    db.assert_intact();
}

#[test]
fn an_empty_database_switches_at_once() {
    let mut db = TestDb::unbound();
    db.store.begin_reindex(&wide()).unwrap();
    db.store.finish_reindex().unwrap();
    assert_eq!(db.store.binding().unwrap(), Some(wide()));
    assert!(db.store.finish_reindex().is_err());
    db.assert_intact();
}

#[test]
fn documents_without_vectors_get_them_all_at_once() {
    let mut db = TestDb::unbound();
    let chunks = [crate::testing::chunk("one two"), crate::testing::chunk("three")];
    let add = |store: &mut Store, path: &str| {
        let new = crate::testing::document(path, &["one two", "three", path], &[]);
        store.replace(&new, &chunks, &[], &|_| false).unwrap();
    };
    add(&mut db.store, "/a.md");
    assert!(db.store.lacks_vectors().unwrap());
    assert!(db.store.bind(&wide()).is_err(), "some chunks would never get a vector");
    db.store.begin_reindex(&wide()).unwrap();
    let chunks_of_first = db.store.unembedded(ChunkId(0), 9).unwrap();
    let renewed: Vec<_> = chunks_of_first.iter().map(split).collect();
    db.store.store_reindexed(&renewed).unwrap();
    // Interrupted; meanwhile another document is added without a model.
    db.store = Store::open(&db.path()).unwrap();
    add(&mut db.store, "/b.md");
    db.store.begin_reindex(&wide()).unwrap();
    assert!(db.store.finish_reindex().unwrap().num_embedded < 4);
    assert!(db.store.lacks_vectors().unwrap());
    embed_next(&mut db.store, ChunkId(0), 9);
    db.store.finish_reindex().unwrap();
    assert!(!db.store.lacks_vectors().unwrap());
    assert_eq!(db.store.stats().unwrap().total_vectors, 5, "one chunk was split");
    db.assert_intact();
    // Then each document has vectors.
    let new = crate::testing::document("/c.md", &["six"], &[]);
    let outcome = db.store.replace(&new, &[crate::testing::chunk("six")], &[], &|_| false);
    assert!(outcome.is_err_and(|error| error.to_string().contains("was given a model")));
}
