//! Writes text for people. Colour and width are fields, so that the same answer gives the same bytes.
//!
//! Texts from outside are put on one line first (`clean`); what goes to a terminal passes a [`Sheet`],
//! which no escape sequence of theirs survives. Each command's answer has its own file.

use std::io;

use crate::error::Error;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::text::printable::clean;

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub struct Human {
    /// Columns there are.
    pub width: usize,
    /// Whether it is drawn on a terminal, to whose width tables are cut.
    pub is_terminal: bool,
    /// Whether escape sequences for colour are written.
    pub is_coloured: bool,
    /// Whether files are linked to.
    pub has_links: bool,
}

impl Human {
    /// Draws without colour, and not for a terminal.
    pub fn plain(width: usize) -> Self {
        Self { width, is_terminal: false, is_coloured: false, has_links: false }
    }

    /// Writes a line, the word before its colon painted if it is one of those kb begins lines with.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn labelled(&self, line: &str, out: &mut Sheet<'_>) -> io::Result<()> {
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        let meaning = match label {
            "error" | "failed" => Meaning::Bad,
            "warning" => Meaning::Warning,
            "hint" | "note" => Meaning::Place,
            _ => return writeln!(out, "{line}"),
        };
        self.paint(meaning, &format!("{label}:"), out)?;
        writeln!(out, " {rest}")
    }

    /// Writes an error: what failed, and what to do next.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn error(&self, error: &Error, out: &mut Sheet<'_>) -> io::Result<()> {
        self.labelled(&format!("error: {}", clean(&error.to_string())), out)?;
        match error.hint() {
            Some(hint) => self.labelled(&format!("hint: {}", clean(&hint)), out),
            None => Ok(()),
        }
    }
}
