//! Pages in, pages without running heads, running feet and page numbers out. Pure.
//!
//! Such lines stand in the middle of sentences that run over a page, and repeat one phrase so
//! often that it drowns out what the pages are about.

use std::collections::HashMap;

use super::protocol::{Page, PageBlock, PageBlockKind};

/// Most blocks at either end of a page that may be furniture: left, middle and right of a head.
const MAX_ZONE: usize = 3;

/// Longest piece of furniture, in characters; a copyright line is.
const MAX_CHARS: usize = 200;

/// The same in a short document, where what repeats is as likely the text itself.
const MAX_CHARS_SHORT: usize = 80;

/// Pages from which a document is not short.
const LONG: usize = 10;

/// Pages a text must stand on to be furniture, in a document long enough.
const MIN_PAGES: usize = 3;

/// The same for a short document, as a share of its pages; and for a text that stands in the
/// middle of pages, such as a stamp up the margin.
const MIN_SHARE: f64 = 0.3;
const MIN_SHARE_INSIDE: f64 = 0.5;

/// Removes from `pages` what stands at their top or bottom again and again.
///
/// A text that is always the same is kept where it stands first: it may be the title. No page is
/// left without any text.
pub(super) fn remove(pages: &mut [Page]) {
    if pages.len() < 2 {
        return;
    }
    let max_chars = if pages.len() < LONG { MAX_CHARS_SHORT } else { MAX_CHARS };
    let mut at_edges: Sightings = HashMap::new();
    let mut anywhere: Sightings = HashMap::new();
    for (page_idx, page) in pages.iter().enumerate() {
        for (block_idx, block) in page.blocks.iter().enumerate() {
            if !may_be_furniture(block, max_chars) {
                continue;
            }
            let sighting = Sighting { page_idx, block_idx, number: page.number };
            if is_at_edge(block_idx, page.blocks.len()) {
                at_edges.entry(pattern(&block.text)).or_default().push(sighting);
            }
            anywhere.entry(block.text.clone()).or_default().push(sighting);
        }
    }
    let mut doomed: Vec<(usize, usize)> = Vec::new();
    let needed = share_of(pages.len(), MIN_SHARE).clamp(2, MIN_PAGES);
    for (pattern, seen) in at_edges.iter().filter(|(_, seen)| num_pages(seen) >= needed) {
        let blocks = || seen.iter().map(|it| &pages[it.page_idx].blocks[it.block_idx]);
        let texts: Vec<&str> = blocks().map(|it| it.text.as_str()).collect();
        let is_heading = blocks().any(|it| it.kind == PageBlockKind::Heading);
        let num_kept = if !pattern.contains('#') || texts.windows(2).all(|it| it[0] == it[1]) {
            1
        } else if is_page_number(pattern) || (!is_heading && follows_pages(seen, &texts)) {
            0
        } else {
            continue;
        };
        doomed.extend(seen.iter().skip(num_kept).map(|it| (it.page_idx, it.block_idx)));
    }
    let needed = share_of(pages.len(), MIN_SHARE_INSIDE).max(MIN_PAGES);
    for seen in anywhere.values().filter(|seen| num_pages(seen) >= needed) {
        doomed.extend(seen.iter().skip(1).map(|it| (it.page_idx, it.block_idx)));
    }
    take_out(pages, doomed);
}

fn take_out(pages: &mut [Page], mut doomed: Vec<(usize, usize)>) {
    doomed.sort_unstable();
    doomed.dedup();
    for on_page in doomed.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(page_idx, _)) = on_page.first() else { continue };
        if on_page.len() == pages[page_idx].blocks.len() {
            continue;
        }
        // From the back, so that indices stay good.
        for &(_, block_idx) in on_page.iter().rev() {
            pages[page_idx].blocks.remove(block_idx);
        }
    }
}

/// Where each text, or pattern of a text, was seen.
type Sightings = HashMap<String, Vec<Sighting>>;

/// Where a text was seen.
#[derive(Clone, Copy)]
struct Sighting {
    page_idx: usize,
    block_idx: usize,
    number: u32,
}

fn num_pages(seen: &[Sighting]) -> usize {
    seen.chunk_by(|a, b| a.page_idx == b.page_idx).count()
}

/// Whether a block is among the first or last of its page: a quarter of them at most.
fn is_at_edge(block_idx: usize, num_blocks: usize) -> bool {
    let zone = (num_blocks / 4).clamp(1, MAX_ZONE);
    block_idx < zone || block_idx + zone >= num_blocks
}

fn may_be_furniture(block: &PageBlock, max_chars: usize) -> bool {
    block.kind != PageBlockKind::Table && block.text.chars().count() <= max_chars
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
            &[&["Tides", "one"], &["TIDES", "two"], &["Tides", "three"], &["Tide", "four"]],
            &[&["Tides", "one"], &["two"], &["three"], &["Tide", "four"]],
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
        let one: &[&str] = &["1", "2", "3", "same", "5", "6", "7"];
        let two: &[&str] = &["a", "b", "c", "same", "d", "e", "f"];
        let three: &[&str] = &["g", "h", "i", "other", "j", "k", "l"];
        check(&[one, two, three, three], &[one, two, three, &["h", "i", "other", "j", "k"]]);
    }

    #[test]
    fn a_stamp_on_every_page_is_furniture_wherever_it_stands() {
        check(
            &[&["a", "b", "JT-1", "c", "d"], &["e", "JT-1", "f"], &["g", "h", "JT-1", "i"]],
            &[&["a", "b", "JT-1", "c", "d"], &["e", "f"], &["g", "h", "i"]],
        );
    }

    #[test]
    fn no_page_loses_all_it_has() {
        check(&[&["Page 1"], &["Page 2"], &["Page 3", "x"]], &[&["Page 1"], &["Page 2"], &["x"]]);
    }

    #[test]
    fn one_page_has_no_furniture() {
        check(&[&["1", "1"]], &[&["1", "1"]]);
        check(&[], &[]);
    }
}
