//! Runs Tesseract on a picture and returns what it prints. The only file that starts it.
//!
//! The child starts Tesseract, so Tesseract has the child's limits of memory and time, and the
//! process that holds the database never handles a picture.

use std::io::{self, Read as _};
use std::process::{Command, Stdio};
use std::thread;

use super::raster::{Raster, Turn};
use crate::extract::protocol::OcrJob;

/// Most bytes of a table of words: a line of it has about 50.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;

/// Most bytes of its error output.
const MAX_ERROR_BYTES: u64 = 16 << 10;

/// Returns the words that Tesseract reads, as a table, or why it fails.
pub(super) fn words(raster: &Raster, job: &OcrJob) -> Result<String, String> {
    let wanted = ["--psm", "3", "-l", &job.languages, "-c", "tessedit_create_tsv=1"];
    run(raster, job, &wanted)
}

/// Returns by how much a picture must be turned to be upright; `None` if it is upright, or if
/// Tesseract does not know: its data for that, `osd`, is a package of its own on some systems.
pub(super) fn turn(raster: &Raster, job: &OcrJob) -> Option<Turn> {
    let report = run(raster, job, &["--psm", "0", "-l", "osd"]).ok()?;
    let degrees = report.lines().find_map(|line| line.strip_prefix("Rotate: "))?;
    match degrees.trim() {
        "90" => Some(Turn::Quarter),
        "180" => Some(Turn::Half),
        "270" => Some(Turn::ThreeQuarters),
        _ => None,
    }
}

fn run(raster: &Raster, job: &OcrJob, wanted: &[&str]) -> Result<String, String> {
    let run = || -> io::Result<(bool, String, String)> {
        let mut command = Command::new(&job.program);
        command.args(["stdin", "stdout"]).args(wanted);
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
                let _ = stdin.map(|mut stdin| raster.write_pgm(&mut stdin));
            });
            let errors = scope.spawn(|| read(stderr, MAX_ERROR_BYTES));
            let text = read(stdout, MAX_OUTPUT_BYTES);
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
