//! Groups glyphs into words at their positions.
//!
//! Glyphs are joined in drawing order, which nearly every program keeps within a line. Words end at
//! spaces and at gaps.

use super::placed::{MAX_STRIP_GAP, PlacedGlyph};
use super::script;
use super::sheet::{Direction, DrawnPage, PageArea};
use super::spaces::{self, Gaps};

/// A word on a page, in a coordinate frame in which its text runs to the right.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) area: PageArea,
    /// Its base line.
    pub(crate) base: f64,
    /// Height of its font.
    pub(crate) size: f64,
    /// Fraction of its letters' boxes that is inked; 0 if unknown.
    pub(crate) ink: f64,
    pub(crate) is_bold: bool,
    /// Whether its font is monospaced.
    pub(crate) is_mono: bool,
    /// Level of the heading that it is tagged as part of; 0 for none.
    pub(crate) tagged_level: u8,
    /// Width of its glyphs as a fraction of the size, if all are equal.
    pub(crate) pitch: Option<f64>,
    /// Whether it has letters that differ in width in most fonts.
    pub(crate) shows_fixed_pitch: bool,
    /// Position in drawing order.
    pub(crate) order: usize,
    /// Whether a space is drawn before it.
    pub(crate) is_after_space: bool,
    /// Whether it is what somebody has put into a field of a form.
    pub(crate) is_entry: bool,
}

/// Height of letters above and below the base line, as fractions of the size.
pub(crate) const ASCENT: f64 = 0.72;
pub(crate) const DESCENT: f64 = 0.2;

/// Ink density of bold text, relative to that of most text on the page. Fonts without names are bold only by their
/// ink.
pub(super) const BOLD_INK: f64 = 1.22;

/// Largest overlap of glyphs in one strip, as a fraction of the size: accents and kerned letters overlap, and a jump
/// farther back begins another line.
const MAX_OVERLAP: f64 = 0.6;

/// Distance from the line, as a fraction of the size, beyond which a glyph is raised or lowered.
const MAX_RISE: f64 = 0.2;

/// How far the widths of glyphs of one monospaced font may differ, as a fraction of the size: widths in a file are
/// rounded to thousandths of it.
const SAME_PITCH: f64 = 0.006;

/// Returns the words of a page whose text runs in `direction`, in drawing order, in a coordinate
/// frame in which it runs to the right.
pub(crate) fn find(sheet: &DrawnPage, direction: Direction) -> Vec<Word> {
    let mut words = Vec::new();
    let mut strip: Vec<PlacedGlyph<'_>> = Vec::new();
    for glyph in sheet.glyphs.iter().filter(|glyph| glyph.direction == direction) {
        let is_finite =
            [glyph.x, glyph.y, glyph.advance, glyph.size].iter().all(|number| number.is_finite());
        if !is_finite || glyph.size <= 0.0 {
            continue;
        }
        let (left, base) = turn(sheet, direction, glyph.x, glyph.y);
        let placed = PlacedGlyph { glyph, text: &glyph.letters, left, base };
        if strip.last().is_some_and(|last| !continues(last, &placed)) {
            split_strip(&mut strip, &mut words);
        }
        strip.push(placed);
    }
    split_strip(&mut strip, &mut words);
    mark_monospaced(&mut words);
    words
}

/// Removes the words whose centres are in an area, and returns them.
pub(super) fn take_inside(words: &mut Vec<Word>, area: PageArea) -> Vec<Word> {
    words.extract_if(.., |word| area.contains_centre_of(&word.area)).collect()
}

/// Marks the words in monospaced fonts: those whose glyphs are as wide as those of words in which
/// narrow letters are as wide as others. Fonts of programs that draw PDF often have no names.
fn mark_monospaced(words: &mut [Word]) {
    let mut pitches: Vec<f64> = words
        .iter()
        .filter(|word| has_narrow_and_wide(&word.text))
        .filter_map(|word| word.pitch)
        .collect();
    pitches.sort_by(f64::total_cmp);
    pitches.dedup_by(|a, b| (*a - *b).abs() < SAME_PITCH);
    for word in words {
        word.is_mono = word
            .pitch
            .is_some_and(|pitch| pitches.iter().any(|known| (known - pitch).abs() < SAME_PITCH));
    }
}

/// Whether a text has letters that are narrow in proportional fonts, and letters that are not.
fn has_narrow_and_wide(text: &str) -> bool {
    text.contains(is_narrow) && text.contains(|c: char| c.is_ascii_alphabetic() && !is_narrow(c))
}

fn is_narrow(c: char) -> bool {
    matches!(c, 'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | '-')
}

/// Rotates a point so that text in `direction` runs to the right.
pub(super) fn turn(sheet: &DrawnPage, direction: Direction, x: f64, y: f64) -> (f64, f64) {
    match direction {
        Direction::Right => (x, y),
        Direction::Down => (y, sheet.width - x),
        Direction::Left => (sheet.width - x, sheet.height - y),
        Direction::Up => (sheet.height - y, x),
    }
}

/// Rotates an area in the same way as text in `direction`.
pub(crate) fn turn_area(sheet: &DrawnPage, direction: Direction, area: PageArea) -> PageArea {
    let (x0, y0) = turn(sheet, direction, area.left, area.top);
    let (x1, y1) = turn(sheet, direction, area.right, area.bottom);
    PageArea::new(x0, y0, x1, y1)
}

/// Undoes [`turn_area`].
pub(super) fn turn_back(sheet: &DrawnPage, direction: Direction, area: PageArea) -> PageArea {
    let turned = DrawnPage { width: sheet.height, height: sheet.width, ..DrawnPage::default() };
    match direction {
        Direction::Right | Direction::Left => turn_area(sheet, direction, area),
        Direction::Down => turn_area(&turned, Direction::Up, area),
        Direction::Up => turn_area(&turned, Direction::Down, area),
    }
}

/// Whether a glyph is next to the one drawn before it, on either side.
fn continues(last: &PlacedGlyph<'_>, next: &PlacedGlyph<'_>) -> bool {
    let size = last.glyph.size.max(next.glyph.size);
    let is_level = (last.base - next.base).abs() <= MAX_RISE * size;
    // A raised number or an initial is a separate word; small capitals are not.
    let is_alike = last.glyph.size.min(next.glyph.size) >= 0.8 * size
        && last.glyph.tagged_level == next.glyph.tagged_level;
    let is_near = |gap: f64| (-MAX_OVERLAP * size..=MAX_STRIP_GAP * size).contains(&gap);
    let is_backward = is_near(last.left - next.right())
        && [last, next].iter().any(|placed| placed.character().is_some_and(script::is_rtl));
    is_level && is_alike && (is_near(next.left - last.right()) || is_backward)
}

fn split_strip(strip: &mut Vec<PlacedGlyph<'_>>, words: &mut Vec<Word>) {
    let is_rtl = strip.iter().any(|placed| placed.character().is_some_and(script::is_rtl));
    if is_rtl {
        sort_from_left(strip);
    }
    let gaps = if is_rtl { Gaps::of_rtl(strip) } else { Gaps::of(strip) };
    let mut after_space = false;
    let mut word = Vec::new();
    let mut starts_after_space = false;
    for placed in strip.drain(..) {
        if placed.is_space() {
            after_space = true;
            continue;
        }
        if word.last().is_some_and(|last| gaps.end_word(last, &placed, after_space)) {
            push(&word, starts_after_space, gaps.narrow, words);
            word.clear();
        }
        if word.is_empty() {
            // Sorted by position, a space need not be between the letters around it.
            starts_after_space = after_space && !is_rtl;
        }
        after_space = false;
        word.push(placed);
    }
    push(&word, starts_after_space, gaps.narrow, words);
}

/// Sorts the glyphs of a strip by position; a combining mark stays after its letter.
fn sort_from_left(strip: &mut Vec<PlacedGlyph<'_>>) {
    let mut letters: Vec<Vec<PlacedGlyph<'_>>> = Vec::new();
    for placed in strip.drain(..) {
        let is_mark = placed.character().is_some_and(script::is_mark);
        match letters.last_mut() {
            Some(letter) if is_mark => letter.push(placed),
            _ => letters.push(vec![placed]),
        }
    }
    letters.sort_by(|a, b| a[0].left.total_cmp(&b[0].left));
    strip.extend(letters.into_iter().flatten());
}

/// Whether equal glyph widths are significant: digits have equal widths in every font.
fn has_different_letters(text: &str) -> bool {
    let mut letters = text.chars().filter(char::is_ascii_alphabetic);
    letters.next().is_some_and(|first| letters.any(|letter| letter != first))
}

fn push(glyphs: &[PlacedGlyph<'_>], is_after_space: bool, narrow: f64, words: &mut Vec<Word>) {
    let (Some(first), Some(last)) = (glyphs.first(), glyphs.last()) else { return };
    let size = first.glyph.size;
    let text = spaces::text_of(glyphs, narrow);
    let (mut inked, mut width) = (0.0, 0.0);
    for placed in glyphs {
        if placed.glyph.ink > 0.0 && placed.character().is_some_and(char::is_alphabetic) {
            inked += placed.glyph.ink * placed.glyph.advance;
            width += placed.glyph.advance;
        }
    }
    let (narrowest, widest) =
        glyphs.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), placed| {
            (low.min(placed.glyph.advance), high.max(placed.glyph.advance))
        });
    // An entry says nothing about the widths of letters.
    let is_entry = first.glyph.is_entry;
    let left = glyphs.iter().map(|placed| placed.left).fold(first.left, f64::min);
    let right = glyphs.iter().map(PlacedGlyph::right).fold(last.right(), f64::max);
    words.push(Word {
        area: PageArea::new(left, first.base - ASCENT * size, right, first.base + DESCENT * size),
        base: first.base,
        size,
        ink: if width > 0.0 { inked / width } else { 0.0 },
        is_bold: glyphs.iter().filter(|placed| placed.glyph.is_bold).count() * 2 > glyphs.len(),
        is_mono: false,
        tagged_level: first.glyph.tagged_level,
        pitch: (widest - narrowest < 0.02 * size && !is_entry).then_some(widest / size),
        shows_fixed_pitch: has_different_letters(&text) && !is_entry,
        text,
        order: words.len(),
        is_after_space,
        is_entry,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing::sheet;

    #[track_caller]
    fn check(sheet: &DrawnPage, expected: &[&str]) {
        let words = find(sheet, Direction::Right);
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(words, expected);
    }

    #[test]
    fn words_end_at_spaces_and_at_gaps() {
        check(&sheet(&[("the tide", 0.0, 10.0)]), &["the", "tide"]);
        check(&sheet(&[("the", 0.0, 10.0), ("tide", 17.0, 10.0)]), &["the", "tide"]);
        check(&sheet(&[("the", 0.0, 10.0), ("tide", 15.5, 10.0)]), &["thetide"]);
        check(&sheet(&[("the", 0.0, 10.0), ("tide", 0.0, 22.0)]), &["the", "tide"]);
    }

    #[test]
    fn letter_spaced_text_is_one_word() {
        let spaced: Vec<(String, f64)> = "HARBOUR"
            .chars()
            .zip(0..)
            .map(|(letter, at)| (letter.to_string(), f64::from(at) * 8.0))
            .collect();
        let mut texts: Vec<(&str, f64, f64)> =
            spaced.iter().map(|(letter, left)| (letter.as_str(), *left, 10.0)).collect();
        texts.push(("A", 70.0, 10.0));
        check(&sheet(&texts), &["HARBOUR", "A"]);
    }

    #[test]
    fn dot_leaders_do_not_widen_the_gaps_between_words() {
        let mut texts = vec![("the", 0.0, 10.0), ("tide", 17.0, 10.0)];
        texts.extend((0..20).map(|at| (".", 45.0 + 8.0 * f64::from(at), 10.0)));
        let dots = vec!["."; 20];
        check(&sheet(&texts), &[&["the", "tide"], dots.as_slice()].concat());
    }

    #[test]
    fn a_space_that_was_moved_back_over_does_not_end_a_word() {
        check(&sheet(&[("ti ", 0.0, 10.0), ("de", 10.0, 10.0)]), &["tide"]);
    }

    #[test]
    fn words_of_equal_widths_are_monospaced() {
        let mut page = sheet(&[("tide", 0.0, 10.0), ("on", 30.0, 10.0), ("mop", 60.0, 10.0)]);
        page.glyphs[6].advance = 7.0;
        let found: Vec<bool> =
            find(&page, Direction::Right).iter().map(|word| word.is_mono).collect();
        assert_eq!(found, [true, true, false]);
        // In some proportional fonts, these letters are as wide as each other.
        let words = find(&sheet(&[("on", 30.0, 10.0)]), Direction::Right);
        assert!(!words[0].is_mono);
    }

    #[test]
    fn right_to_left_letters_form_a_word() {
        let hebrew = ["\u{5D0}", "\u{5D1}", "\u{5D2}"];
        let texts = [(hebrew[0], 20.0, 10.0), (hebrew[1], 15.0, 10.0), (hebrew[2], 10.0, 10.0)];
        check(&sheet(&texts), &["\u{5D0}\u{5D1}\u{5D2}"]);
    }

    #[test]
    fn narrow_gaps_of_right_to_left_text_are_not_spaces() {
        let letters = ["\u{5D0}", "\u{5D1}", "\u{5D2}", "\u{5D3}"];
        let lefts = [26.2, 20.0, 15.0, 10.0];
        let texts: Vec<(&str, f64, f64)> =
            letters.iter().zip(lefts).map(|(letter, left)| (*letter, left, 10.0)).collect();
        check(&sheet(&texts), &["\u{5D0}\u{5D1}\u{5D2}\u{5D3}"]);
    }

    #[test]
    fn upward_text_is_rotated_to_the_right() {
        let mut up = sheet(&[("tide", 0.0, 10.0)]);
        for (at, glyph) in (0_u8..).zip(&mut up.glyphs) {
            (glyph.direction, glyph.x, glyph.y) =
                (Direction::Up, 50.0, 700.0 - 5.0 * f64::from(at));
        }
        let words = find(&up, Direction::Up);
        assert_eq!((words[0].text.as_str(), words[0].base), ("tide", 50.0));
        assert!((words[0].area.left - 100.0).abs() < 0.01);
        check(&up, &[]);
    }

    #[test]
    fn glyphs_without_a_position_are_left_out() {
        let mut broken = sheet(&[("tide", 0.0, 10.0)]);
        (broken.glyphs[0].x, broken.glyphs[1].size) = (f64::NAN, 0.0);
        check(&broken, &["de"]);
    }
}
