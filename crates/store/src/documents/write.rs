//! Writes the row of a document.

use rusqlite::{Connection, named_params};

use super::remembered::PathStamp;
use super::rows;
use crate::db::{fault::Step, sql};
use crate::document::{Format, Metadata};
use crate::ids::DocumentId;

/// A document to store with its chunks and vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// Its file; `None` for a note given as text.
    pub stamp: Option<PathStamp>,
    /// Its title; never empty.
    pub title: String,
    /// Whether the user gave the title. Such a title stays until the user gives another.
    pub is_title_given: bool,
    /// SHA-256 of the file's bytes, lower-case hex.
    pub content_hash: String,
    /// How the bytes were read; type and language follow from it.
    pub format: Format,
    /// Tags to add to existing ones.
    pub tags: Vec<String>,
    /// Its own metadata.
    pub metadata: Metadata,
    /// The versions and settings that made it; `None` if unknown.
    pub making: Option<String>,
    /// The text of a note given as text, if it takes several chunks.
    pub note_text: Option<String>,
}

const INSERT_DOCUMENT: &str = "
    INSERT INTO documents
        (title, title_given, source_path, content_hash, doc_type, language, metadata, making,
         note_text)
    VALUES
        (:title, :title_given, :path, :content_hash, :doc_type, :language, :metadata, :making,
         :note_text)
    RETURNING id";

const UPDATE_DOCUMENT: &str = "
    UPDATE documents
    SET
        title = :title,
        title_given = :title_given,
        source_path = :path,
        content_hash = :content_hash,
        doc_type = :doc_type,
        language = :language,
        -- The day that the user gave stays.
        metadata = iif(
            metadata ->> '$.date' IS NULL,
            :metadata,
            json_set(:metadata, '$.date', metadata ->> '$.date')
        ),
        making = :making,
        note_text = :note_text,
        updated_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')
    WHERE id = :id";

const COPY_DOCUMENT: &str = "
    INSERT INTO documents
        (title, title_given, source_path, content_hash, doc_type, language,
         created_at, updated_at, metadata, making, edits)
    SELECT
        title, title_given, :path, content_hash, doc_type, language,
        created_at, updated_at, metadata, making, edits
    FROM documents
    WHERE id = :id
    RETURNING id";

/// Inserts the row of a document that has no chunks yet.
pub(super) fn insert(db: &Connection, new: &NewDocument) -> Step<DocumentId> {
    let params = named_params! {
        ":title": new.title,
        ":title_given": new.is_title_given,
        ":path": new.stamp.as_ref().map(|stamp| &stamp.path),
        ":content_hash": new.content_hash,
        ":doc_type": new.format.doc_type().as_str(),
        ":language": new.format.language().map(|language| language.as_str()),
        ":metadata": rows::document_json(new.format, &new.metadata)?,
        ":making": new.making,
        ":note_text": new.note_text,
    };
    sql::value(db, INSERT_DOCUMENT, params)
}

/// Updates a document's row from `new`, shown under `path`.
pub(super) fn update(
    db: &Connection,
    id: DocumentId,
    new: &NewDocument,
    path: Option<&str>,
) -> Step<()> {
    let params = named_params! {
        ":id": id,
        ":title": new.title,
        ":title_given": new.is_title_given,
        ":path": path,
        ":content_hash": new.content_hash,
        ":doc_type": new.format.doc_type().as_str(),
        ":language": new.format.language().map(|language| language.as_str()),
        ":metadata": rows::document_json(new.format, &new.metadata)?,
        ":making": new.making,
        ":note_text": new.note_text,
    };
    sql::run(db, UPDATE_DOCUMENT, params)
}

/// Inserts a copy of a document's row, shown under `path`, without tags and chunks.
pub(super) fn copy(db: &Connection, id: DocumentId, path: &str) -> Step<DocumentId> {
    sql::value(db, COPY_DOCUMENT, named_params! { ":path": path, ":id": id })
}
