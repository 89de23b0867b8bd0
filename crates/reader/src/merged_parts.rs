//! Reads a DOCX file with the files that are merged into it, each by the reader of its own format.

use super::{EarlyEnd, Emit, Read, ReaderInput, docx, html, mhtml, rtf};
use crate::extract::protocol::{AnswerLine, ReadingSummary};
use crate::text::decode;
use crate::writer::BlockWriter;

/// How far from its start the format of a file shows.
const SIGNS_WITHIN_BYTES: usize = 1024;

/// Reads a DOCX file.
pub(crate) fn read_docx(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    docx::read(input, emit, Some(reader_of))
}

/// Reads a DOCX file that is merged into another; files that are merged into it are not read.
fn read_merged(input: &ReaderInput<'_>, emit: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    docx::read(input, emit, None)
}

/// Recognises a format by the bytes of a file and, if they do not tell, by its extension in lower
/// case: programs name merged files as they like.
fn reader_of(bytes: &[u8], extension: &str) -> Option<Read> {
    let start = &bytes[..bytes.len().min(SIGNS_WITHIN_BYTES)];
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    let words = String::from_utf8_lossy(start).to_lowercase();
    if start.starts_with(docx::ARCHIVE) {
        return Some(read_merged);
    }
    if start.starts_with(b"{\\rtf") {
        return Some(rtf::read);
    }
    if words.contains("mime-version:") {
        return Some(mhtml::read);
    }
    let is_page = ["<html", "<!doctype html", "<body"].iter().any(|tag| words.contains(tag));
    if is_page || matches!(extension, "html" | "htm" | "xhtml") {
        return Some(html::read);
    }
    (extension == "txt").then_some(read_paragraphs)
}

/// Reads the paragraphs of a plain text, with blank lines between them.
fn read_paragraphs(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let text = decode::decode(input.bytes).unwrap_or_default().replace("\r\n", "\n");
    let mut writer = BlockWriter::default();
    text.split("\n\n").for_each(|paragraph| writer.paragraph(paragraph));
    emit(AnswerLine::Page(writer.page(1)))?;
    Ok(ReadingSummary::default())
}
