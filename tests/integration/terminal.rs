//! Runs the program on a pseudo-terminal, with keystrokes, and returns what a person would see.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::env::{Output, TestEnv};

/// Columns of the terminal.
const WIDTH: u16 = 90;

/// Runs the program with stdin and stderr on a terminal, and also stdout if `is_stdout_shown`.
///
/// The text on the terminal is returned as `stderr`: echo, prompts and bars.
pub(crate) fn run(env: &TestEnv, args: &[&str], typed: &str, is_stdout_shown: bool) -> Output {
    run_at(env, args, typed, is_stdout_shown, WIDTH)
}

/// Runs the program on a terminal of this many columns.
pub(crate) fn run_at(
    env: &TestEnv,
    args: &[&str],
    typed: &str,
    is_stdout_shown: bool,
    columns: u16,
) -> Output {
    run_command(env, env.command(args), typed, is_stdout_shown, columns)
}

/// Runs a prepared command like [`run_at`].
pub(crate) fn run_command(
    env: &TestEnv,
    mut command: Command,
    typed: &str,
    is_stdout_shown: bool,
    columns: u16,
) -> Output {
    let (mut keyboard, terminal) = pair(columns, 30);
    let mut screen = keyboard.try_clone().unwrap();
    keyboard.write_all(typed.as_bytes()).unwrap();

    command.env("TERM", "xterm-256color").stdin(terminal.try_clone().unwrap());
    command.stdout(if is_stdout_shown {
        terminal.try_clone().unwrap().into()
    } else {
        Stdio::piped()
    });
    let child = command.stderr(terminal).spawn().unwrap();
    // The command keeps the terminal open; the output ends when no process has it open.
    drop(command);
    let shown = thread::spawn(move || {
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        // On Linux the end of a terminal is an error.
        while let Ok(len @ 1..) = screen.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..len]);
        }
        shown
    });
    let output = child.wait_with_output().unwrap();
    env.output(output.stdout, shown.join().unwrap(), output.status)
}

/// Keeps programs that other tests start from holding the terminal. Linux alone can set it on opening.
#[cfg(target_os = "linux")]
const CLOSED_ON_EXEC: OpenptFlags = OpenptFlags::CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSED_ON_EXEC: OpenptFlags = OpenptFlags::empty();

/// Makes a terminal of this size; returns the end of the person and that of the program.
pub(crate) fn pair(columns: u16, rows: u16) -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | CLOSED_ON_EXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = open(name.as_c_str(), flags, Mode::empty()).unwrap();
    tcsetwinsize(&terminal, size).unwrap();
    (File::from(master), File::from(terminal))
}
