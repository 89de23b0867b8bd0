//! Reads the occurrences of a term, and which terms there are, from the tables behind FTS5.
//!
//! FTS5 returns one row per occurrence, or rows without counts; with a million chunks a common word
//! then takes longer than everything else together. Its index consists of two plain tables: leaves
//! of terms with their occurrences, and the first term of each leaf. The layout is described at the
//! head of `fts5_index.c` and has been the same since SQLite 3.9; tests compare with FTS5's own
//! answer.

mod leaf;

use rusqlite::{Connection, named_params};

use super::occurrence::Occurrence;
use crate::db::fault::{DatabaseFault, Step};
use crate::db::sql;
use crate::ids::ChunkId;

pub(crate) use leaf::first_term;
use leaf::{Bytes, HEAD_LEN, Leaf};

/// The statements that read one of the two indexes of FTS5.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexStatements {
    /// Returns the list of segments, as bytes.
    structure: &'static str,
    /// Returns the number of the leaf where a term is or would be. FTS5 stores it above a bit, which is set if the term has
    /// a separate index for skipping.
    leaf_of_term: &'static str,
    /// Returns the leaves of a range of ids.
    leaves: &'static str,
}

macro_rules! statements_of {
    ($index:literal) => {
        IndexStatements {
            structure: concat!("SELECT block FROM ", $index, "_data WHERE id = 10"),
            leaf_of_term: concat!(
                "SELECT pgno >> 1 FROM ",
                $index,
                "_idx WHERE segid = :segment AND term <= :term ORDER BY term DESC LIMIT 1"
            ),
            leaves: concat!(
                "SELECT block FROM ",
                $index,
                "_data WHERE id BETWEEN :first AND :last ORDER BY id"
            ),
        }
    };
}

/// The index of words.
pub(crate) const WORDS: IndexStatements = statements_of!("chunks_fts");

/// The second index (`grams.rs`).
pub(crate) const GRAMS: IndexStatements = statements_of!("chunks_grams");

/// Prefix of each term of the main index; prefix indexes have other letters.
const TERM_MARK: u8 = b'0';

/// Bits of a leaf's number in the ids of the table of leaves; the bits above are the segment's. `fts5_index.c` has 31 for
/// the page, 5 for the height and 1 for an index of chunk ids.
pub(crate) const LEAF_BITS: u32 = 37;

/// In a list of positions, announces the number of a column instead of a position.
const NEXT_COLUMN: u64 = 1;

/// A part of the index that was written at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    id: i64,
    first_leaf: i64,
    last_leaf: i64,
}

impl Segment {
    /// Returns the id of a leaf.
    fn id_of(self, leaf: i64) -> i64 {
        (self.id << LEAF_BITS) + leaf
    }
}

impl IndexStatements {
    /// Reads where a term of the index occurs, ordered by chunk id, each chunk once.
    pub(crate) fn occurrences(self, db: &Connection, term: &str) -> Step<Vec<Occurrence>> {
        let term = marked(term);
        let mut found: Vec<Occurrence> = Vec::new();
        for segment in self.segments(db)? {
            let mut list =
                OccurrenceList { found: &mut found, chunk_id: 0, rest_len: 0, column: Some(0) };
            let mut is_first = true;
            self.visit_leaves(db, segment, &term, |leaf| {
                let part = if is_first { leaf.find(&term)? } else { Some(leaf.continued()?) };
                is_first = false;
                let Some(part) = part else { return Some(false) };
                list.read(part.bytes)?;
                Some(!part.is_last)
            })?;
        }
        Ok(in_order(found))
    }

    /// Returns the first term that is not before another in the order of bytes. The chunks that had it may be gone: a mark of
    /// what was removed stays until leftovers are removed.
    pub(crate) fn first_term_from(self, db: &Connection, from: &str) -> Step<Option<String>> {
        let from = marked(from);
        let mut first: Option<Vec<u8>> = None;
        for segment in self.segments(db)? {
            let mut found = None;
            self.visit_leaves(db, segment, &from, |leaf| {
                found = leaf.first_term_from(&from)?;
                Some(found.is_none())
            })?;
            first = first.into_iter().chain(found).min();
        }
        let first = first.as_deref().and_then(|term| term.strip_prefix(&[TERM_MARK]));
        first.map(|term| String::from_utf8(term.to_vec()).map_err(|_| damaged())).transpose()
    }

    /// Returns the segments, oldest first.
    fn segments(self, db: &Connection) -> Step<Vec<Segment>> {
        let structure: Option<Vec<u8>> = sql::first_row(db, self.structure, [], |row| row.get(0))?;
        segments(&structure.unwrap_or_default()).ok_or_else(damaged)
    }

    /// Visits the leaves of a segment from the one where a term is or would be, while `visit` returns true; its `None` means
    /// damage.
    fn visit_leaves(
        self,
        db: &Connection,
        segment: Segment,
        term: &[u8],
        mut visit: impl FnMut(Leaf<'_>) -> Option<bool>,
    ) -> Step<()> {
        let wanted = named_params! { ":segment": segment.id, ":term": term };
        let leaf: Option<i64> = sql::first_row(db, self.leaf_of_term, wanted, |row| row.get(0))?;
        // A term before the first separator can only be on the first leaf.
        let first = segment.id_of(leaf.unwrap_or(0).max(segment.first_leaf));
        let mut leaves = db.prepare_cached(self.leaves)?;
        let last = segment.id_of(segment.last_leaf);
        let mut leaves = leaves.query(named_params! { ":first": first, ":last": last })?;
        while let Some(row) = leaves.next()? {
            let bytes = row.get_ref(0)?.as_blob().map_err(|_| damaged())?;
            if !Leaf::new(bytes).and_then(&mut visit).ok_or_else(damaged)? {
                break;
            }
        }
        Ok(())
    }
}

/// Returns a term as the main index has it.
fn marked(term: &str) -> Vec<u8> {
    [&[TERM_MARK], term.as_bytes()].concat()
}

/// Returns the occurrences of all segments, the newer segments last, in the order of chunks.
fn in_order(mut found: Vec<Occurrence>) -> Vec<Occurrence> {
    // If several segments have entries for a chunk, the newest one counts, and it comes last.
    if !found.is_sorted_by(|a, b| a.chunk_id < b.chunk_id) {
        found.sort_by_key(|occurrence| occurrence.chunk_id);
        found.dedup_by(|newer, kept| {
            let is_same = newer.chunk_id == kept.chunk_id;
            if is_same {
                *kept = *newer;
            }
            is_same
        });
    }
    // An entry without positions means that the chunk was removed.
    found.retain(|occurrence| occurrence.in_context + occurrence.in_text > 0);
    found
}

pub(crate) fn damaged() -> DatabaseFault {
    DatabaseFault::Corrupt("the keyword index cannot be read".to_owned())
}

/// Returns the segments, oldest first; `None` if the bytes are not a valid list.
fn segments(structure: &[u8]) -> Option<Vec<Segment>> {
    // The first four bytes count changes of the table's settings.
    let mut rest = Bytes(structure.get(HEAD_LEN..).unwrap_or_default());
    if rest.0.is_empty() {
        return Some(Vec::new());
    }
    let num_levels = rest.varint()?;
    let (_num_segments, _num_writes) = (rest.varint()?, rest.varint()?);
    let mut levels = Vec::new();
    for _ in 0..num_levels {
        let (_num_merging, num_segments) = (rest.varint()?, rest.varint()?);
        let mut level = Vec::new();
        for _ in 0..num_segments {
            let segment = Segment {
                id: rest.number()?,
                first_leaf: rest.number()?,
                last_leaf: rest.number()?,
            };
            // A segment that was merged into another one has no leaves.
            if segment.last_leaf > 0 {
                level.push(segment);
            }
        }
        levels.push(level);
    }
    levels.reverse();
    Some(levels.concat())
}

/// Parses a list of occurrences that may span several leaves.
struct OccurrenceList<'a> {
    found: &'a mut Vec<Occurrence>,
    chunk_id: i64,
    /// Bytes of the last chunk's positions that are on the next leaf.
    rest_len: usize,
    /// `None` if the column's number comes next, perhaps on the next leaf.
    column: Option<u64>,
}

impl OccurrenceList<'_> {
    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let mut bytes = Bytes(bytes);
        // The first id on a leaf is absolute; the others are differences.
        let mut is_first = true;
        let num_continued = self.rest_len.min(bytes.0.len());
        self.positions(bytes.take(num_continued)?)?;
        while !bytes.0.is_empty() {
            let number = bytes.varint()?.cast_signed();
            self.chunk_id = if is_first { number } else { self.chunk_id.checked_add(number)? };
            is_first = false;
            // The lowest bit marks the removal of an older entry.
            self.rest_len = usize::try_from(bytes.varint()? >> 1).ok()?;
            self.column = Some(0);
            self.found.push(Occurrence {
                chunk_id: ChunkId(self.chunk_id),
                in_context: 0,
                in_text: 0,
                is_other_form: false,
            });
            let len = self.rest_len.min(bytes.0.len());
            self.positions(bytes.take(len)?)?;
        }
        Some(())
    }

    /// Counts positions of the last chunk; a number never spans two leaves.
    fn positions(&mut self, bytes: &[u8]) -> Option<()> {
        self.rest_len -= bytes.len();
        let mut bytes = Bytes(bytes);
        while !bytes.0.is_empty() {
            let number = bytes.varint()?;
            match self.column {
                None => self.column = Some(number),
                Some(_) if number == NEXT_COLUMN => self.column = None,
                Some(column) => {
                    let last = self.found.last_mut()?;
                    *(if column == 0 { &mut last.in_context } else { &mut last.in_text }) += 1;
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
