//! Defines the pieces that are put in order on a page: words, and tables that are kept together.

use super::script;
use super::sheet::PageArea;
use super::words::{BOLD_INK, Word};
use crate::grid::{CopyBudget, FilledTable, TableGrid};

/// Largest distance of two base lines of one line, as a fraction of the size.
const SAME_LINE: f64 = 0.3;

/// A word, or a table that has already been found.
#[derive(Debug, Clone)]
pub(super) enum WordOrTable {
    Word(Word),
    Table(PageTable),
}

/// A table on the page.
#[derive(Debug, Clone)]
pub(crate) struct PageTable {
    pub(crate) area: PageArea,
    /// Rows of cells in reading order, all of the same length.
    pub(crate) rows: Vec<Vec<String>>,
    /// Left and right end of each column.
    pub(crate) columns: Vec<[f64; 2]>,
    /// Whether its rows are terms and their meanings.
    pub(crate) is_glossary: bool,
    /// Whether its first line is bold, and the others are not.
    pub(crate) has_bold_head: bool,
    /// Font height of most of its text.
    pub(crate) size: f64,
    /// Lines above it that a cell as wide as it has.
    pub(super) above: Vec<String>,
    /// Words of the copies of merged cells.
    pub(super) num_copied_words: u32,
}

impl PageTable {
    /// Creates a table of rows with cells from left to right, and puts the cells into reading
    /// order.
    pub(super) fn new(
        area: PageArea,
        mut rows: Vec<Vec<String>>,
        mut columns: Vec<[f64; 2]>,
        size: f64,
    ) -> Self {
        let letters =
            rows.iter().flatten().flat_map(|cell| cell.chars()).filter(|c| c.is_alphabetic());
        if letters.clone().filter(|c| script::is_rtl(*c)).count() * 2 > letters.count() {
            rows.iter_mut().for_each(|row| row.reverse());
            columns.reverse();
        }
        let (above, num_copied_words) = (Vec::new(), 0);
        let (is_glossary, has_bold_head) = (false, false);
        Self { area, rows, columns, is_glossary, has_bold_head, size, above, num_copied_words }
    }

    /// Creates a table with merged cells, each of which is written into all rows or columns that it takes; `xs` has the edges
    /// of its columns. The rows of its head are kept separate: their end is a guess, and a row of data that was joined
    /// to them could no longer be recognised.
    pub(super) fn of_grid(area: PageArea, mut grid: TableGrid, xs: &[f64], size: f64) -> Self {
        grid.keep_head_rows();
        let mut budget = CopyBudget::default();
        let FilledTable { above, rows, columns, .. } = grid.fill(&mut budget);
        let ends = columns.iter().skip(1).copied().chain([xs.len().saturating_sub(1)]);
        let columns = columns.iter().zip(ends).map(|(begin, end)| [xs[*begin], xs[end]]).collect();
        let table = Self::new(area, rows, columns, size);
        Self { above, num_copied_words: budget.num_words, ..table }
    }

    /// Records whether the first line of its words is bold.
    pub(super) fn with_looks_of<'a>(
        mut self,
        words: impl Iterator<Item = &'a Word> + Clone,
    ) -> Self {
        let top = words.clone().map(|word| word.base).fold(f64::INFINITY, f64::min);
        let (mut head, mut body) = (Boldness::default(), Boldness::default());
        for word in words {
            let is_first = word.base - top < SAME_LINE * word.size;
            (if is_first { &mut head } else { &mut body }).add(word);
        }
        let is_named = head.num_bold == head.num_words && body.num_bold * 2 < body.num_words;
        let is_dark = head.ink().is_finite() && head.ink() > BOLD_INK * body.ink();
        self.has_bold_head = body.num_words > 0 && (is_named || is_dark);
        self
    }
}

/// How bold some words are.
#[derive(Debug, Default)]
struct Boldness {
    num_words: usize,
    num_bold: usize,
    ink: f64,
    num_inked: usize,
}

impl Boldness {
    fn add(&mut self, word: &Word) {
        self.num_words += 1;
        self.num_bold += usize::from(word.is_bold);
        self.ink += word.ink;
        self.num_inked += usize::from(word.ink > 0.0);
    }

    /// Returns the mean density of ink; infinite if it is unknown.
    fn ink(&self) -> f64 {
        if self.num_inked == 0 { f64::INFINITY } else { self.ink / self.num_inked as f64 }
    }
}

impl WordOrTable {
    pub(super) fn area(&self) -> PageArea {
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
            let rows = rows.map(|row| row.map(str::to_owned).into()).into();
            PageTable::new(PageArea::NOTHING, rows, Vec::new(), 10.0).rows
        };
        assert_eq!(table([["1403", "تاريخ"], ["436", "جلسه"]])[0], ["تاريخ", "1403"]);
        assert_eq!(table([["date", "1403"], ["number", "436"]])[0], ["date", "1403"]);
    }
}
