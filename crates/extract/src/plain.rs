//! Extracts one block per paragraph from plain text.
//!
//! Also handles notes: they may be Markdown, and a note given as text has no file name to use as a
//! title.

use crate::document::{Block, BlockKind, Document};
use crate::markdown;

/// Longest title made from the first line of a note, in characters.
const MAX_TITLE_CHARS: usize = 60;

/// Finds the paragraphs of plain text: runs of lines that are not blank.
///
/// There is no title, as the first line may be anything.
pub fn extract(text: &str) -> Document {
    let mut document = Document { text: text.to_owned(), has_lines: true, ..Document::default() };
    let mut paragraph: Option<usize> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        match paragraph {
            None if !is_blank => paragraph = Some(offset),
            Some(start) if is_blank => {
                push_paragraph(&mut document, start, offset);
                paragraph = None;
            }
            _ => {}
        }
        offset += line.len();
    }
    if let Some(start) = paragraph {
        push_paragraph(&mut document, start, offset);
    }
    document
}

/// Reads a note as Markdown; its title is only the one that it states.
pub fn extract_note(text: &str) -> Document {
    markdown::extract(text)
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

fn push_paragraph(document: &mut Document, start: usize, end: usize) {
    // Only the end is trimmed: the indentation of the first line may be part of an aligned table.
    let end = start + document.text[start..end].trim_end().len();
    document.blocks.push(Block {
        bytes: start..end,
        kind: BlockKind::Paragraph,
        headings: Vec::new(),
        symbol: None,
        context: None,
        page: None,
        starts_section: document.blocks.is_empty(),
    });
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
        fn every_word_of_a_text_is_in_a_block(text in "[a-zäé \t\n]{0,200}") {
            let document = extract(&text);
            let blocks = document.blocks.iter().map(|block| &text[block.bytes.clone()]);
            prop_assert!(
                blocks.flat_map(str::split_whitespace).eq(text.split_whitespace())
            );
        }
    }
}
