//! Reads source code in the child process, and checks that nothing of it is lost.

use crate::document::{Block, BlockKind, Document, Language};
use crate::error::{Error, Result};

use super::protocol::CODE;
use super::sandbox::ReadOptions;
use super::{parsed, plain};

/// Reads source code. If the child fails, or its answer is not plausible, the source is divided at
/// blank lines: only its symbols are lost.
pub(super) fn extract(text: &str, language: Language, options: &ReadOptions) -> Result<Document> {
    match parsed::extract(text.to_owned(), CODE, Some(language.as_str()), options) {
        Ok(document) if is_complete(text, &document) => Ok(document),
        Ok(_) | Err(Error::Extract { .. }) => {
            let document = plain::extract(text);
            let blocks = document.blocks.into_iter();
            let blocks = blocks.map(|block| Block { kind: BlockKind::Code, ..block }).collect();
            Ok(Document { blocks, ..document })
        }
        Err(error) => Err(error),
    }
}

/// Whether the text is that of the file, and the blocks leave out only white space of it.
fn is_complete(text: &str, document: &Document) -> bool {
    if document.text != text {
        return false;
    }
    let blocks = document.blocks.iter().map(|block| (block.bytes.start, block.bytes.end));
    let mut at = 0;
    for (start, end) in blocks.chain([(text.len(), text.len())]) {
        let gap = document.text.get(at..start);
        if !gap.is_some_and(|gap| gap.trim().is_empty()) {
            return false;
        }
        at = end;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_loses_or_changes_text_is_not_used() {
        let check = |ranges: &[(usize, usize)], expected| {
            let text = "ä = 1\n\nb\n";
            let mut document = plain::extract(text);
            let block = document.blocks[0].clone();
            let blocks =
                ranges.iter().map(|(start, end)| Block { bytes: *start..*end, ..block.clone() });
            document.blocks = blocks.collect();
            assert_eq!(is_complete(text, &document), expected, "{ranges:?}");
            document.text.push('c');
            assert!(!is_complete(text, &document));
        };
        check(&[(0, 6), (8, 9)], true);
        check(&[(0, 10)], true);
        check(&[(0, 6)], false);
        check(&[(8, 9)], false);
    }
}
