//! Divides a table that is too wide for a chunk by its columns, each part with the head and the first column.
//!
//! Rows are then packed as they come. A cell that does not fit next to its label and below its head is divided too, and
//! label and head are shortened if they take more than half of the chunk; separate chunks have their whole text.

use std::ops::Range;

use super::context::Contexts;
use crate::document::{Block, BlockKind, Document};
use crate::text::markdown;

/// Least columns of a table that is divided by columns: the first one, and two that can be apart.
const MIN_COLUMNS: usize = 3;

/// Most columns that are divided. Beyond them a table is no longer for people, and each part would repeat its head.
const MAX_COLUMNS: usize = 2000;

/// The head of a part takes at most this share of a chunk, as a denominator, so that rows have room.
const MAX_HEAD_SHARE: usize = 3;

/// A label, and each of the two heads of a part with one column, is shortened to this share of a chunk, as a denominator:
/// to half of it together.
const LABEL_SHARE: usize = 6;

/// Least room for the text of a divided cell, in tokens: less would give a chunk per word.
const MIN_ROOM: usize = 8;

/// Tokens between two cells of a row: the bar is one token.
const BETWEEN: usize = 1;

/// The mark that replaces the rest of a shortened text.
const SHORTENED: &str = "…";

/// A part of a wide table.
#[derive(Debug, Clone)]
pub(super) struct TablePart {
    pub(super) block_idx: usize,
    pub(super) text: String,
    /// The range of its rows in the document; with that of the head, if these are the first rows.
    pub(super) bytes: Range<usize>,
    /// Lines of a head that is repeated before them.
    pub(super) num_head_lines: usize,
    /// Whether the label or the head of a cell is shortened.
    pub(super) is_shortened: bool,
}

/// A wide table, whose rows are lines of a document.
struct WideTable<'a> {
    block_idx: usize,
    start: usize,
    /// The cells of each row of the head.
    head: Vec<Vec<&'a str>>,
    rows: Vec<WideRow<'a>>,
    num_columns: usize,
}

struct WideRow<'a> {
    bytes: Range<usize>,
    cells: Vec<&'a str>,
}

/// Returns the parts of a table that is too wide for `budget` tokens; `None` for any other block.
pub(super) fn parts(
    document: &Document,
    block_idx: usize,
    budget: usize,
    contexts: &Contexts<'_>,
) -> Option<Vec<TablePart>> {
    let block = document.blocks.get(block_idx).filter(|block| block.kind == BlockKind::Table)?;
    let text = document.text.get(block.bytes.clone())?;
    let (len, _) = markdown::table_head(text)?;
    let head_cost = contexts.table_head(document, block_idx).map(|(_, cost)| cost);
    let longest = text[len..].lines().max_by_key(|line| line.len()).unwrap_or_default();
    let has_head = text[..len].contains(char::is_alphanumeric);
    let fits = (head_cost.is_some() || !has_head)
        // A token has at least a byte, so a short line fits without being counted.
        && (longest.len() <= budget / 2
            || contexts.count(longest) + head_cost.unwrap_or(0) <= budget);
    let table = (!fits).then(|| WideTable::of(block, block_idx, text, len))?;
    let is_wide = (MIN_COLUMNS..=MAX_COLUMNS).contains(&table.num_columns);
    let mut divider = WideDivider { table: &table, budget, contexts, parts: Vec::new() };
    // Label, head and cell each need room.
    if is_wide && budget >= MIN_ROOM * 4 {
        divider.divide();
    }
    (!divider.parts.is_empty()).then_some(divider.parts)
}

impl<'a> WideTable<'a> {
    fn of(block: &Block, block_idx: usize, text: &'a str, head_len: usize) -> Self {
        let head: Vec<Vec<&str>> = text[..head_len]
            .lines()
            .enumerate()
            .filter(|(idx, _)| *idx != 1)
            .map(|(_, line)| cells(line))
            .collect();
        let mut rows = Vec::new();
        let mut start = block.bytes.start + head_len;
        for line in text[head_len..].split_inclusive('\n') {
            if !line.trim().is_empty() {
                let bytes = start..start + line.trim_end().len();
                rows.push(WideRow { bytes, cells: cells(line) });
            }
            start += line.len();
        }
        let of_rows = rows.iter().map(|row| row.cells.len());
        let num_columns = of_rows.chain(head.iter().map(Vec::len)).max().unwrap_or(0);
        Self { block_idx, start: block.bytes.start, head, rows, num_columns }
    }
}

/// The head of some columns as it is shown.
struct ShownHead {
    /// Its rows with the rule below the first.
    text: String,
    is_shortened: bool,
}

impl ShownHead {
    fn of(table: &WideTable<'_>, columns: &Range<usize>, shorten: &dyn Fn(&str) -> String) -> Self {
        let mut text = String::new();
        for (idx, row) in table.head.iter().enumerate() {
            push_row(&mut text, within(row, columns).map(shorten));
            if idx == 0 {
                text.push_str(&format!("|{}\n", " --- |".repeat(1 + columns.len())));
            }
        }
        Self { text, is_shortened: false }
    }
}

/// Rows of some columns that are not written yet.
struct OpenRows {
    /// Their indexes in the table.
    idxs: Range<usize>,
    text: String,
    cost: usize,
}

/// Divides a wide table.
struct WideDivider<'a, 'c> {
    table: &'a WideTable<'a>,
    budget: usize,
    contexts: &'a Contexts<'c>,
    parts: Vec<TablePart>,
}

impl WideDivider<'_, '_> {
    fn divide(&mut self) {
        let costs: Vec<(usize, usize)> = (0..self.table.num_columns)
            .map(|column| (self.cost_of_head(column) + 2 * BETWEEN, self.cost_of_longest(column)))
            .collect();
        let (label_head, label) = costs[0];
        let mut start = 1;
        while start < costs.len() {
            let (mut heads, mut cells, mut end) = (label_head, label, start);
            while let Some((head, cell)) = costs.get(end) {
                let fits = (heads + head) * MAX_HEAD_SHARE <= self.budget
                    && heads + head + cells + cell <= self.budget;
                if !fits && end > start {
                    break;
                }
                (heads, cells, end) = (heads + head, cells + cell, end + 1);
            }
            self.write_columns(&(start..end));
            start = end;
        }
    }

    /// Returns the cost of the longest cell of a column.
    fn cost_of_longest(&self, column: usize) -> usize {
        let cells = self.table.rows.iter().filter_map(|row| row.cells.get(column));
        cells.max_by_key(|cell| cell.len()).map_or(0, |cell| self.cost_of(cell))
    }

    fn cost_of_head(&self, column: usize) -> usize {
        let cells = self.table.head.iter().filter_map(|row| row.get(column));
        cells.map(|cell| self.cost_of(cell)).sum()
    }

    /// Returns the cost of a cell with what separates it from the next one.
    fn cost_of(&self, cell: &str) -> usize {
        self.contexts.count(cell) + BETWEEN
    }

    /// Writes all rows of some columns.
    fn write_columns(&mut self, columns: &Range<usize>) {
        let table = self.table;
        let mut head = ShownHead::of(table, columns, &str::to_owned);
        if self.contexts.count(&head.text) * MAX_HEAD_SHARE > self.budget {
            head = self.shortened_head(columns, head);
        }
        let head_cost = self.contexts.count(&head.text);
        let mut open: Option<OpenRows> = None;
        for (idx, row) in table.rows.iter().enumerate() {
            // The label of a row is in each part, but no row without anything else.
            if within(&row.cells, columns).skip(1).all(str::is_empty) && columns.start > 1 {
                continue;
            }
            let mut text = String::new();
            push_row(&mut text, within(&row.cells, columns).map(str::to_owned));
            let cost = self.contexts.count(&text);
            if let Some(rows) = &mut open
                && head_cost + rows.cost + cost <= self.budget
            {
                rows.idxs.end = idx + 1;
                rows.cost += cost;
                rows.text.push_str(&text);
                continue;
            }
            self.end(open.take(), &head);
            if head_cost + cost <= self.budget {
                open = Some(OpenRows { idxs: idx..idx + 1, text, cost });
            } else {
                self.write_large(idx, columns, &head);
            }
        }
        self.end(open, &head);
    }

    /// Returns a head that leaves room for rows, and writes the whole of what it shortens.
    fn shortened_head(&mut self, columns: &Range<usize>, whole: ShownHead) -> ShownHead {
        let head = ShownHead::of(self.table, columns, &|text| self.shortened(text));
        if head.text == whole.text {
            return whole;
        }
        let table = self.table;
        let from = usize::from(columns.start > 1);
        let headings = table.head.iter().flat_map(|row| within(row, columns).skip(from));
        for heading in headings {
            if self.shortened(heading) != heading {
                self.write_whole(0, heading);
            }
        }
        ShownHead { is_shortened: true, ..head }
    }

    /// Shortens a text so that a label and two heads take half of a chunk.
    fn shortened(&self, text: &str) -> String {
        let most = self.budget / LABEL_SHARE;
        if self.contexts.count(text) <= most {
            return text.to_owned();
        }
        format!("{}{SHORTENED}", self.contexts.shorten(text, most.saturating_sub(1)))
    }

    /// Ends a part of rows.
    fn end(&mut self, open: Option<OpenRows>, head: &ShownHead) {
        if let Some(OpenRows { idxs, text, .. }) = open {
            let text = format!("{}{text}", head.text);
            self.push(idxs, &text, head.text.lines().count(), head.is_shortened);
        }
    }

    fn push(&mut self, rows: Range<usize>, text: &str, num_head_lines: usize, is_shortened: bool) {
        let table = self.table;
        let own = table.rows[rows.start].bytes.start..table.rows[rows.end - 1].bytes.end;
        let is_first = rows.start == 0 && num_head_lines == table.head.len() + 1;
        let start = if is_first { table.start } else { own.start };
        self.parts.push(TablePart {
            block_idx: table.block_idx,
            text: text.trim_end().to_owned(),
            bytes: start..own.end,
            num_head_lines: if is_first { 0 } else { num_head_lines },
            is_shortened,
        });
    }

    /// Writes a row that does not fit below its head: half of its columns at a time, and a single cell in pieces.
    fn write_large(&mut self, idx: usize, columns: &Range<usize>, head: &ShownHead) {
        let table = self.table;
        let cells = &table.rows[idx].cells;
        if columns.len() > 1 {
            let middle = columns.start + columns.len() / 2;
            // The depth is the logarithm of the number of columns.
            for half in [columns.start..middle, middle..columns.end] {
                let head = ShownHead::of(table, &half, &str::to_owned);
                let mut text = head.text.clone();
                push_row(&mut text, within(cells, &half).map(str::to_owned));
                if self.contexts.count(&text) <= self.budget {
                    self.push(idx..idx + 1, &text, head.text.lines().count(), false);
                } else {
                    self.write_large(idx, &half, &head);
                }
            }
            return;
        }
        let label = cells.first().copied().unwrap_or_default();
        let short_label = self.shortened(label);
        if short_label != label && columns.start == 1 {
            self.write_whole(idx, label);
        }
        let is_shortened = head.is_shortened || short_label != label;
        let used = self.contexts.count(&format!("{}| {short_label} |  |", head.text));
        let room = self.budget.saturating_sub(used).max(MIN_ROOM);
        let cell = cells.get(columns.start).copied().unwrap_or_default();
        for piece in self.pieces(cell, room) {
            let text = format!("{}| {short_label} | {piece} |", head.text);
            self.push(idx..idx + 1, &text, table.head.len() + 1, is_shortened);
        }
    }

    /// Writes a text that is elsewhere shortened.
    fn write_whole(&mut self, idx: usize, text: &str) {
        for piece in self.pieces(text, self.budget) {
            self.push(idx..idx + 1, &piece, 0, false);
        }
    }

    /// Divides a text into pieces of at most this many tokens.
    fn pieces(&self, text: &str, max_tokens: usize) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let piece = self.contexts.shorten(rest, max_tokens);
            if piece.is_empty() {
                pieces.push(rest.to_owned());
                break;
            }
            rest = rest[piece.len()..].trim_start();
            pieces.push(piece);
        }
        pieces
    }
}

/// Returns the cell of the first column and those of others.
fn within<'a>(cells: &'a [&'a str], columns: &Range<usize>) -> impl Iterator<Item = &'a str> {
    std::iter::once(0)
        .chain(columns.clone())
        .map(|column| cells.get(column).copied().unwrap_or_default())
}

fn push_row(text: &mut String, cells: impl Iterator<Item = String>) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&cell);
        text.push_str(" |");
    }
    text.push('\n');
}

/// Returns the cells of a row as they are written.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = Vec::new();
    let (mut start, mut is_escaped) = (0, false);
    for (at, letter) in line.char_indices() {
        if letter == '|' && !is_escaped {
            cells.push(line[start..at].trim());
            start = at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    if start < line.len() {
        cells.push(line[start..].trim());
    }
    cells
}
