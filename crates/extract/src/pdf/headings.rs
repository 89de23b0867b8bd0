//! Builds the chain of headings above each block from pages and bookmarks. A pure function.
//!
//! Bookmarks are the author's list of headings. They are used if there are enough of them and they
//! are found in the text; otherwise the headings that the reader found are used, except implausible
//! ones.

use std::collections::BTreeMap;

use super::clean::is_ideographic;
use super::number;
use super::outline::{self, MAX_CHARS, PlacedBookmark, letters};
use crate::boilerplate::is_boilerplate;
use crate::document::BlockKind;
use crate::protocol::{ExtractedPage, OutlineEntry};

/// Fewest bookmarks for an outline to be trusted; fewer are often just `Cover` and `Back`.
const MIN_OUTLINE: usize = 3;

/// Longest heading, in words; a longer one is a sentence, and every chunk below it would repeat it.
const MAX_WORDS: usize = 16;

/// Longest heading with an ideographic comma, in ideographs: about eight words; a longer one is a sentence.
const MAX_IDEOGRAPHS_WITH_COMMA: usize = 16;

/// Fewest words of a sentence; a shorter text with a full stop may be a heading.
const MIN_SENTENCE_WORDS: usize = 5;

/// Words that have a full stop also within a heading.
const ABBREVIATIONS: &[&str] =
    &["co.", "corp.", "dr.", "etc.", "inc.", "jr.", "ltd.", "no.", "sr.", "st.", "u.s."];

/// Deepest chain: the number of heading levels in Markdown.
const MAX_LEVEL: u8 = 6;

/// At least one of this many headings of a size must have a number of some depth for all of them to
/// get that depth.
const MIN_NUMBERED: usize = 4;

/// Decides which blocks of `pages` are headings and returns, for every block in order, the headings
/// above it, outermost first. The chain of a heading ends with the heading itself. The title of the
/// document is in no chain.
pub(super) fn assign(
    pages: &mut [ExtractedPage],
    entries: &[OutlineEntry],
    title: Option<&str>,
) -> Vec<Vec<String>> {
    outline::split_at_titles(pages, entries);
    let placed = outline::place(entries, pages);
    let num_found = placed.iter().filter(|placed| placed.block_idx.is_some()).count();
    if num_found >= MIN_OUTLINE && num_found * 2 >= entries.len() {
        follow_outline(pages, &placed, title)
    } else {
        follow_reader(pages, title)
    }
}

fn follow_outline(
    pages: &mut [ExtractedPage],
    entries: &[PlacedBookmark<'_>],
    title: Option<&str>,
) -> Vec<Vec<String>> {
    let depth_of_level = depths_by_outline(pages, entries);
    let mut chain = HeadingChain::new(title);
    let mut chains = Vec::new();
    let mut entries = entries.iter().peekable();
    for (page_idx, page) in pages.iter_mut().enumerate() {
        for (block_idx, block) in page.blocks.iter_mut().enumerate() {
            let mut is_heading = false;
            let here = (page_idx, Some(block_idx));
            while let Some(next) = entries.next_if(|next| (next.page_idx, next.block_idx) <= here) {
                chain.enter(next.entry.level, &next.entry.title);
                is_heading |= (next.page_idx, next.block_idx) == here;
            }
            if is_heading {
                block.kind = BlockKind::Heading;
            } else if block.kind == BlockKind::Heading {
                let depth = depth_of_level.get(&block.level).filter(|_| is_plausible(&block.text));
                match depth {
                    Some(depth) => chain.enter(*depth, &block.text),
                    None if chain.is_title(&block.text) => {}
                    None => block.kind = BlockKind::Paragraph,
                }
            }
            chains.push(chain.names());
        }
    }
    chains
}

/// Returns the depth of headings that no bookmark leads to, by the level that their looks suggest:
/// most headings of that level have bookmarks, and most of these bookmarks have that depth.
fn depths_by_outline(pages: &[ExtractedPage], entries: &[PlacedBookmark<'_>]) -> BTreeMap<u8, u8> {
    let mut by_level: BTreeMap<u8, (usize, Vec<u8>)> = BTreeMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if block.kind == BlockKind::Heading {
            by_level.entry(block.level).or_default().0 += 1;
        }
    }
    for placed in entries {
        let Some(block_idx) = placed.block_idx else { continue };
        let block = &pages[placed.page_idx].blocks[block_idx];
        if let (BlockKind::Heading, Some(level)) = (block.kind, by_level.get_mut(&block.level)) {
            level.1.push(placed.entry.level);
        }
    }
    let mut usual = BTreeMap::new();
    for (level, (num_headings, mut depths)) in by_level {
        if depths.len() >= MIN_OUTLINE && depths.len() * 2 >= num_headings {
            depths.sort_unstable();
            usual.insert(level, depths[depths.len() / 2]);
        }
    }
    usual
}

fn follow_reader(pages: &mut [ExtractedPage], title: Option<&str>) -> Vec<Vec<String>> {
    let blocks = pages.iter_mut().flat_map(|page| page.blocks.iter_mut());
    for block in blocks.filter(|block| block.kind == BlockKind::Heading) {
        if !is_plausible(&block.text) {
            block.kind = BlockKind::Paragraph;
        }
    }
    let depth_of_level = depths(pages);
    let mut chain = HeadingChain::new(title);
    let mut chains = Vec::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if block.kind == BlockKind::Heading {
            let by_size = depth_of_level.get(&block.level).copied().unwrap_or(block.level);
            chain.enter(number_depth(&block.text).unwrap_or(by_size), &block.text);
        }
        chains.push(chain.names());
    }
    chains
}

/// Returns the depth of headings of each size: the depth of their numbers, if enough have one
/// (`References` is as deep as `5 Outlook`), else one more than the next larger size.
fn depths(pages: &[ExtractedPage]) -> BTreeMap<u8, u8> {
    let mut by_level: BTreeMap<u8, Vec<Option<u8>>> = BTreeMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if block.kind == BlockKind::Heading {
            by_level.entry(block.level).or_default().push(number_depth(&block.text));
        }
    }
    let mut above = 0;
    let mut found = BTreeMap::new();
    for (level, depths) in by_level {
        let winner = (1..=MAX_LEVEL).rev().max_by_key(|depth| num_of(&depths, *depth));
        let winner = winner.filter(|depth| num_of(&depths, *depth) * MIN_NUMBERED >= depths.len());
        above = winner.unwrap_or((above + 1).min(MAX_LEVEL));
        found.insert(level, above);
    }
    found
}

fn num_of(depths: &[Option<u8>], depth: u8) -> usize {
    depths.iter().filter(|known| **known == Some(depth)).count()
}

/// Returns the depth of a section number: 1 for `3 Tides`, 2 for `3.1 Tides`; `None` without one.
pub(super) fn number_depth(text: &str) -> Option<u8> {
    let (number, rest) = text.split_once(char::is_whitespace)?;
    let number = number.trim_end_matches('.');
    let mut depth = 0_u8;
    for part in number.split('.') {
        // `1998 Annual Report` is not a chapter.
        let is_part = (1..=3).contains(&part.len()) && part.chars().all(|c| c.is_ascii_digit());
        depth = is_part.then(|| depth.saturating_add(1))?;
    }
    rest.chars().any(char::is_alphabetic).then_some(depth.min(MAX_LEVEL))
}

/// Whether `text` can be a heading: short, with letters, not a line of a table of contents, and not
/// the beginning or end of a sentence.
pub(super) fn is_plausible(text: &str) -> bool {
    let num_chars = text.chars().count();
    // `10.2 Version 4.6` is mostly digits, but a heading.
    let title = number::without(text);
    let num_letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let num_ideographs = text.chars().filter(|c| is_ideographic(*c)).count();
    // In text without spaces, two ideographs count as one word.
    let num_words = text.split_whitespace().count().max(num_ideographs / 2);
    let has_leader =
        text.contains("....") || text.contains(". . .") || text.contains("\u{2026}\u{2026}");
    let is_aside = text.starts_with('(') && text.ends_with(')');
    let is_cut_off =
        text.ends_with([',', ';', '-', '\u{2013}', '\u{3001}', '\u{FF0C}', '\u{FF1B}']);
    // A Chinese heading has no full stop, and a long one no comma.
    let is_sentence = ends_sentence(text)
        || text.ends_with('\u{3002}')
        || (num_ideographs > MAX_IDEOGRAPHS_WITH_COMMA && text.contains('\u{FF0C}'));
    num_words <= MAX_WORDS
        && num_chars <= MAX_CHARS
        && num_letters >= 2
        // Otherwise it is a formula, an amount or a date.
        && num_letters * 2 >= title.chars().filter(|c| !c.is_whitespace()).count()
        && !has_leader
        && has_word(title)
        && !is_aside
        && !is_cut_off
        && !is_sentence
        && !is_boilerplate(text)
        && !text.contains("://")
        && !closes_bracket(text)
        && !is_option_or_escape(text)
}

/// Whether `text` begins as an option of a command (`-A, --almost-all`) or an escape sequence (`\UHHHHHHHH`) does, which
/// manuals print in bold above their descriptions.
fn is_option_or_escape(text: &str) -> bool {
    let after = text.trim_start_matches(['-', '\u{2212}', '\u{2010}', '\u{2013}']);
    let is_marked = after.len() < text.len() || text.starts_with('\\');
    is_marked && !after.starts_with(char::is_whitespace)
}

/// Whether `text` closes a bracket that began before it; the first word may be the number `a)`.
fn closes_bracket(text: &str) -> bool {
    let after = text.split_once(char::is_whitespace).map_or(text, |(_, after)| after);
    after.matches(')').count() > after.matches('(').count()
}

/// Whether `text` is long enough for a sentence and ends like one. The title of a numbered item may:
/// `Item 5. Market for shares and other matters.`
fn ends_sentence(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_numbered = words.iter().take(2).any(|word| word.contains(|c: char| c.is_ascii_digit()));
    let last =
        words.last().map(|last| last.trim_end_matches(['"', '\'', ')', '\u{201D}', '\u{2019}']));
    words.len() >= MIN_SENTENCE_WORDS
        && !is_numbered
        && last.is_some_and(|last| {
            last.ends_with('.') && !ABBREVIATIONS.contains(&last.to_lowercase().as_str())
        })
}

/// Whether a text has a word: letters that follow each other, or an ideograph. The letters of an
/// index and of formulas are single.
fn has_word(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic()).any(|word| {
        let mut letters = word.chars();
        letters.any(is_ideographic) || word.chars().nth(1).is_some()
    })
}

/// The headings above the current position in a document.
struct HeadingChain<'a> {
    title: Option<&'a str>,
    open: Vec<(u8, String)>,
}

impl<'a> HeadingChain<'a> {
    fn new(title: Option<&'a str>) -> Self {
        Self { title, open: Vec::new() }
    }

    fn is_title(&self, name: &str) -> bool {
        self.title.is_some_and(|title| letters(title) == letters(name))
    }

    fn enter(&mut self, level: u8, name: &str) {
        if self.is_title(name) {
            self.open.clear();
            return;
        }
        let level = level.clamp(1, MAX_LEVEL);
        self.open.retain(|(open, _)| *open < level);
        self.open.push((level, name.to_owned()));
    }

    fn names(&self) -> Vec<String> {
        self.open.iter().map(|(_, name)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
