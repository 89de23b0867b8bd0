//! Turns Ctrl-C and SIGTERM into a flag: a long command finishes the step at hand and leaves.
//!
//! Only commands that commit piece by piece listen. All others end at once, as the system has it: what
//! they had begun to write is undone by the next one that opens the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, Result};

/// A request to end, made by a signal or by setting the flag.
#[derive(Debug, Default)]
pub(super) struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Raises `flag` from now on when the first signal comes; the second ends the process at once.
    pub(super) fn listen(flag: &Arc<AtomicBool>) -> Self {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or(0);
            // Where a signal cannot be listened to it does what it always did.
            let _ = flag::register_conditional_default(signal, Arc::clone(flag));
            let _ = flag::register_usize(signal, Arc::clone(&interrupt.signal), number);
            let _ = flag::register(signal, Arc::clone(flag));
        }
        interrupt
    }

    /// Returns the error a command ends with where a signal came.
    pub(super) fn check(&self) -> Result<()> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(Error::Interrupted { signal: i32::try_from(signal).unwrap_or(SIGTERM) }),
        }
    }
}

/// Ignores Ctrl-C from now on: another program has the terminal and receives it.
pub(super) fn ignore() {
    // Where a signal cannot be listened to it does what it always did.
    let _ = flag::register(SIGINT, Arc::default());
}
