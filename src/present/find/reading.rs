//! Lays out the text of a part of a document for reading.

use crate::document::DocType;
use crate::present::find::{Line, Meaning, piece, pieces};
use crate::present::text::passage::whole;
use crate::read::{PartKind, Shown};
use crate::search::matches::QueryTerms;
use crate::text::printable::clean;

/// Lines of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// From top to bottom.
    pub lines: Vec<Line>,
    /// The line at which to begin to read, from 0.
    pub start: usize,
}

/// A part of a document with the words of a query marked.
#[derive(Debug)]
pub struct Reading {
    shown: Shown,
    terms: QueryTerms,
    /// Where in the text to begin to read.
    start: usize,
}

impl Reading {
    /// Prepares a part for reading, from the beginning of a passage in it on.
    pub fn new(shown: Shown, typed: &str, passage: Option<&str>) -> Self {
        let first = passage.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        let start = first.and_then(|line| shown.text.find(line.trim())).unwrap_or(0);
        Self { shown, terms: QueryTerms::new(typed), start }
    }

    /// Returns the names of the document and the part.
    pub fn title(&self) -> Line {
        let part = &self.shown.part;
        let mut title = vec![piece(Meaning::Title, clean(&self.shown.document.title))];
        let name = match part.kind {
            PartKind::Page => part.name.as_ref().map(|number| format!("page {number}")),
            _ => part.name.as_deref().map(clean),
        };
        title.extend(name.map(|name| piece(Meaning::Place, format!(" › {name}"))));
        title
    }

    /// Returns the text as lines of a width.
    pub fn body(&self, columns: usize) -> Body {
        let is_code = self.shown.document.doc_type == DocType::Code;
        let set = |text: &str| pieces(whole(text, &self.terms, columns, is_code), Meaning::Plain);
        let start = set(&self.shown.text[..self.start]).len();
        Body { lines: set(&self.shown.text), start }
    }
}
