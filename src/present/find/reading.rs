//! Lays out the text of a part of a document in lines for reading.

use crate::document::{CHAIN_SEPARATOR, DocType, PageRange};
use crate::present::find::{Line, Meaning, justified, piece, pieces};
use crate::present::text::passage::whole;
use crate::present::text::quote;
use crate::read::{DocumentPart, PartKind, ShownPart};
use crate::search::Hit;
use crate::search::matches::QueryTerms;
use crate::text::printable::{clean, clean_name};

/// Lines of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadingText {
    /// From top to bottom.
    pub lines: Vec<Line>,
    /// The line at which to begin to read, from 0.
    pub start: usize,
}

/// A part of a document with the words of a query marked.
#[derive(Debug)]
pub struct PartReading {
    shown: ShownPart,
    terms: QueryTerms,
    /// Where in the text to begin to read.
    start: usize,
}

impl PartReading {
    /// Prepares a part for reading, from the beginning of a passage in it on.
    pub fn new(shown: ShownPart, typed: &str, passage: Option<&str>) -> Self {
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
    pub fn body(&self, columns: usize) -> ReadingText {
        let is_code = self.shown.document.doc_type == DocType::Code;
        let set = |text: &str| pieces(whole(text, &self.terms, columns, is_code), Meaning::Plain);
        let start = set(&self.shown.text[..self.start]).len();
        ReadingText { lines: set(&self.shown.text), start }
    }
}

/// Between the parts of a header chain.
const CHAIN: &str = " › ";

/// Returns the header chain and symbol of an entry.
pub(super) fn chain_line(section: Option<&str>, symbol: Option<&str>) -> Line {
    let chain = section
        .map(|section| section.split(CHAIN_SEPARATOR).map(clean).collect::<Vec<_>>().join(CHAIN));
    let parts: Vec<String> = chain.into_iter().chain(symbol.map(clean)).collect();
    if parts.is_empty() { Line::new() } else { vec![piece(Meaning::Place, parts.join(CHAIN))] }
}

/// Returns date, tags and state of a hit.
pub(super) fn hit_marks(hit: &Hit) -> Line {
    let mut marks = tags(&hit.stored.tags);
    if let Some(stale) = hit.stale {
        marks.push(piece(Meaning::Warning, format!("  {}", stale.as_str())));
    }
    if let Some(date) = &hit.stored.date {
        marks.push(piece(Meaning::Faint, format!("  {}", clean_name(date))));
    }
    marks
}

pub(super) fn tags(tags: &[String]) -> Line {
    tags.iter().map(|tag| piece(Meaning::Tag, format!("  #{}", clean(tag)))).collect()
}

/// Returns the row of a part of a document.
pub(super) fn part_line(part: &DocumentPart, columns: usize) -> Line {
    let name = clean(part.name.as_deref().unwrap_or(&part.preview));
    let word = if part.kind == PartKind::Page { "page " } else { "" };
    let indent = "  ".repeat(part.level as usize);
    let place = match part.kind {
        PartKind::Page => String::new(),
        _ => quote::short_place(part.start_line, part.pages.map(PageRange::first_only)),
    };
    let left = vec![piece(Meaning::Plain, format!("{indent}{word}{name}"))];
    justified(left, vec![piece(Meaning::Place, place)], columns)
}
