//! Pages in, pages without running heads, running feet and page numbers out. Pure.
//!
//! Such lines stand in the middle of sentences that run over a page, and repeat one phrase so
//! often that it drowns out what the pages are about.

use std::collections::HashMap;

use super::protocol::{Page, PageBlock, PageBlockKind};

/// Blocks at either end of a page that may be furniture: left, middle and right of a head.
const ZONE: usize = 3;

/// Longest piece of furniture, in characters; a copyright line is.
const MAX_CHARS: usize = 200;

/// Pages a text must stand on to be furniture, in a document long enough.
const MIN_PAGES: usize = 3;

/// The same for a short document, as a share of its pages.
const MIN_SHARE: f64 = 0.3;

/// Removes from `pages` what stands at their top or bottom again and again.
///
/// A text that is always the same is kept where it stands first: it may be the title.
pub(super) fn remove(pages: &mut [Page]) {
    if pages.len() < 2 {
        return;
    }
    let mut sightings: HashMap<String, Vec<Sighting>> = HashMap::new();
    for (page_idx, page) in pages.iter().enumerate() {
        for block_idx in zone(page.blocks.len()) {
            let block = &page.blocks[block_idx];
            if may_be_furniture(block) {
                let sighting = Sighting { page_idx, block_idx, number: page.number };
                sightings.entry(pattern(&block.text)).or_default().push(sighting);
            }
        }
    }
    let needed = needed(pages.len());
    let mut doomed: Vec<(usize, usize)> = Vec::new();
    for (pattern, seen) in &sightings {
        let mut page_idxs: Vec<usize> = seen.iter().map(|it| it.page_idx).collect();
        page_idxs.dedup();
        if page_idxs.len() < needed {
            continue;
        }
        let texts: Vec<&str> =
            seen.iter().map(|it| pages[it.page_idx].blocks[it.block_idx].text.as_str()).collect();
        let is_constant = texts.windows(2).all(|it| it[0] == it[1]);
        let has_headings = || {
            let blocks = seen.iter().map(|it| &pages[it.page_idx].blocks[it.block_idx]);
            blocks.into_iter().any(|it| it.kind == PageBlockKind::Heading)
        };
        let counts_pages =
            || is_page_number(pattern) || (!has_headings() && follows_pages(seen, &texts));
        if is_constant {
            doomed.extend(seen.iter().skip(1).map(|it| (it.page_idx, it.block_idx)));
        } else if counts_pages() {
            doomed.extend(seen.iter().map(|it| (it.page_idx, it.block_idx)));
        }
    }
    // From the back, so that indices stay good.
    doomed.sort_unstable();
    doomed.dedup();
    for (page_idx, block_idx) in doomed.into_iter().rev() {
        pages[page_idx].blocks.remove(block_idx);
    }
}

/// Where a text was seen.
struct Sighting {
    page_idx: usize,
    block_idx: usize,
    number: u32,
}

fn zone(num_blocks: usize) -> impl Iterator<Item = usize> {
    let tail = num_blocks.saturating_sub(ZONE).max(ZONE.min(num_blocks));
    (0..ZONE.min(num_blocks)).chain(tail..num_blocks)
}

fn may_be_furniture(block: &PageBlock) -> bool {
    block.kind != PageBlockKind::Table && block.text.chars().count() <= MAX_CHARS
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most MIN_PAGES, never negative"
)]
fn needed(num_pages: usize) -> usize {
    let num_pages = u32::try_from(num_pages).unwrap_or(u32::MAX);
    let share = (f64::from(num_pages) * MIN_SHARE).ceil() as usize;
    share.clamp(2, MIN_PAGES)
}

/// Returns `text` with every number as `#`, in lower case, one space between words.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !pattern.is_empty() {
            pattern.push(' ');
        }
        for character in word.chars().flat_map(char::to_lowercase) {
            match character.is_numeric() {
                true if pattern.ends_with('#') => {}
                true => pattern.push('#'),
                false => pattern.push(character),
            }
        }
    }
    pattern
}

/// Whether a pattern is nothing but a number with its usual company.
fn is_page_number(pattern: &str) -> bool {
    let words = pattern.split(|it: char| !it.is_alphanumeric() && it != '#');
    let mut words = words.filter(|it| !it.is_empty()).peekable();
    let is_company = |it: &str| {
        it == "#" || matches!(it, "page" | "of" | "p" | "seite" | "von" | "pagina" | "pag" | "di")
    };
    words.peek().is_some() && words.all(is_company)
}

/// Whether one of the numbers in `texts` counts the pages: `Tides 12`, but not `Chapter 12`.
fn follows_pages(seen: &[Sighting], texts: &[&str]) -> bool {
    let mut offsets: HashMap<(usize, i64), usize> = HashMap::new();
    for (sighting, text) in seen.iter().zip(texts) {
        for (place, number) in numbers(text).enumerate() {
            *offsets.entry((place, number - i64::from(sighting.number))).or_default() += 1;
        }
    }
    offsets.into_values().any(|count| count * 4 >= seen.len() * 3)
}

fn numbers(text: &str) -> impl Iterator<Item = i64> {
    text.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages given as their blocks; what is left comes back the same way.
    #[track_caller]
    fn check(pages: &[&[&str]], expected: &[&[&str]]) {
        let block = |text: &&str| PageBlock {
            kind: PageBlockKind::Paragraph,
            level: 0,
            text: (*text).to_owned(),
        };
        let mut pages: Vec<Page> = (1..)
            .zip(pages)
            .map(|(number, texts)| Page {
                number,
                blocks: texts.iter().map(block).collect(),
                ..Page::default()
            })
            .collect();
        remove(&mut pages);
        let left: Vec<Vec<&str>> = pages
            .iter()
            .map(|page| page.blocks.iter().map(|it| it.text.as_str()).collect())
            .collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_running_head_stays_where_it_stands_first() {
        check(
            &[&["Tides", "one"], &["Tides", "two"], &["Tides", "three"], &["TIDE", "four"]],
            &[&["Tides", "one"], &["two"], &["three"], &["TIDE", "four"]],
        );
    }

    #[test]
    fn page_numbers_go_everywhere() {
        check(
            &[&["one", "Page 1 of 3"], &["two", "Page 2 of 3"], &["three", "Page 3 of 3"]],
            &[&["one"], &["two"], &["three"]],
        );
        check(&[&["one", "- 7 -"], &["two", "- 8 -"]], &[&["one"], &["two"]]);
    }

    #[test]
    fn a_head_that_counts_pages_goes_a_heading_that_counts_chapters_stays() {
        check(
            &[&["Tides 2026 | 11", "a"], &["Tides 2026 | 12", "b"], &["Tides 2026 | 13", "c"]],
            &[&["a"], &["b"], &["c"]],
        );
        let chapters: &[&[&str]] =
            &[&["Chapter 1", "a"], &["b"], &["Chapter 2", "c"], &["Chapter 3", "d"]];
        check(chapters, chapters);
    }

    #[test]
    fn the_middle_of_a_page_is_left_alone() {
        let page: &[&str] = &["1", "2", "3", "same", "5", "6", "7"];
        let other: &[&str] = &["a", "b", "c", "same", "d", "e", "f"];
        check(&[page, other, other], &[page, other, &["same"]]);
    }

    #[test]
    fn one_page_has_no_furniture() {
        check(&[&["1", "1"]], &[&["1", "1"]]);
        check(&[], &[]);
    }
}
