//! Lays out results for the screen of `kb find`, as lines of pieces with a meaning.
//!
//! Knows the available width, but neither the terminal nor the selected entry.

mod listing;
mod reading;

use crate::present::terminal::columns::{cut, cut_middle, width};
use crate::present::text::passage::LineSpan;

pub use crate::present::terminal::paint::Meaning;
pub use listing::{FileTarget, Listing, ListingRow};
pub use reading::{PartReading, ReadingText};

/// A piece of a line. Its text is clean and has no line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePiece {
    /// The text to show.
    pub text: String,
    /// Its meaning, which determines its colour.
    pub meaning: Meaning,
}

/// A line of the screen.
pub type Line = Vec<LinePiece>;

/// Returns a piece of a line.
pub fn piece(meaning: Meaning, text: impl Into<String>) -> LinePiece {
    LinePiece { text: text.into(), meaning }
}

/// Returns the width of a line in columns.
pub fn width_of(line: &Line) -> usize {
    line.iter().map(|piece| width(&piece.text)).sum()
}

/// Cuts a line to a width; an ellipsis marks the cut.
pub fn fitted(line: Line, columns: usize) -> Line {
    let mut left = columns;
    let mut kept = Line::new();
    for piece in line {
        let text = cut(&piece.text, left);
        let is_cut = text.len() != piece.text.len();
        left -= width(&text);
        kept.push(LinePiece { text: text.into_owned(), ..piece });
        if is_cut {
            break;
        }
    }
    kept
}

/// Cuts a path or another text in its middle.
pub fn shortened(text: &str, columns: usize) -> String {
    cut_middle(text, columns).into_owned()
}

/// Returns a line with one part at its left and one at its right end. If both do not fit, the left one is
/// cut; if less than half of the width were left to it, the right one is dropped.
pub fn justified(left: Line, right: Line, columns: usize) -> Line {
    let taken = width_of(&right);
    if taken == 0 || taken * 2 > columns {
        return fitted(left, columns);
    }
    let mut line = fitted(left, columns - taken - 1);
    let gap = columns - taken - width_of(&line);
    line.push(piece(Meaning::Plain, " ".repeat(gap)));
    line.extend(right);
    line
}

/// Returns lines of a passage as pieces; `plain` is the meaning of what does not match the query.
fn pieces(lines: Vec<Vec<LineSpan>>, plain: Meaning) -> Vec<Line> {
    let mut shown = Vec::with_capacity(lines.len());
    for spans in lines {
        let pieces = spans.into_iter().map(|span| {
            let meaning = if span.is_match { Meaning::Match } else { plain };
            piece(meaning, span.text)
        });
        shown.push(pieces.collect());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &Line) -> String {
        line.iter().map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn a_line_is_cut_and_never_wider_than_its_room() {
        let line = || vec![piece(Meaning::Title, "東京 tide"), piece(Meaning::Faint, " note")];
        let right = || vec![piece(Meaning::Faint, "md")];
        for (columns, expected) in [
            (20, "東京 tide note    md"),
            (14, "東京 tide…  md"),
            (12, "東京 tide md"),
            (8, "東京… md"),
            (3, "東…"),
            (0, ""),
        ] {
            let found = justified(line(), right(), columns);
            assert!(width_of(&found) <= columns, "{columns}: {}", shown(&found));
            assert_eq!(shown(&found), expected, "{columns}");
        }
    }
}
