//! A reading in, the same with the text of its pictures out: finds pages without usable text and
//! has them read by OCR, a few at a time, in a reading child.

use std::path::PathBuf;
use std::time::Duration;

use super::parent::{self, Reading};
use super::protocol::{OcrJob, OcrOutcome, Page};
use super::{PdfOptions, quality};
use crate::error::{Error, Result};

/// Who reads pictures of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ocr {
    /// Nobody: it is not wanted.
    #[default]
    Never,
    /// Nobody: it is wanted, but Tesseract is not on this machine.
    Missing,
    /// Tesseract.
    Tesseract {
        /// Where it is.
        program: PathBuf,
        /// Languages as it names them, joined by `+`.
        languages: String,
        /// Whether pages that have text are read as pictures too.
        is_forced: bool,
    },
}

impl Ocr {
    /// Whether pages that nobody has read could be read now.
    pub fn is_there(&self) -> bool {
        matches!(self, Self::Tesseract { .. })
    }
}

/// A page with fewer visible characters and more of it under pictures is a scan: what is there is a
/// stamp or a page number.
const FEW_CHARACTERS: usize = 15;
const SCAN_COVERAGE: f64 = 0.4;

/// Share of characters that are no text (replacement, private use) from which a page counts as
/// unreadable.
pub(super) const GARBAGE_SHARE: f64 = 0.1;

/// Pages of one request: what a crash loses is little, and the file is not sent too often.
const PAGES_PER_REQUEST: usize = 16;

/// Requests of one document that may fail: then the rest of its pages is left alone.
const MAX_FAILURES: usize = 8;

/// What reading a page as a picture may take: pages of a newspaper take 20 seconds.
const CPU_MS_PER_PAGE: u64 = 5_000;
const WALL_PER_PAGE: Duration = Duration::from_secs(60);

/// Has the pages that want it read as pictures by `reader`, and puts their text in place.
///
/// A page that cannot be read stays as it was and says why.
///
/// # Errors
///
/// [`Error::Io`] if the reading process cannot be started.
pub(super) fn read(
    reading: &mut Reading,
    reader: &str,
    bytes: &[u8],
    options: &PdfOptions,
) -> Result<()> {
    let Ocr::Tesseract { program, languages, is_forced } = &options.ocr else { return Ok(()) };
    let wanted = reading.pages.iter().filter(|it| *is_forced || lacks_usable_text(it));
    let numbers: Vec<u32> = wanted.map(|it| it.number).collect();
    let options = PdfOptions {
        cpu_ms_per_page: CPU_MS_PER_PAGE,
        wall_per_page: WALL_PER_PAGE,
        ..options.clone()
    };
    let mut left: Vec<&[u32]> = numbers.chunks(PAGES_PER_REQUEST).rev().collect();
    let mut num_failures = 0;
    let mut give_up: Option<OcrOutcome> = None;
    while let Some(pages) = left.pop() {
        if let Some(outcome) = &give_up {
            put_outcome(reading, pages, outcome);
            continue;
        }
        let job = OcrJob {
            program: program.clone(),
            languages: languages.clone(),
            pages: pages.to_vec(),
        };
        match parent::ask(reader, bytes, Some(job), &options) {
            Ok(answer) => {
                // What refuses all of them refuses the rest.
                let outcomes = || answer.pages.iter().map(|it| &it.ocr);
                if outcomes().all(|it| matches!(it, Some(OcrOutcome::Refused(_)))) {
                    give_up = outcomes().next().cloned().flatten();
                }
                answer.pages.into_iter().for_each(|it| put(reading, it));
            }
            Err(Error::Extract { failure, detail }) => {
                num_failures += 1;
                if pages.len() > 1 && num_failures < MAX_FAILURES {
                    // One page is at fault: the others are read without it.
                    let (first, second) = pages.split_at(pages.len() / 2);
                    left.extend([second, first]);
                    continue;
                }
                let reason = Error::Extract { failure, detail }.to_string();
                let outcome = OcrOutcome::Lost(reason);
                put_outcome(reading, pages, &outcome);
                give_up = (num_failures >= MAX_FAILURES).then_some(outcome);
            }
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

fn put_outcome(reading: &mut Reading, pages: &[u32], outcome: &OcrOutcome) {
    for number in pages {
        put(reading, Page { number: *number, ocr: Some(outcome.clone()), ..Page::default() });
    }
}

/// Puts what was read of a picture in the place of what its page had.
fn put(reading: &mut Reading, answer: Page) {
    let Some(page) = reading.pages.iter_mut().find(|it| it.number == answer.number) else { return };
    page.ocr = answer.ocr;
    if !answer.blocks.is_empty() {
        page.blocks = answer.blocks;
        page.num_unreadable = 0;
        page.failed = None;
    }
}

/// Whether a page has something on it and nothing that could be searched.
pub(super) fn lacks_usable_text(page: &Page) -> bool {
    looks_like_scan(page) || is_garbage(page) || (page.blocks.is_empty() && !page.is_blank)
}

/// Whether pictures are all there is on a page, but for a few characters.
pub(super) fn looks_like_scan(page: &Page) -> bool {
    let (num_visible, _) = quality::count_characters(page);
    num_visible < FEW_CHARACTERS && page.image_coverage > SCAN_COVERAGE
}

/// Whether what a page says is mostly characters that are no text.
pub(super) fn is_garbage(page: &Page) -> bool {
    let (num_visible, num_garbage) = quality::count_characters(page);
    let is_unknown = page.blocks.is_empty() && page.num_unreadable > 0;
    is_unknown || num_garbage as f64 > GARBAGE_SHARE * num_visible as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::extract::pdf::protocol::{PageBlock, PageBlockKind};

    fn page(text: &str, image_coverage: f64) -> Page {
        let mut page = Page { image_coverage, ..Page::default() };
        if !text.is_empty() {
            page.blocks.push(PageBlock::new(PageBlockKind::Paragraph, 0, text));
        }
        page
    }

    #[test]
    fn pages_without_usable_text_are_found() {
        assert!(lacks_usable_text(&page("", 1.0)));
        assert!(lacks_usable_text(&page("page 12", 0.9)));
        assert!(lacks_usable_text(&page("\u{E001}\u{E002} plain", 0.0)));
        // Text drawn as shapes.
        assert!(lacks_usable_text(&page("", 0.0)));
        assert!(!lacks_usable_text(&page("a photograph of the harbour at low water", 0.9)));
        assert!(!lacks_usable_text(&page("page 12", 0.1)));
        assert!(!lacks_usable_text(&Page { is_blank: true, ..Page::default() }));
    }

    #[test]
    fn what_was_read_takes_the_place_of_what_was_there() {
        let mut reading = Reading { pages: vec![page("12", 1.0)], ..Reading::default() };
        let nothing = Page { ocr: Some(OcrOutcome::Read), ..Page::default() };
        put(&mut reading, nothing);
        assert_eq!(reading.pages[0].blocks[0].text, "12");
        put(&mut reading, Page { ocr: Some(OcrOutcome::Read), ..page("high water at noon", 0.0) });
        assert_eq!(reading.pages[0].blocks[0].text, "high water at noon");
    }
}
