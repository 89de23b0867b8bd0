//! Runs the program on a pseudo-terminal, with keystrokes, and returns what a person would see.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::env::{Output, TestEnv};

/// Columns of the terminal.
const WIDTH: u16 = 90;

/// Runs the program with stdin and stderr on a terminal, and also stdout if `is_stdout_shown`.
///
/// What the terminal shows is returned as `stderr`: echo, prompts and bars.
pub(crate) fn run(env: &TestEnv, args: &[&str], typed: &str, is_stdout_shown: bool) -> Output {
    run_at(env, args, typed, is_stdout_shown, WIDTH)
}

/// Runs the program on a terminal of so many columns.
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
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let size = Winsize { ws_row: 30, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal =
        File::options().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
    tcsetwinsize(&terminal, size).unwrap();
    let mut keyboard = File::from(master);
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
