//! Fused chunks in, those to show out: of near copies the first, of a document no more than asked for.

use std::collections::{HashMap, HashSet};

use crate::document::{ChunkId, DocumentId};
use crate::error::Result;
use crate::search::fuse::Fused;
use crate::search::{MIN_DEPTH, SearchOptions};
use crate::store::{Store, StoredHit};
use crate::text::shingles::shingles;

/// First candidates among which copies are looked for, where there are at least [`MIN_DEPTH`]: what
/// comes after them fills a page of 100 in any case, so that its beginning is the same for every limit.
const NUM_LOOKED_AT: usize = 150;

/// Words in a row that are compared as one.
const SHINGLE: usize = 3;

/// Passages with fewer such rows are too short to be called copies.
const MIN_SHINGLES: usize = 15;

/// Part of all rows of two passages that both have, from which on one is a near copy of the other. Where
/// manuals and licences repeat each other, 5 of 40 pages of ten hits had 31 copies; on collections with
/// judgments leaving them out changed no nDCG@10.
const MIN_SHARED: f64 = 0.8;

/// A hit with its place.
pub(super) struct Shown<'a> {
    pub(super) fused: &'a Fused,
    pub(super) stored: StoredHit,
    /// Near copies of it that came after it and were passed over.
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
    let num_looked_at = if are_many && !options.keeps_copies { NUM_LOOKED_AT } else { 0 };
    let mut shown: Vec<Shown<'a>> = Vec::new();
    let mut seen: Vec<HashSet<u64>> = Vec::new();
    let mut at = 0;
    while shown.len() < limit && at < candidates.len() {
        let end = candidates.len().min(at + limit - shown.len());
        let next = &candidates[at..end];
        let ids: Vec<ChunkId> = next.iter().map(|it| it.chunk_id).collect();
        let mut stored: HashMap<ChunkId, StoredHit> =
            store.hits(&ids)?.into_iter().map(|it| (it.chunk.id, it)).collect();
        for (place, fused) in (at..end).zip(next) {
            // A chunk that another process removed meanwhile is not among the stored ones.
            let Some(stored) = stored.remove(&fused.chunk_id) else { continue };
            if place < num_looked_at {
                let rows = shingles(&stored.chunk.chunk.text, SHINGLE);
                if let Some(first) = seen.iter().position(|it| are_near(it, &rows)) {
                    shown[first].num_copies += 1;
                    continue;
                }
                seen.push(rows);
            }
            shown.push(Shown { fused, stored, num_copies: 0 });
        }
        at = end;
    }
    Ok(shown)
}

/// Returns the candidates of which no more than so many are of one document.
fn within_documents<'a>(
    store: &Store,
    fused: &'a [Fused],
    per_document: Option<u32>,
) -> Result<Vec<&'a Fused>> {
    let Some(per_document) = per_document else { return Ok(fused.iter().collect()) };
    let chunk_ids: Vec<ChunkId> = fused.iter().map(|it| it.chunk_id).collect();
    let documents = store.documents_of(&chunk_ids)?;
    let mut counts: HashMap<DocumentId, u32> = HashMap::new();
    let mut has_room = |it: &&Fused| {
        documents.get(&it.chunk_id).is_some_and(|document_id| {
            let count = counts.entry(*document_id).or_default();
            *count += 1;
            *count <= per_document
        })
    };
    Ok(fused.iter().filter(|it| has_room(it)).collect())
}

/// Whether of two passages, by their rows of words, one is a near copy of the other.
fn are_near(a: &HashSet<u64>, b: &HashSet<u64>) -> bool {
    let (fewer, more) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let count = |it: usize| u32::try_from(it).map_or(f64::MAX, f64::from);
    let (num_fewer, num_more) = (count(fewer.len()), count(more.len()));
    if fewer.len() < MIN_SHINGLES || num_fewer < MIN_SHARED * num_more {
        return false;
    }
    let num_shared = count(fewer.intersection(more).count());
    num_shared >= MIN_SHARED * (num_fewer + num_more - num_shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: bool) {
        let (a, b) = (shingles(a, SHINGLE), shingles(b, SHINGLE));
        assert_eq!((are_near(&a, &b), are_near(&b, &a)), (expected, expected));
    }

    const TEXT: &str = "The station keeps its log in a blue box under the stairs, and whoever reads the \
        gauge at noon writes the level, the wind and the hour into it before anything else is done.";

    #[test]
    fn a_passage_with_few_other_words_is_a_copy() {
        check(TEXT, TEXT, true);
        check(TEXT, &TEXT.to_uppercase().replace(',', ";"), true);
        check(TEXT, &TEXT.replace("noon", "dawn"), true);
        check(TEXT, &TEXT.replace("the", "a"), false);
        check(TEXT, &TEXT[..80], false);
    }

    #[test]
    fn short_passages_are_no_copies() {
        check("See the manual.", "See the manual.", false);
        check("", "", false);
    }
}
