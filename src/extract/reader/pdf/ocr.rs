//! Runs Tesseract on grey pictures and returns their paragraphs.
//!
//! The child starts Tesseract, so Tesseract has the child's limits of memory and time, and the
//! process that holds the database never handles a picture.

use std::io::{self, Read as _};
use std::process::{Command, Stdio};
use std::thread;

use crate::extract::pdf::clean;
use crate::extract::protocol::{Line, OcrJob, OcrOutcome, Page, PageBlock, PageBlockKind};
use crate::extract::reader::Input;

/// Most pixels of a picture: an A3 page at 300 dpi has 17 million.
const MAX_PIXELS: f64 = 25e6;

/// Longest side of a picture; Tesseract accepts at most 32,767.
const MAX_SIDE: f64 = 20_000.0;

/// Most bytes of text of one page.
const MAX_TEXT_BYTES: u64 = 4 << 20;

/// Most bytes of its error output.
const MAX_ERROR_BYTES: u64 = 16 << 10;

/// A picture: one byte per pixel, 0 for black, row by row from the top.
pub(crate) struct Raster {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Dots per inch, if known.
    pub(crate) dpi: Option<f64>,
    /// The pixels, `width * height` of them.
    pub(crate) pixels: Vec<u8>,
}

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

/// Returns the pages to read.
pub(crate) fn pages<'a>(input: &Input<'a>) -> impl Iterator<Item = u32> + use<'a> {
    input.ocr.into_iter().flat_map(|job| job.pages.iter().copied())
}

/// Reads one picture and returns its page as a line of the answer.
pub(crate) fn line(number: u32, raster: Option<Raster>, input: &Input<'_>) -> Line {
    let mut page = Page { number, ..Page::default() };
    page.ocr = Some(match (raster, input.ocr) {
        (Some(raster), Some(job)) => match recognise(&raster, job) {
            Ok(text) => {
                page.blocks = paragraphs(&text);
                OcrOutcome::Read
            }
            Err(reason) => OcrOutcome::Refused(reason),
        },
        _ => OcrOutcome::Lost("the page does not exist".to_owned()),
    });
    Line::Page(page)
}

/// Returns the text that Tesseract reads, or why it fails.
fn recognise(raster: &Raster, job: &OcrJob) -> Result<String, String> {
    let run = || -> io::Result<(bool, String, String)> {
        let mut command = Command::new(&job.program);
        command.args(["stdin", "stdout", "--psm", "1", "-l", &job.languages]);
        if let Some(dpi) = raster.dpi {
            command.args(["--dpi", &format!("{dpi:.0}")]);
        }
        // Many documents are read in parallel.
        command.env("OMP_THREAD_LIMIT", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (text, errors) = thread::scope(|scope| {
            scope.spawn(|| {
                // If it does not read to the end, it reports why on stderr.
                let _ = stdin.map(|mut stdin| write_pgm(raster, &mut stdin));
            });
            let errors = scope.spawn(|| read(stderr, MAX_ERROR_BYTES));
            let text = read(stdout, MAX_TEXT_BYTES);
            (text, errors.join().unwrap_or_default())
        });
        Ok((child.wait()?.success(), text, errors))
    };
    match run() {
        Ok((true, text, _)) => Ok(text),
        Ok((false, _, errors)) => Err(reason(&errors)),
        Err(error) => Err(format!("{} cannot be started: {error}", job.program.display())),
    }
}

/// Reads up to `limit` bytes, then discards the rest, so that the other side is not blocked.
fn read(source: Option<impl io::Read>, limit: u64) -> String {
    let mut bytes = Vec::new();
    if let Some(mut source) = source {
        let _ = (&mut source).take(limit).read_to_end(&mut bytes);
        let _ = io::copy(&mut source, &mut io::sink());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes a picture in the simplest format there is (PGM, binary).
fn write_pgm(raster: &Raster, out: &mut impl io::Write) -> io::Result<()> {
    write!(out, "P5\n{} {}\n255\n", raster.width, raster.height)?;
    out.write_all(&raster.pixels)?;
    out.flush()
}

/// Returns the first error message; the others follow from it.
fn reason(errors: &str) -> String {
    let mut lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().map_or_else(|| "Tesseract gave up".to_owned(), |line| format!("Tesseract: {line}"))
}

/// Returns the paragraphs that are text: specks and frames are recognised as single symbols.
fn paragraphs(text: &str) -> Vec<PageBlock> {
    let is_text = |paragraph: &String| {
        let num_visible = paragraph.chars().filter(|c| !c.is_whitespace()).count();
        let num_letters = paragraph.chars().filter(|c| c.is_alphanumeric()).count();
        num_letters > 1 && num_letters * 2 > num_visible
    };
    let paragraphs = clean::paragraphs(&text.replace('\u{C}', "\n\n")).filter(is_text);
    paragraphs.map(|paragraph| PageBlock::new(PageBlockKind::Paragraph, 0, paragraph)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specks_are_not_text() {
        let blocks = paragraphs("The gauge\nis frozen.\n\n|\n\n~ . —= a\n\nE23\u{C}");
        let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, ["The gauge is frozen.", "E23"]);
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

    #[test]
    fn the_first_error_is_the_reason() {
        assert_eq!(reason("\nError opening data\nFailed\n"), "Tesseract: Error opening data");
        assert_eq!(reason(""), "Tesseract gave up");
    }
}
