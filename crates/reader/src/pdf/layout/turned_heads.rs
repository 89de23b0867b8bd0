//! Puts the heads of narrow columns, which are turned by a quarter, above their columns. A pure function.

use super::lines;
use super::sheet::{Direction, DrawnPage, PageArea};
use super::words::{ASCENT, DESCENT, Word, turn_area, turn_back};

/// Fewest and most heads of a table, and most words of a page among which they are looked for: each head is compared
/// with each word. A single turned line is the label of an axis.
const MIN_HEADS: usize = 2;
const MAX_HEADS: usize = 60;
const MAX_WORDS: usize = 5_000;

/// Longest head, as a multiple of its size; longer turned text is a note in the margin.
const MAX_LENGTH: f64 = 20.0;

/// How far below a head the first cell of its column may be, and how far to its side, as multiples of the size.
const MAX_BELOW: f64 = 3.0;
const MAX_BESIDE: f64 = 1.0;

/// Smallest common height of the heads of a table, as a fraction of that of the shorter one: they are in one row, but
/// end at different heights.
const SAME_HEIGHT: f64 = 0.5;

/// A line of turned text in the frame of the text of the page.
struct TurnedLine {
    text: String,
    area: PageArea,
    word: Word,
    /// Positions in drawing order, which identify its words.
    orders: Vec<usize>,
}

impl TurnedLine {
    /// Whether it is short, and directly above some of `words`.
    fn is_head_of(&self, words: &[Word]) -> bool {
        let size = self.word.size;
        self.area.height() <= MAX_LENGTH * size
            && words.iter().any(|word| {
                (-size..=MAX_BELOW * size).contains(&(word.area.top - self.area.bottom))
                    && word.area.shared_width(&self.area) > -MAX_BESIDE * size
            })
    }

    fn is_in_row_of(&self, other: &Self) -> bool {
        let shorter = self.area.height().min(other.area.height());
        self.area.shared_height(&other.area) >= SAME_HEIGHT * shorter
    }
}

/// Moves the heads of columns from turned text to `words`, which run in the direction `main`.
pub(super) fn put_upright(
    sheet: &DrawnPage,
    main: Direction,
    words: &mut Vec<Word>,
    turned: Direction,
    turned_words: &mut Vec<Word>,
) {
    if main.is_level() == turned.is_level()
        || words.len() > MAX_WORDS
        || turned_words.len() > MAX_WORDS
    {
        return;
    }
    let lines = lines::gather(turned_words.clone()).into_iter().filter_map(|line| {
        let text = line.text();
        let area = turn_area(sheet, main, turn_back(sheet, turned, line.area));
        let orders = line.words.iter().map(|word| word.order).collect();
        let word = line.words.into_iter().next()?;
        Some(TurnedLine { text, area, word, orders })
    });
    let mut heads: Vec<TurnedLine> =
        lines.filter(|line| line.is_head_of(words)).take(MAX_HEADS).collect();
    heads.sort_by(|a, b| a.area.left.total_cmp(&b.area.left));
    let next_order = words.iter().map(|word| word.order + 1).max().unwrap_or_default();
    let mut upright: Vec<Word> = Vec::new();
    for row in heads.chunk_by(TurnedLine::is_in_row_of).filter(|row| row.len() >= MIN_HEADS) {
        let area = PageArea::around(row.iter().map(|head| head.area));
        // Other heads of the table are not turned.
        let level = words
            .iter()
            .filter(|word| (area.top..=area.bottom + DESCENT * word.size).contains(&word.base));
        let base = level.map(|word| word.base).reduce(f64::max).unwrap_or(area.bottom);
        for head in row {
            let size = head.word.size;
            let area =
                PageArea { top: base - ASCENT * size, bottom: base + DESCENT * size, ..head.area };
            let order = next_order + upright.len();
            let text = head.text.clone();
            upright.push(Word { text, area, base, order, pitch: None, ..head.word.clone() });
            turned_words.retain(|word| !head.orders.contains(&word.order));
        }
    }
    words.extend(upright);
}

impl Direction {
    fn is_level(self) -> bool {
        matches!(self, Self::Right | Self::Left)
    }
}

#[cfg(test)]
mod tests {
    use crate::document::WordAccount;
    use crate::pdf::layout::sheet::{Direction, DrawnPage};
    use crate::pdf::layout::{arrange, testing};

    /// Returns a page with these words upwards from positions on it, above level text.
    fn page(turned: &[(&str, f64, f64)], level: &[(&str, f64, f64)]) -> DrawnPage {
        let mut sheet = testing::sheet(level);
        for (text, left, bottom) in turned {
            let mut glyphs = testing::sheet(&[(text, 0.0, 0.0)]).glyphs;
            for (at, glyph) in (0_u8..).zip(&mut glyphs) {
                (glyph.x, glyph.y) = (*left, bottom - testing::WIDTH * f64::from(at));
                glyph.direction = Direction::Up;
            }
            sheet.glyphs.extend(glyphs);
        }
        sheet
    }

    #[track_caller]
    fn check(sheet: &DrawnPage, expected: &[&str]) {
        let blocks = arrange(sheet, &mut WordAccount::default()).blocks;
        let found: Vec<String> = blocks.into_iter().map(|block| block.text).collect();
        assert_eq!(found, expected);
    }

    const ROWS: [(&str, f64, f64); 10] = [
        ("Goods", 50.0, 200.0),
        ("Wool", 50.0, 212.0),
        ("12", 150.0, 212.0),
        ("9", 200.0, 212.0),
        ("Coal", 50.0, 224.0),
        ("14", 150.0, 224.0),
        ("7", 200.0, 224.0),
        ("Timber", 50.0, 236.0),
        ("10", 150.0, 236.0),
        ("5", 200.0, 236.0),
    ];

    #[test]
    fn turned_heads_are_the_head_row() {
        let heads = [("Weighed", 158.0, 200.0), ("Not stored", 206.0, 200.0)];
        check(
            &page(&heads, &ROWS),
            &["| Goods | Weighed | Not stored |\n| --- | --- | --- |\n| Wool | 12 | 9 |\n\
               | Coal | 14 | 7 |\n| Timber | 10 | 5 |"],
        );
    }

    #[test]
    fn the_label_of_an_axis_stays_apart() {
        let label = [("Tonnes", 30.0, 220.0)];
        let blocks = arrange(&page(&label, &ROWS), &mut WordAccount::default()).blocks;
        assert_eq!(blocks.last().map(|block| block.text.as_str()), Some("Tonnes"));
    }
}
