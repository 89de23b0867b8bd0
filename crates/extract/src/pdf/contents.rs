//! Recognises tables of contents and indexes, and writes them with one entry per line. A pure
//! function.
//!
//! Their lines repeat the headings of the document, so they must not be taken for headings, and
//! searches show them last ([`crate::text::contents`]).

use super::entries;
use crate::document::BlockKind;
use crate::protocol::{ExtractedPage, PageBlock};
use crate::text::contents::{ContentsEntry, entries as entries_of, is_contents};

/// Fewest entries on a page of a table of contents: of one that is known by its leaders or by its heading, and of any
/// other, which may be a list with numbers.
const MIN_ENTRIES: usize = 3;
const MIN_ENTRIES_UNKNOWN: usize = 8;

/// How far page numbers may exceed the number of pages, which does not include those before the
/// first chapter of an excerpt.
const MAX_EXCESS: usize = 20;

/// Marks the blocks of tables of contents and indexes.
pub(super) fn mark(pages: &mut [ExtractedPage]) {
    let num_pages = pages.len();
    // A table of contents may continue on the next page.
    let mut continues = false;
    for page in pages {
        let has_leaders = has_contents(page, num_pages);
        // A page with leaders has entries of known form; only other pages are searched for plain ones.
        let is_plain = !has_leaders && has_plain_contents(page, num_pages, continues);
        continues = has_leaders || is_plain;
        if continues {
            mark_blocks(page, |block| lines(block, is_plain));
        } else if is_index(page, num_pages) {
            mark_blocks(page, index_lines);
        }
    }
}

/// Marks the blocks that have lines, with these as their text, and joins those next to each other.
fn mark_blocks(page: &mut ExtractedPage, lines: impl Fn(&PageBlock) -> Option<String>) {
    let mut blocks: Vec<PageBlock> = Vec::with_capacity(page.blocks.len());
    for mut block in page.blocks.drain(..) {
        if let Some(lines) = lines(&block) {
            (block.kind, block.level, block.text) = (BlockKind::Paragraph, 0, lines);
            block.is_contents = true;
        }
        match blocks.last_mut() {
            Some(last) if last.is_contents && block.is_contents => {
                last.text.push('\n');
                last.text.push_str(&block.text);
            }
            _ => blocks.push(block),
        }
    }
    page.blocks = blocks;
}

/// Whether most of a page is entries without leaders whose page numbers rise.
fn has_plain_contents(page: &ExtractedPage, num_pages: usize, continues: bool) -> bool {
    let is_known = continues || page.blocks.iter().any(entries::is_title);
    let found: Vec<entries::TitleAndPage> =
        page.blocks.iter().filter_map(entries::of_contents).flatten().collect();
    let numbers: Vec<usize> = found.iter().filter_map(|(_, page)| page.parse().ok()).collect();
    let num_inside = numbers.iter().filter(|page| **page <= num_pages + MAX_EXCESS).count();
    let num_rising = numbers.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    let fewest = if is_known { MIN_ENTRIES } else { MIN_ENTRIES_UNKNOWN };
    let covered: usize = found.iter().map(|(title, page)| title.len() + page.len()).sum();
    found.len() >= fewest
        // One in ten may be misread, or lead to a part with separate page numbers.
        && num_inside * 10 >= numbers.len() * 9
        && num_rising * 10 >= (numbers.len() - 1) * 9
        && numbers.first() < numbers.last()
        && covered * 2 >= num_letters(page)
}

/// Whether most of a page is entries of an index.
fn is_index(page: &ExtractedPage, num_pages: usize) -> bool {
    let prose = page.blocks.iter().filter(|block| block.is_prose());
    let found: Vec<entries::TitleAndPage> =
        prose.flat_map(|block| entries::of_index(&block.text).0).collect();
    let numbers = found
        .iter()
        .filter_map(|(_, pages)| pages.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    let numbers: Vec<usize> = numbers.collect();
    let num_inside = numbers.iter().filter(|page| **page <= num_pages + MAX_EXCESS).count();
    let covered: usize = found.iter().map(|(title, pages)| title.len() + pages.len()).sum();
    entries::are_alphabetical(&found)
        && num_inside * 10 >= numbers.len() * 9
        && covered * 2 >= num_letters(page)
}

/// Returns the size of a page's text without white space and the marks of tables, in bytes.
fn num_letters(page: &ExtractedPage) -> usize {
    let texts = page.blocks.iter().flat_map(|block| block.text.chars());
    texts.filter(|c| !c.is_whitespace() && !matches!(c, '|' | '-')).map(char::len_utf8).sum()
}

/// Returns the entries of a block of an index, one per line; `None` if it has none.
fn index_lines(block: &PageBlock) -> Option<String> {
    let (found, rest) = entries::of_index(&block.text);
    if !block.is_prose() || found.is_empty() {
        return None;
    }
    Some(joined(found.iter().map(|(title, pages)| ContentsEntry { title, pages }), rest))
}

/// Returns entries, one per line, with the text after the last of them.
fn joined<'a>(entries: impl Iterator<Item = ContentsEntry<'a>>, rest: &str) -> String {
    let rest = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
    entries.map(|entry| entry.line()).chain(rest).collect::<Vec<_>>().join("\n")
}

/// Whether entries with plausible page numbers are a large part of a page.
fn has_contents(page: &ExtractedPage, num_pages: usize) -> bool {
    let prose = page.blocks.iter().filter(|block| block.is_prose());
    let mut texts = prose.map(|block| block.text.as_str());
    let of_page: Vec<ContentsEntry<'_>> =
        texts.clone().flat_map(|text| entries_of(text).0).collect();
    let numbers: Vec<usize> = of_page
        .iter()
        .filter_map(|entry| entry.first_page().and_then(|page| usize::try_from(page).ok()))
        .collect();
    let num_inside = numbers.iter().filter(|page| **page <= num_pages + MAX_EXCESS).count();
    let num_rising = numbers.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    let is_plausible = num_inside * 10 >= numbers.len() * 9
        || num_rising * 10 >= numbers.len().saturating_sub(1) * 9;
    of_page.len() >= MIN_ENTRIES && is_plausible && texts.any(is_entries)
}

/// Whether most of a text is entries.
fn is_entries(text: &str) -> bool {
    is_contents(text) || {
        let (found, rest) = entries_of(text);
        !found.is_empty() && rest.len() * 2 <= text.len()
    }
}

/// Returns the entries of a block on a page of a table of contents, one per line; `None` if it has
/// none. There, a short line that ends in a page number needs no leader, and neither do the rows of
/// a table if the page has no leaders at all.
fn lines(block: &PageBlock, is_plain: bool) -> Option<String> {
    if block.is_prose() && is_entries(&block.text) {
        let (found, rest) = entries_of(&block.text);
        return Some(joined(found.into_iter(), rest));
    }
    let found =
        Some(block).filter(|block| is_plain || block.is_prose()).and_then(entries::of_contents)?;
    Some(joined(found.iter().map(|(title, pages)| ContentsEntry { title, pages }), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(texts: &[&str]) -> ExtractedPage {
        let block = |text: &&str| PageBlock::new(BlockKind::Paragraph, 0, *text);
        ExtractedPage {
            number: 1,
            blocks: texts.iter().map(block).collect(),
            ..ExtractedPage::default()
        }
    }

    #[track_caller]
    fn check(texts: &[&str], expected: &[(bool, &str)]) {
        let mut pages = [page(texts)];
        mark(&mut pages);
        let found: Vec<(bool, &str)> =
            pages[0].blocks.iter().map(|block| (block.is_contents, block.text.as_str())).collect();
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

    #[test]
    fn a_table_of_contents_needs_no_leaders() {
        let mut contents = page(&["Contents", "1 Tides 1", "1.1 Ebb 2"]);
        let table = "| 2 Gauges | 4 |\n| --- | --- |\n| 3 Floats | 9 |";
        contents.blocks.push(PageBlock::new(BlockKind::Table, 0, table));
        let mut pages = [contents, page(&["4 Pumps 11", "5 Locks 12", "6 Sluices 15"])];
        mark(&mut pages);
        let text =
            "1 Tides \u{2026} 1\n1.1 Ebb \u{2026} 2\n2 Gauges \u{2026} 4\n3 Floats \u{2026} 9";
        assert_eq!(pages[0].blocks[1], block(text));
        assert_eq!(
            pages[1].blocks[0].text,
            "4 Pumps \u{2026} 11\n5 Locks \u{2026} 12\n6 Sluices \u{2026} 15"
        );
    }

    fn block(text: &str) -> PageBlock {
        PageBlock { is_contents: true, ..PageBlock::new(BlockKind::Paragraph, 0, text) }
    }

    #[test]
    fn a_table_of_numbers_is_not_a_table_of_contents() {
        let table = "| Year | Ships |\n| --- | --- |\n| North | 3 |\n| East | 9 |\n| South | 4 |";
        let mut pages = [page(&["The ships of the harbour"])];
        pages[0].blocks.push(PageBlock::new(BlockKind::Table, 0, table));
        mark(&mut pages);
        assert_eq!(pages[0].blocks[1].kind, BlockKind::Table);
    }

    #[test]
    fn an_index_has_one_line_per_entry() {
        let text = "anchor, 3, 9 buoy, 12 chart, 4 dock, 7, 8 ebb, 2 float, 11 gauge, 5 harbour, 1";
        let mut pages = [page(&["Index", text])];
        mark(&mut pages);
        assert!(pages[0].blocks[1].is_contents);
        assert!(pages[0].blocks[1].text.starts_with("anchor \u{2026} 3, 9\nbuoy \u{2026} 12\n"));
        let prose = "In May, 12 ships came, in June, 9 ships came, and in July, 3 more, from far.";
        check(&[prose], &[(false, prose)]);
    }
}
