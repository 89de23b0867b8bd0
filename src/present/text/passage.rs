//! Selects the lines of a passage that best answer a query, and marks the query's words. A pure function.
//!
//! ```text
//! text ─► blocks (paragraph, heading, item, line of code) ─► beginnings ─► the best lines
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use crate::present::terminal::columns::{ELLIPSIS, prefix, width, wrap};
use crate::present::text::blocks::{Block, blocks};
use crate::search::matches::{Match, QueryTerms};
use crate::text::printable::{clean, clean_lines};
use crate::text::sentences;

/// Narrower output would be unreadable.
const MIN_COLUMNS: usize = 20;

/// The space for a passage.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Width of a line in columns.
    pub columns: usize,
    /// Most lines.
    pub lines: usize,
    /// Whether the text is source code, whose lines are kept.
    pub is_code: bool,
}

/// The part of a passage to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Its lines.
    pub lines: Vec<Vec<Span>>,
    /// Whether the passage begins before them.
    pub is_cut_before: bool,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Clean text.
    pub text: String,
    /// Whether it matches the query.
    pub is_match: bool,
}

/// A line that may be shown: its block and its byte range.
#[derive(Debug, Clone)]
struct Row {
    block: usize,
    bytes: Range<usize>,
}

/// A place where an excerpt may begin.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    block: usize,
    at: usize,
    is_sentence: bool,
}

/// Selects the part of a passage to show. `known` are headings already shown with it, and `cited` is the line, from 0, that
/// must be in it.
pub fn excerpt(
    text: &str,
    known: &[&str],
    wanted: &QueryTerms,
    cited: Option<usize>,
    room: Room,
) -> Excerpt {
    let room = Room { columns: room.columns.max(MIN_COLUMNS), lines: room.lines.max(1), ..room };
    let mut blocks = blocks(&clean_lines(text), room.is_code);
    let num_known = blocks.iter().take_while(|block| is_known_heading(&block.text, known)).count();
    if num_known < blocks.len() {
        blocks.drain(..num_known);
    }
    for block in &mut blocks {
        block.matches = wanted.find(&block.text);
    }
    let mut places = beginnings(&blocks, room);
    if let Some(line) = cited {
        let shows = |begin: &Beginning| {
            rows(&blocks, *begin, room).iter().any(|row| has_line(&blocks[row.block], row, line))
        };
        let showing: Vec<Beginning> = places.iter().copied().filter(shows).collect();
        if !showing.is_empty() {
            places = showing;
        }
    }
    let best = places
        .into_iter()
        .map(|rows| (worth(&blocks, rows, wanted, room), rows))
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    let Some((_, begin)) = best else { return Excerpt::default() };
    drawn(&blocks, begin, room)
}

/// Returns all lines of a passage, with a blank line where its blocks have one between them.
pub fn whole(text: &str, wanted: &QueryTerms, columns: usize, is_code: bool) -> Vec<Vec<Span>> {
    let room = Room { columns: columns.max(MIN_COLUMNS), lines: usize::MAX, is_code };
    let mut blocks = blocks(&clean_lines(text), is_code);
    for block in &mut blocks {
        block.matches = wanted.find(&block.text);
    }
    let mut lines = Vec::new();
    let mut last: Option<usize> = None;
    for row in rows(&blocks, Beginning { block: 0, at: 0, is_sentence: true }, room) {
        let block = &blocks[row.block];
        if let Some(above) = last.filter(|above| *above != row.block) {
            let source = |at: Option<&(usize, usize)>| at.map_or(0, |source| source.1);
            if source(block.sources.first()) > source(blocks[above].sources.last()) + 1 {
                lines.push(Vec::new());
            }
        }
        last = Some(row.block);
        lines.push(line(block, &row, room));
    }
    lines
}

/// Whether a line is a heading that is already shown.
fn is_known_heading(line: &str, known: &[&str]) -> bool {
    let text = line.trim_start_matches('#').trim();
    let is_marked = line.starts_with('#');
    known
        .iter()
        .any(|heading| clean(heading) == text || is_marked && clean(heading).ends_with(text))
}

/// Returns the places where an excerpt may begin, in order.
fn beginnings(blocks: &[Block], room: Room) -> Vec<Beginning> {
    let mut found = Vec::new();
    for (idx, block) in blocks.iter().enumerate() {
        found.push(Beginning { block: idx, at: 0, is_sentence: true });
        if block.is_verbatim && fits(block, room) {
            continue;
        }
        let sentences = sentences::begins(&block.text);
        let lines = wrap(&block.text, room.columns).map(|line| line.start);
        let lines = lines.filter(|at| *at > 0 && !sentences.contains(at));
        let mut places: Vec<(usize, bool)> = lines.map(|at| (at, false)).collect();
        places.extend(sentences.iter().map(|at| (*at, true)));
        places.sort_unstable();
        found.extend(places.into_iter().map(|(at, is_sentence)| Beginning {
            block: idx,
            at,
            is_sentence,
        }));
    }
    found
}

/// Returns the lines from a place on, as many as there is room for.
fn rows(blocks: &[Block], begin: Beginning, room: Room) -> Vec<Row> {
    let mut found = Vec::new();
    for (idx, block) in blocks.iter().enumerate().skip(begin.block) {
        let start = if idx == begin.block { begin.at } else { 0 };
        let left = room.lines - found.len();
        if block.is_verbatim && fits(block, room) {
            found.push(Row { block: idx, bytes: start..block.text.len() });
        } else {
            let lines = wrap(&block.text[start..], room.columns).take(left);
            found.extend(
                lines.map(|line| Row { block: idx, bytes: start + line.start..start + line.end }),
            );
        }
        if found.len() == room.lines {
            break;
        }
    }
    found
}

/// Whether a line that is not wrapped shows all its marked words.
fn fits(block: &Block, room: Room) -> bool {
    let end = block.matches.iter().map(|found| found.bytes.end).max().unwrap_or(0);
    width(&block.text[..end]) < room.columns
}

/// Rates an excerpt that begins here: by what its distinct terms count, then by how well it is cut, then by matches.
///
/// One that ends with a colon counts less: what it announces, often the answer, would not be shown.
fn worth(
    blocks: &[Block],
    begin: Beginning,
    wanted: &QueryTerms,
    room: Room,
) -> (usize, i32, usize) {
    let mut terms = BTreeSet::new();
    let mut num_matches = 0;
    let mut first = None;
    let rows = rows(blocks, begin, room);
    let announces = |row: &Row| {
        let text = &blocks[row.block].text;
        // AsciiDoc continues an item with a plus sign.
        let is_colon = text.trim_end_matches([' ', '+']).ends_with(':');
        is_colon && row.bytes.end == text.len() && row.block + 1 < blocks.len()
    };
    let is_cut_short = rows.last().is_some_and(announces);
    for (number, row) in (0..).zip(rows) {
        let is_shown = |found: &&Match| {
            found.bytes.start >= row.bytes.start && found.bytes.end <= row.bytes.end
        };
        for found in blocks[row.block].matches.iter().filter(is_shown) {
            terms.insert(found.term);
            num_matches += 1;
            first.get_or_insert(number);
        }
    }
    // Preferred are the beginning of the passage, then a sentence that begins with the words, then code
    // with the line before.
    let neatness = match (begin.block, begin.at, first) {
        (0, 0, _) => 1,
        (_, _, None) => -100,
        (block, _, Some(first)) => {
            let is_code = room.is_code && blocks[block].is_verbatim;
            let wanted_before = i32::from(is_code);
            -(first - wanted_before).abs() * 2 - if begin.is_sentence { 0 } else { 3 }
        }
    };
    let sum: usize = terms.into_iter().map(|term| wanted.weight(term)).sum();
    (if is_cut_short { sum * 7 / 10 } else { sum }, neatness, num_matches)
}

/// Returns the lines with matches marked.
fn drawn(blocks: &[Block], begin: Beginning, room: Room) -> Excerpt {
    let mut rows = rows(blocks, begin, room);
    dedent(blocks, &mut rows);
    let last = rows.last();
    let is_all = last.is_none_or(|row| {
        row.block + 1 == blocks.len() && blocks[row.block].text[row.bytes.end..].trim().is_empty()
    });
    let mut lines: Vec<Vec<Span>> =
        rows.iter().map(|row| line(&blocks[row.block], row, room)).collect();
    if let (Some(last), false) = (lines.last_mut(), is_all) {
        shorten(last, room.columns);
    }
    Excerpt { lines, is_cut_before: (begin.block, begin.at) != (0, 0) }
}

/// Removes the indentation that all lines share, if lines are kept.
fn dedent(blocks: &[Block], rows: &mut [Row]) {
    let indent = |row: &Row| {
        let text = &blocks[row.block].text[row.bytes.clone()];
        text.len() - text.trim_start_matches(' ').len()
    };
    let common = rows.iter().map(indent).min().unwrap_or(0);
    rows.iter_mut().for_each(|row| row.bytes.start += common);
}

/// Whether a row has text of a line of the passage.
fn has_line(block: &Block, row: &Row, line: usize) -> bool {
    let Some(at) = block.sources.iter().position(|source| source.1 == line) else { return false };
    let end = block.sources.get(at + 1).map_or(usize::MAX, |next| next.0);
    block.sources[at].0 < row.bytes.end && row.bytes.start < end
}

/// Splits a line into marked and unmarked pieces.
fn line(block: &Block, row: &Row, room: Room) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut add = |bytes: Range<usize>, is_match: bool| {
        if !bytes.is_empty() {
            spans.push(Span { text: block.text[bytes].to_owned(), is_match });
        }
    };
    let mut at = row.bytes.start;
    for found in &block.matches {
        let start = found.bytes.start.clamp(at, row.bytes.end);
        let end = found.bytes.end.clamp(start, row.bytes.end);
        if start < end {
            add(at..start, false);
            add(start..end, true);
            at = end;
        }
    }
    add(at..row.bytes.end, false);
    if block.is_verbatim && width(&block.text[row.bytes.clone()]) > room.columns {
        shorten(&mut spans, room.columns);
    }
    join(spans)
}

/// Joins adjacent pieces of one kind, which overlapping matches leave.
fn join(spans: Vec<Span>) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut().filter(|last| last.is_match == span.is_match) {
            Some(last) => last.text.push_str(&span.text),
            None => joined.push(span),
        }
    }
    joined
}

/// Ends a line with an ellipsis within a width.
fn shorten(spans: &mut Vec<Span>, columns: usize) {
    let mut left = columns - 1;
    for span in spans.iter_mut() {
        span.text.truncate(prefix(&span.text, left).len());
        left -= width(&span.text);
    }
    spans.retain(|span| !span.text.is_empty());
    let is_stop = spans.last().is_some_and(|span| span.text.ends_with('.'));
    let space = if is_stop && left > 0 { " " } else { "" };
    spans.push(Span { text: format!("{space}{ELLIPSIS}"), is_match: false });
    *spans = join(std::mem::take(spans));
}

#[cfg(test)]
mod tests;
