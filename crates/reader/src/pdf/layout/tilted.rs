//! Takes text that is at an angle, or large and pale behind other text, out of a page. A pure function.
//!
//! If it were read as text of the nearest quarter turn, each of its letters would be on a separate line, among the
//! lines of the page.

use super::sheet::{Direction, DrawnPage, Glyph, Letters, PageArea};
use super::words::{self, Word};
use crate::extract::protocol::BlockPlacement;

/// Most kinds of such text on a page, by angle and size; further kinds are left in place. A page with a watermark has
/// one or two.
const MAX_KINDS: usize = 8;

/// How far the angles of one kind may differ, in degrees, and their sizes, as a factor: smaller differences are
/// rounding.
const SAME_ANGLE: f32 = 1.0;
const SAME_SIZE: f64 = 1.1;

/// Size of pale text behind other text, as a multiple of that of most text. Size or colour alone is not enough: titles
/// are large, and many are grey.
const LARGE: f64 = 2.0;

/// Fewest letters of pale text: fewer may be the number of a chapter, or a first letter.
const MIN_LETTERS: usize = 3;

/// Fewest letters that text crosses as a watermark, and the same as a share of its own letters: the heads of narrow
/// columns and the names of places on a map touch a few.
const MIN_CROSSED: usize = 3;
const MIN_CROSSED_SHARE: f64 = 0.1;

/// Most words of a kind and letters of a page that are compared, so that the time for a page is small.
const MAX_WORDS: usize = 200;
const MAX_LETTERS: usize = 20_000;

/// Height of the middle of a letter above its base line, as a fraction of the size: between those of small letters
/// and capitals.
const MIDDLE: f64 = 0.3;

/// Text of one kind that was taken out of a page.
pub(super) struct TiltedText {
    /// Its words, in a frame in which they run to the right.
    pub(super) words: Vec<Word>,
    pub(super) stance: BlockPlacement,
    angle: f64,
}

impl TiltedText {
    /// Returns the smallest area of the page around an area of the frame of the words.
    pub(super) fn on_page(&self, area: &PageArea) -> PageArea {
        let PageArea { left, top, right, bottom } = *area;
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let corners = corners.map(|(x, y)| turn(x, y, -self.angle));
        PageArea::around(corners.into_iter().map(|(x, y)| PageArea::new(x, y, x, y)))
    }
}

/// Glyphs of one kind, by their indices.
struct TiltedKind {
    angle: f32,
    size: f64,
    is_tilted: bool,
    glyphs: Vec<usize>,
}

/// Takes such text out of a page, and returns it with the rest of the page; `None` if there is none.
pub(super) fn take(sheet: &DrawnPage) -> Option<(DrawnPage, Vec<TiltedText>)> {
    if !sheet.glyphs.iter().any(|glyph| glyph.tilt != 0.0 || glyph.is_pale) {
        return None;
    }
    let kinds = kinds(sheet);
    let mut is_taken = vec![false; sheet.glyphs.len()];
    kinds.iter().flat_map(|kind| &kind.glyphs).for_each(|idx| is_taken[*idx] = true);
    let others = sheet.glyphs.iter().zip(&is_taken);
    let others = others.filter(|(glyph, is_taken)| !**is_taken && glyph.letters.is_visible());
    let others: Vec<&Glyph> = others.map(|(glyph, _)| glyph).take(MAX_LETTERS).collect();
    let mut taken = Vec::new();
    for kind in kinds {
        let angle = f64::from(kind.angle);
        let words = kind.words(sheet);
        let is_across = kind.is_across(sheet, &words, &others);
        if kind.is_tilted || is_across {
            let stance = if is_across { BlockPlacement::Across } else { BlockPlacement::Tilted };
            taken.push(TiltedText { words, stance, angle });
        } else {
            kind.glyphs.iter().for_each(|idx| is_taken[*idx] = false);
        }
    }
    if taken.is_empty() {
        return None;
    }
    let mut rest = sheet.clone();
    rest.split_off(&is_taken);
    Some((rest, taken))
}

/// Groups glyphs that are at an angle, and those that are large and pale.
fn kinds(sheet: &DrawnPage) -> Vec<TiltedKind> {
    let mut sizes: Vec<f64> =
        sheet.glyphs.iter().filter(|glyph| glyph.tilt == 0.0).map(|glyph| glyph.size).collect();
    let middle = sizes.len() / 2;
    let usual = if sizes.is_empty() {
        f64::INFINITY
    } else {
        *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    let mut kinds: Vec<TiltedKind> = Vec::new();
    for (idx, glyph) in sheet.glyphs.iter().enumerate() {
        let is_tilted = glyph.tilt != 0.0;
        let is_large_and_pale = glyph.is_pale && glyph.size >= LARGE * usual;
        if !(is_tilted || is_large_and_pale) {
            continue;
        }
        let angle = if is_tilted { glyph.tilt } else { glyph.direction.degrees() };
        let alike = kinds.iter_mut().find(|kind| {
            let (small, large) = (kind.size.min(glyph.size), kind.size.max(glyph.size));
            kind.is_tilted == is_tilted
                && (kind.angle - angle).abs() <= SAME_ANGLE
                && large <= SAME_SIZE * small
        });
        if let Some(kind) = alike {
            kind.glyphs.push(idx);
        } else if kinds.len() < MAX_KINDS {
            kinds.push(TiltedKind { angle, size: glyph.size, is_tilted, glyphs: vec![idx] });
        }
    }
    kinds
}

impl TiltedKind {
    /// Returns its words in a frame in which they run to the right.
    fn words(&self, sheet: &DrawnPage) -> Vec<Word> {
        let mut glyphs = Vec::with_capacity(self.glyphs.len());
        for idx in &self.glyphs {
            let glyph = &sheet.glyphs[*idx];
            let (x, y) = turn(glyph.x, glyph.y, self.angle.into());
            glyphs.push(Glyph { x, y, direction: Direction::Right, tilt: 0.0, ..glyph.clone() });
        }
        words::find(&DrawnPage { glyphs, ..DrawnPage::default() }, Direction::Right)
    }

    /// Whether it crosses enough of the other letters of the page.
    fn is_across(&self, sheet: &DrawnPage, words: &[Word], others: &[&Glyph]) -> bool {
        let letters = self.glyphs.iter().map(|idx| &sheet.glyphs[*idx].letters);
        let num_letters = letters.filter(|letters| letters.is_visible()).count();
        if !self.is_tilted && num_letters < MIN_LETTERS {
            return false;
        }
        let areas: Vec<PageArea> = words.iter().map(|word| word.area).take(MAX_WORDS).collect();
        let around = PageArea::around(areas.iter().copied());
        let mut num_crossed = 0;
        for glyph in others {
            let (x, y) = middle_of(glyph);
            let (x, y) = turn(x, y, self.angle.into());
            let point = PageArea::new(x, y, x, y);
            let is_crossed = (self.is_tilted || LARGE * glyph.size <= self.size)
                && around.contains_centre_of(&point)
                && areas.iter().any(|area| area.contains_centre_of(&point));
            num_crossed += usize::from(is_crossed);
        }
        num_crossed >= MIN_CROSSED && num_crossed as f64 >= MIN_CROSSED_SHARE * num_letters as f64
    }
}

impl Letters {
    fn is_visible(&self) -> bool {
        !matches!(self, Self::One(letter) if letter.is_whitespace())
    }
}

impl Direction {
    /// Returns its angle, clockwise from text to the right.
    fn degrees(self) -> f32 {
        match self {
            Self::Right => 0.0,
            Self::Down => 90.0,
            Self::Left => 180.0,
            Self::Up => -90.0,
        }
    }
}

/// Returns the middle of a letter on its page.
fn middle_of(glyph: &Glyph) -> (f64, f64) {
    let angle = f64::from(glyph.direction.degrees());
    let (x, y) = turn(glyph.advance / 2.0, -MIDDLE * glyph.size, -angle);
    (glyph.x + x, glyph.y + y)
}

/// Rotates a point so that text at an angle runs to the right.
fn turn(x: f64, y: f64, degrees: f64) -> (f64, f64) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    (x * cos + y * sin, y * cos - x * sin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::WordAccount;
    use crate::pdf::layout::{arrange, testing};

    const PROSE: [&str; 4] = [
        "the tide turns at noon and runs out for six",
        "hours and the harbour is dry until the even",
        "ing when the boats come back with the flood",
        "and moor at the quay below the old town wall",
    ];

    /// Returns a page of four lines of prose, and text in letters of a size, at an angle in degrees.
    fn page(text: &str, at: (f64, f64), degrees: f32, size: f64) -> DrawnPage {
        let lines: Vec<(&str, f64, f64)> = PROSE
            .iter()
            .zip(1_u8..)
            .map(|(line, row)| (*line, 50.0, 100.0 + 12.0 * f64::from(row)))
            .collect();
        let mut sheet = testing::sheet(&lines);
        let mut other = testing::sheet(&[(text, 0.0, 0.0)]);
        let steps =
            (0_u8..).map(|step| turn(f64::from(step) * size / 2.0, 0.0, -f64::from(degrees)));
        for (glyph, (x, y)) in other.glyphs.iter_mut().zip(steps) {
            (glyph.x, glyph.y, glyph.tilt) = (at.0 + x, at.1 + y, degrees);
            (glyph.size, glyph.advance) = (size, size / 2.0);
        }
        sheet.glyphs.extend(other.glyphs);
        sheet
    }

    /// Checks the blocks of a page, and how they stand.
    #[track_caller]
    fn check(sheet: &DrawnPage, expected: &[(&str, BlockPlacement)]) {
        let blocks = arrange(sheet, &mut WordAccount::default()).blocks;
        let found = blocks.iter().map(|block| (block.text.replace('\n', " "), block.stance));
        let expected = expected.iter().map(|(text, stance)| ((*text).to_owned(), *stance));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn text_at_an_angle_is_across_the_prose_that_it_crosses() {
        let prose = PROSE.join(" ");
        let prose = (prose.as_str(), BlockPlacement::Upright);
        check(
            &page("DRAFT", (90.0, 160.0), -40.0, 40.0),
            &[prose, ("DRAFT", BlockPlacement::Across)],
        );
        check(
            &page("DRAFT", (90.0, 105.0), 45.0, 40.0),
            &[prose, ("DRAFT", BlockPlacement::Across)],
        );
        check(
            &page("March", (90.0, 300.0), -40.0, 10.0),
            &[prose, ("March", BlockPlacement::Tilted)],
        );
    }

    #[test]
    fn large_pale_text_is_behind_the_prose_that_it_crosses() {
        let mut sheet = page("DRAFT", (90.0, 140.0), 0.0, 50.0);
        let start = sheet.glyphs.len() - 5;
        sheet.glyphs[start..].iter_mut().for_each(|glyph| glyph.is_pale = true);
        let prose = PROSE.join(" ");
        check(
            &sheet,
            &[(prose.as_str(), BlockPlacement::Upright), ("DRAFT", BlockPlacement::Across)],
        );
        sheet.glyphs[start..].iter_mut().for_each(|glyph| glyph.y = 60.0);
        check(
            &sheet,
            &[("DRAFT", BlockPlacement::Upright), (prose.as_str(), BlockPlacement::Upright)],
        );
    }
}
