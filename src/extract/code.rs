//! Builds a [`Document`] from the parts of source code that the reading child finds.

use crate::document::{Block, BlockKind, Document, Language};
use crate::error::{Error, Result};

use super::protocol::SourceBlock;
use super::sandbox::{ReadOptions, parent};
use super::text;

/// Reads source code in the child process. If the child fails, or its answer is not plausible, the
/// source is divided at blank lines: only its symbols are lost.
///
/// # Errors
///
/// [`Error::Io`] if no process can be started.
pub(super) fn extract(text: &str, language: Language, options: &ReadOptions) -> Result<Document> {
    let blocks = match parent::read_source(text, language, options) {
        Ok(blocks) if is_sound(text, &blocks) => blocks.into_iter().map(to_block).collect(),
        Ok(_) | Err(Error::Extract { .. }) => paragraphs(text),
        Err(error) => return Err(error),
    };
    Ok(Document { text: text.to_owned(), blocks, has_lines: true, ..Document::default() })
}

fn to_block(block: SourceBlock) -> Block {
    Block {
        bytes: block.bytes,
        kind: BlockKind::Code,
        headings: Vec::new(),
        symbol: block.symbol,
        context: block.context,
        page: None,
        starts_section: block.starts_section,
    }
}

fn paragraphs(text: &str) -> Vec<Block> {
    let blocks = text::extract(text).blocks.into_iter();
    blocks.map(|block| Block { kind: BlockKind::Code, ..block }).collect()
}

/// Whether blocks are in order, on the boundaries of characters, and leave out only white space.
fn is_sound(text: &str, blocks: &[SourceBlock]) -> bool {
    let is_blank = |range| text.get(range).is_some_and(|gap: &str| gap.trim().is_empty());
    let mut at = 0;
    for SourceBlock { bytes, .. } in blocks {
        let is_part = bytes.start < bytes.end && text.get(bytes.clone()).is_some();
        if !is_part || at > bytes.start || !is_blank(at..bytes.start) {
            return false;
        }
        at = bytes.end;
    }
    is_blank(at..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_loses_or_repeats_text_is_not_used() {
        let check = |ranges: &[(usize, usize)], expected| {
            let blocks = ranges.iter().map(|(start, end)| SourceBlock {
                bytes: *start..*end,
                symbol: None,
                context: None,
                starts_section: true,
            });
            assert_eq!(
                is_sound("ä = 1\n\nb\n", &blocks.collect::<Vec<_>>()),
                expected,
                "{ranges:?}"
            );
        };
        check(&[(0, 6), (8, 9)], true);
        check(&[(0, 10)], true);
        check(&[(0, 6)], false);
        check(&[(0, 6), (5, 9)], false);
        check(&[(1, 6), (8, 9)], false);
        check(&[(0, 6), (8, 99)], false);
        check(&[(0, 6), (8, 8), (8, 9)], false);
        check(&[(8, 9), (0, 6)], false);
    }
}
