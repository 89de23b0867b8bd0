//! Moves footnotes before the paragraph that goes on behind them, in the next column or on the next page. A pure function.

use crate::document::BlockKind;
use crate::protocol::{BlockPlace, BlockPlacement, ExtractedPage, PageBlock};

/// Largest size of a footnote, as a multiple of that of the paragraph above it.
const SMALL: f64 = 0.94;

/// How far the sizes of two parts of a paragraph may differ, as a factor.
const SAME_SIZE: f64 = 1.03;

/// Most footnotes below a column; more small blocks are text of their own, such as a list of references.
const MAX_NOTES: usize = 20;

/// Where a block is: indices of its page, and of it on the page.
type BlockPosition = (usize, usize);

/// Moves footnotes, so that the two parts of a sentence follow each other.
pub(super) fn move_before_open_sentences(pages: &mut [ExtractedPage]) {
    // The last paragraph, and how many footnotes have followed it.
    let mut open: Option<(BlockPosition, usize)> = None;
    for page_idx in 0..pages.len() {
        for block_idx in 0..pages[page_idx].blocks.len() {
            let block = &pages[page_idx].blocks[block_idx];
            if let Some(((open_page, open_idx), num_notes)) = open {
                let above = &pages[open_page].blocks[open_idx];
                if open_page == page_idx && num_notes < MAX_NOTES && is_note_below(block, above) {
                    open = Some(((open_page, open_idx), num_notes + 1));
                    continue;
                }
                if num_notes > 0 && is_rest_of(block, above) {
                    let blocks = &mut pages[open_page].blocks;
                    blocks[open_idx..=open_idx + num_notes].rotate_left(1);
                }
            }
            let is_open = is_open(&pages[page_idx].blocks[block_idx]);
            open = is_open.then_some(((page_idx, block_idx), 0));
        }
    }
}

/// Returns the place of a block of prose.
fn place_of_prose(block: &PageBlock) -> Option<BlockPlace> {
    let is_prose = matches!(block.kind, BlockKind::Paragraph | BlockKind::ListItem);
    block.place.filter(|_| is_prose && block.is_prose() && block.stance == BlockPlacement::Upright)
}

/// Whether the sentence at the end of a block continues.
fn is_open(block: &PageBlock) -> bool {
    let last = block.text.chars().next_back();
    let goes_on =
        last.is_none_or(|c| c.is_alphanumeric() || matches!(c, ',' | ';' | '-' | '\u{2013}'));
    place_of_prose(block).is_some() && goes_on
}

/// Whether a block is in smaller print, below a paragraph.
fn is_note_below(block: &PageBlock, paragraph: &PageBlock) -> bool {
    let (Some(note), Some(above)) = (place_of_prose(block), place_of_prose(paragraph)) else {
        return false;
    };
    note.size <= SMALL * above.size && note.top >= above.bottom - above.size
}

/// Whether a block continues the sentence of a paragraph.
fn is_rest_of(block: &PageBlock, paragraph: &PageBlock) -> bool {
    let (Some(rest), Some(above)) = (place_of_prose(block), place_of_prose(paragraph)) else {
        return false;
    };
    let is_same_size = rest.size <= SAME_SIZE * above.size && above.size <= SAME_SIZE * rest.size;
    is_same_size
        && block.kind == BlockKind::Paragraph
        && block.text.starts_with(|first: char| first.is_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks pages of texts with their sizes, from top to bottom.
    #[track_caller]
    fn check(pages: &[&[(&str, f64)]], expected: &[&[&str]]) {
        let page = |texts: &&[(&str, f64)]| {
            let block = |(idx, &(text, size)): (u32, &(&str, f64))| {
                let top = 20.0 * f64::from(idx);
                let place = BlockPlace { top, bottom: top + 10.0, size, ..BlockPlace::default() };
                PageBlock { place: Some(place), ..PageBlock::new(BlockKind::Paragraph, 0, text) }
            };
            ExtractedPage {
                blocks: (0..).zip(texts.iter()).map(block).collect(),
                ..ExtractedPage::default()
            }
        };
        let mut pages: Vec<ExtractedPage> = pages.iter().map(page).collect();
        move_before_open_sentences(&mut pages);
        let texts =
            |page: &ExtractedPage| page.blocks.iter().map(|block| block.text.clone()).collect();
        let found: Vec<Vec<String>> = pages.iter().map(texts).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sentence_goes_on_over_footnotes() {
        let rest: &[(&str, f64)] = &[("the harbour is dry.", 10.0)];
        check(
            &[
                &[
                    ("The tide.", 10.0),
                    ("At noon,", 10.0),
                    ("1 So it was.", 8.0),
                    ("2 See p. 3.", 8.0),
                ],
                rest,
            ],
            &[&["The tide.", "1 So it was.", "2 See p. 3.", "At noon,"], &["the harbour is dry."]],
        );
        // In the next column.
        check(
            &[&[("At noon", 10.0), ("1 So it was.", 8.0), ("the harbour is dry.", 10.0)]],
            &[&["1 So it was.", "At noon", "the harbour is dry."]],
        );
    }

    #[test]
    fn other_text_stays_where_it_is() {
        let pages: &[&[(&str, f64)]] =
            &[&[("At noon.", 10.0), ("1 So it was.", 8.0)], &[("the harbour", 10.0)]];
        check(pages, &[&["At noon.", "1 So it was."], &["the harbour"]]);
        let pages: &[&[(&str, f64)]] =
            &[&[("Gauges", 10.0), ("of all kinds", 8.0)], &[("The harbour", 10.0)]];
        check(pages, &[&["Gauges", "of all kinds"], &["The harbour"]]);
    }
}
