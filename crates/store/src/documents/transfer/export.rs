//! Reads documents for an export, all from one state of the database.

use rusqlite::{Connection, named_params};

use crate::Store;
use crate::db::fault::Step;
use crate::db::row::StoredRow;
use crate::db::{columns, sql};
use crate::document::DocType;
use crate::error::Result;
use crate::ids::DocumentId;

use super::{DocumentRecord, RecordedChunk};
use crate::documents::edits::{self, Edits};
use crate::documents::{chunks, path_rows};

const IDS: &str = "SELECT id FROM documents ORDER BY id";

const WANTED_IDS: &str = "
    SELECT documents.id
    FROM json_each(:ids) AS wanted
    CROSS JOIN documents ON documents.id = wanted.value
    ORDER BY wanted.key";

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

const CHUNKS: &str = "
    SELECT id, text, context, token_count, metadata
    FROM chunks
    WHERE document_id = :id
    ORDER BY chunk_index";

impl Store {
    /// Passes these documents to `on_record`, or every document, ordered by id; all from one state of the database.
    /// Unknown ids are skipped.
    pub fn export(
        &self,
        ids: Option<&[DocumentId]>,
        with_vectors: bool,
        mut on_record: impl FnMut(DocumentRecord) -> Result<()>,
    ) -> Result<()> {
        self.read(|db| {
            let with_vectors = with_vectors && self.check_bound(db)?.is_some();
            let ids: Vec<DocumentId> = match ids {
                Some(ids) => {
                    let params = named_params! { ":ids": columns::to_json(ids)? };
                    sql::rows(db, WANTED_IDS, params, |row| row.get(0))?
                }
                None => sql::rows(db, IDS, [], |row| row.get(0))?,
            };
            ids.into_iter().try_for_each(|id| Ok(on_record(record(db, id, with_vectors)?)?))
        })
    }
}

fn record(db: &Connection, id: DocumentId, with_vectors: bool) -> Step<DocumentRecord> {
    let params = named_params! { ":id": id };
    let mut record = db.prepare_cached(DOCUMENT)?.query_row(params, |row| {
        let row = &StoredRow::of(row);
        Ok(DocumentRecord {
            id,
            title: row.get("title")?,
            is_title_given: row.get("title_given")?,
            path: row.get("source_path")?,
            content_hash: row.get("content_hash")?,
            doc_type: columns::named_column(row, "doc_type", DocType::Markdown)?,
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
    // This returns all paths but the empty one, which no document has.
    record.paths = path_rows::others(db, id, "")?;
    record.chunks = sql::rows(db, CHUNKS, params, recorded_chunk)?;
    if with_vectors {
        for chunk in &mut record.chunks {
            chunk.vector = chunks::vector(db, chunk.id)?;
        }
    }
    Ok(record)
}

fn recorded_chunk(row: &StoredRow<'_>) -> rusqlite::Result<RecordedChunk> {
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
