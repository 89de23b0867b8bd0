//! Joins the lines of a table into rows, based on the content of the lines.
//!
//! Lines of a head become one row unless a piece of one spans columns. A label without numbers is
//! joined with the next or previous line if the text continues.

use super::numbers::is_number;
use super::sheet::Area;
use super::words::Word;
use super::{cells, lines};

/// A line of a table, with its words by column.
#[derive(Debug, Clone)]
pub(super) struct GridRow {
    pub(super) cells: Vec<Vec<Word>>,
    pub(super) base: f64,
    pub(super) size: f64,
}

/// Most lines in a head.
const MAX_HEAD: usize = 8;

/// Largest distance of two lines of one row, as a fraction of the size.
const MAX_LEADING: f64 = 1.45;

/// Fraction of a column's width that a piece must cover to be above the column.
const OVER: f64 = 0.3;

/// Words after which a label continues.
const OPEN_WORDS: [&str; 14] =
    ["and", "of", "the", "for", "to", "in", "by", "or", "per", "with", "from", "on", "at", "a"];

/// Joins the lines of each row, and returns the text of its cells.
pub(super) fn join(rows: Vec<GridRow>) -> Vec<Vec<String>> {
    let text = |cell| cells::text(&lines::gather(cell));
    let rows = join_labels(join_head(rows)).into_iter();
    rows.map(|row| row.cells.into_iter().map(text).collect()).collect()
}

fn join_head(mut rows: Vec<GridRow>) -> Vec<GridRow> {
    let len = rows.iter().take_while(|row| row.is_head()).count();
    if !(2..=MAX_HEAD).contains(&len) || len == rows.len() {
        return rows;
    }
    let extents = extents(&rows[len..]);
    let body = rows.split_off(len);
    let mut joined: Vec<GridRow> = Vec::new();
    for row in rows {
        match joined.last_mut() {
            Some(last)
                if !row.spans(&extents)
                    && !last.spans(&extents)
                    && row.base - last.base <= MAX_LEADING * row.size.max(last.size) =>
            {
                last.append(row);
            }
            _ => joined.push(row),
        }
    }
    joined.extend(body);
    joined
}

fn join_labels(rows: Vec<GridRow>) -> Vec<GridRow> {
    let mut joined: Vec<GridRow> = Vec::new();
    for row in rows {
        let Some(last) = joined.last_mut() else {
            joined.push(row);
            continue;
        };
        let is_near = row.base - last.base <= MAX_LEADING * row.size.max(last.size);
        let continues = is_near && (last.label_is_open() || row.label_continues());
        if continues && row.has_label() && (last.is_label() || row.is_label()) {
            last.append(row);
        } else {
            joined.push(row);
        }
    }
    joined
}

/// Returns the horizontal extent of the text in each column.
pub(super) fn extents(rows: &[GridRow]) -> Vec<Area> {
    let width = rows.first().map_or(0, |row| row.cells.len());
    let column = |at: usize| rows.iter().flat_map(move |row| &row.cells[at]).map(|word| word.area);
    (0..width).map(|at| Area::around(column(at))).collect()
}

impl GridRow {
    /// Whether no cell is a number; parts of dates and units do not count as numbers.
    fn is_head(&self) -> bool {
        let is_amount = |cell: &Vec<Word>| {
            cell.iter().all(|word| is_number(&word.text))
                && cell.iter().any(|word| !is_part_of_date(&word.text))
        };
        !self.cells.iter().any(|cell| !cell.is_empty() && is_amount(cell))
    }

    /// Whether one of its pieces is above several columns.
    fn spans(&self, extents: &[Area]) -> bool {
        self.cells.iter().filter(|cell| !cell.is_empty()).any(|cell| {
            let area = Area::around(cell.iter().map(|word| word.area));
            let is_over =
                |column: &&Area| area.shared_width(column) > OVER * column.width().max(1.0);
            extents.iter().filter(is_over).count() > 1
        })
    }

    fn has_label(&self) -> bool {
        self.cells.first().is_some_and(|cell| !cell.is_empty())
    }

    /// Whether it has only the beginning of a row.
    fn is_label(&self) -> bool {
        self.has_label() && self.cells[1..].iter().all(Vec::is_empty)
    }

    fn label_is_open(&self) -> bool {
        let last = self.cells.first().and_then(|cell| cell.last());
        last.is_some_and(|word| {
            word.text.ends_with([',', '-', '\u{2013}']) || OPEN_WORDS.contains(&word.text.as_str())
        })
    }

    fn label_continues(&self) -> bool {
        let first = self.cells.first().and_then(|cell| cell.first());
        first.is_some_and(|word| word.text.starts_with(char::is_lowercase))
    }

    fn append(&mut self, other: Self) {
        self.base = other.base;
        for (cell, more) in self.cells.iter_mut().zip(other.cells) {
            cell.extend(more);
        }
    }
}

/// Whether a word is a year, or a day as in `January 28,`.
fn is_part_of_date(text: &str) -> bool {
    let digits = text.trim_matches(|c: char| !c.is_ascii_digit());
    digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
        || digits.len() <= 2 && text.strip_suffix(',') == Some(digits)
}
