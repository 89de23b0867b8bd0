//! Computes the position of each glyph of a run.

use hayro::hayro_interpret::font::{Glyph as DrawnGlyph, GlyphRun};
use hayro::hayro_interpret::hayro_cmap::WritingMode;
use hayro::kurbo::{Affine, Point, Vec2};

use crate::pdf::layout::sheet::Direction;

/// Units of glyph space per font size.
const UNITS: f64 = 1000.0;

/// Slope above which text is at an angle, about 8 degrees; pages that are scanned askew have up to 5.
const MIN_SLOPE: f64 = 0.14;

impl Direction {
    /// Returns the line direction of upright glyphs in vertical lines.
    fn turned(self) -> Self {
        match self {
            Self::Right => Self::Down,
            Self::Down => Self::Left,
            Self::Left => Self::Up,
            Self::Up => Self::Right,
        }
    }
}

/// The position of a glyph of a run.
pub(super) struct GlyphPosition {
    pub(super) origin: Point,
    /// Unit of glyph space along the line, multiplied by a thousand.
    along: Vec2,
    pub(super) size: f64,
    pub(super) advance: f64,
    is_vertical: bool,
}

impl GlyphPosition {
    /// Returns the direction of its text.
    pub(super) fn direction(&self) -> Direction {
        let direction = direction_of(self.along);
        if self.is_vertical { direction.turned() } else { direction }
    }

    /// Returns the direction of text at an angle, in degrees; 0 for other text, and for vertical lines.
    pub(super) fn tilt(&self) -> f32 {
        let (long, short) = (
            self.along.x.abs().max(self.along.y.abs()),
            self.along.x.abs().min(self.along.y.abs()),
        );
        if self.is_vertical || short <= MIN_SLOPE * long {
            return 0.0;
        }
        #[expect(clippy::cast_possible_truncation, reason = "an angle")]
        let degrees = self.along.y.atan2(self.along.x).to_degrees() as f32;
        if degrees.is_finite() { degrees } else { 0.0 }
    }
}

/// Computes the positions of the glyphs of a run.
///
/// The glyphs of a substitute font are stretched to the widths in the file, so the width of a glyph
/// is either the stretched width or the width in the font. The position of the next glyph shows
/// which one applies.
pub(super) fn place(run: &GlyphRun<'_, '_>, transform: Affine) -> Vec<GlyphPosition> {
    let is_vertical = run.writing_mode() == WritingMode::Vertical;
    let frames: Vec<Affine> =
        run.glyphs().iter().map(|glyph| transform * glyph.transform()).collect();
    let mut placed = Vec::with_capacity(frames.len());
    for (at, (glyph, frame)) in run.glyphs().iter().zip(&frames).enumerate() {
        let [a, b, c, d, x, y] = frame.as_coeffs();
        let (along, across) = (Vec2::new(a, b) * UNITS, Vec2::new(c, d) * UNITS);
        let width = match &**glyph {
            DrawnGlyph::Outline(outline) => outline.advance_width(),
            DrawnGlyph::Type3(outline) => outline.advance_width(),
        };
        let width = f64::from(width.unwrap_or_default()) / UNITS;
        let next = frames.get(at + 1).map(|next| {
            let [.., next_x, next_y] = next.as_coeffs();
            Vec2::new(next_x - x, next_y - y).hypot()
        });
        let size = across.hypot();
        let (stretched, stated) = (along.hypot() * width, size * width);
        let advance = match next {
            _ if is_vertical => size,
            Some(next) if (next - stated).abs() < (next - stretched).abs() => stated,
            _ => stretched,
        };
        let origin = Point::new(x, y);
        placed.push(GlyphPosition { origin, along, size, advance, is_vertical });
    }
    if is_vertical {
        // The origin is the upper left corner of the glyph; the axis of the line is its middle.
        for glyph in &mut placed {
            glyph.origin += glyph.along * 0.5;
        }
    }
    placed
}

fn direction_of(along: Vec2) -> Direction {
    match (along.x.abs() >= along.y.abs(), along.x >= 0.0, along.y >= 0.0) {
        (true, true, _) => Direction::Right,
        (true, false, _) => Direction::Left,
        (false, _, true) => Direction::Down,
        (false, _, false) => Direction::Up,
    }
}
