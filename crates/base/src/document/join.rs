//! Joins the chunks of a document to one text and returns the position of each chunk in it.
//!
//! Chunks may overlap; text that two of them share is in the joined text once, and so is the head of a table that a
//! chunk repeats because it continues the rows. Text that is in no chunk (blank lines, front matter) is missing.

use std::ops::Range;

use memchr::memmem;

use crate::document::Chunk;
use crate::text::markdown;

/// Letters and digits that two chunks must share at a seam to count as overlapping, if no line
/// numbers show whether they can overlap: table rules and braces repeat without being shared.
const MIN_OVERLAP_LETTERS: usize = 16;

/// The joined text of neighbouring chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joined {
    /// The joined text.
    pub text: String,
    /// The range of each chunk, in order, without a repeated head; neighbours may overlap.
    pub spans: Vec<Range<usize>>,
    /// First and last line of the last chunk.
    last_lines: Option<(u32, u32)>,
}

impl Joined {
    /// Adds the next chunk. `lines` are its first and its last line in the file, if known.
    pub fn push(&mut self, text: &str, lines: Option<(u32, u32)>) {
        if let head @ 1.. = repeated_head(&self.text, text) {
            self.text.push('\n');
            let start = self.text.len();
            self.text.push_str(&text[head..]);
            self.spans.push(start..self.text.len());
            self.last_lines = lines;
            return;
        }
        let last = self.spans.last().map(|span| &self.text[span.clone()]);
        let (separator, shared) =
            last.map_or(("", 0), |last| seam((last, self.last_lines), (text, lines)));
        self.text.push_str(separator);
        let start = self.text.len() - shared;
        self.text.push_str(&text[shared..]);
        self.spans.push(start..self.text.len());
        self.last_lines = lines;
    }

    /// Removes everything and keeps the memory for another document.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
        self.last_lines = None;
    }
}

/// Joins consecutive chunks.
pub fn join<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> Joined {
    let mut joined = Joined::default();
    for chunk in chunks {
        joined.push(&chunk.text, chunk.start_line.zip(chunk.end_line));
    }
    joined
}

/// Returns the length of the head at the beginning of a text, if the table that ends the text before it has that head
/// too; else 0.
pub fn repeated_head(before: &str, text: &str) -> usize {
    let Some((all, first)) = markdown::table_head(text) else { return 0 };
    let table = &before[before.rfind("\n\n").map_or(0, |at| at + 2)..];
    let has = |head: &&usize| {
        let found = table.rfind(&text[..**head]);
        found.is_some_and(|at| at == 0 || table[..at].ends_with('\n'))
    };
    [all, first].iter().find(has).copied().filter(|head| *head < text.len()).unwrap_or(0)
}

/// A chunk's text, and its first and last line.
type Piece<'a> = (&'a str, Option<(u32, u32)>);

/// Returns the separator of two chunks, and the number of bytes at the start of the second that
/// also end the first.
fn seam(
    (first, first_lines): Piece<'_>,
    (second, second_lines): Piece<'_>,
) -> (&'static str, usize) {
    let lines = first_lines.zip(second_lines).map(|((_, end), (start, _))| (end, start));
    if let Some((end, start)) = lines.filter(|(end, start)| start > end) {
        return (if start == end + 1 { "\n" } else { "\n\n" }, 0);
    }
    // Without line numbers, an overlap must be longer than the probe.
    let shared = overlap(first, second, lines.is_some());
    let letters = second[..shared].chars().filter(|c| c.is_alphanumeric()).count();
    match (lines, shared) {
        // Both chunks are in the same line.
        (Some(_), 0) => (" ", 0),
        (Some(_), shared) => ("", shared),
        (None, shared) if letters >= MIN_OVERLAP_LETTERS => ("", shared),
        (None, _) => ("\n\n", 0),
    }
}

/// Bytes of the beginning of a text by which longer overlaps are found. An overlap of [`MIN_OVERLAP_LETTERS`] is never
/// shorter.
const PROBE_BYTES: usize = MIN_OVERLAP_LETTERS;

/// Returns the length of the longest run of complete words at the end of one text and the start of
/// the other. Runs shorter than the probe are looked for only if `may_be_short`.
fn overlap(first: &str, second: &str, may_be_short: bool) -> usize {
    let is_edge = |text: &str, at: usize| {
        let (before, after) = (text[..at].chars().next_back(), text[at..].chars().next());
        let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !(is_inner(before) && is_inner(after))
    };
    let is_run = |len: &usize| {
        second.is_char_boundary(*len)
            && first.ends_with(&second[..*len])
            && is_edge(second, *len)
            && is_edge(first, first.len() - len)
    };
    // Comparing the texts for every length would take longer than everything else that is done with them.
    let probe = second.floor_char_boundary(PROBE_BYTES);
    let found = memmem::find_iter(first.as_bytes(), &second.as_bytes()[..probe]);
    let long = found.map(|at| first.len() - at).filter(|len| *len <= second.len());
    let most_short = if may_be_short { probe.min(first.len()) } else { 0 };
    let short = (1..=most_short).rev();
    long.chain(short).find(is_run).unwrap_or(0)
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
    fn the_head_of_a_table_appears_once() {
        let head = "| year | rain |\n| --- | --- |\n";
        let parts = [format!("Rain:\n\n{head}| a | 1 |"), format!("{head}| b | 2 |\n| c | 3 |")];
        for lines in [[None, None], [Some((1, 5)), Some((6, 7))]] {
            let joined = join(&[chunk(&parts[0], lines[0]), chunk(&parts[1], lines[1])]);
            assert_eq!(joined.text, format!("{}\n| b | 2 |\n| c | 3 |", parts[0]));
            assert_eq!(&joined.text[joined.spans[1].clone()], "| b | 2 |\n| c | 3 |");
        }
        // Another table, or text between them.
        let other = "| year | snow |\n| --- | --- |\n| b | 2 |";
        check(&[(&parts[0], None), (other, None)], &format!("{}\n\n{other}", parts[0]));
        let ended = format!("{}\n\nThe end.", parts[0]);
        check(&[(&ended, None), (&parts[1], None)], &format!("{ended}\n\n{}", parts[1]));
    }

    #[test]
    fn table_rules_do_not_count_as_shared() {
        check(
            &[("a\n| --- | --- |", None), ("| --- | --- |\nb", None)],
            "a\n| --- | --- |\n\n| --- | --- |\nb",
        );
    }

    proptest::proptest! {
        #[test]
        fn the_overlap_is_the_longest_of_all_lengths(
            first in "[ab é]{0,40}",
            second in "[ab é]{0,40}",
            shared in "[ab é]{0,40}",
        ) {
            let (first, second) = (format!("{first}{shared}"), format!("{shared}{second}"));
            let is_word_edge = |text: &str, at: usize| {
                !(text[..at].ends_with(char::is_alphanumeric)
                    && text[at..].starts_with(char::is_alphanumeric))
            };
            let lengths = (0..=second.len()).rev().filter(|len| second.is_char_boundary(*len));
            let longest = lengths.into_iter().find(|len| {
                first.ends_with(&second[..*len])
                    && is_word_edge(&second, *len)
                    && is_word_edge(&first, first.len() - len)
            });
            proptest::prop_assert_eq!(overlap(&first, &second, true), longest.unwrap_or(0));
        }
    }

    #[test]
    fn no_chunks_give_an_empty_text() {
        check(&[], "");
    }

    #[test]
    fn a_cleared_text_has_no_seam_to_the_next_document() {
        let mut joined = join(&[chunk("a", Some((1, 1)))]);
        joined.clear();
        joined.push("b", Some((2, 2)));
        assert_eq!(joined, join(&[chunk("b", Some((2, 2)))]));
    }
}
