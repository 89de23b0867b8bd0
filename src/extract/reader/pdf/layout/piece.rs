//! What is put in order on a page: words, and tables that stay whole.

use super::script;
use super::sheet::Area;
use super::words::Word;

/// A word, or a table that has been found already.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Word(Word),
    Table(Table),
}

/// A table as it stands on the page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) area: Option<Area>,
    /// Rows of cells in the order in which they are read, all of one length.
    pub(crate) rows: Vec<Vec<String>>,
    /// Height of the typeface of most of it.
    pub(crate) size: f64,
}

impl Table {
    /// Makes a table of rows whose cells stand from left to right; they are kept as they are read.
    pub(super) fn new(area: Area, mut rows: Vec<Vec<String>>, size: f64) -> Self {
        let letters =
            || rows.iter().flatten().flat_map(|it| it.chars()).filter(|it| it.is_alphabetic());
        if letters().filter(|it| script::is_rtl(*it)).count() * 2 > letters().count() {
            rows.iter_mut().for_each(|it| it.reverse());
        }
        Self { area: Some(area), rows, size }
    }
}

impl Piece {
    pub(super) fn area(&self) -> Area {
        match self {
            Self::Word(it) => it.area,
            Self::Table(it) => it.area.unwrap_or(Area::NOTHING),
        }
    }

    pub(super) fn word(&self) -> Option<&Word> {
        match self {
            Self::Word(it) => Some(it),
            Self::Table(_) => None,
        }
    }

    pub(super) fn is_rtl(&self) -> bool {
        self.word().is_some_and(|it| it.text.contains(script::is_rtl))
    }
}

impl Word {
    /// Returns how many words it is: without spaces one is about two ideographs.
    pub(super) fn num_words(&self) -> usize {
        let num_ideographs = self.text.chars().filter(|it| script::is_ideographic(*it)).count();
        (num_ideographs / 2).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_script_that_runs_to_the_left_begin_on_the_right() {
        let table = |rows: [[&str; 2]; 2]| {
            Table::new(Area::NOTHING, rows.map(|it| it.map(str::to_owned).into()).into(), 10.0).rows
        };
        assert_eq!(table([["1403", "تاريخ"], ["436", "جلسه"]])[0], ["تاريخ", "1403"]);
        assert_eq!(table([["date", "1403"], ["number", "436"]])[0], ["date", "1403"]);
    }
}
