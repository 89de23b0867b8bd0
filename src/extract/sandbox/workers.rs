//! Manages reading children: starts them on demand, keeps them for the next document, and always
//! ends them.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::extract::protocol::{CHILD_COMMAND, Request, encode};

/// Lines that may wait for the parent; a faster child has to wait.
const LINES_IN_FLIGHT: usize = 64;

/// How long to wait for the end of stderr after the child has ended.
const STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// Bytes of a child's stderr that are kept to find the cause of an abort.
const MAX_STDERR_BYTES: usize = 16 << 10;

/// Documents and pages after which a child is replaced, which frees the memory that a library
/// leaks.
const MAX_DOCUMENTS: u32 = 50;
const MAX_PAGES: u32 = 2_000;

/// Idle children.
#[derive(Debug, Default)]
pub(in crate::extract) struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    /// Returns an idle child, or a new one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if no process can be started.
    pub(super) fn take(&self, program: &Path) -> Result<Worker> {
        while let Some(mut worker) = self.lock().pop() {
            // Another process may have ended it.
            if worker.child.is_alive() {
                return Ok(worker);
            }
        }
        Worker::start(program).map_err(|source| Error::Io { path: program.to_owned(), source })
    }

    /// Keeps a child that has completely read a document with this many pages.
    pub(super) fn give_back(&self, mut worker: Worker, num_pages: u32) {
        worker.num_documents += 1;
        worker.num_pages = worker.num_pages.saturating_add(num_pages);
        if worker.num_documents < MAX_DOCUMENTS && worker.num_pages < MAX_PAGES {
            self.lock().push(worker);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message from the thread that reads a child's stdout.
#[derive(Debug)]
pub(super) enum Received {
    /// A line with its line end, or an incomplete last line.
    Line(Vec<u8>),
    /// A line that is longer than allowed.
    TooMuch,
}

/// A child that waits for a document or is reading one.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) child: ChildGuard,
    pub(super) stdin: ChildStdin,
    pub(super) lines: Receiver<Received>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when all of stderr has been read.
    stderr_end: Receiver<()>,
    num_documents: u32,
    num_pages: u32,
}

impl Worker {
    fn start(program: &Path) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(CHILD_COMMAND);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = ChildGuard(command.spawn()?);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take())
        else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let (sender, lines) = sync_channel(LINES_IN_FLIGHT);
        let errors = Arc::new(Mutex::new(Vec::new()));
        let buffered = Arc::clone(&errors);
        // Both threads end with the child, which is never left running.
        thread::spawn(move || receive(stdout, &sender));
        let (stderr_sender, stderr_end) = sync_channel(0);
        thread::spawn(move || {
            read_errors(stderr, &buffered);
            drop(stderr_sender);
        });
        Ok(Self { child, stdin, lines, errors, stderr_end, num_documents: 0, num_pages: 0 })
    }

    /// Returns what a child that has ended wrote to stderr.
    pub(super) fn errors(&self) -> String {
        // The end of the output may still be in the pipe; a process started by the child may keep
        // the pipe open.
        let _ = self.stderr_end.recv_timeout(STDERR_TIMEOUT);
        let buffered = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&buffered).into_owned()
    }
}

/// Sends a document to a child. A child that has ended does not read it; its status has the reason.
pub(super) fn feed(stdin: &mut ChildStdin, request: &Request, bytes: &[u8]) {
    let _ = stdin.write_all(&encode(request)).and_then(|()| stdin.write_all(bytes));
    let _ = stdin.flush();
}

/// Longest line, regardless of the limit for all lines.
const MAX_LINE_BYTES: u64 = 256 << 20;

fn receive(stdout: ChildStdout, lines: &SyncSender<Received>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut stdout).take(MAX_LINE_BYTES);
        let is_over = !matches!(limited.read_until(b'\n', &mut line), Ok(1..));
        let is_cut_off = limited.limit() == 0;
        if is_over {
            return;
        }
        let message = if is_cut_off { Received::TooMuch } else { Received::Line(line) };
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
        // Continue reading, so that a child with much output does not block.
        buffered.extend(&buffer[..len.min(free)]);
    }
}

/// A child process that is always ended and reaped.
#[derive(Debug)]
pub(super) struct ChildGuard(Child);

impl ChildGuard {
    fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Kills the child and returns its status.
    pub(super) fn end(&mut self) -> Option<ExitStatus> {
        let _ = self.0.kill();
        self.0.wait().ok()
    }

    /// Waits for the child to exit; `None` if it had to be killed.
    pub(super) fn wait_for(&mut self, time_limit: Duration) -> Option<ExitStatus> {
        const PAUSE: Duration = Duration::from_millis(1);
        let started = Instant::now();
        while started.elapsed() < time_limit {
            match self.0.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => thread::sleep(PAUSE),
                Err(_) => break,
            }
        }
        self.end();
        None
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        self.end();
    }
}
