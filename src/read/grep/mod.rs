//! Finds all lines in the stored texts of documents that match a pattern.
//!
//! Several threads, each with its own connection, read the chunks of whole documents, join them and match their
//! lines; the answer is in the order of the documents. Nothing is indexed for it.

pub(crate) mod in_file;
mod pattern;

use std::ops::Range;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::document::join::JoinedText;
use crate::document::{Chunk, LineRange};
use crate::error::Result;
use crate::store::{ChunkId, ChunkPlace, DocumentId, RawChunk, RawPlace, Store};

use pattern::line_at;
pub use pattern::{LinePattern, PatternOptions};

/// Most documents that a thread takes at once, to read them in one transaction.
const MAX_BATCH: usize = 64;

/// How often a thread should take documents, so that all end at about the same time.
const BATCHES_PER_THREAD: usize = 8;

/// The detail that is returned for a document with a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrepDetail {
    /// Its matching lines, with so many lines before and after each.
    Lines(usize),
    /// Their number.
    Count,
    /// That it has one.
    Name,
}

/// A document with a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedDocument {
    /// The document.
    pub document_id: DocumentId,
    /// The chunk of the first matching line.
    pub first_chunk: ChunkId,
    /// Number of its matching lines; 1 if only its name was wanted.
    pub num_lines: usize,
    /// The matching lines and those around them, in order; empty if they were not wanted.
    pub lines: Vec<GrepLine>,
}

/// A line of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepLine {
    /// The chunk it is from, or begins in.
    pub chunk_id: ChunkId,
    /// Where the chunk is from. Its lines are only that of this line if lines can be counted.
    pub place: ChunkPlace,
    /// The line, without its end.
    pub text: String,
    /// The matches in it, in bytes; empty for a line around a matching one.
    pub matches: Vec<Range<usize>>,
    /// Whether it does not follow the line before.
    pub is_after_gap: bool,
}

/// Searches documents, and returns those with a match in the same order.
pub fn grep(
    store: &Store,
    documents: &[DocumentId],
    pattern: &LinePattern,
    detail: GrepDetail,
) -> Result<Vec<MatchedDocument>> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let batch = documents.len().div_ceil(processors * BATCHES_PER_THREAD).clamp(1, MAX_BATCH);
    let num_helpers = documents.len().div_ceil(batch).min(processors).saturating_sub(1);
    let batches = GrepBatches { documents, batch, next: AtomicUsize::new(0) };
    let mut found = thread::scope(|scope| {
        let mut helpers = Vec::new();
        for _ in 0..num_helpers {
            let reader = store.take_reader()?;
            let batches = &batches;
            helpers.push(
                scope.spawn(move || (search_batches(&reader, batches, pattern, detail), reader)),
            );
        }
        let mut found = search_batches(store, &batches, pattern, detail);
        for helper in helpers {
            let (outcome, reader) =
                helper.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            store.return_reader(reader);
            found = found.and_then(|mut found| {
                found.extend(outcome?);
                Ok(found)
            });
        }
        found
    })?;
    // Threads take batches in any order.
    found.sort_by_key(|matched| matched.document_id);
    Ok(found)
}

/// The documents to search. Each thread takes one batch of them after another.
struct GrepBatches<'a> {
    documents: &'a [DocumentId],
    batch: usize,
    /// Where the next batch begins.
    next: AtomicUsize,
}

impl<'a> GrepBatches<'a> {
    /// Takes the next documents; `None` if all are taken.
    fn take(&self) -> Option<&'a [DocumentId]> {
        let start = self.next.fetch_add(self.batch, Ordering::Relaxed);
        let rest = self.documents.get(start..).filter(|rest| !rest.is_empty())?;
        Some(&rest[..self.batch.min(rest.len())])
    }
}

/// Searches batches of documents until all are taken, and returns the documents with a match.
fn search_batches(
    store: &Store,
    batches: &GrepBatches<'_>,
    pattern: &LinePattern,
    detail: GrepDetail,
) -> Result<Vec<MatchedDocument>> {
    let pattern = pattern.clone();
    let mut text = GrepText::default();
    let mut found = Vec::new();
    while let Some(batch) = batches.take() {
        let mut last = None;
        store.visit_texts(batch, &mut |id, chunk| {
            if let Some(last) = last.replace(id).filter(|last| *last != id) {
                found.extend(text.search(store, last, &pattern, detail)?);
                text.clear();
            }
            text.push(chunk);
            Ok(())
        })?;
        if let Some(last) = last {
            found.extend(text.search(store, last, &pattern, detail)?);
            text.clear();
        }
    }
    Ok(found)
}

/// The text of a document, with ids and places of its chunks. Its memory is used for the next one.
#[derive(Default)]
struct GrepText {
    joined: JoinedText,
    /// Ids of the chunks, where their places are in `places`, and how many lines of a head each repeats.
    chunks: Vec<(ChunkId, Range<usize>, usize)>,
    places: String,
}

impl GrepText {
    fn clear(&mut self) {
        self.joined.clear();
        self.chunks.clear();
        self.places.clear();
    }

    fn push(&mut self, chunk: RawChunk<'_>) {
        self.joined.push(chunk.text, chunk.place.lines());
        let start = self.places.len();
        self.places.push_str(chunk.place.as_str());
        let len = self.joined.spans.last().map_or(0, Range::len);
        let num_head_lines = chunk.text[..chunk.text.len() - len].matches('\n').count();
        self.chunks.push((chunk.id, start..self.places.len(), num_head_lines));
    }

    fn search(
        &self,
        store: &Store,
        document_id: DocumentId,
        pattern: &LinePattern,
        detail: GrepDetail,
    ) -> Result<Option<MatchedDocument>> {
        let mut matching: Vec<Range<usize>> = Vec::new();
        let mut num_lines = 0;
        pattern.visit_lines(&self.joined.text, |line| {
            num_lines += 1;
            if num_lines == 1 || matches!(detail, GrepDetail::Lines(_)) {
                matching.push(line);
            }
            detail != GrepDetail::Name
        });
        let Some(first) = matching.first() else { return Ok(None) };
        let first_chunk = self.chunks[self.joined.chunk_at(first.start)].0;
        let lines = match detail {
            GrepDetail::Lines(around) => self.lines(store, pattern, &matching, around)?,
            GrepDetail::Count | GrepDetail::Name => Vec::new(),
        };
        Ok(Some(MatchedDocument { document_id, first_chunk, num_lines, lines }))
    }

    /// Returns the matching lines and those around them.
    fn lines(
        &self,
        store: &Store,
        pattern: &LinePattern,
        matching: &[Range<usize>],
        around: usize,
    ) -> Result<Vec<GrepLine>> {
        let mut lines: Vec<GrepLine> = Vec::new();
        let mut placed: Option<(usize, Chunk)> = None;
        for LineShown { bytes, is_match, is_after_gap } in
            surrounded(&self.joined.text, matching, around)
        {
            let text = &self.joined.text[bytes.clone()];
            let matches = if is_match { pattern.matches(text) } else { Vec::new() };
            // The first match decides from which page or chunk a line is that two of them share.
            let at = bytes.start + matches.first().map_or(0, |found| found.start);
            let idx = self.joined.chunk_at(at);
            let (chunk_id, json, num_head_lines) = &self.chunks[idx];
            let chunk = match placed.take().filter(|(known, _)| *known == idx) {
                Some((_, chunk)) => chunk,
                None => store.placed_chunk(RawPlace::new(&self.places[json.clone()])),
            };
            let start = self.joined.spans[idx].start.min(at);
            let in_chunk = num_head_lines + self.joined.text[start..at].matches('\n').count();
            let place = ChunkPlace::of_line(&chunk, in_chunk);
            let in_file = self.joined.line(idx, at);
            let in_file = in_file.map(LineRange::single).or(place.lines);
            lines.push(GrepLine {
                chunk_id: *chunk_id,
                place: ChunkPlace { lines: in_file, ..place },
                text: text.to_owned(),
                matches,
                is_after_gap,
            });
            placed = Some((idx, chunk));
        }
        Ok(lines)
    }
}

/// A line that is shown.
#[derive(Debug, Clone)]
struct LineShown {
    bytes: Range<usize>,
    /// Whether it matches, and is not only near one that does.
    is_match: bool,
    /// Whether it does not follow the line before.
    is_after_gap: bool,
}

/// Returns matching lines and up to `around` lines before and after each.
fn surrounded(text: &str, matching: &[Range<usize>], around: usize) -> Vec<LineShown> {
    let mut shown: Vec<LineShown> = Vec::new();
    let mut next = 0;
    for (number, line) in matching.iter().enumerate() {
        for near in before(text, line.start, next, around) {
            push_line(&mut shown, near, false);
        }
        push_line(&mut shown, line.clone(), true);
        next = line.end + 1;
        let limit = matching.get(number + 1).map_or(text.len(), |line| line.start);
        for _ in 0..around {
            if next >= limit {
                break;
            }
            let after = line_at(text, next);
            next = after.end + 1;
            push_line(&mut shown, after, false);
        }
    }
    shown
}

/// Adds a line after those that are shown.
fn push_line(shown: &mut Vec<LineShown>, bytes: Range<usize>, is_match: bool) {
    let end_of_last = shown.last().map(|line| line.bytes.end);
    let is_after_gap = end_of_last.is_some_and(|end| end + 1 < bytes.start);
    shown.push(LineShown { bytes, is_match, is_after_gap });
}

/// Returns up to `around` lines before the line that begins at `start`, none of which begins before `least`.
fn before(text: &str, start: usize, least: usize, around: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = start;
    while lines.len() < around && start > least {
        let line = line_at(text, start - 1);
        start = line.start;
        lines.push(line);
    }
    lines.reverse();
    lines
}

#[cfg(test)]
mod tests;
