//! Lets a long command finish its current step after Ctrl-C or SIGTERM.
//!
//! Only commands that commit in steps use this. A signal ends all other commands at once; the next
//! command that opens the database rolls back their unfinished writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, Result};

/// Ends the process with success while other threads compute. The usual code at the end of a process does not run: it
/// would free data that they use, such as the tables of ONNX Runtime. The database is as after any sudden end: the next
/// command opens it.
pub(super) fn end_at_once() -> ! {
    signal_hook::low_level::exit(0)
}

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
            // If a handler cannot be registered, the signal keeps its default action. Handlers run in this order: the
            // first signal only sets the flag, and the second one finds it set and ends the process.
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

/// The signals that end a command which has the whole screen: it has to restore the terminal first.
#[derive(Debug, Default)]
pub(super) struct EndingSignals {
    signal: Arc<AtomicUsize>,
    /// Whether another program has the terminal. Signals then have their default action.
    is_away: Arc<AtomicBool>,
}

impl EndingSignals {
    /// Catches the signals from now on.
    pub(super) fn listen() -> Self {
        let ending = Self::default();
        #[cfg(unix)]
        let others = [SIGTERM, signal_hook::consts::SIGHUP, signal_hook::consts::SIGQUIT];
        #[cfg(not(unix))]
        let others = [SIGTERM];
        for signal in others {
            // If a handler cannot be registered, the signal keeps its default action.
            let _ = flag::register_conditional_default(signal, Arc::clone(&ending.is_away));
        }
        for signal in others.into_iter().chain([SIGINT]) {
            let number = usize::try_from(signal).unwrap_or(0);
            let _ = flag::register_usize(signal, Arc::clone(&ending.signal), number);
        }
        ending
    }

    /// Returns the signal that was received.
    pub(super) fn signal(&self) -> Option<i32> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(i32::try_from(signal).unwrap_or(SIGTERM)),
        }
    }

    /// Runs another program on the terminal. Ctrl-C is for that program.
    pub(super) fn away<T>(&self, run: impl FnOnce() -> T) -> T {
        self.is_away.store(true, Ordering::Relaxed);
        let outcome = run();
        self.is_away.store(false, Ordering::Relaxed);
        self.signal.store(0, Ordering::Relaxed);
        outcome
    }
}

/// Ignores Ctrl-C from now on, because another program uses the terminal and handles it.
pub(super) fn ignore() {
    // If the handler cannot be registered, the signal keeps its default action.
    let _ = flag::register(SIGINT, Arc::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_that_was_received_is_the_reason() {
        let interrupt = Interrupt::default();
        assert!(interrupt.check().is_ok());
        interrupt.signal.store(2, Ordering::Relaxed);
        assert!(matches!(interrupt.check(), Err(Error::Interrupted { signal: 2 })));
        interrupt.signal.store(usize::MAX, Ordering::Relaxed);
        assert!(matches!(interrupt.check(), Err(Error::Interrupted { signal: SIGTERM })));
    }

    #[test]
    fn signals_during_another_program_are_not_for_this_one() {
        let ending = EndingSignals::default();
        assert_eq!(ending.signal(), None);
        let found = ending.away(|| {
            ending.signal.store(2, Ordering::Relaxed);
            (ending.is_away.load(Ordering::Relaxed), ending.signal())
        });
        assert_eq!(found, (true, Some(2)));
        assert_eq!((ending.is_away.load(Ordering::Relaxed), ending.signal()), (false, None));
    }
}
