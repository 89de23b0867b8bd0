//! Puts the newer of two editions of the same text first, and a document that is out of date behind its successor.
//!
//! The scores of a passage and of its next edition differ by what the ranks of other passages make of them, so that no
//! share of a score sets them right. The older passage is therefore lowered to just below the newer one.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::search::fuse::FusedChunk;
use crate::search::near_copies::{self, NearCopies, Shingles};
use crate::search::searchable::Searchable;
use crate::search::successors::successor;
use crate::search::titles::{day_number, without_years, words};
use crate::text::number::is_year;
use crate::text::paths;
use crate::{ChunkOrigin, StoredHit};

/// Number of first hits that are compared, as many as are weighed by their documents: comparing texts takes time.
pub(super) const DEPTH: usize = 50;

/// Passages of documents with the same title count as editions if the newer one has at least this share of the older
/// one's score: in documents such as `Meeting notes`, they may be about other things.
const NEAR_SHARE: f64 = 0.8;

/// The share of the newer passage's score that the older one is lowered to: so little less that no third passage comes
/// between them.
const JUST_BELOW: f64 = 0.999_999;

/// The share of its weights that a passage of a document keeps that says it is out of date. It stays in the list,
/// because its successor may be missing here.
const SUPERSEDED_SHARE: f64 = 0.9;

/// A passage, and what tells its edition.
struct Edition<'a> {
    stored: &'a StoredHit,
    /// The day of its document, counted from any fixed one.
    day: i32,
    shingles: Shingles,
    title: String,
}

/// Lowers each of the first hits to just below the newer editions of its text; `days` are those of the documents.
/// `fused` is in order, and has to be ordered again.
pub(super) fn newer_first(
    fused: &mut [FusedChunk],
    stored: &[StoredHit],
    days: &HashMap<ChunkId, i32>,
) {
    let copies = NearCopies::by(near_copies::EDITION);
    let stored: HashMap<ChunkId, &StoredHit> =
        stored.iter().map(|stored| (stored.chunk.id, stored)).collect();
    let mut editions: Vec<(usize, Edition<'_>)> = Vec::new();
    for (at, hit) in fused.iter().enumerate().take(DEPTH) {
        if let Some(stored) = stored.get(&hit.chunk_id).copied()
            && let Some(known) = days.get(&hit.chunk_id)
        {
            let day = day(stored, *known);
            let shingles = copies.shingles_of(&stored.chunk.chunk.text);
            let title = without_years(&stored.title);
            editions.push((at, Edition { stored, day, shingles, title }));
        }
    }
    // The newest are in their place before the older ones are compared with them.
    editions.sort_by_key(|(at, edition)| (-edition.day, *at));
    for (place, (at, older)) in editions.iter().enumerate() {
        let score = fused[*at].score;
        let mut limit = f64::INFINITY;
        for (newer_at, newer) in &editions[..place] {
            let newer_score = fused[*newer_at].score;
            let is_near = newer_score >= NEAR_SHARE * score;
            if newer.day > older.day && newer.is_edition_of(older, is_near) {
                limit = limit.min(newer_score);
            }
        }
        if let Some(share) = lower(&mut fused[*at], limit) {
            let recency = &mut fused[*at].recency;
            *recency = recency.map(|before| before * share);
        }
    }
}

impl Edition<'_> {
    /// Whether both passages are the same text at different times.
    fn is_edition_of(&self, other: &Self, is_near: bool) -> bool {
        let is_other_document = self.stored.document_id != other.stored.document_id;
        let has_same_title = is_near && self.title == other.title;
        is_other_document
            && (has_same_title || near_copies::EDITION.holds(&self.shingles, &other.shingles))
    }
}

/// Returns the day of an edition: where only its file or kb says when it was written, the year in its title or file name
/// says it better. The files of a copied folder all have the same day.
fn day(stored: &StoredHit, day: i32) -> i32 {
    if !matches!(stored.date_origin.as_deref(), Some("file" | "added")) {
        return day;
    }
    let name = stored.path.as_deref().map(paths::name).unwrap_or_default();
    let year =
        [&stored.title, &name].into_iter().find_map(|text| words(text).rfind(|word| is_year(word)));
    year.and_then(|year| day_number(&format!("{year}-01-01"))).unwrap_or(day)
}

/// Lowers documents that say they are out of date, and each to just below its successor among the first hits.
pub(super) fn current_first(
    fused: &mut [FusedChunk],
    store: &impl Searchable,
    origins: &HashMap<ChunkId, ChunkOrigin>,
) -> Result<()> {
    if !origins.values().any(|origin| origin.is_superseded) {
        return Ok(());
    }
    let first: Vec<ChunkId> = fused.iter().take(DEPTH).map(|hit| hit.chunk_id).collect();
    let stored = store.hits(&first)?;
    let documents: HashMap<ChunkId, DocumentId> =
        stored.iter().map(|hit| (hit.chunk.id, hit.document_id)).collect();
    let mut known: Vec<&StoredHit> = Vec::new();
    let mut seen = HashSet::new();
    known.extend(stored.iter().filter(|hit| seen.insert(hit.document_id)));
    let successors: HashMap<DocumentId, Option<DocumentId>> = known
        .iter()
        .filter(|hit| hit.superseded.is_some())
        .map(|hit| (hit.document_id, successor(hit, &known)))
        .collect();
    for hit in fused.iter_mut() {
        let document = documents.get(&hit.chunk_id);
        if document.is_some_and(|id| successors.contains_key(id)) {
            hit.weigh(SUPERSEDED_SHARE);
        }
    }
    let mut order: Vec<DocumentId> = successors.keys().copied().collect();
    // A successor may have a successor. Those at the end of a chain get their place first.
    order.sort_by_key(|id| (num_successors(*id, &successors), *id));
    for id in order {
        let Some(successor) = successors[&id] else { continue };
        lower_below(fused, &documents, id, successor);
    }
    fused.sort_by(FusedChunk::order);
    Ok(())
}

/// Returns how many documents follow one. Documents that name each other in a circle say nothing; they end here, too.
fn num_successors(id: DocumentId, successors: &HashMap<DocumentId, Option<DocumentId>>) -> usize {
    let chain = std::iter::successors(Some(id), |id| successors.get(id).copied().flatten());
    chain.take(successors.len() + 1).count()
}

/// Lowers the hits of a document to just below the best hit of another one. `documents` has the documents of the hits that count.
pub(super) fn lower_below(
    fused: &mut [FusedChunk],
    documents: &HashMap<ChunkId, DocumentId>,
    id: DocumentId,
    other: DocumentId,
) {
    let of_other = fused.iter().filter(|hit| documents.get(&hit.chunk_id) == Some(&other));
    let best = of_other.map(|hit| hit.score).fold(0.0, f64::max);
    for hit in fused.iter_mut().filter(|hit| documents.get(&hit.chunk_id) == Some(&id)) {
        lower(hit, best);
    }
}

/// Lowers a hit to just below a score, if it is not below; returns the share of its weights that it keeps.
fn lower(hit: &mut FusedChunk, limit: f64) -> Option<f64> {
    if hit.score < limit || limit <= 0.0 {
        return None;
    }
    let share = limit * JUST_BELOW / hit.score;
    hit.weigh(share);
    Some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::OutdatedNotice;
    use crate::search::fuse::{LegScore, PerLeg};
    use crate::testing::{TestDb, document};

    const TEXT: &str = "the daily allowance for travel inside the country is paid for each night away from home \
        and receipts are kept for six years in the office of the clerk who has signed for them";

    /// Returns a database with one passage for each title, text and mark.
    fn notes(notes: &[(&str, &str, Option<OutdatedNotice>)]) -> TestDb {
        let mut db = TestDb::new();
        for (number, (title, text, superseded)) in notes.iter().enumerate() {
            let text = format!("{text} {number}");
            let mut new = document(&format!("/n/{number}.md"), &[&text], &[]);
            new.title = (*title).to_owned();
            new.metadata.superseded = superseded.clone();
            db.put(&new, &[&text], &[]);
        }
        db
    }

    /// Returns hits on the chunks from 1 with these scores.
    fn hits(scores: &[f64]) -> Vec<FusedChunk> {
        let leg = |score| LegScore { term: score, weight: 1.0, rank: 1, raw: 1.0 };
        let hit = |(id, score): (i64, f64)| FusedChunk {
            chunk_id: ChunkId(id),
            score,
            legs: PerLeg { keyword: Some(leg(score)), vector: None },
            token_match: None,
            document_weight: 1.0,
            recency: Some(1.0),
        };
        (1..).zip(scores.iter().copied()).map(hit).collect()
    }

    /// Returns the chunks in order of score, with the newest of `days` first among editions.
    #[track_caller]
    fn dated(db: &TestDb, scores: &[f64], days: &[Option<i32>]) -> Vec<i64> {
        let mut fused = hits(scores);
        let ids: Vec<ChunkId> = fused.iter().map(|hit| hit.chunk_id).collect();
        let days = ids.iter().zip(days).filter_map(|(id, day)| Some((*id, (*day)?))).collect();
        newer_first(&mut fused, &db.store.hits(&ids).unwrap(), &days);
        in_order(fused)
    }

    #[track_caller]
    fn in_order(mut fused: Vec<FusedChunk>) -> Vec<i64> {
        fused.sort_by(FusedChunk::order);
        for hit in &fused {
            let leg = hit.legs.keyword.unwrap();
            assert!((hit.score - leg.term).abs() < 1e-12 && leg.weight > 0.0 && leg.weight <= 1.0);
        }
        fused.iter().map(|hit| hit.chunk_id.0).collect()
    }

    #[test]
    fn of_editions_the_newest_comes_first_however_the_scores_are() {
        let titles = ["Travel policy 2021", "Travel policy 2023", "Travel policy 2025", "Pets"];
        let db = notes(&titles.map(|title| (title, "the allowance", None)));
        let days = [Some(1), Some(700), Some(1400), Some(9)];
        assert_eq!(dated(&db, &[1.0, 0.98, 0.95, 0.99], &days), [4, 3, 2, 1]);
        assert_eq!(dated(&db, &[0.95, 0.98, 1.0, 0.99], &days), [3, 4, 2, 1]);
        // Too far below to be about the same thing.
        assert_eq!(dated(&db, &[1.0, 0.98, 0.5, 0.4], &days), [2, 1, 3, 4]);
        // Without a date nothing is known.
        assert_eq!(dated(&db, &[1.0, 0.98, 0.95, 0.4], &[Some(1), None, None, None]), [1, 2, 3, 4]);
    }

    #[test]
    fn the_year_of_a_title_is_better_than_the_day_of_a_file() {
        let db = notes(&["Pay 2021", "Pay 2023", "Pay 2022"].map(|title| (title, "text", None)));
        let day = Some(day_number("2026-11-28").unwrap());
        assert_eq!(dated(&db, &[1.0, 0.9, 0.95], &[day; 3]), [2, 3, 1]);
    }

    #[test]
    fn of_near_copies_the_newest_comes_first() {
        let db = notes(&["A", "B", "C"].map(|title| (title, TEXT, None)));
        assert_eq!(dated(&db, &[1.0, 0.7, 0.9], &[Some(1), Some(3), Some(2)]), [2, 3, 1]);
        let db = notes(&["A", "B", "C"].map(|title| (title, title, None)));
        assert_eq!(dated(&db, &[1.0, 0.7, 0.9], &[Some(1), Some(3), Some(2)]), [1, 3, 2]);
    }

    /// `marks` are the successors of the notes called `Note 1` and so on; empty for a mark without a name.
    #[track_caller]
    fn check_marks(marks: [Option<&str>; 4], expected: [i64; 4]) {
        let titles = ["Note 1", "Note 2", "Note 3", "Note 4"];
        let mark = |by: &str| OutdatedNotice { by: (!by.is_empty()).then(|| by.to_owned()) };
        let notes = notes(&[0, 1, 2, 3].map(|at| (titles[at], "text", marks[at].map(mark))));
        let mut fused = hits(&[1.0, 0.95, 0.6, 0.5]);
        let ids: Vec<ChunkId> = fused.iter().map(|hit| hit.chunk_id).collect();
        let origins = notes.store.origins(&ids).unwrap();
        current_first(&mut fused, &notes.store, &origins).unwrap();
        assert_eq!(in_order(fused), expected, "{marks:?}");
    }

    #[test]
    fn a_superseded_document_is_behind_its_successor() {
        check_marks([None; 4], [1, 2, 3, 4]);
        check_marks([Some("Note 3"), None, None, None], [2, 3, 1, 4]);
        check_marks([Some("Note 4"), None, None, Some("Note 3")], [2, 3, 4, 1]);
        check_marks([None, Some("Note 1"), None, None], [1, 2, 3, 4]);
        // One that is not there, and none: near ties go to what is in force.
        check_marks([Some("Note 9"), None, None, None], [2, 1, 3, 4]);
        check_marks([Some(""), None, None, None], [2, 1, 3, 4]);
        // A circle says nothing, and ends.
        check_marks([Some("Note 2"), Some("Note 1"), None, None], [1, 2, 3, 4]);
    }

    #[test]
    fn years_are_no_part_of_a_title() {
        for (title, expected) in [
            ("Travel policy 2025", "travel policy"),
            ("Travel Policy (2023)", "travel policy"),
            ("travel-2024", "travel"),
            ("2025", "2025"),
            ("Standup 2025-05-01", "standup 05 01"),
            ("RFC 2119", "rfc 2119"),
            ("Page 12", "page 12"),
        ] {
            assert_eq!(without_years(title), expected, "{title}");
        }
    }
}
