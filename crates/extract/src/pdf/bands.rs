//! Finds running heads and feet that differ from page to page, by their position. A pure function.
//!
//! A head such as `CHAPTER 2. TIDES 2.5. GAUGES` may be on no other page, but it is where other
//! pages have theirs.

use std::collections::{BTreeMap, HashMap};

use crate::document::BlockKind;
use crate::protocol::{BlockPlace, ExtractedPage, PageBlock};

/// Fewest pages with a line in the same position; on fewer, paragraphs may begin at the same height by chance.
const MIN_PAGES: usize = 5;

/// One of this many pages must have a line in the same position; the first pages of chapters have none.
const MAX_PAGES_PER_LINE: usize = 4;

/// How far apart, in points, lines may be to count as level; two lines of text are several times as far.
const SAME_LEVEL: f64 = 2.0;

/// Height of the zone of heads and feet, as a fraction of the page height.
const EDGE: f64 = 0.12;

/// Smallest gap between a head and the text, as a fraction of the size of the head; between lines of one paragraph it
/// is smaller.
const MIN_GAP: f64 = 0.6;

/// Size below which a line is in small print, as a multiple of the text size.
const SMALL: f64 = 0.95;

/// Longest page number in digits, and in Roman letters (`xxviii`); four digits are more often a year.
const MAX_DIGITS: usize = 3;
const MAX_ROMAN: usize = 6;

/// Fewest words of a head with a page number: `Table 3` is a label.
const MIN_HEAD_WORDS: usize = 3;

/// Returns the page and the block of each running head or foot.
pub(super) fn find(pages: &[ExtractedPage]) -> Vec<(usize, usize)> {
    let mut bands: BTreeMap<(bool, i64), Vec<(usize, usize)>> = BTreeMap::new();
    for (page_idx, page) in pages.iter().enumerate() {
        for (block_idx, block) in page.blocks.iter().enumerate() {
            if block.kind == BlockKind::Table {
                continue;
            }
            let key = block.place.and_then(|place| band(page, &place));
            if let Some(key) = key {
                bands.entry(key).or_default().push((page_idx, block_idx));
            }
        }
    }
    let needed = MIN_PAGES.max(pages.len() / MAX_PAGES_PER_LINE);
    bands.into_values().filter(|found| is_furniture(pages, found, needed)).flatten().collect()
}

/// Whether lines in the same position are running heads or feet, at least `needed` of them.
fn is_furniture(pages: &[ExtractedPage], found: &[(usize, usize)], needed: usize) -> bool {
    let texts = found.iter().map(|&(page, block)| pages[page].blocks[block].text.as_str());
    let mut counts: HashMap<String, usize> = HashMap::new();
    texts.clone().for_each(|text| *counts.entry(words(text)).or_default() += 1);
    // The same head on every page is left out elsewhere, where its first occurrence stays.
    let differs = counts.len() > 1;
    let typical = texts.filter(|text| counts[&words(text)] > 1 || has_number_at_end(text));
    differs && found.len() >= needed && typical.count() * 3 >= found.len() * 2
}

/// Returns the page and the block of each head and foot of a document with too few pages to compare:
/// a page number alone, or a line in small print that begins or ends with one.
pub(super) fn find_typical(pages: &[ExtractedPage], body_size: f64) -> Vec<(usize, usize)> {
    if pages.len() >= MIN_PAGES {
        return Vec::new();
    }
    let blocks = pages.iter().enumerate().flat_map(|(page_idx, page)| {
        page.blocks.iter().enumerate().map(move |(block_idx, block)| (page_idx, block_idx, block))
    });
    let typical =
        blocks.filter(|(page_idx, _, block)| is_typical(&pages[*page_idx], block, body_size));
    typical.map(|(page, block, _)| (page, block)).collect()
}

/// Whether a block looks like a head or a foot.
fn is_typical(page: &ExtractedPage, block: &PageBlock, body_size: f64) -> bool {
    let is_apart = block.place.is_some_and(|place| band(page, &place).is_some());
    let is_small = block.place.is_some_and(|place| place.size < SMALL * body_size);
    let is_line = block.kind != BlockKind::Table && is_apart;
    is_line && (is_number_alone(&block.text) || (is_small && has_page_number_at_end(&block.text)))
}

/// Whether a text is only a page number: `12`, `- 12 -`, `xii`.
fn is_number_alone(text: &str) -> bool {
    let number =
        text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '\u{2013}' | '|'));
    let is_roman = number.chars().all(|c| matches!(c, 'i' | 'v' | 'x' | 'l'));
    !number.is_empty() && ((is_roman && number.len() <= MAX_ROMAN) || is_page_number(number))
}

/// Whether a text of several words begins or ends with a page number.
fn has_page_number_at_end(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.len() >= MIN_HEAD_WORDS
        && [words.first(), words.last()].into_iter().flatten().any(|word| is_page_number(word))
}

/// Whether a word can be the number of a page; four digits are more often a year.
fn is_page_number(word: &str) -> bool {
    (1..=MAX_DIGITS).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the position of a line that is alone at the upper or the lower edge of its page.
#[expect(clippy::cast_possible_truncation, reason = "a position on a page")]
fn band(page: &ExtractedPage, place: &BlockPlace) -> Option<(bool, i64)> {
    let is_top = place.bottom <= EDGE * page.height;
    let is_bottom = place.top >= (1.0 - EDGE) * page.height;
    let gap = MIN_GAP * place.size;
    let others = page.blocks.iter().filter_map(|block| block.place);
    let mut others = others.filter(|other| other != place);
    let is_apart = others.all(|other| {
        let is_level = (other.bottom - place.bottom).abs() < SAME_LEVEL;
        is_level
            || (is_top && other.top >= place.bottom + gap)
            || (is_bottom && other.bottom <= place.top - gap)
    });
    let may_be = place.num_lines == 1 && page.height > 0.0 && (is_top || is_bottom) && is_apart;
    may_be.then(|| (is_top, (place.bottom / SAME_LEVEL).round() as i64))
}

/// Returns the words of a text without numbers, in lower case.
fn words(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphabetic));
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Whether a text begins or ends with a number: that of the page or of a section.
fn has_number_at_end(text: &str) -> bool {
    let mut words = text.split_whitespace();
    begins_with_digit(words.next()) || begins_with_digit(words.next_back())
}

fn begins_with_digit(word: Option<&str>) -> bool {
    word.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str, top: f64) -> PageBlock {
        let place = BlockPlace {
            top,
            bottom: top + 10.0,
            size: 10.0,
            num_lines: 1,
            ..BlockPlace::default()
        };
        PageBlock { place: Some(place), ..PageBlock::new(BlockKind::Paragraph, 0, text) }
    }

    /// Creates pages with a first line at a height and text below.
    fn pages(texts: &[&str], top: f64, below: f64) -> Vec<ExtractedPage> {
        let page = |text: &&str| ExtractedPage {
            height: 800.0,
            blocks: vec![block(text, top), block("The tide turns at noon.", below)],
            ..ExtractedPage::default()
        };
        texts.iter().map(page).collect()
    }

    const HEADS: [&str; 6] = [
        "2.1. Ebb 11", "12 Chapter 2", "2.2. Flood 13", "14 Chapter 2", "2.3. Noon 15",
        "16 Chapter 2",
    ];

    #[test]
    fn heads_are_where_other_pages_have_theirs() {
        let found = find(&pages(&HEADS, 40.0, 100.0));
        assert_eq!(found, [0, 1, 2, 3, 4, 5].map(|page| (page, 0)));
    }

    #[test]
    fn first_lines_of_the_text_are_kept() {
        assert!(find(&pages(&HEADS, 40.0, 52.0)).is_empty());
        assert!(find(&pages(&HEADS, 140.0, 200.0)).is_empty());
        assert!(find(&pages(&HEADS[..4], 40.0, 100.0)).is_empty());
        // The same head everywhere.
        assert!(
            find(&pages(&["Page 1", "Page 2", "Page 3", "Page 4", "Page 5"], 40.0, 100.0))
                .is_empty()
        );
        let lines = ["The ebb", "Slack water", "A flood", "Winds", "Gauges", "Floats"];
        assert!(find(&pages(&lines, 40.0, 100.0)).is_empty());
    }

    /// Returns the blocks that are left of a single page with a line at the top and at the bottom.
    #[track_caller]
    fn check_typical(head: &str, head_size: f64, foot: &str, expected: &[usize]) {
        let mut blocks =
            vec![block(head, 40.0), block("The tide turns.", 100.0), block(foot, 760.0)];
        if let Some(place) = &mut blocks[0].place {
            place.size = head_size;
        }
        let found = find_typical(
            &[ExtractedPage { height: 800.0, blocks, ..ExtractedPage::default() }],
            10.0,
        );
        assert_eq!(found.iter().map(|(_, block)| *block).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_single_page_has_typical_heads_and_feet() {
        check_typical("Tides of the North 9", 9.0, "251", &[0, 2]);
        check_typical("12 Tides of the North", 9.0, "- 7 -", &[0, 2]);
        check_typical("Tides of the North", 9.0, "xii", &[2]);
        // Not in small print; a date; a label.
        check_typical("Invoice of March 42", 10.0, "Bergen, 12 March 2024", &[]);
        check_typical("Table 3", 9.0, "Total 251", &[]);
    }
}
