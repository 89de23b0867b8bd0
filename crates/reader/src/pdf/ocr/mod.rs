//! Reads grey pictures of pages: Tesseract, which the parent runs, finds the words, and layout analysis finds lines, tables
//! and paragraphs among them, as on a page of a PDF.
//!
//! ```text
//! raster ─► skew ─► tesseract ─► tsv ─► signs ─► words ─► layout ─► blocks
//!             └► strokes ──────── rules ─────────────────────┘
//! ```

mod ink;
mod raster;
mod signs;
mod skew;
mod strokes;
mod tesseract;
mod tsv;
mod words;

use std::borrow::Cow;

use super::layout;
use super::layout::sheet::{POINTS_PER_INCH, PageArea};
use crate::document::{BlockKind, WordAccount};
use crate::extract::protocol::{AnswerLine, ExtractedPage, OcrOutcome, PageBlock};
use crate::{Ask, EarlyEnd, Emit, ReaderInput};
use ink::{Frame, Ink};
pub(crate) use raster::Raster;
use tsv::RecognizedWord;
use words::{ShapedWord, USUAL_SIZE};

/// Most pixels of a picture: an A3 page at 300 dpi has 17 million.
const MAX_PIXELS: f64 = 25e6;

/// Longest side of a picture; Tesseract accepts at most 32,767.
const MAX_SIDE: f64 = 20_000.0;

/// Height of a page as a multiple of the usual size of its text, if the resolution is unknown: that
/// of A4 paper and 10 points.
const SIZES_PER_PAGE: f64 = 84.0;

/// Confidence, 0 to 100, below which a word is unsure: most such words are wrong.
const SURE: f64 = 60.0;

/// Confidence below which signs without letters and digits are specks or pieces of a frame.
const SPECK: f64 = 20.0;

/// By how much another reading of a word must be surer to replace a sure one. Both readings are sure of most words,
/// and small differences between them mean nothing.
const MUCH_SURER: f64 = 20.0;

/// Fraction of a frame that is ink, below which there is nothing in it.
const BLANK: f64 = 0.01;

/// Share of unsure or tall words from which the page may be sideways or upside down, and fewest
/// words that can show it. Half of the words of such pages are unsure, one in twenty of others.
const TURNED_SHARE: f64 = 0.3;
const MIN_WORDS: usize = 5;

/// How many pixels of pictures are read together: eight pages of A4 at 200 dpi. They share one start of Tesseract,
/// but are in memory at the same time.
const MAX_TOGETHER: usize = 32 << 20;

/// Returns the largest factor by which a picture of this size may be scaled; below 1 if it is too
/// large.
pub(crate) fn max_scale(width: f64, height: f64) -> f64 {
    (MAX_PIXELS / (width * height)).sqrt().min(MAX_SIDE / width.max(height))
}

/// Returns the brightness of a colour (ITU-R BT.601).
pub(crate) fn grey(red: u8, green: u8, blue: u8) -> u8 {
    let sum = 77 * u32::from(red) + 150 * u32::from(green) + 29 * u32::from(blue);
    u8::try_from(sum >> 8).unwrap_or(u8::MAX)
}

/// Reads the pages that the job names, which `draw` draws; `None` for one that does not exist.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
    mut draw: impl FnMut(u32) -> Result<Option<Raster>, EarlyEnd>,
) -> Result<(), EarlyEnd> {
    let (mut numbers, mut rasters, mut num_pixels) = (Vec::new(), Vec::new(), 0);
    let mut pages = input.request.ocr_pages.iter().copied().peekable();
    while let Some(number) = pages.next() {
        let drawn = draw(number)?;
        match drawn {
            Some(raster) => {
                num_pixels += raster.pixels.len();
                numbers.push(number);
                rasters.push(raster);
            }
            None => {
                let reason = "the page does not exist".to_owned();
                emit(AnswerLine::Page(lost(number, OcrOutcome::Lost(reason))))?;
            }
        }
        if num_pixels >= MAX_TOGETHER || pages.peek().is_none() {
            num_pixels = 0;
            let scans = recognise(&std::mem::take(&mut rasters), input.ask);
            for (number, scan) in std::mem::take(&mut numbers).into_iter().zip(scans) {
                let is_part = input.request.ocr_areas.iter().any(|(page, _)| *page == number);
                emit(AnswerLine::Page(match scan {
                    Ok(scan) if is_part => ExtractedPage { number, ..scan.without_unsure().page() },
                    Ok(scan) => ExtractedPage { number, ..scan.page() },
                    Err(reason) => lost(number, OcrOutcome::Refused(reason)),
                }))?;
            }
        }
    }
    Ok(())
}

fn lost(number: u32, outcome: OcrOutcome) -> ExtractedPage {
    ExtractedPage { number, ocr: Some(outcome), ..ExtractedPage::default() }
}

/// Lays out the words that a table of Tesseract's names on a picture with stripes, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz(table: &str) {
    let pixels = (0..320 * 240).map(|idx| if idx / 320 % 16 < 9 { 0 } else { 255 }).collect();
    let raster = Raster { width: 320, height: 240, dpi: None, pixels };
    let ink = Ink::of(&raster);
    let (width, height) = raster.size();
    let mut words = tsv::parse(table, width, height);
    words.iter_mut().for_each(|word| word.frame = ink.tightened(word.frame));
    signs::repair(&mut words, &ink);
    let _ = RecognizedPicture { ink, dpi: None, words, strokes: Vec::new() }.page();
}

/// A picture with level lines, and its content.
struct RecognizedPicture {
    ink: Ink,
    dpi: Option<f64>,
    words: Vec<RecognizedWord>,
    /// Its rules.
    strokes: Vec<Frame>,
}

/// Returns what Tesseract reads on each picture, or why it fails.
fn recognise(rasters: &[Raster], ask: &Ask<'_>) -> Vec<Result<RecognizedPicture, String>> {
    let mut scans = RecognizedPicture::read(rasters, ask);
    for (raster, scan) in rasters.iter().zip(&mut scans) {
        let Ok(scan) = scan else { continue };
        if !scan.may_be_turned() {
            continue;
        }
        // Tesseract reads lines that run down the page without data for orientation.
        let turn = tesseract::turn(raster, ask).or(scan.runs_down().then_some(270));
        let Some(turn) = turn else { continue };
        if let Some(Ok(turned)) = RecognizedPicture::read(&[raster.turned(turn)], ask).pop()
            && turned.is_better_than(scan)
        {
            *scan = turned;
        }
    }
    scans
}

/// A picture before it is read: level, and without its rules.
struct LeveledPicture<'a> {
    level: Cow<'a, Raster>,
    ink: Ink,
    bare: Raster,
    bare_ink: Ink,
    strokes: Vec<Frame>,
    /// Size of most text in pixels, if it is usual.
    size: f64,
}

impl<'a> LeveledPicture<'a> {
    /// Rotates a picture until its lines are level, and finds its rules.
    fn of(raster: &'a Raster) -> Self {
        let mut ink = Ink::of(raster);
        let mut level = Cow::Borrowed(raster);
        // Rules are found among level ink only, so the page is made level first.
        if let Some(degrees) = skew::of(&ink) {
            level = Cow::Owned(raster.rotated(degrees));
            ink = Ink::of(&level);
        }
        let size = match raster.dpi {
            Some(dpi) => USUAL_SIZE * dpi / POINTS_PER_INCH,
            None => f64::from(raster.width.max(raster.height)) / SIZES_PER_PAGE,
        };
        let strokes = strokes::find(&ink, size);
        let bare = strokes::erased(&level, &strokes);
        Self { bare_ink: Ink::of(&bare), level, ink, bare, strokes, size }
    }

    /// Returns the words of Tesseract's table, without those that are pieces of rules.
    fn words_of(&self, table: &str) -> Vec<RecognizedWord> {
        let mut words = self.parsed(table);
        // A piece of a rule has no ink without the rules.
        words.retain(|word| {
            self.ink.share(word.frame) < BLANK || self.bare_ink.share(word.frame) >= BLANK
        });
        words
    }

    fn parsed(&self, table: &str) -> Vec<RecognizedWord> {
        let (width, height) = self.level.size();
        tsv::parse(table, width, height)
    }

    /// Whether there may be more words than these in a table with cells.
    fn is_partly_read(&self, words: &[RecognizedWord]) -> bool {
        let sure = words.iter().filter(|word| word.confidence >= SURE);
        let sure: Vec<Frame> = sure.map(|word| word.frame).collect();
        let table = strokes::cells(&self.strokes);
        table.is_some_and(|table| self.bare_ink.has_uncovered(table, &sure, self.size))
    }
}

impl RecognizedPicture {
    /// Reads pictures. One with a table of which words are missing is read twice, the second time without its rules.
    fn read(rasters: &[Raster], ask: &Ask<'_>) -> Vec<Result<Self, String>> {
        let sheets: Vec<LeveledPicture<'_>> = rasters.iter().map(LeveledPicture::of).collect();
        let tables = tesseract::words(sheets.iter().map(|sheet| &*sheet.level), ask);
        let mut read: Vec<Result<Vec<RecognizedWord>, String>> = sheets
            .iter()
            .zip(tables)
            .map(|(sheet, table)| table.map(|table| sheet.words_of(&table)))
            .collect();
        let again: Vec<_> = sheets
            .iter()
            .zip(&mut read)
            .filter(|(sheet, words)| words.as_ref().is_ok_and(|words| sheet.is_partly_read(words)))
            .collect();
        let tables = tesseract::words(again.iter().map(|(sheet, _)| &sheet.bare), ask);
        for ((sheet, words), table) in again.into_iter().zip(tables) {
            let first = std::mem::replace(words, Ok(Vec::new()));
            let again = table.map(|table| sheet.parsed(&table));
            *words = first.and_then(|first| Ok(merge(first, again?)));
        }
        sheets
            .into_iter()
            .zip(read)
            .map(|(sheet, words)| words.map(|words| Self::of(sheet, words)))
            .collect()
    }

    fn of(sheet: LeveledPicture<'_>, mut words: Vec<RecognizedWord>) -> Self {
        let LeveledPicture { level, bare_ink: ink, strokes, .. } = sheet;
        // Some boxes are as high as their line.
        words.iter_mut().for_each(|word| word.frame = ink.tightened(word.frame));
        signs::repair(&mut words, &ink);
        Self { ink, dpi: level.dpi, words, strokes }
    }

    fn num_unsure(&self) -> usize {
        self.words.iter().filter(|word| word.confidence < SURE).count()
    }

    fn may_be_turned(&self) -> bool {
        // Turning costs another reading of the page, so only a page that looks turned is tried.
        let fewest = TURNED_SHARE * self.words.len() as f64;
        self.words.len() >= MIN_WORDS && (self.num_unsure() as f64 >= fewest || self.runs_down())
    }

    /// Whether most words of several letters are higher than wide.
    fn runs_down(&self) -> bool {
        // Short words such as `if` are higher than wide on any page.
        let long = self.words.iter().filter(|word| word.text.chars().count() > 2);
        let num_tall = long.clone().filter(|word| word.frame.height() > word.frame.width()).count();
        num_tall >= MIN_WORDS && num_tall * 2 > long.count()
    }

    fn is_better_than(&self, other: &Self) -> bool {
        self.words.len() >= MIN_WORDS
            && (self.unsure_share() < other.unsure_share() || other.runs_down())
    }

    fn unsure_share(&self) -> f64 {
        self.num_unsure() as f64 / self.words.len().max(1) as f64
    }

    /// Removes the words that are likely wrong: on most pictures, Tesseract sees some.
    fn without_unsure(mut self) -> Self {
        self.words.retain(|word| word.confidence >= SURE);
        self
    }

    /// Returns the page with its blocks in reading order.
    fn page(mut self) -> ExtractedPage {
        let num_words = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let num_unsure = u32::try_from(self.num_unsure()).unwrap_or(u32::MAX);
        self.words
            .retain(|word| word.confidence >= SPECK || word.text.contains(char::is_alphanumeric));
        let shaped = ShapedWord::of(self.words);
        let scale = match self.dpi {
            Some(dpi) => POINTS_PER_INCH / dpi,
            None => USUAL_SIZE / shaped.body,
        };
        let rules: Vec<PageArea> = self.strokes.iter().map(|stroke| stroke.scaled(scale)).collect();
        let mut left_out = WordAccount::default();
        let words = shaped.placed(&self.ink, scale);
        let (blocks, num_copied_words) = layout::arrange_words(words, &rules, &mut left_out);
        ExtractedPage {
            width: self.ink.width as f64 * scale,
            height: self.ink.height as f64 * scale,
            blocks: blocks.into_iter().filter(is_text).collect(),
            ocr: Some(OcrOutcome::Read),
            num_words,
            num_unsure,
            left_out,
            num_copied_words,
            ..ExtractedPage::default()
        }
    }
}

/// Adds the sure words of a second reading where the first has none, or less sure ones.
/// Tesseract leaves out cells between rules, and without the rules it leaves out narrow columns.
fn merge(mut words: Vec<RecognizedWord>, mut again: Vec<RecognizedWord>) -> Vec<RecognizedWord> {
    again.retain(|word| word.confidence >= SURE);
    words.retain(|word| {
        !again.iter().any(|other| {
            other.frame.overlaps(&word.frame)
                && (word.confidence < SURE || other.confidence >= word.confidence + MUCH_SURER)
        })
    });
    again.retain(|word| !words.iter().any(|other| other.frame.overlaps(&word.frame)));
    let next_line = words.iter().map(|word| word.line + 1).max().unwrap_or(0);
    again.iter_mut().for_each(|word| word.line += next_line);
    words.extend(again);
    words
}

/// Whether a block is text: specks and frames are recognised as single symbols.
fn is_text(block: &PageBlock) -> bool {
    let num_visible = block.text.chars().filter(|c| !c.is_whitespace()).count();
    let num_letters = block.text.chars().filter(|c| c.is_alphanumeric()).count();
    block.kind == BlockKind::Table || (num_letters > 1 && num_letters * 2 > num_visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specks_are_not_text() {
        let is_kept = |text: &str| is_text(&PageBlock::new(BlockKind::Paragraph, 0, text));
        assert_eq!(["The gauge", "E23", "|", "~ . —= a"].map(is_kept), [true, true, false, false]);
        assert!(is_text(&PageBlock::new(BlockKind::Table, 0, "| - | - |")));
    }

    #[test]
    fn a_second_reading_fills_the_gaps_of_the_first() {
        let word = |text: &str, left: usize, confidence: f64| RecognizedWord {
            text: text.to_owned(),
            frame: Frame { left, top: 10, right: left + 50, bottom: 30 },
            confidence,
            line: 1,
        };
        let first = vec![word("North", 0, 96.0), word("[Benth", 200, 31.0), word("x", 400, 9.0)];
        let second =
            vec![word("Norlh", 2, 97.0), word("Depth", 203, 96.0), word("12.4", 300, 91.0)];
        let merged = merge(first, second);
        let found: Vec<(&str, usize)> =
            merged.iter().map(|word| (word.text.as_str(), word.line)).collect();
        assert_eq!(found, [("North", 1), ("x", 1), ("Depth", 3), ("12.4", 3)]);
    }

    #[test]
    fn a_large_page_is_scaled_down() {
        let scale = max_scale(10_000.0, 10_000.0);
        assert!((scale - 0.5).abs() < 1e-9, "{scale}");
        let scale = max_scale(200_000.0, 10.0);
        assert!((scale - 0.1).abs() < 1e-9, "{scale}");
    }

    #[test]
    fn grey_keeps_black_and_white() {
        assert_eq!((grey(0, 0, 0), grey(255, 255, 255)), (0, 255));
        assert!(grey(0, 255, 0) > grey(255, 0, 0));
    }
}
