//! Joins the lines of a table into rows, based on the content of the lines.
//!
//! Lines of a head become one row unless a piece of one spans columns. A label without numbers is
//! joined with the next or previous line if the text continues. Text of several columns continues in a line whose first
//! words had no room in the line above.

use super::numbers::is_number;
use super::sheet::PageArea;
use super::words::Word;
use super::{cells, lines};
use crate::text::number::is_year;

/// A line of a table, with its words by column.
#[derive(Debug, Clone)]
pub(super) struct GridRow {
    pub(super) cells: Vec<Vec<Word>>,
    pub(super) base: f64,
    pub(super) size: f64,
}

/// Most lines in a head; more lines without numbers are the rows of a table of words.
const MAX_HEAD: usize = 8;

/// Largest distance of two lines of one row, as a fraction of the size.
const MAX_LEADING: f64 = 1.45;

/// Fraction of a column's width that a piece must cover to be above the column: a head that is wider than its own
/// reaches a little over the next.
const OVER: f64 = 0.3;

/// Width of a space, as a fraction of the size.
const SPACE: f64 = 0.2;

/// How far a line that was broken by hand may end before the room ends, as a fraction of the width of its column.
const SLACK: f64 = 0.1;

/// Fewest rows with more space between them than between their lines; two blocks may be a head and all rows.
const MIN_SPACED: usize = 3;

/// Words after which a label continues.
const OPEN_WORDS: [&str; 14] =
    ["and", "of", "the", "for", "to", "in", "by", "or", "per", "with", "from", "on", "at", "a"];

/// Joins the lines of each row, and returns the text of its cells.
pub(super) fn join(rows: Vec<GridRow>) -> Vec<Vec<String>> {
    join_labels(join_head(join_wrapped(rows)))
        .into_iter()
        .map(|row| row.cells.into_iter().map(|cell| cells::text(&lines::gather(cell))).collect())
        .collect()
}

/// Joins the lines of rows whose cells are wrapped.
fn join_wrapped(rows: Vec<GridRow>) -> Vec<GridRow> {
    let limits: Vec<f64> =
        extents(&rows).into_iter().map(|column| column.right - SLACK * column.width()).collect();
    let groups: Vec<&[GridRow]> = rows
        .chunk_by(|last, next| next.base - last.base <= MAX_LEADING * next.size.max(last.size))
        .collect();
    // The space between rows shows where they begin; without it, an empty label does.
    let are_spaced = groups.len() >= MIN_SPACED;
    let mut goes_on: Vec<bool> = Vec::with_capacity(rows.len());
    for lines in groups {
        let is_row = are_spaced && lines.len() > 1 && is_wrapped(lines, &limits);
        goes_on.extend(
            (0..lines.len())
                .map(|at| at > 0 && (is_row || lines[at].continues(&lines[at - 1], &limits))),
        );
    }
    let mut joined: Vec<GridRow> = Vec::with_capacity(rows.len());
    for (line, goes_on) in rows.into_iter().zip(goes_on) {
        match joined.last_mut() {
            Some(last) if goes_on => last.append(line),
            _ => joined.push(line),
        }
    }
    joined
}

/// Whether lines are one row: in each column, the first words of a line had no room in the line above.
fn is_wrapped(lines: &[GridRow], limits: &[f64]) -> bool {
    let mut has_text = false;
    for (column, limit) in limits.iter().enumerate() {
        let cells = lines.iter().map(|line| &line.cells[column]).filter(|cell| !cell.is_empty());
        let cells: Vec<&Vec<Word>> = cells.collect();
        let num_amounts = cells.iter().filter(|cell| is_amount(cell)).count();
        if num_amounts > 1 || !cells.windows(2).all(|pair| is_full(pair[0], pair[1], *limit)) {
            return false;
        }
        has_text |= cells.len() > 1 && cells[0].len() > 1;
    }
    has_text
}

/// Whether the first word of a cell's next line had no room in its line.
fn is_full(line: &[Word], next: &[Word], limit: f64) -> bool {
    let right = line.iter().map(|word| word.area.right).fold(f64::NEG_INFINITY, f64::max);
    let first = next.iter().min_by(|a, b| a.area.left.total_cmp(&b.area.left));
    first.is_some_and(|word| right + SPACE * word.size + word.area.width() > limit)
}

fn is_amount(cell: &[Word]) -> bool {
    cell.iter().all(|word| is_number(&word.text))
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
pub(super) fn extents(rows: &[GridRow]) -> Vec<PageArea> {
    let width = rows.first().map_or(0, |row| row.cells.len());
    let mut areas = Vec::with_capacity(width);
    for at in 0..width {
        let words = rows.iter().flat_map(|row| &row.cells[at]);
        areas.push(PageArea::around(words.map(|word| word.area)));
    }
    areas
}

impl GridRow {
    /// Whether no cell is a number; parts of dates and units do not count as numbers.
    fn is_head(&self) -> bool {
        !self.cells.iter().any(|cell| {
            !cell.is_empty()
                && cell.iter().all(|word| is_number(&word.text))
                && cell.iter().any(|word| !is_part_of_date(&word.text))
        })
    }

    /// Whether one of its pieces is above several columns.
    fn spans(&self, extents: &[PageArea]) -> bool {
        self.cells.iter().filter(|cell| !cell.is_empty()).any(|cell| {
            let area = PageArea::around(cell.iter().map(|word| word.area));
            let below = extents
                .iter()
                .filter(|column| area.shared_width(column) > OVER * column.width().max(1.0));
            below.count() > 1
        })
    }

    /// Whether it has only further lines of the cells of the row that ends with the line `above`.
    fn continues(&self, above: &Self, limits: &[f64]) -> bool {
        if self.has_label() {
            return false;
        }
        let cells = self.cells.iter().zip(&above.cells).zip(limits);
        let mut filled = cells.filter(|((cell, _), _)| !cell.is_empty()).peekable();
        let mut goes_on = self.cells.len() == 2;
        filled.peek().is_some()
            && filled.all(|((cell, above), limit)| {
                goes_on |= cell[0].text.starts_with(char::is_lowercase);
                // Nothing shows that a single word has filled its line.
                above.len() > 1 && !is_amount(cell) && is_full(above, cell, *limit)
            })
            && goes_on
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
    is_year(digits) || digits.len() <= 2 && text.strip_suffix(',') == Some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing;

    /// Joins the lines of a picture, whose columns begin at these positions; a line is two rows of the picture high
    /// where it begins with a blank line.
    #[track_caller]
    fn check(picture: &str, columns: &[usize], expected: &[&[&str]]) {
        let lines = testing::lines(picture);
        let row = |line: &lines::TextLine| {
            let mut cells = vec![Vec::new(); columns.len()];
            for word in &line.words {
                let left = word.area.left / testing::WIDTH;
                let column = columns.iter().rposition(|column| *column as f64 <= left);
                cells[column.unwrap_or(0)].push(word.clone());
            }
            GridRow { cells, base: line.base, size: line.size }
        };
        assert_eq!(join(lines.iter().map(row).collect()), expected);
    }

    #[test]
    fn words_that_had_no_room_in_the_line_above_continue_its_row() {
        check(
            "Watch   The mate and one    at night\n\
             \x20       deckhand, or two\n\
             Galley  The cook            daily\n\
             Pumps   The engineer, with  Mondays\n\
             \x20       help of the mate",
            &[0, 8, 28],
            &[
                &["Watch", "The mate and one deckhand, or two", "at night"],
                &["Galley", "The cook", "daily"],
                &["Pumps", "The engineer, with help of the mate", "Mondays"],
            ],
        );
    }

    #[test]
    fn a_row_without_a_label_stays_one() {
        let rows = "North   herring fishery   daily\n\
                    \x20       cod               weekly\n\
                    South   hake              weekly";
        check(
            rows,
            &[0, 8, 26],
            &[
                &["North", "herring fishery", "daily"],
                &["", "cod", "weekly"],
                &["South", "hake", "weekly"],
            ],
        );
    }

    #[test]
    fn space_between_rows_shows_where_they_begin() {
        check(
            "\x20       Keep it in the hold,\n\
             Hides   and away from the     Air it\n\
             \x20       boilers\n\n\
             Wool    On dunnage            Keep dry\n\n\
             Lamp    On deck, in drums     No smoke\n\
             oil     that are sealed",
            &[0, 8, 30],
            &[
                &["Hides", "Keep it in the hold, and away from the boilers", "Air it"],
                &["Wool", "On dunnage", "Keep dry"],
                &["Lamp oil", "On deck, in drums that are sealed", "No smoke"],
            ],
        );
    }
}
