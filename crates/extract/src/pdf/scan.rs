//! Runs OCR on pages without usable text, a few at a time, in parallel reading children.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::quality::{count_characters, is_garbage, lacks_usable_text};
use crate::error::{Error, Result};
use crate::protocol::{BlockPlace, ExtractedPage, OcrOutcome, Request};
use crate::sandbox::parent::{self, ReadDocument};
use crate::sandbox::{Ocr, ReadOptions};

/// Pages per request: few enough to lose little in a crash, and enough not to send the file too
/// often.
const PAGES_PER_REQUEST: usize = 16;

/// How many requests of one document may fail before its remaining pages are skipped. A failing request is halved
/// until its page is found, which takes four more.
const MAX_FAILURES: usize = 8;

/// The time that each page adds to the limits of a request, for the child and for each run of Tesseract. A page
/// of a newspaper takes 20 seconds, which the limits of the request itself cover.
const CPU_MS_PER_PAGE: u64 = 5_000;
const WALL_PER_PAGE: Duration = Duration::from_secs(60);

/// Returns the numbers of the pages that need OCR.
pub(super) fn wanted(reading: &ReadDocument, ocr: &Ocr) -> Vec<u32> {
    let is_forced = matches!(ocr, Ocr::Tesseract { is_forced: true, .. });
    let wanted = reading.pages.iter().filter(|page| is_forced || lacks_usable_text(page));
    wanted.map(|page| page.number).collect()
}

/// Runs OCR on the pages that need it with `reader`, and replaces their text.
///
/// A page that cannot be read stays unchanged and gets the reason.
pub(super) fn read(
    reading: &mut ReadDocument,
    reader: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<()> {
    let &Ocr::Tesseract { is_forced, .. } = &options.ocr else { return Ok(()) };
    let numbers = wanted(reading, &options.ocr);
    let (answers, outcome) = run(&numbers, &[], reader, bytes, options);
    answers.into_iter().for_each(|page| put(reading, page, is_forced));
    outcome
}

/// Runs OCR on pages, or on areas of them.
pub(super) fn run(
    numbers: &[u32],
    areas: &[(u32, BlockPlace)],
    reader: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> (Vec<ExtractedPage>, Result<()>) {
    if numbers.is_empty() {
        return (Vec::new(), Ok(()));
    }
    options.ocr_slots.count(numbers.len(), 0);
    let num_threads = options.ocr_slots.num_slots();
    let num_pages = numbers.len().div_ceil(num_threads).min(PAGES_PER_REQUEST);
    let run = OcrRun {
        reader,
        bytes,
        areas,
        options: ReadOptions {
            cpu_ms_per_page: CPU_MS_PER_PAGE,
            wall_per_page: WALL_PER_PAGE,
            ..options.clone()
        },
        progress: Mutex::new(OcrProgress {
            // Requests are taken from the end, so that pages are read in order.
            left: numbers.chunks(num_pages).rev().collect(),
            ..OcrProgress::default()
        }),
    };
    let outcome = thread::scope(|scope| {
        // This thread is one of the workers.
        let others = num_threads.min(numbers.len().div_ceil(num_pages)) - 1;
        let others: Vec<_> = (0..others).map(|_| scope.spawn(|| run.work())).collect();
        let own = run.work();
        others.into_iter().filter_map(|worker| worker.join().ok()).fold(own, Result::and)
    });
    let progress = run.progress.into_inner().unwrap_or_else(PoisonError::into_inner);
    (progress.answers, outcome)
}

/// OCR of one document in progress.
struct OcrRun<'a> {
    reader: &'a str,
    bytes: &'a [u8],
    areas: &'a [(u32, BlockPlace)],
    options: ReadOptions,
    progress: Mutex<OcrProgress<'a>>,
}

/// How far it has come.
#[derive(Default)]
struct OcrProgress<'a> {
    /// Requests, the next one last.
    left: Vec<&'a [u32]>,
    answers: Vec<ExtractedPage>,
    num_failures: usize,
    /// The result of the remaining pages, once OCR of this document has been abandoned.
    give_up: Option<OcrOutcome>,
}

impl<'a> OcrRun<'a> {
    /// Makes requests until none is left.
    fn work(&self) -> Result<()> {
        loop {
            let mut progress = self.lock();
            let Some(pages) = progress.left.pop() else { return Ok(()) };
            if let Some(outcome) = progress.give_up.clone() {
                progress.put(pages, &outcome);
                self.options.ocr_slots.count(0, pages.len());
                continue;
            }
            drop(progress);
            let slot = self.options.ocr_slots.take();
            let Self { reader, bytes, options, .. } = self;
            let areas = self.areas.iter().filter(|(page, _)| pages.contains(page));
            let request = Request {
                ocr_pages: pages.to_vec(),
                ocr_areas: areas.copied().collect(),
                ..parent::request(reader, bytes, options)
            };
            let answer = parent::answer(&request, bytes, options);
            drop(slot);
            let mut progress = self.lock();
            let num_before = progress.answers.len();
            progress.record(pages, answer)?;
            self.options.ocr_slots.count(0, progress.answers.len() - num_before);
        }
    }

    fn lock(&self) -> MutexGuard<'_, OcrProgress<'a>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> OcrProgress<'a> {
    fn record(&mut self, pages: &'a [u32], answer: Result<ReadDocument>) -> Result<()> {
        match answer {
            Ok(answer) => {
                // An error that affects several pages affects the rest too.
                let mut refused = answer.pages.iter().map_while(|page| match &page.ocr {
                    Some(OcrOutcome::Refused(reason)) => Some(reason),
                    _ => None,
                });
                let first = refused.next().cloned();
                if pages.len() > 1 && refused.count() + 1 == answer.pages.len() {
                    self.give_up = first.map(OcrOutcome::Refused);
                }
                self.answers.extend(answer.pages);
            }
            Err(Error::Extract { failure, detail }) => {
                self.num_failures += 1;
                if pages.len() > 1 && self.num_failures < MAX_FAILURES {
                    // One page causes the failure; the others are read without it.
                    let (first, second) = pages.split_at(pages.len() / 2);
                    self.left.extend([second, first]);
                    return Ok(());
                }
                let outcome = OcrOutcome::Lost(Error::Extract { failure, detail }.to_string());
                self.put(pages, &outcome);
                if self.num_failures >= MAX_FAILURES {
                    self.give_up = Some(outcome);
                }
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    fn put(&mut self, pages: &[u32], outcome: &OcrOutcome) {
        self.answers.extend(pages.iter().map(|number| ExtractedPage {
            number: *number,
            ocr: Some(outcome.clone()),
            ..ExtractedPage::default()
        }));
    }
}

/// Text that has at least one in this many characters of the result of OCR is not replaced: it has no errors of
/// recognition.
const MAX_GAIN: usize = 2;

/// Replaces the text of a page with the result of OCR, unless it has nearly as much.
fn put(reading: &mut ReadDocument, answer: ExtractedPage, is_forced: bool) {
    let Some(page) = reading.pages.iter_mut().find(|page| page.number == answer.number) else {
        return;
    };
    let is_better = is_forced
        || is_garbage(page)
        || count_characters(&answer).0 >= MAX_GAIN * count_characters(page).0;
    if !answer.blocks.is_empty() && is_better {
        replace(page, answer);
    } else {
        page.ocr = answer.ocr;
        (page.num_words, page.num_unsure) = (answer.num_words, answer.num_unsure);
    }
}

/// Replaces the text of a page with the result of OCR.
pub(super) fn replace(page: &mut ExtractedPage, answer: ExtractedPage) {
    page.ocr = answer.ocr;
    (page.num_words, page.num_unsure) = (answer.num_words, answer.num_unsure);
    page.blocks = answer.blocks;
    // The size is that of the picture, turned upright.
    (page.width, page.height) = (answer.width, answer.height);
    page.failed = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;
    use crate::error::FailureKind;
    use crate::protocol::PageBlock;

    fn page(text: &str, image_coverage: f64) -> ExtractedPage {
        let mut page = ExtractedPage { image_coverage, ..ExtractedPage::default() };
        if !text.is_empty() {
            page.blocks.push(PageBlock::new(BlockKind::Paragraph, 0, text));
        }
        page
    }

    #[test]
    fn ocr_is_abandoned_when_every_request_fails() {
        let numbers: Vec<u32> = (1..=100).collect();
        let mut progress = OcrProgress {
            left: numbers.chunks(PAGES_PER_REQUEST).rev().collect(),
            ..OcrProgress::default()
        };
        let mut num_requests = 0;
        while let Some(pages) = progress.left.pop() {
            if let Some(outcome) = progress.give_up.clone() {
                progress.put(pages, &outcome);
                continue;
            }
            num_requests += 1;
            let crash = Error::Extract { failure: FailureKind::Crashed, detail: String::new() };
            progress.record(pages, Err(crash)).unwrap();
        }
        assert_eq!(num_requests, MAX_FAILURES);
        let mut found: Vec<u32> = progress.answers.iter().map(|page| page.number).collect();
        found.sort_unstable();
        assert_eq!(found, numbers);
    }

    #[test]
    fn a_failing_page_does_not_affect_others() {
        let mut progress = OcrProgress { left: vec![&[1, 2, 3, 4]], ..OcrProgress::default() };
        while let Some(pages) = progress.left.pop() {
            let answer = if pages.contains(&3) {
                Err(Error::Extract { failure: FailureKind::TimedOut, detail: String::new() })
            } else {
                let read = |number: &u32| ExtractedPage {
                    number: *number,
                    ocr: Some(OcrOutcome::Read),
                    ..ExtractedPage::default()
                };
                Ok(ReadDocument {
                    pages: pages.iter().map(read).collect(),
                    ..ReadDocument::default()
                })
            };
            progress.record(pages, answer).unwrap();
        }
        let is_read = |page: &&ExtractedPage| page.ocr == Some(OcrOutcome::Read);
        let read: Vec<u32> =
            progress.answers.iter().filter(is_read).map(|page| page.number).collect();
        assert_eq!(read, [1, 2, 4]);
        assert_eq!(progress.answers.len(), 4);
    }

    #[test]
    fn a_refusal_of_several_pages_applies_to_the_rest() {
        let refused = |number| {
            let ocr = Some(OcrOutcome::Refused("no such language".into()));
            ExtractedPage { number, ocr, ..ExtractedPage::default() }
        };
        let answer = |pages| Ok(ReadDocument { pages, ..ReadDocument::default() });
        let mut progress = OcrProgress::default();
        progress.record(&[1], answer(vec![refused(1)])).unwrap();
        assert_eq!(progress.give_up, None);
        progress.record(&[2, 3], answer(vec![refused(2), refused(3)])).unwrap();
        assert!(progress.give_up.is_some());
    }

    #[test]
    fn ocr_text_replaces_the_text_of_the_page() {
        let mut reading = ReadDocument { pages: vec![page("12", 1.0)], ..ReadDocument::default() };
        let nothing = ExtractedPage { ocr: Some(OcrOutcome::Read), ..ExtractedPage::default() };
        put(&mut reading, nothing, false);
        assert_eq!(reading.pages[0].blocks[0].text, "12");
        let read = |text| ExtractedPage { ocr: Some(OcrOutcome::Read), ..page(text, 0.0) };
        put(&mut reading, read("high water at noon"), false);
        assert_eq!(reading.pages[0].blocks[0].text, "high water at noon");
        put(&mut reading, read("hiqh vvater at n00n today"), false);
        assert_eq!(reading.pages[0].blocks[0].text, "high water at noon");
        put(&mut reading, read("by force"), true);
        assert_eq!(reading.pages[0].blocks[0].text, "by force");
    }
}
