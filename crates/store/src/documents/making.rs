//! Reads how documents were made.

use rusqlite::named_params;

use crate::db::{columns, sql};
use crate::document::DocType;
use crate::error::Result;
use crate::ids::DocumentId;

use super::cut;
use crate::Store;

/// How a document was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeDocument {
    /// Its key.
    pub id: DocumentId,
    /// Its type.
    pub doc_type: DocType,
    /// The word of its format.
    pub format: String,
    /// Its file; `None` for a note given as text.
    pub path: Option<String>,
    /// The versions and settings, written by `ingest::making`; `None` if an older kb made it, or if
    /// a reindex cut its chunks.
    pub making: Option<String>,
}

/// Imported documents without a file are left out, and notes that an older kb stored in several chunks:
/// there is nothing to read again.
const MADE_DOCUMENTS: &str = "
    SELECT id, doc_type, source_path, making, metadata, language
    FROM documents
    WHERE source_path IS NOT NULL
        OR (
            doc_type = 'note'
            AND (
                note_text IS NOT NULL
                OR (SELECT count(*) FROM chunks WHERE document_id = documents.id) = 1
            )
        )
    ORDER BY id";

const NOTE_TEXT: &str = "
    SELECT coalesce(note_text, (SELECT text FROM chunks WHERE document_id = documents.id))
    FROM documents
    WHERE id = :id
        AND doc_type = 'note'
        AND source_path IS NULL
        AND (
            note_text IS NOT NULL
            OR (SELECT count(*) FROM chunks WHERE document_id = documents.id) = 1
        )";

impl Store {
    /// Returns how the documents that can be rebuilt were made, ordered by id.
    pub fn made_documents(&self) -> Result<Vec<MadeDocument>> {
        self.read(|db| {
            sql::rows(db, MADE_DOCUMENTS, [], |row| {
                let doc_type = columns::named_column(row, 1, DocType::Markdown)?;
                let language = row.get_ref(5)?.as_str_or_null().unwrap_or_default();
                Ok(MadeDocument {
                    id: row.get(0)?,
                    doc_type,
                    path: row.get(2)?,
                    making: row.get(3)?,
                    format: cut::format_word(row.text(4)?, language, doc_type),
                })
            })
        })
    }

    /// Returns the text of a note given as text; `None` if it is not stored in one piece, or if there is
    /// no such note.
    pub fn note_text(&self, id: DocumentId) -> Result<Option<String>> {
        let params = named_params! { ":id": id };
        let text = self.read(|db| sql::first_row(db, NOTE_TEXT, params, |row| row.get(0)))?;
        Ok(text.flatten())
    }
}
