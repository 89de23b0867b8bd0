//! Defines the events that the screen reacts to, reads keys in a thread, and reports whether the terminal was closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossterm::event::{self, Event, KeyEvent, KeyEventKind};

use crate::cli::find::worker::WorkerReply;

/// How long the thread waits for a key before it looks whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// Failures in a row after which no more keys are expected. A change of size is a failure where `crossterm`
/// finds no terminal to ask for it, for example without a controlling terminal.
const MAX_FAILURES: u32 = 20;

/// A thread that reads keys.
pub(super) struct Keyboard {
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Keyboard {
    /// Begins to send keys.
    pub(super) fn start(sender: Sender<FindInput>) -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        let thread = thread::spawn(move || {
            let mut num_failures = 0;
            while !stopped.load(Ordering::Relaxed) {
                let (input, is_last) = match next() {
                    Ok(Some(input)) => (input, false),
                    Ok(None) => continue,
                    Err(_) if num_failures < MAX_FAILURES => {
                        num_failures += 1;
                        (FindInput::Resized, false)
                    }
                    Err(error) => (FindInput::Lost(error), true),
                };
                if !matches!(input, FindInput::Resized) {
                    num_failures = 0;
                }
                if sender.send(input).is_err() || is_last {
                    return;
                }
            }
        });
        Self { is_stopped, thread }
    }

    /// Stops reading, so that another program gets the keys.
    pub(super) fn stop(self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // A panic of the thread is ignored: it reads no more keys either way.
        let _ = self.thread.join();
    }
}

/// Waits for a key or a change of size; `None` if there was none, or one without a meaning.
fn next() -> std::io::Result<Option<FindInput>> {
    if !event::poll(TICK)? {
        return Ok(None);
    }
    Ok(match event::read()? {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(FindInput::Key(key)),
        Event::Paste(text) => Some(FindInput::Paste(text)),
        Event::Resize(..) => Some(FindInput::Resized),
        _ => None,
    })
}

/// Whether the terminal was closed. `crossterm` would read from it forever (its version 0.29 ignores errors and
/// the end of its input), so the caller must look itself.
#[cfg(unix)]
pub(super) fn is_hung_up() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::IN)];
    let closed = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut terminal, Some(&Timespec::default())).is_ok()
        && terminal[0].revents().intersects(closed)
}

/// Whether the terminal was closed; the system ends the process then.
#[cfg(not(unix))]
pub(super) fn is_hung_up() -> bool {
    false
}

/// An event that the screen reacts to.
#[derive(Debug)]
pub(super) enum FindInput {
    Key(KeyEvent),
    Paste(String),
    Resized,
    Reply(WorkerReply),
    /// The terminal cannot be read any more.
    Lost(std::io::Error),
}

impl From<WorkerReply> for FindInput {
    fn from(reply: WorkerReply) -> Self {
        Self::Reply(reply)
    }
}
