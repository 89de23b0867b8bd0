//! Reads RTF: headings, paragraphs, lists, tables and notes.
//!
//! An RTF file is one nested group of control words and characters in code pages (RTF 1.9.1).

mod body;
mod enclosed;
mod rows;
mod state;
mod tokens;

use super::{EarlyEnd, Emit, ReaderInput};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, ReadFailure, ReadingSummary};

pub(crate) use enclosed::enclosed_page;
pub(crate) use state::label as encoding_label;

/// The start of every file.
const MAGIC: &[u8] = b"{\\rtf";

/// Reads a document.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let bytes = input.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(input.bytes);
    let bytes = bytes.trim_ascii_start();
    if !bytes.starts_with(MAGIC) {
        return Err(ReadFailure::new(FailureKind::WrongFormat, "it is not RTF").into());
    }
    let document = body::read(bytes);
    emit(AnswerLine::Document(document.head))?;
    emit(AnswerLine::Page(document.page))?;
    let mut warnings = Vec::new();
    if document.is_cut {
        warnings.push("the file ends early; the rest is missing".to_owned());
    }
    Ok(ReadingSummary { warnings, ..ReadingSummary::default() })
}

/// Returns the text of a document as paragraphs; `None` if it has no words.
pub(crate) fn text(bytes: &[u8]) -> Option<String> {
    let blocks = body::read(bytes.trim_ascii_start()).page.blocks;
    let text = blocks.into_iter().map(|block| block.text).collect::<Vec<_>>().join("\n\n");
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
