//! Writes tables with aligned columns. They are fitted to the terminal; other output is never cut.

use std::{io, mem};

use crate::present::terminal::columns::{cut, cut_middle, padding, width};
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::human::HumanLayout;
use crate::text::printable::clean_name;

/// Spaces between two columns.
const GAP: &str = "  ";

/// Smallest width of a column on a narrow terminal.
const MIN_COLUMNS: usize = 12;

/// Width that the first text column should have; other columns are left out for it.
const MAIN_COLUMNS: usize = 24;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    head: &'static str,
    kind: ColumnKind,
    /// Whether the column is left out if all its cells are empty.
    is_optional: bool,
    /// Columns with the largest number are left out first on a narrow terminal; 0 is always shown.
    left_out: u8,
    meaning: Meaning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Words,
    Numbers,
    Texts,
    Paths,
}

pub(crate) fn words(head: &'static str) -> Column {
    Column {
        head,
        kind: ColumnKind::Words,
        is_optional: false,
        left_out: 0,
        meaning: Meaning::Plain,
    }
}

/// Creates a right-aligned column of numbers.
pub(crate) fn numbers(head: &'static str) -> Column {
    Column { kind: ColumnKind::Numbers, ..words(head) }
}

/// Creates a column of texts, which may be cut on a narrow terminal. The first one is cut last.
pub(crate) fn texts(head: &'static str) -> Column {
    Column { kind: ColumnKind::Texts, ..words(head) }
}

/// Creates a column of paths, which may be cut in the middle.
pub(crate) fn paths(head: &'static str) -> Column {
    Column { kind: ColumnKind::Paths, ..words(head) }
}

impl Column {
    /// Leaves the column out if all its cells are empty.
    pub(crate) fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Leaves the column out on a narrow terminal; the one with the largest `order` first.
    pub(crate) fn left_out(self, order: u8) -> Self {
        Self { left_out: order, ..self }
    }

    /// Paints its cells.
    pub(crate) fn painted(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    fn is_flexible(&self) -> bool {
        matches!(self.kind, ColumnKind::Texts | ColumnKind::Paths)
    }
}

impl HumanLayout {
    /// Writes a table. Each row is one line, whatever its cells contain.
    pub(crate) fn table(
        &self,
        columns: &[Column],
        rows: impl Iterator<Item = Vec<String>>,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let mut rows: Vec<Vec<String>> =
            rows.map(|row| row.into_iter().map(clean_name).collect()).collect();
        let mut shown: Vec<usize> = (0..columns.len())
            .filter(|idx| !columns[*idx].is_optional || is_filled(&rows, *idx))
            .collect();
        if self.is_terminal {
            leave_out(&mut shown, columns, &rows, self.width);
        }
        let columns: &[Column] = &shown.iter().map(|idx| columns[*idx]).collect::<Vec<_>>();
        for row in &mut rows {
            *row = shown.iter().filter_map(|idx| row.get_mut(*idx).map(mem::take)).collect();
        }
        let mut widths = column_widths(columns, &rows);
        if self.is_terminal {
            fit(&mut widths, columns, self.width);
        }
        let head: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
        let columns: Vec<(Column, usize)> = columns.iter().copied().zip(widths).collect();
        self.row(&columns, &head, Some(Meaning::Head), out)?;
        rows.iter().try_for_each(|row| self.row(&columns, row, None, out))
    }

    /// Writes a line with the given column widths.
    fn row(
        &self,
        columns: &[(Column, usize)],
        cells: &[String],
        meaning: Option<Meaning>,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let num_cells = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |cell| cell + 1);
        for idx in 0..num_cells {
            let (column, columns_of_it) = columns[idx];
            let cell = match column.kind {
                ColumnKind::Paths => cut_middle(&cells[idx], columns_of_it),
                _ => cut(&cells[idx], columns_of_it),
            };
            // Formatting with a width would write space by space.
            let space = " ".repeat(columns_of_it.saturating_sub(width(&cell)));
            let is_last = idx + 1 == num_cells;
            if column.kind == ColumnKind::Numbers {
                out.text(&space)?;
            }
            self.paint(meaning.unwrap_or(column.meaning), &cell, out)?;
            if column.kind != ColumnKind::Numbers && !is_last {
                out.text(&space)?;
            }
            if !is_last {
                out.text(GAP)?;
            }
        }
        writeln!(out)
    }

    /// Writes one line per name and value. Values are aligned and, on a terminal, wrapped.
    pub(crate) fn facts(&self, facts: &[NamedValue], out: &mut CleanWriter<'_>) -> io::Result<()> {
        let column = facts.iter().map(|fact| width(fact.name)).max().unwrap_or(0) + 2;
        let room = if self.is_terminal {
            self.width.saturating_sub(column).max(MIN_COLUMNS)
        } else {
            usize::MAX
        };
        for fact in facts {
            let name = format!("{}:", fact.name);
            self.paint(Meaning::Faint, &name, out)?;
            for (idx, line) in super::columns::wrap(&fact.value, room).enumerate() {
                if idx == 0 {
                    out.text(&padding(&name, column))?;
                } else {
                    write!(out, "\n{:column$}", "")?;
                }
                self.paint(fact.meaning, &fact.value[line], out)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// A name with its value.
#[derive(Debug, Clone)]
pub(crate) struct NamedValue {
    name: &'static str,
    value: String,
    meaning: Meaning,
}

pub(crate) fn fact(name: &'static str, value: impl AsRef<str>) -> NamedValue {
    NamedValue { name, value: clean_name(value.as_ref()), meaning: Meaning::Plain }
}

impl NamedValue {
    /// Paints its value.
    pub(crate) fn painted(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }
}

/// Leaves out columns until the others fit and the first text column has enough room.
fn leave_out(shown: &mut Vec<usize>, columns: &[Column], rows: &[Vec<String>], available: usize) {
    let widths = column_widths(columns, rows);
    loop {
        let first = shown.iter().find(|idx| columns[**idx].is_flexible()).copied();
        let mut needed = GAP.len() * shown.len().saturating_sub(1);
        for idx in shown.iter().copied() {
            needed += if !columns[idx].is_flexible() {
                widths[idx]
            } else if first == Some(idx) {
                widths[idx].min(MAIN_COLUMNS)
            } else {
                widths[idx].min(MIN_COLUMNS)
            };
        }
        if needed <= available {
            return;
        }
        let last = (0..shown.len()).max_by_key(|at| columns[shown[*at]].left_out);
        match last.filter(|at| columns[shown[*at]].left_out > 0) {
            Some(at) => shown.remove(at),
            None => return,
        };
    }
}

/// Whether a row has text in a column.
fn is_filled(rows: &[Vec<String>], idx: usize) -> bool {
    rows.iter().any(|row| row.get(idx).is_some_and(|cell| !cell.is_empty()))
}

/// Returns the width of the widest cell of each column, its head included.
fn column_widths(columns: &[Column], rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths = Vec::with_capacity(columns.len());
    for (idx, column) in columns.iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.get(idx)).map(|cell| width(cell));
        widths.push(cells.max().unwrap_or(0).max(width(column.head)));
    }
    widths
}

/// Narrows the widest column that may be cut until all fit. The first such column is narrowed only if no
/// other one can be.
fn fit(widths: &mut [usize], columns: &[Column], available: usize) {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    let flexible: Vec<usize> =
        (0..columns.len()).filter(|idx| columns[*idx].is_flexible()).collect();
    let [first, others @ ..] = flexible.as_slice() else { return };
    for group in [others, &[*first]] {
        let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(available);
        for _ in 0..excess {
            let widest = group.iter().max_by_key(|idx| widths[**idx]);
            match widest.filter(|idx| widths[**idx] > MIN_COLUMNS) {
                Some(idx) => widths[*idx] -= 1,
                None => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(layout: &HumanLayout) -> String {
        let rows = [
            ["1", "東京の本", "a, b"].map(str::to_owned).to_vec(),
            ["12", "A rather long title that goes on and on", "tag"].map(str::to_owned).to_vec(),
            ["3", "cafe\u{301}", ""].map(str::to_owned).to_vec(),
        ];
        let mut out = Vec::new();
        let columns = [numbers("ID"), texts("TITLE"), texts("TAGS")];
        layout.table(&columns, rows.into_iter(), &mut CleanWriter::new(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_is_not_cut_without_a_terminal() {
        insta::assert_snapshot!(drawn(&HumanLayout::plain(30)), @"
        ID  TITLE                                    TAGS
         1  東京の本                                 a, b
        12  A rather long title that goes on and on  tag
         3  café
        ");
    }

    #[test]
    fn a_table_is_cut_to_the_terminal() {
        let layout = HumanLayout { is_terminal: true, ..HumanLayout::plain(30) };
        let text = drawn(&layout);
        assert!(text.lines().all(|line| width(line) <= 30), "{text}");
        insta::assert_snapshot!(text, @"
        ID  TITLE                 TAGS
         1  東京の本              a, b
        12  A rather long title…  tag
         3  café
        ");
    }

    #[test]
    fn a_long_value_is_wrapped_below_itself() {
        let layout = HumanLayout { is_terminal: true, ..HumanLayout::plain(24) };
        let mut out = Vec::new();
        let facts = [fact("Name", "one two three four five"), fact("Other", "")];
        layout.facts(&facts, &mut CleanWriter::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        Name:  one two three
               four five
        Other:
        ");
    }
}
