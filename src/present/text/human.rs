//! Writes text for people. Colour and width are fields, so that the same answer gives the same bytes.
//!
//! Texts from outside are put on one line first (`clean`); what goes to a terminal passes a [`Sheet`],
//! which no escape sequence of theirs survives. Each command's answer has its own file.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::text::printable::{clean, clean_name};

/// How to draw.
#[derive(Debug, Clone)]
pub struct Human {
    /// Columns there are.
    pub width: usize,
    /// Whether it is drawn on a terminal, to whose width tables are cut.
    pub is_terminal: bool,
    /// Whether escape sequences for colour are written.
    pub is_coloured: bool,
    /// Whether files are linked to.
    pub has_links: bool,
    /// The home directory, which a terminal shows as `~`.
    pub home: Option<PathBuf>,
    /// The working directory; a terminal shows paths below it without it.
    pub cwd: Option<PathBuf>,
}

impl Human {
    /// Draws without colour, and not for a terminal.
    pub const fn plain(width: usize) -> Self {
        Self {
            width,
            is_terminal: false,
            is_coloured: false,
            has_links: false,
            home: None,
            cwd: None,
        }
    }

    /// Returns a path as it is shown: complete, but on a terminal relative to the working directory or the
    /// home directory.
    pub(in crate::present) fn path(&self, path: &str) -> String {
        let below = |dir: &Option<PathBuf>| {
            let dir = dir.as_ref().filter(|dir| self.is_terminal && dir.parent().is_some())?;
            Path::new(path).strip_prefix(dir).ok().filter(|rest| *rest != Path::new(""))
        };
        let text = match (below(&self.cwd), below(&self.home)) {
            (Some(rest), _) => rest.to_string_lossy().into_owned(),
            (None, Some(rest)) => format!("~/{}", rest.display()),
            (None, None) => path.to_owned(),
        };
        clean_name(&text)
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
