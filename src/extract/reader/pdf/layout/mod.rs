//! Finds the blocks of a page, with their places, in reading order. Pure.
//!
//! ```text
//! sheet ─► words ─► regions ─► lines ─► paragraphs
//! ```

mod aligned;
mod cells;
mod gaps;
mod lines;
mod margin;
mod marks;
mod paragraphs;
mod piece;
mod regions;
mod ruled;
mod rules;
mod script;
pub(crate) mod sheet;
#[cfg(test)]
mod testing;
mod words;
mod wraps;
mod zones;

use paragraphs::Usual;
use piece::Piece;
use rules::Rules;
use sheet::{Area, Direction, Sheet};
use words::Word;

use crate::extract::protocol::PageBlock;

/// A page that has been read, as most of its text stands.
pub(crate) struct Arranged {
    pub(crate) blocks: Vec<PageBlock>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Reads a page: blocks in reading order, those whose text runs another way than most at the end.
pub(crate) fn arrange(sheet: &Sheet) -> Arranged {
    let mut all: Vec<(Direction, Vec<Word>)> =
        Direction::ALL.map(|it| (it, words::find(sheet, it))).into();
    all.retain(|(_, words)| !words.is_empty());
    // Stable: of equals the first, which is level.
    all.sort_by_key(|(_, words)| std::cmp::Reverse(words.len()));
    let is_turned = all.first().is_some_and(|it| matches!(it.0, Direction::Down | Direction::Up));
    let (width, height) = match is_turned {
        true => (sheet.height, sheet.width),
        false => (sheet.width, sheet.height),
    };
    let mut blocks = Vec::new();
    for (direction, words) in all {
        let mut words = margin::without_line_numbers(words);
        let usual = Usual::of(&words);
        let rules: Vec<Area> =
            sheet.rules.iter().map(|it| words::turn_area(sheet, direction, *it)).collect();
        let rules = Rules::of(&rules);
        let mut tables = ruled::take(&rules, &mut words);
        tables.extend(zones::take(&rules, &mut words));
        let pieces = tables.into_iter().map(Piece::Table);
        let pieces = pieces.chain(words.into_iter().map(Piece::Word)).collect();
        for region in regions::part(pieces, usual.size) {
            let (mut words, mut tables) = (Vec::new(), Vec::new());
            for piece in region {
                match piece {
                    Piece::Word(it) => words.push(it),
                    Piece::Table(it) => tables.push(it),
                }
            }
            let mut lines = lines::gather(words);
            tables.extend(aligned::take(&mut lines));
            blocks.extend(paragraphs::blocks(lines, tables, usual));
        }
    }
    Arranged { blocks, width, height }
}
