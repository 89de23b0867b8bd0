//! Finds the head of a table by what its cells are, where the file declares none.
//!
//! A head is above cells of another kind: words or years above numbers. Exports of banks and sensors have labels with their
//! values above it. A table whose first row is like those below it has no head.

use super::kind::CellKind;

/// How many rows are looked at: twice as many as may be above a table, so that rows of the table are among them.
pub(crate) const SAMPLE_ROWS: usize = 64;

/// Most rows of labels and values above a table. Exports have about ten.
const MAX_PREAMBLE: usize = 32;

/// Most rows of a head; more rows of words are the cells of a table of words.
pub(crate) const MAX_HEAD: usize = 4;

/// A row of labels and their values has at most this many filled cells, and rows of a table with such rows above it
/// have more.
const MAX_PAIR: usize = 2;

/// Fewest consecutive numbers that number the columns; two may be values.
const MIN_NUMBERED: usize = 3;

/// The kinds of the filled cells of a row, by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowKinds {
    cells: Vec<(usize, CellKind)>,
    /// Whether its numbers are those of columns: 1, 2, 3.
    is_numbered: bool,
}

impl RowKinds {
    /// Returns the kinds of cells, each with its column, its text, and whether the file says that it is a value.
    pub(crate) fn of<'a>(cells: impl Iterator<Item = (usize, &'a str, Option<bool>)>) -> Self {
        let mut kinds = Self::default();
        let (mut previous, mut num_following) = (None, 1);
        for (column, text, is_value) in cells {
            let Some(kind) = CellKind::of(text) else { continue };
            let kind = match is_value {
                Some(true) if !kind.is_value() => CellKind::Number,
                Some(false) if kind.is_value() => CellKind::Words,
                _ => kind,
            };
            kinds.cells.push((column, kind));
            let number: Option<u32> = text.trim().parse().ok();
            if let Some(number) = number {
                let is_next =
                    previous.is_some_and(|previous: u32| previous.checked_add(1) == Some(number));
                num_following = if is_next { num_following + 1 } else { 1 };
                kinds.is_numbered |= num_following >= MIN_NUMBERED;
                previous = Some(number);
            }
        }
        kinds
    }

    pub(super) fn has_value(&self) -> bool {
        self.cells.iter().any(|(_, kind)| kind.is_value())
    }

    /// Whether all of several cells are words or years, as heads below a merged one.
    pub(super) fn is_below_group(&self) -> bool {
        self.cells.len() > 1
            && self.cells.iter().all(|(_, kind)| matches!(kind, CellKind::Words | CellKind::Year))
    }

    /// Whether it may be the head of a table that is wider than pairs.
    fn is_wide_head(&self) -> bool {
        self.is_words()
            && self.cells.len() > MAX_PAIR
            && self.cells.first().is_some_and(|(column, _)| *column == 0)
    }

    /// Whether it has two cells, the first a value.
    fn is_narrow(&self) -> bool {
        matches!(self.cells.as_slice(), [(0, label), (1, _)] if label.is_value())
    }

    /// Returns the kind of the cell in a column.
    fn kind_in(&self, column: usize) -> Option<CellKind> {
        let found = self.cells.binary_search_by_key(&column, |(column, _)| *column);
        found.ok().map(|idx| self.cells[idx].1)
    }

    /// Whether it has words and no label.
    fn is_words(&self) -> bool {
        self.cells.len() > 1 && self.cells.iter().all(|(_, kind)| *kind == CellKind::Words)
    }

    /// Whether it has a label and perhaps its value, or labels that end in colons with their values; above a table of
    /// `width` columns also a label with what says more of its value, such as a currency.
    fn is_pair(&self, width: usize) -> bool {
        match self.cells.as_slice() {
            [(0, label)] | [(0, label), (1, _)] => !label.is_value(),
            cells => {
                let mut labels = cells.iter().step_by(2);
                let is_short = cells.len() * 2 <= width
                    && cells.iter().enumerate().all(|(idx, (column, _))| idx == *column)
                    && cells.first().is_some_and(|(_, label)| !label.is_value());
                is_short
                    || (cells.len() % 2 == 0 && labels.all(|(_, kind)| *kind == CellKind::Label))
            }
        }
    }

    fn begins_with_label(&self) -> bool {
        matches!(self.cells.as_slice(), [(0, CellKind::Label), ..])
    }
}

/// The numbers of rows at the beginning of a table that are not data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableShape {
    /// Rows of labels and values, which are not part of the table.
    pub(crate) num_preamble: usize,
    /// Rows of the head below them.
    pub(crate) num_head: usize,
}

/// Counts the rows at the beginning of a table that are not data; `rows` are its first [`SAMPLE_ROWS`].
pub(crate) fn find(rows: &[RowKinds]) -> TableShape {
    let num_preamble = num_preamble(rows);
    let rows = &rows[num_preamble..];
    let num_head = if begins_with_data(rows) { 0 } else { num_head(rows) };
    TableShape { num_preamble, num_head }
}

/// Returns the line that labels and their values are above a table.
pub(crate) fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for (idx, cell) in cells.filter(|cell| !cell.trim().is_empty()).enumerate() {
        if idx % 2 == 1 && !line.ends_with([':', '：']) {
            line.push(':');
        }
        if idx > 0 {
            line.push(' ');
        }
        line.push_str(cell.trim());
    }
    line
}

/// Returns how many rows of labels and values are above a table.
fn num_preamble(rows: &[RowKinds]) -> usize {
    let mut widths: Vec<usize> = rows.iter().map(|row| row.cells.len()).collect();
    widths.sort_unstable();
    let width = widths.get(widths.len() / 2).copied().unwrap_or(0);
    let num_pairs = rows.iter().take(MAX_PREAMBLE).take_while(|row| row.is_pair(width)).count();
    let below = rows.get(num_pairs + 1..).unwrap_or_default();
    let num_wide = below.iter().filter(|row| row.cells.len() > MAX_PAIR).count();
    let is_above_head = num_pairs > 0
        && rows.get(num_pairs).is_some_and(RowKinds::is_wide_head)
        && num_wide * 2 > below.len()
        && below.iter().any(RowKinds::has_value);
    if is_above_head { num_pairs } else { num_above_narrow(rows, num_pairs) }
}

/// The same for a table of two columns, whose first column has numbers or dates.
fn num_above_narrow(rows: &[RowKinds], num_pairs: usize) -> usize {
    let first = rows.iter().position(RowKinds::is_narrow).filter(|first| *first <= num_pairs);
    let Some(head_idx) = first.and_then(|first| first.checked_sub(1)) else { return 0 };
    let below = &rows[head_idx + 1..];
    let is_table = below.len() > 1 && below.iter().all(RowKinds::is_narrow);
    if is_table && rows[head_idx].is_words() { head_idx } else { 0 }
}

/// Whether the first row is like those below it: numbers above numbers, dates above dates, a label with its value.
fn begins_with_data(rows: &[RowKinds]) -> bool {
    let Some((first, below)) = rows.split_first().filter(|(_, below)| below.len() > 1) else {
        return false;
    };
    if first.begins_with_label() && first.cells.len() == MAX_PAIR {
        let num_labels = rows.iter().filter(|row| row.begins_with_label()).count();
        // A label above most other labels is the first of a list of pairs.
        return num_labels * 4 >= rows.len() * 3;
    }
    // A head may have nothing above the labels, have years, or number its columns.
    let num_years = first.cells.iter().filter(|(_, kind)| *kind == CellKind::Year).count();
    let is_at_label = first.cells.first().is_some_and(|(column, _)| *column == 0);
    if !is_at_label || first.is_numbered || num_years > 1 {
        return false;
    }
    let mut has_data = false;
    for (column, kind) in &first.cells {
        match usual_kind(below, *column) {
            Some(usual) if *kind == usual => has_data = true,
            // A year among other numbers is one of them.
            Some(_) if *kind == CellKind::Number => {}
            Some(_) => return false,
            None => {}
        }
    }
    has_data
}

/// Returns the kind of value that most cells of a column have; `None` if most have words.
fn usual_kind(rows: &[RowKinds], column: usize) -> Option<CellKind> {
    let kinds: Vec<CellKind> = rows.iter().filter_map(|row| row.kind_in(column)).collect();
    let count = |wanted: CellKind| kinds.iter().filter(|kind| **kind == wanted).count();
    // Four in five: a column of values may have sums, dashes and notes.
    let is_most = |count: usize| count > 1 && count * 5 >= kinds.len() * 4;
    let num_years = count(CellKind::Year);
    match () {
        () if is_most(count(CellKind::Date)) => Some(CellKind::Date),
        () if is_most(num_years) => Some(CellKind::Year),
        () if is_most(count(CellKind::Number) + num_years) => Some(CellKind::Number),
        () => None,
    }
}

/// Returns how many rows the head has: below the first those without a value and without a label, if a row with values
/// follows.
fn num_head(rows: &[RowKinds]) -> usize {
    let left = rows.iter().flat_map(|row| &row.cells).map(|(column, _)| *column).min().unwrap_or(0);
    let num_below = rows
        .iter()
        .skip(1)
        .take(MAX_HEAD - 1)
        .take_while(|row| {
            !row.cells.iter().any(|(column, kind)| kind.is_value() || *column == left)
        })
        .count();
    let num_rows = 1 + num_below;
    if rows.get(num_rows).is_some_and(RowKinds::has_value) { num_rows } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[&[&str]], num_preamble: usize, num_head: usize) {
        let rows: Vec<RowKinds> = rows
            .iter()
            .map(|row| RowKinds::of(row.iter().enumerate().map(|(at, text)| (at, *text, None))))
            .collect();
        assert_eq!(find(&rows), TableShape { num_preamble, num_head });
    }

    #[test]
    fn a_head_is_above_cells_of_another_kind() {
        check(&[&["Place", "Metres"], &["Brest", "3.5"], &["Emden", "4"]], 0, 1);
        check(&[&["Place", "2023", "2024"], &["Brest", "2", "3"], &["Emden", "1", "4"]], 0, 1);
        check(
            &[&["Hour", "1", "2", "3"], &["Brest", "4", "5", "5"], &["Emden", "3", "3", "2"]],
            0,
            1,
        );
        check(&[&["", "12", "14"], &["Brest", "4", "5"], &["Emden", "3", "3"]], 0, 1);
        check(&[&["Place", "State"], &["Hull", "dry"], &["Kiel", "wet"]], 0, 1);
        check(&[&["Place", "5/1/2026"], &["Hull", "3"], &["Kiel", "4"]], 0, 1);
    }

    #[test]
    fn a_first_row_like_the_others_is_no_head() {
        check(
            &[
                &["2026-05-01", "12.5", "ok"],
                &["2026-05-02", "13", "ok"],
                &["2026-05-03", "9", "-"],
            ],
            0,
            0,
        );
        check(&[&["Brest", "3.5"], &["Emden", "4"], &["Hull", "2"]], 0, 0);
        check(&[&["Built:", "1995"], &["Length:", "95 m"], &["Owner:", "North Link"]], 0, 0);
    }

    #[test]
    fn labels_and_values_are_above_the_head() {
        check(
            &[
                &["Konto:", "DE00 1234"],
                &["Von:", "01.01.2026"],
                &["Stand"],
                &["Tag", "Text", "Betrag"],
                &["02.01.2026", "Rope", "-3,50"],
                &["03.01.2026", "Oil", "-9"],
            ],
            3,
            1,
        );
        check(
            &[
                &["Serial", "12345"],
                &["Place", "Pier 4"],
                &["Time", "Level"],
                &["2026-05-01 00:00", "3.5"],
                &["2026-05-01 01:00", "3.4"],
            ],
            2,
            1,
        );
        check(
            &[
                &["Saldo", "1.234,56", "EUR"],
                &["Tag", "Valuta", "Wer", "Zweck", "Betrag", "Saldo"],
                &["1.1.2026", "1.1.2026", "Werft", "Rope", "-3", "9"],
                &["2.1.2026", "2.1.2026", "Werft", "Oil", "-9", "0"],
                &["3.1.2026", "3.1.2026", "Werft", "Tar", "-2", "-2"],
            ],
            1,
            1,
        );
        check(
            &[
                &["From:", "1.1.2026", "To:", "2.1.2026"],
                &["Day", "Text", "Sum"],
                &["1", "Rope", "3"],
                &["2", "Oil", "9"],
            ],
            1,
            1,
        );
    }
}
