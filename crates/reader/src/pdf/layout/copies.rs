//! Removes letters that are drawn twice, a little apart, to look bold or to cast a shadow.

use std::collections::HashMap;

use super::sheet::{Direction, DrawnPage, Glyph, Letters};

/// How far a copy may be from its letter, as a fraction of the size and of the letter's width: the
/// next letter may be the same one.
const MAX_SHIFT: f64 = 0.2;
const MAX_WIDTHS: f64 = 0.5;

/// A shorter shift, as a fraction of the size, does not make a letter look bold.
const MIN_SHIFT: f64 = 0.005;

/// Most letters of a page near one place that are compared: a hostile page may draw the same letter at one place a
/// million times.
const MAX_NEAR: usize = 50;

/// The properties that copies have in common: the letters, their direction, and the cell of a grid in which they are.
#[derive(PartialEq, Eq, Hash)]
struct CopyKey<'a> {
    letters: &'a Letters,
    direction: Direction,
    cell: [u64; 2],
}

impl<'a> CopyKey<'a> {
    /// Returns the key of a glyph, or of one some `steps` of the grid to the right and down.
    fn of(glyph: &'a Glyph, reach: f64, steps: [f64; 2]) -> Self {
        let cell = [cell(glyph.x, reach, steps[0]), cell(glyph.y, reach, steps[1])];
        Self { letters: &glyph.letters, direction: glyph.direction, cell }
    }
}

fn cell(at: f64, reach: f64, step: f64) -> u64 {
    // Adding zero turns `-0.0` into `0.0`, which has other bits.
    ((at / reach).round() + step + 0.0).to_bits()
}

/// Removes the copies from a page, and returns them; a letter with copies that are not exactly on it is bold.
pub(crate) fn remove(sheet: &mut DrawnPage) -> DrawnPage {
    let mut kept: HashMap<CopyKey<'_>, Vec<usize>> = HashMap::new();
    let (mut is_copy, mut bold) = (vec![false; sheet.glyphs.len()], Vec::new());
    for (idx, glyph) in sheet.glyphs.iter().enumerate() {
        let reach = (MAX_SHIFT * glyph.size).min(MAX_WIDTHS * glyph.advance);
        if reach <= 0.0 || !reach.is_finite() || glyph.letters == Letters::Unknown {
            continue;
        }
        let steps = [-1.0, 0.0, 1.0];
        let near = steps
            .iter()
            .flat_map(|right| steps.map(|down| CopyKey::of(glyph, reach, [*right, down])));
        let near = near.filter_map(|key| kept.get(&key)).flatten().take(MAX_NEAR);
        let first = near.copied().find(|other| shift(&sheet.glyphs[*other], glyph) <= reach);
        if let Some(first) = first {
            is_copy[idx] = true;
            if shift(&sheet.glyphs[first], glyph) > MIN_SHIFT * glyph.size {
                bold.push(first);
            }
        } else {
            kept.entry(CopyKey::of(glyph, reach, [0.0; 2])).or_default().push(idx);
        }
    }
    for idx in bold {
        sheet.glyphs[idx].is_bold = true;
    }
    sheet.split_off(&is_copy)
}

/// Returns the distance between two glyphs.
fn shift(one: &Glyph, other: &Glyph) -> f64 {
    (one.x - other.x).hypot(one.y - other.y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing::sheet;

    /// Checks the letters of a page without copies, in drawing order; bold ones are in upper case.
    #[track_caller]
    fn check(texts: &[(&str, f64, f64)], expected: &str) {
        let mut page = sheet(texts);
        remove(&mut page);
        let letter = |glyph: &Glyph| match glyph.letters {
            Letters::One(letter) if glyph.is_bold => letter.to_ascii_uppercase(),
            Letters::One(letter) => letter,
            _ => '?',
        };
        assert_eq!(page.glyphs.iter().map(letter).collect::<String>(), expected);
    }

    #[test]
    fn a_letter_drawn_twice_is_one_bold_letter() {
        check(&[("t", 0.0, 10.0), ("t", 0.3, 10.0), ("o", 5.0, 10.0), ("o", 5.3, 10.0)], "TO");
        check(&[("tide", 0.0, 10.0), ("tide", 0.4, 10.2), ("on", 30.0, 10.0)], "TIDEon");
    }

    #[test]
    fn a_letter_drawn_twice_at_one_place_is_not_bold() {
        check(&[("tide", 0.0, 10.0), ("tide", 0.0, 10.0)], "tide");
    }

    #[test]
    fn equal_letters_in_a_row_stay() {
        check(&[("ill", 0.0, 10.0), ("l", 14.0, 10.0), ("l", 14.0, 13.0)], "illll");
    }
}
