//! Removes running heads, running feet and page numbers (page furniture). A pure function.
//!
//! Such lines interrupt sentences that continue on the next page, and repeat one phrase so often
//! that it outweighs the content of the pages.

use std::collections::HashMap;

use super::{bands, geometry};
use crate::document::{BlockKind, WordDestination};
use crate::protocol::{ExtractedPage, PageBlock};

/// Most blocks at either end of a page that may be furniture: left, middle and right of a running
/// head.
const MAX_ZONE: usize = 3;

/// Height of the zone of furniture at either end of a page, as a fraction of the page height; text that repeats below
/// it may be content.
const EDGE: f64 = 0.12;

/// The same for the outermost blocks of a page.
const WIDE_EDGE: f64 = 0.2;

/// How far apart, in points, positions on two pages may be to count as equal: less than a line.
const SAME_PLACE: f64 = 4.0;

/// Longest piece of furniture, in characters; long enough for a copyright line.
const MAX_CHARS: usize = 200;

/// The same in a short document, where repeated text may be content.
const MAX_CHARS_SHORT: usize = 80;

/// Fewest pages in a document that is not short.
const LONG: usize = 10;

/// How many pages a text must be on to be furniture, in a document that is long enough.
const MIN_PAGES: usize = 3;

/// The same as a fraction of all pages: for a short document, and for a text in the middle of pages, such as a stamp
/// in the margin, where content may repeat, too.
const MIN_SHARE: f64 = 0.3;
const MIN_SHARE_INSIDE: f64 = 0.5;

/// Removes text that repeats at the top or bottom of `pages`, and lines in the positions and, in a
/// short document, in the usual form of running heads.
///
/// A text that is identical everywhere is kept at its first occurrence, as it may be the title. No
/// page loses all its text.
pub(super) fn remove(pages: &mut [ExtractedPage]) {
    // First, as it also works on a single page.
    let typical = bands::find_typical(pages, geometry::body_size(pages));
    take_out(pages, typical);
    if pages.len() < 2 {
        return;
    }
    let max_chars = if pages.len() < LONG { MAX_CHARS_SHORT } else { MAX_CHARS };
    let mut at_edges: HashMap<String, Vec<Sighting>> = HashMap::new();
    let mut anywhere: HashMap<Stamp, Vec<Sighting>> = HashMap::new();
    for (page_idx, page) in pages.iter().enumerate() {
        for (block_idx, block) in page.blocks.iter().enumerate() {
            if !may_be_furniture(block, max_chars) {
                continue;
            }
            if is_at_edge(page, block_idx) {
                at_edges.entry(pattern(&block.text)).or_default().push((page_idx, block_idx));
            }
            anywhere.entry(stamp(block)).or_default().push((page_idx, block_idx));
        }
    }
    let mut to_remove: Vec<Sighting> = Vec::new();
    let needed = share_of(pages.len(), MIN_SHARE).clamp(2, MIN_PAGES);
    for (pattern, sightings) in
        at_edges.iter().filter(|(_, sightings)| num_pages(sightings) >= needed)
    {
        let mut blocks = sightings.iter().map(|&(page, block)| &pages[page].blocks[block]);
        let texts: Vec<&str> = blocks.clone().map(|block| block.text.as_str()).collect();
        let is_heading = blocks.any(|block| block.kind == BlockKind::Heading);
        let num_kept = if !pattern.contains('#') || texts.windows(2).all(|pair| pair[0] == pair[1])
        {
            1
        } else if is_page_number(pattern)
            || (!is_heading && follows_pages(pages, sightings, &texts))
        {
            0
        } else {
            continue;
        };
        to_remove.extend(sightings.iter().skip(num_kept));
    }
    let needed = share_of(pages.len(), MIN_SHARE_INSIDE).max(MIN_PAGES);
    for sightings in anywhere.values().filter(|sightings| num_pages(sightings) >= needed) {
        to_remove.extend(sightings.iter().skip(1));
    }
    to_remove.extend(bands::find(pages));
    take_out(pages, to_remove);
}

fn take_out(pages: &mut [ExtractedPage], mut to_remove: Vec<Sighting>) {
    to_remove.sort_unstable();
    to_remove.dedup();
    for on_page in to_remove.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(page_idx, _)) = on_page.first() else { continue };
        if on_page.len() == pages[page_idx].blocks.len() {
            continue;
        }
        // From the back, so that indices stay valid.
        for &(_, block_idx) in on_page.iter().rev() {
            let page = &mut pages[page_idx];
            let block = page.blocks.remove(block_idx);
            page.left_out.add(WordDestination::RunningHead, &block.text);
        }
    }
}

/// A text and its position.
type Stamp = (String, i64, i64);

/// An occurrence of a text: indices of page and block.
type Sighting = (usize, usize);

fn num_pages(sightings: &[Sighting]) -> usize {
    sightings.chunk_by(|a, b| a.0 == b.0).count()
}

/// Whether a block is at the top or the bottom of its page. If positions are unknown, whether it is
/// one of the first or last blocks, at most a quarter of them.
fn is_at_edge(page: &ExtractedPage, block_idx: usize) -> bool {
    if let Some(place) = page.blocks[block_idx].place
        && page.height > 0.0
    {
        let mut others = page.blocks.iter().filter_map(|block| block.place);
        let is_highest = others.clone().all(|other| other.top >= place.top);
        let is_lowest = others.all(|other| other.bottom <= place.bottom);
        // With wide margins, the outermost blocks are further from the edge.
        let top = if is_highest { WIDE_EDGE } else { EDGE };
        let bottom = if is_lowest { WIDE_EDGE } else { EDGE };
        return place.bottom <= top * page.height || place.top >= (1.0 - bottom) * page.height;
    }
    let num_blocks = page.blocks.len();
    let zone = (num_blocks / 4).clamp(1, MAX_ZONE);
    block_idx < zone || block_idx + zone >= num_blocks
}

/// Returns the key that equal furniture in the middle of pages shares: its text, and its position
/// if known.
fn stamp(block: &PageBlock) -> Stamp {
    let place = block.place.unwrap_or_default();
    (block.text.clone(), coarse(place.left), coarse(place.top))
}

#[expect(clippy::cast_possible_truncation, reason = "clamped just before")]
fn coarse(points: f64) -> i64 {
    (points / SAME_PLACE).clamp(-1e9, 1e9).round() as i64
}

fn may_be_furniture(block: &PageBlock, max_chars: usize) -> bool {
    block.kind != BlockKind::Table && block.text.chars().count() <= max_chars
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count is a count"
)]
fn share_of(num_pages: usize, share: f64) -> usize {
    let num_pages = u32::try_from(num_pages).unwrap_or(u32::MAX);
    (f64::from(num_pages) * share).ceil() as usize
}

/// Returns `text` in lower case with every number as `#` and one space between words.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !pattern.is_empty() {
            pattern.push(' ');
        }
        for character in word.chars().flat_map(char::to_lowercase) {
            if !character.is_numeric() {
                pattern.push(character);
            } else if !pattern.ends_with('#') {
                pattern.push('#');
            }
        }
    }
    pattern
}

/// Whether a pattern is only a number with the words that usually go with it.
fn is_page_number(pattern: &str) -> bool {
    let words = pattern.split(|c: char| !c.is_alphanumeric() && c != '#');
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.peek().is_some()
        && words.all(|word| {
            matches!(word, "#" | "page" | "of" | "p" | "seite" | "von" | "pagina" | "pag" | "di")
        })
}

/// Whether one of the numbers in `texts` counts the pages: `Tides 12`, but not `Chapter 12`.
fn follows_pages(pages: &[ExtractedPage], sightings: &[Sighting], texts: &[&str]) -> bool {
    let mut offsets: HashMap<(usize, i64), usize> = HashMap::new();
    for (&(page, _), text) in sightings.iter().zip(texts) {
        for (place, number) in numbers(text).enumerate() {
            *offsets.entry((place, number - i64::from(pages[page].number))).or_default() += 1;
        }
    }
    offsets.into_values().any(|count| count * 4 >= sightings.len() * 3)
}

fn numbers(text: &str) -> impl Iterator<Item = i64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::BlockPlace;

    /// Removes the furniture and compares the texts of the remaining blocks.
    #[track_caller]
    fn check_left(pages: &mut [ExtractedPage], expected: &[&[&str]]) {
        remove(pages);
        let words =
            |page: &ExtractedPage| page.blocks.iter().map(|block| block.text.clone()).collect();
        let left: Vec<Vec<String>> = pages.iter().map(words).collect();
        assert_eq!(left, expected);
    }

    /// Checks pages given as the texts of their blocks, and compares the remaining texts.
    #[track_caller]
    fn check(pages: &[&[&str]], expected: &[&[&str]]) {
        let block = |text: &&str| PageBlock::new(BlockKind::Paragraph, 0, *text);
        let mut pages: Vec<ExtractedPage> = (1..)
            .zip(pages)
            .map(|(number, texts)| ExtractedPage {
                number,
                blocks: texts.iter().map(block).collect(),
                ..ExtractedPage::default()
            })
            .collect();
        check_left(&mut pages, expected);
    }

    #[test]
    fn a_running_head_is_kept_at_its_first_occurrence() {
        check(
            &[&["Tides", "one"], &["TIDES", "two"], &["Tides", "three"], &["Tide", "four"]],
            &[&["Tides", "one"], &["two"], &["three"], &["Tide", "four"]],
        );
    }

    #[test]
    fn page_numbers_are_removed_everywhere() {
        check(
            &[&["one", "Page 1 of 3"], &["two", "Page 2 of 3"], &["three", "Page 3 of 3"]],
            &[&["one"], &["two"], &["three"]],
        );
        check(&[&["one", "- 7 -"], &["two", "- 8 -"]], &[&["one"], &["two"]]);
    }

    #[test]
    fn heads_that_count_pages_are_removed_but_numbered_chapters_stay() {
        check(
            &[&["Tides 2026 | 11", "a"], &["Tides 2026 | 12", "b"], &["Tides 2026 | 13", "c"]],
            &[&["a"], &["b"], &["c"]],
        );
        let chapters: &[&[&str]] =
            &[&["Chapter 1", "a"], &["b"], &["Chapter 2", "c"], &["Chapter 3", "d"]];
        check(chapters, chapters);
    }

    #[test]
    fn the_middle_of_a_page_is_kept() {
        let one: &[&str] = &["1", "2", "3", "same", "5", "6", "7"];
        let two: &[&str] = &["a", "b", "c", "same", "d", "e", "f"];
        let three: &[&str] = &["g", "h", "i", "other", "j", "k", "l"];
        check(&[one, two, three, three], &[one, two, three, &["h", "i", "other", "j", "k"]]);
    }

    #[test]
    fn a_stamp_on_every_page_is_furniture_in_any_position() {
        check(
            &[&["a", "b", "JT-1", "c", "d"], &["e", "JT-1", "f"], &["g", "h", "JT-1", "i"]],
            &[&["a", "b", "JT-1", "c", "d"], &["e", "f"], &["g", "h", "i"]],
        );
    }

    #[test]
    fn no_page_loses_all_its_text() {
        check(&[&["Page 1"], &["Page 2"], &["Page 3", "x"]], &[&["Page 1"], &["Page 2"], &["x"]]);
    }

    #[test]
    fn a_single_page_has_no_furniture() {
        check(&[&["1", "1"]], &[&["1", "1"]]);
        check(&[], &[]);
    }

    /// Checks pages of blocks at heights, as fractions of the page, and compares the remaining
    /// texts.
    #[track_caller]
    fn check_placed(pages: &[&[(f64, &str)]], expected: &[&[&str]]) {
        let block = |&(height, text): &(f64, &str)| PageBlock {
            place: Some(BlockPlace {
                top: height * 1000.0,
                bottom: height * 1000.0 + 10.0,
                ..BlockPlace::default()
            }),
            ..PageBlock::new(BlockKind::Paragraph, 0, text)
        };
        let page = |(number, blocks): (u32, &&[(f64, &str)])| ExtractedPage {
            number,
            height: 1000.0,
            blocks: blocks.iter().map(block).collect(),
            ..ExtractedPage::default()
        };
        let mut pages: Vec<ExtractedPage> = (1..).zip(pages).map(page).collect();
        check_left(&mut pages, expected);
    }

    #[test]
    fn positions_define_the_edges_of_a_page() {
        check_placed(
            &[
                &[(0.05, "Tides 1"), (0.5, "a"), (0.3, "same"), (0.95, "North Press")],
                &[(0.05, "Tides 2"), (0.5, "b"), (0.6, "same"), (0.95, "North Press")],
                &[(0.05, "Tides 3"), (0.5, "c"), (0.4, "same"), (0.95, "North Press")],
            ],
            &[&["a", "same", "North Press"], &["b", "same"], &["c", "same"]],
        );
    }

    #[test]
    fn outermost_blocks_may_be_further_from_the_edge() {
        check_placed(
            &[
                &[(0.15, "Tides 1"), (0.17, "Ebb 1"), (0.5, "a")],
                &[(0.15, "Tides 2"), (0.17, "Ebb 2"), (0.5, "b")],
                &[(0.15, "Tides 3"), (0.17, "Ebb 3"), (0.5, "c")],
            ],
            &[&["Ebb 1", "a"], &["Ebb 2", "b"], &["Ebb 3", "c"]],
        );
    }
}
