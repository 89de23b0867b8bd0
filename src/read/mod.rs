//! Reads a document in increasing detail: its outline, then a part, then the file.
//!
//! ```text
//! find ──► chunks ──► join ──► parts ──► outline, show ;  open reads the file itself
//! hits ──► neighbours ──► join ──► evidence within a budget
//! documents ──► chunks ──► join ──► grep: all matching lines
//! ```
//!
//! The text comes from the database, so that a document can be read even after its file has moved.
//! Only `open` reads the file, and reports whether it has changed since it was stored.

mod find;
pub mod grep;
pub mod markdown;
mod marks;
mod open;
mod parts;
mod show;

pub use find::find;
pub use open::{OpenOptions, Opened, Origin, Unpack, open, reach};
pub use parts::{Outline, Part, PartKind, outline};
pub use show::{Selection, ShowOptions, Shown, show};

/// Returns where the first `max_lines` lines of a text end, and how many lines follow.
fn cut(text: &str, max_lines: Option<u32>) -> (usize, usize) {
    let Some(max_lines) = max_lines else { return (text.len(), 0) };
    let mut ends = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    let end = match max_lines {
        0 => 0,
        _ => ends.nth(max_lines as usize - 1).unwrap_or(text.len()),
    };
    (end, text[end..].split_inclusive('\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_over_the_limit_are_cut_and_counted() {
        for (text, max_lines, expected) in [
            ("a\nb\nc\n", Some(2), (4, 1)),
            ("a\nb\nc", Some(2), (4, 1)),
            ("a\nb", Some(2), (3, 0)),
            ("a\nb", Some(9), (3, 0)),
            ("a\nb\n", Some(0), (0, 2)),
            ("a\nb\n", None, (4, 0)),
            ("", Some(1), (0, 0)),
        ] {
            assert_eq!(cut(text, max_lines), expected, "{text:?}");
        }
    }
}
