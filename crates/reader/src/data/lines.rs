//! Divides a text into lines.

/// Returns the lines of a text without their ends, with the position of each.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end()))
    })
}

/// Returns the number of blanks at the beginning of a line.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}
