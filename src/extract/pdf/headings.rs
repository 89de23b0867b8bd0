//! Builds the chain of headings above each block from pages and bookmarks. A pure function.
//!
//! Bookmarks are the author's list of headings. They are used if there are enough of them and they
//! are found in the text; otherwise the headings that the reader found are used, except implausible
//! ones.

use std::collections::BTreeMap;

use super::clean::is_ideographic;
use super::outline::{self, MAX_CHARS, Placed, letters};
use crate::extract::protocol::{OutlineEntry, Page, PageBlockKind};

/// Fewest bookmarks for an outline to be trusted; fewer are often just `Cover` and `Back`.
const MIN_OUTLINE: usize = 3;

/// Longest heading, in words.
const MAX_WORDS: usize = 16;

/// Deepest chain.
const MAX_LEVEL: u8 = 6;

/// At least one of this many headings of a size must have a number of some depth for all of them to
/// get that depth.
const MIN_NUMBERED: usize = 4;

/// Decides which blocks of `pages` are headings and returns, for every block in order, the headings
/// above it, outermost first. The chain of a heading ends with the heading itself. The title of the
/// document is in no chain.
pub(super) fn assign(
    pages: &mut [Page],
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
    pages: &mut [Page],
    entries: &[Placed<'_>],
    title: Option<&str>,
) -> Vec<Vec<String>> {
    let depth_of_level = depths_by_outline(pages, entries);
    let mut chain = Chain::new(title);
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
                block.kind = PageBlockKind::Heading;
            } else if block.kind == PageBlockKind::Heading {
                let depth = depth_of_level.get(&block.level).filter(|_| is_plausible(&block.text));
                match depth {
                    Some(depth) => chain.enter(*depth, &block.text),
                    None if chain.is_title(&block.text) => {}
                    None => block.kind = PageBlockKind::Paragraph,
                }
            }
            chains.push(chain.names());
        }
    }
    chains
}

/// Returns the depth of headings that no bookmark leads to, by the level that their looks suggest:
/// most headings of that level have bookmarks, and most of these bookmarks have that depth.
fn depths_by_outline(pages: &[Page], entries: &[Placed<'_>]) -> BTreeMap<u8, u8> {
    let mut by_level: BTreeMap<u8, (usize, Vec<u8>)> = BTreeMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if block.kind == PageBlockKind::Heading {
            by_level.entry(block.level).or_default().0 += 1;
        }
    }
    for placed in entries {
        let Some(block_idx) = placed.block_idx else { continue };
        let block = &pages[placed.page_idx].blocks[block_idx];
        if let (PageBlockKind::Heading, Some(level)) = (block.kind, by_level.get_mut(&block.level))
        {
            level.1.push(placed.entry.level);
        }
    }
    let usual = |(level, (num_headings, mut depths)): (u8, (usize, Vec<u8>))| {
        let is_known = depths.len() >= MIN_OUTLINE && depths.len() * 2 >= num_headings;
        depths.sort_unstable();
        depths.get(depths.len() / 2).filter(|_| is_known).map(|depth| (level, *depth))
    };
    by_level.into_iter().filter_map(usual).collect()
}

fn follow_reader(pages: &mut [Page], title: Option<&str>) -> Vec<Vec<String>> {
    let blocks = pages.iter_mut().flat_map(|page| page.blocks.iter_mut());
    for block in blocks.filter(|block| block.kind == PageBlockKind::Heading) {
        if !is_plausible(&block.text) {
            block.kind = PageBlockKind::Paragraph;
        }
    }
    let depth_of_level = depths(pages);
    let mut chain = Chain::new(title);
    let mut chains = Vec::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if block.kind == PageBlockKind::Heading {
            let by_size = depth_of_level.get(&block.level).copied().unwrap_or(block.level);
            chain.enter(number_depth(&block.text).unwrap_or(by_size), &block.text);
        }
        chains.push(chain.names());
    }
    chains
}

/// Returns the depth of headings of each size: the depth of their numbers, if enough have one
/// (`References` is as deep as `5 Outlook`), else one more than the next larger size.
fn depths(pages: &[Page]) -> BTreeMap<u8, u8> {
    let mut by_level: BTreeMap<u8, Vec<Option<u8>>> = BTreeMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if block.kind == PageBlockKind::Heading {
            by_level.entry(block.level).or_default().push(number_depth(&block.text));
        }
    }
    let mut above = 0;
    let mut depth_of = |depths: Vec<Option<u8>>| {
        let count = |depth: u8| depths.iter().filter(|known| **known == Some(depth)).count();
        let winner = (1..=MAX_LEVEL).rev().max_by_key(|depth| count(*depth));
        let winner = winner.filter(|depth| count(*depth) * MIN_NUMBERED >= depths.len());
        above = winner.unwrap_or((above + 1).min(MAX_LEVEL));
        above
    };
    by_level.into_iter().map(|(level, depths)| (level, depth_of(depths))).collect()
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
    let num_letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let num_ideographs = text.chars().filter(|c| is_ideographic(*c)).count();
    // In text without spaces, two ideographs count as one word.
    let num_words = text.split_whitespace().count().max(num_ideographs / 2);
    let has_leader =
        text.contains("....") || text.contains(". . .") || text.contains("\u{2026}\u{2026}");
    let is_aside = text.starts_with('(') && text.ends_with(')');
    let is_cut_off = text.ends_with([',', ';', '-', '\u{2013}']);
    num_words <= MAX_WORDS
        && num_chars <= MAX_CHARS
        && num_letters >= 2
        && num_letters * 2 >= text.chars().filter(|c| !c.is_whitespace()).count()
        && !has_leader
        && !is_aside
        && !is_cut_off
}

/// The headings above the current position in a document.
struct Chain<'a> {
    title: Option<&'a str>,
    open: Vec<(u8, String)>,
}

impl<'a> Chain<'a> {
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
mod tests {
    use super::*;
    use crate::extract::protocol::PageBlock;

    /// Creates pages; `#` and `##` mark headings found by the reader.
    fn pages(texts: &[&[&str]]) -> Vec<Page> {
        let block = |text: &&str| {
            let words = text.trim_start_matches('#');
            let level = u8::try_from(text.len() - words.len()).unwrap();
            let kind = if level > 0 { PageBlockKind::Heading } else { PageBlockKind::Paragraph };
            PageBlock::new(kind, level, words.trim())
        };
        let page = |(number, texts): (u32, &&[&str])| Page {
            number,
            blocks: texts.iter().map(block).collect(),
            ..Page::default()
        };
        (1..).zip(texts).map(page).collect()
    }

    fn entry(title: &str, level: u8, page: u32) -> OutlineEntry {
        OutlineEntry { title: title.into(), level, page: (page > 0).then_some(page) }
    }

    #[track_caller]
    fn check(texts: &[&[&str]], outline: &[OutlineEntry], title: Option<&str>, expected: &[&str]) {
        let mut pages = pages(texts);
        let chains = assign(&mut pages, outline, title);
        let chains: Vec<String> = chains.iter().map(|chain| chain.join(" > ")).collect();
        assert_eq!(chains, expected);
    }

    #[test]
    fn headings_nest_by_level() {
        check(
            &[&["a", "# One", "b", "## Two", "c"], &["d", "# Three", "e"]],
            &[],
            None,
            &["", "One", "One", "One > Two", "One > Two", "One > Two", "Three", "Three"],
        );
    }

    #[test]
    fn the_title_is_not_in_any_chain() {
        check(
            &[&["# The  Tides", "a", "## One", "b"]],
            &[],
            Some("The tides"),
            &["", "", "One", "One"],
        );
    }

    #[test]
    fn numbers_override_sizes() {
        check(
            &[&["## 1 One", "### 1.1 Two", "# 1.2 Three", "## References"]],
            &[],
            None,
            &["1 One", "1 One > 1.1 Two", "1 One > 1.2 Three", "References"],
        );
    }

    #[test]
    fn implausible_headings_are_text() {
        let long = format!("# {}", "word ".repeat(17));
        let lines = [
            "# 12",
            "# One ...... 3",
            "# and so,",
            "# (unaudited)",
            "# 1,234 5,678 a b",
            long.as_str(),
        ];
        check(&[&lines], &[], None, &[""; 6]);
        let mut pages = pages(&[&lines]);
        assign(&mut pages, &[], None);
        assert!(pages[0].blocks.iter().all(|block| block.kind == PageBlockKind::Paragraph));
    }

    #[test]
    fn an_outline_found_in_the_text_overrides_the_reader() {
        let outline = [entry("One", 1, 1), entry("Two", 2, 1), entry("Three", 1, 2)];
        check(
            &[&["1. ONE", "a", "# Noise", "two", "b"], &["c", "3 Three", "d"]],
            &outline,
            None,
            &["One", "One", "One", "One > Two", "One > Two", "One > Two", "Three", "Three"],
        );
    }

    #[test]
    fn bookmarks_find_the_headings_of_appendices() {
        let names = ["Tides", "Gauges", "Floats", "Charts", "Winds"];
        let outline = names.map(|name| entry(name, 1, 1));
        check(
            &[&["Appendix B: Tides", "a", "B.1 Gauges", "b", "B.2. Floats", "IV. Charts", "Winds"]],
            &outline,
            None,
            &["Tides", "Tides", "Gauges", "Gauges", "Floats", "Charts", "Winds"],
        );
        // The number may be in the bookmark only.
        let outline = [entry("A.1 Tides", 1, 1), entry("A.2 Floats", 1, 1), entry("B Winds", 1, 1)];
        check(
            &[&["Tides", "a", "Floats", "Appendix B Winds"]],
            &outline,
            None,
            &["A.1 Tides", "A.1 Tides", "A.2 Floats", "B Winds"],
        );
    }

    #[test]
    fn a_heading_is_preferred_to_a_list_item_with_the_words_of_a_bookmark() {
        let outline = [entry("Tides", 1, 1), entry("Gauges", 2, 1), entry("Floats", 2, 1)];
        check(
            &[&["# 1 Tides", "Gauges", "## 1.1 Gauges", "a", "## 1.2 Floats"]],
            &outline,
            None,
            &["Tides", "Tides", "Tides > Gauges", "Tides > Gauges", "Tides > Floats"],
        );
    }

    #[test]
    fn headings_that_look_like_those_with_bookmarks_need_none() {
        let outline = ["One", "Two", "Three"].map(|name| entry(name, 2, 1));
        let texts: &[&[&str]] =
            &[&["# Tides", "## One", "## Two", "## Three", "## Four", "# Noise"]];
        let names = ["", "One", "Two", "Three", "Four", "Four"];
        check(texts, &outline, Some("Tides"), &names);
        let mut marked = pages(texts);
        assign(&mut marked, &outline, Some("Tides"));
        let kinds: Vec<bool> =
            marked[0].blocks.iter().map(|block| block.kind == PageBlockKind::Heading).collect();
        assert_eq!(kinds, [true, true, true, true, true, false]);
    }

    #[test]
    fn a_bookmark_without_words_on_its_page_starts_with_the_page() {
        let outline =
            [entry("One", 1, 1), entry("Two", 1, 2), entry("Three", 1, 3), entry("Four", 1, 4)];
        check(
            &[&["One", "a"], &["b"], &["Three"], &["Four"]],
            &outline,
            None,
            &["One", "One", "Two", "Three", "Four"],
        );
    }

    #[test]
    fn bookmarks_without_pages_are_searched_in_order() {
        let outline = [entry("One", 1, 0), entry("Two", 1, 0), entry("One", 1, 0)];
        check(&[&["One", "a", "Two"], &["One"]], &outline, None, &["One", "One", "Two", "One"]);
    }

    #[test]
    fn bookmarks_do_not_lead_to_the_table_of_contents() {
        let outline = [entry("One", 1, 0), entry("Two", 1, 0), entry("Three", 1, 0)];
        check(
            &[&["One", "Two", "Three"], &["# One", "# Two"], &["three"]],
            &outline,
            None,
            &["", "", "", "One", "Two", "Three"],
        );
    }

    #[test]
    fn titles_joined_with_their_text_are_split_off() {
        let texts: &[&[&str]] =
            &[&["2 Gauges 2.1 Float(s) The float lags.", "3 Tides 12 are", "# 3 Tides", "a"]];
        let outline =
            [entry("2 Gauges", 1, 0), entry("2.1 Float(s)", 2, 0), entry("3 Tides", 1, 0)];
        let mut split = pages(texts);
        assign(&mut split, &outline, None);
        let split: Vec<&str> = split[0].blocks.iter().map(|block| block.text.as_str()).collect();
        let lag = "The float lags.";
        assert_eq!(split, ["2 Gauges", "2.1 Float(s)", lag, "3 Tides 12 are", "3 Tides", "a"]);
        check(
            texts,
            &outline,
            None,
            &[
                "2 Gauges",
                "2 Gauges > 2.1 Float(s)",
                "2 Gauges > 2.1 Float(s)",
                "2 Gauges > 2.1 Float(s)",
                "3 Tides",
                "3 Tides",
            ],
        );
    }

    #[test]
    fn one_wrong_match_does_not_affect_the_others() {
        let names = ["One", "Notes", "Two", "Three"];
        let outline = names.map(|name| entry(name, 1, 0));
        check(
            &[&["One", "a", "Two", "Three"], &["Notes"]],
            &outline,
            None,
            &["One", "One", "Two", "Three", "Three"],
        );
    }

    #[test]
    fn an_outline_not_found_in_the_text_is_ignored() {
        let outline = [entry("page1", 1, 1), entry("page2", 1, 1), entry("page3", 1, 2)];
        check(&[&["# One", "a"], &["b"]], &outline, None, &["One", "One", "One"]);
    }
}
