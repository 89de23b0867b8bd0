//! Starts a confined process with pipes to it, reads what it writes, and always ends it.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::ReadOptions;
use crate::error::{Error, Result};

/// Lines that may wait for the parent; a faster process has to wait, so that its pages do not fill the memory.
const LINES_IN_FLIGHT: usize = 64;

/// Bytes of lines that wait for the parent, the one that it works on included, while the next one is read. So a message of any
/// size is in memory alone.
const BYTES_IN_FLIGHT: usize = 16 << 20;

/// How long to wait for the end of stderr after the process has ended: a process that it has started may keep it open
/// forever.
const STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// Bytes of stderr that are kept to find the cause of an abort; the first lines name it.
const MAX_STDERR_BYTES: usize = 16 << 10;

/// How long a process may take to exit after its output has ended: it may close its output and go on.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Longest wait between two looks at the flag that cancels a run: people notice no delay as short.
const TICK: Duration = Duration::from_millis(50);

/// The variables that a process keeps: where the system finds libraries and Tesseract its data.
const VARIABLES: [&str; 4] =
    ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot", "TESSDATA_PREFIX"];

/// The name of the process in lists of processes.
#[cfg(unix)]
const PROCESS_NAME: &str = "kb";

/// A message from the thread that reads a process's stdout.
#[derive(Debug)]
enum ProcessMessage {
    /// A line with its line end, or an incomplete last line.
    Line(Vec<u8>),
    /// A line that is longer than allowed.
    TooMuch,
}

/// Why there is no further line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The output has ended.
    End,
    /// It is longer than allowed.
    TooMuch,
    /// The time is used up.
    Late,
    /// The run was cancelled.
    Cancelled,
}

/// Counts the bytes of lines that were read and are still needed.
#[derive(Debug, Default)]
struct InFlight {
    num_bytes: Mutex<usize>,
    freed: Condvar,
}

impl InFlight {
    /// Waits until there is room for another line.
    fn wait_for_room(&self) {
        let num_bytes = self.num_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let _room = self
            .freed
            .wait_while(num_bytes, |num_bytes| *num_bytes > BYTES_IN_FLIGHT)
            .unwrap_or_else(PoisonError::into_inner);
    }

    fn add(&self, num_bytes: usize) {
        let mut sum = self.num_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = sum.saturating_add(num_bytes);
    }

    fn remove(&self, num_bytes: usize) {
        let mut sum = self.num_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = sum.saturating_sub(num_bytes);
        self.freed.notify_one();
    }
}

/// A process that waits for a document or is reading one.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    lines: Receiver<ProcessMessage>,
    in_flight: Arc<InFlight>,
    /// Bytes of the line that the parent works on.
    current: Cell<usize>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when all of stderr has been read.
    stderr_end: Receiver<()>,
    /// On Unix, the process asks to end with this one.
    #[cfg(windows)]
    _tree: Option<kb_base::files::processes::ProcessTree>,
}

impl Process {
    /// Starts `kb` with these arguments and variables, and without the environment of this process. Returns
    /// it with the pipe to it.
    pub(super) fn start(
        program: &Path,
        args: &[&OsStr],
        variables: &[(&str, OsString)],
    ) -> Result<(Self, ChildStdin)> {
        let spawned =
            spawn(program, args, variables).map_err(|source| Error::of_file(program, source))?;
        let (sender, lines) = sync_channel(LINES_IN_FLIGHT);
        let (stderr_sender, stderr_end) = sync_channel(0);
        let (in_flight, errors) = (Arc::<InFlight>::default(), Arc::default());
        let current = Cell::default();
        let mut process = Self {
            #[cfg(windows)]
            _tree: kb_base::files::processes::ProcessTree::of(&spawned),
            child: spawned,
            lines,
            in_flight,
            current,
            errors,
            stderr_end,
        };
        let pipes =
            (process.child.stdin.take(), process.child.stdout.take(), process.child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            let source = io::ErrorKind::BrokenPipe.into();
            return Err(Error::of_file(program, source));
        };
        let (in_flight, buffered) = (Arc::clone(&process.in_flight), Arc::clone(&process.errors));
        // Both threads end with the process, which is never left running.
        thread::spawn(move || receive(stdout, &sender, &in_flight));
        thread::spawn(move || {
            read_errors(stderr, &buffered);
            drop(stderr_sender);
        });
        Ok((process, stdin))
    }

    /// Returns the next line with its line end, or an incomplete last line. The one before is no longer needed.
    pub(super) fn next_line(
        &self,
        until: Instant,
        options: &ReadOptions,
    ) -> Result<Vec<u8>, StreamEnd> {
        self.in_flight.remove(self.current.take());
        loop {
            if options.is_cancelled() {
                return Err(StreamEnd::Cancelled);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(TICK)) {
                Ok(ProcessMessage::Line(line)) => {
                    self.current.set(line.len());
                    return Ok(line);
                }
                Ok(ProcessMessage::TooMuch) => return Err(StreamEnd::TooMuch),
                Err(RecvTimeoutError::Disconnected) => return Err(StreamEnd::End),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(StreamEnd::Late),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Stops reading its output: a process that it has started may still write, and keep the pipe open.
    pub(super) fn close(&mut self) {
        self.lines = sync_channel(0).1;
        // The thread that reads ends with its next line.
        self.in_flight.remove(usize::MAX);
    }

    /// Returns what a process that has ended wrote to stderr.
    pub(super) fn errors(&self) -> String {
        // The end of the output may still be in the pipe; a process that it has started may keep the
        // pipe open.
        let _ = self.stderr_end.recv_timeout(STDERR_TIMEOUT);
        let buffered = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&buffered).into_owned()
    }

    /// Kills the process and returns its status.
    pub(super) fn end(&mut self) -> Option<ExitStatus> {
        let _ = self.child.kill();
        self.child.wait().ok()
    }

    /// Waits for the exit of a process whose output has ended; `None` if it had to be killed.
    pub(super) fn wait_for_end(&mut self) -> Option<ExitStatus> {
        const PAUSE: Duration = Duration::from_millis(1);
        let started = Instant::now();
        while started.elapsed() < EXIT_TIMEOUT {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => thread::sleep(PAUSE),
                Err(_) => break,
            }
        }
        self.end();
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        self.close();
    }
}

#[expect(clippy::disallowed_methods, reason = "passed on to the process, not read by kb")]
fn kept_variables() -> impl Iterator<Item = (&'static str, OsString)> {
    VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// Longest line, regardless of the limit for all lines: pictures for Tesseract are not counted there.
const MAX_LINE_BYTES: u64 = 256 << 20;

fn receive(stdout: ChildStdout, lines: &SyncSender<ProcessMessage>, in_flight: &InFlight) {
    let mut stdout = BufReader::new(stdout);
    loop {
        in_flight.wait_for_room();
        let mut line = Vec::new();
        let mut limited = (&mut stdout).take(MAX_LINE_BYTES);
        let is_over = !matches!(limited.read_until(b'\n', &mut line), Ok(1..));
        let is_cut_off = limited.limit() == 0;
        if is_over {
            return;
        }
        in_flight.add(line.len());
        let message = if is_cut_off { ProcessMessage::TooMuch } else { ProcessMessage::Line(line) };
        if lines.send(message).is_err() || is_cut_off {
            return;
        }
    }
}

fn read_errors(mut stderr: ChildStderr, buffered: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1 << 10];
    while let Ok(len @ 1..) = stderr.read(&mut buffer) {
        let mut buffered = buffered.lock().unwrap_or_else(PoisonError::into_inner);
        let free = MAX_STDERR_BYTES.saturating_sub(buffered.len());
        // Continue reading, so that a process with much output does not block.
        buffered.extend(&buffer[..len.min(free)]);
    }
}

fn spawn(program: &Path, args: &[&OsStr], variables: &[(&str, OsString)]) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(kept_variables());
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // Its path may be that of a link of the system to the running program.
        command.arg0(PROCESS_NAME);
        // Ctrl-C is for this process, which decides about the document.
        command.process_group(0);
    }
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NO_WINDOW);
    command.spawn()
}

/// A process without a console: Ctrl-C does not reach it, and a program without a console opens no window for it
/// (`winbase.h`).
#[cfg(windows)]
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
