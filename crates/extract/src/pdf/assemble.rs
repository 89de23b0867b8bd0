//! Assembles pages of blocks into a [`Document`]: text, headings, title, warnings. A pure function.

use std::collections::HashMap;

use crate::document::{Block, BlockKind, Document, HeadingLevels, Metadata, PageRange, Quality};

use super::quality::{GARBAGE_SHARE, is_garbage, is_missing, looks_like_scan};
use super::{
    contents, continued, footnotes, furniture, geometry, headings, hyphens, manual_page, notes,
    quality, spacing, title, watermarks,
};
use crate::protocol::{ExtractedPage, OcrOutcome, PageNote};
use crate::sandbox::parent::ReadDocument;
use crate::sandbox::{Ocr, ReadOptions};

impl ReadDocument {
    /// Whether no page has instructions that draw text, so that no other reader would find text
    /// either.
    pub(super) fn draws_no_text(&self) -> bool {
        let mut pages = self.pages.iter();
        !self.has_text() && pages.all(|page| page.num_text_ops == 0 && page.failed.is_none())
    }

    /// Whether no page is missing from the file.
    pub(super) fn is_complete(&self) -> bool {
        !self.tail.pages_lost && !self.pages.iter().any(is_missing)
    }

    /// Records that the document has `page_count` pages, if there are fewer in this reading.
    pub(super) fn expect_pages(&mut self, page_count: u32) {
        if u32::try_from(self.pages.len()).is_ok_and(|found| found < page_count) {
            self.tail.pages_lost = true;
            let declared = self.tail.declared_page_count.unwrap_or_default();
            self.tail.declared_page_count = Some(declared.max(page_count));
        }
    }

    /// Whether there is text and nearly all characters are known.
    pub(super) fn is_legible(&self) -> bool {
        let (num_visible, num_garbage) = self.count_characters();
        self.has_text() && num_garbage as f64 <= GARBAGE_SHARE * num_visible as f64
    }

    /// Whether this reading has more known characters than another.
    pub(super) fn has_more_text_than(&self, other: &Self) -> bool {
        self.num_legible() > other.num_legible()
    }

    fn num_legible(&self) -> usize {
        let (num_visible, num_garbage) = self.count_characters();
        num_visible - num_garbage
    }

    /// Returns the number of pages for which the claim holds.
    fn num_pages(&self, claim: impl Fn(&ExtractedPage) -> bool) -> usize {
        self.pages.iter().filter(|page| claim(page)).count()
    }

    /// Keeps what another reader has found besides the text of the pages: notes, files and the account of them.
    pub(super) fn keep_additions_of(&mut self, other: Self) {
        let pages = other.pages.into_iter().map(|page| (page.number, page.notes));
        let mut notes: HashMap<u32, Vec<PageNote>> = pages.collect();
        for page in self.pages.iter_mut().filter(|page| page.notes.is_empty()) {
            page.notes = notes.remove(&page.number).unwrap_or_default();
        }
        if self.members.is_empty() && self.tail.parts.is_empty() {
            (self.members, self.tail.parts) = (other.members, other.tail.parts);
        }
    }

    /// Whether there is text on any page.
    fn has_text(&self) -> bool {
        self.pages.iter().any(|page| !page.blocks.is_empty())
    }

    fn count_characters(&self) -> (usize, usize) {
        self.pages.iter().map(quality::count_characters).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }
}

/// Builds the document of `reading`.
pub(super) fn assemble(reading: &ReadDocument, options: &ReadOptions) -> Document {
    let mut warnings = warnings(reading, &options.ocr);
    warnings.extend(reading.tail.parts.warning());
    let mut pages: Vec<ExtractedPage> = reading.pages.clone();
    // Words are completed first, as all later stages compare words.
    hyphens::settle(&mut pages);
    let counts = spacing::separate(&mut pages);
    let quality =
        Quality { num_words: counts.num_words, num_glued: counts.num_glued, ..quality::of(&pages) };
    quality::drop_unknown(&mut pages);
    // The running head names a manual page, so it is read before running heads are removed. These go before tables
    // and sentences are joined across pages, as they stand between the parts. Contents pages are marked before
    // headings, as their lines look like some.
    let manual_page = manual_page::name(&pages).map(str::to_owned);
    if !options.keeps_all {
        watermarks::remove(&mut pages);
        furniture::remove(&mut pages);
    }
    continued::repeat_heads(&mut pages);
    contents::mark(&mut pages);
    let edge = manual_page.as_ref().and_then(|_| manual_page::heading_edge(&pages));
    geometry::mark_headings(&mut pages, edge);
    footnotes::move_before_open_sentences(&mut pages);
    let title = title::of(reading.head.title.as_deref(), manual_page.as_deref(), &pages);
    let chains = headings::assign(&mut pages, &reading.head.outline, title.as_deref());

    let mut document = Document {
        title,
        page_labels: reading.head.labels.clone(),
        metadata: Metadata {
            author: title::author_of(reading.head.author.as_deref()),
            page_count: Some(reading.head.page_count),
            created: reading.head.created.clone(),
            language: reading.head.language.clone(),
            quality: Some(quality),
            parts: Some(reading.tail.parts.clone()).filter(|parts| !parts.is_empty()),
            warnings,
            ..Metadata::default()
        },
        ..Document::default()
    };
    let mut chains = chains.into_iter();
    for page in &pages {
        let mut blocks = page.blocks.iter();
        for notes in notes::by_block(page) {
            if let Some(block) = blocks.next() {
                let chain = chains.next().unwrap_or_default();
                push(&mut document, page.number, block.kind, &block.text, chain);
            }
            for note in notes {
                let above = document.blocks.last().map(|block| block.headings.clone());
                let above = above.unwrap_or_default();
                push(&mut document, page.number, BlockKind::Paragraph, &note.text, above);
            }
        }
    }
    let words = document.metadata.words.get_or_insert_default();
    pages.iter().for_each(|page| words.merge(&page.left_out));
    let num_copied = pages.iter().map(|page| page.num_copied_words);
    document.num_copied_words = num_copied.fold(0, u32::saturating_add);
    document.metadata.headings = HeadingLevels::headings(&document);
    document
}

fn push(document: &mut Document, page: u32, kind: BlockKind, text: &str, headings: Vec<String>) {
    if !document.text.is_empty() {
        document.text.push_str("\n\n");
    }
    let start = document.text.len();
    document.text.push_str(text);
    document.blocks.push(Block {
        bytes: start..document.text.len(),
        kind,
        headings,
        symbol: None,
        context: None,
        page: Some(page),
        starts_section: kind == BlockKind::Heading,
    });
}

/// Returns the warnings about the results, one sentence each.
fn warnings(reading: &ReadDocument, ocr: &Ocr) -> Vec<String> {
    let total = reading.pages.len();
    let failed = reading.pages.iter().filter(|page| page.failed.is_some());
    let failed: Vec<u32> = failed.map(|page| page.number).collect();
    let num_scans = reading.num_pages(|page| page.ocr.is_none() && looks_like_scan(page));
    let num_garbage = reading.num_pages(is_garbage);
    let num_unread = reading.num_pages(|page| why_unread(page).is_some());

    let mut warnings = reading.tail.warnings.clone();
    if reading.tail.rebuilt {
        warnings.push("the file is damaged and was rebuilt from its parts".to_owned());
    }
    if !failed.is_empty() {
        let (num_failed, names) = (failed.len(), ranges(&failed));
        warnings.push(format!("{num_failed} of {total} pages could not be read: {names}"));
    }
    if let Some(declared) = reading.tail.declared_page_count.filter(|_| reading.tail.pages_lost) {
        warnings.push(format!(
            "only {total} of its {declared} pages were found; it is not known which are missing, so page numbers may be wrong"
        ));
    }
    if num_scans > 0 {
        let remedy = match ocr {
            Ocr::Missing => "; Tesseract is not installed, which could read them".to_owned(),
            Ocr::Unusable { reason } => {
                format!("; Tesseract does not run, as {reason} (see `kb doctor`)")
            }
            Ocr::Never | Ocr::Tesseract { .. } => String::new(),
        };
        warnings.push(format!(
            "no text found on {num_scans} of {total} pages; they look like scans{remedy}"
        ));
    }
    if let Some(reason) = reading.pages.iter().find_map(why_unread) {
        warnings.push(format!("OCR failed on {num_unread} of {total} pages: {reason}"));
    }
    if num_garbage > 0 {
        warnings.push(format!(
            "the text on {num_garbage} of {total} pages is unreadable, because its fonts do not identify their characters"
        ));
    }
    let num_soup = reading.num_pages(|page| page.is_soup);
    if num_soup > 0 {
        warnings.push(format!(
            "the text on {num_soup} of {total} pages is unreadable, because its fonts name other letters than they show"
        ));
    }
    let has_notes = reading.pages.iter().any(|page| !page.notes.is_empty());
    if !reading.has_text() && !has_notes && warnings.is_empty() {
        warnings.push("there is no text in this document".to_owned());
    }
    warnings
}

/// Returns why OCR has not read a page.
fn why_unread(page: &ExtractedPage) -> Option<&str> {
    page.ocr.as_ref().and_then(OcrOutcome::reason)
}

/// Returns a warning about pages on which large pictures were not read.
pub(super) fn unread_pictures(pages: &[u32]) -> Option<String> {
    let names = ranges(pages);
    (!pages.is_empty()).then(|| format!("large pictures were not read by OCR on pages {names}"))
}

/// Most ranges of page numbers in a warning, so that it stays readable.
const MAX_RANGES: usize = 20;

/// Returns ascending page numbers as text, with ranges: `3, 7-9`.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<PageRange> = Vec::new();
    for number in numbers {
        let page = PageRange::single(*number);
        match ranges.last_mut() {
            Some(range) if range.is_followed_by(*number) => *range = range.to_end_of(page),
            _ => ranges.push(page),
        }
    }
    let texts: Vec<String> = ranges.iter().take(MAX_RANGES).map(PageRange::to_string).collect();
    let ellipsis = if ranges.len() > MAX_RANGES { ", \u{2026}" } else { "" };
    texts.join(", ") + ellipsis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PageBlock;

    /// Returns a reading of pages, each with one block and one note.
    fn reading(pages: &[[&str; 2]]) -> ReadDocument {
        let page = |(number, [text, note]): (u32, &[&str; 2])| ExtractedPage {
            number,
            blocks: vec![PageBlock::new(BlockKind::Heading, 1, *text)],
            notes: vec![PageNote { text: (*note).to_owned(), place: None }],
            ..ExtractedPage::default()
        };
        ReadDocument { pages: (1..).zip(pages).map(page).collect(), ..ReadDocument::default() }
    }

    #[test]
    fn notes_are_paragraphs_of_their_pages_however_often_they_come() {
        let pages = [["Ebb and flood", "SEEN"], ["Locks", "SEEN"], ["Piers", "SEEN"]];
        let options = ReadOptions::new("reader".into());
        let document = assemble(&reading(&pages), &options);
        let blocks = document.blocks.iter().filter(|block| block.kind == BlockKind::Paragraph);
        let notes = blocks.map(|block| (block.page, document.text[block.bytes.clone()].to_owned()));
        let expected = [1, 2, 3].map(|page| (Some(page), "SEEN".to_owned()));
        assert_eq!(notes.collect::<Vec<_>>(), expected);
        let last = document.blocks.last().map(|block| block.headings.clone());
        assert_eq!(last, Some(vec!["Piers".to_owned()]));
    }

    #[test]
    fn the_running_head_names_a_manual_page_and_its_first_heading_does_not() {
        let mut reading = reading(&[["NAME", "a"], ["SEE ALSO", "b"], ["BUGS", "c"]]);
        for page in &mut reading.pages {
            let head = "LS(1) User Commands LS(1)";
            page.blocks.insert(0, PageBlock::new(BlockKind::Paragraph, 0, head));
        }
        let document = assemble(&reading, &ReadOptions::new("reader".into()));
        assert_eq!(document.title.as_deref(), Some("LS(1)"));
        let mut chains: Vec<_> =
            document.blocks.iter().map(|block| block.headings.join(" ")).collect();
        chains.dedup();
        assert_eq!(chains, ["", "NAME", "SEE ALSO", "BUGS"]);
    }

    #[test]
    fn another_reading_keeps_the_notes() {
        let mut other = reading(&[["Ebb", ""]]);
        other.pages[0].notes.clear();
        other.keep_additions_of(reading(&[["garbage", "When?"]]));
        assert_eq!(other.pages[0].notes[0].text, "When?");
        assert_eq!(other.pages[0].blocks[0].text, "Ebb");
    }

    #[test]
    fn page_numbers_are_shown_as_ranges() {
        assert_eq!(ranges(&[3, 7, 8, 9, 12]), "3, 7-9, 12");
        let odd: Vec<u32> = (0..30).map(|at| 2 * at + 1).collect();
        assert!(ranges(&odd).ends_with("37, 39, \u{2026}"));
        assert_eq!(ranges(&[]), "");
    }
}
