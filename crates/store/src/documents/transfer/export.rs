//! Reads documents for an export, all from one state of the database.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::db::columns;
use crate::db::fault::Step;
use crate::error::Result;
use crate::ids::DocumentId;
use crate::{Store, vectors};

use super::{Record, RecordedChunk, exists};
use crate::documents::edits::{self, Edits};
use crate::documents::path_rows;

const IDS: &str = "SELECT id FROM documents ORDER BY id";

const DOCUMENT: &str = "
    SELECT
        documents.*,
        (
            SELECT json_group_array(tags.name ORDER BY tags.name)
            FROM document_tags
            JOIN tags ON tags.id = document_tags.tag_id
            WHERE document_tags.document_id = documents.id
        ) AS tags
    FROM documents
    WHERE id = :id";

const PATHS: &str = "
    SELECT path, size_bytes, mtime_ns, real_path
    FROM document_paths
    WHERE document_id = :id
    ORDER BY path";

const CHUNKS: &str = "
    SELECT id, text, context, token_count, metadata
    FROM chunks
    WHERE document_id = :id
    ORDER BY chunk_index";

impl Store {
    /// Passes every document to `on_record`, ordered by id, all from one state of the database.
    ///
    /// # Errors
    ///
    /// Errors of `on_record`; [`Error::Corrupt`](crate::error::Error::Corrupt) and other errors of the database.
    pub fn export(
        &self,
        with_vectors: bool,
        mut on_record: impl FnMut(Record) -> Result<()>,
    ) -> Result<()> {
        self.read(|db| {
            let with_vectors = with_vectors && self.check_bound(db)?.is_some();
            let mut ids = db.prepare_cached(IDS)?;
            let mut ids = ids.query([])?;
            while let Some(row) = ids.next()? {
                on_record(record(db, row.get(0)?, with_vectors)?)?;
            }
            Ok(())
        })
    }

    /// Passes these documents to `on_record`, all from one state of the database; unknown ids are
    /// skipped.
    ///
    /// # Errors
    ///
    /// As [`Store::export`].
    pub fn export_documents(
        &self,
        ids: &[DocumentId],
        with_vectors: bool,
        mut on_record: impl FnMut(Record) -> Result<()>,
    ) -> Result<()> {
        self.read(|db| {
            let with_vectors = with_vectors && self.check_bound(db)?.is_some();
            for &id in ids {
                if exists(db, id)? {
                    on_record(record(db, id, with_vectors)?)?;
                }
            }
            Ok(())
        })
    }
}

fn record(db: &Connection, id: DocumentId, with_vectors: bool) -> Step<Record> {
    let mut paths = db.prepare_cached(PATHS)?;
    let mut recorded = db.prepare_cached(CHUNKS)?;
    let params = named_params! { ":id": id };
    let mut record = db.prepare_cached(DOCUMENT)?.query_row(params, |row| {
        Ok(Record {
            id,
            title: row.get("title")?,
            is_title_given: row.get("title_given")?,
            path: row.get("source_path")?,
            content_hash: row.get("content_hash")?,
            doc_type: columns::named_column(row, "doc_type")?,
            language: row.get("language")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
            metadata: row.get("metadata")?,
            making: row.get("making")?,
            note_text: row.get("note_text")?,
            edits: Edits::default(),
            tags: columns::json_column(row, "tags")?,
            paths: Vec::new(),
            chunks: Vec::new(),
        })
    })?;
    record.edits = edits::read(db, id)?;
    record.paths = paths.query_map(params, path_rows::stamp)?.collect::<Result<_, _>>()?;
    record.chunks = recorded.query_map(params, recorded_chunk)?.collect::<Result<_, _>>()?;
    if with_vectors {
        let mut vector = db.prepare_cached(vectors::VECTOR)?;
        for chunk in &mut record.chunks {
            let params = named_params! { ":chunk_id": chunk.id };
            chunk.vector = vector.query_row(params, vectors::from_row).optional()?;
        }
    }
    Ok(record)
}

fn recorded_chunk(row: &Row<'_>) -> rusqlite::Result<RecordedChunk> {
    Ok(RecordedChunk {
        id: row.get("id")?,
        text: row.get("text")?,
        context: row.get("context")?,
        token_count: row.get::<_, Option<u32>>("token_count")?.unwrap_or(0),
        metadata: row.get("metadata")?,
        vector: None,
        codes: None,
    })
}
