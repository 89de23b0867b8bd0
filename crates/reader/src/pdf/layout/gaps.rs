//! Finds the columns of a table by the gaps between the pieces of its lines.
//!
//! A line is split at wide gaps between its words. Gaps at the same position in most lines separate
//! columns; a piece that spans several columns is put into the first of them.

use super::cells;
use super::glossaries::is_glossary;
use super::lines::TextLine;
use super::numbers::{is_currency, is_number};
use super::piece::PageTable;
use super::sheet::PageArea;
use super::words::Word;
use super::wraps::{self, GridRow};

/// Smallest gap between cells, with and without rules, as a fraction of the size. Rules show that there is a table;
/// without them, the gap must be wider than any between words of justified text.
pub(super) const CELL_GAP_RULED: f64 = 0.75;
pub(super) const CELL_GAP: f64 = 1.1;

/// Gap, as a fraction of the size, up to which a currency sign is part of a sentence; behind a wider one it begins an
/// amount.
const TOUCHING: f64 = 0.35;

/// Fewest pieces of a line that is used to find columns, as a fraction of the largest number of pieces: lines with
/// fewer have headings of groups, and cells that span several columns.
const MIN_PIECES: f64 = 0.6;

/// Largest fraction of such lines that may cross the gap between two columns: one long cell in ten rows hides no
/// column.
const MAX_CROSSING: f64 = 0.1;

/// Most words per piece, on average; columns of text have more.
const MAX_WORDS: f64 = 6.0;

/// How far the left ends of a label and of the value below it may differ, as a fraction of the size.
const ALIGNED: f64 = 0.3;

/// Fewest rows whose labels are outside the rules of their numbers; a single one may be text that happens to be next
/// to them.
const MIN_OUTSIDE: usize = 2;

/// Fewest lines in a table without rules: two lines of text may have a gap at the same place by chance.
const MIN_LINES: usize = 3;

/// A line split into pieces.
pub(super) struct SplitLine<'a> {
    pub(super) line: &'a TextLine,
    pub(super) pieces: Vec<Vec<Word>>,
}

impl<'a> SplitLine<'a> {
    pub(super) fn new(line: &'a TextLine, gap: f64) -> Self {
        let mut pieces: Vec<Vec<Word>> = Vec::new();
        let mut words = line.words.clone();
        words.sort_by(|a, b| a.area.left.total_cmp(&b.area.left));
        for word in words {
            match pieces.last_mut() {
                Some(piece) if piece.last().is_some_and(|last| continues(last, &word, gap)) => {
                    piece.push(word);
                }
                _ => pieces.push(vec![word]),
            }
        }
        Self { line, pieces }
    }

    /// Joins a list marker or section number at the beginning to the text after it.
    pub(super) fn with_marker(mut self) -> Self {
        let has_marker = match self.pieces.as_slice() {
            [marker, text, ..] => {
                marker.len() == 1
                    && is_marker(&marker[0].text)
                    && text.first().is_some_and(|word| word.text.starts_with(char::is_alphabetic))
            }
            _ => false,
        };
        if has_marker {
            let marker = self.pieces.remove(0);
            self.pieces[0].splice(0..0, marker);
        }
        self
    }

    pub(super) fn is_split(&self) -> bool {
        self.pieces.len() > 1
    }
}

/// Whether a word belongs to the piece that ends with `last`.
fn continues(last: &Word, word: &Word, gap: f64) -> bool {
    let distance = -last.area.shared_width(&word.area) / last.size.max(word.size);
    // A currency sign belongs to the number after it at any distance, and a sign to the number
    // before it.
    let is_new_amount = is_currency(&word.text) && distance > TOUCHING;
    let is_amount = is_currency(&last.text) && is_number(&word.text);
    let is_sign = matches!(word.text.as_str(), ")" | "%" | ")%") && is_number(&last.text);
    !is_new_amount && (distance <= gap || is_amount || is_sign)
}

/// Whether most lines that begin with a number have words before it `outside` of their table, left of
/// `left`: then its rules cover only the numbers, and labels and numbers belong together.
pub(super) fn lack_labels(lines: &[TextLine], left: f64, outside: &[Word]) -> bool {
    let (mut num_lines, mut num_outside) = (0, 0);
    for line in lines {
        if line.words.first().is_some_and(|word| is_number(&word.text)) {
            num_lines += 1;
            num_outside += usize::from(outside.iter().any(|word| {
                word.area.right < left && (word.base - line.base).abs() <= 0.2 * word.size
            }));
        }
    }
    num_outside >= MIN_OUTSIDE && num_outside * 2 > num_lines
}

/// Returns the left and right end of a piece.
pub(super) fn extent(piece: &[Word]) -> (f64, f64) {
    let area = PageArea::around(piece.iter().map(|word| word.area));
    (area.left, area.right)
}

/// Returns the borders between columns, from left to right; empty if there are none.
pub(super) fn borders(rows: &[SplitLine<'_>]) -> Vec<f64> {
    let most = rows.iter().map(|row| row.pieces.len()).max().unwrap_or(0);
    let split_rows: Vec<&SplitLine<'_>> = rows
        .iter()
        .filter(|row| row.is_split() && row.pieces.len() as f64 >= MIN_PIECES * most as f64)
        .collect();
    // One line shows no columns: its gaps may be anywhere.
    if split_rows.len() < 2 {
        return Vec::new();
    }
    let mut edges: Vec<(f64, i32)> = Vec::new();
    for row in &split_rows {
        for piece in &row.pieces {
            let (left, right) = extent(piece);
            edges.extend([(left, 1), (right, -1)]);
        }
    }
    // At the same place, a piece begins before another ends: no white space is between two pieces that touch.
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let most_crossing = MAX_CROSSING * split_rows.len() as f64;
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
    // A border must separate pieces in at least two lines.
    borders.retain(|border| {
        split_rows.iter().filter(|row| has_pieces_on_both_sides(row, *border)).count() >= 2
    });
    borders
}

fn has_pieces_on_both_sides(row: &SplitLine<'_>, border: f64) -> bool {
    let (before, after): (Vec<_>, Vec<_>) =
        row.pieces.iter().map(|piece| extent(piece)).partition(|(left, _)| *left < border);
    !before.is_empty() && !after.is_empty()
}

/// Returns the borders that white space forms between columns of lines between two rules, from left
/// to right; empty if the lines read like text.
pub(super) fn white_borders(lines: &[TextLine]) -> Vec<f64> {
    let rows: Vec<SplitLine<'_>> =
        lines.iter().map(|line| SplitLine::new(line, CELL_GAP_RULED)).collect();
    let borders = borders(&rows);
    let cells = grid(&rows, &borders);
    if is_table(&rows, &cells, false) { borders } else { Vec::new() }
}

/// Whether `border` separates the pieces of lines: there are some on both sides and none across it.
pub(super) fn separates(lines: &[&TextLine], border: f64) -> bool {
    let (mut before, mut after) = (false, false);
    for line in lines {
        for (left, right) in
            SplitLine::new(line, CELL_GAP_RULED).pieces.iter().map(|piece| extent(piece))
        {
            if left < border && right > border {
                return false;
            }
            before |= right <= border;
            after |= left >= border;
        }
    }
    before && after
}

/// Assigns the pieces of each line to columns.
fn grid(rows: &[SplitLine<'_>], borders: &[f64]) -> Vec<Vec<Vec<Word>>> {
    rows.iter().map(|row| cells_of(row, borders)).collect()
}

fn cells_of(row: &SplitLine<'_>, borders: &[f64]) -> Vec<Vec<Word>> {
    let mut cells: Vec<Vec<Word>> = vec![Vec::new(); borders.len() + 1];
    for piece in &row.pieces {
        let (left, right) = extent(piece);
        // A number longer than the others extends over its border, by up to a fifth of its width.
        let middle = f64::midpoint(left, right);
        let column = borders.partition_point(|border| *border <= left);
        let last = borders.partition_point(|border| *border <= middle);
        let extends_over = last > column
            && borders.get(column).is_some_and(|border| border - left < 0.2 * (right - left));
        cells[if extends_over { column + 1 } else { column }].extend(piece.iter().cloned());
    }
    cells
}

/// Whether the pieces form a table, rather than text that happens to have gaps.
fn is_table(rows: &[SplitLine<'_>], cells: &[Vec<Vec<Word>>], is_ruled: bool) -> bool {
    let num_columns = cells.first().map_or(0, Vec::len);
    let num_split =
        cells.iter().filter(|row| row.iter().filter(|cell| !cell.is_empty()).count() >= 2).count();
    // A line of a table of contents has one number after its leader.
    let num_leaders =
        rows.iter().filter(|row| row.pieces.len() <= 2 && has_leader(row.line)).count();
    let (mut num_pieces, mut num_words, mut num_numbers) = (0, 0, 0);
    for piece in cells.iter().flatten().filter(|piece| !piece.is_empty()) {
        let num_words_here = piece.iter().filter(|word| !is_number(&word.text)).count();
        // An amount may have two signs or words with it, as in `$ 1.9 (2)`; a longer piece is text with a number in
        // it.
        num_pieces += 1;
        num_words += num_words_here;
        num_numbers += usize::from(num_words_here < piece.len() && piece.len() <= 3);
    }
    let num_pieces = num_pieces.max(1);
    num_columns >= 2
        && num_split >= if is_ruled || are_labels_above_values(rows) { 2 } else { MIN_LINES }
        && num_split * 2 >= cells.len()
        && num_words as f64 <= MAX_WORDS * num_pieces as f64
        && num_leaders * 2 < rows.len()
        // Two columns of words without rules may be terms and their meanings, or text next to headings.
        && (is_ruled || num_columns > 2 || num_numbers * 3 >= num_pieces)
}

/// Whether rows are labels and their values below them, as in forms: without digits, and with.
fn are_labels_above_values(rows: &[SplitLine<'_>]) -> bool {
    let [labels, values] = rows else { return false };
    labels.pieces.len() == values.pieces.len()
        && labels.pieces.iter().zip(&values.pieces).all(|(label, value)| {
            (extent(label).0 - extent(value).0).abs() <= ALIGNED * labels.line.size
        })
        && !labels.pieces.iter().any(|piece| has_digit(piece))
        && values.pieces.iter().all(|piece| has_digit(piece))
}

fn has_digit(piece: &[Word]) -> bool {
    piece.iter().any(|word| word.text.contains(|c: char| c.is_ascii_digit()))
}

/// Whether a word is a bullet or a section number. One like `B2` is a code, which may be a separate column.
fn is_marker(text: &str) -> bool {
    let is_number = text.len() <= 8
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ')' | '('))
        && (text.contains(['.', ')']) || text.bytes().all(|byte| byte.is_ascii_digit()))
        && text.chars().filter(char::is_ascii_alphabetic).count() <= 1;
    is_number || text.chars().all(|c| !c.is_alphanumeric())
}

fn has_leader(line: &TextLine) -> bool {
    let text = line.text();
    text.contains("....") || text.contains(". . . .") || text.contains("\u{2026}\u{2026}")
}

/// Builds a table from lines; `None` if they are not a table.
pub(super) fn table(rows: &[SplitLine<'_>], area: PageArea, is_ruled: bool) -> Option<PageTable> {
    let borders = borders(rows);
    let cells = grid(rows, &borders);
    if borders.is_empty() {
        return None;
    }
    let is_table = is_table(rows, &cells, is_ruled);
    let lines: Vec<&TextLine> = rows.iter().map(|row| row.line).collect();
    let is_glossary = !is_table && is_glossary(&lines, &cells);
    if !is_table && !is_glossary {
        return None;
    }
    let size = rows.first().map_or(0.0, |row| row.line.size);
    let lines = rows.iter().zip(cells);
    let lines =
        lines.map(|(row, cells)| GridRow { cells, base: row.line.base, size: row.line.size });
    let lines: Vec<GridRow> = lines.collect();
    let columns = wraps::extents(&lines).into_iter().map(|column| [column.left, column.right]);
    let mut columns: Vec<[f64; 2]> = columns.collect();
    let words = rows.iter().flat_map(|row| &row.line.words);
    let mut rows = wraps::join(lines);
    cells::drop_empty(&mut rows, &mut columns);
    let has_columns = rows.len() >= 2 && rows[0].len() >= 2;
    has_columns.then(|| PageTable {
        is_glossary,
        ..PageTable::new(area, rows, columns, size).with_looks_of(words)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing::{lines, word};

    /// Checks the borders of three lines, each with these pieces from one position to another.
    #[track_caller]
    fn check(pieces: &[(f64, f64)], expected: &[f64]) {
        let lines = lines("a\nb\nc");
        let piece = |&(left, right): &(f64, f64)| {
            let mut word = word("a", left, 10.0, 10.0);
            word.area.right = right;
            vec![word]
        };
        let row = |line| SplitLine { line, pieces: pieces.iter().map(piece).collect() };
        assert_eq!(borders(&lines.iter().map(row).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn white_space_between_pieces_is_a_border_in_its_middle() {
        check(&[(0.0, 10.0), (20.0, 30.0), (34.0, 40.0)], &[15.0, 32.0]);
    }

    #[test]
    fn a_section_number_belongs_to_its_text_and_a_code_does_not() {
        for (text, expected) in [
            ("2.1", true),
            ("A.1", true),
            ("(a)", true),
            ("12", true),
            ("•", true),
            ("B2", false),
            ("7b", false),
        ] {
            assert_eq!(is_marker(text), expected, "{text}");
        }
    }

    #[test]
    fn pieces_that_touch_have_no_border_between_them() {
        check(&[(0.0, 10.0), (10.0, 30.0)], &[]);
        check(&[(0.0, 10.0), (10.0, 30.0), (40.0, 50.0)], &[35.0]);
    }
}
