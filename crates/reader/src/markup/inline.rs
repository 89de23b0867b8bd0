//! Scans inline markup, for the markup languages with marks in running text.

use super::writer::within;

/// Longest inline construct, in bytes: a mark that nothing closes would be searched for to the end of the text, each
/// time.
pub(super) const MAX_SPAN_BYTES: usize = 1000;

/// Returns the words of a text. `read` is given the text from each character on, and what is written so far; it writes
/// the text of a construct that begins there, and returns the length of the construct in bytes, or 0 if there is none.
pub(super) fn scan(text: &str, mut read: impl FnMut(&str, &mut String) -> usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut used = read(rest, &mut out);
        if used == 0 {
            out.push(first);
            used = first.len_utf8();
        }
        rest = &rest[used..];
    }
    out
}

/// Returns the text up to the first `mark` that may close it, by the text before the mark and the character after it.
/// A text that nothing closes, or that is empty, is `None`.
pub(super) fn until<'t>(
    text: &'t str,
    mark: &str,
    may_close: impl Fn(&str, Option<char>) -> bool,
) -> Option<&'t str> {
    let mut ends = within(text, MAX_SPAN_BYTES).match_indices(mark).map(|(at, _)| at);
    let end =
        ends.find(|at| *at > 0 && may_close(&text[..*at], text[at + mark.len()..].chars().next()))?;
    Some(&text[..end])
}

/// Writes source code.
pub(super) fn push_code(code: &str, out: &mut String) {
    push_between(["`", "`"], code, out);
}

/// Writes a text between two marks.
pub(super) fn push_between(marks: [&str; 2], text: &str, out: &mut String) {
    out.extend([marks[0], text, marks[1]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_construct_stays() {
        let read = |rest: &str, out: &mut String| match rest.strip_prefix("->") {
            Some(_) => {
                out.push('→');
                2
            }
            None => 0,
        };
        assert_eq!(scan("a -> b – c-", read), "a → b – c-");
    }

    #[test]
    fn a_mark_closes_a_text_only_where_it_may() {
        let is_after_word = |before: &str, _: Option<char>| !before.ends_with(' ');
        assert_eq!(until("two * words* end*", "*", is_after_word), Some("two * words"));
        assert_eq!(until("*", "*", is_after_word), None);
        assert_eq!(until("open", "*", is_after_word), None);
        let is_at_end = |_: &str, after: Option<char>| after.is_none();
        assert_eq!(until("a**b**", "**", is_at_end), Some("a**b"));
    }
}
