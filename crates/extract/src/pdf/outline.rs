//! Finds the blocks that bookmarks lead to. A pure function.

use std::collections::HashMap;

use super::number;
use crate::document::BlockKind;
use crate::protocol::{ExtractedPage, OutlineEntry, PageBlock};

/// Longest title, in characters: a longer block is a paragraph, and need not be compared.
pub(super) const MAX_CHARS: usize = 200;

/// Fewest letters in a title that is searched for at the beginning of a longer text; a shorter one, such as `A`,
/// begins many.
const MIN_LETTERS: usize = 4;

/// Most titles with the same beginning, so that a hostile outline costs no more than a large one.
const MAX_ALIKE: usize = 500;

/// Splits blocks that begin with the title of a bookmark followed by other text: readers take a
/// heading for the first line of its paragraph if only the font differs.
pub(super) fn split_at_titles(pages: &mut [ExtractedPage], outline: &[OutlineEntry]) {
    let mut titles: TitlesByBeginning<'_> = HashMap::new();
    for entry in outline {
        let letters = letters(&entry.title);
        if letters.chars().count() >= MIN_LETTERS {
            let alike = titles.entry(beginning(&letters)).or_default();
            if alike.len() < MAX_ALIKE {
                alike.push((entry, letters));
            }
        }
    }
    if titles.is_empty() {
        return;
    }
    for page in pages {
        let mut blocks = Vec::with_capacity(page.blocks.len());
        for block in page.blocks.drain(..) {
            let mut rest = block;
            while rest.is_prose()
                && let Some(end) = title_end(&titles, &rest.text, page.number)
            {
                let text =
                    rest.text[end..].trim_start_matches(|c: char| c.is_whitespace() || c == '.');
                let text = text.to_owned();
                // A title is followed by a new sentence or another title; otherwise it is the beginning of a
                // sentence.
                let goes_on = text
                    .starts_with(|first: char| first.is_uppercase() || !first.is_alphanumeric())
                    || title_end(&titles, &text, page.number).is_some();
                if text.is_empty() || !goes_on {
                    break;
                }
                rest.text.truncate(end);
                let place = rest.place;
                blocks.push(rest);
                rest = PageBlock { place, ..PageBlock::new(BlockKind::Paragraph, 0, text) };
            }
            blocks.push(rest);
        }
        page.blocks = blocks;
    }
}

/// Bookmarks with the letters of their titles, by the first of these letters.
type TitlesByBeginning<'a> = HashMap<String, Vec<(&'a OutlineEntry, String)>>;

/// Returns where the longest title with which a text on a page begins ends.
fn title_end(titles: &TitlesByBeginning<'_>, text: &str, page: u32) -> Option<usize> {
    let near = titles.get(&beginning(&letters_of_beginning(text)))?;
    let may_be = near.iter().filter(|(entry, letters)| {
        // A title with a number is unambiguous; any other must be on its page.
        entry.page.map_or(letters.starts_with(char::is_numeric), |number| number == page)
    });
    may_be.filter_map(|(_, letters)| end_of(text, letters)).max()
}

fn beginning(letters: &str) -> String {
    letters.chars().take(MIN_LETTERS).collect()
}

fn letters_of_beginning(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).take(MIN_LETTERS).collect()
}

/// If `text` begins with the title whose letters are `wanted`, returns where the title ends,
/// including punctuation after it.
fn end_of(text: &str, wanted: &str) -> Option<usize> {
    let mut wanted = wanted.chars().peekable();
    for (at, character) in text.char_indices() {
        if wanted.peek().is_none() {
            if character.is_whitespace() {
                return Some(at);
            }
            (!character.is_alphanumeric()).then_some(())?;
        } else if character.is_alphanumeric() {
            character
                .to_lowercase()
                .all(|lower| wanted.next_if_eq(&lower).is_some())
                .then_some(())?;
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

/// A bookmark and its position in the document.
pub(super) struct PlacedBookmark<'a> {
    pub(super) entry: &'a OutlineEntry,
    pub(super) page_idx: usize,
    /// `None` if its words are not on the page; it then applies from the beginning of the page.
    pub(super) block_idx: Option<usize>,
}

/// Finds the blocks that bookmarks lead to, in the order of the bookmarks. If the words of a
/// bookmark are not on its page, it is placed at the beginning of the page; a bookmark that fits
/// nowhere is left out.
pub(super) fn place<'a>(
    outline: &'a [OutlineEntry],
    pages: &[ExtractedPage],
) -> Vec<PlacedBookmark<'a>> {
    let candidates: Vec<Vec<Position>> = {
        let index = index(pages);
        outline.iter().map(|entry| candidates(entry, &index, pages)).collect()
    };
    let found = longest_in_order(&candidates);
    let page_idx_of: HashMap<u32, usize> =
        pages.iter().enumerate().map(|(idx, page)| (page.number, idx)).collect();
    let mut placed: Vec<PlacedBookmark<'a>> = Vec::new();
    for (entry, found) in outline.iter().zip(found) {
        let on_page = entry.page.and_then(|number| page_idx_of.get(&number).copied());
        let last = placed.last().map_or(0, |last| last.page_idx);
        match (found, on_page) {
            (Some((page_idx, block_idx)), _) => {
                // Bookmarks placed only by their page are dropped in favour of those whose words
                // were found.
                while placed.last().is_some_and(|last| last.page_idx > page_idx) {
                    placed.pop();
                }
                placed.push(PlacedBookmark { entry, page_idx, block_idx: Some(block_idx) });
            }
            (None, Some(page_idx)) if page_idx >= last => {
                placed.push(PlacedBookmark { entry, page_idx, block_idx: None });
            }
            _ => {}
        }
    }
    placed
}

/// Indices of page and block.
type Position = (usize, usize);

/// Most positions considered for one bookmark; a title that occurs more often is ambiguous. Bounds the time for a
/// hostile outline.
const MAX_CANDIDATES: usize = 32;

/// Returns the positions of all texts short enough for a title, by their letters with and without
/// numbers.
fn index(pages: &[ExtractedPage]) -> HashMap<String, Vec<Position>> {
    let mut index: HashMap<String, Vec<Position>> = HashMap::new();
    for (page_idx, page) in pages.iter().enumerate() {
        for (block_idx, block) in page.blocks.iter().enumerate() {
            if block.is_prose() && block.text.chars().count() <= MAX_CHARS {
                let whole = letters(&block.text);
                let key = letters(number::without(&block.text));
                if key != whole {
                    index.entry(whole).or_default().push((page_idx, block_idx));
                }
                index.entry(key).or_default().push((page_idx, block_idx));
            }
        }
    }
    index
}

/// Returns the positions of the words of `entry`, on its page if it names one. Positions in headings
/// are preferred to those in lists or a table of contents, and then positions with the number.
fn candidates(
    entry: &OutlineEntry,
    index: &HashMap<String, Vec<Position>>,
    pages: &[ExtractedPage],
) -> Vec<Position> {
    let wanted = letters(&entry.title);
    let key = letters(number::without(&entry.title));
    let mut found = positions_of(&key, entry, index, pages);
    if found.is_empty() {
        found = positions_of(&wanted, entry, index, pages);
    }
    if let (true, Some(rest)) = (found.is_empty(), number::without_letter(&entry.title)) {
        found = positions_of(&letters(rest), entry, index, pages);
    }
    prefer(&mut found, pages, |block| block.kind == BlockKind::Heading);
    prefer(&mut found, pages, |block| letters(&block.text) == wanted);
    found.truncate(MAX_CANDIDATES);
    found
}

/// Returns the positions of some letters, on the page of `entry` if it names one.
fn positions_of(
    letters: &str,
    entry: &OutlineEntry,
    index: &HashMap<String, Vec<Position>>,
    pages: &[ExtractedPage],
) -> Vec<Position> {
    let all = index.get(letters).filter(|_| !letters.is_empty()).into_iter().flatten();
    let on_page = all
        .filter(|(page_idx, _)| entry.page.is_none_or(|number| pages[*page_idx].number == number));
    on_page.copied().collect()
}

/// Keeps the positions of blocks for which the claim holds, if there are any.
fn prefer(found: &mut Vec<Position>, pages: &[ExtractedPage], claim: impl Fn(&PageBlock) -> bool) {
    if found.iter().any(|(page, block)| claim(&pages[*page].blocks[*block])) {
        found.retain(|(page, block)| claim(&pages[*page].blocks[*block]));
    }
}

/// Chooses one candidate, or none, for each bookmark, so that positions increase and as many
/// bookmarks as possible are found (the longest increasing subsequence). A wrong match far ahead
/// loses, because it would exclude many others.
fn longest_in_order(candidates: &[Vec<Position>]) -> Vec<Option<Position>> {
    struct OutlineLink {
        entry_idx: usize,
        position: Position,
        before: Option<usize>,
    }
    let mut links: Vec<OutlineLink> = Vec::new();
    // The link that ends the best chain of each length.
    let mut ends: Vec<usize> = Vec::new();
    for (entry_idx, positions) in candidates.iter().enumerate() {
        // From the back, as two positions of one bookmark must not follow each other.
        for &position in positions.iter().rev() {
            let length = ends.partition_point(|&link_idx| links[link_idx].position < position);
            let before = length.checked_sub(1).map(|last| ends[last]);
            links.push(OutlineLink { entry_idx, position, before });
            let link = links.len() - 1;
            match ends.get_mut(length) {
                Some(end) => *end = link,
                None => ends.push(link),
            }
        }
    }
    let mut chosen = vec![None; candidates.len()];
    let mut at = ends.last().copied();
    while let Some(link) = at.map(|link_idx| &links[link_idx]) {
        chosen[link.entry_idx] = Some(link.position);
        at = link.before;
    }
    chosen
}

/// Returns the letters and digits of `text` in lower case, which do not depend on how a title is
/// typeset.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
