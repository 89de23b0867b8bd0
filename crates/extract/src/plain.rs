//! Extracts the headings and paragraphs of plain text.
//!
//! This module also reads notes: they may be Markdown, and a note given as text has no file name to
//! use as a title.

mod headings;

use crate::document::{BlockKind, Document};
use crate::markdown::{self, LeadingHeading, UnplacedBlock};
use crate::words;

/// Longest title made from the first line of a note, in characters: a title is shown on one line.
const MAX_TITLE_CHARS: usize = 60;

/// Finds the headings of plain text and its paragraphs: runs of lines that are not blank.
///
/// The title is the only heading of the first level, if it is underlined or has `#` and comes before all other text.
/// Otherwise there is none, as the first line may be anything.
pub fn extract(text: &str) -> Document {
    let mut document = Document { text: text.to_owned(), has_lines: true, ..Document::default() };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let found = headings::headings(&lines);
    let mut headings = found.iter().peekable();
    let mut pieces: Vec<UnplacedBlock> = Vec::new();
    let (mut offset, mut is_open, mut heading_end) = (0, false, 0);
    for (number, line) in lines.iter().enumerate() {
        // Only the end is trimmed: the indentation of the first line may be part of an aligned table.
        let bytes = offset..offset + line.trim_end().len();
        let is_blank = bytes.is_empty();
        offset += line.len();
        let heading = headings.next_if(|heading| heading.lines.start == number);
        match pieces.last_mut().filter(|_| is_open && heading.is_none()) {
            _ if is_blank => {}
            Some(piece) => piece.bytes.end = bytes.end,
            None => pieces.push(UnplacedBlock {
                bytes,
                kind: heading.map_or(BlockKind::Paragraph, |_| BlockKind::Heading),
                heading: heading.map(|heading| (heading.level, markdown::to_heading(heading.text))),
            }),
        }
        heading_end = heading.map_or(heading_end, |heading| heading.lines.end);
        is_open = !is_blank && number + 1 != heading_end;
    }
    let has_title = found.first().is_some_and(|first| first.is_marked())
        && found.iter().skip(1).all(|heading| heading.level > 1)
        && pieces.first().is_some_and(|piece| piece.heading.is_some());
    if has_title {
        markdown::set_title_and_blocks(&mut document, pieces, LeadingHeading::IsSection);
    } else {
        markdown::set_blocks(&mut document, pieces);
    }
    document
}

/// Reads a note as Markdown; its title is only the one that it states.
pub fn extract_note(text: &str) -> Document {
    let mut document = markdown::extract(text);
    words::count(&mut document);
    document
}

/// Makes a title for a note that states none: its first line without list and heading markers, cut
/// at a word.
///
/// Empty if the note is blank.
pub fn note_title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let bare = line.trim_start_matches(['#', '-', '*', '>', '+', ' ', '\t']);
    markdown::shorten(if bare.is_empty() { line } else { bare }, MAX_TITLE_CHARS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let document = extract(text);
        let blocks: Vec<&str> =
            document.blocks.iter().map(|block| &document.text[block.bytes.clone()]).collect();
        assert_eq!(blocks, expected);
        assert_eq!(document.title, None);
    }

    #[test]
    fn blank_lines_separate_paragraphs() {
        check("One\ntwo\n\n  \t\nthree\n", &["One\ntwo", "three"]);
        check("\n\nOne", &["One"]);
        check(" \n", &[]);
        check("", &[]);
    }

    #[test]
    fn headings_begin_sections_and_are_in_the_chain_below() {
        let text = "Gauge handbook\n==============\n\nWhat it is.\n\nReading\n-------\n\nDaily.\nAt noon.\n\nWinter\n------\nPour brine.\n";
        let document = extract(text);
        assert_eq!(document.title.as_deref(), Some("Gauge handbook"));
        let blocks: Vec<_> = document
            .blocks
            .iter()
            .map(|block| {
                (&text[block.bytes.clone()], block.headings.join(" > "), block.starts_section)
            })
            .collect();
        assert_eq!(blocks[0], ("Gauge handbook\n==============", String::new(), true));
        assert_eq!(blocks[2], ("Reading\n-------", "Reading".to_owned(), true));
        assert_eq!(blocks[3], ("Daily.\nAt noon.", "Reading".to_owned(), false));
        assert_eq!(blocks[5], ("Pour brine.", "Winter".to_owned(), false));
    }

    #[test]
    fn one_marked_heading_above_all_text_is_the_title() {
        let title = |text: &str| extract(text).title;
        assert_eq!(title("# Gauges\n\nText.\n\n## Winter\n\nBrine.").as_deref(), Some("Gauges"));
        assert_eq!(title("Text.\n\n# Gauges\n\nMore."), None);
        assert_eq!(title("# Gauges\n\nText.\n\n# Floats\n\nMore."), None);
        assert_eq!(title("INSTALLATION\n\nText."), None);
    }

    #[test]
    fn the_title_of_a_note_is_its_first_line() {
        assert_eq!(note_title("\n- Call the bank\nabout the card"), "Call the bank");
        assert_eq!(note_title("  "), "");
        assert_eq!(note_title("***"), "***");
        let title = note_title(&"letters ".repeat(20));
        assert_eq!(title, "letters letters letters letters letters letters letters…");
    }

    #[test]
    fn a_note_may_state_its_title() {
        assert_eq!(extract_note("# Bank\n\nCall.").title.as_deref(), Some("Bank"));
        assert_eq!(extract_note("Call the bank").title, None);
    }

    proptest! {
        #[test]
        fn every_word_of_a_text_is_in_a_block(text in "[a-zäéAB1. \t\n=#-]{0,200}") {
            let document = extract(&text);
            let blocks = document.blocks.iter().map(|block| &text[block.bytes.clone()]);
            prop_assert!(
                blocks.flat_map(str::split_whitespace).eq(text.split_whitespace())
            );
        }
    }
}
