//! Joins the chunks of a document to one text and returns the position of each chunk in it.
//!
//! Chunks may overlap; text that two of them share is in the joined text once, and so is the head of a table that a
//! chunk repeats because it continues the rows. Text that is in no chunk (blank lines, front matter) is missing.

use std::ops::Range;

use memchr::memmem;

use crate::document::{Chunk, ChunkLineMap, FileLines, LineRange};
use crate::text::markdown;

/// Letters and digits that two chunks must share at a seam to count as overlapping, if no line
/// numbers show whether they can overlap: table rules and braces repeat without being shared.
const MIN_OVERLAP_LETTERS: usize = 16;

/// The joined text of neighbouring chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JoinedText {
    /// The joined text.
    pub text: String,
    /// The range of each chunk, in order, without a repeated head; neighbours may overlap.
    pub spans: Vec<Range<usize>>,
    /// The lines of the file that each chunk is from, if known.
    lines: Vec<Option<FileLines>>,
}

impl JoinedText {
    /// Adds the next chunk. `lines` are those of the file that it is from, if known.
    pub fn push(&mut self, text: &str, lines: Option<FileLines>) {
        let start = match repeated_head(&self.text, text) {
            0 => {
                let last_lines = self.lines.last().and_then(Option::as_ref);
                let lines_at_seam = last_lines.zip(lines.as_ref()).map(|(last, next)| SeamLines {
                    before: last.in_text(),
                    after: next.in_text(),
                });
                let (separator, shared) = match self.spans.last() {
                    Some(span) => seam(&self.text[span.clone()], text, lines_at_seam),
                    None => ("", 0),
                };
                self.text.push_str(separator);
                let start = self.text.len() - shared;
                self.text.push_str(&text[shared..]);
                start
            }
            head => {
                self.text.push('\n');
                let start = self.text.len();
                self.text.push_str(&text[head..]);
                start
            }
        };
        self.spans.push(start..self.text.len());
        self.lines.push(lines);
    }

    /// Returns the index of the last chunk that begins at or before a position.
    pub fn chunk_at(&self, at: usize) -> usize {
        self.spans.partition_point(|span| span.start <= at).saturating_sub(1)
    }

    /// Returns the line in the file of a position in a chunk; `None` if some lines between the chunk's first and last are
    /// not in its text, so that lines cannot be counted.
    pub fn line(&self, chunk: usize, at: usize) -> Option<u32> {
        let (span, lines) = (self.spans.get(chunk)?, self.lines.get(chunk)?.as_ref()?);
        if at <= span.start {
            return Some(lines.lines.first());
        }
        if at >= span.end {
            return Some(lines.lines.last());
        }
        let bytes = self.text.as_bytes();
        lines.line(num_newlines(&bytes[span.start..at]), num_newlines(&bytes[span.clone()]) + 1)
    }

    /// Returns where the lines of the joined text are; `None` if they are lines of the file. A line whose place is not
    /// known is where the one before it is.
    pub fn line_map(&self) -> Option<ChunkLineMap> {
        let mut known = self.lines.iter().flatten().filter(|lines| lines.map.is_some());
        let first = known.next()?;
        let last = known.next_back().unwrap_or(first);
        let mut offsets: Vec<u32> = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            let place = self.line(self.chunk_at(start), start);
            let before = offsets.last().copied().unwrap_or(0);
            offsets.push(place.map_or(before, |place| place.saturating_sub(first.lines.first())));
            start += line.len() + 1;
        }
        Some(ChunkLineMap { in_text: first.in_text().to_end_of(last.in_text()), offsets })
    }

    /// Removes everything and keeps the memory for another document.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
        self.lines.clear();
    }
}

fn num_newlines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Joins consecutive chunks.
pub fn join<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> JoinedText {
    let mut joined = JoinedText::default();
    for chunk in chunks {
        joined.push(&chunk.text, chunk.file_lines());
    }
    joined
}

/// Returns the length of the head at the beginning of a text, if the table that ends the text before it has that head
/// too; else 0.
pub fn repeated_head(before: &str, text: &str) -> usize {
    let Some((all, first)) = markdown::table_head(text) else { return 0 };
    let table = &before[before.rfind("\n\n").map_or(0, |at| at + 2)..];
    let found = [all, first].into_iter().find(|head| has_head(table, &text[..*head]));
    found.filter(|head| *head < text.len()).unwrap_or(0)
}

/// Whether the last occurrence of a head in a table is at the beginning of a line.
fn has_head(table: &str, head: &str) -> bool {
    table.rfind(head).is_some_and(|at| at == 0 || table[..at].ends_with('\n'))
}

/// The lines of two neighbouring chunks in the text of the document.
#[derive(Clone, Copy)]
struct SeamLines {
    before: LineRange,
    after: LineRange,
}

/// Returns the separator of two chunks, and the number of bytes at the start of the second that
/// also end the first. `lines` are theirs, if both are known.
fn seam(first: &str, second: &str, lines: Option<SeamLines>) -> (&'static str, usize) {
    if let Some(SeamLines { before, after }) = lines {
        if before.is_followed_by(after.first()) {
            return ("\n", 0);
        }
        if before.last() < after.first() {
            return ("\n\n", 0);
        }
    }
    // Parts of a wide table are from the same lines but have other columns, so they share no text.
    if first.lines().last().is_some_and(|line| line.starts_with('|'))
        && markdown::table_head(second).is_some()
    {
        return ("\n\n", 0);
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
    // Long overlaps are found by the beginning of the second text: comparing every length would take longer than
    // everything else that is done with the texts.
    let probe = second.floor_char_boundary(PROBE_BYTES);
    let found = memmem::find_iter(first.as_bytes(), &second.as_bytes()[..probe]);
    let long = found.map(|at| first.len() - at).filter(|len| *len <= second.len());
    let most_short = if may_be_short { probe.min(first.len()) } else { 0 };
    let short = (1..=most_short).rev();
    long.chain(short).find(|len| is_shared(first, second, *len)).unwrap_or(0)
}

/// Whether the first `len` bytes of the second text are complete words, and also end the first text.
fn is_shared(first: &str, second: &str, len: usize) -> bool {
    second.is_char_boundary(len)
        && first.ends_with(&second[..len])
        && is_edge_of_word(second, len)
        && is_edge_of_word(first, first.len() - len)
}

fn is_edge_of_word(text: &str, at: usize) -> bool {
    let (before, after) = (text[..at].chars().next_back(), text[at..].chars().next());
    !(before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str, lines: Option<LineRange>) -> Chunk {
        Chunk { text: text.to_owned(), token_count: 1, lines, ..Chunk::default() }
    }

    #[track_caller]
    fn check(chunks: &[(&str, Option<LineRange>)], expected: &str) {
        let chunks: Vec<Chunk> = chunks.iter().map(|(text, lines)| chunk(text, *lines)).collect();
        let joined = join(&chunks);
        assert_eq!(joined.text, expected);
        for (span, chunk) in joined.spans.iter().zip(&chunks) {
            assert_eq!(joined.text[span.clone()], chunk.text);
        }
    }

    #[test]
    fn consecutive_lines_are_joined_by_a_newline_and_others_by_a_blank_line() {
        check(
            &[
                ("a\nb", LineRange::new(1, 2)),
                ("c", LineRange::new(3, 3)),
                ("d", LineRange::new(9, 9)),
            ],
            "a\nb\nc\n\nd",
        );
    }

    #[test]
    fn text_shared_by_two_windows_appears_once() {
        check(
            &[("one two three", LineRange::new(1, 1)), ("two three four", LineRange::new(1, 1))],
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
        check(&[("it is so", LineRange::new(1, 1)), ("old", LineRange::new(1, 1))], "it is so old");
    }

    #[test]
    fn lines_are_counted_only_where_all_are_in_the_text() {
        for (at, (first, last), expected) in [
            (0, (5, 7), Some(5)),
            (2, (5, 7), Some(5)),
            (3, (5, 7), Some(5)),
            (4, (5, 7), Some(6)),
            (6, (5, 7), Some(7)),
            (7, (5, 9), Some(9)),
            (8, (5, 7), Some(7)),
            (4, (5, 9), None),
            (4, (5, 6), None),
        ] {
            let joined = JoinedText {
                text: "--a\nb\nc--".to_owned(),
                spans: std::iter::once(2..7).collect(),
                lines: vec![Some(FileLines::verbatim(LineRange::between(first, last)))],
            };
            assert_eq!(joined.line(0, at), expected, "{at}, {first} to {last}");
        }
    }

    #[test]
    fn lines_of_one_line_of_the_file_stay_lines() {
        let of = |text: &str, (first, last), offsets: &[u32]| {
            let in_text = LineRange::between(first, last);
            let map = ChunkLineMap { in_text, offsets: offsets.to_vec() };
            Chunk { line_map: Some(map), ..chunk(text, LineRange::new(7, 8)) }
        };
        let chunks =
            [of("a\nb", (7, 8), &[0, 0]), of("c d", (9, 9), &[0]), of("e\nf", (9, 10), &[0, 1])];
        let joined = join(&chunks);
        assert_eq!(joined.text, "a\nb\nc d e\nf");
        let lines: Vec<_> = [0, 2, 4, 8, 10].map(|at| joined.line(joined.chunk_at(at), at)).into();
        assert_eq!(lines, [7, 7, 7, 7, 8].map(Some));
        assert_eq!(joined.line_map().unwrap().offsets, [0, 0, 0, 1]);
        assert_eq!(join(&[chunk("a", LineRange::new(7, 7))]).line_map(), None);
    }

    #[test]
    fn the_head_of_a_table_appears_once() {
        let head = "| year | rain |\n| --- | --- |\n";
        let parts = [format!("Rain:\n\n{head}| a | 1 |"), format!("{head}| b | 2 |\n| c | 3 |")];
        for lines in [[None, None], [LineRange::new(1, 5), LineRange::new(6, 7)]] {
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
        let mut joined = join(&[chunk("a", LineRange::new(1, 1))]);
        joined.clear();
        joined.push("b", Some(FileLines::verbatim(LineRange::single(2))));
        assert_eq!(joined, join(&[chunk("b", LineRange::new(2, 2))]));
    }
}
