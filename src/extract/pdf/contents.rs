//! Recognises tables of contents and indexes, and writes them with one entry per line. A pure
//! function.
//!
//! Their lines repeat the headings of the document, so they must not be taken for headings, and
//! searches show them last ([`crate::text::contents`]).

use super::number;
use crate::extract::protocol::{Page, PageBlock, PageBlockKind};
use crate::text::contents::{Entry, entries, is_contents};

/// Fewest entries on a page of a table of contents.
const MIN_ENTRIES: usize = 3;

/// How far page numbers may exceed the number of pages, which does not include those before the
/// first chapter of an excerpt.
const MAX_EXCESS: usize = 20;

/// Longest line without a leader that belongs to a table of contents, in words.
const MAX_WORDS: usize = 16;

/// Marks the blocks of tables of contents and indexes.
pub(super) fn mark(pages: &mut [Page]) {
    let num_pages = pages.len();
    for page in pages {
        if !has_contents(page, num_pages) {
            continue;
        }
        let mut blocks: Vec<PageBlock> = Vec::with_capacity(page.blocks.len());
        for mut block in page.blocks.drain(..) {
            if let Some(lines) = lines(&block) {
                (block.kind, block.level, block.text) = (PageBlockKind::Contents, 0, lines);
            }
            match blocks.last_mut() {
                Some(last) if [last.kind, block.kind] == [PageBlockKind::Contents; 2] => {
                    last.text.push('\n');
                    last.text.push_str(&block.text);
                }
                _ => blocks.push(block),
            }
        }
        page.blocks = blocks;
    }
}

/// Whether entries with plausible page numbers are a large part of a page.
fn has_contents(page: &Page, num_pages: usize) -> bool {
    let texts = || {
        page.blocks.iter().filter(|block| block.kind.is_prose()).map(|block| block.text.as_str())
    };
    let of_page: Vec<Entry<'_>> = texts().flat_map(|text| entries(text).0).collect();
    let numbers: Vec<usize> = of_page
        .iter()
        .filter_map(|entry| entry.first_page().and_then(|page| usize::try_from(page).ok()))
        .collect();
    let num_inside = numbers.iter().filter(|page| **page <= num_pages + MAX_EXCESS).count();
    let num_rising = numbers.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    let is_plausible = num_inside * 10 >= numbers.len() * 9
        || num_rising * 10 >= numbers.len().saturating_sub(1) * 9;
    of_page.len() >= MIN_ENTRIES && is_plausible && texts().any(is_entries)
}

/// Whether most of a text is entries.
fn is_entries(text: &str) -> bool {
    is_contents(text) || {
        let (found, rest) = entries(text);
        !found.is_empty() && rest.len() * 2 <= text.len()
    }
}

/// Returns the entries of a block on a page of a table of contents, one per line; `None` if it has
/// none. There, a short line that ends in a page number needs no leader.
fn lines(block: &PageBlock) -> Option<String> {
    if !block.kind.is_prose() {
        return None;
    }
    if is_entries(&block.text) {
        let (found, rest) = entries(&block.text);
        let mut lines: Vec<String> = found.iter().map(Entry::line).collect();
        if !rest.is_empty() {
            lines.push(rest.to_owned());
        }
        return Some(lines.join("\n"));
    }
    let (title, page) = block.text.rsplit_once(' ')?;
    let is_number = !page.is_empty() && page.len() <= 4 && page.chars().all(|c| c.is_ascii_digit());
    let is_title = number::without(title).chars().any(char::is_alphabetic)
        && title.split_whitespace().count() <= MAX_WORDS
        && !title.ends_with(['.', ',', ':', ';']);
    (is_number && is_title).then(|| Entry { title, pages: page }.line())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(texts: &[&str]) -> Page {
        let block = |text: &&str| PageBlock::new(PageBlockKind::Paragraph, 0, *text);
        Page { number: 1, blocks: texts.iter().map(block).collect(), ..Page::default() }
    }

    #[track_caller]
    fn check(texts: &[&str], expected: &[(bool, &str)]) {
        let mut pages = [page(texts)];
        mark(&mut pages);
        let found: Vec<(bool, &str)> = pages[0]
            .blocks
            .iter()
            .map(|block| (block.kind == PageBlockKind::Contents, block.text.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_table_of_contents_has_one_line_per_entry() {
        check(
            &[
                "Contents",
                "1 Tides 1",
                "1.1 Ebb. . . . . . 1 1.2 Flood....... 2",
                "A Gauges..... 3",
                "ii",
            ],
            &[
                (false, "Contents"),
                (
                    true,
                    "1 Tides \u{2026} 1\n1.1 Ebb \u{2026} 1\n1.2 Flood \u{2026} 2\nA Gauges \u{2026} 3",
                ),
                (false, "ii"),
            ],
        );
    }

    #[test]
    fn a_list_of_prices_is_not_a_table_of_contents() {
        let prices = "Herring ..... 120 Cod ..... 90 Eel ..... 310 Pike ..... 80";
        check(&[prices], &[(false, prices)]);
        let few = "Ebb ..... 1 Flood ..... 2";
        check(
            &[few, "The tide turns at noon 12"],
            &[(false, few), (false, "The tide turns at noon 12")],
        );
    }
}
