//! Defines a page as it is drawn, before layout analysis.
//!
//! Lengths are in points (1/72 inch); `y` grows downwards from the upper edge of the page.

/// The divisor that converts lengths to inches.
pub(crate) const POINTS_PER_INCH: f64 = 72.0;

/// A page as it is drawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct DrawnPage {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// In drawing order.
    pub(crate) glyphs: Vec<Glyph>,
    /// How many of the glyphs, the first ones, are drawn by the page itself; the others by its annotations.
    pub(crate) num_of_page: usize,
    /// Thin lines, horizontal or vertical.
    pub(crate) rules: Vec<PageArea>,
}

impl DrawnPage {
    /// Moves glyphs to a sheet of the same size.
    pub(crate) fn split_off(&mut self, is_moved: &[bool]) -> Self {
        let Self { width, height, num_of_page, .. } = *self;
        let of_page = is_moved.iter().take(num_of_page);
        let num_moved = of_page.filter(|is_moved| **is_moved).count();
        self.num_of_page -= num_moved;
        let mut moved = is_moved.iter();
        let glyphs = self.glyphs.extract_if(.., |_| moved.next().is_some_and(|moved| *moved));
        let glyphs = glyphs.collect();
        Self { width, height, glyphs, num_of_page: num_moved, rules: Vec::new() }
    }
}

/// A character at its position.
#[derive(Debug, Clone)]
pub(crate) struct Glyph {
    pub(crate) letters: Letters,
    /// To the nearest quarter turn.
    pub(crate) direction: Direction,
    /// The direction of text at an angle, in degrees clockwise from [`Direction::Right`]; 0 for other text.
    pub(crate) tilt: f32,
    /// Its origin on the base line.
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Distance along its direction at which the next glyph is expected.
    pub(crate) advance: f64,
    /// Height of its font.
    pub(crate) size: f64,
    /// Fraction of its box that is inked; 0 if unknown.
    pub(crate) ink: f64,
    /// Whether its colour is much lighter than that of text on white.
    pub(crate) is_pale: bool,
    /// Whether its font is declared as bold.
    pub(crate) is_bold: bool,
    /// Level of the heading that it is tagged as part of; 0 for none.
    pub(crate) tagged_level: u8,
    /// Whether it is what somebody has put into a field of a form.
    pub(crate) is_entry: bool,
}

/// The text of a glyph.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Letters {
    /// One character.
    One(char),
    /// Several characters, such as a ligature; or none, if another glyph has the whole text.
    Several(Box<str>),
    /// The font does not define its characters.
    Unknown,
}

/// The direction of text, to the nearest quarter turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Right,
    Down,
    Left,
    Up,
}

impl Direction {
    pub(crate) const ALL: [Self; 4] = [Self::Right, Self::Down, Self::Left, Self::Up];
}

/// A rectangle parallel to the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PageArea {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl PageArea {
    /// An empty area; joining it with another gives the other.
    pub(crate) const NOTHING: Self = Self {
        left: f64::INFINITY,
        top: f64::INFINITY,
        right: f64::NEG_INFINITY,
        bottom: f64::NEG_INFINITY,
    };

    pub(crate) fn new(x0: f64, y0: f64, x1: f64, y1: f64) -> Self {
        Self { left: x0.min(x1), top: y0.min(y1), right: x0.max(x1), bottom: y0.max(y1) }
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Returns the smallest area that contains all of `areas`.
    pub(crate) fn around(areas: impl Iterator<Item = Self>) -> Self {
        areas.fold(Self::NOTHING, Self::join)
    }

    /// Returns how far two areas overlap horizontally; negative for a gap between them.
    pub(crate) fn shared_width(&self, other: &Self) -> f64 {
        self.right.min(other.right) - self.left.max(other.left)
    }

    /// Returns how far two areas overlap vertically; negative for a gap between them.
    pub(crate) fn shared_height(&self, other: &Self) -> f64 {
        self.bottom.min(other.bottom) - self.top.max(other.top)
    }

    /// Whether the centre of `other` is inside.
    pub(crate) fn contains_centre_of(&self, other: &Self) -> bool {
        let (x, y) =
            (f64::midpoint(other.left, other.right), f64::midpoint(other.top, other.bottom));
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }
}
