//! Finds the columns of a table by the white space between the pieces of its lines.
//!
//! A line is cut where its words stand far apart. Where most lines leave the same stretches white,
//! those part columns; a piece that spans several stands in the first of them.

use super::cells;
use super::lines::{self, Line};
use super::piece::Table;
use super::sheet::Area;
use super::words::Word;
use super::wraps::{self, GridRow};

/// Gap between cells, as a share of the size, between rules and without them.
pub(super) const CELL_GAP_RULED: f64 = 0.75;
pub(super) const CELL_GAP: f64 = 1.1;

/// Gap below which a currency is part of a sentence.
const TOUCHING: f64 = 0.35;

/// Pieces that a line must have to count for the columns, as a share of the most that any has.
const MIN_PIECES: f64 = 0.6;

/// Share of such lines that may run through the white between two columns.
const MAX_CROSSING: f64 = 0.1;

/// Words a piece has at most, on average; text in columns has more.
const MAX_WORDS: f64 = 6.0;

/// Fewest lines of a table without rules.
const MIN_LINES: usize = 3;

/// A line in pieces.
pub(super) struct Row<'a> {
    pub(super) line: &'a Line,
    pub(super) pieces: Vec<Vec<Word>>,
}

impl<'a> Row<'a> {
    pub(super) fn new(line: &'a Line, gap: f64) -> Self {
        let mut pieces: Vec<Vec<Word>> = Vec::new();
        let mut words = line.words.clone();
        words.sort_by(|a, b| a.area.left.total_cmp(&b.area.left));
        for word in words {
            let goes_on = |last: &Word| {
                let distance = -last.area.shared_width(&word.area) / last.size.max(word.size);
                // A currency belongs to the number behind it, however far, and a sign to the one
                // before it.
                let is_new_amount = is_currency(&word.text) && distance > TOUCHING;
                let is_amount = is_currency(&last.text) && is_number(&word.text);
                let is_sign =
                    matches!(word.text.as_str(), ")" | "%" | ")%") && is_number(&last.text);
                !is_new_amount && (distance <= gap || is_amount || is_sign)
            };
            match pieces.last_mut() {
                Some(piece) if piece.last().is_some_and(goes_on) => piece.push(word),
                _ => pieces.push(vec![word]),
            }
        }
        Self { line, pieces }
    }

    /// Joins what an item of a list or a heading begins with to its text.
    pub(super) fn with_mark(mut self) -> Self {
        let is_mark = |piece: &Vec<Word>| piece.len() == 1 && is_mark(&piece[0].text);
        let is_text = |piece: &Vec<Word>| {
            piece.first().is_some_and(|it| it.text.starts_with(char::is_alphabetic))
        };
        if self.pieces.first().is_some_and(is_mark) && self.pieces.get(1).is_some_and(is_text) {
            let mark = self.pieces.remove(0);
            self.pieces[0].splice(0..0, mark);
        }
        self
    }

    pub(super) fn is_parted(&self) -> bool {
        self.pieces.len() > 1
    }
}

/// Returns how far a piece reaches.
pub(super) fn extent(piece: &[Word]) -> (f64, f64) {
    let area = Area::around(piece.iter().map(|it| it.area));
    (area.left, area.right)
}

/// Returns where columns meet, from left to right; empty if there are none.
pub(super) fn borders(rows: &[Row<'_>]) -> Vec<f64> {
    let most = rows.iter().map(|it| it.pieces.len()).max().unwrap_or(0);
    let telling: Vec<&Row<'_>> = rows
        .iter()
        .filter(|it| it.is_parted() && it.pieces.len() as f64 >= MIN_PIECES * most as f64)
        .collect();
    if telling.len() < 2 {
        return Vec::new();
    }
    let mut edges: Vec<(f64, i32)> = Vec::new();
    for row in &telling {
        for piece in &row.pieces {
            let (left, right) = extent(piece);
            edges.extend([(left, 1), (right, -1)]);
        }
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let most_crossing = MAX_CROSSING * telling.len() as f64;
    let (mut crossing, mut white_from) = (0_i32, None);
    let mut borders = Vec::new();
    for (at, change) in edges {
        let was_white = f64::from(crossing) <= most_crossing;
        crossing += change;
        let is_white = f64::from(crossing) <= most_crossing;
        match (was_white, is_white, white_from) {
            (false, true, _) => white_from = Some(at),
            (true, false, Some(from)) => borders.push(f64::midpoint(from, at)),
            _ => {}
        }
    }
    // What parts nothing in two lines is no border.
    borders.retain(|border| {
        let parts = |row: &&&Row<'_>| {
            let (before, after): (Vec<_>, Vec<_>) =
                row.pieces.iter().map(|it| extent(it)).partition(|it| it.0 < *border);
            !before.is_empty() && !after.is_empty()
        };
        telling.iter().filter(parts).count() >= 2
    });
    borders
}

/// Returns where white space parts lines between two rules into columns, from left to right; empty
/// where they read like text.
pub(super) fn white_borders(lines: &[Line]) -> Vec<f64> {
    let rows: Vec<Row<'_>> = lines.iter().map(|it| Row::new(it, CELL_GAP_RULED)).collect();
    let borders = borders(&rows);
    let cells = grid(&rows, &borders);
    if is_table(&rows, &cells, false) { borders } else { Vec::new() }
}

/// Whether `border` parts the pieces of lines: some stand on either side and none on both.
pub(super) fn parts(lines: &[&Line], border: f64) -> bool {
    let (mut before, mut after) = (false, false);
    for line in lines {
        for (left, right) in Row::new(line, CELL_GAP_RULED).pieces.iter().map(|it| extent(it)) {
            if left < border && right > border {
                return false;
            }
            before |= right <= border;
            after |= left >= border;
        }
    }
    before && after
}

/// Puts the pieces of each line into columns.
fn grid(rows: &[Row<'_>], borders: &[f64]) -> Vec<Vec<Vec<Word>>> {
    let place = |row: &Row<'_>| {
        let mut cells: Vec<Vec<Word>> = vec![Vec::new(); borders.len() + 1];
        for piece in &row.pieces {
            let (left, right) = extent(piece);
            // A number that is longer than the others reaches over its border.
            let middle = f64::midpoint(left, right);
            let column = borders.partition_point(|it| *it <= left);
            let last = borders.partition_point(|it| *it <= middle);
            let reaches_over = last > column
                && borders.get(column).is_some_and(|it| it - left < 0.2 * (right - left));
            cells[if reaches_over { column + 1 } else { column }].extend(piece.iter().cloned());
        }
        cells
    };
    rows.iter().map(place).collect()
}

/// Whether pieces in columns are a table rather than text that happens to have gaps.
fn is_table(rows: &[Row<'_>], cells: &[Vec<Vec<Word>>], is_ruled: bool) -> bool {
    let num_columns = cells.first().map_or(0, Vec::len);
    let num_filled = |row: &Vec<Vec<Word>>| row.iter().filter(|it| !it.is_empty()).count();
    let num_parted = cells.iter().filter(|it| num_filled(it) >= 2).count();
    let pieces = || cells.iter().flatten().filter(|it| !it.is_empty());
    let num_words: usize =
        pieces().map(|it| it.iter().filter(|it| !is_number(&it.text)).count()).sum();
    let num_leaders = rows.iter().filter(|it| has_leader(it.line)).count();
    let is_number_cell = |it: &&Vec<Word>| it.iter().any(|it| is_number(&it.text)) && it.len() <= 3;
    let num_numbers = pieces().filter(is_number_cell).count();
    let num_pieces = pieces().count().max(1);
    num_columns >= 2
        && num_parted >= if is_ruled { 2 } else { MIN_LINES }
        && num_parted * 2 >= cells.len()
        && num_words as f64 <= MAX_WORDS * num_pieces as f64
        && num_leaders * 2 < rows.len()
        && (is_ruled || num_columns > 2 || num_numbers * 3 >= num_pieces)
}

pub(super) fn is_number(text: &str) -> bool {
    let num_digits = text.chars().filter(char::is_ascii_digit).count();
    num_digits * 2 >= text.chars().count() && num_digits > 0
        || matches!(
            text,
            "$" | "%" | "\u{20AC}" | "\u{A3}" | "-" | "\u{2013}" | "\u{2014}" | ")" | "("
        )
}

/// Whether a word is a bullet or a section's number.
fn is_mark(text: &str) -> bool {
    let is_number = text.len() <= 8
        && text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '.' | ')' | '('))
        && (text.ends_with(['.', ')']) || text.chars().any(|it| it.is_ascii_digit()))
        && text.chars().filter(char::is_ascii_alphabetic).count() <= 1;
    is_number || text.chars().all(|it| !it.is_alphanumeric())
}

fn is_currency(text: &str) -> bool {
    matches!(text, "$" | "US$" | "\u{20AC}" | "\u{A3}" | "\u{A5}")
}

fn has_leader(line: &Line) -> bool {
    let text = line.text();
    text.contains("....") || text.contains(". . . .") || text.contains("\u{2026}\u{2026}")
}

/// Makes a table of lines; `None` if they are none.
pub(super) fn table(rows: &[Row<'_>], area: Area, is_ruled: bool) -> Option<Table> {
    let borders = borders(rows);
    let cells = grid(rows, &borders);
    if borders.is_empty() || !is_table(rows, &cells, is_ruled) {
        return None;
    }
    let size = rows.first().map_or(0.0, |it| it.line.size);
    let lines = rows.iter().zip(cells);
    let lines =
        lines.map(|(row, cells)| GridRow { cells, base: row.line.base, size: row.line.size });
    let text =
        |row: GridRow| row.cells.into_iter().map(|it| cells::text(&lines::gather(it))).collect();
    let mut rows: Vec<Vec<String>> = wraps::join(lines.collect()).into_iter().map(text).collect();
    cells::drop_empty(&mut rows);
    (rows.len() >= 2 && rows[0].len() >= 2).then(|| Table::new(area, rows, size))
}
