//! Limits a text to its first lines.

/// Returns where the first `max_lines` lines of a text end, and how many lines follow.
pub(super) fn cut(text: &str, max_lines: Option<u32>) -> (usize, usize) {
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
