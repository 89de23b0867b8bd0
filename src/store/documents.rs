//! Ids and filters in, documents out.

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::document::{DocType, DocumentId, Filter, Metadata};
use crate::error::Result;

use super::fault::Step;
use super::filter::{FilterValues, passes_filter};
use super::{Store, rows};

/// A document as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its key; stays when the document is replaced.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Whether the user gave the title, so that replacing keeps it.
    pub is_title_given: bool,
    /// Absolute path of its file; `None` for a note given as text.
    pub path: Option<String>,
    /// SHA-256 of the file's bytes, lower-case hex.
    pub content_hash: String,
    /// Its type.
    pub doc_type: DocType,
    /// The programming language, as [`crate::document::Language`] names it; `None` outside code.
    pub language: Option<String>,
    /// How its bytes were read, as [`crate::document::Format`] names it.
    pub format: String,
    /// When it was first added: RFC 3339, UTC.
    pub created_at: String,
    /// When its content was last replaced: RFC 3339, UTC.
    pub updated_at: String,
    /// What it says about itself.
    pub metadata: Metadata,
    /// Its tags in order of the alphabet.
    pub tags: Vec<String>,
    /// How many chunks it has.
    pub chunk_count: u32,
}

/// The columns of a [`StoredDocument`].
macro_rules! select_documents {
    () => {
        "SELECT
            documents.*,
            (
                SELECT json_group_array(tags.name ORDER BY tags.name)
                FROM document_tags
                JOIN tags ON tags.id = document_tags.tag_id
                WHERE document_tags.document_id = documents.id
            ) AS tags,
            (
                SELECT count(*) FROM chunks WHERE chunks.document_id = documents.id
            ) AS chunk_count
        FROM documents
        WHERE "
    };
}

const DOCUMENT: &str = concat!(select_documents!(), "documents.id = :id");

const DOCUMENT_BY_HASH: &str = concat!(
    select_documents!(),
    "documents.content_hash = :content_hash
    ORDER BY documents.id
    LIMIT 1"
);

const DOCUMENTS: &str = concat!(select_documents!(), passes_filter!(), " ORDER BY documents.id");

const REMOVE_DOCUMENT: &str = "DELETE FROM documents WHERE id = :id";

impl Store {
    /// Returns one document; `None` for an unknown id.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and what else the database refuses.
    pub fn document(&self, id: DocumentId) -> Result<Option<StoredDocument>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(DOCUMENT)?;
            Ok(statement
                .query_row(named_params! { ":id": id }, rows::stored_document)
                .optional()?)
        })
    }

    /// Returns the document with these bytes, the oldest if they were read in several ways.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and what else the database refuses.
    pub fn document_by_hash(&self, content_hash: &str) -> Result<Option<StoredDocument>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(DOCUMENT_BY_HASH)?;
            Ok(statement
                .query_row(named_params! { ":content_hash": content_hash }, rows::stored_document)
                .optional()?)
        })
    }

    /// Returns the documents that pass `filter`, by id; what it says of chunks is not looked at.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and what else the database refuses.
    pub fn documents(&self, filter: &Filter) -> Result<Vec<StoredDocument>> {
        self.read(|db| {
            let values = FilterValues::new(filter)?;
            let mut statement = db.prepare_cached(DOCUMENTS)?;
            let documents =
                statement.query_map(values.of_documents().as_slice(), rows::stored_document)?;
            Ok(documents.collect::<Result<_, _>>()?)
        })
    }

    /// Removes a document with its chunks, keyword index, vectors, paths and unused tags; returns
    /// whether there was one.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Locked`], [`crate::error::Error::DiskFull`] and what else the
    /// database refuses.
    pub fn remove(&mut self, id: DocumentId) -> Result<bool> {
        self.write(|db| delete(db, id))
    }
}

/// Removes a document; foreign keys and triggers remove what hangs on it.
pub(super) fn delete(db: &Connection, id: DocumentId) -> Step<bool> {
    Ok(db.prepare_cached(REMOVE_DOCUMENT)?.execute(named_params! { ":id": id })? > 0)
}
