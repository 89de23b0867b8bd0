//! Makes records of documents that no database has.

use crate::document::{Chunk, Embedding, Language};
use crate::error::{Error, Result};
use crate::ids::{ChunkId, DocumentId};
use crate::{Edits, NewDocument, Record, RecordedChunk};

use super::rows;

impl Record {
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
        let unwritable = |error: rusqlite::Error| Error::Store(error.into());
        let num_vectors = embeddings.as_ref().map_or(chunks.len(), Vec::len);
        if num_vectors != chunks.len() {
            let reason = format!("{num_vectors} vectors for {} chunks", chunks.len());
            return Err(Error::Store(reason.into()));
        }
        let mut vectors = embeddings.into_iter().flatten().map(|embedding| embedding.vector);
        let mut tags = new.tags;
        tags.sort();
        tags.dedup();
        let recorded = |chunk: Chunk| {
            Ok(RecordedChunk {
                id: ChunkId(0),
                metadata: rows::chunk_json(&chunk).map_err(unwritable)?,
                text: chunk.text,
                context: chunk.context,
                token_count: chunk.token_count,
                vector: vectors.next(),
                codes: None,
            })
        };
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
            chunks: chunks.into_iter().map(recorded).collect::<Result<_>>()?,
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
}
