//! Writes to stdout and stderr. No other file may, so that no raw text reaches a terminal.
//!
//! There are three kinds of output: JSON, which escapes control characters; a [`CleanWriter`], which replaces
//! them; and raw bytes, which are cleaned if stdout is a terminal.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{IsTerminal, Write};
use std::{io, panic};

use crate::error::{Error, Result};
use crate::present::terminal::sheet::{CleanWriter, TerminalBytes};
use crate::text::json::Json;
use crate::text::printable::clean_lines;

/// Size of the write buffer: the capacity of a pipe.
const OUTPUT_BYTES: usize = 1 << 16;

/// Cleans the messages of panics, which may quote a document.
pub(super) fn clean_panics() {
    panic::set_hook(Box::new(|info| {
        let trace = Backtrace::capture();
        let is_traced = trace.status() == BacktraceStatus::Captured;
        // If stderr is closed, the message is lost.
        let _ = text_aside(|out| {
            writeln!(out, "kb {info}")?;
            if is_traced { write!(out, "{trace}") } else { Ok(()) }
        });
    }));
}

pub(super) fn is_stdout_terminal() -> bool {
    io::stdout().is_terminal()
}

pub(super) fn is_stderr_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Returns the rows and columns of the terminal on stdout.
pub(super) fn size() -> (usize, usize) {
    let (rows, columns) = console::Term::stdout().size();
    (usize::from(rows), usize::from(columns))
}

/// Returns the rows and columns of the terminal on stderr.
pub(super) fn stderr_size() -> (u16, u16) {
    console::Term::stderr().size()
}

/// Returns stderr for a full screen. Text that is written to it must be clean.
pub(super) fn screen() -> Box<dyn Write + Send> {
    Box::new(io::stderr())
}

pub(super) fn is_stdin_terminal() -> bool {
    io::stdin().is_terminal()
}

pub(super) fn json(answer: impl FnOnce(&mut Json<'_>) -> io::Result<()>) -> Result<()> {
    buffered(|out| answer(&mut Json::new(out)))
}

pub(super) fn text(answer: impl FnOnce(&mut CleanWriter<'_>) -> io::Result<()>) -> Result<()> {
    buffered(|out| answer(&mut CleanWriter::new(out)))
}

/// Prints a finished sheet.
pub(super) fn printed(text: &TerminalBytes) -> Result<()> {
    buffered(|out| out.write_all(text.as_bytes()))
}

/// Prints bytes unchanged, or cleaned as by [`shown`] if stdout is a terminal.
pub(super) fn bytes(bytes: &[u8]) -> Result<()> {
    if is_stdout_terminal() {
        return text(|out| shown(bytes, out));
    }
    buffered(|out| out.write_all(bytes))
}

/// Writes untrusted bytes for a person to read: keeps line ends and tabs, and replaces all other control
/// characters.
pub(super) fn shown(bytes: &[u8], out: &mut CleanWriter<'_>) -> io::Result<()> {
    out.text(&clean_lines(&String::from_utf8_lossy(bytes)))
}

fn buffered(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Prints JSON on stderr.
pub(super) fn json_aside(write: impl FnOnce(&mut Json<'_>) -> io::Result<()>) -> io::Result<()> {
    let mut bytes = Vec::new();
    write(&mut Json::new(&mut bytes))?;
    aside(&bytes)
}

/// Prints text on stderr.
pub(super) fn text_aside(
    write: impl FnOnce(&mut CleanWriter<'_>) -> io::Result<()>,
) -> io::Result<()> {
    aside(TerminalBytes::of(write)?.as_bytes())
}

/// Writes all bytes under one lock, so that lines of other threads do not interrupt them.
fn aside(bytes: &[u8]) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(bytes).and_then(|()| stderr.flush())
}
