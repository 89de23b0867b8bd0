//! Says where the line of a hit is that is cited. Pure.
//!
//! The line is the best one ([`RatedLines`]), so every form of an answer cites the same place, however wide or long it is.

use crate::document::{Chunk, DocType, PageRange};
use crate::search::matches::{Match, QueryTerms};
use crate::search::rated_lines::RatedLines;
use crate::{ChunkPlace, StoredHit};

/// The place of the line of a hit that best answers the query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CitedPlace {
    /// The line of the chunk's text, from 0.
    pub in_text: usize,
    /// The line in the file, from 1; the first one of the chunk if lines of the text are not known in the file, `None` if the
    /// document has no lines.
    pub line: Option<u32>,
    /// The page of the line; all pages of the chunk if `is_exact` is not set.
    pub pages: Option<PageRange>,
    /// Headings above the line, joined by ` > `.
    pub section: Option<String>,
    /// Qualified name of the definition that the line is in.
    pub symbol: Option<String>,
    /// Whether the page, the section and the symbol are those of the line. An older kb stored only those with which a chunk
    /// begins.
    pub is_exact: bool,
}

impl CitedPlace {
    /// Chooses the place to cite of a chunk in which these terms were found.
    pub(super) fn of(found: &[Match], stored: &StoredHit, wanted: &QueryTerms) -> Self {
        let chunk = &stored.chunk.chunk;
        let is_code = stored.doc_type == DocType::Code;
        Self::in_chunk(chunk, RatedLines::new(&chunk.text, is_code, found, wanted).best_line())
    }

    fn in_chunk(chunk: &Chunk, in_text: usize) -> Self {
        let lines = chunk.file_lines();
        let line = lines.map(|lines| {
            let line = lines.line(in_text, chunk.text.lines().count());
            line.unwrap_or(lines.lines.first())
        });
        let ChunkPlace { section, symbol, pages, .. } = ChunkPlace::of_line(chunk, in_text);
        Self { in_text, line, pages, section, symbol, is_exact: chunk.new_places.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::PlaceChange;
    use crate::testing::chunk;

    #[test]
    fn the_place_is_that_of_the_line() {
        let places = vec![PlaceChange {
            line: 2,
            page: Some(6),
            section: Some("Risks".into()),
            symbol: None,
        }];
        let mut deck = Chunk {
            pages: PageRange::new(4, 6),
            section: Some("Plan".into()),
            new_places: Some(places),
            ..chunk("When we build\n\n# Risks\n\nFloods of the burn")
        };
        let at = |chunk: &Chunk, query: &str| {
            let wanted = QueryTerms::new(query);
            let found = wanted.find(&chunk.text);
            let rated = RatedLines::new(&chunk.text, false, &found, &wanted);
            let at = CitedPlace::in_chunk(chunk, rated.best_line());
            (at.pages, at.section)
        };
        assert_eq!(at(&deck, "floods"), (PageRange::new(6, 6), Some("Risks".into())));
        assert_eq!(at(&deck, "build"), (PageRange::new(4, 4), Some("Plan".into())));
        deck.new_places = None;
        assert_eq!(at(&deck, "floods"), (PageRange::new(4, 6), Some("Plan".into())));
    }
}
