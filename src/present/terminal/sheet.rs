//! Holds what is printed for people: whatever is written on a sheet is cleaned, and only kb itself styles.
//!
//! A sheet is the one way to a terminal (`cli/streams.rs`), so no text from outside can send it an
//! escape sequence. Colours and links are methods, not text: no text can ask for them.

use std::io::Write;
use std::path::Path;
use std::{fmt, io};

use crate::present::terminal::link::url;
use crate::text::printable::printed;

/// Where text for people goes: `write!` and `writeln!` work on it.
pub struct Sheet<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Sheet<'a> {
    /// Writes clean text to `out`.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    /// Writes text; harmful characters become U+FFFD, line ends and tabs stay.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(printed(text).as_bytes())
    }

    /// Writes what `write!` is given, as [`Self::text`] does.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        let mut pieces = Pieces { sheet: self, outcome: Ok(()) };
        match (fmt::write(&mut pieces, arguments), pieces.outcome) {
            (Ok(()), _) => Ok(()),
            (Err(_), Err(error)) => Err(error),
            (Err(error), Ok(())) => Err(io::Error::other(error)),
        }
    }

    /// Writes text in the style of an escape sequence's parameters, `1;33`.
    pub(in crate::present) fn styled(&mut self, code: &'static str, text: &str) -> io::Result<()> {
        write!(self.out, "\u{1b}[{code}m")?;
        self.text(text)?;
        self.out.write_all(b"\x1b[0m")
    }

    /// Makes what `write` writes a link to a file.
    pub(in crate::present) fn linked(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        write!(self.out, "\u{1b}]8;;{}\u{1b}\\", url(path))?;
        write(self)?;
        self.out.write_all(b"\x1b]8;;\x1b\\")
    }

    /// Writes a page of this program's help, which clap has styled: of escape sequences those for
    /// colours alone come through.
    ///
    /// # Errors
    ///
    /// What writing gives.
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

/// Takes the pieces of a format string.
struct Pieces<'a, 'b> {
    sheet: &'a mut Sheet<'b>,
    outcome: io::Result<()>,
}

impl fmt::Write for Pieces<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.outcome = self.sheet.text(text);
        if self.outcome.is_ok() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// A sheet that is written: bytes that may go to a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed(Vec<u8>);

impl Printed {
    /// Keeps what `write` writes.
    ///
    /// # Errors
    ///
    /// What `write` gives.
    pub fn of(write: impl FnOnce(&mut Sheet<'_>) -> io::Result<()>) -> io::Result<Self> {
        let mut bytes = Vec::new();
        write(&mut Sheet::new(&mut bytes))?;
        Ok(Self(bytes))
    }

    /// Returns it as UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(write: impl FnOnce(&mut Sheet<'_>) -> io::Result<()>, expected: &str) {
        assert_eq!(String::from_utf8(Printed::of(write).unwrap().0).unwrap(), expected);
    }

    #[test]
    fn nothing_that_is_written_is_obeyed() {
        let raw = "\u{1b}]0;owned\u{7}\u{9b}31m\r\u{202e}";
        check(
            |out| writeln!(out, "a {raw}\tb"),
            "a \u{fffd}]0;owned\u{fffd}\u{fffd}31m\u{fffd}\u{fffd}\tb\n",
        );
        check(|out| out.styled("1", "\u{1b}[0mx"), "\u{1b}[1m\u{fffd}[0mx\u{1b}[0m");
    }

    #[test]
    fn a_link_holds_a_whole_line_of_styles() {
        check(
            |out| out.linked(Path::new("/a\u{1b}\\b"), |out| out.styled("36", "a")),
            "\u{1b}]8;;file:///a%1B%5Cb\u{1b}\\\u{1b}[36ma\u{1b}[0m\u{1b}]8;;\u{1b}\\",
        );
    }

    #[test]
    fn of_the_help_colours_come_through_and_nothing_else() {
        check(|out| out.help("\u{1b}[1;4mUsage:\u{1b}[0m kb"), "\u{1b}[1;4mUsage:\u{1b}[0m kb");
        check(|out| out.help("a\u{1b}[2Jb\u{1b}]0;x\u{7}"), "a[2Jb\u{fffd}]0;x\u{fffd}");
    }
}
