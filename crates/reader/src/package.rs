//! Reads an archive that is a document, whatever its name claims, or reports only its format.

use super::package_kind::{kind_of, of_main_part};
use super::parts::{self, Archive};
use super::{EarlyEnd, Emit, Read, ReaderInput, docx, epub, html, mhtml, odf, pptx, rtf, xlsx};
use crate::document::Headed;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};
use crate::text::decode;
use crate::writer::BlockWriter;

/// How far from its start the format of a file that is merged into another shows.
const SIGNS_WITHIN_BYTES: usize = 1024;

/// Reads the document that a package is, whatever its name claims, and says which format it is.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let asked: Option<Headed> = input.request.reader.parse().ok();
    let kind = if input.bytes.starts_with(b"PK") {
        kind_of(&mut open(input.bytes)?).or(asked)
    } else {
        // An encrypted document is not an archive; its reader reports the encryption.
        asked
    };
    let Some((kind, read)) = kind.and_then(|kind| Some((kind, reader_of(kind)?))) else {
        return Err(ReadFailure::new(FailureKind::WrongFormat, "it is a ZIP archive").into());
    };
    read(input, &mut |line| {
        emit(match line {
            AnswerLine::Document(head) => AnswerLine::Document(DocumentHead {
                format: Some(kind.as_str().to_owned()),
                ..head
            }),
            line => line,
        })
    })
}

/// Says which format a package is, and reads nothing else of it.
pub(crate) fn identify(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let format = kind_of(&mut open(input.bytes)?).map(|kind| kind.as_str().to_owned());
    emit(AnswerLine::Document(DocumentHead { format, ..DocumentHead::default() }))?;
    Ok(ReadingSummary::default())
}

fn reader_of(kind: Headed) -> Option<Read> {
    Some(match kind {
        Headed::Docx => read_docx,
        Headed::Pptx => pptx::read,
        Headed::Xlsx => xlsx::read,
        Headed::Odt => odf::read_text,
        Headed::Odp => odf::read_slides,
        Headed::Ods => odf::read_sheets,
        Headed::Epub => epub::read,
        _ => return None,
    })
}

/// Reads a DOCX file with the files that are merged into it, each by the reader of its own format.
pub(crate) fn read_docx(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    docx::read(input, emit, Some(reader_of_merged))
}

/// Reads a DOCX file that is merged into another; files that are merged into it are not read.
fn read_merged(input: &ReaderInput<'_>, emit: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    docx::read(input, emit, None)
}

/// Recognises a format by the bytes of a file and, if they are not conclusive, by its extension in lower case: programs
/// name merged files as they like.
fn reader_of_merged(bytes: &[u8], extension: &str) -> Option<Read> {
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

/// Opens an archive. The failure of one without a directory says what the parts that are left show.
fn open(bytes: &[u8]) -> Result<Archive<'_>, ReadFailure> {
    parts::open(bytes).map_err(|failed| {
        let names = local_names(bytes);
        let kind = of_main_part(|name| {
            names.iter().any(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        });
        match kind {
            Some(kind) if failed.failure == FailureKind::Damaged => {
                let detail =
                    format!("{}; parts of a file in the format {kind} are left", failed.detail);
                ReadFailure::new(failed.failure, detail)
            }
            _ => failed,
        }
    })
}

/// Returns the names in the heads of entries, which are there if the directory at the end of the archive is cut off.
fn local_names(bytes: &[u8]) -> Vec<&[u8]> {
    const MAGIC: &[u8] = b"PK\x03\x04";
    const HEAD: usize = 30;
    let mut names = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(MAGIC.len()).position(|window| window == MAGIC) {
        rest = &rest[at..];
        if let Some(size) = rest.get(26..28) {
            let size = usize::from(u16::from_le_bytes([size[0], size[1]]));
            names.extend(rest.get(HEAD..HEAD + size));
        }
        rest = &rest[MAGIC.len()..];
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::archive;

    #[test]
    fn an_archive_without_a_directory_says_what_is_left_of_it() {
        let bytes = archive(&[("word/document.xml", "<a/>")]);
        let end = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        let failed = open(&bytes[..end]).err().unwrap();
        assert_eq!(failed.failure, FailureKind::Damaged);
        assert!(
            failed.detail.ends_with("parts of a file in the format docx are left"),
            "{failed:?}"
        );
        assert_eq!(open(b"PK\x03\x04 and no more").err().unwrap().failure, FailureKind::Damaged);
    }
}
