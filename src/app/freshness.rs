//! Marks hits whose files have changed since they were indexed.

use std::collections::HashMap;

use crate::app::Session;
use crate::document::{ChunkId, Stale};
use crate::error::Result;
use crate::ingest::freshness::{self, HASH_LIMIT};
use crate::ingest::reach::Access;
use crate::search::Hit;
use crate::store::Store;

/// Compares the documents of hits with their files, and marks the hits that are stale.
///
/// # Errors
///
/// Errors of the database.
pub(super) fn mark(session: &Session, store: &Store, hits: &mut [&mut Hit]) -> Result<()> {
    if hits.is_empty() {
        return Ok(());
    }
    let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.stored.chunk.id).collect();
    let documents = store.files_of_chunks(&ids)?;
    let access = || Access::of(store, session.config().ingestion.follow_links);
    let stale = freshness::stale(&documents, access, HASH_LIMIT)?;
    let by_chunk: HashMap<ChunkId, Option<Stale>> = documents
        .iter()
        .flat_map(|document| {
            let stale = stale.get(&document.document_id).copied();
            document.chunk_ids.iter().map(move |id| (*id, stale))
        })
        .collect();
    for hit in hits {
        // A chunk that another process has replaced since the search is not what the file says.
        hit.stale = by_chunk.get(&hit.stored.chunk.id).copied().unwrap_or(Some(Stale::Changed));
    }
    Ok(())
}
