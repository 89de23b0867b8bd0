//! Chooses the fused chunks to show: the first of near copies, at most the requested number per
//! document, and tables of contents last.
//!
//! A near copy in a document of another title is shown: which of a manual page, the reference and the edition of another
//! year is the right citation of the same words, the reader decides.

use std::collections::HashMap;

use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::search::fuse::FusedChunk;
use crate::search::near_copies::{self, NearCopies};
use crate::search::options::MIN_DEPTH;
use crate::search::{SearchOptions, Searchable};
use crate::text::contents::is_contents;
use crate::{ChunkOrigin, StoredHit};

/// Number of first candidates checked for copies, if there are at least [`MIN_DEPTH`]. The
/// candidates after them fill a page of 100 in any case, so the beginning of a page is the same for
/// every limit.
const NUM_CHECKED: usize = 150;

pub(super) struct ShownHit<'a> {
    pub(super) fused: &'a FusedChunk,
    pub(super) stored: StoredHit,
    /// Near copies of this hit that came after it and were skipped.
    pub(super) num_copies: u32,
}

/// Returns the hits to show, best first. Tables of contents and indexes, which repeat the words of
/// the sections that they point to, come after everything else.
pub(super) fn page<'a>(
    store: &impl Searchable,
    fused: &'a [FusedChunk],
    options: &SearchOptions,
) -> Result<Vec<ShownHit<'a>>> {
    let limit = options.limit as usize;
    let mut quota = Quota::of(store, fused, options.per_document)?;
    let are_many = quota.num_places(fused) >= MIN_DEPTH as usize;
    let num_checked = if are_many && !options.keeps_copies { NUM_CHECKED } else { 0 };
    let mut shown: Vec<ShownHit<'a>> = Vec::new();
    let mut contents: Vec<ShownHit<'a>> = Vec::new();
    let mut copies = NearCopies::by(near_copies::COPY);
    let (mut at, mut place) = (0, 0);
    while shown.len() < limit && at < fused.len() {
        let end = fused.len().min(at + limit - shown.len());
        let next: Vec<&FusedChunk> =
            fused[at..end].iter().filter(|fused| quota.has_room(fused)).collect();
        let ids: Vec<ChunkId> = next.iter().map(|fused| fused.chunk_id).collect();
        let mut stored: HashMap<ChunkId, StoredHit> =
            store.hits(&ids)?.into_iter().map(|hit| (hit.chunk.id, hit)).collect();
        for fused in next {
            // A chunk that another process has removed meanwhile is missing here.
            let Some(stored) = stored.remove(&fused.chunk_id) else { continue };
            if is_contents(&stored.chunk.chunk.text) {
                contents.push(ShownHit { fused, stored, num_copies: 0 });
                continue;
            }
            if !quota.take(fused) {
                continue;
            }
            place += 1;
            if place <= num_checked {
                let shingles = copies.shingles_of(&stored.chunk.chunk.text);
                let first =
                    copies.find_where(&shingles, |first| shown[first].stored.title == stored.title);
                if let Some(first) = first {
                    shown[first].num_copies += 1;
                    continue;
                }
                copies.push(shingles);
            }
            shown.push(ShownHit { fused, stored, num_copies: 0 });
        }
        at = end;
    }
    contents.retain(|hit| quota.take(hit.fused));
    shown.extend(contents);
    shown.truncate(limit);
    Ok(shown)
}

/// How many more hits each document may have.
#[derive(Clone)]
struct Quota {
    /// The largest number, and the place of each chunk; `None` without a limit.
    limit: Option<(u32, HashMap<ChunkId, ChunkOrigin>)>,
    counts: HashMap<DocumentId, u32>,
}

impl Quota {
    fn of(
        store: &impl Searchable,
        fused: &[FusedChunk],
        per_document: Option<u32>,
    ) -> Result<Self> {
        let limit = match per_document {
            Some(most) => {
                let chunk_ids: Vec<ChunkId> = fused.iter().map(|fused| fused.chunk_id).collect();
                Some((most, store.origins(&chunk_ids)?))
            }
            None => None,
        };
        Ok(Self { limit, counts: HashMap::new() })
    }

    /// Returns how many hits there are room for.
    fn num_places(&self, fused: &[FusedChunk]) -> usize {
        let mut quota = self.clone();
        fused.iter().filter(|fused| quota.take(fused)).count()
    }

    fn has_room(&self, fused: &FusedChunk) -> bool {
        let Some((most, documents)) = &self.limit else { return true };
        let document = documents.get(&fused.chunk_id);
        document.is_some_and(|place| {
            self.counts.get(&place.document_id).copied().unwrap_or_default() < *most
        })
    }

    /// Counts a hit; `false` if its document has enough.
    fn take(&mut self, fused: &FusedChunk) -> bool {
        let has_room = self.has_room(fused);
        if let (true, Some((_, documents))) = (has_room, &self.limit)
            && let Some(place) = documents.get(&fused.chunk_id)
        {
            *self.counts.entry(place.document_id).or_default() += 1;
        }
        has_room
    }
}

#[cfg(test)]
mod tests;
