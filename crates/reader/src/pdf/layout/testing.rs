//! Creates pages drawn with letters, for tests: a character is 5 points wide, a line is 12 high,
//! the size is 10.

use super::lines::{self, TextLine};
use super::sheet::{Direction, DrawnPage, Glyph, Letters, PageArea};
use super::words::{ASCENT, DESCENT, Word};

pub(super) const WIDTH: f64 = 5.0;
pub(super) const HEIGHT: f64 = 12.0;
pub(super) const SIZE: f64 = 10.0;

/// Returns a word at a position.
pub(super) fn word(text: &str, left: f64, base: f64, size: f64) -> Word {
    let right = left + WIDTH * text.chars().count() as f64 * size / SIZE;
    Word {
        text: text.to_owned(),
        area: PageArea::new(left, base - ASCENT * size, right, base + DESCENT * size),
        base,
        size,
        ink: 0.0,
        is_bold: false,
        is_mono: false,
        tagged_level: 0,
        pitch: None,
        shows_fixed_pitch: false,
        order: 0,
        is_after_space: false,
        is_entry: false,
    }
}

/// Returns the words of a picture of a page, at the positions of their letters.
pub(super) fn words(picture: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (row, line) in picture.lines().enumerate() {
        let mut column = 0;
        for text in line.split(' ') {
            if !text.is_empty() {
                let base = HEIGHT * (row + 1) as f64;
                let order = words.len();
                words.push(Word { order, ..word(text, WIDTH * column as f64, base, SIZE) });
            }
            column += text.chars().count() + 1;
        }
    }
    words
}

/// Returns the lines of a picture.
pub(super) fn lines(picture: &str) -> Vec<TextLine> {
    lines::gather(words(picture))
}

/// Returns a horizontal rule under a row of a picture, from one column to another.
pub(super) fn level(row: f64, from: usize, to: usize) -> PageArea {
    let at = HEIGHT * row + 3.0;
    PageArea::new(WIDTH * from as f64 - 2.0, at, WIDTH * to as f64 - 2.0, at)
}

/// Returns a vertical rule before a column of a picture, from under one row to under another.
pub(super) fn upright(column: usize, from: f64, to: f64) -> PageArea {
    let at = WIDTH * column as f64 - 2.0;
    PageArea::new(at, HEIGHT * from + 3.0, at, HEIGHT * to + 3.0)
}

/// Returns a page with text drawn letter by letter from given positions.
pub(super) fn sheet(texts: &[(&str, f64, f64)]) -> DrawnPage {
    let mut sheet = DrawnPage { width: 600.0, height: 800.0, ..DrawnPage::default() };
    for &(text, left, base) in texts {
        for (at, letter) in text.chars().enumerate() {
            sheet.glyphs.push(Glyph {
                letters: Letters::One(letter),
                direction: Direction::Right,
                tilt: 0.0,
                x: left + WIDTH * at as f64,
                y: base,
                advance: WIDTH,
                size: SIZE,
                ink: 0.0,
                is_pale: false,
                is_bold: false,
                tagged_level: 0,
                is_entry: false,
            });
        }
    }
    sheet
}
