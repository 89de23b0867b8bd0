//! Marks the blocks that look like headings, by position and size. A pure function.
//!
//! If the file tags its headings, the tags decide. Otherwise a heading is short, a separate block,
//! and either larger or bolder than the text, numbered like a section, or all in capitals.

use std::collections::BTreeMap;

use super::headings;
use crate::extract::protocol::{Page, PageBlock, PageBlockKind, Place};

/// Fewest tagged headings for the tags to be trusted.
const MIN_TAGGED: usize = 3;

/// Longest heading, in lines.
const MAX_LINES: u32 = 3;

/// Smallest size of a heading, as a multiple of the text size.
const LARGE: f64 = 1.12;

/// Smallest ink density of a bold heading, as a multiple of that of the text.
const BOLD_INK: f64 = 1.22;

/// Size below which bold or numbered text is a note or a label, as a multiple of the text size.
const SMALL: f64 = 0.92;

/// Longest heading that only its number or its capitals reveal, in words.
const MAX_PLAIN_WORDS: usize = 12;

/// Deepest level derived from appearance.
const MAX_LEVEL: u8 = 6;

/// Marks the headings among the blocks of `pages` that have positions, and sets their levels.
pub(super) fn mark_headings(pages: &mut [Page]) {
    let blocks = || pages.iter().flat_map(|page| &page.blocks);
    if blocks().all(|block| block.place.is_none()) {
        return;
    }
    let is_tagged = blocks().filter(|block| block.level > 0).count() >= MIN_TAGGED;
    let body = body_size(blocks());
    let ranks = if is_tagged { BTreeMap::new() } else { ranks(pages, body) };
    for block in pages.iter_mut().flat_map(|page| page.blocks.iter_mut()) {
        let level = match block.place {
            Some(_) if is_tagged => block.level,
            Some(place) if looks_like_heading(block, &place, body) => {
                ranks.get(&style(&place)).copied().unwrap_or(MAX_LEVEL)
            }
            _ => 0,
        };
        let may_be = !matches!(block.kind, PageBlockKind::Table | PageBlockKind::Code);
        block.level = if may_be { level } else { 0 };
        if block.level > 0 {
            block.kind = PageBlockKind::Heading;
        }
    }
}

/// Returns the size of most characters of the text.
fn body_size<'a>(blocks: impl Iterator<Item = &'a PageBlock>) -> f64 {
    let mut by_size: BTreeMap<i64, usize> = BTreeMap::new();
    for block in blocks {
        if let Some(place) = block.place {
            *by_size.entry(tenths(place.size)).or_default() += block.text.len();
        }
    }
    let most = by_size.into_iter().max_by_key(|(_, count)| *count).map_or(0, |(size, _)| size);
    most as f64 / 10.0
}

#[expect(clippy::cast_possible_truncation, reason = "clamped just before")]
fn tenths(size: f64) -> i64 {
    (size.clamp(0.0, 1e6) * 10.0).round() as i64
}

/// Returns a sort key for the appearance of a heading: larger ones first, and bold before regular
/// ones of the same size.
fn style(place: &Place) -> (i64, bool) {
    (-tenths(place.size * 2.0) / 10, !is_bold(place))
}

/// Returns the level of each heading style, from 1.
fn ranks(pages: &[Page], body: f64) -> BTreeMap<(i64, bool), u8> {
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    let mut styles: Vec<(i64, bool)> = blocks
        .filter_map(|block| {
            let place = block.place?;
            looks_like_heading(block, &place, body).then(|| style(&place))
        })
        .collect();
    styles.sort_unstable();
    styles.dedup();
    styles.into_iter().zip((1..=MAX_LEVEL).chain(std::iter::repeat(MAX_LEVEL))).collect()
}

fn is_bold(place: &Place) -> bool {
    place.is_bold || place.ink >= BOLD_INK
}

fn looks_like_heading(block: &PageBlock, place: &Place, body: f64) -> bool {
    let may_be = match block.kind {
        PageBlockKind::Table | PageBlockKind::Code => false,
        PageBlockKind::ListItem => block.text.starts_with(|first: char| first.is_alphanumeric()),
        PageBlockKind::Heading | PageBlockKind::Paragraph => true,
    };
    if !may_be
        || is_amounts(&block.text)
        || place.num_lines > MAX_LINES
        || !headings::is_plausible(&block.text)
    {
        return false;
    }
    if place.size >= LARGE * body {
        return true;
    }
    if place.size < SMALL * body {
        return false;
    }
    let ends_sentence = block.text.ends_with(['.', ';', ':', ',', '!', '?']);
    let is_short = block.text.split_whitespace().count() <= MAX_PLAIN_WORDS;
    let is_numbered = headings::number_depth(&block.text).is_some();
    let starts_well = title_start(&block.text).is_some_and(|first| !first.is_lowercase());
    (is_bold(place) && !block.text.ends_with([';', ',']))
        || (is_short
            && !ends_sentence
            && starts_well
            && place.num_lines <= 2
            && (is_numbered || is_capitals(&block.text)))
}

/// Whether text ends in numbers other than its section number, like a line of a table.
fn is_amounts(text: &str) -> bool {
    let is_number = |word: &str| {
        word.chars().any(|c| c.is_ascii_digit()) && !word.chars().any(char::is_alphabetic)
    };
    text.split_whitespace().rev().take_while(|word| is_number(word)).count() > 1
}

/// Returns the first letter, after any number.
fn title_start(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_alphabetic())
}

fn is_capitals(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (upper, lower) = letters.fold((0, 0), |(upper, lower), letter| {
        (upper + usize::from(letter.is_uppercase()), lower + usize::from(letter.is_lowercase()))
    });
    upper >= 5 && lower == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a block of one line with a size, a relative ink density, and a tagged level.
    fn block(text: &str, size: f64, ink: f64, level: u8) -> PageBlock {
        let place = Place { size, ink, num_lines: 1, ..Place::default() };
        PageBlock { place: Some(place), ..PageBlock::new(PageBlockKind::Paragraph, level, text) }
    }

    /// Creates enough text to define the normal size.
    fn body() -> PageBlock {
        let text = "The tide turns at noon and runs out for six hours. ".repeat(20);
        let mut body = block(&text, 10.0, 1.0, 0);
        body.place.as_mut().unwrap().num_lines = 12;
        body
    }

    /// Checks the levels that are set; 0 for blocks that are not headings.
    #[track_caller]
    fn check(blocks: Vec<PageBlock>, expected: &[u8]) {
        let blocks = blocks.into_iter().chain([body()]).collect();
        let mut pages = [Page { blocks, ..Page::default() }];
        mark_headings(&mut pages);
        let [.., text] = pages[0].blocks.as_slice() else { panic!("there is text") };
        assert_eq!(text.kind, PageBlockKind::Paragraph);
        let levels: Vec<u8> = pages[0].blocks.iter().map(|block| block.level).collect();
        assert_eq!(levels[..levels.len() - 1], *expected);
    }

    #[test]
    fn larger_and_bolder_lines_are_headings_and_the_largest_come_first() {
        check(
            vec![
                block("Tides of the North", 18.0, 1.0, 0),
                block("Ebb", 12.0, 1.3, 0),
                block("Slack water", 10.0, 1.3, 0),
                block("Flood", 12.0, 1.3, 0),
                block("An aside", 10.0, 1.0, 0),
            ],
            &[1, 2, 3, 2, 0],
        );
    }

    #[test]
    fn numbers_and_capitals_reveal_headings_of_the_text_size() {
        check(
            vec![
                block("3.1 Slack water", 10.0, 1.0, 0),
                block("ITEM 1A. RISKS", 10.0, 1.0, 0),
                block("3 of them were late.", 10.0, 1.0, 0),
                block("1 The note below", 8.0, 1.0, 0),
            ],
            &[1, 1, 0, 0],
        );
    }

    #[test]
    fn lines_of_tables_and_long_text_are_not_headings() {
        let mut long = block("Bold words that go on", 10.0, 1.4, 0);
        long.place.as_mut().unwrap().num_lines = 4;
        let mut table = block("| a |", 14.0, 1.4, 0);
        table.kind = PageBlockKind::Table;
        check(vec![block("Free cash flow 1,066 848", 10.0, 1.4, 0), long, table], &[0, 0, 0]);
    }

    #[test]
    fn enough_tags_override_appearance() {
        check(
            vec![
                block("One", 10.0, 1.0, 1),
                block("Two", 10.0, 1.0, 2),
                block("Three", 10.0, 1.0, 2),
                block("Not four", 20.0, 1.4, 0),
            ],
            &[1, 2, 2, 0],
        );
        check(vec![block("One", 10.0, 1.0, 1), block("Two", 20.0, 1.0, 0)], &[0, 1]);
    }

    #[test]
    fn blocks_without_positions_are_not_changed() {
        let mut pages = [Page {
            blocks: vec![PageBlock::new(PageBlockKind::Heading, 2, "One")],
            ..Page::default()
        }];
        mark_headings(&mut pages);
        assert_eq!(pages[0].blocks[0].level, 2);
    }
}
