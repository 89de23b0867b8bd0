//! Places glyphs on their line.

use super::sheet::{Glyph, Letters};

/// Largest gap between glyphs of one strip, as a fraction of the size. A wider one is between columns, where spaces
/// must be judged again.
pub(super) const MAX_STRIP_GAP: f64 = 1.0;

/// A glyph in a coordinate frame in which its text runs to the right.
#[derive(Debug, Clone)]
pub(super) struct PlacedGlyph<'a> {
    pub(super) glyph: &'a Glyph,
    pub(super) text: &'a Letters,
    pub(super) left: f64,
    pub(super) base: f64,
}

impl PlacedGlyph<'_> {
    pub(super) fn right(&self) -> f64 {
        self.left + self.glyph.advance
    }

    pub(super) fn character(&self) -> Option<char> {
        match self.text {
            Letters::One(character) => Some(*character),
            Letters::Several(text) => text.chars().next(),
            Letters::Unknown => None,
        }
    }

    /// Whether it may be a part of dot leaders, whose gaps are as wide as those between words.
    pub(super) fn is_leader(&self) -> bool {
        self.character() == Some('.')
    }

    pub(super) fn is_space(&self) -> bool {
        self.character().is_some_and(char::is_whitespace)
    }
}
