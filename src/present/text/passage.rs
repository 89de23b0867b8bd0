//! Selects the lines of a passage that best answer a query, and marks the query's words. A pure function.
//!
//! ```text
//! text ─► blocks (paragraph, heading, item, line of code) ─► beginnings ─► the best lines
//! ```

use std::cmp::Reverse;
use std::ops::Range;

use crate::present::terminal::columns::{width, wrap};
use crate::present::text::blocks::{PassageBlock, blocks};
use crate::present::text::passage::spans::{join, shorten};
use crate::search::matches::QueryTerms;
use crate::search::rated_lines::RatedLines;
use crate::text::line_kinds::LineKind;
use crate::text::printable::{clean, clean_lines};
use crate::text::sentences;

mod spans;

pub use spans::LineSpan;

/// Narrower output would be unreadable.
const MIN_COLUMNS: usize = 20;

/// The space for a passage.
#[derive(Debug, Clone, Copy)]
pub struct PassageRoom {
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
    pub lines: Vec<Vec<LineSpan>>,
    /// The lines, from 0 and in order, before which the passage has others.
    pub cuts: Vec<usize>,
}

/// A line that may be shown: its block and its byte range.
#[derive(Debug, Clone)]
struct PassageLine {
    block: usize,
    bytes: Range<usize>,
}

impl PassageLine {
    fn has(&self, place: InBlock) -> bool {
        self.block == place.block && self.bytes.contains(&place.at)
    }
}

/// A byte of the text of a block.
#[derive(Debug, Clone, Copy)]
struct InBlock {
    block: usize,
    at: usize,
}

/// A place where an excerpt may begin.
#[derive(Debug, Clone, Copy)]
struct ExcerptStart {
    block: usize,
    at: usize,
    is_sentence: bool,
}

/// Selects the part of a passage to show: the best sentence or line ([`RatedLines`]), with what announces it, or with the head
/// of its table. `known` are headings already shown with it, and `cited` is the line, from 0, of which something must be shown.
pub fn excerpt(
    text: &str,
    known: &[&str],
    wanted: &QueryTerms,
    cited: Option<usize>,
    room: PassageRoom,
) -> Excerpt {
    let room =
        PassageRoom { columns: room.columns.max(MIN_COLUMNS), lines: room.lines.max(1), ..room };
    let text = clean_lines(text);
    let rated = RatedLines::new(&text, room.is_code, &wanted.find(&text), wanted);
    let mut blocks = blocks(&text, room.is_code);
    let num_known = blocks.iter().take_while(|block| is_known_heading(&block.text, known)).count();
    if num_known < blocks.len() {
        blocks.drain(..num_known);
    }
    blocks.retain(|block| block.kind != LineKind::TableRule);
    for block in &mut blocks {
        block.matches = wanted.find(&block.text);
    }
    let best = cited.map_or_else(|| rated.best(), |line| rated.best_at(line));
    let begin = place_of(&blocks, best.start);
    let announcing = rated.announced_by(best.start);
    let announcement = announcing.and_then(|bytes| place_of(&blocks, bytes.start)).or(begin);
    let page = ShownPassage { blocks, rated, best, begin, announcement, room };
    page.table_row().or_else(|| page.window()).unwrap_or_default()
}

/// Returns all lines of a passage, with a blank line where its blocks have one between them.
pub fn whole(text: &str, wanted: &QueryTerms, columns: usize, is_code: bool) -> Vec<Vec<LineSpan>> {
    let room = PassageRoom { columns: columns.max(MIN_COLUMNS), lines: usize::MAX, is_code };
    let mut blocks = blocks(&clean_lines(text), is_code);
    for block in &mut blocks {
        block.matches = wanted.find(&block.text);
    }
    let mut lines = Vec::new();
    let mut last: Option<usize> = None;
    for row in rows(&blocks, ExcerptStart { block: 0, at: 0, is_sentence: true }, room) {
        let block = &blocks[row.block];
        let above = last.filter(|above| *above != row.block);
        if above.is_some_and(|above| block.lines.start > blocks[above].lines.end) {
            lines.push(Vec::new());
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
fn beginnings(blocks: &[PassageBlock], room: PassageRoom) -> Vec<ExcerptStart> {
    let mut found = Vec::new();
    for (idx, block) in blocks.iter().enumerate() {
        found.push(ExcerptStart { block: idx, at: 0, is_sentence: true });
        if is_one_row(block, room) {
            continue;
        }
        let sentences = sentences::begins(&block.text);
        let lines = wrap(&block.text, room.columns).map(|line| line.start);
        let lines = lines.filter(|at| *at > 0 && !sentences.contains(at));
        let mut places: Vec<(usize, bool)> = lines.map(|at| (at, false)).collect();
        places.extend(sentences.iter().map(|at| (*at, true)));
        places.sort_unstable();
        found.extend(places.into_iter().map(|(at, is_sentence)| ExcerptStart {
            block: idx,
            at,
            is_sentence,
        }));
    }
    found
}

/// Returns the lines from a place on, as many as there is room for.
fn rows(blocks: &[PassageBlock], begin: ExcerptStart, room: PassageRoom) -> Vec<PassageLine> {
    let mut found = Vec::new();
    for (idx, block) in blocks.iter().enumerate().skip(begin.block) {
        let start = if idx == begin.block { begin.at } else { 0 };
        let left = room.lines - found.len();
        if is_one_row(block, room) {
            found.push(PassageLine { block: idx, bytes: start..block.text.len() });
        } else {
            let lines = wrap(&block.text[start..], room.columns).take(left);
            found.extend(lines.map(|line| PassageLine {
                block: idx,
                bytes: start + line.start..start + line.end,
            }));
        }
        if found.len() == room.lines {
            break;
        }
    }
    found
}

/// Whether a block is shown as one line, with its indentation.
fn is_one_row(block: &PassageBlock, room: PassageRoom) -> bool {
    block.is_verbatim() && fits(block, room)
        || block.kind == LineKind::Record && width(&block.text) <= room.columns
}

/// Whether a line that is not wrapped shows all its marked words.
fn fits(block: &PassageBlock, room: PassageRoom) -> bool {
    let end = block.matches.iter().map(|found| found.bytes.end).max().unwrap_or(0);
    width(&block.text[..end]) < room.columns
}

/// A passage, and the parts of it that have to be shown.
struct ShownPassage {
    blocks: Vec<PassageBlock>,
    rated: RatedLines,
    /// The best sentence or line, as bytes of the passage.
    best: Range<usize>,
    /// Where it begins.
    begin: Option<InBlock>,
    /// Where what announces it begins, or it itself.
    announcement: Option<InBlock>,
    room: PassageRoom,
}

/// How good an excerpt is: by the words of the best sentence that it shows, by whether it shows where that begins, by all its
/// words, and by how well it is cut.
type Worth = (usize, bool, usize, i32);

impl ShownPassage {
    /// Returns the head of a table and the best row with those below it; `None` if that is no row of a table.
    fn table_row(&self) -> Option<Excerpt> {
        let row = self.begin?.block;
        let head = place_of(&self.blocks, self.rated.table_head(self.best.start)?.start)?.block;
        if self.room.lines == 1 || head == row {
            return None;
        }
        let table_rows =
            self.blocks[row..].iter().take_while(|block| block.kind == LineKind::TableRow);
        let end = row + table_rows.count();
        let room = PassageRoom { lines: self.room.lines - 1, ..self.room };
        let table = &self.blocks[..end];
        let begins = beginnings(table, room).into_iter().filter(|begin| begin.block == row);
        let begin = self.best_of(begins)?;
        let shown = rows(table, begin, room);
        // Only the part of a wide head that has words of the query is shown.
        let head_row = self.parts_of(head).max_by_key(|part| {
            (self.rated.within(&self.in_passage(part)), Reverse(part.bytes.start))
        })?;
        let mut cuts = Vec::new();
        cuts.extend((head > 0).then_some(0));
        cuts.extend((head + 1 < row || begin.at > 0).then_some(1));
        let is_whole = head_row.bytes.end == self.blocks[head].text.len();
        let mut excerpt = self.drawn([head_row].into_iter().chain(shown).collect(), cuts);
        if !is_whole {
            shorten(&mut excerpt.lines[0], self.room.columns);
        }
        Some(excerpt)
    }

    /// Returns the lines of a block.
    fn parts_of(&self, block: usize) -> impl Iterator<Item = PassageLine> {
        let lines = wrap(&self.blocks[block].text, self.room.columns);
        lines.map(move |bytes| PassageLine { block, bytes })
    }

    /// Returns the best consecutive lines.
    fn window(&self) -> Option<Excerpt> {
        let begin = self.best_of(beginnings(&self.blocks, self.room))?;
        let rows = self.without_end(rows(&self.blocks, begin, self.room));
        let cuts = if (begin.block, begin.at) == (0, 0) { vec![] } else { vec![0] };
        Some(self.drawn(rows, cuts))
    }

    /// Returns the best of several places to begin; the first of equal ones.
    fn best_of(&self, places: impl IntoIterator<Item = ExcerptStart>) -> Option<ExcerptStart> {
        let rated = places.into_iter().map(|begin| (self.worth(begin), begin));
        let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, begin)| begin)
    }

    /// Rates an excerpt that begins here.
    fn worth(&self, begin: ExcerptStart) -> Worth {
        let rows = self.without_end(rows(&self.blocks, begin, self.room));
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return (0, false, 0, 0);
        };
        let shown = self.in_passage(first).start..self.in_passage(last).end;
        let of_best = shown.start.max(self.best.start)..shown.end.min(self.best.end);
        let first_of_best = row_with(&rows, self.begin);
        let is_begun = first_of_best.is_some();
        let first = row_with(&rows, self.announcement).or(first_of_best);
        let neatness = match first.and_then(|number| i32::try_from(number).ok()) {
            _ if (begin.block, begin.at) == (0, 0) => 1,
            // An excerpt without its first line is less neat than any other.
            None => -100,
            Some(number) => {
                // Code is shown with the line before it.
                let is_code = self.room.is_code && self.blocks[begin.block].is_verbatim();
                -(number - i32::from(is_code)).abs() * 2 - if begin.is_sentence { 0 } else { 3 }
            }
        };
        (self.rated.within(&of_best), is_begun, self.rated.within(&shown), neatness)
    }

    /// Removes headings, heads of tables, and sentences that end with a colon, from the end: what they announce would not be
    /// shown.
    fn without_end(&self, mut rows: Vec<PassageLine>) -> Vec<PassageLine> {
        let all = rows.clone();
        while let Some(row) = rows.last_mut() {
            let block = &self.blocks[row.block];
            let last = self.in_passage(row).end.saturating_sub(1);
            let announcing = self.rated.announcing(last).filter(|bytes| *bytes != self.best);
            let end = match announcing.map(|bytes| block.in_text(bytes.start)) {
                None if matches!(block.kind, LineKind::Heading | LineKind::TableHead) => {
                    row.bytes.start
                }
                None => break,
                Some(begin) => begin.map_or(0, |at| snapped(block, at)),
            };
            row.bytes.end = row.bytes.start
                + block.text[..end].get(row.bytes.start..).unwrap_or("").trim_end().len();
            if !row.bytes.is_empty() {
                break;
            }
            rows.pop();
        }
        if rows.is_empty() { all } else { rows }
    }

    /// Returns the bytes of the passage that a line has.
    fn in_passage(&self, row: &PassageLine) -> Range<usize> {
        let block = &self.blocks[row.block];
        let last = block.in_passage(row.bytes.end.saturating_sub(1).max(row.bytes.start));
        block.in_passage(row.bytes.start)..last + 1
    }

    /// Returns the lines with matches marked.
    fn drawn(&self, mut rows: Vec<PassageLine>, cuts: Vec<usize>) -> Excerpt {
        let Self { blocks, room, .. } = self;
        dedent(blocks, &mut rows);
        let last = rows.last();
        let is_all = last.is_none_or(|row| {
            row.block + 1 == blocks.len()
                && blocks[row.block].text[row.bytes.end..].trim().is_empty()
        });
        let mut lines: Vec<Vec<LineSpan>> =
            rows.iter().map(|row| line(&blocks[row.block], row, *room)).collect();
        if let (Some(last), false) = (lines.last_mut(), is_all) {
            shorten(last, room.columns);
        }
        Excerpt { lines, cuts }
    }
}

/// Returns the number of the line with a place.
fn row_with(rows: &[PassageLine], place: Option<InBlock>) -> Option<usize> {
    let place = place?;
    rows.iter().position(|row| row.has(place))
}

/// Returns the place of a sentence or line that begins at a byte of the passage.
fn place_of(blocks: &[PassageBlock], at: usize) -> Option<InBlock> {
    let block = blocks.iter().position(|block| block.in_text(at).is_some())?;
    let at = snapped(&blocks[block], blocks[block].in_text(at)?);
    Some(InBlock { block, at })
}

/// Returns where the sentence of a block begins that begins about here: a block has no double spaces.
fn snapped(block: &PassageBlock, at: usize) -> usize {
    let begins = sentences::begins(&block.text);
    let nearest = [0].into_iter().chain(begins).min_by_key(|begin| begin.abs_diff(at));
    let begin = nearest.unwrap_or(0);
    begin + block.text[begin..].len() - block.text[begin..].trim_start().len()
}

/// Removes the indentation that all lines share, if lines are kept.
fn dedent(blocks: &[PassageBlock], rows: &mut [PassageLine]) {
    let indents = rows.iter().map(|row| {
        let text = &blocks[row.block].text[row.bytes.clone()];
        text.len() - text.trim_start_matches(' ').len()
    });
    let common = indents.min().unwrap_or(0);
    rows.iter_mut().for_each(|row| row.bytes.start += common);
}

fn span(block: &PassageBlock, bytes: Range<usize>, is_match: bool) -> LineSpan {
    LineSpan { text: block.text[bytes].to_owned(), is_match }
}

/// Splits a line into marked and unmarked pieces.
fn line(block: &PassageBlock, row: &PassageLine, room: PassageRoom) -> Vec<LineSpan> {
    let mut spans: Vec<LineSpan> = Vec::new();
    let mut at = row.bytes.start;
    for found in &block.matches {
        let start = found.bytes.start.clamp(at, row.bytes.end);
        let end = found.bytes.end.clamp(start, row.bytes.end);
        if start < end {
            if at < start {
                spans.push(span(block, at..start, false));
            }
            spans.push(span(block, start..end, true));
            at = end;
        }
    }
    if at < row.bytes.end {
        spans.push(span(block, at..row.bytes.end, false));
    }
    if block.is_verbatim() && width(&block.text[row.bytes.clone()]) > room.columns {
        shorten(&mut spans, room.columns);
    }
    join(spans)
}

#[cfg(test)]
mod tests;
