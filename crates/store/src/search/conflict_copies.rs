//! Puts conflict copies just below the files that they are copies of, and lists them. Their names decide
//! ([`ConflictName`]), and for numbered ones also their texts.

use std::collections::HashMap;

use rusqlite::named_params;
use schemars::JsonSchema;
use serde::Serialize;

use crate::db::sql;
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::search::answer::Hit;
use crate::search::editions::{DEPTH, lower_below};
use crate::search::fuse::FusedChunk;
use crate::search::near_copies::{EDITION, NearCopies};
use crate::search::searchable::Searchable;
use crate::text::conflicts::ConflictName;
use crate::{ChunkOrigin, Store, StoredHit};

/// Chunks of each document that are compared to find out whether a numbered file is a copy. Reading the
/// beginnings of two long documents is enough.
const NUM_COMPARED: u32 = 20;

/// Most numbered files that are compared for a list. It bounds the texts that are read in a folder of numbered scans.
const MAX_NUMBERED: usize = 200;

/// The paths whose names may be those of conflict copies, and their documents.
const CANDIDATES: &str = "
    SELECT path, document_id
    FROM document_paths
    WHERE path LIKE '%conflict%' OR path GLOB '* [2-9].*' OR path GLOB '* [2-9]'
    ORDER BY path";

const DOCUMENT_AT: &str = "SELECT document_id FROM document_paths WHERE path = :path";

/// A file that a program which synchronises folders has written next to its original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConflictCopy {
    /// Its absolute path.
    pub path: String,
    /// The absolute path of its original.
    #[serde(rename = "conflict_of")]
    pub original: String,
}

/// Whether two texts are the same one with changes.
fn are_alike(one: &str, other: &str) -> bool {
    let copies = NearCopies::by(EDITION);
    one == other || EDITION.holds(&copies.shingles_of(one), &copies.shingles_of(other))
}

/// Returns the originals of the conflict copies among hits, by document. The original of a numbered copy has a hit with a text
/// like it.
fn originals<'a>(hits: &'a [&StoredHit]) -> HashMap<DocumentId, (String, Option<&'a StoredHit>)> {
    let mut originals = HashMap::new();
    for hit in hits {
        let Some(name) = hit.path.as_deref().and_then(ConflictName::of) else { continue };
        let path = Some(name.original.as_str());
        let original = hits.iter().find(|other| other.path.as_deref() == path).copied();
        if name.is_certain || original.is_some_and(|original| is_copy_of(hit, original, hits)) {
            originals.insert(hit.document_id, (name.original, original));
        }
    }
    originals
}

/// Whether one of the hits in the original has a text like that of a hit.
fn is_copy_of(hit: &StoredHit, original: &StoredHit, hits: &[&StoredHit]) -> bool {
    let mut of_original = hits.iter().filter(|other| other.document_id == original.document_id);
    let text = &hit.chunk.chunk.text;
    of_original.any(|other| are_alike(text, &other.chunk.chunk.text))
}

/// Lowers conflict copies to just below their originals, where both are among the first hits.
pub(super) fn originals_first(
    fused: &mut [FusedChunk],
    store: &impl Searchable,
    origins: &HashMap<ChunkId, ChunkOrigin>,
) -> Result<()> {
    if !origins.values().any(|origin| origin.may_be_conflict_copy) {
        return Ok(());
    }
    let first: Vec<ChunkId> = fused.iter().take(DEPTH).map(|hit| hit.chunk_id).collect();
    let stored = store.hits(&first)?;
    let hits: Vec<&StoredHit> = stored.iter().collect();
    let document_of: HashMap<ChunkId, DocumentId> =
        hits.iter().map(|hit| (hit.chunk.id, hit.document_id)).collect();
    let mut originals: Vec<_> = originals(&hits).into_iter().collect();
    // A copy may itself have copies. The name of an original is shorter, so originals get their place first.
    originals.sort_by_key(|(copy, (path, _))| (path.len(), *copy));
    for (copy, (_, original)) in originals {
        let Some(original) = original else { continue };
        lower_below(fused, &document_of, copy, original.document_id);
    }
    fused.sort_by(FusedChunk::order);
    Ok(())
}

/// Marks the hits in conflict copies.
pub(super) fn mark(hits: &mut [Hit]) {
    let stored: Vec<&StoredHit> = hits.iter().map(|hit| &hit.stored).collect();
    let originals: HashMap<DocumentId, String> =
        originals(&stored).into_iter().map(|(copy, (original, _))| (copy, original)).collect();
    for hit in hits {
        hit.conflict_of = originals.get(&hit.stored.document_id).cloned();
    }
}

impl Store {
    /// Returns the conflict copies among all documents, by path.
    pub fn conflict_copies(&self) -> Result<Vec<ConflictCopy>> {
        let candidates: Vec<(String, DocumentId)> =
            self.read(|db| sql::rows(db, CANDIDATES, [], |row| Ok((row.get(0)?, row.get(1)?))))?;
        let mut copies = Vec::new();
        let mut num_compared = 0;
        for (path, id) in candidates {
            let Some(name) = ConflictName::of(&path) else { continue };
            if !name.is_certain {
                let params = named_params! { ":path": name.original };
                let original: Option<DocumentId> =
                    self.read(|db| sql::first_row(db, DOCUMENT_AT, params, |row| row.get(0)))?;
                let Some(original) = original.filter(|_| num_compared < MAX_NUMBERED) else {
                    continue;
                };
                num_compared += 1;
                if original == id || !are_alike(&self.beginning(id)?, &self.beginning(original)?) {
                    continue;
                }
            }
            copies.push(ConflictCopy { path, original: name.original });
        }
        Ok(copies)
    }

    /// Returns the text of the first chunks of a document.
    fn beginning(&self, id: DocumentId) -> Result<String> {
        let chunks = self.chunks_between(id, 0, NUM_COMPARED)?;
        Ok(chunks.into_iter().map(|stored| stored.chunk.text).collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::fuse::{LegScore, PerLeg};
    use crate::testing::{TestDb, document};

    const TEXT: &str = "the spare key of the recorder hut hangs behind the third lifebuoy on the north pier and the \
        code of the padlock changes on the first day of each month";

    /// Returns a database with one passage for each path and text.
    fn files(files: &[(&str, &str)]) -> TestDb {
        let mut db = TestDb::new();
        for (path, text) in files {
            db.put(&document(path, &[text], &[]), &[text], &[]);
        }
        db
    }

    /// Returns the chunks in order of score, if the chunks from 1 have these scores.
    fn ordered(db: &TestDb, scores: &[f64]) -> Vec<i64> {
        let leg = |score| LegScore { term: score, weight: 1.0, rank: 1, raw: 1.0 };
        let hit = |(id, score): (i64, f64)| FusedChunk {
            chunk_id: ChunkId(id),
            score,
            legs: PerLeg { keyword: Some(leg(score)), vector: None },
            token_match: None,
            document_weight: 1.0,
            recency: None,
        };
        let mut fused: Vec<FusedChunk> = (1..).zip(scores.iter().copied()).map(hit).collect();
        fused.sort_by(FusedChunk::order);
        let ids: Vec<ChunkId> = fused.iter().map(|hit| hit.chunk_id).collect();
        let origins = db.store.origins(&ids).unwrap();
        originals_first(&mut fused, &db.store, &origins).unwrap();
        fused.iter().map(|hit| hit.chunk_id.0).collect()
    }

    #[test]
    fn a_conflict_copy_is_just_below_its_original_and_never_above() {
        let copy = "/n/keys.sync-conflict-20260101-120000-ABCDEFG.md";
        let db = files(&[("/n/keys.md", TEXT), (copy, "quite another text"), ("/n/x.md", "text")]);
        assert_eq!(ordered(&db, &[0.5, 0.9, 0.4]), [1, 2, 3]);
        assert_eq!(ordered(&db, &[0.9, 0.5, 0.7]), [1, 3, 2]);
        let alone = files(&[("/n/other.md", TEXT), (copy, TEXT)]);
        assert_eq!(ordered(&alone, &[0.5, 0.9]), [2, 1], "its original is no hit");
    }

    #[test]
    fn a_numbered_file_is_a_copy_if_its_text_is_alike() {
        let changed = format!("{TEXT} and the padlock is new");
        let (plan, copy) = ("/n/keys.md", "/n/keys 2.md");
        assert_eq!(ordered(&files(&[(plan, TEXT), (copy, &changed)]), &[0.5, 0.9]), [1, 2]);
        let other = "Chapter two tells what became of the keeper of the light after the flood";
        assert_eq!(ordered(&files(&[(plan, TEXT), (copy, other)]), &[0.5, 0.9]), [2, 1]);
    }

    #[test]
    fn all_conflict_copies_are_listed() {
        let changed = format!("{TEXT} and the padlock is new");
        let db = files(&[
            ("/n/keys.md", TEXT),
            ("/n/keys 2.md", &changed),
            (
                "/n/keys 3.md",
                "quite another text about something else that is not alike at all, as one sees",
            ),
            ("/n/gone (Anna's conflicted copy 2026-01-01).md", "left behind"),
            ("/n/Chapter 2.md", TEXT.to_uppercase().as_str()),
            ("/n/on conflict.md", "peace"),
        ]);
        let copies = db.store.conflict_copies().unwrap();
        let copies = copies.iter().map(|copy| (copy.path.as_str(), copy.original.as_str()));
        let expected = [
            ("/n/gone (Anna's conflicted copy 2026-01-01).md", "/n/gone.md"),
            ("/n/keys 2.md", "/n/keys.md"),
        ];
        assert!(copies.eq(expected));
    }
}
