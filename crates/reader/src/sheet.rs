//! Writes the cells of a spreadsheet as sections and tables; shared by XLSX and ODS.
//!
//! Blank rows separate tables, unless the rows after them continue the table. A line with one cell
//! above a table is its caption.

use std::collections::{BTreeMap, BTreeSet};

use super::cell_names::position;
use super::grid::head::{self, MAX_HEAD};
use super::grid::{CellSpan, TableGrid};
use super::writer::BlockWriter;
use crate::document::{WordAccount, WordDestination};
use crate::limits::SPREADSHEET_CELLS;
use crate::text::number::thousands;

/// Most merged cells of a sheet. Real ones have some hundreds; bounds the memory for a hostile one.
const MAX_MERGED: usize = 100_000;

/// A cell with text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SheetCell {
    /// Its column, from 0.
    pub(super) column: usize,
    /// Its text as shown.
    pub(super) text: String,
    /// Whether it is a number, a date or a truth value.
    pub(super) is_value: bool,
}

/// The rows of a sheet that have text, in order.
#[derive(Debug, Default)]
pub(super) struct SheetRows {
    pub(super) name: String,
    rows: Vec<SheetRow>,
    /// How many rows and columns merged cells take, by the row and the column of the first.
    merged: BTreeMap<(u64, usize), (u64, usize)>,
    /// The rows that are declared heads.
    heads: BTreeSet<u64>,
    /// Words of cells whose number format shows nothing.
    hidden: WordAccount,
}

#[derive(Debug)]
struct SheetRow {
    /// Its number, from 1.
    number: u64,
    cells: Vec<SheetCell>,
}

/// The number of cells that may still be read of a file, and warnings about its other cells.
#[derive(Debug)]
pub(super) struct Budget {
    num_left: usize,
    is_spent: bool,
    /// Cells that show their formula, as the file has no value for it.
    pub(super) num_formulas: usize,
    /// One sentence each.
    pub(super) warnings: Vec<String>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { num_left: SPREADSHEET_CELLS, is_spent: false, num_formulas: 0, warnings: Vec::new() }
    }
}

impl Budget {
    /// Returns warnings about the cells that were left out, and the number of values that the file
    /// lacks.
    pub(super) fn into_warnings(mut self) -> Vec<String> {
        let formulas = match self.num_formulas {
            0 => return self.warnings,
            1 => "1 cell shows its formula, as the file has no value for it".to_owned(),
            count => {
                let count = thousands(count);
                format!("{count} cells show their formulas, as the file has no values for them")
            }
        };
        self.warnings.push(formulas);
        self.warnings
    }
}

impl SheetRows {
    pub(super) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Merges the cells of a range (`A1:B7`).
    pub(super) fn merge(&mut self, range: &str) {
        let Some((first, last)) = range.split_once(':') else { return };
        if let (Some((left, top)), Some((right, bottom))) = (position(first), position(last)) {
            let num_rows = bottom.saturating_sub(top).saturating_add(1);
            self.merge_at(top, left, num_rows, right.saturating_sub(left).saturating_add(1));
        }
    }

    /// Merges cells, of which the first is in this row and column.
    pub(super) fn merge_at(&mut self, row: u64, column: usize, num_rows: u64, num_columns: usize) {
        if (num_rows > 1 || num_columns > 1) && self.merged.len() < MAX_MERGED {
            self.merged.insert((row, column), (num_rows.max(1), num_columns.max(1)));
        }
    }

    /// Declares the first row of a range the head of a table.
    pub(super) fn declare_head(&mut self, range: &str) {
        let first = range.split(':').next().and_then(position);
        self.heads.extend(first.map(|(_, row)| row));
    }

    /// Declares a row part of the head of a table.
    pub(super) fn declare_head_row(&mut self, row: u64) {
        self.heads.insert(row);
    }

    /// Counts the words that the number format of a cell does not show.
    pub(super) fn hide(&mut self, text: &str) {
        self.hidden.add(WordDestination::Hidden, text);
    }

    /// Adds a row; returns whether more rows may follow.
    pub(super) fn push(
        &mut self,
        number: u64,
        mut cells: Vec<SheetCell>,
        budget: &mut Budget,
    ) -> bool {
        cells.retain(|cell| !cell.text.trim().is_empty());
        if cells.is_empty() {
            return true;
        }
        if budget.is_spent || cells.len() > budget.num_left {
            if !budget.is_spent {
                let name = &self.name;
                budget.warnings.push(format!(
                    "the rows of the sheet `{name}` from row {number} on and all later sheets were left out: \
                     {SPREADSHEET_CELLS} cells are read"
                ));
            }
            budget.is_spent = true;
            return false;
        }
        budget.num_left -= cells.len();
        cells.sort_by_key(|cell| cell.column);
        self.rows.push(SheetRow { number, cells });
        true
    }

    /// Writes the sheet: a heading, captions, tables, then its content besides cells.
    pub(super) fn write(self, below: BlockWriter, writer: &mut BlockWriter) {
        let Self { name, rows, merged, heads, hidden } = self;
        writer.left_out.merge(&hidden);
        if !rows.is_empty() || !below.is_empty() {
            writer.heading(2, &name);
        }
        let mut table: Vec<SheetRow> = Vec::new();
        // The last row that was read, including those of merged cells.
        let mut previous = 0_u64;
        let mut rows = rows.into_iter().peekable();
        while let Some(row) = rows.next() {
            let number = row.number;
            let is_apart = number > previous.saturating_add(1);
            let reach = row.cells.iter().filter_map(|cell| {
                let (num_rows, _) = merged.get(&(number, cell.column))?;
                Some(number.saturating_add(num_rows - 1))
            });
            previous = reach.max().unwrap_or(number).max(previous).max(number);
            if is_apart && !continues(&table, &row.cells) {
                let table = std::mem::take(&mut table);
                if is_list_of_pairs(&table) {
                    let lines: Vec<String> = table.iter().map(SheetRow::line).collect();
                    writer.paragraph(&lines.join("\n"));
                } else {
                    write_table(table, &merged, &heads, writer);
                }
            }
            let next_len = rows
                .peek()
                .filter(|next| next.number == number.saturating_add(1))
                .map_or(0, |next| next.cells.len());
            // Captions are above the head of a table.
            if table.is_empty() && row.cells.len() == 1 && next_len != 1 {
                row.cells.iter().for_each(|cell| writer.paragraph(&cell.text));
                continue;
            }
            table.push(row);
        }
        write_table(table, &merged, &heads, writer);
        writer.append(below);
    }
}

impl SheetRow {
    /// Returns its cells in one line.
    fn line(&self) -> String {
        head::line(self.cells.iter().map(|cell| cell.text.as_str()))
    }
}

/// Whether rows above a table are labels that end in colons, and their values.
fn is_list_of_pairs(rows: &[SheetRow]) -> bool {
    !rows.is_empty() && rows.iter().all(is_pair)
}

fn is_pair(row: &SheetRow) -> bool {
    let is_label = row.cells.first().is_some_and(|cell| cell.text.trim_end().ends_with(':'));
    is_label && row.cells.len() <= 2
}

/// Whether a row after a blank one belongs to the table above: it has values in columns of the table.
/// Below a head that has none yet, its label may be in a column without a head.
fn continues(table: &[SheetRow], row: &[SheetCell]) -> bool {
    let mut cells = table.iter().flat_map(|row| &row.cells);
    let is_head = table.len() <= MAX_HEAD && !cells.any(|cell| cell.is_value);
    let head = table.iter().take(MAX_HEAD).flat_map(|row| &row.cells);
    row.len() > 1
        && row.iter().any(|cell| cell.is_value)
        && row
            .iter()
            .filter(|cell| cell.is_value || !is_head)
            .all(|cell| head.clone().any(|above| above.column == cell.column))
}

/// Writes a table below its captions, with the head that is declared or found.
fn write_table(
    mut rows: Vec<SheetRow>,
    merged: &BTreeMap<(u64, usize), (u64, usize)>,
    heads: &BTreeSet<u64>,
    writer: &mut BlockWriter,
) {
    let mut declared = rows.iter().position(|row| heads.contains(&row.number));
    if let Some(head_idx) = declared {
        let above = rows[..head_idx]
            .iter()
            .flat_map(|row| row.cells.iter().map(|cell| merged.get(&(row.number, cell.column))));
        // A merged cell above the head is part of it; other cells are above the table.
        if !above.into_iter().flatten().any(|(_, num_columns)| *num_columns > 1) {
            let lines: Vec<String> = rows.drain(..head_idx).map(|row| row.line()).collect();
            writer.paragraph(&lines.join("\n"));
            declared = Some(0);
        }
    }
    // Several rows may be declared.
    let num_heads = declared.map_or(0, |first| {
        let rows = rows[first..].iter();
        first + rows.take_while(|row| heads.contains(&row.number)).count()
    });
    let numbers: Vec<u64> = rows.iter().map(|row| row.number).collect();
    let mut grid = TableGrid::default();
    for (idx, row) in rows.into_iter().enumerate() {
        grid.begin_row();
        if idx < num_heads {
            grid.declare_head();
        }
        for SheetCell { column, text, is_value } in row.cells {
            let (num_rows, columns) = merged.get(&(row.number, column)).copied().unwrap_or((1, 1));
            let end = row.number.saturating_add(num_rows);
            // Blank rows are not in the table.
            let rows = numbers.partition_point(|number| *number < end).saturating_sub(idx);
            grid.place(column, text, CellSpan { rows, columns });
            grid.declare_value(is_value);
        }
    }
    writer.grid(grid);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(column: usize, text: &str) -> SheetCell {
        let is_value = text.starts_with(|c: char| c.is_ascii_digit());
        SheetCell { column, text: text.to_owned(), is_value }
    }

    #[track_caller]
    fn check(rows: &[(u64, &[(usize, &str)])], expected: &[&str]) {
        let (mut sheet, mut budget) = (SheetRows::new("Gauges".to_owned()), Budget::default());
        for (number, cells) in rows {
            let cells = cells.iter().map(|(column, text)| cell(*column, text)).collect();
            assert!(sheet.push(*number, cells, &mut budget));
        }
        let mut writer = BlockWriter::default();
        sheet.write(BlockWriter::default(), &mut writer);
        let blocks = writer.finish();
        assert_eq!(blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn captions_and_tables_are_separate() {
        check(
            &[
                (2, &[(1, "Water levels")]),
                (3, &[(1, "Place"), (2, "Metres")]),
                (4, &[(1, "Brest"), (2, "3.5")]),
                (6, &[(1, "Emden"), (2, "4")]),
                (8, &[(1, "Code"), (4, "Meaning")]),
                (9, &[(1, "E23"), (4, "dry")]),
            ],
            &[
                "## Gauges",
                "Water levels",
                "| Place | Metres |\n| --- | --- |\n| Brest | 3.5 |\n| Emden | 4 |",
                "| Code | Meaning |\n| --- | --- |\n| E23 | dry |",
            ],
        );
        check(&[(1, &[(0, "one")]), (2, &[(0, "two")])], &["## Gauges", "one", "two"]);
        check(&[], &[]);
    }

    #[test]
    fn all_rows_of_a_head_are_one_row_also_above_a_blank_one() {
        check(
            &[
                (1, &[(0, "In metres"), (2, "January")]),
                (2, &[(1, "Ebb"), (2, "Flood")]),
                (4, &[(0, "Brest"), (1, "1.5"), (2, "3.5")]),
                (5, &[(0, "Emden"), (1, "2"), (2, "4")]),
            ],
            &[
                "## Gauges",
                "| In metres | Ebb | January Flood |\n| --- | --- | --- |\n\
                 | Brest | 1.5 | 3.5 |\n| Emden | 2 | 4 |",
            ],
        );
        // Rows of words below a head are not part of it.
        let rows: &[(u64, &[(usize, &str)])] = &[
            (1, &[(0, "Place"), (1, "State")]),
            (2, &[(0, "Hull"), (1, "dry")]),
            (3, &[(0, "Kiel"), (1, "7")]),
        ];
        check(
            rows,
            &["## Gauges", "| Place | State |\n| --- | --- |\n| Hull | dry |\n| Kiel | 7 |"],
        );
    }

    #[test]
    fn a_wide_table_is_split() {
        let row: Vec<(usize, String)> =
            (0..150).map(|column| (column, format!("c{column}"))).collect();
        let row: Vec<(usize, &str)> =
            row.iter().map(|(column, text)| (*column, text.as_str())).collect();
        let (mut sheet, mut budget) = (SheetRows::new("Wide".to_owned()), Budget::default());
        let cells = || row.iter().map(|(column, text)| cell(*column, text)).collect();
        assert!(sheet.push(1, cells(), &mut budget) && sheet.push(2, cells(), &mut budget));
        let mut writer = BlockWriter::default();
        sheet.write(BlockWriter::default(), &mut writer);
        let texts: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert!(
            texts.len() == 3
                && texts[1].contains("c99")
                && texts[2].starts_with("| c0 | c100 |")
                && texts[2].contains("c149"),
            "{texts:?}"
        );
    }

    #[test]
    fn what_is_left_out_is_reported_once() {
        let mut budget = Budget { num_left: 2, ..Budget::default() };
        let mut sheet = SheetRows::new("Big".to_owned());
        assert!(sheet.push(1, vec![cell(0, "a"), cell(1, "")], &mut budget));
        assert!(!sheet.push(7, vec![cell(0, "a"), cell(1, "b")], &mut budget));
        assert!(!SheetRows::default().push(1, vec![cell(0, "a")], &mut budget));
        assert_eq!(
            budget.warnings,
            [
                "the rows of the sheet `Big` from row 7 on and all later sheets were left out: 500000 cells are read"
            ]
        );
    }

    #[test]
    fn spans_and_rows_that_no_program_writes_are_no_failure() {
        let (mut sheet, mut budget) = (SheetRows::new("Odd".to_owned()), Budget::default());
        sheet.merge_at(1, 0, 0, 2);
        sheet.merge_at(u64::MAX, 0, u64::MAX, 0);
        for number in [1, 2, u64::MAX] {
            assert!(sheet.push(number, vec![cell(0, "a"), cell(1, "b")], &mut budget));
        }
        let mut writer = BlockWriter::default();
        sheet.write(BlockWriter::default(), &mut writer);
        assert_eq!(writer.finish().len(), 3);
    }
}
