//! Recognises a manual page that was printed, such as by `man -Tpdf`: by its running head, which begins and ends with the
//! same name and section, `BASH(1) General Commands Manual BASH(1)`. A pure function.
//!
//! Its first heading is always `NAME`, and bold options and variables look like its headings. But only headings begin left of
//! the text (man(7): `.SH` and `.SS` begin left of the indentation of the paragraphs).

use std::collections::BTreeMap;

use crate::protocol::{ExtractedPage, PageBlock};

/// Blocks at the top of a page among which the running head is looked for.
const MAX_TOP: usize = 3;

/// The text begins where at least this share of all characters does, farthest to the left. In eight manual pages, headings and
/// lines as far left as they have at most 0.034 of the characters, and paragraphs that are not indented 0.12 or more.
const MIN_SHARE: f64 = 0.05;

/// How far left of the text a heading begins at least, in points. The least indentation in man(7) and mdoc(7) is 15.
const MIN_HANG: f64 = 4.0;

/// Returns the name and section in the running head, `BASH(1)`; `None` if the pages are not those of one manual page.
pub(super) fn name(pages: &[ExtractedPage]) -> Option<&str> {
    let mut heads = pages.iter().flat_map(|page| page.blocks.iter().take(MAX_TOP).filter_map(head));
    let first = pages.iter().find(|page| !page.blocks.is_empty())?;
    let name = first.blocks.iter().take(MAX_TOP).find_map(head)?;
    heads.all(|other| other == name).then_some(name)
}

/// Returns the horizontal position, in points, left of which the headings of a manual page begin; `None` if no positions are
/// known.
pub(super) fn heading_edge(pages: &[ExtractedPage]) -> Option<f64> {
    let mut by_left: BTreeMap<i64, usize> = BTreeMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks).filter(|block| head(block).is_none()) {
        if let Some(place) = block.place {
            *by_left.entry(points(place.left)).or_default() += block.text.len();
        }
    }
    let total: usize = by_left.values().sum();
    let (left, _) = by_left.iter().find(|(_, num)| **num as f64 >= MIN_SHARE * total as f64)?;
    Some(*left as f64 - MIN_HANG)
}

#[expect(clippy::cast_possible_truncation, reason = "clamped just before")]
fn points(left: f64) -> i64 {
    left.clamp(-1e6, 1e6).round() as i64
}

/// Returns the name of a running head.
fn head(block: &PageBlock) -> Option<&str> {
    let mut words = block.text.split_whitespace();
    let (first, last) = (words.next()?, words.next_back()?);
    (first == last && is_page(first)).then_some(first)
}

/// Whether a word is a name with the section of the manual in brackets: `git-log(1)`, `open(3p)`.
fn is_page(word: &str) -> bool {
    let Some((name, section)) = word.strip_suffix(')').and_then(|word| word.split_once('(')) else {
        return false;
    };
    let mut section = section.chars();
    let starts_well = section.next().is_some_and(|first| first.is_ascii_digit() || first == 'n');
    let is_section = starts_well && section.all(|c| c.is_ascii_alphanumeric());
    is_section
        && name.chars().any(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || "_-−‐.:+@[".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;
    use crate::protocol::BlockPlace;

    fn block(text: &str, left: f64) -> PageBlock {
        let place = BlockPlace { left, ..BlockPlace::default() };
        PageBlock { place: Some(place), ..PageBlock::new(BlockKind::Paragraph, 0, text) }
    }

    fn pages(heads: &[&str]) -> Vec<ExtractedPage> {
        let text = "The shell reads commands from a file, and executes them one after another. ";
        heads
            .iter()
            .map(|head| ExtractedPage {
                blocks: vec![
                    block(head, 72.0),
                    block("OPTIONS", 72.0),
                    block(text, 108.0),
                    block("−A, −−almost−all", 108.0),
                    block(&text.repeat(3), 144.0),
                ],
                ..ExtractedPage::default()
            })
            .collect()
    }

    #[track_caller]
    fn check(heads: &[&str], expected: Option<&str>) {
        let pages = pages(heads);
        assert_eq!(name(&pages), expected);
    }

    #[test]
    fn headings_begin_left_of_the_paragraphs_and_options_do_not() {
        assert_eq!(heading_edge(&pages(&["LS(1) User Commands LS(1)"])), Some(108.0 - MIN_HANG));
        assert_eq!(heading_edge(&[]), None);
    }

    #[test]
    fn the_running_head_of_a_manual_page_has_its_name_at_both_ends() {
        check(&["BASH(1) General Commands Manual BASH(1)"], Some("BASH(1)"));
        check(&["git-log(1) Git Manual git-log(1)", "text", "text"], Some("git-log(1)"));
        check(&["X(3p) POSIX X(3p)", "X(3p) POSIX X(3p)"], Some("X(3p)"));
        check(&["after_idle(n) Tcl after_idle(n)"], Some("after_idle(n)"));
    }

    #[test]
    fn other_pages_and_collections_of_manual_pages_have_no_such_name() {
        check(&["BASH(1) General Commands Manual"], None);
        check(&["Bash Manual Bash"], None);
        check(&["f(x) is equal to f(x)"], None);
        check(&["A(1) Manual A(1)", "text", "B(1) Manual B(1)"], None);
        check(&["(1) and (1)"], None);
        check(&[], None);
    }
}
