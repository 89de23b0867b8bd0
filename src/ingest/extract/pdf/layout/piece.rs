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
    /// Rows of cells, all of one length.
    pub(crate) rows: Vec<Vec<String>>,
    /// Height of the typeface of most of it.
    pub(crate) size: f64,
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
