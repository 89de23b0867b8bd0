//! Reading children: started when they are needed, kept for the next document, never left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::extract::protocol::{CHILD_COMMAND, Request, encode};

/// Lines that may wait for the parent; a child that is faster waits for it instead.
const LINES_IN_FLIGHT: usize = 64;

/// How long to wait for the end of stderr after the child has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Bytes of a child's stderr that are kept for the cause of an abort.
const MAX_STDERR_BYTES: usize = 16 << 10;

/// Documents and pages after which a child has done enough: what a library leaks is gone with it.
const MAX_DOCUMENTS: u32 = 50;
const MAX_PAGES: u32 = 2_000;

/// Children that wait for work.
#[derive(Debug, Default)]
pub(in crate::extract) struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    /// Returns a child that waits, or a new one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if no process can be started.
    pub(super) fn take(&self, program: &Path) -> Result<Worker> {
        while let Some(mut worker) = self.lock().pop() {
            // It may have been ended from outside.
            if worker.child.is_alive() {
                return Ok(worker);
            }
        }
        Worker::start(program).map_err(|source| Error::Io { path: program.to_owned(), source })
    }

    /// Keeps a child that has read a document of so many pages to its end.
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

/// What the thread at a child's stdout passes on.
#[derive(Debug)]
pub(super) enum Received {
    /// A line with its end, or what came instead of its end.
    Line(Vec<u8>),
    /// A line that is longer than all there may be.
    TooMuch,
}

/// A child that waits for a document or reads one.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) child: Reaped,
    pub(super) stdin: ChildStdin,
    pub(super) lines: Receiver<Received>,
    complaints: Arc<Mutex<Vec<u8>>>,
    /// Ends when all of stderr has been read.
    hearing: Receiver<()>,
    num_documents: u32,
    num_pages: u32,
}

impl Worker {
    fn start(program: &Path) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(CHILD_COMMAND);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Reaped(command.spawn()?);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take())
        else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let (sender, lines) = sync_channel(LINES_IN_FLIGHT);
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&complaints);
        // Both end with the child, which is never left running.
        thread::spawn(move || receive(stdout, &sender));
        let (is_hearing, hearing) = sync_channel(0);
        thread::spawn(move || {
            hear(stderr, &heard);
            drop(is_hearing);
        });
        Ok(Self { child, stdin, lines, complaints, hearing, num_documents: 0, num_pages: 0 })
    }

    /// Returns what a child that has ended said on stderr.
    pub(super) fn complaints(&self) -> String {
        // Its last words may still be in the pipe; what it has started may hold the pipe open.
        let _ = self.hearing.recv_timeout(LAST_WORDS);
        let heard = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&heard).into_owned()
    }
}

/// Gives a child a document. One that is gone does not read; why it is gone is told by its status.
pub(super) fn feed(stdin: &mut ChildStdin, request: &Request, bytes: &[u8]) {
    let _ = stdin.write_all(&encode(request)).and_then(|()| stdin.write_all(bytes));
    let _ = stdin.flush();
}

/// Most bytes of one line, whatever the limit for all of them is.
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

fn hear(mut stderr: ChildStderr, heard: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1 << 10];
    while let Ok(len @ 1..) = stderr.read(&mut buffer) {
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let free = MAX_STDERR_BYTES.saturating_sub(heard.len());
        // Read on, so that a talkative child does not block.
        heard.extend(&buffer[..len.min(free)]);
    }
}

/// A child that is never left running and never left a zombie.
#[derive(Debug)]
pub(super) struct Reaped(Child);

impl Reaped {
    fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Ends it.
    pub(super) fn end(&mut self) -> Option<ExitStatus> {
        let _ = self.0.kill();
        self.0.wait().ok()
    }

    /// Waits for its own end; `None` if it had to be ended.
    pub(super) fn wait_for(&mut self, patience: Duration) -> Option<ExitStatus> {
        const PAUSE: Duration = Duration::from_millis(1);
        let started = Instant::now();
        while started.elapsed() < patience {
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

impl Drop for Reaped {
    fn drop(&mut self) {
        self.end();
    }
}
