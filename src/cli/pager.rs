//! Shows output in a pager if it is longer than the terminal.

use std::ffi::OsString;
use std::io;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::cli::{interrupt, messages, streams};
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::present::terminal::columns::width;
use crate::present::terminal::sheet::TerminalBytes;
use crate::text::command::words;

/// The pager if neither `KB_PAGER` nor `PAGER` is set.
const DEFAULT_PAGER: &str = "less -FRX";

/// Options for `less` if the user has set none: quit if all fits, show colours, leave the text on the
/// screen.
const LESS: &str = "FRX";

/// A pager and the size of the terminal.
#[derive(Debug)]
pub(super) struct Pager {
    command: Vec<String>,
    program: io::Result<PathBuf>,
    is_named: bool,
    less: OsString,
    num_columns: usize,
    num_rows: usize,
}

impl Pager {
    /// Returns the pager from the environment; `None` if it is disabled there.
    pub(super) fn new(environment: &Environment) -> Option<Self> {
        let named = ["KB_PAGER", "PAGER"].iter().find_map(|name| environment.get(name));
        let command = named.map_or_else(|| DEFAULT_PAGER.into(), |pager| pager.to_string_lossy());
        let command = words(&command);
        // A dumb terminal cannot show pages, and `cat` is how people switch a pager off.
        let is_dumb = environment.get("TERM").is_some_and(|term| term == "dumb");
        if is_dumb
            || matches!(command.as_slice(), [] | [_] if command.first().is_none_or(|word| word == "cat"))
        {
            return None;
        }
        let (num_rows, num_columns) = streams::size();
        Some(Self {
            program: environment.started(&command[0]),
            command,
            is_named: named.is_some(),
            less: environment.get("LESS").cloned().unwrap_or_else(|| LESS.into()),
            num_columns: num_columns.max(1),
            num_rows,
        })
    }

    /// Whether a text does not fit on the screen with one line left for the prompt.
    fn is_needed(&self, text: &str) -> bool {
        let mut num_rows = 0;
        text.lines().any(|line| {
            let columns = width(&console::strip_ansi_codes(line));
            num_rows += columns.div_ceil(self.num_columns).max(1);
            num_rows >= self.num_rows
        })
    }

    /// Starts the pager; an error is the reason why it cannot be started.
    fn start(&self) -> Result<Child, String> {
        let program = self.program.as_ref().map_err(io::Error::to_string)?;
        let mut command = Command::new(program);
        command.args(&self.command[1..]).env("LESS", &self.less).stdin(Stdio::piped());
        command.spawn().map_err(|error| error.to_string())
    }

    /// Prints a text, through the pager if it is long, and returns when the user leaves the pager.
    pub(super) fn show(&self, text: &TerminalBytes) -> Result<()> {
        if !self.is_needed(&String::from_utf8_lossy(text.as_bytes())) {
            return streams::printed(text);
        }
        let mut child = match self.start() {
            Ok(child) => child,
            Err(cause) => {
                if self.is_named {
                    messages::warn(format!(
                        "the pager `{}` cannot be started: {cause}",
                        self.command[0]
                    ));
                }
                return streams::printed(text);
            }
        };
        // Ctrl-C is for the pager: if kb ended, the pager would keep running on the terminal.
        interrupt::ignore();
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let written = stdin.write_all(text.as_bytes());
        drop(stdin);
        child.wait().map_err(Error::Output)?;
        // The pipe breaks if the user leaves the pager early.
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pager(values: &[(&str, &str)]) -> Option<Pager> {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), value.into()));
        Pager::new(&values.collect())
    }

    #[test]
    fn the_environment_names_the_pager_or_none() {
        for (values, expected) in [
            (&[][..], "less -FRX"),
            (&[("PAGER", "most -s")], "most -s"),
            (&[("PAGER", "most"), ("KB_PAGER", "less -R")], "less -R"),
            (&[("PAGER", "cat -n")], "cat -n"),
            (&[("PAGER", "cat")], ""),
            (&[("PAGER", " ")], ""),
            (&[("TERM", "dumb")], ""),
            (&[("TERM", "xterm")], "less -FRX"),
        ] {
            let command = pager(values).map(|pager| pager.command.join(" ")).unwrap_or_default();
            assert_eq!(command, expected, "{values:?}");
        }
        assert!(pager(&[("PAGER", "most")]).unwrap().is_named && !pager(&[]).unwrap().is_named);
        assert_eq!(pager(&[("LESS", "S")]).unwrap().less, "S");
        assert_eq!(pager(&[]).unwrap().less, "FRX");
    }

    #[test]
    fn a_text_needs_a_pager_if_no_row_is_left_for_the_prompt() {
        let mut pager = pager(&[]).unwrap();
        (pager.num_columns, pager.num_rows) = (10, 4);
        for (text, is_needed) in [
            ("", false),
            ("a\nb\nc", false),
            ("a\nb\nc\nd", true),
            ("a\n\n\n\n", true),
            ("aaaaaaaaaa\nb\nc", false),
            ("aaaaaaaaaab\nb\nc", true),
            ("\u{1b}[31maaaaaaaaaa\u{1b}[0m\nb\nc", false),
        ] {
            assert_eq!(pager.is_needed(text), is_needed, "{text:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_long_text_goes_through_the_pager_with_its_options() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let script = format!("echo \"$LESS\" >{0}; cat >>{0}", out.display());
        let mut pager = pager(&[("PAGER", "/bin/sh -c X"), ("LESS", "S")]).unwrap();
        pager.command[2] = script;
        pager.num_rows = 2;
        let text = TerminalBytes::of(|sheet| writeln!(sheet, "one\ntwo\nthree")).unwrap();
        pager.show(&text).unwrap();
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "S\none\ntwo\nthree\n");
    }
}
