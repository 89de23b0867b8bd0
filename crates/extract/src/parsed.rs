//! Lets a reading child parse a text, and checks the document that it returns.

use crate::document::Document;
use crate::error::{FailureKind, Result};
use crate::protocol::{INVALID, ParsedText, ReadFailure, Request};
use crate::sandbox::{ReadOptions, parent};

/// Parses a text with `reader`; `kind` is the word of its language, for readers that need it.
pub(super) fn extract(
    text: String,
    reader: &str,
    kind: Option<&str>,
    options: &ReadOptions,
) -> Result<Document> {
    let (bytes, kind) = (text.as_bytes(), kind.map(str::to_owned));
    let request = Request { kind, ..parent::request(reader, bytes, options) };
    let parsed = parent::answer(&request, bytes, options)?.parsed.ok_or_else(invalid)?;
    let ParsedText { mut document, has_same_text } = parsed;
    if has_same_text {
        document.text = text;
    }
    if !is_sound(&document) {
        return Err(invalid().into());
    }
    Ok(document)
}

fn invalid() -> ReadFailure {
    ReadFailure::new(FailureKind::Crashed, INVALID)
}

/// Whether the blocks are in order and on the boundaries of characters, and each line has a number.
fn is_sound(document: &Document) -> bool {
    let mut at = 0;
    let are_ranges = document.blocks.iter().all(|block| {
        let range = block.bytes.clone();
        let is_next = at <= range.start && range.start < range.end;
        at = range.end;
        is_next && document.text.get(range).is_some()
    });
    let num_numbers = document.line_numbers.len();
    are_ranges && (num_numbers == 0 || num_numbers == document.text.split('\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Block, BlockKind};

    #[test]
    fn an_answer_with_impossible_ranges_is_not_used() {
        let check = |ranges: &[(usize, usize)], line_numbers: &[u32], expected| {
            let block = |(start, end): &(usize, usize)| Block {
                bytes: *start..*end,
                kind: BlockKind::Paragraph,
                headings: Vec::new(),
                symbol: None,
                context: None,
                page: None,
                starts_section: true,
            };
            let document = Document {
                text: "ä = 1\n\nb".to_owned(),
                blocks: ranges.iter().map(block).collect(),
                line_numbers: line_numbers.to_vec(),
                ..Document::default()
            };
            assert_eq!(is_sound(&document), expected, "{ranges:?} {line_numbers:?}");
        };
        check(&[(0, 6), (8, 9)], &[], true);
        check(&[(0, 6)], &[1, 2, 7], true);
        check(&[(0, 6)], &[1], false);
        check(&[(0, 6), (5, 9)], &[], false);
        check(&[(1, 6)], &[], false);
        check(&[(0, 6), (8, 99)], &[], false);
        check(&[(8, 8)], &[], false);
        check(&[(8, 9), (0, 6)], &[], false);
    }
}
