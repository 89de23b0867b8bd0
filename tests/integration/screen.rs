//! Runs the program on a pseudo-terminal while keys are typed, and shows what is on the screen.
//!
//! [`Cells`] understands what a terminal must understand to show the screen of `kb find` and bars: movements
//! of the cursor, clearing, and the second screen. It fails at any other control sequence.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use unicode_width::UnicodeWidthChar;

use crate::env::{Output, TestEnv};
use crate::patience::{PATIENCE, status_of};
use crate::terminal;

/// A program with a screen.
pub(crate) struct Screen {
    child: Option<Child>,
    keyboard: File,
    terminal: Option<OwnedFd>,
    /// The settings of the terminal before the program started.
    before: Termios,
    shown: Arc<Shown>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shown {
    written: Mutex<Written>,
    changed: Condvar,
}

#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    cells: Cells,
}

/// The cells of a terminal.
#[derive(Debug, Default, Clone)]
struct Cells {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    is_second: bool,
    is_cursor_hidden: bool,
    /// Bytes of a character or a sequence that is not complete.
    rest: Vec<u8>,
}

/// Stands for the second half of a wide character.
const HALF: char = '\0';

impl Cells {
    fn feed(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.rest);
        let valid = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap(),
        };
        let mut rest = valid;
        while let Some(c) = rest.chars().next() {
            if c != '\u{1b}' {
                rest = &rest[c.len_utf8()..];
                self.put(c);
                continue;
            }
            let end = match rest.as_bytes().get(1) {
                Some(b'[') => rest[2..].find(|c: char| c.is_ascii_alphabetic()).map(|at| at + 3),
                Some(b']') => rest.find('\u{7}').map(|at| at + 1),
                Some(other) => panic!("a sequence of {other}"),
                None => None,
            };
            let Some(end) = end else { break };
            self.obey(&rest[1..end]);
            rest = &rest[end..];
        }
        let done = valid.len() - rest.len();
        self.rest = bytes[done..].to_vec();
    }

    fn put(&mut self, c: char) {
        match c {
            '\n' => self.row += 1,
            '\r' => self.column = 0,
            c => {
                assert!(!c.is_control(), "{c:?} reaches the terminal");
                let width = c.width().unwrap_or(0);
                if self.rows.len() <= self.row {
                    self.rows.resize(self.row + 1, Vec::new());
                }
                let line = &mut self.rows[self.row];
                line.resize(line.len().max(self.column + width), ' ');
                if width > 0 {
                    line[self.column] = c;
                    line[self.column + 1..self.column + width].fill(HALF);
                }
                self.column += width;
            }
        }
    }

    fn obey(&mut self, sequence: &str) {
        let number = |text: &str| text.parse::<usize>().unwrap_or(1).max(1) - 1;
        match sequence {
            "[?1049h" => (self.is_second, self.rows) = (true, Vec::new()),
            "[?1049l" => (self.is_second, self.rows) = (false, Vec::new()),
            "[?25l" => self.is_cursor_hidden = true,
            "[?25h" => self.is_cursor_hidden = false,
            "[2J" => self.rows.clear(),
            "[J" => {
                self.rows.truncate(self.row + 1);
                if let Some(line) = self.rows.get_mut(self.row) {
                    line.truncate(self.column);
                }
            }
            "[?2004h" | "[?2004l" => {}
            _ if sequence.starts_with("]52;c;") => {}
            _ if sequence.ends_with('m') => {}
            _ if sequence.ends_with('A') => {
                self.row -= sequence[1..sequence.len() - 1].parse::<usize>().unwrap_or(1);
            }
            _ if sequence.ends_with('H') => {
                let (row, column) = sequence[1..sequence.len() - 1].split_once(';').unwrap();
                (self.row, self.column) = (number(row), number(column));
            }
            _ => panic!("the terminal was sent {sequence:?}"),
        }
    }

    fn text(&self) -> String {
        let line = |row: &Vec<char>| {
            row.iter().filter(|c| **c != HALF).collect::<String>().trim_end().to_owned()
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Screen {
    /// Starts the program on a terminal of this size.
    pub(crate) fn start(env: &TestEnv, args: &[&str], columns: u16, rows: u16) -> Self {
        Self::of(env.command(args), columns, rows, false)
    }

    /// Starts a program with stdin and stderr on a terminal, and also stdout if `is_stdout_shown`.
    pub(crate) fn of(mut command: Command, columns: u16, rows: u16, is_stdout_shown: bool) -> Self {
        let (keyboard, terminal) = terminal::pair(columns, rows);
        let before = tcgetattr(&terminal).unwrap();
        command.env("TERM", "xterm-256color").stdin(terminal.try_clone().unwrap());
        command.stderr(terminal.try_clone().unwrap()).stdout(match is_stdout_shown {
            true => terminal.try_clone().unwrap().into(),
            false => Stdio::piped(),
        });
        let child = command.spawn().unwrap();
        drop(command);
        let shown = Arc::new(Shown::default());
        let (mut source, sink) = (keyboard.try_clone().unwrap(), Arc::clone(&shown));
        let reader = thread::spawn(move || {
            let mut buffer = [0; 65536];
            // On Linux the end of a terminal is an error.
            while let Ok(len @ 1..) = source.read(&mut buffer) {
                let mut written = sink.written.lock().unwrap();
                written.bytes.extend_from_slice(&buffer[..len]);
                written.cells.feed(&buffer[..len]);
                sink.changed.notify_all();
            }
        });
        Self {
            child: Some(child),
            keyboard,
            terminal: Some(terminal.into()),
            before,
            shown,
            reader: Some(reader),
        }
    }

    /// Types keys.
    pub(crate) fn keys(&mut self, keys: &str) -> &mut Self {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Waits until the screen is as wanted, and returns it.
    #[track_caller]
    pub(crate) fn wait(&mut self, what: &str, is_wanted: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        let mut written = self.shown.written.lock().unwrap();
        loop {
            let text = written.cells.text();
            if is_wanted(&text) {
                return text;
            }
            let left = PATIENCE.saturating_sub(begin.elapsed());
            assert!(!left.is_zero(), "{what} did not appear:\n{text}");
            written = self.shown.changed.wait_timeout(written, left).unwrap().0;
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn see(&mut self, text: &str) -> String {
        self.wait(text, |shown| shown.contains(text))
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(self.terminal.as_ref().unwrap(), size).unwrap();
        // The terminal does this for the programs that it controls.
        self.signal(Signal::WINCH);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), signal).unwrap();
    }

    /// Whether the second screen is shown.
    pub(crate) fn is_full(&self) -> bool {
        self.shown.written.lock().unwrap().cells.is_second
    }

    /// Types keys that end the program, see [`Self::end`].
    #[track_caller]
    pub(crate) fn leave(mut self, keys: &str, env: &TestEnv) -> Output {
        self.keys(keys);
        self.end(env)
    }

    /// Waits until the program ends, checks that the terminal is restored, and returns what was written.
    #[track_caller]
    pub(crate) fn end(mut self, env: &TestEnv) -> Output {
        status_of(self.child.as_mut().unwrap());
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        let after = tcgetattr(self.terminal.as_ref().unwrap()).unwrap();
        // Speeds are left out: setting them changes how they are encoded.
        let settings = |terminal: &Termios| {
            let (input, output) = (terminal.input_modes, terminal.output_modes);
            (input, output, terminal.local_modes, format!("{:?}", terminal.special_codes))
        };
        assert_eq!(settings(&after), settings(&self.before));
        self.terminal = None;
        self.reader.take().unwrap().join().unwrap();
        let written = self.shown.written.lock().unwrap();
        assert!(!written.cells.is_second && !written.cells.is_cursor_hidden);
        env.output(output.stdout, written.bytes.clone(), output.status)
    }
}

/// A test that fails leaves no program behind.
impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
