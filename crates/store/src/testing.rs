//! Provides a database in a temporary directory and small documents to tests.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::new_without_default, reason = "it makes a folder")]

use std::path::PathBuf;

use rusqlite::Connection;

use crate::document::{
    Binding, Chunk, Embedding, Format, LineRange, Metadata, ModelFiles, Precision,
};
use crate::ids::DocumentId;

use super::db::connection::on_pages;
use super::keyword::{derived, fts};
use super::{NewDocument, PathStamp, Store, StoredChange};

/// Width of the vectors in these tests.
pub const DIM: u32 = 4;

/// A database that is deleted with the test.
pub struct TestDb {
    pub store: Store,
    directory: tempfile::TempDir,
}

impl TestDb {
    /// Creates a database bound to the model `small`.
    pub fn new() -> Self {
        let mut db = Self::unbound();
        db.store.bind(&binding("small")).unwrap();
        db
    }

    pub fn unbound() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("kb.db")).unwrap();
        Self { store, directory }
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("kb.db")
    }

    /// Stores a Markdown document with these chunk texts; no other path is alive.
    pub fn add(&mut self, path: &str, texts: &[&str], tags: &[&str]) -> DocumentId {
        self.put(&document(path, texts, tags), texts, &[]).document_id()
    }

    /// As [`TestDb::add`], through another connection.
    pub fn add_to(store: &mut Store, path: &str, texts: &[&str]) -> DocumentId {
        let chunks: Vec<Chunk> = texts.iter().map(|text| chunk(text)).collect();
        let embeddings: Vec<Embedding> = texts.iter().map(|text| embedding(text)).collect();
        let new = document(path, texts, &[]);
        store.replace(&new, &chunks, &embeddings, &|_| false).unwrap().document_id()
    }

    /// Stores a document while the files at the paths in `alive` are unchanged.
    pub fn put(&mut self, new: &NewDocument, texts: &[&str], alive: &[&str]) -> StoredChange {
        let chunks: Vec<Chunk> = texts.iter().map(|text| chunk(text)).collect();
        let embeddings: Vec<Embedding> = texts.iter().map(|text| embedding(text)).collect();
        self.store
            .replace(new, &chunks, &embeddings, &|stamp| alive.contains(&stamp.path.as_str()))
            .unwrap()
    }

    /// Backdates all times, as if everything had been stored years ago.
    pub fn backdate(&mut self) {
        let sql = "UPDATE documents SET created_at = :then, updated_at = :then";
        self.store.connection.execute(sql, ["2001-02-03T04:05:06Z"]).unwrap();
    }

    /// Runs statements that may also change pages and the tables behind an index.
    pub fn damage(&self, sql: &str) {
        on_pages(&self.store.connection, |db| db.execute_batch(sql)).unwrap();
    }

    /// Rebuilds both keyword indexes from the chunks.
    pub fn rebuild_keyword_indexes(&mut self) {
        let rebuild = |db: &Connection| fts::rebuild(db).and_then(|()| derived::rebuild(db));
        self.store.write(rebuild).unwrap();
    }

    /// Fails unless the database is intact.
    #[track_caller]
    pub fn assert_intact(&self) {
        assert_eq!(self.store.check().unwrap(), Vec::<String>::new());
    }

    /// Returns the texts of a document's chunks.
    pub fn texts(&self, id: DocumentId) -> Vec<String> {
        self.store.chunks(id).unwrap().into_iter().map(|stored| stored.chunk.text).collect()
    }
}

/// Takes from a database what schema 16 added.
pub const WITHOUT_LETTERS: &str = "
    DROP TABLE words;
    DROP TRIGGER tags_names_au;
    DROP TRIGGER document_tags_names_ai;
    DROP TRIGGER document_tags_names_ad;
    DROP TRIGGER document_names_au;
    DROP TRIGGER document_names_ad;
    DROP TABLE document_names_fts;
    ALTER TABLE document_names DROP COLUMN tags;
    CREATE VIRTUAL TABLE document_names_fts USING fts5 (
        words,
        content = 'document_names',
        content_rowid = 'document_id',
        tokenize = 'porter unicode61'
    );
    CREATE TRIGGER document_names_au AFTER UPDATE OF words ON document_names BEGIN
        INSERT INTO document_names_fts (document_names_fts, rowid, words)
        SELECT 'delete', old.document_id, old.words WHERE old.words IS NOT NULL;
        INSERT INTO document_names_fts (rowid, words)
        SELECT new.document_id, new.words WHERE new.words IS NOT NULL;
    END;
    CREATE TRIGGER document_names_ad AFTER DELETE ON document_names WHEN old.words IS NOT NULL BEGIN
        INSERT INTO document_names_fts (document_names_fts, rowid, words)
        VALUES ('delete', old.document_id, old.words);
    END;
    INSERT INTO document_names_fts (document_names_fts) VALUES ('rebuild');
    UPDATE config SET value = '15' WHERE key = 'schema_version';
    PRAGMA user_version = 15;";

pub fn binding(model_name: &str) -> Binding {
    Binding {
        model_name: model_name.to_owned(),
        dim: DIM,
        max_tokens: 256,
        precision: Precision::Int8,
        passage_prefix: String::new(),
        files: ModelFiles::default(),
    }
}

pub fn stamp(path: &str) -> PathStamp {
    let mtime_ns = 1_700_000_000_000_000_000;
    PathStamp { path: path.to_owned(), size_bytes: 10, mtime_ns, real_path: None }
}

/// Returns a document whose hash is computed from its texts.
pub fn document(path: &str, texts: &[&str], tags: &[&str]) -> NewDocument {
    NewDocument {
        stamp: Some(stamp(path)),
        title: format!("Title of {path}"),
        is_title_given: false,
        content_hash: format!("hash of {}", texts.join("|")),
        format: Format::Markdown,
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        metadata: Metadata::default(),
        making: None,
        note_text: None,
    }
}

pub fn chunk(text: &str) -> Chunk {
    Chunk {
        text: text.to_owned(),
        context: "Guide > Setup".to_owned(),
        token_count: 7,
        section: Some("Setup".to_owned()),
        lines: LineRange::new(3, 4),
        ..Chunk::default()
    }
}

/// Returns what a model might make of the text, with codes of its tokens.
pub fn embedding(text: &str) -> Embedding {
    Embedding { vector: vector(text), codes: Some(text.bytes().take(20).collect()) }
}

/// Returns a unit vector that depends on the text.
pub fn vector(text: &str) -> Vec<f32> {
    let mut vector = [0.1_f32; 4];
    for (position, byte) in text.bytes().enumerate() {
        vector[(position + usize::from(byte)) % 4] += f32::from(byte) / 64.0;
    }
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}
