//! Joins the lines of a table into rows; what the lines hold tells where a row has several.
//!
//! Lines of a head are one row unless a piece of one spans columns. A label without numbers goes
//! with the next line or the one before if it reads on.

use super::gaps::is_number;
use super::sheet::Area;
use super::words::Word;

/// A line of a table, its words by column.
#[derive(Debug, Clone)]
pub(super) struct GridRow {
    pub(super) cells: Vec<Vec<Word>>,
    pub(super) base: f64,
    pub(super) size: f64,
}

/// Most lines of a head.
const MAX_HEAD: usize = 8;

/// Distance of two lines of one row, as a share of the size.
const MAX_LEADING: f64 = 1.45;

/// Share of a column's width that a piece must cover to stand over it.
const OVER: f64 = 0.3;

/// Words after which a label goes on.
const OPEN_WORDS: [&str; 14] =
    ["and", "of", "the", "for", "to", "in", "by", "or", "per", "with", "from", "on", "at", "a"];

/// Joins the lines of each row.
pub(super) fn join(rows: Vec<GridRow>) -> Vec<GridRow> {
    join_labels(join_head(rows))
}

fn join_head(mut rows: Vec<GridRow>) -> Vec<GridRow> {
    let len = rows.iter().take_while(|it| it.is_head()).count();
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
                last.take(row);
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
        let reads_on = is_near && (last.label_is_open() || row.label_goes_on());
        if reads_on && row.has_label() && (last.is_label() || row.is_label()) {
            last.take(row);
        } else {
            joined.push(row);
        }
    }
    joined
}

/// Returns how far the text of each column reaches.
fn extents(rows: &[GridRow]) -> Vec<Area> {
    let width = rows.first().map_or(0, |it| it.cells.len());
    let column = |at: usize| rows.iter().flat_map(move |it| &it.cells[at]).map(|it| it.area);
    (0..width).map(|at| Area::around(column(at))).collect()
}

impl GridRow {
    /// Whether no cell holds a number, years and units apart.
    fn is_head(&self) -> bool {
        let is_amount = |cell: &Vec<Word>| {
            cell.iter().all(|it| is_number(&it.text)) && cell.iter().any(|it| !is_year(&it.text))
        };
        !self.cells.iter().any(|it| !it.is_empty() && is_amount(it))
    }

    /// Whether a piece of it stands over several columns.
    fn spans(&self, extents: &[Area]) -> bool {
        self.cells.iter().filter(|it| !it.is_empty()).any(|cell| {
            let area = Area::around(cell.iter().map(|it| it.area));
            let is_over = |it: &&Area| area.shared_width(it) > OVER * it.width().max(1.0);
            extents.iter().filter(is_over).count() > 1
        })
    }

    fn has_label(&self) -> bool {
        self.cells.first().is_some_and(|it| !it.is_empty())
    }

    /// Whether it holds nothing but the beginning of a row.
    fn is_label(&self) -> bool {
        self.has_label() && self.cells[1..].iter().all(Vec::is_empty)
    }

    fn label_is_open(&self) -> bool {
        let last = self.cells.first().and_then(|it| it.last());
        last.is_some_and(|it| {
            it.text.ends_with([',', '-', '\u{2013}']) || OPEN_WORDS.contains(&it.text.as_str())
        })
    }

    fn label_goes_on(&self) -> bool {
        let first = self.cells.first().and_then(|it| it.first());
        first.is_some_and(|it| it.text.starts_with(char::is_lowercase))
    }

    fn take(&mut self, other: Self) {
        self.base = other.base;
        for (cell, more) in self.cells.iter_mut().zip(other.cells) {
            cell.extend(more);
        }
    }
}

fn is_year(text: &str) -> bool {
    let digits = text.trim_matches(|it: char| !it.is_ascii_digit());
    digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
}
