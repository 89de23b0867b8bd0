//! Exports and imports documents with everything stored about them.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::document::{Chunk, DocType, Format, Language};
use crate::error::{Error, Result};
use crate::ids::{ChunkId, DocumentId};

use super::edits::{self, Edits};
use super::replace::SAME_DOCUMENT;
use super::{path_rows, rows, tags};
use crate::db::binding::Slot;
use crate::db::fault::Step;
use crate::db::layout::Layout;
use crate::db::{binding, columns};
use crate::keyword::grams;
use crate::vectors::VectorWriter;
use crate::vectors::blocks::is_unit;
use crate::{PassageHash, PathStamp, Store, vectors};

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

/// The result of importing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It was added under this id.
    Added(DocumentId),
    /// The same content, read the same way, already exists, or another document is at its path.
    Known(DocumentId),
}

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

/// Whether a document has another one's content and no file.
const LACKS_FILE: &str = "
    SELECT EXISTS (
        SELECT 1
        FROM documents
        WHERE id = :id AND content_hash = :content_hash AND source_path IS NULL
    )";

const HAS_DOCUMENT: &str = "SELECT EXISTS (SELECT 1 FROM documents WHERE id = :id)";

const HAS_CHUNK: &str = "
    SELECT EXISTS (
        SELECT 1 FROM chunks WHERE id IN (SELECT value FROM json_each(:ids))
    )";

const INSERT_DOCUMENT: &str = "
    INSERT INTO documents
        (id, title, title_given, source_path, content_hash, doc_type, language,
         created_at, updated_at, metadata, making, note_text, edits)
    VALUES
        (:id, :title, :title_given, :path, :content_hash, :doc_type, :language,
         :created_at, :updated_at, :metadata, :making, :note_text, :edits)
    RETURNING id";

const INSERT_CHUNK: &str = "
    INSERT INTO chunks
        (id, document_id, chunk_index, text, context, token_count, passage_hash, metadata)
    VALUES
        (:id, :document_id, :chunk_index, :text, :context, :token_count, :passage_hash, :metadata)
    RETURNING id";

impl Store {
    /// Passes every document to `on_record`, ordered by id, all from one state of the database.
    ///
    /// # Errors
    ///
    /// Errors of `on_record`; [`Error::Corrupt`] and other errors of the database.
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
                let params = named_params! { ":id": id };
                let exists: bool =
                    db.prepare_cached(HAS_DOCUMENT)?.query_row(params, |row| row.get(0))?;
                if exists {
                    on_record(record(db, id, with_vectors)?)?;
                }
            }
            Ok(())
        })
    }

    /// Imports a document in one transaction. It and its chunks keep their ids if those are free.
    /// If its content or one of its paths is known, the existing document stays unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if a chunk has no vector or one of another width, or if metadata cannot be
    /// read; [`Error::ModelMismatch`], and other errors of the database. Nothing is changed in
    /// these cases.
    pub fn import(&mut self, record: &Record) -> Result<ImportOutcome> {
        let bound = self.bound.borrow().clone();
        let layout = self.layout_to_write()?;
        self.write(|db| {
            binding::check(db, bound.as_ref())?;
            if let Some(id) = known(db, record)? {
                return Ok(ImportOutcome::Known(id));
            }
            Ok(ImportOutcome::Added(insert(db, record, layout)?))
        })
    }
}

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

/// Returns the document that prevents importing this one.
fn known(db: &Connection, record: &Record) -> Step<Option<DocumentId>> {
    match same_content(db, record)? {
        Some(id) => Ok(Some(id)),
        None => at_path(db, record),
    }
}

/// Returns the document with the same content, read the same way.
pub(super) fn same_content(db: &Connection, record: &Record) -> Step<Option<DocumentId>> {
    let params = named_params! {
        ":content_hash": record.content_hash,
        ":doc_type": record.doc_type.as_str(),
        ":language": record.language,
        ":known_id": None::<DocumentId>,
    };
    Ok(db.prepare_cached(SAME_DOCUMENT)?.query_row(params, |row| row.get(0)).optional()?)
}

/// Returns the document at one of its paths.
pub(super) fn at_path(db: &Connection, record: &Record) -> Step<Option<DocumentId>> {
    for stamp in &record.paths {
        if let Some(known) = path_rows::known(db, &stamp.path)? {
            return Ok(Some(known.document_id));
        }
    }
    Ok(None)
}

/// Gives a document without a file the paths of a record with the same content, except those of
/// other documents; returns whether there are any. A document with a file, or with other content,
/// is unchanged.
pub(super) fn adopt_paths(db: &Connection, id: DocumentId, record: &Record) -> Step<bool> {
    if record.paths.is_empty() {
        return Ok(false);
    }
    let params = named_params! { ":id": id, ":content_hash": record.content_hash };
    let lacks_file: bool = db.prepare_cached(LACKS_FILE)?.query_row(params, |row| row.get(0))?;
    let mut is_adopted = false;
    for stamp in record.paths.iter().filter(|_| lacks_file) {
        if path_rows::known(db, &stamp.path)?.is_none() {
            path_rows::remember(db, id, stamp)?;
            if record.path.as_ref() == Some(&stamp.path) {
                path_rows::set_primary(db, id, &stamp.path)?;
            }
            is_adopted = true;
        }
    }
    Ok(is_adopted)
}

/// Inserts a document with everything that belongs to it.
pub(super) fn insert(db: &Connection, record: &Record, layout: Layout) -> Step<DocumentId> {
    let id = insert_document(db, record)?;
    for stamp in &record.paths {
        path_rows::remember(db, id, stamp)?;
    }
    tags::link(db, id, &record.tags)?;
    insert_chunks(db, id, &record.chunks, layout)?;
    Ok(id)
}

fn insert_document(db: &Connection, record: &Record) -> Step<DocumentId> {
    let refuse = |message: String| Error::usage(message);
    record.check_metadata().map_err(refuse)?;
    let params = named_params! { ":id": record.id };
    let is_taken: bool = db.prepare_cached(HAS_DOCUMENT)?.query_row(params, |row| row.get(0))?;
    Ok(db.prepare_cached(INSERT_DOCUMENT)?.query_row(
        named_params! {
            ":id": (!is_taken).then_some(record.id),
            ":title": record.title,
            ":title_given": record.is_title_given,
            ":path": record.path,
            ":content_hash": record.content_hash,
            ":doc_type": record.doc_type.as_str(),
            ":language": record.language,
            ":created_at": record.created_at,
            ":updated_at": record.updated_at,
            ":metadata": record.metadata,
            ":making": record.making,
            ":note_text": record.note_text,
            ":edits": record.edits.to_json()?,
        },
        |row| row.get(0),
    )?)
}

pub(super) fn insert_chunks(
    db: &Connection,
    id: DocumentId,
    chunks: &[RecordedChunk],
    layout: Layout,
) -> Step<()> {
    let dim = binding::load(db, Slot::Current)?.map_or(0, |binding| binding.dim);
    let dim = usize::try_from(dim).unwrap_or(usize::MAX);
    let ids = columns::to_json(&chunks.iter().map(|chunk| chunk.id).collect::<Vec<_>>())?;
    let params = named_params! { ":ids": ids };
    let is_taken: bool = db.prepare_cached(HAS_CHUNK)?.query_row(params, |row| row.get(0))?;
    let mut statement = db.prepare_cached(INSERT_CHUNK)?;
    let mut writer = VectorWriter::new(db, layout)?;
    let language = grams::language(db, id)?;
    for (chunk_index, chunk) in (0_u32..).zip(chunks) {
        let vector = chunk.vector.as_deref().unwrap_or_default();
        if !is_unit(&vectors::to_blob(vector), dim) {
            return Err(invalid_chunk(chunk_index, "vector").into());
        }
        let passage = Chunk::passage(&chunk.context, &chunk.text);
        let chunk_id: ChunkId = statement.query_row(
            named_params! {
                ":id": (!is_taken).then_some(chunk.id),
                ":document_id": id,
                ":chunk_index": chunk_index,
                ":text": chunk.text,
                ":context": chunk.context,
                ":token_count": chunk.token_count,
                ":passage_hash": PassageHash::of(&passage).bytes(),
                ":metadata": chunk.metadata,
            },
            |row| row.get(0),
        )?;
        grams::insert(db, chunk_id, &chunk.context, &chunk.text, language)?;
        writer.insert_vector(chunk_id, vector)?;
        if let Some(codes) = &chunk.codes {
            vectors::tokens::insert(db, chunk_id, codes)?;
        }
    }
    writer.finish()
}

fn invalid_chunk(chunk_index: u32, what: &str) -> Error {
    let message = format!("the {what} of its chunk {chunk_index} does not fit this database");
    Error::usage(message)
}

#[cfg(test)]
mod tests;
