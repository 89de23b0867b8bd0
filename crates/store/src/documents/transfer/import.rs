//! Finds and writes the rows of imported documents.

use rusqlite::{Connection, named_params};

use crate::PassageHash;
use crate::db::binding::{self, BindingSlot};
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::db::{columns, sql};
use crate::document::Chunk;
use crate::error::Error;
use crate::ids::{ChunkId, DocumentId};
use crate::keyword::words::WordCounts;
use crate::keyword::{derived, grams};
use crate::vectors::blocks::is_unit;
use crate::vectors::{self, VectorWriter};

use super::{DocumentRecord, RecordedChunk};
use crate::documents::replace::SAME_DOCUMENT;
use crate::documents::{path_rows, tags};

/// Whether a document has another one's content and no file.
const LACKS_FILE: &str = "
    SELECT EXISTS (
        SELECT 1
        FROM documents
        WHERE id = :id AND content_hash = :content_hash AND source_path IS NULL
    )";

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

/// Returns the document with the same content, read the same way.
pub(crate) fn same_content(db: &Connection, record: &DocumentRecord) -> Step<Option<DocumentId>> {
    let params = named_params! {
        ":content_hash": record.content_hash,
        ":doc_type": record.doc_type.as_str(),
        ":language": record.language,
        ":known_id": None::<DocumentId>,
    };
    sql::first_row(db, SAME_DOCUMENT, params, |row| row.get(0))
}

pub(crate) fn at_path(db: &Connection, record: &DocumentRecord) -> Step<Option<DocumentId>> {
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
pub(crate) fn adopt_paths(db: &Connection, id: DocumentId, record: &DocumentRecord) -> Step<bool> {
    if record.paths.is_empty() {
        return Ok(false);
    }
    let params = named_params! { ":id": id, ":content_hash": record.content_hash };
    let lacks_file: bool = sql::value(db, LACKS_FILE, params)?;
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

pub(crate) fn insert(
    db: &Connection,
    record: &DocumentRecord,
    layout: DirectReadSupport,
) -> Step<DocumentId> {
    let id = insert_document(db, record)?;
    for stamp in &record.paths {
        path_rows::remember(db, id, stamp)?;
    }
    tags::link(db, id, &record.tags)?;
    insert_chunks(db, id, &record.chunks, layout)?;
    Ok(id)
}

fn insert_document(db: &Connection, record: &DocumentRecord) -> Step<DocumentId> {
    record.check_metadata().map_err(Error::usage)?;
    let is_taken = tags::exists(db, record.id)?;
    let params = named_params! {
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
    };
    sql::value(db, INSERT_DOCUMENT, params)
}

pub(crate) fn insert_chunks(
    db: &Connection,
    id: DocumentId,
    chunks: &[RecordedChunk],
    layout: DirectReadSupport,
) -> Step<()> {
    let dim = binding::load(db, BindingSlot::Current)?.map_or(0, |binding| binding.dim);
    let dim = usize::try_from(dim).unwrap_or(usize::MAX);
    let ids = columns::to_json(&chunks.iter().map(|chunk| chunk.id).collect::<Vec<_>>())?;
    let is_taken: bool = sql::value(db, HAS_CHUNK, named_params! { ":ids": ids })?;
    let mut writer = VectorWriter::new(db, layout)?;
    let mut words = WordCounts::default();
    let language = grams::language(db, id)?;
    for (chunk_index, chunk) in (0_u32..).zip(chunks) {
        let vector = chunk.vector.as_deref().unwrap_or_default();
        if !is_unit(&vectors::to_blob(vector), dim) {
            let message =
                format!("the vector of its chunk {chunk_index} does not fit this database");
            return Err(Error::usage(message).into());
        }
        let passage = Chunk::passage(&chunk.context, &chunk.text);
        let params = named_params! {
            // Either all chunks keep their ids, or all get new ones.
            ":id": (!is_taken).then_some(chunk.id),
            ":document_id": id,
            ":chunk_index": chunk_index,
            ":text": chunk.text,
            ":context": chunk.context,
            ":token_count": chunk.token_count,
            ":passage_hash": PassageHash::of(&passage).bytes(),
            ":metadata": chunk.metadata,
        };
        let chunk_id: ChunkId = sql::value(db, INSERT_CHUNK, params)?;
        derived::insert(db, chunk_id, &chunk.context, &chunk.text, language)?;
        words.count(&chunk.context, &chunk.text);
        writer.insert_vector(chunk_id, vector)?;
        if let Some(codes) = &chunk.codes {
            vectors::tokens::insert(db, chunk_id, codes)?;
        }
    }
    words.add(db)?;
    writer.finish()
}
