//! Finds lines in the file of a document whose stored text differs in spelling: data, whose escapes are stored as what
//! they stand for.

use crate::document::{Format, LineRange};
use crate::error::Result;
use crate::store::{ChunkPlace, DocumentId, Store, StoredChunk};

use super::pattern::LinePattern;
use super::{GrepDetail, GrepLine, MatchedDocument, surrounded};

/// Whether a pattern may be an escape as a file spells it. A class such as `\d` is not.
pub(crate) fn may_be_escaped(typed: &str, is_fixed: bool) -> bool {
    typed.contains('&') || typed.contains(if is_fixed { "\\" } else { "\\\\" })
}

/// Whether files in a format have escapes.
pub(crate) fn has_escapes(format: &str) -> bool {
    matches!(Format::named(format), Some(Format::Data(_)))
}

/// Finds the matching lines of a document's file, and those around them; each is in the chunk with its line.
pub(crate) fn in_file(
    store: &Store,
    document_id: DocumentId,
    text: &str,
    pattern: &LinePattern,
    detail: GrepDetail,
) -> Result<Option<MatchedDocument>> {
    let mut matching = Vec::new();
    pattern.visit_lines(text, |line| {
        matching.push(line);
        detail != GrepDetail::Name
    });
    let Some(first) = matching.first() else { return Ok(None) };
    let chunks = store.chunks(document_id)?;
    let Some(first_chunk) = chunks.first() else { return Ok(None) };
    let newlines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let around = match detail {
        GrepDetail::Lines(around) => Some(around),
        GrepDetail::Count | GrepDetail::Name => None,
    };
    let shown = around.map(|around| surrounded(text, &matching, around)).unwrap_or_default();
    let lines = shown.into_iter().map(|line| {
        let in_file = line_number(&newlines, line.bytes.start);
        let stored = chunk_with(&chunks, in_file).unwrap_or(first_chunk);
        let words = &text[line.bytes.clone()];
        GrepLine {
            chunk_id: stored.id,
            place: ChunkPlace {
                section: stored.chunk.section.clone(),
                symbol: None,
                pages: None,
                lines: Some(LineRange::single(in_file)),
            },
            matches: if line.is_match { pattern.matches(words) } else { Vec::new() },
            text: words.to_owned(),
            is_after_gap: line.is_after_gap,
        }
    });
    let first_line = line_number(&newlines, first.start);
    Ok(Some(MatchedDocument {
        document_id,
        first_chunk: chunk_with(&chunks, first_line).unwrap_or(first_chunk).id,
        num_lines: matching.len(),
        lines: lines.collect(),
    }))
}

/// Returns the last chunk that begins at or before a line.
fn chunk_with(chunks: &[StoredChunk], line: u32) -> Option<&StoredChunk> {
    chunks.iter().rfind(|stored| stored.chunk.lines.is_some_and(|lines| lines.first() <= line))
}

/// Returns the number of the line at a position, from 1.
fn line_number(newlines: &[usize], at: usize) -> u32 {
    u32::try_from(newlines.partition_point(|newline| *newline < at) + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Chunk;
    use crate::read::grep::PatternOptions;
    use crate::read::testing::{plain, stored};

    #[test]
    fn a_line_of_the_file_is_in_the_chunk_with_its_line() {
        let chunk = |text: &str, first, last| Chunk {
            lines: LineRange::new(first, last),
            ..plain(text, 1)
        };
        let chunks = [chunk("{", 1, 1), chunk("\"a\": \"ö\"", 2, 2), chunk("\"b\": 1 }", 3, 4)];
        let format = Format::Data(crate::document::Data::Json);
        let (db, document) = stored(format, &chunks);
        let file = "{\n\"a\": \"\\u00f6\",\n\"b\": 1\n}\n";
        let fixed = PatternOptions { is_fixed: true, ..PatternOptions::default() };
        let find = |typed: &str, detail| {
            let pattern = LinePattern::new(typed, fixed).unwrap();
            in_file(&db.store, document.id, file, &pattern, detail).unwrap()
        };
        let found = find("\\u00f6", GrepDetail::Lines(1)).unwrap();
        let lines: Vec<_> = found
            .lines
            .iter()
            .map(|line| (line.chunk_id.0, line.place.lines, line.matches.len()))
            .collect();
        let expected = [(1, 1, 0), (2, 2, 1), (3, 3, 0)];
        assert_eq!(
            lines,
            expected.map(|(id, line, count)| (id, LineRange::new(line, line), count))
        );
        assert_eq!((found.num_lines, found.first_chunk.0), (1, 2));
        assert_eq!(find("\\u00f6", GrepDetail::Count).unwrap().lines, []);
        assert!(find("\\u00e4", GrepDetail::Name).is_none());
    }

    #[test]
    fn only_patterns_that_may_be_escapes_are_looked_for_in_files() {
        for (typed, is_fixed, expected) in [
            ("\\u00f6", true, true),
            ("\\u00f6", false, false),
            ("\\\\u00f6", false, true),
            ("&#246;", false, true),
            ("\\d+", false, false),
            ("ö", true, false),
        ] {
            assert_eq!(may_be_escaped(typed, is_fixed), expected, "{typed}");
        }
    }
}
