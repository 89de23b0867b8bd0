//! Joins the chunks of a document to one text and says where each chunk is in it.
//!
//! Chunks are cut from a text and may overlap; what is in two of them is in the joined text once.
//! What was in no chunk (blank lines, front matter) is not there.

use std::ops::Range;

use crate::document::Chunk;

/// Letters and digits two chunks must have in common at a seam to count as overlapping, where no
/// line numbers tell whether they can: table rules and braces repeat without being shared.
const MIN_OVERLAP_LETTERS: usize = 16;

/// The text of neighbouring chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) text: String,
    /// Where each chunk lies, in order; neighbours may overlap.
    pub(crate) spans: Vec<Range<usize>>,
}

/// Joins chunks that follow each other.
pub(crate) fn join<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> Joined {
    let mut joined = Joined::default();
    let mut before: Option<&Chunk> = None;
    for chunk in chunks {
        let text = &chunk.text;
        let (separator, shared) = before.map_or(("", 0), |it| seam(it, chunk));
        joined.text.push_str(separator);
        let start = joined.text.len() - shared;
        joined.text.push_str(&text[shared..]);
        joined.spans.push(start..joined.text.len());
        before = Some(chunk);
    }
    joined
}

/// Returns what stands between two chunks, and how many bytes of the second the first ends with.
fn seam(first: &Chunk, second: &Chunk) -> (&'static str, usize) {
    let lines = first.end_line.zip(second.start_line);
    if let Some((end, start)) = lines.filter(|(end, start)| start > end) {
        return (if start == end + 1 { "\n" } else { "\n\n" }, 0);
    }
    let shared = overlap(&first.text, &second.text);
    let letters = second.text[..shared].chars().filter(|it| it.is_alphanumeric()).count();
    match (lines, shared) {
        // The line goes on.
        (Some(_), 0) => (" ", 0),
        (Some(_), shared) => ("", shared),
        (None, shared) if letters >= MIN_OVERLAP_LETTERS => ("", shared),
        (None, _) => ("\n\n", 0),
    }
}

/// Returns the length of the longest run of whole words that one text ends and the other begins
/// with.
fn overlap(first: &str, second: &str) -> usize {
    let is_edge = |text: &str, at: usize| {
        let (before, after) = (text[..at].chars().next_back(), text[at..].chars().next());
        let is_inner = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
        !(is_inner(before) && is_inner(after))
    };
    let longest = first.len().min(second.len());
    (1..=longest)
        .rev()
        .filter(|it| second.is_char_boundary(*it))
        .find(|it| {
            first.ends_with(&second[..*it])
                && is_edge(second, *it)
                && is_edge(first, first.len() - it)
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
            start_line: lines.map(|it| it.0),
            end_line: lines.map(|it| it.1),
        }
    }

    #[track_caller]
    fn check(chunks: &[(&str, Option<(u32, u32)>)], expected: &str) {
        let chunks: Vec<Chunk> = chunks.iter().map(|(it, lines)| chunk(it, *lines)).collect();
        let joined = join(&chunks);
        assert_eq!(joined.text, expected);
        for (span, chunk) in joined.spans.iter().zip(&chunks) {
            assert_eq!(joined.text[span.clone()], chunk.text);
        }
    }

    #[test]
    fn lines_that_follow_are_joined_by_one_line_end_and_others_by_a_blank_line() {
        check(&[("a\nb", Some((1, 2))), ("c", Some((3, 3))), ("d", Some((9, 9)))], "a\nb\nc\n\nd");
    }

    #[test]
    fn what_two_windows_share_is_there_once() {
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
    fn a_line_that_goes_on_is_joined_by_a_blank() {
        check(&[("it is so", Some((1, 1))), ("old", Some((1, 1)))], "it is so old");
    }

    #[test]
    fn rules_of_tables_are_not_shared() {
        check(
            &[("a\n| --- | --- |", None), ("| --- | --- |\nb", None)],
            "a\n| --- | --- |\n\n| --- | --- |\nb",
        );
    }

    #[test]
    fn nothing_is_joined_to_nothing() {
        check(&[], "");
    }
}
