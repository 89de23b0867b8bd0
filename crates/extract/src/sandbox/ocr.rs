//! Runs Tesseract in a separate process on pictures that a reading child has drawn.
//!
//! The pictures are only passed on: `kb` limits itself to what Tesseract needs, and becomes Tesseract
//! (`super::confine`). Each process reads pictures of one document.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::ExitStatus;
use std::thread;
use std::time::Instant;

use super::options::{Ocr, ReadOptions};
use super::process::{Process, StreamEnd};
use crate::protocol::{OCR_COMMAND, OcrTask, Picture, Pictures, Recognised, Request};

/// Pictures of one page: with and without its rules, turned, turned without its rules, and the
/// question how it is turned.
pub(super) const MAX_PICTURES_PER_PAGE: usize = 5;

/// Most bytes of a table of words: a line of it has about 50, so 300,000 words. Bounds the memory of this process, as
/// Tesseract has read untrusted pictures.
const MAX_OUTPUT_BYTES: usize = 16 << 20;

/// The exit code of a process that could not become Tesseract, as shells use it for a program that cannot be started.
pub(super) const NOT_STARTED: u8 = 126;

/// Returns what Tesseract prints about each picture, or why it fails. One process reads all of them; if that
/// fails, each is read by its own, so that one picture costs no other its words.
pub(super) fn recognise(
    asked: &Pictures,
    request: &Request,
    until: Instant,
    options: &ReadOptions,
) -> Vec<Recognised> {
    let read = |pictures| run(asked.wanted, pictures, request, until, options);
    let num_pictures = asked.pictures.len();
    let together = match &asked.pictures[..] {
        [_, _, ..] => read(&asked.pictures).map(|table| tables(&table)).unwrap_or_default(),
        _ => Vec::new(),
    };
    if together.len() == num_pictures {
        together.into_iter().map(Ok).collect()
    } else {
        asked.pictures.iter().map(|picture| read(std::slice::from_ref(picture))).collect()
    }
}

/// Divides the table of several pages, whose rows begin with their level and the number of their page.
fn tables(table: &str) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    for row in table.lines() {
        let number = row.split('\t').nth(1).and_then(|number| number.parse::<usize>().ok());
        if number == Some(tables.len() + 1) {
            tables.push(String::new());
        }
        if let Some(table) = tables.last_mut().filter(|_| number.is_some()) {
            table.push_str(row);
            table.push('\n');
        }
    }
    tables
}

/// Returns what one process prints about pictures.
fn run(
    wanted: OcrTask,
    pictures: &[Picture],
    request: &Request,
    until: Instant,
    options: &ReadOptions,
) -> Recognised {
    let Ocr::Tesseract { tesseract, languages, .. } = &options.ocr else {
        return Err("there is no Tesseract".to_owned());
    };
    let file = file(pictures).ok_or("the picture is not complete")?;
    let num_pages = u32::try_from(request.ocr_pages.len()).unwrap_or(u32::MAX);
    let mut args: Vec<OsString> = vec![OCR_COMMAND.into()];
    args.push(request.max_memory_bytes.to_string().into());
    args.push(request.cpu_seconds_of(num_pages).to_string().into());
    args.push((&tesseract.program).into());
    args.extend(["stdin", "stdout"].map(OsString::from));
    match wanted {
        // Mode 3 finds columns and lines by itself; mode 0 finds only the orientation.
        OcrTask::Words => {
            args.extend(
                ["--psm", "3", "-l", languages, "-c", "tessedit_create_tsv=1"].map(Into::into),
            );
        }
        OcrTask::Turn => args.extend(["--psm", "0", "-l", "osd"].map(OsString::from)),
    }
    if let [Picture { dpi: Some(dpi), .. }] = pictures {
        args.extend(["--dpi".into(), format!("{dpi:.0}").into()]);
    }
    let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
    let (mut process, mut stdin) = Process::start(&options.reader, &args, &tesseract.variables)
        .map_err(|error| error.to_string())?;
    let (end, text, status) = thread::scope(|scope| {
        scope.spawn(move || {
            // If it does not read to the end, it reports why on stderr.
            let _ = stdin.write_all(&file);
        });
        let mut text = Vec::new();
        let end = loop {
            match process.next_line(until, options) {
                // The rest is discarded, so that the process is not blocked.
                Ok(line) if text.len() + line.len() <= MAX_OUTPUT_BYTES => text.extend(line),
                Ok(_) => {}
                Err(end) => break end,
            }
        };
        let status = match end {
            StreamEnd::End => process.wait_for_end(),
            _ => process.end(),
        };
        process.close();
        (end, text, status)
    });
    let is_success = end == StreamEnd::End && status.is_some_and(|status| status.success());
    match (is_success, status.and_then(|status: ExitStatus| status.code())) {
        (true, _) => Ok(String::from_utf8_lossy(&text).into_owned()),
        (false, Some(code)) if code == i32::from(NOT_STARTED) => {
            Err(format!("{} cannot be started", tesseract.program.display()))
        }
        _ if end == StreamEnd::Late => Err("Tesseract took too long".to_owned()),
        _ => Err(reason(&process.errors())),
    }
}

/// Returns one picture as PGM, several as the pages of a TIFF file; `None` if pixels are missing.
fn file(pictures: &[Picture]) -> Option<Vec<u8>> {
    if !pictures.iter().all(is_complete) {
        return None;
    }
    if let [picture] = pictures {
        let head = format!("P5\n{} {}\n255\n", picture.width, picture.height);
        return Some([head.as_bytes(), &picture.pixels].concat());
    }
    let mut tiff = b"II*\0\0\0\0\0".to_vec();
    let mut next = 4;
    for picture in pictures {
        next = add_page(&mut tiff, next, picture);
    }
    Some(tiff)
}

/// Whether a picture has all its pixels.
fn is_complete(picture: &Picture) -> bool {
    let size = u64::from(picture.width) * u64::from(picture.height);
    u64::try_from(picture.pixels.len()) == Ok(size)
}

/// Adds a page with a byte per pixel to a TIFF file (TIFF 6.0, sections 2 and 4). Its directory begins with its
/// resolution. `next` is where the offset of this directory goes; returns where that of the next one goes.
fn add_page(tiff: &mut Vec<u8>, next: usize, picture: &Picture) -> usize {
    const TAGS: [u16; 12] = [256, 257, 258, 259, 262, 273, 277, 278, 279, 282, 283, 296];
    const KINDS: [u16; 12] = [4, 4, 3, 3, 3, 4, 3, 4, 4, 5, 5, 3];
    let (start, pixels) = (offset(tiff), &picture.pixels);
    tiff.extend(pixels);
    tiff.resize(tiff.len().next_multiple_of(2), 0);
    let (at, size) = (offset(tiff), u32::try_from(pixels.len()).unwrap_or(u32::MAX));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "dots per inch")]
    let dpi = picture.dpi.unwrap_or(0.0).round() as u32;
    let (width, height) = (picture.width, picture.height);
    let values = [width, height, 8, 1, 1, start, 1, height, size, at, at, 2];
    tiff.extend([dpi, 1].map(u32::to_le_bytes).concat());
    let directory = offset(tiff).to_le_bytes();
    tiff[next..next + 4].copy_from_slice(&directory);
    tiff.extend(12_u16.to_le_bytes());
    for ((tag, kind), value) in TAGS.into_iter().zip(KINDS).zip(values) {
        tiff.extend([tag, kind, 1, 0].map(u16::to_le_bytes).concat());
        tiff.extend(value.to_le_bytes());
    }
    tiff.extend([0; 4]);
    tiff.len() - 4
}

/// Returns the offset of what is added next.
fn offset(tiff: &[u8]) -> u32 {
    u32::try_from(tiff.len()).unwrap_or(u32::MAX)
}

/// Returns the first error message; the others follow from it.
fn reason(errors: &str) -> String {
    let mut lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().map_or_else(|| "Tesseract gave up".to_owned(), |line| format!("Tesseract: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_divided_by_its_pages() {
        let table = "level\tpage_num\n1\t1\t0\n5\t1\tlow\n1\t2\t0\n1\t3\t0\n5\t3\twater\n";
        assert_eq!(tables(table), ["1\t1\t0\n5\t1\tlow\n", "1\t2\t0\n", "1\t3\t0\n5\t3\twater\n"]);
        assert_eq!(tables("words"), Vec::<String>::new());
    }

    #[test]
    fn pictures_are_complete_and_the_pages_of_one_file() {
        let picture = |pixels: &[u8]| {
            let pixels = pixels.to_vec();
            Picture { width: 2, height: 1, dpi: Some(200.4), pixels }
        };
        assert_eq!(file(&[picture(b"ab")]).unwrap(), b"P5\n2 1\n255\nab");
        assert_eq!(file(&[picture(b"ab"), picture(b"a")]), None);
        let both = file(&[picture(b"ab"), picture(b"cd")]).unwrap();
        let number = |at: usize| u32::from_le_bytes(both[at..at + 4].try_into().unwrap()) as usize;
        let mut directory = number(4);
        for pixels in [b"ab", b"cd"] {
            let strip = directory + 2 + 5 * 12 + 8;
            assert_eq!(&both[number(strip)..number(strip) + 2], pixels);
            assert_eq!(number(number(directory + 2 + 9 * 12 + 8)), 200);
            directory = number(directory + 2 + 12 * 12);
        }
        assert_eq!(directory, 0);
    }

    #[test]
    fn the_first_error_is_the_reason() {
        assert_eq!(reason("\nError opening data\nFailed\n"), "Tesseract: Error opening data");
        assert_eq!(reason(""), "Tesseract gave up");
    }
}
