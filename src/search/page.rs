//! Chooses the fused chunks to show: the first of near copies, and at most the requested number per
//! document.

use std::collections::HashMap;

use crate::document::{ChunkId, DocumentId};
use crate::error::Result;
use crate::search::fuse::Fused;
use crate::search::near_copies::{self, NearCopies};
use crate::search::{MIN_DEPTH, SearchOptions};
use crate::store::{Store, StoredHit};

/// Number of first candidates checked for copies, if there are at least [`MIN_DEPTH`]. The
/// candidates after them fill a page of 100 in any case, so the beginning of a page is the same for
/// every limit.
const NUM_CHECKED: usize = 150;

/// A hit to show.
pub(super) struct Shown<'a> {
    pub(super) fused: &'a Fused,
    pub(super) stored: StoredHit,
    /// Near copies of this hit that came after it and were skipped.
    pub(super) num_copies: u32,
}

/// Returns the hits to show, best first.
pub(super) fn page<'a>(
    store: &Store,
    fused: &'a [Fused],
    options: &SearchOptions,
) -> Result<Vec<Shown<'a>>> {
    let limit = options.limit as usize;
    let candidates = within_documents(store, fused, options.per_document)?;
    let are_many = candidates.len() >= MIN_DEPTH as usize;
    let num_checked = if are_many && !options.keeps_copies { NUM_CHECKED } else { 0 };
    let mut shown: Vec<Shown<'a>> = Vec::new();
    let mut copies = NearCopies::by(near_copies::COPY);
    let mut at = 0;
    while shown.len() < limit && at < candidates.len() {
        let end = candidates.len().min(at + limit - shown.len());
        let next = &candidates[at..end];
        let ids: Vec<ChunkId> = next.iter().map(|fused| fused.chunk_id).collect();
        let mut stored: HashMap<ChunkId, StoredHit> =
            store.hits(&ids)?.into_iter().map(|hit| (hit.chunk.id, hit)).collect();
        for (place, fused) in (at..end).zip(next) {
            // A chunk that another process has removed meanwhile is missing here.
            let Some(stored) = stored.remove(&fused.chunk_id) else { continue };
            if place < num_checked {
                let shingles = copies.shingles_of(&stored.chunk.chunk.text);
                if let Some(first) = copies.find(&shingles) {
                    shown[first].num_copies += 1;
                    continue;
                }
                copies.push(shingles);
            }
            shown.push(Shown { fused, stored, num_copies: 0 });
        }
        at = end;
    }
    Ok(shown)
}

/// Returns the candidates, with at most the given number per document.
fn within_documents<'a>(
    store: &Store,
    fused: &'a [Fused],
    per_document: Option<u32>,
) -> Result<Vec<&'a Fused>> {
    let Some(per_document) = per_document else { return Ok(fused.iter().collect()) };
    let chunk_ids: Vec<ChunkId> = fused.iter().map(|fused| fused.chunk_id).collect();
    let documents = store.documents_of(&chunk_ids)?;
    let mut counts: HashMap<DocumentId, u32> = HashMap::new();
    let mut has_room = |fused: &&Fused| {
        documents.get(&fused.chunk_id).is_some_and(|document_id| {
            let count = counts.entry(*document_id).or_default();
            *count += 1;
            *count <= per_document
        })
    };
    Ok(fused.iter().filter(|fused| has_room(fused)).collect())
}
