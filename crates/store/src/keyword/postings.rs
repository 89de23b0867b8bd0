//! Reads the occurrences of a term from the tables behind FTS5.
//!
//! FTS5 returns one row per occurrence, or rows without counts; with a million chunks a common word
//! then takes longer than everything else together. Its index consists of two plain tables: leaves
//! of terms with their occurrences, and the first term of each leaf. The layout is described at the
//! head of `fts5_index.c` and has been the same since SQLite 3.9; tests compare with FTS5's own
//! answer.

use rusqlite::{Connection, named_params};

use super::occurrence::Occurrence;
use crate::db::fault::{DatabaseFault, Step};
use crate::db::sql;
use crate::ids::ChunkId;

/// The list of segments, as bytes.
const STRUCTURE: &str = "SELECT block FROM chunks_fts_data WHERE id = 10";

/// The lowest bit is set if the term has a separate index for skipping.
const LEAF_OF_TERM: &str = "
    SELECT pgno >> 1
    FROM chunks_fts_idx
    WHERE segid = :segment AND term <= :term
    ORDER BY term DESC
    LIMIT 1";

const LEAVES: &str = "
    SELECT block
    FROM chunks_fts_data
    WHERE id BETWEEN :first AND :last
    ORDER BY id";

/// Prefix of each term of the main index; prefix indexes have other letters.
const TERM_MARK: u8 = b'0';

/// Bits of a leaf's number in the ids of `chunks_fts_data`; the bits above are the segment's. `fts5_index.c` has 31 for
/// the page, 5 for the height and 1 for an index of chunk ids.
pub(crate) const LEAF_BITS: u32 = 37;

/// Bytes of a leaf before its content: two numbers of two bytes.
const HEAD_LEN: usize = 4;

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

/// Reads where a term of the index occurs, ordered by chunk id, each chunk once.
pub(crate) fn read(db: &Connection, term: &str) -> Step<Vec<Occurrence>> {
    let structure: Option<Vec<u8>> = sql::first_row(db, STRUCTURE, [], |row| row.get(0))?;
    let structure = structure.unwrap_or_default();
    let segments = segments(&structure).ok_or_else(damaged)?;
    let term: Vec<u8> = [&[TERM_MARK], term.as_bytes()].concat();
    let mut found: Vec<Occurrence> = Vec::new();
    for segment in segments {
        read_segment(db, segment, &term, &mut found)?;
    }
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
    Ok(found)
}

/// Returns the first term of a leaf, with its prefix, if the leaf has any; the outer `None` means
/// damage.
pub(crate) fn first_term(leaf: &[u8]) -> Option<Option<&[u8]>> {
    let mut leaf = Leaf::new(leaf)?;
    if leaf.term_starts.0.is_empty() {
        return Some(None);
    }
    let mut entry = Bytes(leaf.content.get(leaf.term_starts.length()?..)?);
    let len = entry.length()?;
    entry.take(len).map(Some)
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

/// Adds the occurrences of a term from one segment.
fn read_segment(
    db: &Connection,
    segment: Segment,
    term: &[u8],
    found: &mut Vec<Occurrence>,
) -> Step<()> {
    let wanted = named_params! { ":segment": segment.id, ":term": term };
    let leaf: Option<i64> = sql::first_row(db, LEAF_OF_TERM, wanted, |row| row.get(0))?;
    // A term before the first separator can only be on the first leaf.
    let first_leaf = leaf.unwrap_or(0).max(segment.first_leaf);
    let last_id = segment.id_of(segment.last_leaf);
    let mut leaves = db.prepare_cached(LEAVES)?;
    let mut leaves =
        leaves.query(named_params! { ":first": segment.id_of(first_leaf), ":last": last_id })?;
    let mut list = OccurrenceList { found, chunk_id: 0, rest_len: 0, column: Some(0) };
    let mut is_first = true;
    while let Some(row) = leaves.next()? {
        let bytes = row.get_ref(0)?.as_blob().map_err(|_| damaged())?;
        let leaf = Leaf::new(bytes).ok_or_else(damaged)?;
        let part = if is_first {
            match leaf.find(term).ok_or_else(damaged)? {
                Some(part) => part,
                None => return Ok(()),
            }
        } else {
            leaf.continued().ok_or_else(damaged)?
        };
        is_first = false;
        list.read(part.bytes).ok_or_else(damaged)?;
        if part.is_last {
            break;
        }
    }
    Ok(())
}

/// The occurrences of a term on one leaf.
struct LeafPostings<'a> {
    bytes: &'a [u8],
    /// Whether another term follows, so that the list does not continue on the next leaf.
    is_last: bool,
}

/// A page of the index: the rest of the previous leaf's last term, then terms.
struct Leaf<'a> {
    /// The content without the footer.
    content: &'a [u8],
    /// The offset of each term in the content, as differences.
    term_starts: Bytes<'a>,
}

impl<'a> Leaf<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let content_len = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
        let (content, term_starts) = bytes.split_at_checked(content_len)?;
        Some(Self { content, term_starts: Bytes(term_starts) })
    }

    /// Finds the occurrences of a term; the outer `None` means damage.
    fn find(mut self, wanted: &[u8]) -> Option<Option<LeafPostings<'a>>> {
        let mut start = 0;
        let mut term: Vec<u8> = Vec::new();
        while !self.term_starts.0.is_empty() {
            let is_first = start == 0;
            start += self.term_starts.length()?;
            let mut entry = Bytes(self.content.get(start..)?);
            let num_kept = if is_first { 0 } else { entry.length()? };
            let num_new = entry.length()?;
            term.truncate(num_kept);
            term.extend_from_slice(entry.take(num_new)?);
            if term == wanted {
                let mut ahead = Bytes(self.term_starts.0);
                let is_last = !ahead.0.is_empty();
                let end = if is_last { start + ahead.length()? } else { self.content.len() };
                let begin = self.content.len() - entry.0.len();
                return Some(Some(LeafPostings { bytes: self.content.get(begin..end)?, is_last }));
            }
        }
        Some(None)
    }

    /// Returns the part that continues the previous leaf.
    fn continued(mut self) -> Option<LeafPostings<'a>> {
        let is_last = !self.term_starts.0.is_empty();
        let end = if is_last { self.term_starts.length()? } else { self.content.len() };
        Some(LeafPostings { bytes: self.content.get(HEAD_LEN..end)?, is_last })
    }
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

/// Bytes that are consumed from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a number of the list of segments.
    fn number(&mut self) -> Option<i64> {
        i64::try_from(self.varint()?).ok()
    }

    /// Reads a number in SQLite's format: seven bits per byte, the highest first, and all eight
    /// bits of the ninth byte.
    #[inline]
    fn varint(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        if *first < 0x80 {
            self.0 = rest;
            return Some(u64::from(*first));
        }
        let mut value = 0;
        for (position, byte) in self.0.iter().enumerate().take(9) {
            if position == 8 {
                value = value << 8 | u64::from(*byte);
            } else {
                value = value << 7 | u64::from(byte & 0x7f);
            }
            if *byte < 0x80 || position == 8 {
                self.0 = &self.0[position + 1..];
                return Some(value);
            }
        }
        None
    }

    fn length(&mut self) -> Option<usize> {
        self.varint()?.try_into().ok()
    }
}

#[cfg(test)]
mod tests;
