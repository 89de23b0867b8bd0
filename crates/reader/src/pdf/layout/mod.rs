//! Finds the blocks of a page, with their positions, in reading order. A pure function.
//!
//! ```text
//! sheet ─► words ─► regions ─► lines ─► paragraphs
//! ```

mod aligned;
mod cells;
mod columns;
pub(crate) mod copies;
pub(crate) mod entries;
mod gaps;
mod glossaries;
mod groups;
mod lines;
mod margin;
mod numbers;
mod paragraphs;
mod piece;
mod placed;
mod regions;
mod ruled;
mod rules;
mod script;
pub(crate) mod sheet;
mod spaces;
#[cfg(test)]
mod testing;
mod tilted;
mod turned_heads;
mod typed;
mod words;
mod wraps;
mod zones;

use crate::document::{WordAccount, count_words as count};
use crate::extract::protocol::{BlockPlace, PageBlock};
use paragraphs::BodyStyle;
use piece::WordOrTable;
use rules::RuledLines;
use sheet::{Direction, DrawnPage, PageArea};

pub(crate) use paragraphs::place_of;
pub(crate) use words::{ASCENT, DESCENT, Word, turn_area};

/// A page after layout analysis, turned so that most of its text is upright.
pub(crate) struct ArrangedPage {
    pub(crate) blocks: Vec<PageBlock>,
    /// The direction of most of its text before it was turned.
    pub(crate) direction: Direction,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Words of the copies of merged cells.
    pub(crate) num_copied_words: u32,
}

/// Counts the words of a page.
pub(crate) fn count_words(sheet: &DrawnPage) -> u32 {
    let words = Direction::ALL.iter().flat_map(|direction| words::find(sheet, *direction));
    words.map(|word| count(&word.text)).sum()
}

/// Returns the words of a page in drawing order, with their areas on it.
pub(crate) fn words(sheet: &DrawnPage) -> Vec<(String, PageArea)> {
    let mut found = Vec::new();
    for direction in Direction::ALL {
        for word in words::find(sheet, direction) {
            found.push((word.text, words::turn_back(sheet, direction, word.area)));
        }
    }
    found
}

/// Analyses a page: returns blocks in reading order, with text in other directions and at an angle at the end, and
/// counts the words that are in no block.
pub(crate) fn arrange(sheet: &DrawnPage, left_out: &mut WordAccount) -> ArrangedPage {
    let Some((upright, tilted)) = tilted::take(sheet) else {
        return arrange_upright(sheet, left_out);
    };
    let mut arranged = arrange_upright(&upright, left_out);
    for mut text in tilted {
        let (mut blocks, _) = arrange_words(std::mem::take(&mut text.words), &[], left_out);
        for block in &mut blocks {
            let of_block = block.place.map(|place| {
                let area = PageArea::new(place.left, place.top, place.right, place.bottom);
                let area = words::turn_area(sheet, arranged.direction, text.on_page(&area));
                let BlockPlace { left, top, right, bottom, .. } = place_of(&area);
                BlockPlace { left, top, right, bottom, ..place }
            });
            (block.place, block.stance) = (of_block, text.stance);
        }
        arranged.blocks.extend(blocks);
    }
    arranged
}

fn arrange_upright(sheet: &DrawnPage, left_out: &mut WordAccount) -> ArrangedPage {
    let mut all: Vec<(Direction, Vec<Word>)> =
        Direction::ALL.map(|direction| (direction, words::find(sheet, direction))).into();
    all.retain(|(_, words)| !words.is_empty());
    // The sort is stable: among equals the first remains first, which is horizontal text.
    all.sort_by_key(|(_, words)| std::cmp::Reverse(words.len()));
    let direction = all.first().map_or(Direction::Right, |(direction, _)| *direction);
    let (width, height) = match direction {
        Direction::Down | Direction::Up => (sheet.height, sheet.width),
        Direction::Right | Direction::Left => (sheet.width, sheet.height),
    };
    if let Some(((_, words), others)) = all.split_first_mut() {
        for (turned, turned_words) in others {
            turned_heads::put_upright(sheet, direction, words, *turned, turned_words);
        }
    }
    let (mut blocks, mut num_copied_words) = (Vec::new(), 0);
    for (direction, words) in all {
        let rules: Vec<PageArea> =
            sheet.rules.iter().map(|rule| words::turn_area(sheet, direction, *rule)).collect();
        let (found, num_copied) = arrange_words(words, &rules, left_out);
        blocks.extend(found);
        num_copied_words += num_copied;
    }
    ArrangedPage { blocks, direction, width, height, num_copied_words }
}

/// Analyses words that run to the right, and the rules among them: returns blocks in reading order, and the number of words
/// that are copies of merged cells.
pub(crate) fn arrange_words(
    words: Vec<Word>,
    rules: &[PageArea],
    left_out: &mut WordAccount,
) -> (Vec<PageBlock>, u32) {
    let mut words = margin::without_line_numbers(words, left_out);
    let body = BodyStyle::of(&words);
    let rules = RuledLines::of(rules);
    // Each takes its words out of the page, so the surest sign of a table comes first: a lattice, then rules above
    // and below, then typed rules. Tables without rules are looked for last, within one column.
    let mut tables = ruled::take(&rules, &mut words);
    tables.extend(zones::take(&rules, &mut words));
    tables.extend(typed::take(&mut words));
    let num_copied_words = tables.iter().map(|table| table.num_copied_words).sum();
    let pieces = tables.into_iter().map(WordOrTable::Table);
    let pieces = pieces.chain(words.into_iter().map(WordOrTable::Word)).collect();
    let mut blocks = Vec::new();
    for region in regions::divide(pieces, body.size) {
        let (mut words, mut tables) = (Vec::new(), Vec::new());
        for piece in region {
            match piece {
                WordOrTable::Word(word) => words.push(word),
                WordOrTable::Table(table) => tables.push(table),
            }
        }
        let mut lines = lines::gather(words);
        tables.extend(aligned::take(&mut lines));
        blocks.extend(paragraphs::blocks(lines, tables, body));
    }
    (blocks, num_copied_words)
}
