//! Defines the pieces that are put in order on a page: words, and tables that stay together.

use super::script;
use super::sheet::Area;
use super::words::Word;
use crate::grid::{CopyBudget, FilledTable, TableGrid};

/// A word, or a table that has already been found.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Word(Word),
    Table(Table),
}

/// A table on the page.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) area: Area,
    /// Rows of cells in reading order, all of the same length.
    pub(crate) rows: Vec<Vec<String>>,
    /// Font height of most of its text.
    pub(crate) size: f64,
    /// Lines above it that a cell as wide as it has.
    pub(super) above: Vec<String>,
    /// Words of the copies of merged cells.
    pub(super) num_copied_words: u32,
}

impl Table {
    /// Creates a table of rows with cells from left to right, and puts the cells into reading
    /// order.
    pub(super) fn new(area: Area, mut rows: Vec<Vec<String>>, size: f64) -> Self {
        let letters =
            || rows.iter().flatten().flat_map(|cell| cell.chars()).filter(|c| c.is_alphabetic());
        if letters().filter(|c| script::is_rtl(*c)).count() * 2 > letters().count() {
            rows.iter_mut().for_each(|row| row.reverse());
        }
        Self { area, rows, size, above: Vec::new(), num_copied_words: 0 }
    }

    /// Creates a table with merged cells, each of which is written into all rows or columns that it takes.
    pub(super) fn of_grid(area: Area, grid: TableGrid, size: f64) -> Self {
        let mut budget = CopyBudget::default();
        let FilledTable { above, rows, .. } = grid.fill(&mut budget);
        Self { above, num_copied_words: budget.num_words, ..Self::new(area, rows, size) }
    }
}

impl Piece {
    pub(super) fn area(&self) -> Area {
        match self {
            Self::Word(word) => word.area,
            Self::Table(table) => table.area,
        }
    }

    pub(super) fn word(&self) -> Option<&Word> {
        match self {
            Self::Word(word) => Some(word),
            Self::Table(_) => None,
        }
    }

    pub(super) fn is_rtl(&self) -> bool {
        self.word().is_some_and(|word| word.text.contains(script::is_rtl))
    }
}

impl Word {
    /// Returns how many words it counts as: in text without spaces, two ideographs count as one
    /// word.
    pub(super) fn num_words(&self) -> usize {
        let num_ideographs = self.text.chars().filter(|c| script::is_ideographic(*c)).count();
        (num_ideographs / 2).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_right_to_left_script_begin_on_the_right() {
        let table = |rows: [[&str; 2]; 2]| {
            Table::new(Area::NOTHING, rows.map(|row| row.map(str::to_owned).into()).into(), 10.0)
                .rows
        };
        assert_eq!(table([["1403", "تاريخ"], ["436", "جلسه"]])[0], ["تاريخ", "1403"]);
        assert_eq!(table([["date", "1403"], ["number", "436"]])[0], ["date", "1403"]);
    }
}
