//! Exports and imports documents with everything stored about them.

mod export;
mod import;

use rusqlite::{Connection, named_params};

use crate::db::fault::Step;
use crate::document::{DocType, Format, Language};
use crate::ids::{ChunkId, DocumentId};

use super::edits::Edits;
use super::rows;
use crate::PathStamp;

pub use import::ImportOutcome;
pub(super) use import::{adopt_paths, at_path, insert, insert_chunks, same_content};

/// A document with its paths, tags and chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its key.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Whether the user gave the title.
    pub is_title_given: bool,
    /// The path it is shown under; `None` for a note given as text.
    pub path: Option<String>,
    /// SHA-256 of the file's bytes, lower-case hex.
    pub content_hash: String,
    /// Its type.
    pub doc_type: DocType,
    /// The programming language; `None` outside code.
    pub language: Option<String>,
    /// When it was first added: RFC 3339, UTC.
    pub created_at: String,
    /// When its content was last replaced: RFC 3339, UTC.
    pub updated_at: String,
    /// Its own metadata, as JSON.
    pub metadata: String,
    /// The versions and settings that made it; `None` if unknown.
    pub making: Option<String>,
    /// The text of a note that is stored in several chunks; `None` for all other documents.
    pub note_text: Option<String>,
    /// When the user edited it.
    pub edits: Edits,
    /// Its tags in alphabetical order.
    pub tags: Vec<String>,
    /// Every path where its content was seen, in order.
    pub paths: Vec<PathStamp>,
    /// Its chunks in order.
    pub chunks: Vec<RecordedChunk>,
}

/// A chunk of a [`Record`].
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedChunk {
    /// Its key.
    pub id: ChunkId,
    /// The chunk's own text.
    pub text: String,
    /// Its context, embedded with the text.
    pub context: String,
    /// Number of embedded tokens.
    pub token_count: u32,
    /// Its location in the document, as JSON.
    pub metadata: String,
    /// Its vector, of length 1; `None` if it was not requested.
    pub vector: Option<Vec<f32>>,
    /// The codes of its tokens, if its vector was just computed; an export does not have them.
    pub codes: Option<Vec<u8>>,
}

const HAS_DOCUMENT: &str = "SELECT EXISTS (SELECT 1 FROM documents WHERE id = :id)";

impl Record {
    /// Refuses metadata that kb would not have written for a document of this type and language, or
    /// for its chunks.
    ///
    /// # Errors
    ///
    /// A description of that metadata.
    pub fn check_metadata(&self) -> Result<(), String> {
        let word = rows::check_document_json(&self.metadata)
            .map_err(|reason| format!("its metadata is not what kb writes: {reason}"))?;
        let Some(format) = Format::named(&word) else {
            return Err(format!("unknown format `{word}`"));
        };
        let language = format.language().map(Language::as_str);
        if (format.doc_type(), language) != (self.doc_type, self.language.as_deref()) {
            return Err(format!("format `{word}` does not match its type and language"));
        }
        for (chunk_index, chunk) in self.chunks.iter().enumerate() {
            rows::check_chunk_json(&chunk.metadata).map_err(|reason| {
                format!("the metadata of its chunk {chunk_index} is not what kb writes: {reason}")
            })?;
        }
        Ok(())
    }
}

/// Whether there is a document of this id.
fn exists(db: &Connection, id: DocumentId) -> Step<bool> {
    Ok(db.prepare_cached(HAS_DOCUMENT)?.query_row(named_params! { ":id": id }, |row| row.get(0))?)
}

#[cfg(test)]
mod tests;
