//! Finds the lines of the file that a chunk is from.

use std::ops::Range;

use crate::document::{ChunkLineMap, Document, FileLines, LineRange};

/// The lines of a document's text, and the lines of the file that they come from.
pub(super) struct TextLines<'a> {
    /// The position of each line end.
    newlines: Vec<usize>,
    /// The line of the file of each line; empty if they are the same.
    numbers: &'a [u32],
    is_known: bool,
}

impl<'a> TextLines<'a> {
    pub(super) fn of(document: &'a Document) -> Self {
        let newlines = if document.has_lines {
            document.text.match_indices('\n').map(|(at, _)| at).collect()
        } else {
            Vec::new()
        };
        Self { newlines, numbers: &document.line_numbers, is_known: document.has_lines }
    }

    /// Returns the lines of a chunk: of spans of the text, between which it has a blank line, behind a head of `num_head`
    /// lines that it repeats.
    pub(super) fn of_chunk(&self, spans: &[Range<usize>], num_head: usize) -> Option<FileLines> {
        let (start, end) = (spans.first()?.start, spans.last()?.end.checked_sub(1)?);
        if !self.is_known {
            return None;
        }
        let first = self.in_file(self.in_text(start));
        let in_file = LineRange::between(first, self.in_file(self.in_text(end)));
        if self.numbers.is_empty() {
            return Some(FileLines::verbatim(in_file));
        }
        let mut offsets = vec![0; num_head];
        for (idx, span) in spans.iter().enumerate() {
            if idx > 0 {
                offsets.push(offsets.last().copied().unwrap_or(0));
            }
            let lines = self.in_text(span.start)..=self.in_text(span.end - 1);
            offsets.extend(lines.map(|line| self.in_file(line).saturating_sub(first)));
        }
        if offsets.iter().enumerate().all(|(number, offset)| *offset as usize == number) {
            offsets.clear();
        }
        let in_text =
            LineRange::between(to_u32(self.in_text(start) + 1), to_u32(self.in_text(end) + 1));
        Some(FileLines { lines: in_file, map: Some(ChunkLineMap { in_text, offsets }) })
    }

    /// Returns the line of a position in the text, from 0.
    fn in_text(&self, at: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < at)
    }

    /// Returns the line in the file of a line of the text.
    fn in_file(&self, line: usize) -> u32 {
        self.numbers.get(line).copied().unwrap_or_else(|| to_u32(line + 1))
    }
}

pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lines of a chunk and its offsets.
    #[track_caller]
    fn check(
        numbers: &[u32],
        spans: &[(usize, usize)],
        num_head: usize,
        expected: (u32, u32, &[u32]),
    ) {
        let text = "a\nb\nc\n\nd\ne".to_owned();
        let line_numbers = numbers.to_vec();
        let document = Document { text, line_numbers, has_lines: true, ..Document::default() };
        let spans: Vec<Range<usize>> = spans.iter().map(|(start, end)| *start..*end).collect();
        let found = TextLines::of(&document).of_chunk(&spans, num_head).unwrap();
        let offsets = found.map.map(|map| map.offsets).unwrap_or_default();
        assert_eq!((found.lines.first(), found.lines.last(), &*offsets), expected);
    }

    #[test]
    fn each_line_of_a_chunk_is_a_line_of_the_file() {
        check(&[], &[(2, 8)], 0, (2, 5, &[]));
        check(&[3, 4, 5, 6, 7, 8], &[(2, 8)], 0, (4, 7, &[]));
        check(&[3, 3, 3, 4, 5, 5], &[(2, 10)], 0, (3, 5, &[0, 0, 1, 2, 2]));
        check(&[3, 3, 3, 4, 5, 5], &[(0, 1), (7, 10)], 0, (3, 5, &[0, 0, 2, 2]));
        check(&[3, 4, 5, 6, 7, 8], &[(7, 10)], 2, (7, 8, &[0, 0, 0, 1]));
    }
}
