//! Reads PDF pages with `pdf-extract`, the last resort: paragraphs only.
//!
//! It panics on many malformed files, by its maintainer's choice (its issue 47): fine, in a child.

use pdf_extract::encryption::DecryptionError;
use pdf_extract::{Document, Error, OutputError, PlainTextOutput, output_doc_page};

use crate::error::Failure;
use crate::extract::pdf::clean;
use crate::extract::protocol::{GaveUp, Head, Line, Page, PageBlock, PageBlockKind, Tail};
use crate::extract::reader::{Emit, Input, Stop};

/// Reads a PDF page by page.
pub(in crate::extract) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<(), Stop> {
    let mut document = Document::load_mem(input.bytes).map_err(|it| gave_up(&it))?;
    if document.is_encrypted() {
        let empty_first = document.decrypt("");
        empty_first
            .or_else(|error| document.decrypt(input.password.ok_or(error)?))
            .map_err(|it| gave_up(&it))?;
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    if numbers.is_empty() {
        return Err(GaveUp::new(Failure::NoPages, "").into());
    }
    let page_count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    emit(Line::Document(Head { page_count, ..Head::default() }))?;
    for number in numbers {
        let mut text = String::new();
        let outcome = output_doc_page(&document, &mut PlainTextOutput::new(&mut text), number);
        if let Err(error) = outcome {
            // Half a page is garbage to the reader of a result.
            return Err(gave_up_writing(&error).into());
        }
        let blocks = clean::paragraphs(&text);
        let blocks: Vec<PageBlock> =
            blocks.map(|it| PageBlock::new(PageBlockKind::Paragraph, 0, it)).collect();
        // Not counted by this reader; all that matters of it is whether there are any.
        let num_text_ops = u32::from(!blocks.is_empty());
        emit(Line::Page(Page { number, blocks, num_text_ops, ..Page::default() }))?;
    }
    emit(Line::Done(Tail::default()))?;
    Ok(())
}

fn gave_up_writing(error: &OutputError) -> GaveUp {
    match error {
        OutputError::PdfError(error) => gave_up(error),
        other => GaveUp::new(Failure::Damaged, other.to_string()),
    }
}

fn gave_up(error: &Error) -> GaveUp {
    let failure = match error {
        Error::InvalidPassword | Error::Decryption(DecryptionError::IncorrectPassword) => {
            Failure::PasswordNeeded
        }
        Error::Decryption(_) => Failure::EncryptionNotSupported,
        _ => Failure::Damaged,
    };
    let says_it_all = failure == Failure::PasswordNeeded;
    GaveUp::new(failure, if says_it_all { String::new() } else { error.to_string() })
}
