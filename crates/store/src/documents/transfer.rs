//! Exports and imports documents with everything stored about them, and makes such records of documents
//! that no database has.

mod export;
mod import;

use crate::document::{Chunk, DocType, Embedding, Format, Language};
use crate::error::{Error, Result};
use crate::ids::{ChunkId, DocumentId};

use super::edits::Edits;
use super::rows;
use crate::{NewDocument, PathStamp};

pub(super) use import::{adopt_paths, at_path, insert, insert_chunks, same_content};

/// A document with its paths, tags and chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRecord {
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

/// A chunk of a [`DocumentRecord`].
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

impl DocumentRecord {
    /// Makes the record that a database would return for a document, except for ids, which are 0.
    ///
    /// `now` is the time at which it was read: RFC 3339, UTC, whole seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if there are not as many embeddings as chunks.
    pub fn new(
        new: NewDocument,
        chunks: Vec<Chunk>,
        embeddings: Option<Vec<Embedding>>,
        now: &str,
    ) -> Result<Self> {
        let num_vectors = embeddings.as_ref().map_or(chunks.len(), Vec::len);
        if num_vectors != chunks.len() {
            let reason = format!("{num_vectors} vectors for {} chunks", chunks.len());
            return Err(Error::Store(reason.into()));
        }
        let mut vectors = embeddings.into_iter().flatten().map(|embedding| embedding.vector);
        let mut tags = new.tags;
        tags.sort();
        tags.dedup();
        let recorded = chunks.into_iter().map(|chunk| {
            Ok(RecordedChunk {
                id: ChunkId(0),
                metadata: rows::chunk_json(&chunk).map_err(unwritable)?,
                text: chunk.text,
                context: chunk.context,
                token_count: chunk.token_count,
                vector: vectors.next(),
                codes: None,
            })
        });
        Ok(Self {
            id: DocumentId(0),
            title: new.title,
            is_title_given: new.is_title_given,
            path: new.stamp.as_ref().map(|stamp| stamp.path.clone()),
            content_hash: new.content_hash,
            doc_type: new.format.doc_type(),
            language: new.format.language().map(Language::as_str).map(str::to_owned),
            created_at: now.to_owned(),
            updated_at: now.to_owned(),
            metadata: rows::document_json(new.format, &new.metadata).map_err(unwritable)?,
            making: new.making,
            note_text: new.note_text,
            edits: Edits::default(),
            tags,
            paths: new.stamp.into_iter().collect(),
            chunks: recorded.collect::<Result<_>>()?,
        })
    }

    /// Gives it and its chunks the ids after the given ones, which become the last ones used.
    pub fn number(&mut self, last_document: &mut i64, last_chunk: &mut i64) {
        *last_document += 1;
        self.id = DocumentId(*last_document);
        for chunk in &mut self.chunks {
            *last_chunk += 1;
            chunk.id = ChunkId(*last_chunk);
        }
    }

    /// Refuses metadata that kb would not have written for a document of this type and language, or
    /// for its chunks.
    pub fn check_metadata(&self) -> Result<(), String> {
        let word = rows::check_document_json(&self.metadata)
            .map_err(|reason| format!("its metadata was not written by kb: {reason}"))?;
        let Some(format) = Format::named(&word) else {
            return Err(format!("unknown format `{word}`"));
        };
        let language = format.language().map(Language::as_str);
        if (format.doc_type(), language) != (self.doc_type, self.language.as_deref()) {
            return Err(format!("format `{word}` does not match its type and language"));
        }
        for (chunk_index, chunk) in self.chunks.iter().enumerate() {
            rows::check_chunk_json(&chunk.metadata).map_err(|reason| {
                format!("the metadata of its chunk {chunk_index} was not written by kb: {reason}")
            })?;
        }
        Ok(())
    }
}

fn unwritable(error: rusqlite::Error) -> Error {
    Error::Store(error.into())
}

#[cfg(test)]
mod tests;
