//! Runs Tesseract in a separate process on a picture that a reading child has drawn.
//!
//! The picture is only passed on: `kb` limits itself to what Tesseract needs, and becomes Tesseract
//! (`super::confine`). Each process reads one picture.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::ExitStatus;
use std::thread;
use std::time::Instant;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::options::{Ocr, ReadOptions};
use super::process::{Over, Process};
use crate::protocol::{OCR_COMMAND, Picture, Recognised, Request, Wanted};

/// Pictures of one page: with and without its rules, turned, turned without its rules, and the
/// question how it is turned.
pub(super) const MAX_PICTURES_PER_PAGE: usize = 5;

/// Most bytes of a table of words: a line of it has about 50.
const MAX_OUTPUT_BYTES: usize = 16 << 20;

/// The exit code of a process that could not become Tesseract.
pub(super) const NOT_STARTED: u8 = 126;

/// Returns what Tesseract prints about a picture, or why it fails.
pub(super) fn recognise(
    picture: Picture,
    request: &Request,
    until: Instant,
    options: &ReadOptions,
) -> Recognised {
    let Ocr::Tesseract { program, languages, .. } = &options.ocr else {
        return Err("there is no Tesseract".to_owned());
    };
    let Picture { wanted, width, height, dpi, pixels } = picture;
    let pixels = BASE64_STANDARD.decode(pixels).unwrap_or_default();
    if u64::try_from(pixels.len()).ok() != Some(u64::from(width) * u64::from(height)) {
        return Err("the picture is not complete".to_owned());
    }
    let num_pages = u32::try_from(request.ocr_pages.len()).unwrap_or(u32::MAX);
    let mut args: Vec<OsString> = vec![OCR_COMMAND.into()];
    args.push(request.max_memory_bytes.to_string().into());
    args.push(request.cpu_seconds_of(num_pages).to_string().into());
    args.push(program.into());
    args.extend(["stdin", "stdout"].map(OsString::from));
    match wanted {
        Wanted::Words => {
            args.extend(
                ["--psm", "3", "-l", languages, "-c", "tessedit_create_tsv=1"].map(Into::into),
            );
        }
        Wanted::Turn => args.extend(["--psm", "0", "-l", "osd"].map(OsString::from)),
    }
    if let Some(dpi) = dpi {
        args.extend(["--dpi".into(), format!("{dpi:.0}").into()]);
    }
    let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
    let (mut process, mut stdin) =
        Process::start(&options.reader, &args).map_err(|error| error.to_string())?;
    let (end, text, status) = thread::scope(|scope| {
        scope.spawn(move || {
            // If it does not read to the end, it reports why on stderr.
            let _ = write!(stdin, "P5\n{width} {height}\n255\n")
                .and_then(|()| stdin.write_all(&pixels));
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
            Over::End => process.wait_for_end(),
            _ => process.end(),
        };
        process.close();
        (end, text, status)
    });
    let is_success = end == Over::End && status.is_some_and(|status| status.success());
    match (is_success, status.and_then(|status: ExitStatus| status.code())) {
        (true, _) => Ok(String::from_utf8_lossy(&text).into_owned()),
        (false, Some(code)) if code == i32::from(NOT_STARTED) => {
            Err(format!("{} cannot be started", program.display()))
        }
        _ if end == Over::Late => Err("Tesseract took too long".to_owned()),
        _ => Err(reason(&process.errors())),
    }
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
    fn the_first_error_is_the_reason() {
        assert_eq!(reason("\nError opening data\nFailed\n"), "Tesseract: Error opening data");
        assert_eq!(reason(""), "Tesseract gave up");
    }
}
