//! Decides which gaps between glyphs are spaces.
//!
//! Gaps that are clearly wider than those between letters end a word. Narrower ones are marked in
//! the text, for the parent to decide by the words of the whole document.

use super::placed::{MAX_STRIP_GAP, PlacedGlyph};
use super::script;
use super::sheet::Letters;
use crate::extract::protocol::NARROW_GAP;

/// Smallest gap between words in a strip without spaces, in one with spaces, and between ideographs. Where spaces are
/// drawn, only a wider gap is a word end without one.
const WORD_GAP: f64 = 0.16;
const WORD_GAP_BESIDE_SPACES: f64 = 0.22;
const WORD_GAP_IDEOGRAPHS: f64 = 0.8;

/// Smallest gap between words where the gaps within them hardly differ, and how many times that
/// difference is added to it.
const MIN_WORD_GAP: f64 = 0.11;
const SPREADS: f64 = 3.0;

/// Smallest gap that is marked, as it may be a space.
const NARROW: f64 = 0.07;

/// Fewest gaps needed to detect letter spacing from the lower third of the gaps; with fewer, a third may be one gap
/// between words.
const MIN_GAPS: usize = 5;

/// Smallest gap that a space leaves; after a smaller one, the space was moved back over.
const MIN_SPACE: f64 = 0.05;

/// Gaps of a strip, as fractions of the size.
pub(super) struct Gaps {
    /// From here on, two glyphs belong to different words.
    usual_limit: f64,
    /// From here on, they do if they are not parts of formulas.
    limit: f64,
    /// From here on, they may.
    pub(super) narrow: f64,
}

impl Gaps {
    pub(super) fn of(strip: &[PlacedGlyph<'_>]) -> Self {
        let mut gaps: Vec<f64> = strip
            .windows(2)
            .filter(|pair| !pair.iter().any(|placed| placed.is_space() || placed.is_leader()))
            .map(|pair| (pair[1].left - pair[0].right()) / pair[0].glyph.size)
            .collect();
        let num_spaces = strip.iter().filter(|placed| placed.is_space()).count();
        let limit = if num_spaces > 0 { WORD_GAP_BESIDE_SPACES } else { WORD_GAP };
        if gaps.len() < MIN_GAPS {
            return Self { usual_limit: limit, limit, narrow: NARROW };
        }
        gaps.sort_by(f64::total_cmp);
        // In a row of numbers, nearly half of the gaps are between words.
        let usual = gaps[gaps.len() / 3].clamp(-0.08, MAX_STRIP_GAP);
        let spread = gaps[gaps.len() * 2 / 3] - gaps[gaps.len() / 3];
        let lower = limit.min(MIN_WORD_GAP + SPREADS * spread);
        Self { usual_limit: limit + usual, limit: lower + usual, narrow: NARROW + usual }
    }

    /// Like [`Self::of`], for text in a right-to-left script, whose letters differ more in their
    /// distances: no narrow gap is a space.
    pub(super) fn of_rtl(strip: &[PlacedGlyph<'_>]) -> Self {
        let gaps = Self::of(strip);
        Self { limit: gaps.usual_limit, narrow: f64::INFINITY, ..gaps }
    }

    /// Whether a word ends between two glyphs of a strip.
    pub(super) fn end_word(
        &self,
        last: &PlacedGlyph<'_>,
        next: &PlacedGlyph<'_>,
        has_space: bool,
    ) -> bool {
        let gap = (next.left - last.right()) / last.glyph.size;
        let are_ideographs = [last, next]
            .iter()
            .all(|placed| placed.character().is_some_and(script::is_ideographic));
        match (has_space, are_ideographs) {
            // The space may have been moved back over.
            (true, _) => gap > MIN_SPACE,
            (false, true) => gap > WORD_GAP_IDEOGRAPHS,
            (false, false) => {
                gap > self.usual_limit || (gap > self.limit && may_be_words(last, next))
            }
        }
    }
}

/// Whether a space may be missing between two glyphs. The gaps before brackets and around the signs
/// of formulas are wider than those between letters.
fn may_be_words(last: &PlacedGlyph<'_>, next: &PlacedGlyph<'_>) -> bool {
    let (Some(last), Some(next)) = (last.character(), next.character()) else { return false };
    match (is_text(last), is_text(next)) {
        (true, true) => last.is_alphabetic() || next.is_alphabetic(),
        (true, false) => last.is_alphabetic() && is_quote(next),
        (false, true) => is_end(last) && next.is_alphabetic(),
        (false, false) => is_end(last) && (is_quote(next) || next == '('),
    }
}

fn is_text(c: char) -> bool {
    c.is_alphanumeric() && !script::is_ideographic(c)
}

fn is_quote(c: char) -> bool {
    matches!(c, '\u{201C}' | '\u{2018}' | '\u{201E}')
}

/// Whether a character ends a sentence or a part of one.
fn is_end(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | '\u{201D}' | '\u{2019}')
}

/// Returns the text of a word, with marks at its narrow gaps.
pub(super) fn text_of(glyphs: &[PlacedGlyph<'_>], narrow: f64) -> String {
    let parts = glyphs.chunk_by(|last, next| {
        let gap = (next.left - last.right()) / last.glyph.size;
        !(gap > narrow && may_be_words(last, next))
    });
    let parts = parts.map(|part| {
        let letters: Vec<&Letters> = part.iter().map(|placed| placed.text).collect();
        script::text_of(&letters)
    });
    let mut text = String::new();
    for part in parts.filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            text.push(NARROW_GAP);
        }
        text.push_str(&part);
    }
    text
}
