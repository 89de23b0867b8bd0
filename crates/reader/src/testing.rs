//! Runs a reader on bytes and returns its output, for tests.

use super::{EarlyEnd, Emit, ReaderInput};
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadingSummary};

/// The metadata of a document and the texts of its blocks.
pub(super) type Output = (DocumentHead, Vec<String>);

/// Returns the output of a reader for some bytes.
pub(super) fn output_of(
    read: fn(&ReaderInput<'_>, &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd>,
    bytes: &[u8],
) -> Result<Output, EarlyEnd> {
    let (mut head, mut blocks) = (DocumentHead::default(), Vec::new());
    read(&ReaderInput::of(bytes), &mut |line| {
        match line {
            AnswerLine::Document(document) => head = document,
            AnswerLine::Page(page) => {
                blocks.extend(page.blocks.into_iter().map(|block| block.text));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok((head, blocks))
}
