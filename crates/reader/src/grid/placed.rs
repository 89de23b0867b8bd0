//! Places cells in rows and columns: each in the next column that no cell from above takes.

use crate::document::{WordAccount, WordDestination};

/// Most rows and columns that a cell may span (HTML, 4.9.11).
const MAX_SPANNED_ROWS: usize = 65_534;
const MAX_SPANNED_COLUMNS: usize = 1000;

/// Most columns of a table: those of a sheet of Excel. Each column costs memory, and a cell may begin in any of them.
const MAX_COLUMNS: usize = 16_384;

/// How many rows and columns a cell takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellSpan {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Default for CellSpan {
    fn default() -> Self {
        Self { rows: 1, columns: 1 }
    }
}

/// A cell at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlacedCell {
    pub(super) column: usize,
    pub(super) span: CellSpan,
    pub(super) text: String,
    /// Whether the file declares it a head of columns or rows.
    pub(super) is_head: bool,
    /// Whether the file says that it is a value or words; `None` if it says nothing.
    pub(super) is_value: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PlacedRow {
    pub(super) cells: Vec<PlacedCell>,
    /// Whether the file declares it a row of the head.
    pub(super) is_head: bool,
    /// The group of rows that it belongs to; cells end with their group.
    pub(super) group: usize,
}

impl PlacedRow {
    pub(super) fn filled(&self) -> impl Iterator<Item = &PlacedCell> + Clone {
        self.cells.iter().filter(|cell| !cell.text.is_empty())
    }
}

/// A column that a cell takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TakenColumn {
    /// The first row that the cell does not take.
    until: usize,
    /// The first column after those of the cell.
    end: usize,
}

/// The cells of a table, row by row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableGrid {
    pub(super) rows: Vec<PlacedRow>,
    group: usize,
    /// The column of the next cell, unless a cell is there that comes from above.
    next: usize,
    /// By column, the cell that takes it together with others, if one does.
    taken: Vec<TakenColumn>,
    /// By column, the row and the index of the last cell that begins there.
    last: Vec<Option<(usize, usize)>>,
    /// Words of cells that are too far to the right.
    pub(super) left_out: WordAccount,
    /// Whether the rows of the head are kept separate, as on the page.
    pub(super) keeps_head_rows: bool,
}

impl TableGrid {
    /// Keeps the rows of the head separate; otherwise they become one.
    pub(crate) fn keep_head_rows(&mut self) {
        self.keeps_head_rows = true;
    }

    /// Begins a group of rows, beyond which no cell of those before it reaches.
    pub(crate) fn begin_group(&mut self) {
        self.group += 1;
        self.taken.clear();
    }

    pub(crate) fn begin_row(&mut self) {
        self.next = 0;
        self.rows.push(PlacedRow { group: self.group, ..PlacedRow::default() });
    }

    /// Declares that the open row belongs to the head.
    pub(crate) fn declare_head(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.is_head = true;
        }
    }

    /// Adds a cell in the next column that is free.
    pub(crate) fn cell(&mut self, text: String, span: CellSpan) {
        let row = self.row();
        self.leave_taken(row);
        self.place(self.next, text, span);
    }

    /// Adds a cell in a column.
    pub(crate) fn place(&mut self, column: usize, text: String, span: CellSpan) {
        let row = self.row();
        let span = CellSpan {
            rows: span.rows.clamp(1, MAX_SPANNED_ROWS),
            columns: span.columns.clamp(1, MAX_SPANNED_COLUMNS),
        };
        self.next = column.saturating_add(1);
        if column >= MAX_COLUMNS {
            self.left_out.add(WordDestination::TooLong, &text);
            return;
        }
        if span != CellSpan::default() {
            self.take(column, span.columns, row.saturating_add(span.rows));
        }
        if self.last.len() <= column {
            self.last.resize(column + 1, None);
        }
        let cells = &mut self.rows[row].cells;
        self.last[column] = Some((row, cells.len()));
        cells.push(PlacedCell { column, span, text, is_head: false, is_value: None });
    }

    /// Declares that the last cell is a head of its column or its row.
    pub(crate) fn declare_head_cell(&mut self) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.cells.last_mut()) {
            cell.is_head = true;
        }
    }

    /// Says whether the last cell is a value or words.
    pub(crate) fn declare_value(&mut self, is_value: bool) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.cells.last_mut()) {
            cell.is_value = Some(is_value);
        }
    }

    /// Leaves out columns, which other cells take or none.
    pub(crate) fn skip(&mut self, num_columns: usize) {
        self.row();
        self.next = self.next.saturating_add(num_columns).min(MAX_COLUMNS);
    }

    /// Adds a cell that is merged with the one above it.
    pub(crate) fn continue_above(&mut self, text: String, num_columns: usize) {
        let row = self.row();
        self.leave_taken(row);
        let above = self.last.get(self.next).copied().flatten();
        let above = above.and_then(|(from, idx)| {
            let cell = self.rows.get_mut(from)?.cells.get_mut(idx)?;
            (from + cell.span.rows == row).then_some(cell)
        });
        let Some(above) = above else {
            let span = CellSpan { columns: num_columns, ..CellSpan::default() };
            return self.cell(text, span);
        };
        above.span.rows += 1;
        if !text.trim().is_empty() {
            above.text.push(' ');
            above.text.push_str(&text);
        }
        let columns = above.span.columns;
        self.take(self.next, columns, row + 1);
        self.next += 1;
    }

    /// Returns the texts of the cells, row by row.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = Vec<String>> {
        let rows = self.rows.into_iter();
        rows.map(|row| row.cells.into_iter().map(|cell| cell.text).collect())
    }

    /// Returns the index of the open row; a cell without a row begins one.
    fn row(&mut self) -> usize {
        if self.rows.is_empty() {
            self.begin_row();
        }
        self.rows.len() - 1
    }

    /// Moves on to the next column that no cell occupies in a row.
    fn leave_taken(&mut self, row: usize) {
        while let Some(taken) = self.taken.get(self.next).filter(|taken| taken.until > row) {
            self.next = taken.end;
        }
    }

    /// Takes columns up to a row.
    fn take(&mut self, column: usize, num_columns: usize, until: usize) {
        let end = (column + num_columns).min(MAX_COLUMNS);
        if self.taken.len() < end {
            self.taken.resize(end, TakenColumn::default());
        }
        self.taken[column.min(end)..end].fill(TakenColumn { until, end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(columns: usize) -> CellSpan {
        CellSpan { columns, ..CellSpan::default() }
    }

    #[test]
    fn a_cell_goes_on_below_one_that_follows_a_wide_cell() {
        let mut grid = TableGrid::default();
        grid.begin_row();
        grid.cell("Port of Brest".to_owned(), wide(2));
        grid.cell("open".to_owned(), wide(1));
        grid.begin_row();
        grid.cell("Port of Emden".to_owned(), wide(2));
        grid.continue_above("all year".to_owned(), 1);
        grid.begin_row();
        grid.cell("Hull".to_owned(), wide(1));
        grid.cell("quay".to_owned(), wide(1));
        grid.continue_above(String::new(), 1);
        let places = |row: &PlacedRow| -> Vec<(usize, usize, String)> {
            let cells = row.cells.iter();
            cells.map(|cell| (cell.column, cell.span.rows, cell.text.clone())).collect()
        };
        assert_eq!(
            places(&grid.rows[0]),
            [(0, 1, "Port of Brest".to_owned()), (2, 3, "open all year".to_owned())]
        );
        assert_eq!(places(&grid.rows[1]), [(0, 1, "Port of Emden".to_owned())]);
        assert_eq!(places(&grid.rows[2]), [(0, 1, "Hull".to_owned()), (1, 1, "quay".to_owned())]);
    }
}
