//! Reads a PDF: runs the readers one after another and assembles the best result.
//!
//! ```text
//! extract: for each reader ─► child ─► pages ; ─► scan ─► assemble ─► Document
//! ```

pub mod clean;

mod assemble;
mod bands;
mod contents;
mod continued;
mod entries;
mod footnotes;
mod furniture;
mod geometry;
mod headings;
mod hyphens;
mod manual_page;
mod notes;
mod number;
mod outline;
mod pictures;
mod quality;
mod scan;
mod sections;
mod soup;
mod spacing;
mod title;
mod watermarks;

use std::borrow::Cow;

use quality::is_missing;

use crate::containers;
use crate::document::{Document, Format};
use crate::error::{Error, FailureKind, Result};
use crate::extracted::ExtractedFile;
use crate::protocol::{ExtractedPage, IMAGE, OCR_OF_IMAGE, OCR_OF_PDF, PDF_READERS, ReadFailure};
use crate::sandbox::ReadOptions;
use crate::sandbox::parent::{self, ReadDocument};

/// Reads a PDF.
///
/// A page without text is not a failure: for a document of scans or of empty pages, the result has
/// no blocks, and `metadata.warnings` reports it.
///
/// # Errors
///
/// [`Error::Extract`] with the class of failure if no reader could read all of it; [`Error::Io`] if
/// the reading process cannot be started.
pub fn extract(bytes: &[u8], options: &ReadOptions) -> Result<ExtractedFile> {
    let bytes = &*from_header(bytes)?;
    // Used if no reader does better: a reading without text, or with too many unknown characters.
    let mut best_so_far: Option<ReadDocument> = None;
    let mut failures: Vec<ReadFailure> = Vec::new();
    // The pages that a reader has or knows to be missing; another may know less.
    let mut known_pages = 0;
    for name in &options.readers {
        let mut reading = parent::read(name, bytes, options).and_then(|mut reading| {
            known_pages = known_pages.max(reading.head.page_count);
            reading.expect_pages(known_pages);
            check_complete(reading, bytes)
        });
        if let (Ok(reading), false) = (&mut reading, options.uses_outline) {
            reading.head.outline.clear();
        }
        match reading {
            Ok(mut reading) => {
                let is_final =
                    reading.is_complete() && (reading.draws_no_text() || reading.is_legible());
                let is_better = best_so_far.as_ref().is_none_or(|best| {
                    reading.has_more_text_than(best)
                        && (best.is_complete() || reading.is_complete())
                });
                if is_better {
                    if let Some(before) = best_so_far.take() {
                        reading.keep_additions_of(before);
                    }
                    best_so_far = Some(reading);
                }
                if is_final {
                    break;
                }
            }
            Err(Error::Extract { failure, detail }) => {
                failures.push(ReadFailure { failure, detail });
            }
            Err(other) => return Err(other),
        }
    }
    if let Some(mut reading) = best_so_far {
        // Pages without text come first; on the others, a wrong text layer is replaced before pictures are read
        // between its blocks.
        scan::read(&mut reading, OCR_OF_PDF, bytes, options)?;
        soup::replace(&mut reading, OCR_OF_PDF, bytes, options)?;
        let unread = pictures::read(&mut reading, OCR_OF_PDF, bytes, options)?;
        let mut document = assemble::assemble(&reading, options);
        document.metadata.warnings.extend(assemble::unread_pictures(&unread));
        let members = containers::members(reading.members);
        return Ok(ExtractedFile { document, format: Format::Pdf, members });
    }
    let most_informative = failures.into_iter().min_by_key(|failed| failed.failure);
    Err(most_informative
        .unwrap_or_else(|| ReadFailure::new(FailureKind::Crashed, "there is no reader"))
        .into())
}

/// Reads an image file as a document of scanned pages.
///
/// # Errors
///
/// As in [`extract`].
pub fn extract_image(bytes: &[u8], options: &ReadOptions) -> Result<Document> {
    let mut reading = parent::read(IMAGE, bytes, options)?;
    if reading.pages.iter().all(is_too_small) {
        return Err(ReadFailure::new(FailureKind::TooSmall, "").into());
    }
    scan::read(&mut reading, OCR_OF_IMAGE, bytes, options)?;
    Ok(assemble::assemble(&reading, options))
}

/// Whether a picture cannot hold a line of print, such as an icon: ten letters of the smallest print, in pixels.
fn is_too_small(picture: &ExtractedPage) -> bool {
    const LINE_LENGTH: f64 = 64.0;
    const LINE_HEIGHT: f64 = 12.0;
    let (width, height) = (picture.width, picture.height);
    width.max(height) < LINE_LENGTH || width.min(height) < LINE_HEIGHT
}

/// Returns how many pages of a PDF or a picture need OCR; 0 for any other document.
///
/// # Errors
///
/// As in [`extract`].
pub fn pages_for_ocr(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<usize> {
    let reading = match format {
        Format::Pdf => parent::read(PDF_READERS[0], &from_header(bytes)?, options)?,
        Format::Image(_) => parent::read(IMAGE, bytes, options)?,
        _ => return Ok(0),
    };
    match format {
        Format::Image(_) if reading.pages.iter().all(is_too_small) => {
            Err(ReadFailure::new(FailureKind::TooSmall, "").into())
        }
        _ => Ok(scan::wanted(&reading, &options.ocr).len()),
    }
}

/// Refuses a reading that lacks half of its pages or more, so that it is not taken for a complete
/// document. If fewer are missing, the document is kept, and a warning names them.
fn check_complete(mut reading: ReadDocument, bytes: &[u8]) -> Result<ReadDocument> {
    let num_pages = reading.pages.len();
    let num_failed = reading.pages.iter().filter(|page| page.failed.is_some()).count();
    if num_failed == num_pages {
        let detail = reading.pages.into_iter().find_map(|page| page.failed).unwrap_or_default();
        return Err(ReadFailure::new(FailureKind::Damaged, detail).into());
    }
    // In a file that was cut off, pages may be known although their content is missing.
    if reading.tail.rebuilt && !has_end(bytes) {
        for page in reading.pages.iter_mut().filter(|page| page.is_blank) {
            page.failed.get_or_insert_with(|| "the file is cut off".to_owned());
        }
    }
    let num_missing = reading.pages.iter().filter(|page| is_missing(page)).count();
    let declared = reading.tail.declared_page_count.and_then(|count| usize::try_from(count).ok());
    let detail = if reading.tail.pages_lost {
        let num_found = num_pages - num_missing;
        match declared {
            Some(declared) if num_found * 2 > declared => return Ok(reading),
            Some(declared) => format!("only {num_found} of its {declared} pages were found"),
            None => "pages are missing".to_owned(),
        }
    } else if num_missing * 2 < num_pages {
        return Ok(reading);
    } else if reading.tail.rebuilt {
        format!("the file is cut off; {num_missing} of {num_pages} pages are empty")
    } else {
        format!("only {} of its {num_pages} pages were found", num_pages - num_missing)
    };
    Err(ReadFailure::new(FailureKind::Damaged, detail).into())
}

/// Whether the end marker of a PDF is near the end of `bytes`.
fn has_end(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(MAX_JUNK_BYTES)..];
    tail.windows(5).any(|window| window == b"%%EOF")
}

/// How far from the start of a file its header may be, and its end marker from the end; viewers
/// accept the same.
const MAX_JUNK_BYTES: usize = 1024;

/// Returns `bytes` from the header on, with a header added if it is missing.
pub(crate) fn from_header(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    let window = &bytes[..bytes.len().min(MAX_JUNK_BYTES + 5)];
    let header = window.windows(5).position(|window| window == b"%PDF-");
    match header {
        Some(at) => Ok(Cow::Borrowed(&bytes[at..])),
        // Readers require a header before they look at anything else.
        None if is_headless(bytes) => Ok(Cow::Owned([b"%PDF-1.4\n", bytes].concat())),
        None => Err(ReadFailure::new(FailureKind::WrongFormat, looks_like(bytes)).into()),
    }
}

/// Whether `bytes` contain structures of a PDF but no header.
fn is_headless(bytes: &[u8]) -> bool {
    contains(bytes, b"endobj")
        && (contains(bytes, b"startxref")
            || contains(bytes, b"trailer")
            || contains(bytes, b"/Catalog"))
}

fn contains(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.windows(mark.len()).any(|window| window == mark)
}

/// Describes what a file that is not a PDF looks like.
fn looks_like(bytes: &[u8]) -> String {
    const MARKS: &[(&[u8], &str)] = &[
        (b"PK\x03\x04", "a ZIP archive or an Office document"),
        (b"\xD0\xCF\x11\xE0", "an old Office document"),
        (b"{\\rtf", "RTF"),
        (b"%!PS", "PostScript"),
        (b"\x89PNG", "a PNG image"),
        (b"\xFF\xD8\xFF", "a JPEG image"),
        (b"II*\0", "a TIFF image"),
        (b"MM\0*", "a TIFF image"),
        (b"GIF8", "a GIF image"),
        (b"\x1F\x8B", "a gzip archive"),
        (b"\x7FELF", "a program"),
        (b"SQLite format 3", "an SQLite database"),
    ];
    let start = bytes.trim_ascii_start();
    let head = String::from_utf8_lossy(&start[..start.len().min(MAX_JUNK_BYTES)]);
    let lower = head.to_ascii_lowercase();
    let mark = MARKS.iter().find(|(mark, _)| start.starts_with(mark));
    let kind = match mark {
        Some((_, name)) => name,
        None if start.is_empty() => "nothing at all",
        None if lower.contains("<html") || lower.contains("<!doctype html") => "HTML",
        None if lower.starts_with("<?xml") => "XML",
        None if head.chars().all(|c| !c.is_control() || c.is_whitespace()) => "plain text",
        None => "binary data",
    };
    format!("it looks like {kind}, not PDF")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ReadingSummary;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        match from_header(bytes) {
            Err(Error::Extract { failure: FailureKind::WrongFormat, detail }) => {
                assert_eq!(detail, format!("it looks like {expected}, not PDF"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_wrong_format_is_named() {
        check(b"\n <!DOCTYPE HTML><p>not here", "HTML");
        check(b"PK\x03\x04rest", "a ZIP archive or an Office document");
        check(b"dear reader", "plain text");
        check(b"\x00\x01\x02", "binary data");
        check(b" \n", "nothing at all");
    }

    #[test]
    fn junk_before_the_header_is_skipped() {
        let bytes = b"HTTP/1.1 200\r\n\r\n%PDF-1.7\n";
        assert_eq!(*from_header(bytes).unwrap(), *b"%PDF-1.7\n");
        let far = [vec![b' '; MAX_JUNK_BYTES + 1], b"%PDF-1.7\n".to_vec()].concat();
        assert!(from_header(&far).is_err());
    }

    #[test]
    fn a_file_that_lost_its_header_is_still_a_pdf() {
        let bytes = b"1.4\n1 0 obj <</Type/Catalog>> endobj\n";
        assert!(from_header(bytes).unwrap().starts_with(b"%PDF-1.4\n1.4\n1 0 obj"));
    }

    fn failed() -> ExtractedPage {
        ExtractedPage { failed: Some("bad font".into()), ..ExtractedPage::default() }
    }

    fn blank() -> ExtractedPage {
        ExtractedPage { is_blank: true, ..ExtractedPage::default() }
    }

    fn missing() -> ExtractedPage {
        ExtractedPage { is_blank: true, ..failed() }
    }

    fn checked(
        pages: Vec<ExtractedPage>,
        tail: ReadingSummary,
        bytes: &[u8],
    ) -> Result<ReadDocument> {
        check_complete(ReadDocument { pages, tail, ..ReadDocument::default() }, bytes)
    }

    #[test]
    fn lost_pages_are_damage() {
        let outcome = |pages, pages_lost, rebuilt, bytes: &[u8]| {
            let tail = ReadingSummary { pages_lost, rebuilt, ..ReadingSummary::default() };
            checked(pages, tail, bytes).is_ok()
        };
        let good = ExtractedPage::default;
        assert!(outcome(vec![good()], false, true, b""));
        assert!(outcome(vec![good(), failed()], false, false, b""));
        assert!(!outcome(vec![failed(), failed()], false, false, b""));
        assert!(!outcome(vec![good()], true, false, b""));
        assert!(!outcome(vec![], false, false, b""));
        // A blank page is not damage, except at the end of half a file.
        assert!(outcome(vec![good(), blank()], false, false, b""));
        assert!(outcome(vec![good(), blank()], false, true, b"%%EOF\n"));
        assert!(!outcome(vec![good(), blank()], false, true, b"1 0 obj"));
    }

    #[test]
    fn a_document_that_lacks_a_few_pages_is_kept() {
        let tail = |declared_page_count, pages_lost| ReadingSummary {
            declared_page_count,
            pages_lost,
            ..ReadingSummary::default()
        };
        let good = ExtractedPage::default;
        let some = vec![good(), missing(), good()];
        assert!(
            checked(some.clone(), tail(Some(3), false), b"").unwrap().pages[1].failed.is_some()
        );
        let half = vec![good(), missing()];
        assert!(checked(half, tail(Some(2), false), b"").is_err());
        // Pages whose numbers are unknown.
        assert!(checked(vec![good(), good()], tail(Some(3), true), b"").is_ok());
        assert!(checked(some, tail(Some(4), true), b"").is_err());
        // At the end of a file that was cut off.
        let cut = ReadingSummary { rebuilt: true, ..ReadingSummary::default() };
        let read = checked(vec![good(), good(), blank()], cut, b"1 0 obj").unwrap();
        assert_eq!(read.pages[2].failed.as_deref(), Some("the file is cut off"));
    }
}
