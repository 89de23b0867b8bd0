//! Replaces all vectors by another model's, if there are any, and binds the database to that model.
//!
//! New vectors are collected in `chunks_vec_next`, and chunks that had to be split again in
//! `chunks_next`; neither is searched. Meanwhile documents are added and removed under the old
//! binding. The switch is one transaction, and searches do not notice it before. An interrupted
//! reindex continues where it stopped.

use rusqlite::{Connection, Row, named_params};

use crate::document::{Binding, Chunk, Embedding};
use crate::error::{Error, Result};
use crate::ids::{ChunkId, DocumentId};

use super::sums::BlockChecksums;
use super::{floor, tokens};
use crate::db::binding::{self, BindingSlot};
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::db::{erasing, sql};
use crate::documents::{chunks, replace, rows};
use crate::{Store, vectors};

/// The progress of a reindex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReindexProgress {
    /// Chunks that have a vector of the new model.
    pub num_embedded: u32,
    /// Number of all chunks.
    pub num_chunks: u32,
}

/// The amount of work of a reindex.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReindexExtent {
    /// Number of all chunks.
    pub num_chunks: u64,
    /// Tokens of all chunks, as the present model counts them.
    pub num_tokens: u64,
    /// Size of the codes of their tokens in bytes.
    pub code_bytes: u64,
}

/// A chunk without a vector of the new model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnembeddedChunk {
    /// Its key.
    pub chunk_id: ChunkId,
    /// The chunk, with the number of tokens that the present model counts.
    pub chunk: Chunk,
    /// Whether it is source code.
    pub is_code: bool,
}

/// The chunks and vectors that the new model makes of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct RenewedChunk {
    /// The chunk's key.
    pub chunk_id: ChunkId,
    /// Chunks and embeddings that take its place: itself, or the pieces that the new model can read.
    pub pieces: Vec<(Chunk, Embedding)>,
    /// Whether it was split.
    pub is_split: bool,
}

impl RenewedChunk {
    /// A chunk that is not split, with its new embedding.
    pub fn kept(found: &UnembeddedChunk, embedding: Embedding) -> Self {
        let pieces = vec![(found.chunk.clone(), embedding)];
        Self { chunk_id: found.chunk_id, pieces, is_split: false }
    }
}

const PROGRESS: &str = "
    SELECT
        (SELECT count(*) FROM chunks_vec_next)
            + (SELECT count(DISTINCT chunk_id) FROM chunks_next) AS num_embedded,
        (SELECT count(*) FROM chunks) AS num_chunks";

const EXTENT: &str = "
    SELECT
        count(*) AS num_chunks,
        coalesce(sum(token_count), 0) AS num_tokens,
        (SELECT coalesce(sum(length(codes)), 0) FROM chunks_tokens) AS code_bytes
    FROM chunks";

const FORGET: &str = "
    DELETE FROM chunks_vec_next;
    DELETE FROM chunks_next;";

const UNEMBEDDED: &str = "
    SELECT
        chunks.id AS chunk_id,
        chunks.chunk_index,
        chunks.text,
        chunks.context,
        chunks.token_count,
        chunks.metadata AS chunk_metadata,
        documents.doc_type = 'code' AS is_code
    FROM chunks
    JOIN documents ON documents.id = chunks.document_id
    WHERE chunks.id > :after
        AND NOT EXISTS (SELECT 1 FROM chunks_vec_next WHERE chunk_id = chunks.id)
        AND NOT EXISTS (SELECT 1 FROM chunks_next WHERE chunk_id = chunks.id)
    ORDER BY chunks.id
    LIMIT :limit";

/// Skips a chunk that was removed while it was embedded.
const INSERT_NEXT: &str = "
    INSERT OR REPLACE INTO chunks_vec_next (chunk_id, embedding, token_count, codes)
    SELECT id, :embedding, :token_count, :codes FROM chunks WHERE id = :chunk_id";

const INSERT_PIECE: &str = "
    INSERT OR REPLACE INTO chunks_next
        (chunk_id, piece, text, context, token_count, metadata, embedding, codes)
    SELECT id, :piece, :text, :context, :token_count, :metadata, :embedding, :codes
    FROM chunks
    WHERE id = :chunk_id";

const SPLIT_DOCUMENTS: &str = "
    SELECT DISTINCT chunks.document_id
    FROM chunks_next
    JOIN chunks ON chunks.id = chunks_next.chunk_id
    ORDER BY 1";

/// The chunks that a document gets: its own, with pieces instead of those that were split.
const NEXT_CHUNKS: &str = "
    SELECT
        chunks.id AS chunk_id,
        chunks.chunk_index,
        coalesce(chunks_next.text, chunks.text) AS text,
        coalesce(chunks_next.context, chunks.context) AS context,
        coalesce(chunks_next.token_count, chunks_vec_next.token_count) AS token_count,
        coalesce(chunks_next.metadata, chunks.metadata) AS chunk_metadata,
        coalesce(chunks_next.embedding, chunks_vec_next.embedding) AS embedding,
        coalesce(chunks_next.codes, chunks_vec_next.codes) AS codes
    FROM chunks
    LEFT JOIN chunks_vec_next ON chunks_vec_next.chunk_id = chunks.id
    LEFT JOIN chunks_next ON chunks_next.chunk_id = chunks.id
    WHERE chunks.document_id = :document_id
    ORDER BY chunks.chunk_index, chunks_next.piece";

/// Keeps the text of a note in one piece before its only chunk is split.
const KEEP_NOTE: &str = "
    UPDATE documents
    SET note_text = (SELECT text FROM chunks WHERE document_id = :id)
    WHERE id = :id
        AND doc_type = 'note'
        AND source_path IS NULL
        AND note_text IS NULL
        AND (SELECT count(*) FROM chunks WHERE document_id = :id) = 1";

/// Forgets how a document was made: no settings give the chunks of a text that was cut again, so that
/// they count as made differently under every model.
const FORGET_MAKING: &str = "UPDATE documents SET making = NULL WHERE id = :id";

const COUNT_AGAIN: &str = "
    UPDATE chunks
    SET token_count = chunks_vec_next.token_count
    FROM chunks_vec_next
    WHERE chunks_vec_next.chunk_id = chunks.id
        AND chunks_vec_next.token_count IS NOT NULL
        AND chunks.token_count IS NOT chunks_vec_next.token_count";

const TAKE_OVER: &str = "
    INSERT INTO chunks_vec (chunk_id, embedding)
    SELECT chunk_id, embedding FROM chunks_vec_next ORDER BY chunk_id";

const TAKEN_OVER: &str = "
    SELECT chunk_id, embedding, codes FROM chunks_vec_next ORDER BY chunk_id";

impl Store {
    /// Begins to change the database to another model, or continues an interrupted change to that
    /// model. Drops the vectors of an unfinished change to yet another model.
    pub fn begin_reindex(&mut self, wanted: &Binding) -> Result<ReindexProgress> {
        let progress = self.write(|db| {
            if !binding::load(db, BindingSlot::Next)?.is_some_and(|next| next.fits(wanted)) {
                db.execute_batch(FORGET)?;
                binding::save(db, BindingSlot::Next, wanted)?;
            }
            progress(db)
        })?;
        self.reindexing = Some(wanted.clone());
        Ok(progress)
    }

    /// Returns how much a reindex has to do.
    pub fn reindex_extent(&self) -> Result<ReindexExtent> {
        self.read(|db| {
            Ok(db.query_row(EXTENT, [], |row| {
                Ok(ReindexExtent {
                    num_chunks: number(row, "num_chunks")?,
                    num_tokens: number(row, "num_tokens")?,
                    code_bytes: number(row, "code_bytes")?,
                })
            })?)
        })
    }

    /// Returns the target and the progress of an interrupted reindex; `None` if none was begun.
    pub fn interrupted_reindex(&self) -> Result<Option<(Binding, ReindexProgress)>> {
        self.read(|db| match binding::load(db, BindingSlot::Next)? {
            Some(wanted) => Ok(Some((wanted, progress(db)?))),
            None => Ok(None),
        })
    }

    /// Returns the next chunks without a vector of the new model: at most `limit`, ordered by id,
    /// all with ids above `after`.
    pub fn unembedded(&self, after: ChunkId, limit: u32) -> Result<Vec<UnembeddedChunk>> {
        let params = named_params! { ":after": after, ":limit": limit };
        self.read(|db| {
            sql::rows(db, UNEMBEDDED, params, |row| {
                let stored = rows::stored_chunk(row)?;
                let is_code = row.get("is_code")?;
                Ok(UnembeddedChunk { chunk_id: stored.id, chunk: stored.chunk, is_code })
            })
        })
    }

    /// Stores what the new model makes of chunks, in one transaction.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] if another process has begun a change to yet another model.
    pub fn store_reindexed(&mut self, renewed: &[RenewedChunk]) -> Result<()> {
        let reindexing = self.reindexing.clone();
        self.write(|db| {
            let wanted = check(db, reindexing.as_ref())?;
            let mut vector_of_chunk = db.prepare_cached(INSERT_NEXT)?;
            let mut piece_of_chunk = db.prepare_cached(INSERT_PIECE)?;
            for RenewedChunk { chunk_id, pieces, is_split } in renewed {
                for ((chunk, embedding), piece) in pieces.iter().zip(0_u32..) {
                    let Embedding { vector, codes } = embedding;
                    vectors::require_unit_shape(vector, wanted.dim)?;
                    let (embedding, token_count) = (vectors::to_blob(vector), chunk.token_count);
                    if *is_split {
                        piece_of_chunk.execute(named_params! {
                            ":chunk_id": chunk_id,
                            ":piece": piece,
                            ":text": chunk.text,
                            ":context": chunk.context,
                            ":token_count": token_count,
                            ":metadata": rows::chunk_json(chunk)?,
                            ":embedding": embedding,
                            ":codes": codes,
                        })?;
                    } else {
                        vector_of_chunk.execute(named_params! {
                            ":chunk_id": chunk_id,
                            ":embedding": embedding,
                            ":token_count": token_count,
                            ":codes": codes,
                        })?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Switches to the new model in one transaction if each chunk has a vector of it. Otherwise
    /// changes nothing and returns the progress. Done when `num_embedded` is `num_chunks`.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] if another process has begun a change to yet another model.
    pub fn finish_reindex(&mut self) -> Result<ReindexProgress> {
        let reindexing = self.reindexing.clone();
        // A database without a model has no table of vectors yet; this kb makes it.
        let layout = DirectReadSupport { knows_vec0: true, ..self.layout_to_write()? };
        let (progress, wanted) = self.write(|db| {
            let wanted = check(db, reindexing.as_ref())?;
            let progress = progress(db)?;
            if progress.num_embedded == progress.num_chunks {
                vectors::make_table(db, wanted.dim)?;
                split_chunks(db, layout)?;
                db.execute(COUNT_AGAIN, [])?;
                db.execute(TAKE_OVER, [])?;
                add_sums_and_codes(db)?;
                db.execute_batch(FORGET)?;
                erasing::mark(db)?;
                binding::save(db, BindingSlot::Current, &wanted)?;
                binding::clear(db, BindingSlot::Next)?;
                vectors::encode_from(db, 1)?;
                floor::save(db)?;
            }
            Ok((progress, wanted))
        })?;
        if progress.num_embedded == progress.num_chunks {
            self.reindexing = None;
            *self.bound.borrow_mut() = Some(wanted);
        }
        Ok(progress)
    }
}

/// Returns the target binding, which must be the one this store began with.
fn check(db: &Connection, begun: Option<&Binding>) -> Step<Binding> {
    let begun = begun.ok_or_else(|| Error::Store("no reindex is in progress".into()))?;
    match binding::load(db, BindingSlot::Next)? {
        Some(found) if found.fits(begun) => Ok(found),
        Some(found) => Err(binding::mismatch(&found, begun).into()),
        // Another process has finished the same change.
        None => match binding::load(db, BindingSlot::Current)? {
            Some(found) if !found.fits(begun) => Err(binding::mismatch(&found, begun).into()),
            _ => Err(Error::Store("the reindex was finished by another process".into()).into()),
        },
    }
}

/// Replaces the chunks of each document in which some were split, one document at a time.
fn split_chunks(db: &Connection, layout: DirectReadSupport) -> Step<()> {
    let documents: Vec<DocumentId> = sql::rows(db, SPLIT_DOCUMENTS, [], |row| row.get(0))?;
    for id in documents {
        let params = named_params! { ":document_id": id };
        let (chunks, embeddings): (Vec<_>, Vec<_>) = sql::rows(db, NEXT_CHUNKS, params, |row| {
            let vector = vectors::from_column(row, "embedding")?;
            let embedding = Embedding { vector, codes: row.get("codes")? };
            Ok((rows::stored_chunk(row)?.chunk, embedding))
        })?;
        sql::run(db, KEEP_NOTE, named_params! { ":id": id })?;
        sql::run(db, FORGET_MAKING, named_params! { ":id": id })?;
        replace::remove_chunks(db, id)?;
        chunks::insert(db, id, &chunks, &embeddings, layout)?;
    }
    Ok(())
}

/// Stores checksums of the new vectors, as the model gave them, and the codes of tokens.
fn add_sums_and_codes(db: &Connection) -> Step<()> {
    let mut sums = BlockChecksums::default();
    let mut vectors = db.prepare(TAKEN_OVER)?;
    let mut vectors = vectors.query([])?;
    while let Some(row) = vectors.next()? {
        let chunk_id = row.get(0)?;
        sums.add(db, chunk_id, &row.get::<_, Vec<u8>>(1)?)?;
        if let Some(codes) = row.get::<_, Option<Vec<u8>>>(2)? {
            tokens::insert(db, chunk_id, &codes)?;
        }
    }
    sums.save(db)
}

fn progress(db: &Connection) -> Step<ReindexProgress> {
    Ok(db.query_row(PROGRESS, [], |row| {
        Ok(ReindexProgress { num_embedded: row.get(0)?, num_chunks: row.get(1)? })
    })?)
}

fn number(row: &Row<'_>, name: &str) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(name)?).unwrap_or(0))
}

#[cfg(test)]
mod tests;
