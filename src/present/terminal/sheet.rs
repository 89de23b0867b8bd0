//! Cleans everything that is printed for people.
//!
//! All terminal output passes through a [`CleanWriter`] (`cli/streams.rs`), so untrusted text cannot contain
//! escape sequences. Colours and links are methods of the sheet, so text cannot request them.

use std::io::Write;
use std::path::Path;
use std::{fmt, io};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::text::printable::printed;

/// A writer for people, which cleans text; `write!` and `writeln!` work on it.
pub struct CleanWriter<'a> {
    out: &'a mut dyn Write,
}

impl<'a> CleanWriter<'a> {
    /// Creates a sheet that writes to `out`.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    /// Writes text; control characters become U+FFFD, except line ends and tabs.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(printed(text).as_bytes())
    }

    /// Writes formatted text, cleaned as by [`Self::text`].
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        let mut pieces = Pieces { sheet: self, outcome: Ok(()) };
        match (fmt::write(&mut pieces, arguments), pieces.outcome) {
            (Ok(()), _) => Ok(()),
            (Err(_), Err(error)) => Err(error),
            (Err(error), Ok(())) => Err(io::Error::other(error)),
        }
    }

    /// Writes text in a style, given as parameters of an escape sequence such as `1;33`.
    pub(crate) fn styled(&mut self, code: &'static str, text: &str) -> io::Result<()> {
        write!(self.out, "\u{1b}[{code}m")?;
        self.text(text)?;
        self.out.write_all(b"\x1b[0m")
    }

    /// Writes text in a style, given as parameters of an escape sequence, for one cell of a screen.
    pub fn cells(&mut self, style: &[u8], text: &str) -> io::Result<()> {
        self.out.write_all(b"\x1b[0")?;
        for number in style {
            write!(self.out, ";{number}")?;
        }
        self.out.write_all(b"m")?;
        self.text(text)
    }

    /// Asks the terminal to put text on the user's clipboard (OSC 52), which also works over ssh. The
    /// encoded text cannot end the sequence.
    pub fn clipboard(&mut self, text: &str) -> io::Result<()> {
        let encoded = BASE64_STANDARD.encode(printed(text).as_bytes());
        write!(self.out, "\u{1b}]52;c;{encoded}\u{7}")
    }

    /// Turns the output of `write` into a link to a file.
    pub(crate) fn linked(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        write!(self.out, "\u{1b}]8;;{}\u{1b}\\", url(path))?;
        write(self)?;
        self.out.write_all(b"\x1b]8;;\x1b\\")
    }

    /// Replaces the row of the cursor and all below it by these lines, one row each, and puts the cursor back before the
    /// first. Escape sequences are removed unless they are for colours.
    pub fn rows(&mut self, lines: &[impl AsRef<str>]) -> io::Result<()> {
        self.out.write_all(b"\r\x1b[J")?;
        for (number, line) in lines.iter().enumerate() {
            self.out.write_all(if number > 0 { b"\r\n" } else { b"" })?;
            self.help(line.as_ref())?;
        }
        match lines.len() {
            0 | 1 => self.out.write_all(b"\r"),
            len => write!(self.out, "\r\u{1b}[{}A", len - 1),
        }
    }

    /// Writes a help page styled by clap. Escape sequences are removed unless they are for colours.
    pub fn help(&mut self, page: &str) -> io::Result<()> {
        let mut parts = page.split("\u{1b}[");
        self.text(parts.next().unwrap_or_default())?;
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
            let is_colour = part[end..].starts_with('m');
            self.out.write_all(if is_colour { b"\x1b[" } else { b"[" })?;
            self.text(part)?;
        }
        Ok(())
    }
}

/// Cleans the pieces of a formatted text.
struct Pieces<'a, 'b> {
    sheet: &'a mut CleanWriter<'b>,
    outcome: io::Result<()>,
}

impl fmt::Write for Pieces<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.outcome = self.sheet.text(text);
        if self.outcome.is_ok() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// A finished sheet: bytes that are safe to print on a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalBytes(Vec<u8>);

impl TerminalBytes {
    /// Collects the output of `write`.
    pub fn of(write: impl FnOnce(&mut CleanWriter<'_>) -> io::Result<()>) -> io::Result<Self> {
        let mut bytes = Vec::new();
        write(&mut CleanWriter::new(&mut bytes))?;
        Ok(Self(bytes))
    }

    /// Returns it as UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Bytes that are escaped in the path of a URL.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn url(path: &Path) -> String {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_owned();
    #[cfg(not(unix))]
    let bytes = format!("/{}", path.to_string_lossy().replace('\\', "/")).into_bytes();
    format!("file://{}", percent_encode(&bytes, ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(write: impl FnOnce(&mut CleanWriter<'_>) -> io::Result<()>, expected: &str) {
        assert_eq!(String::from_utf8(TerminalBytes::of(write).unwrap().0).unwrap(), expected);
    }

    #[test]
    fn escape_sequences_in_text_have_no_effect() {
        let raw = "\u{1b}]0;owned\u{7}\u{9b}31m\r\u{202e}";
        check(
            |out| writeln!(out, "a {raw}\tb"),
            "a \u{fffd}]0;owned\u{fffd}\u{fffd}31m\u{fffd}\u{fffd}\tb\n",
        );
        check(|out| out.styled("1", "\u{1b}[0mx"), "\u{1b}[1m\u{fffd}[0mx\u{1b}[0m");
    }

    #[test]
    fn text_for_the_clipboard_cannot_end_its_sequence() {
        check(|out| out.clipboard("a\u{7}\u{1b}\nb"), "\u{1b}]52;c;Ye+/ve+/vQpi\u{7}");
        check(|out| out.cells(&[1, 33], "\u{1b}x"), "\u{1b}[0;1;33m\u{fffd}x");
    }

    #[test]
    fn a_link_may_contain_styles() {
        check(
            |out| out.linked(Path::new("/a\u{1b}\\b"), |out| out.styled("36", "a")),
            "\u{1b}]8;;file:///a%1B%5Cb\u{1b}\\\u{1b}[36ma\u{1b}[0m\u{1b}]8;;\u{1b}\\",
        );
    }

    #[test]
    fn only_the_colours_of_help_are_kept() {
        check(|out| out.help("\u{1b}[1;4mUsage:\u{1b}[0m kb"), "\u{1b}[1;4mUsage:\u{1b}[0m kb");
        check(|out| out.help("a\u{1b}[2Jb\u{1b}]0;x\u{7}"), "a[2Jb\u{fffd}]0;x\u{fffd}");
    }

    #[test]
    fn no_path_can_end_the_link() {
        for (path, expected) in [
            ("/a/b-c_d.md", "file:///a/b-c_d.md"),
            ("/Größe 1%.md", "file:///Gr%C3%B6%C3%9Fe%201%25.md"),
            ("/x\u{1b}\\;\u{7}#?.md", "file:///x%1B%5C%3B%07%23%3F.md"),
        ] {
            assert_eq!(url(Path::new(path)), expected);
        }
    }
}
