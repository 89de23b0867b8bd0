//! Measures processor time, and holds the time budget of a document.
//!
//! If the system supports it, only the processor time of the thread is measured: a busy machine or
//! a stopped process must not change the result of a file.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};

/// The processor time that a document may use, over all threads that work on it.
#[derive(Debug)]
pub struct CpuBudget {
    limit: Duration,
    used_ns: AtomicU64,
}

impl CpuBudget {
    /// Creates an unused budget.
    pub fn new(limit: Duration) -> Self {
        Self { limit, used_ns: AtomicU64::new(0) }
    }

    /// Runs work on this thread and counts the time it takes.
    pub fn spend<T>(&self, work: impl FnOnce() -> T) -> T {
        let clock = Clock::start();
        let result = work();
        let took = u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.used_ns.fetch_add(took, Ordering::Relaxed);
        result
    }

    /// Whether the budget is used up.
    pub fn is_spent(&self) -> bool {
        self.left().is_zero()
    }

    /// Returns the remaining time.
    pub fn left(&self) -> Duration {
        let used = Duration::from_nanos(self.used_ns.load(Ordering::Relaxed));
        self.limit.saturating_sub(used)
    }

    /// Returns an error if the budget is used up.
    pub fn check(&self) -> Result<()> {
        if self.is_spent() { Err(self.error()) } else { Ok(()) }
    }

    /// Returns the error for a document that takes too long.
    pub(crate) fn error(&self) -> Error {
        Error::TooSlow { limit_seconds: self.limit.as_secs() }
    }
}

/// A running measurement of the thread that started it.
pub struct Clock {
    started: Duration,
}

impl Clock {
    pub fn start() -> Self {
        Self { started: now() }
    }

    pub fn elapsed(&self) -> Duration {
        now().saturating_sub(self.started)
    }
}

/// Returns the time on a clock that never goes back.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // A clock that counts from the beginning of the thread is never negative.
    time.try_into().unwrap_or_default()
}

#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_over_all_threads() {
        let budget = CpuBudget::new(Duration::from_millis(2));
        assert!(budget.check().is_ok());
        let work = || {
            budget.spend(|| {
                let clock = Clock::start();
                while clock.elapsed() < Duration::from_millis(1) {
                    std::hint::black_box(0);
                }
            });
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
        });
        assert!(matches!(budget.check(), Err(Error::TooSlow { limit_seconds: 0 })));
    }
}
