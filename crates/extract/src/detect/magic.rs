//! Recognises kinds of files by their first bytes.

use crate::document::{Format, Headed, Picture};
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

/// A kind of file that bytes may look like.
#[derive(Clone, Copy)]
struct ByteKind {
    /// In words that fit after "it looks like".
    words: &'static str,
    /// The format that the bytes alone decide.
    format: Option<Format>,
}

const fn foreign(words: &'static str) -> ByteKind {
    ByteKind { words, format: None }
}

const fn picture_of(words: &'static str, picture: Picture) -> ByteKind {
    ByteKind { words, format: Some(Format::Image(picture)) }
}

/// How an archive with entries begins.
pub(super) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// The words of kinds that more than one sign shows, or that the code asks for.
pub(super) const PDF: &str = "PDF";
pub(super) const RTF: &str = "RTF";
pub(super) const XML: &str = "XML";
pub(super) const POSTSCRIPT: &str = "PostScript";
pub(super) const ZIP: &str = "a ZIP archive";
pub(super) const OLD_OFFICE: &str = "an old Office document";
const TIFF: ByteKind = picture_of("a TIFF image", Picture::Tiff);

/// The position of magic bytes, the bytes, and what they show. The first match wins.
const MAGIC: &[(usize, &[u8], ByteKind)] = &[
    (0, b"\x89PNG\r\n", picture_of("a PNG image", Picture::Png)),
    (0, b"\xFF\xD8\xFF", picture_of("a JPEG image", Picture::Jpeg)),
    (0, b"GIF8", foreign("a GIF image")),
    (0, b"II*\0", TIFF),
    (0, b"MM\0*", TIFF),
    (8, b"WEBP", picture_of("a WebP image", Picture::Webp)),
    (0, b"BM", picture_of("a BMP image", Picture::Bmp)),
    (0, ZIP_MAGIC, foreign(ZIP)),
    (0, b"PK\x05\x06", foreign("an empty ZIP archive")),
    (0, b"\x1F\x8B", foreign("gzip data")),
    (0, b"BZh", foreign("bzip2 data")),
    (0, b"\xFD7zXZ\0", foreign("xz data")),
    (0, b"\x28\xB5\x2F\xFD", foreign("zstd data")),
    (0, b"7z\xBC\xAF\x27\x1C", foreign("a 7z archive")),
    (0, b"\x7FELF", foreign("an ELF program")),
    (0, b"MZ", foreign("a Windows program")),
    (0, b"\xCF\xFA\xED\xFE", foreign("a macOS program")),
    (0, b"\xCA\xFE\xBA\xBE", foreign("compiled code")),
    (0, b"\0asm", foreign("WebAssembly")),
    (0, b"SQLite format 3\0", foreign("an SQLite database")),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", foreign(OLD_OFFICE)),
    (0, b"ID3", foreign("an audio file")),
    (0, b"OggS", foreign("an audio file")),
    (0, b"fLaC", foreign("an audio file")),
    (4, b"ftyp", foreign("a video")),
    (0, b"{\\rtf", ByteKind { words: RTF, format: Some(Format::Headed(Headed::Rtf)) }),
    (0, b"%!PS", foreign(POSTSCRIPT)),
];

/// How compressed data begins: gzip, xz, zstd, bzip2.
const COMPRESSED: [&[u8]; 4] = [b"\x1F\x8B\x08", b"\xFD7zXZ\0", b"\x28\xB5\x2F\xFD", b"BZh"];

pub(super) fn is_compressed(head: &[u8]) -> bool {
    COMPRESSED.iter().any(|magic| head.starts_with(magic))
}

/// Returns the kind of picture; `None` for anything that OCR does not read.
pub(super) fn picture(head: &[u8]) -> Option<Picture> {
    match look(head)?.format {
        Some(Format::Image(picture)) => Some(picture),
        _ => None,
    }
}

/// Returns the format of an office document by its content. That of an archive is not in its first bytes.
pub(super) fn office(head: &[u8]) -> Option<Format> {
    look(head)?.format.filter(|format| matches!(format, Format::Headed(_)))
}

/// Returns what bytes look like, in words that fit after "it looks like"; `None` for plain text and
/// for unknown formats. A format whose magic bytes are letters is only recognised if binary data
/// follows.
pub fn looks_like(head: &[u8]) -> Option<&'static str> {
    look(head).map(|look| look.words)
}

fn look(head: &[u8]) -> Option<ByteKind> {
    if is_surely_pdf(head) {
        return Some(foreign(PDF));
    }
    // Text may begin with a byte order mark.
    let start = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    if begins(start, "<!doctype html") || begins(start, "<html") {
        return Some(foreign("HTML"));
    }
    if begins(start, "<?xml") {
        return Some(foreign(XML));
    }
    let (_, _, found) = MAGIC
        .iter()
        .find(|(at, magic, _)| head.get(*at..).is_some_and(|rest| rest.starts_with(magic)))?;
    ([RTF, POSTSCRIPT].contains(&found.words) || decode::is_binary(head)).then_some(*found)
}

/// Whether bytes begin with a text, in letters of any case.
fn begins(bytes: &[u8], text: &str) -> bool {
    bytes.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))
}
