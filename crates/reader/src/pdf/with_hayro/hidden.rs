//! Removes text that a page draws but does not show: in the invisible mode, in white on white, or
//! in tiny letters.
//!
//! Programs write alphabets this way to register their fonts, and authors write text that readers should not see.
//! Invisible or white text at the place of a picture is kept, whichever of them is drawn first: it is the text of the
//! scan.

use std::ops::Range;

use hayro::hayro_interpret::{DrawMode, Paint};
use hayro::kurbo::{Point, Rect};

use crate::pdf::layout::sheet::{DrawnPage, Glyph, PageArea};

/// Most areas of one kind that are kept per page, as each run of text is compared with them; beyond, nothing is taken
/// for hidden.
const MAX_AREAS: usize = 1_000;

/// Opacity below which nothing is seen.
const MIN_OPACITY: f32 = 0.02;

/// Lightness from which a colour is white, from 0 for black to 1 for white.
const MIN_WHITE: f32 = 0.99;

/// Lightness on white paper from which text is pale.
const MIN_PALE: f32 = 0.5;

/// Longest white text that may be a number in a circle, whose circle is a glyph, in glyphs.
const MAX_BADGE: usize = 3;

/// Largest font that is too small to be read, and smallest that shows that the whole page is not
/// just small, in points.
const TINY: f64 = 1.5;
const LEGIBLE: f64 = 5.0;

/// Fewest visible glyphs per hidden one: a page with fewer is drawn without text, such as a page of
/// outlines, and its hidden text is what it says.
const MIN_VISIBLE: f64 = 0.1;

/// The content that a page hides. Glyphs are ranges of those of its [`DrawnPage`].
#[derive(Debug, Default)]
pub(super) struct HiddenContent {
    invisible: Vec<Range<usize>>,
    white: Vec<Range<usize>>,
    pictures: Vec<PageArea>,
    /// Areas in colours other than white.
    grounds: Vec<PageArea>,
    /// Index of the first invisible run after which nothing else was drawn, so that it may turn out
    /// to be the outline of a clip.
    pending: usize,
}

impl HiddenContent {
    /// Adds a run of glyphs that was just drawn.
    pub(super) fn add_run(
        &mut self,
        glyphs: &[Glyph],
        run: Range<usize>,
        mode: &DrawMode,
        paint: &Paint<'_>,
    ) {
        let Some([first, .., last] | [first @ last]) = glyphs.get(run.clone()) else { return };
        let (lightness, opacity) = appearance(paint);
        if matches!(mode, DrawMode::Invisible) || opacity < MIN_OPACITY {
            self.invisible.push(run);
            return;
        }
        self.pending = self.invisible.len();
        if lightness >= MIN_WHITE
            && run.len() > MAX_BADGE
            && self.grounds.len() < MAX_AREAS
            && !is_on(first, &self.grounds)
            && !is_on(last, &self.grounds)
        {
            self.white.push(run);
        }
    }

    /// Records that the last run got an outline in `paint`, which shows it.
    pub(super) fn outline_last(&mut self, paint: &Paint<'_>) {
        let (lightness, opacity) = appearance(paint);
        if lightness < MIN_WHITE && opacity >= MIN_OPACITY {
            self.white.pop();
        }
    }

    /// Adds an area that a picture covers.
    pub(super) fn add_picture(&mut self, area: Rect) {
        self.pending = self.invisible.len();
        let area = PageArea::new(area.x0, area.y0, area.x1, area.y1);
        push(&mut self.pictures, area);
        push(&mut self.grounds, area);
    }

    /// Adds an area that is filled with `paint`.
    pub(super) fn add_ground(&mut self, area: PageArea, paint: &Paint<'_>) {
        self.pending = self.invisible.len();
        let (lightness, opacity) = appearance(paint);
        if lightness < MIN_WHITE && opacity >= MIN_OPACITY {
            push(&mut self.grounds, area);
        }
    }

    /// Records that drawing is clipped to `area`: text in the clipping mode, which is drawn as
    /// invisible text, becomes the shape of what is drawn next.
    pub(super) fn clip_to(&mut self, glyphs: &[Glyph], area: Rect) {
        let mut at = 0;
        let pending = self.pending;
        self.invisible.retain(|run| {
            at += 1;
            at <= pending
                || !glyphs
                    .get(run.start)
                    .is_some_and(|glyph| area.inflate(1.0, glyph.size).contains((glyph.x, glyph.y)))
        });
        self.pending = self.invisible.len();
    }

    /// Removes hidden glyphs from a page that is drawn completely, and returns them.
    pub(super) fn remove_from(self, sheet: &mut DrawnPage) -> DrawnPage {
        let mut is_hidden = vec![false; sheet.glyphs.len()];
        for run in self.invisible.iter().chain(&self.white) {
            let mut ends = [run.start, run.end - 1].into_iter().map(|at| &sheet.glyphs[at]);
            let is_at_picture =
                self.pictures.len() >= MAX_AREAS || ends.any(|glyph| is_on(glyph, &self.pictures));
            if !is_at_picture {
                is_hidden[run.clone()].fill(true);
            }
        }
        if sheet.glyphs.iter().any(|glyph| glyph.size >= LEGIBLE) {
            for (glyph, is_hidden) in sheet.glyphs.iter().zip(&mut is_hidden) {
                *is_hidden |= glyph.size < TINY;
            }
        }
        let num_hidden = is_hidden.iter().filter(|is_hidden| **is_hidden).count();
        let num_visible = is_hidden.len() - num_hidden;
        if num_visible as f64 >= MIN_VISIBLE * num_hidden as f64 {
            sheet.split_off(&is_hidden)
        } else {
            DrawnPage::default()
        }
    }
}

/// Whether a paint is much lighter than text on white: grey, a pale colour, or one that the ground shows through.
pub(super) fn is_pale(paint: &Paint<'_>) -> bool {
    let (lightness, opacity) = appearance(paint);
    1.0 - opacity * (1.0 - lightness) >= MIN_PALE
}

fn push(areas: &mut Vec<PageArea>, area: PageArea) {
    if areas.len() < MAX_AREAS {
        areas.push(area);
    }
}

fn is_on(glyph: &Glyph, areas: &[PageArea]) -> bool {
    contains(areas, Point::new(glyph.x, glyph.y))
}

fn contains(areas: &[PageArea], point: Point) -> bool {
    areas.iter().any(|area| {
        (area.left..=area.right).contains(&point.x) && (area.top..=area.bottom).contains(&point.y)
    })
}

/// Returns how light and how opaque a paint is, 0 to 1. A pattern is dark.
fn appearance(paint: &Paint<'_>) -> (f32, f32) {
    let Paint::Color(color) = paint else { return (0.0, 1.0) };
    let [red, green, blue, opacity] = color.to_rgba().components();
    (0.3 * red + 0.59 * green + 0.11 * blue, opacity)
}
