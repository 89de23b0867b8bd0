//! Draws bars on the terminal of stderr, each on one row of it.
//!
//! The cursor rests before the first character of the first row, and each row is cut to the width and not
//! filled. So a terminal that becomes narrower cannot part the cursor from what has to be erased,
//! whether it moves what no longer fits to a row below or drops it.

use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, PoisonError};

use console::{is_dumb, truncate_str};
use indicatif::{ProgressDrawTarget, TermLike};

use crate::cli::streams;

/// How often bars are drawn at most, per second: what indicatif does for a terminal.
const HERTZ: u8 = 20;

/// Returns a target that draws on the terminal, or nowhere if stderr is not a terminal that can move its cursor.
pub(super) fn target() -> ProgressDrawTarget {
    if is_dumb() || !streams::is_stderr_terminal() {
        return ProgressDrawTarget::hidden();
    }
    ProgressDrawTarget::term_like_with_hz(Box::new(BarRows::default()), HERTZ)
}

/// The rows of bars on a terminal.
///
/// indicatif writes each line, then the blanks that would fill its row, and flushes when all are written;
/// to erase them, it writes none. Its movements assume a cursor after the last row and are ignored.
#[derive(Debug, Default)]
struct BarRows {
    pieces: Mutex<Vec<String>>,
}

impl TermLike for BarRows {
    fn width(&self) -> u16 {
        streams::stderr_size().1
    }

    fn height(&self) -> u16 {
        streams::stderr_size().0
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.write_str(line)?;
        self.write_str("")
    }

    fn write_str(&self, piece: &str) -> io::Result<()> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).push(piece.to_owned());
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<String> = pieces.drain(..).step_by(2).collect();
        let rows = cut(&lines, usize::from(self.width()));
        streams::text_aside(|out| out.rows(&rows))
    }
}

/// Cuts lines to the width of the terminal.
fn cut(lines: &[String], columns: usize) -> Vec<Cow<'_, str>> {
    lines.iter().map(|line| truncate_str(line, columns, "…")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::terminal::sheet::TerminalBytes;

    fn redrawn(lines: &[String], columns: usize) -> String {
        let text = TerminalBytes::of(|out| out.rows(&cut(lines, columns))).unwrap();
        String::from_utf8(text.as_bytes().to_vec()).unwrap()
    }

    /// A terminal that moves what does not fit to the row below, as most do; others drop it.
    struct FakeTerminal {
        columns: usize,
        is_moved: bool,
        /// Lines as they were written, and the line that the cursor is at the beginning of.
        lines: Vec<String>,
        at: usize,
    }

    impl FakeTerminal {
        fn draw(&mut self, lines: &[&str]) {
            let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
            let text = redrawn(&lines, self.columns);
            let (begin, end) = text.strip_prefix("\r\u{1b}[J").unwrap().split_once('\r').unwrap();
            self.lines.truncate(self.at);
            let written = format!("{begin}\r{end}");
            let (rows, up) = written.rsplit_once('\r').unwrap();
            self.lines.extend(rows.split("\r\n").map(str::to_owned));
            let up = up.trim_start_matches("\u{1b}[").trim_end_matches('A');
            self.at = self.lines.len() - 1 - up.parse().unwrap_or(0);
        }

        fn narrow(&mut self, columns: usize) {
            self.columns = columns;
            if !self.is_moved {
                let cut = |line: &String| line.chars().take(columns).collect();
                self.lines = self.lines.iter().map(cut).collect();
            }
        }
    }

    #[test]
    fn a_terminal_that_becomes_narrower_keeps_nothing_of_the_longer_rows() {
        let (bar, stages) = ("b".repeat(70), "s".repeat(90));
        for is_moved in [true, false] {
            let mut paper =
                FakeTerminal { columns: 80, is_moved, lines: vec!["$ kb".into()], at: 1 };
            paper.draw(&[&bar, &stages]);
            assert_eq!(paper.lines, ["$ kb", &bar, &format!("{}…", "s".repeat(79))]);
            paper.narrow(40);
            paper.draw(&[&bar, &stages]);
            let cut = |letter: &str| format!("{}…", letter.repeat(39));
            assert_eq!((paper.at, paper.lines[1..].to_vec()), (1, vec![cut("b"), cut("s")]));
            paper.draw(&[]);
            assert_eq!((paper.at, paper.lines[1..].concat()), (1, String::new()));
        }
    }

    #[test]
    fn colours_have_no_width() {
        let line = "\u{1b}[36mab\u{1b}[0mcd".to_owned();
        assert_eq!(redrawn(std::slice::from_ref(&line), 4), format!("\r\u{1b}[J{line}\r"));
        assert_eq!(redrawn(&[line], 3), "\r\u{1b}[J\u{1b}[36mab\u{1b}[0m…\r");
        // Nothing else of a name reaches the terminal.
        let name = "a\u{1b}[2J".to_owned();
        assert_eq!(redrawn(&[name], 80), "\r\u{1b}[Ja[2J\r");
    }
}
