//! Brings a copy up to date: only documents and blocks of chunks whose fingerprints differ are sent.
//!
//! The copy itself holds the fingerprints, so nothing is remembered here, and a push that was killed is
//! continued by the next one. Each block is replaced in one transaction. Documents come before their
//! chunks, and go after them.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::pin::pin;

use futures_util::SinkExt as _;
use tokio_postgres::Transaction;

use super::RemoteLink;
use super::copy::CopyRows;
use super::postings::{self, ChunkPlaces};
use super::state::{CopyState, MAX_DIM};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::wording::{kb, wording};
use crate::{
    BLOCK_BITS, ChunkSizes, Fingerprint, Mirror, MirroredChunk, MirroredDocument, MirroredWords,
    Splitter, Store, TermIndex, TermPlace, fingerprint,
};

const SCHEMA: &str = include_str!("schema.sql");

/// Only those of this schema: a later one of the search path may have another copy.
const DROP: &str = "
    DO $$
    DECLARE
        name text;
    BEGIN
        FOREACH name IN ARRAY ARRAY[
            'kb_state', 'kb_documents', 'kb_chunks', 'kb_vectors', 'kb_blocks', 'kb_postings',
            'kb_words'
        ]
        LOOP
            EXECUTE format('DROP TABLE IF EXISTS %I.%I', current_schema(), name);
        END LOOP;
    END
    $$";

/// The number stands for kb; a second push of the same schema waits for nothing and fails.
const LOCK: &str = "SELECT pg_try_advisory_lock(27490, hashtext(current_schema()))";

const DOCUMENTS: &str = "SELECT id, fingerprint FROM kb_documents";

const BLOCKS: &str = "SELECT block, fingerprint FROM kb_blocks";

const REMOVE_DOCUMENTS: &str = "DELETE FROM kb_documents WHERE id = ANY ($1)";

const REMOVE_CHUNKS: &str = "DELETE FROM kb_chunks WHERE id BETWEEN $1 AND $2";

const REMOVE_VECTORS: &str = "DELETE FROM kb_vectors WHERE chunk_id BETWEEN $1 AND $2";

const REMOVE_POSTINGS: &str = "DELETE FROM kb_postings WHERE block = $1";

const REMOVE_BLOCK: &str = "DELETE FROM kb_blocks WHERE block = $1";

const INSERT_BLOCK: &str = "INSERT INTO kb_blocks (block, fingerprint, sizes) VALUES ($1, $2, $3)";

const COPY_DOCUMENTS: &str = "
    COPY kb_documents (id, fingerprint, title, path, paths, doc_type, language, tags, date, date_origin,
        content_hash, metadata, total_chunks, added)
    FROM STDIN BINARY";

const COPY_CHUNKS: &str = "
    COPY kb_chunks (id, document_id, chunk_index, text, context, token_count, metadata, codes)
    FROM STDIN BINARY";

const COPY_VECTORS: &str = "COPY kb_vectors (chunk_id, embedding) FROM STDIN BINARY";

const COPY_POSTINGS: &str = "COPY kb_postings (index, term, block, entries) FROM STDIN BINARY";

const WORDS: &str = "SELECT initial, length, fingerprint FROM kb_words";

const REMOVE_WORDS: &str = "
    DELETE FROM kb_words
    USING unnest($1::bigint[], $2::bigint[]) AS gone (initial, length)
    WHERE kb_words.initial = gone.initial AND kb_words.length = gone.length";

const COPY_WORDS: &str = "COPY kb_words (initial, length, fingerprint, words) FROM STDIN BINARY";

const ANALYZE: &str =
    "ANALYZE kb_documents, kb_chunks, kb_vectors, kb_blocks, kb_postings, kb_words";

/// Documents that are replaced in one transaction. It bounds memory, and what a killed push has to send again.
const DOCUMENTS_PER_STEP: usize = 256;

/// How far a push has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PushProgress {
    /// Blocks of chunks that were replaced.
    pub num_done: u64,
    /// Blocks to replace.
    pub num_blocks: u64,
}

/// Receives the progress of a push; an error ends it after the current block.
pub type OnProgress<'a> = dyn FnMut(PushProgress) -> Result<()> + 'a;

/// The changes that a push has made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PushSummary {
    /// Documents of the database.
    pub num_documents: u64,
    /// Documents that were new or changed.
    pub num_sent: u64,
    /// Documents that the database no longer has.
    pub num_removed: u64,
    /// Chunks that were sent. A block is sent whole, so unchanged neighbours count.
    pub num_chunks_sent: u64,
    /// Whether the copy was made from nothing: it was empty, or its vectors were of another model.
    pub is_fresh: bool,
}

/// Brings the copy behind a connection up to date with a database, whose id is `base_id`.
///
/// # Errors
///
/// [`crate::error::Error::Target`] for errors of the server, or if the copy is of another database; errors of the database and of
/// `on_progress`.
pub fn push(
    link: &mut RemoteLink,
    store: &Store,
    base_id: &str,
    on_progress: &mut OnProgress<'_>,
) -> Result<PushSummary> {
    // Two pushes at once would replace each other's blocks.
    let is_locked: bool = link.run(async |client| client.query_one(LOCK, &[]).await)?.get(0);
    if !is_locked {
        return Err(link.refuse("another push is running there", "try again when it has finished"));
    }
    let floor = store.cosine_floor()?;
    store.mirror(|mirror| {
        let state = CopyState {
            is_known: true,
            is_older: false,
            base_id: base_id.to_owned(),
            binding: mirror.binding.clone(),
            cosine_floor: floor,
            is_complete: false,
        };
        let is_fresh = prepare(link, &state)?;
        let mut push = PushRun { link, mirror, splitter: Splitter::new()? };
        let mut pushed = PushSummary { is_fresh, ..PushSummary::default() };
        let gone = push.documents(&mut pushed)?;
        push.blocks(&mut pushed, on_progress)?;
        push.words()?;
        pushed.num_removed = gone.len() as u64;
        push.link.run(async |client| {
            client.execute(REMOVE_DOCUMENTS, &[&gone]).await?;
            client.batch_execute(ANALYZE).await?;
            CopyState { is_complete: true, ..state }.write(client).await
        })?;
        Ok(pushed)
    })
}

/// Makes the tables, or makes them again for other vectors, and says that a push has begun. Returns whether
/// they are new.
fn prepare(link: &mut RemoteLink, state: &CopyState) -> Result<bool> {
    let dim = state.binding.as_ref().map_or(1, |binding| binding.dim);
    if dim > MAX_DIM {
        let reason = format!("pgvector does not support vectors with {dim} dimensions");
        let reindex = kb("reindex").option("--model", "NAME");
        return Err(link.refuse(reason, wording!("choose a smaller model: `{}`", reindex)));
    }
    let before = CopyState::read(link)?;
    if !before.base_id.is_empty() && before.base_id != state.base_id {
        return Err(link.refuse(
            "it has a copy of another knowledge base",
            "name another database or schema (`options=-csearch_path%3DNAME,public`), or drop the tables `kb_…`",
        ));
    }
    let is_same = match (&before.binding, &state.binding) {
        (Some(before), Some(binding)) => before.fits(binding),
        (before, binding) => before == binding,
    };
    let is_fresh = !before.is_known || before.is_older || !is_same;
    link.run(async |client| {
        let transaction = client.transaction().await?;
        if is_fresh {
            transaction.batch_execute(DROP).await?;
        }
        transaction.batch_execute(&SCHEMA.replace("{dim}", &dim.to_string())).await?;
        state.write(&transaction).await?;
        transaction.commit().await
    })?;
    Ok(is_fresh)
}

struct PushRun<'a> {
    link: &'a mut RemoteLink,
    mirror: &'a Mirror<'a>,
    splitter: Splitter,
}

impl PushRun<'_> {
    /// Sends new and changed documents. Returns those that only the copy has.
    fn documents(&mut self, pushed: &mut PushSummary) -> Result<Vec<i64>> {
        let mut there: HashMap<i64, Vec<u8>> = self.link.run(async |client| {
            let rows = client.query(DOCUMENTS, &[]).await?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
        })?;
        let mut changed: Vec<(MirroredDocument, Fingerprint)> = Vec::new();
        let (mirror, link) = (self.mirror, &mut *self.link);
        mirror.documents(|document| {
            pushed.num_documents += 1;
            let fingerprint = document.fingerprint();
            if there.remove(&document.id.0).is_none_or(|known| known != fingerprint) {
                changed.push((document, fingerprint));
                if changed.len() == DOCUMENTS_PER_STEP {
                    replace_documents(link, &changed)?;
                    pushed.num_sent += changed.len() as u64;
                    changed.clear();
                }
            }
            Ok(())
        })?;
        replace_documents(link, &changed)?;
        pushed.num_sent += changed.len() as u64;
        Ok(there.into_keys().collect())
    }

    /// Replaces the blocks that differ, and removes those that only the copy has.
    fn blocks(&mut self, pushed: &mut PushSummary, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let mut there: BTreeMap<i64, Vec<u8>> = self.link.run(async |client| {
            let rows = client.query(BLOCKS, &[]).await?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
        })?;
        let mut wanted = self.mirror.blocks()?;
        wanted.retain(|block, fingerprint| {
            there.remove(block).is_none_or(|known| known != *fingerprint)
        });
        let num_blocks = wanted.len() as u64;
        for (num_done, (block, fingerprint)) in (1..).zip(wanted) {
            let chunks = self.mirror.block(block)?;
            pushed.num_chunks_sent += chunks.len() as u64;
            self.replace_block(block, fingerprint, &chunks)?;
            on_progress(PushProgress { num_done, num_blocks })?;
        }
        for block in there.into_keys() {
            self.link.run(async |client| {
                let transaction = client.transaction().await?;
                remove_block(&transaction, block).await?;
                transaction.commit().await
            })?;
        }
        Ok(())
    }

    /// Replaces the words that differ, by their first letters and lengths.
    fn words(&mut self) -> Result<()> {
        let mut there: HashMap<(i64, i64), Vec<u8>> = self.link.run(async |client| {
            let rows = client.query(WORDS, &[]).await?;
            rows.iter()
                .map(|row| Ok(((row.try_get(0)?, row.try_get(1)?), row.try_get(2)?)))
                .collect()
        })?;
        let mut changed = Vec::new();
        let mut rows = CopyRows::new();
        for MirroredWords { initial, length, lines } in self.mirror.words()? {
            let fingerprint = fingerprint(&lines);
            let known = there.remove(&(initial, length));
            if known.as_deref() != Some(fingerprint.as_slice()) {
                changed.push((initial, length));
                rows.row(4).bigint(initial).bigint(length).bytes(&fingerprint).text(&lines);
            }
        }
        changed.extend(there.into_keys());
        // One statement, because a large copy has thousands of these groups, and `guard.rs` limits the answers to a request.
        let (initials, lengths): (Vec<i64>, Vec<i64>) = changed.into_iter().unzip();
        self.link.run(async |client| {
            let transaction = client.transaction().await?;
            transaction.execute(REMOVE_WORDS, &[&initials, &lengths]).await?;
            copy(&transaction, COPY_WORDS, rows).await?;
            transaction.commit().await
        })
    }

    fn replace_block(
        &mut self,
        block: i64,
        fingerprint: Fingerprint,
        chunks: &[MirroredChunk],
    ) -> Result<()> {
        let sizes: ChunkSizes =
            chunks.iter().map(|chunk| (chunk.id, chunk.document_id, chunk.token_count)).collect();
        let sizes = sizes.to_blocks().next().map(|(_, sizes)| sizes).unwrap_or_default();
        let terms = self.postings(block, chunks)?;
        let (texts, vectors) = chunk_rows(chunks);
        self.link.run(async |client| {
            let transaction = client.transaction().await?;
            remove_block(&transaction, block).await?;
            copy(&transaction, COPY_CHUNKS, texts).await?;
            copy(&transaction, COPY_VECTORS, vectors).await?;
            copy(&transaction, COPY_POSTINGS, terms).await?;
            transaction.execute(INSERT_BLOCK, &[&block, &fingerprint.as_slice(), &sizes]).await?;
            transaction.commit().await
        })
    }

    /// Returns a row for each term of a block.
    fn postings(&self, block: i64, chunks: &[MirroredChunk]) -> Result<CopyRows> {
        let mut rows = CopyRows::new();
        let mut last: Option<(TermIndex, String)> = None;
        let mut entries: Vec<ChunkPlaces> = Vec::new();
        self.splitter.places(chunks, |index, term, place: TermPlace| {
            if last.as_ref().is_none_or(|(same, known)| *same != index || known != term) {
                if let Some((index, term)) = last.replace((index, term.to_owned())) {
                    postings::add_row(&mut rows, index_number(index), &term, block, &entries);
                }
                entries.clear();
            }
            postings::add(&mut entries, place);
        })?;
        if let Some((index, term)) = last {
            postings::add_row(&mut rows, index_number(index), &term, block, &entries);
        }
        Ok(rows)
    }
}

pub(super) fn index_number(index: TermIndex) -> i16 {
    match index {
        TermIndex::Words => 0,
        TermIndex::Pairs => 1,
        TermIndex::Exact => 2,
        TermIndex::Names => 3,
        TermIndex::Tags => 4,
    }
}

fn replace_documents(
    link: &mut RemoteLink,
    documents: &[(MirroredDocument, Fingerprint)],
) -> Result<()> {
    if documents.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = documents.iter().map(|(document, _)| document.id.0).collect();
    let mut rows = CopyRows::new();
    for (document, fingerprint) in documents {
        let MirroredDocument { id: DocumentId(id), title, path, paths, .. } = document;
        rows.row(14).bigint(*id).bytes(fingerprint).text(title);
        rows.optional(path.as_deref(), CopyRows::text).texts(paths).text(&document.doc_type);
        rows.optional(document.language.as_deref(), CopyRows::text).texts(&document.tags);
        rows.optional(document.date.as_deref(), CopyRows::text);
        rows.optional(document.date_origin.as_deref(), CopyRows::text);
        rows.text(&document.content_hash).json(&document.metadata).integer(document.total_chunks);
        rows.text(&document.added);
    }
    link.run(async |client| {
        let transaction = client.transaction().await?;
        transaction.execute(REMOVE_DOCUMENTS, &[&ids]).await?;
        copy(&transaction, COPY_DOCUMENTS, rows).await?;
        transaction.commit().await
    })
}

/// Returns the rows of chunks, and those of their vectors.
fn chunk_rows(chunks: &[MirroredChunk]) -> (CopyRows, CopyRows) {
    let (mut texts, mut vectors) = (CopyRows::new(), CopyRows::new());
    for chunk in chunks {
        let MirroredChunk { id: ChunkId(id), document_id: DocumentId(document_id), .. } = chunk;
        texts.row(8).bigint(*id).bigint(*document_id).integer(chunk.chunk_index);
        texts.text(&chunk.text).text(&chunk.context).integer(chunk.token_count);
        texts.json(&chunk.metadata).optional(chunk.codes.as_deref(), CopyRows::bytes);
        if let Some(vector) = &chunk.vector {
            vectors.row(2).bigint(*id).vector(vector);
        }
    }
    (texts, vectors)
}

async fn remove_block(
    transaction: &Transaction<'_>,
    block: i64,
) -> std::result::Result<(), tokio_postgres::Error> {
    let (first, last) = (block << BLOCK_BITS, (block << BLOCK_BITS) + ((1 << BLOCK_BITS) - 1));
    transaction.execute(REMOVE_CHUNKS, &[&first, &last]).await?;
    transaction.execute(REMOVE_VECTORS, &[&first, &last]).await?;
    transaction.execute(REMOVE_POSTINGS, &[&block]).await?;
    transaction.execute(REMOVE_BLOCK, &[&block]).await?;
    Ok(())
}

async fn copy(
    transaction: &Transaction<'_>,
    statement: &str,
    rows: CopyRows,
) -> std::result::Result<(), tokio_postgres::Error> {
    let mut sink = pin!(transaction.copy_in(statement).await?);
    // A failed write has its reason in the answer of the server, which `finish` returns.
    let _ = sink.send(Cursor::new(rows.finish())).await;
    sink.finish().await?;
    Ok(())
}
