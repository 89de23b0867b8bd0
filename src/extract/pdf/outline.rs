//! Finds the blocks that bookmarks lead to. Pure.

use std::collections::HashMap;

use crate::extract::protocol::{OutlineEntry, Page, PageBlock, PageBlockKind};

/// Longest title, in characters.
pub(super) const MAX_CHARS: usize = 160;

/// Fewest letters of a title that is looked for at the beginning of a longer text.
const MIN_LETTERS: usize = 4;

/// Most titles with the same beginning, so that a hostile outline costs no more than a large one.
const MAX_ALIKE: usize = 500;

/// Parts blocks that begin with the title of a bookmark and go on with something else: readers
/// take a heading for the first line of its paragraph where only its typeface tells them apart.
pub(super) fn split_at_titles(pages: &mut [Page], outline: &[OutlineEntry]) {
    let mut titles: HashMap<String, Vec<(&OutlineEntry, String)>> = HashMap::new();
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
    let title_end = |text: &str, page: u32| {
        let near = titles.get(&beginning(&letters_of_beginning(text)))?;
        let may_be = near.iter().filter(|(it, letters)| {
            // A numbered title is unmistakable; another must at least be on its page.
            it.page.map_or(letters.starts_with(char::is_numeric), |it| it == page)
        });
        may_be.filter_map(|(_, letters)| end_of(text, letters)).max()
    };
    for page in pages {
        let mut blocks = Vec::with_capacity(page.blocks.len());
        for block in page.blocks.drain(..) {
            let mut rest = block;
            while !matches!(rest.kind, PageBlockKind::Table | PageBlockKind::Code)
                && let Some(end) = title_end(&rest.text, page.number)
            {
                let is_between = |it: char| it.is_whitespace() || it == '.';
                let text = rest.text[end..].trim_start_matches(is_between).to_owned();
                let goes_on = text
                    .starts_with(|it: char| it.is_uppercase() || !it.is_alphanumeric())
                    || title_end(&text, page.number).is_some();
                if text.is_empty() || !goes_on {
                    break;
                }
                rest.text.truncate(end);
                let place = rest.place;
                blocks.push(rest);
                rest = PageBlock { place, ..PageBlock::new(PageBlockKind::Paragraph, 0, text) };
            }
            blocks.push(rest);
        }
        page.blocks = blocks;
    }
}

fn beginning(letters: &str) -> String {
    letters.chars().take(MIN_LETTERS).collect()
}

fn letters_of_beginning(text: &str) -> String {
    let letters = text.chars().filter(|it| it.is_alphanumeric());
    letters.flat_map(char::to_lowercase).take(MIN_LETTERS).collect()
}

/// Returns where in `text` the title spelt by `wanted` ends, with the punctuation after it, if
/// `text` begins with it.
fn end_of(text: &str, wanted: &str) -> Option<usize> {
    let mut wanted = wanted.chars().peekable();
    for (at, character) in text.char_indices() {
        if wanted.peek().is_none() {
            if character.is_whitespace() {
                return Some(at);
            }
            (!character.is_alphanumeric()).then_some(())?;
        } else if character.is_alphanumeric() {
            character.to_lowercase().all(|it| wanted.next_if_eq(&it).is_some()).then_some(())?;
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

/// A bookmark and where in the document it was found.
pub(super) struct Placed<'a> {
    pub(super) entry: &'a OutlineEntry,
    pub(super) page_idx: usize,
    /// `None`: its words are not on the page; it takes effect at the page's beginning.
    pub(super) block_idx: Option<usize>,
}

/// Finds the blocks that bookmarks lead to, in the bookmarks' order. A bookmark whose words are
/// not on the page it names is placed at the page's beginning; one that fits nowhere is left out.
pub(super) fn place<'a>(outline: &'a [OutlineEntry], pages: &[Page]) -> Vec<Placed<'a>> {
    let candidates: Vec<Vec<Position>> = {
        let index = index(pages);
        outline.iter().map(|it| candidates(it, &index, pages)).collect()
    };
    let found = longest_in_order(&candidates);
    let page_idx_of: HashMap<u32, usize> =
        pages.iter().enumerate().map(|(idx, page)| (page.number, idx)).collect();
    let mut placed: Vec<Placed<'a>> = Vec::new();
    for (entry, found) in outline.iter().zip(found) {
        let on_page = entry.page.and_then(|it| page_idx_of.get(&it).copied());
        let last = placed.last().map_or(0, |it| it.page_idx);
        match (found, on_page) {
            (Some((page_idx, block_idx)), _) => {
                // Those placed by their page alone give way to what was really found.
                while placed.last().is_some_and(|it| it.page_idx > page_idx) {
                    placed.pop();
                }
                placed.push(Placed { entry, page_idx, block_idx: Some(block_idx) });
            }
            (None, Some(page_idx)) if page_idx >= last => {
                placed.push(Placed { entry, page_idx, block_idx: None });
            }
            _ => {}
        }
    }
    placed
}

/// Page and block, as indices.
type Position = (usize, usize);

/// Most places one bookmark is looked for in: a title that occurs more often leads nowhere.
const MAX_CANDIDATES: usize = 32;

/// Returns where each text short enough for a title stands, by its letters without numbers.
fn index(pages: &[Page]) -> HashMap<String, Vec<Position>> {
    let mut index: HashMap<String, Vec<Position>> = HashMap::new();
    for (page_idx, page) in pages.iter().enumerate() {
        for (block_idx, block) in page.blocks.iter().enumerate() {
            let is_text = !matches!(block.kind, PageBlockKind::Table | PageBlockKind::Code);
            if is_text && block.text.chars().count() <= MAX_CHARS {
                let key = unnumbered(&letters(&block.text)).to_owned();
                index.entry(key).or_default().push((page_idx, block_idx));
            }
        }
    }
    index
}

/// Returns where the words of `entry` stand: on its own page where it names one, and rather with
/// its number than without, rather in what looks like a heading than in a table of contents.
fn candidates(
    entry: &OutlineEntry,
    index: &HashMap<String, Vec<Position>>,
    pages: &[Page],
) -> Vec<Position> {
    let wanted = letters(&entry.title);
    let key = unnumbered(&wanted);
    let mut found = match index.get(key) {
        Some(found) if !key.is_empty() => found.clone(),
        _ => return Vec::new(),
    };
    if let Some(number) = entry.page {
        found.retain(|&(page_idx, _)| pages[page_idx].number == number);
    }
    let mut prefer = |claim: &dyn Fn(&PageBlock) -> bool| {
        let holds = |&(page_idx, block_idx): &Position| claim(&pages[page_idx].blocks[block_idx]);
        if found.iter().any(holds) {
            found.retain(holds);
        }
    };
    prefer(&|block| letters(&block.text) == wanted);
    prefer(&|block| block.kind == PageBlockKind::Heading);
    found.truncate(MAX_CANDIDATES);
    found
}

/// Chooses one candidate, or none, for each bookmark so that positions rise and as many as can be
/// are found (the longest increasing subsequence). A wrong match far ahead loses against all
/// that it would make impossible.
fn longest_in_order(candidates: &[Vec<Position>]) -> Vec<Option<Position>> {
    struct Link {
        entry_idx: usize,
        position: Position,
        before: Option<usize>,
    }
    let mut links: Vec<Link> = Vec::new();
    // The link that ends the best chain of each length.
    let mut ends: Vec<usize> = Vec::new();
    for (entry_idx, positions) in candidates.iter().enumerate() {
        // From the back: two positions of one bookmark can't follow each other.
        for &position in positions.iter().rev() {
            let length = ends.partition_point(|&it| links[it].position < position);
            let before = length.checked_sub(1).map(|it| ends[it]);
            links.push(Link { entry_idx, position, before });
            let link = links.len() - 1;
            match ends.get_mut(length) {
                Some(end) => *end = link,
                None => ends.push(link),
            }
        }
    }
    let mut chosen = vec![None; candidates.len()];
    let mut at = ends.last().copied();
    while let Some(link) = at.map(|it| &links[it]) {
        chosen[link.entry_idx] = Some(link.position);
        at = link.before;
    }
    chosen
}

/// Letters and digits of `text`, in lower case: what is left of a title however it is set.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn unnumbered(letters: &str) -> &str {
    letters.trim_start_matches(char::is_numeric)
}
