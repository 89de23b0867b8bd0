//! Marks hits whose files have changed since they were indexed.

use std::collections::HashMap;

use crate::app::Session;
use crate::document::StaleReason;
use crate::error::Result;
use crate::ingest::freshness::{self, HASH_LIMIT};
use crate::ingest::roots::Roots;
use crate::search::Hit;
use crate::store::{ChunkId, Store, StoredDocument};

pub use crate::config::Freshness;

/// Compares the documents of hits with their files, and marks the hits that are stale.
pub(crate) fn mark(session: &Session, store: &Store, hits: &mut [Hit]) -> Result<()> {
    if hits.is_empty() {
        return Ok(());
    }
    let shown: HashMap<ChunkId, Option<&str>> =
        hits.iter().map(|hit| (hit.stored.chunk.id, hit.stored.path.as_deref())).collect();
    let by_chunk = compared(session, store, &shown)?;
    for hit in hits {
        // Another process may have replaced a chunk since the search.
        hit.stale =
            by_chunk.get(&hit.stored.chunk.id).copied().unwrap_or(Some(StaleReason::Changed));
    }
    Ok(())
}

/// Compares the documents of chunks with their files, unless `search.freshness` is off. Each chunk has the path under
/// which its document is shown.
pub(crate) fn of_chunks(
    session: &Session,
    store: &Store,
    shown: &HashMap<ChunkId, Option<&str>>,
) -> Result<HashMap<ChunkId, Option<StaleReason>>> {
    match session.config().search.freshness {
        Freshness::Off => Ok(HashMap::new()),
        Freshness::Mark | Freshness::Refresh => compared(session, store, shown),
    }
}

/// Returns how the documents of chunks differ from their files; the file at the path shown decides. Chunks that were
/// replaced meanwhile are left out.
fn compared(
    session: &Session,
    store: &Store,
    shown: &HashMap<ChunkId, Option<&str>>,
) -> Result<HashMap<ChunkId, Option<StaleReason>>> {
    let ids: Vec<ChunkId> = shown.keys().copied().collect();
    let mut documents = store.files_of_chunks(&ids)?;
    for document in &mut documents {
        document.put_first(document.chunk_ids.first().and_then(|id| shown[id]));
    }
    let follows_links = session.config().ingestion.follow_links;
    let stale = freshness::stale(&documents, || Roots::of(store, follows_links), HASH_LIMIT)?;
    let by_chunk = documents.iter().flat_map(|document| {
        let stale = stale.get(&document.document_id).copied();
        document.chunk_ids.iter().map(move |id| (*id, stale))
    });
    Ok(by_chunk.collect())
}

/// Compares a document with its file; `None` if it is unchanged, has no file, or `search.freshness` is
/// off.
pub(crate) fn of_document(
    session: &Session,
    store: &Store,
    document: &StoredDocument,
) -> Result<Option<StaleReason>> {
    if session.config().search.freshness == Freshness::Off {
        return Ok(None);
    }
    let (id, path) = (document.id, document.path.as_deref());
    let Some(mut document) = store.files_of_document(id)? else { return Ok(None) };
    document.put_first(path);
    let document = std::slice::from_ref(&document);
    let follows_links = session.config().ingestion.follow_links;
    let stale = freshness::stale(document, || Roots::of(store, follows_links), HASH_LIMIT)?;
    Ok(stale.get(&id).copied())
}
