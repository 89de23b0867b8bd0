//! Joins the chunks of a document to one text and returns the position of each chunk in it.
//!
//! Chunks may overlap; text that two of them share is in the joined text once. Text that is in no
//! chunk (blank lines, front matter) is missing.

use std::ops::Range;

use crate::document::Chunk;

/// Letters and digits that two chunks must share at a seam to count as overlapping, if no line
/// numbers show whether they can overlap: table rules and braces repeat without being shared.
const MIN_OVERLAP_LETTERS: usize = 16;

/// The joined text of neighbouring chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) text: String,
    /// The range of each chunk, in order; neighbours may overlap.
    pub(crate) spans: Vec<Range<usize>>,
}

/// Joins consecutive chunks.
pub(crate) fn join<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> Joined {
    let mut joined = Joined::default();
    let mut before: Option<&Chunk> = None;
    for chunk in chunks {
        let text = &chunk.text;
        let (separator, shared) = before.map_or(("", 0), |before| seam(before, chunk));
        joined.text.push_str(separator);
        let start = joined.text.len() - shared;
        joined.text.push_str(&text[shared..]);
        joined.spans.push(start..joined.text.len());
        before = Some(chunk);
    }
    joined
}

/// Returns the separator of two chunks, and the number of bytes at the start of the second that
/// also end the first.
fn seam(first: &Chunk, second: &Chunk) -> (&'static str, usize) {
    let lines = first.end_line.zip(second.start_line);
    if let Some((end, start)) = lines.filter(|(end, start)| start > end) {
        return (if start == end + 1 { "\n" } else { "\n\n" }, 0);
    }
    let shared = overlap(&first.text, &second.text);
    let letters = second.text[..shared].chars().filter(|c| c.is_alphanumeric()).count();
    match (lines, shared) {
        // Both chunks are in the same line.
        (Some(_), 0) => (" ", 0),
        (Some(_), shared) => ("", shared),
        (None, shared) if letters >= MIN_OVERLAP_LETTERS => ("", shared),
        (None, _) => ("\n\n", 0),
    }
}

/// Returns the length of the longest run of complete words at the end of one text and the start of
/// the other.
fn overlap(first: &str, second: &str) -> usize {
    let is_edge = |text: &str, at: usize| {
        let (before, after) = (text[..at].chars().next_back(), text[at..].chars().next());
        let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !(is_inner(before) && is_inner(after))
    };
    let longest = first.len().min(second.len());
    (1..=longest)
        .rev()
        .filter(|len| second.is_char_boundary(*len))
        .find(|len| {
            first.ends_with(&second[..*len])
                && is_edge(second, *len)
                && is_edge(first, first.len() - len)
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str, lines: Option<(u32, u32)>) -> Chunk {
        Chunk {
            text: text.to_owned(),
            context: String::new(),
            token_count: 1,
            section: None,
            symbol: None,
            page: None,
            last_page: None,
            page_label: None,
            start_line: lines.map(|lines| lines.0),
            end_line: lines.map(|lines| lines.1),
        }
    }

    #[track_caller]
    fn check(chunks: &[(&str, Option<(u32, u32)>)], expected: &str) {
        let chunks: Vec<Chunk> = chunks.iter().map(|(text, lines)| chunk(text, *lines)).collect();
        let joined = join(&chunks);
        assert_eq!(joined.text, expected);
        for (span, chunk) in joined.spans.iter().zip(&chunks) {
            assert_eq!(joined.text[span.clone()], chunk.text);
        }
    }

    #[test]
    fn consecutive_lines_are_joined_by_a_newline_and_others_by_a_blank_line() {
        check(&[("a\nb", Some((1, 2))), ("c", Some((3, 3))), ("d", Some((9, 9)))], "a\nb\nc\n\nd");
    }

    #[test]
    fn text_shared_by_two_windows_appears_once() {
        check(
            &[("one two three", Some((1, 1))), ("two three four", Some((1, 1)))],
            "one two three four",
        );
        let shared = "these words are in both windows";
        check(
            &[(&format!("a {shared}"), None), (&format!("{shared} b"), None)],
            &format!("a {shared} b"),
        );
    }

    #[test]
    fn parts_of_one_line_are_joined_by_a_blank() {
        check(&[("it is so", Some((1, 1))), ("old", Some((1, 1)))], "it is so old");
    }

    #[test]
    fn table_rules_do_not_count_as_shared() {
        check(
            &[("a\n| --- | --- |", None), ("| --- | --- |\nb", None)],
            "a\n| --- | --- |\n\n| --- | --- |\nb",
        );
    }

    #[test]
    fn no_chunks_give_an_empty_text() {
        check(&[], "");
    }
}
