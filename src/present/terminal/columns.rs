//! Measures, cuts, pads and wraps text in terminal columns.
//!
//! Widths come from `unicode-width`: most Chinese, Japanese and Korean characters and emoji take two
//! columns, combining marks none. Text is never cut inside a grapheme, which people see as one character.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Marks where text was cut.
pub(crate) const ELLIPSIS: char = '…';

/// Punctuation that must not begin a line, in scripts that break lines anywhere.
const CLOSING: &str = "、。，．！？：；）」』】〉》〕ー・’”…,.!?:;)]}";

/// Returns the width of a text in columns.
pub fn width(text: &str) -> usize {
    // A fast path for ASCII, which most cells are.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Cuts a text to a width; an ellipsis marks the cut.
pub fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return text.into();
    }
    let kept = prefix(text, columns.saturating_sub(1)).trim_end();
    if columns > 0 { format!("{kept}{ELLIPSIS}").into() } else { kept.into() }
}

/// Shortens a path to a width with an ellipsis in its middle. The last parts get two thirds of the width,
/// the beginning gets the rest.
pub(crate) fn cut_middle(path: &str, columns: usize) -> Cow<'_, str> {
    if width(path) <= columns {
        return path.into();
    }
    let room = columns.saturating_sub(1);
    let mut tails = path.match_indices('/').map(|(at, _)| &path[at..]);
    let tail = tails.find(|tail| width(tail) <= room * 2 / 3);
    let name = path.rfind('/').map(|at| &path[at..]);
    let tail = tail.or_else(|| name.filter(|name| width(name) <= room));
    match tail {
        Some(tail) => format!("{}{ELLIPSIS}{tail}", prefix(path, room - width(tail))).into(),
        None => cut(path.rsplit('/').next().unwrap_or(path), columns),
    }
}

/// Returns the longest beginning of a text that fits a width.
pub(crate) fn prefix(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.grapheme_indices(true).find_map(|(at, grapheme)| {
        used += grapheme.width();
        (used > columns).then_some(at)
    });
    &text[..end.unwrap_or(text.len())]
}

/// Returns where the grapheme before a position begins; 0 at the beginning.
pub fn before(text: &str, at: usize) -> usize {
    text[..at].grapheme_indices(true).next_back().map_or(0, |(start, _)| start)
}

/// Returns where the grapheme at a position ends; the length of the text at its end.
pub fn after(text: &str, at: usize) -> usize {
    at + text[at..].graphemes(true).next().map_or(0, str::len)
}

/// Returns the spaces that pad a text to a width.
pub(crate) fn padding(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text)))
}

/// Wraps a text without line ends. Returns the byte ranges of the lines without surrounding space. Breaks
/// at spaces and between wide characters; only if necessary between any two graphemes.
pub(crate) fn wrap(text: &str, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        start += text[start..].len() - text[start..].trim_start().len();
        if start == text.len() {
            return None;
        }
        let end = line_end(text, start, columns);
        let line = start..start + text[start..end].trim_end().len();
        start = end;
        Some(line)
    })
}

/// Returns the end of the line that begins at `start`, after at least one grapheme.
fn line_end(text: &str, start: usize, columns: usize) -> usize {
    let (mut used, mut last_break) = (0, None);
    let mut was_wide = false;
    for (at, grapheme) in text[start..].grapheme_indices(true) {
        let at = start + at;
        let columns_of_it = grapheme.width();
        let is_space = grapheme.chars().all(char::is_whitespace);
        let is_wide = columns_of_it > 1;
        if at > start && (is_space || (is_wide || was_wide) && !CLOSING.contains(grapheme)) {
            last_break = Some(at);
        }
        used += columns_of_it;
        if used > columns && !is_space && at > start {
            return last_break.unwrap_or(at);
        }
        was_wide = is_wide;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: usize) -> Vec<&str> {
        wrap(text, columns).map(|line| &text[line]).collect()
    }

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        for (text, columns) in
            [("abc", 3), ("東京", 4), ("cafe\u{301}", 4), ("👩\u{200d}👩\u{200d}👧", 2), ("", 0)]
        {
            assert_eq!(width(text), columns, "{text}");
        }
    }

    #[test]
    fn long_text_is_cut_between_graphemes() {
        for (text, columns, kept) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("ab def", 4, "ab…"),
            ("東京都", 5, "東京…"),
            ("東京都", 4, "東…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(cut(text, columns), kept, "{text} in {columns}");
        }
    }

    #[test]
    fn a_long_path_is_cut_in_the_middle() {
        for (columns, kept) in [
            (40, "/home/me/docs/station/manuals/gauge.pdf"),
            (30, "/home/me/do…/manuals/gauge.pdf"),
            (20, "/home/me/…/gauge.pdf"),
            (13, "/h…/gauge.pdf"),
            (8, "gauge.p…"),
        ] {
            let path = "/home/me/docs/station/manuals/gauge.pdf";
            assert_eq!(cut_middle(path, columns), kept, "in {columns}");
        }
    }

    #[test]
    fn lines_break_at_spaces_or_between_wide_characters() {
        assert_eq!(wrapped("one two  three", 8), ["one two", "three"]);
        assert_eq!(wrapped("東京都は大きい。", 8), ["東京都は", "大きい。"]);
        // The full stop stays with the letter before it.
        assert_eq!(wrapped("東京都は大。", 10), ["東京都は", "大。"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbr", "eaka", "ble"]);
        assert_eq!(wrapped("  ", 4), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn every_line_fits_and_nothing_but_space_is_lost(text in "\\PC{0,60}", columns in 2_usize..40) {
            let lines = wrapped(&text, columns);
            for line in &lines {
                proptest::prop_assert!(width(line) <= columns || line.graphemes(true).count() == 1);
            }
            let visible = |c: &str| c.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            proptest::prop_assert_eq!(visible(&lines.concat()), visible(&text));
            proptest::prop_assert!(width(&cut(&text, columns)) <= columns);
        }
    }
}
