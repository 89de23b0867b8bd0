//! Recognises kinds of files by their first bytes.

use crate::document::{Format, Office, Picture};
use crate::text::decode;

/// Where readers of PDF look for its header (PDF 1.7, appendix H, note 13).
const PDF_HEADER_WITHIN_BYTES: usize = 1024;

/// Returns the position of the PDF header, if readers would find it.
pub(super) fn pdf_header(head: &[u8]) -> Option<usize> {
    let within = &head[..head.len().min(PDF_HEADER_WITHIN_BYTES)];
    within.windows(5).position(|window| window == b"%PDF-")
}

/// Whether bytes are a PDF even if no name claims it; text that only mentions PDF is not one.
pub(super) fn is_surely_pdf(head: &[u8]) -> bool {
    match pdf_header(head) {
        Some(at) => head[..at].iter().all(u8::is_ascii_whitespace) || decode::is_binary(head),
        None => false,
    }
}

/// The position of each format's magic bytes, the bytes, and the name of the format. The first
/// match wins.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n", PNG),
    (0, b"\xFF\xD8\xFF", JPEG),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\0", TIFF),
    (0, b"MM\0*", TIFF),
    (8, b"WEBP", WEBP),
    (0, b"BM", BMP),
    (0, b"PK\x03\x04", ZIP),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\x1F\x8B", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xFD7zXZ\0", "xz data"),
    (0, b"\x28\xB5\x2F\xFD", "zstd data"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (0, b"\x7FELF", "an ELF program"),
    (0, b"MZ", "a Windows program"),
    (0, b"\xCF\xFA\xED\xFE", "a macOS program"),
    (0, b"\xCA\xFE\xBA\xBE", "compiled code"),
    (0, b"\0asm", "WebAssembly"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", OLD_OFFICE),
    (0, b"ID3", "an audio file"),
    (0, b"OggS", "an audio file"),
    (0, b"fLaC", "an audio file"),
    (4, b"ftyp", "a video"),
    (0, b"{\\rtf", RTF),
    (0, b"%!PS", POSTSCRIPT),
];

/// Documents in plain characters that are of no use as text.
pub(super) const PDF: &str = "PDF";
pub(super) const RTF: &str = "RTF";
pub(super) const POSTSCRIPT: &str = "PostScript";

/// What the files of office programs and books may look like.
pub(super) const DOCX: &str = "a DOCX document";
pub(super) const PPTX: &str = "a PPTX presentation";
pub(super) const XLSX: &str = "an XLSX spreadsheet";
pub(super) const ODT: &str = "an OpenDocument text";
pub(super) const ODP: &str = "an OpenDocument presentation";
pub(super) const ODS: &str = "an OpenDocument spreadsheet";
pub(super) const EPUB: &str = "an EPUB book";
pub(super) const ZIP: &str = "a ZIP archive";
pub(super) const OLD_OFFICE: &str = "an old Office document";

/// Names and contents of entries that reveal what a ZIP archive is. The first match wins.
const ENTRIES: &[(&[u8], &str)] = &[
    (b"application/epub+zip", EPUB),
    (b"application/vnd.oasis.opendocument.text", ODT),
    (b"application/vnd.oasis.opendocument.presentation", ODP),
    (b"application/vnd.oasis.opendocument.spreadsheet", ODS),
    (b"ppt/slides/", PPTX),
    (b"ppt/_rels/", PPTX),
    (b"ppt/presentation.xml", PPTX),
    (b"xl/worksheets/", XLSX),
    (b"xl/_rels/", XLSX),
    (b"xl/workbook.xml", XLSX),
    (b"word/", DOCX),
];

/// Pictures that OCR reads.
const PNG: &str = "a PNG image";
const JPEG: &str = "a JPEG image";
const TIFF: &str = "a TIFF image";
const BMP: &str = "a BMP image";
const WEBP: &str = "a WebP image";

/// Returns the kind of picture; `None` for anything that OCR does not read.
pub(super) fn picture(head: &[u8]) -> Option<Picture> {
    Some(match looks_like(head)? {
        PNG => Picture::Png,
        JPEG => Picture::Jpeg,
        TIFF => Picture::Tiff,
        BMP => Picture::Bmp,
        WEBP => Picture::Webp,
        _ => return None,
    })
}

/// Returns the format of an office document or book by its content.
pub(super) fn office(head: &[u8]) -> Option<Format> {
    Some(match looks_like(head)? {
        DOCX => Format::Docx,
        EPUB => Format::Epub,
        PPTX => Format::Office(Office::Pptx),
        XLSX => Format::Office(Office::Xlsx),
        ODT => Format::Office(Office::Odt),
        ODP => Format::Office(Office::Odp),
        ODS => Format::Office(Office::Ods),
        RTF => Format::Office(Office::Rtf),
        _ => return None,
    })
}

/// Returns what bytes look like, in words that fit after "it looks like"; `None` for plain text and
/// for unknown formats. A format whose magic bytes are letters is only recognised if binary data
/// follows.
pub fn looks_like(head: &[u8]) -> Option<&'static str> {
    if is_surely_pdf(head) {
        return Some(PDF);
    }
    let begins = |text: &str| {
        let start = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
        start.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))
    };
    if begins("<!doctype html") || begins("<html") {
        return Some("HTML");
    }
    if begins("<?xml") {
        return Some("XML");
    }
    let is_there =
        |at: usize, magic: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(magic));
    match MAGIC.iter().find(|(at, magic, _)| is_there(*at, magic))?.2 {
        ZIP => {
            let has = |entry: &[u8]| head.windows(entry.len()).any(|window| window == entry);
            let found = ENTRIES.iter().find(|(entry, _)| has(entry)).map(|(_, found)| *found);
            found.or_else(|| decode::is_binary(head).then_some(ZIP))
        }
        text @ (RTF | POSTSCRIPT) => Some(text),
        other => decode::is_binary(head).then_some(other),
    }
}
