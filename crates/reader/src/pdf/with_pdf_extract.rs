//! Reads PDF pages with `pdf-extract` where `hayro` fails: only paragraphs.
//!
//! It panics on many malformed files, which its maintainer intends (its issue 47); this is harmless
//! in a child.

use pdf_extract::encryption::DecryptionError;
use pdf_extract::{Document, Error, OutputError, PlainTextOutput, output_doc_page};

use crate::document::BlockKind;
use crate::error::FailureKind;
use crate::extract::pdf::clean;
use crate::extract::protocol::{
    AnswerLine, DocumentHead, ExtractedPage, PageBlock, ReadFailure, ReadingSummary,
};
use crate::{EarlyEnd, Emit, ReaderInput};

/// Reads a PDF page by page.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut document = Document::load_mem(input.bytes).map_err(|error| to_failure(&error))?;
    if document.is_encrypted() {
        let with_empty_password = document.decrypt("");
        with_empty_password
            .or_else(|error| document.decrypt(input.request.password.as_deref().ok_or(error)?))
            .map_err(|error| to_failure(&error))?;
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    if numbers.is_empty() {
        return Err(ReadFailure::new(FailureKind::NoPages, "").into());
    }
    let page_count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    emit(AnswerLine::Document(DocumentHead { page_count, ..DocumentHead::default() }))?;
    for number in numbers {
        let mut text = String::new();
        let outcome = output_doc_page(&document, &mut PlainTextOutput::new(&mut text), number);
        if let Err(error) = outcome {
            // Half a page would be useless in results.
            return Err(to_write_failure(&error).into());
        }
        let blocks = clean::paragraphs(&text);
        let blocks: Vec<PageBlock> =
            blocks.map(|text| PageBlock::new(BlockKind::Paragraph, 0, text)).collect();
        // This reader does not count instructions; only whether there are any matters.
        let num_text_ops = u32::from(!blocks.is_empty());
        emit(AnswerLine::Page(ExtractedPage {
            number,
            blocks,
            num_text_ops,
            ..ExtractedPage::default()
        }))?;
    }
    Ok(ReadingSummary::default())
}

fn to_write_failure(error: &OutputError) -> ReadFailure {
    match error {
        OutputError::PdfError(error) => to_failure(error),
        other => ReadFailure::new(FailureKind::Damaged, other.to_string()),
    }
}

fn to_failure(error: &Error) -> ReadFailure {
    let failure = match error {
        Error::InvalidPassword | Error::Decryption(DecryptionError::IncorrectPassword) => {
            FailureKind::PasswordNeeded
        }
        Error::Decryption(_) => FailureKind::EncryptionNotSupported,
        _ => FailureKind::Damaged,
    };
    let is_self_explanatory = failure == FailureKind::PasswordNeeded;
    ReadFailure::new(failure, if is_self_explanatory { String::new() } else { error.to_string() })
}
