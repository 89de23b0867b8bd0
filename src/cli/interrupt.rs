//! Lets a long command finish its current step after Ctrl-C or SIGTERM.
//!
//! Only commands that commit in steps use this. A signal ends all other commands at once; the next
//! command that opens the database rolls back their unfinished writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, Result};

/// A request to stop, made by a signal.
#[derive(Debug, Default)]
pub(super) struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Sets `flag` at the first signal; the second one ends the process at once.
    pub(super) fn listen(flag: &Arc<AtomicBool>) -> Self {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or(0);
            // If a handler cannot be registered, the signal keeps its default action.
            let _ = flag::register_conditional_default(signal, Arc::clone(flag));
            let _ = flag::register_usize(signal, Arc::clone(&interrupt.signal), number);
            let _ = flag::register(signal, Arc::clone(flag));
        }
        interrupt
    }

    /// Returns [`Error::Interrupted`] if a signal was received.
    pub(super) fn check(&self) -> Result<()> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(Error::Interrupted { signal: i32::try_from(signal).unwrap_or(SIGTERM) }),
        }
    }
}

/// Ignores Ctrl-C from now on, because another program uses the terminal and handles it.
pub(super) fn ignore() {
    // If the handler cannot be registered, the signal keeps its default action.
    let _ = flag::register(SIGINT, Arc::default());
}
