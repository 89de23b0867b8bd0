//! Stores a document with chunks of any kind, for the tests of this folder.

use crate::document::{Chunk, Embedding, Format, Metadata};
use crate::store::testing::{TestDb, chunk, document, embedding};
use crate::store::{NewDocument, StoredDocument};

/// Returns a chunk that has nothing but a text and a number of tokens.
pub(super) fn plain(text: &str, token_count: u32) -> Chunk {
    Chunk { context: String::new(), token_count, section: None, lines: None, ..chunk(text) }
}

/// Returns a database with one document, and that document.
pub(super) fn stored(format: Format, chunks: &[Chunk]) -> (TestDb, StoredDocument) {
    with_metadata(format, chunks, Metadata::default())
}

/// As [`stored`], with other data about the document.
pub(super) fn with_metadata(
    format: Format,
    chunks: &[Chunk],
    metadata: Metadata,
) -> (TestDb, StoredDocument) {
    put(&NewDocument { format, metadata, ..document("/a", &[], &[]) }, chunks)
}

/// Stores any document.
pub(super) fn put(new: &NewDocument, chunks: &[Chunk]) -> (TestDb, StoredDocument) {
    let mut db = TestDb::new();
    let embeddings: Vec<Embedding> = chunks.iter().map(|chunk| embedding(&chunk.text)).collect();
    let id = db.store.replace(new, chunks, &embeddings, &|_| true).unwrap().document_id();
    let stored = db.store.document(id).unwrap().unwrap();
    (db, stored)
}
