//! Nothing in, the time a stretch of work has taken so far out.
//!
//! Where the system tells, time of this thread's own work: a busy machine and a stopped process
//! must not change how a file is read.

use std::time::Duration;

/// A running measurement; of the thread that started it.
pub(super) struct Clock {
    started: Now,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: now() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        since(self.started)
    }
}

#[cfg(unix)]
type Now = Duration;

#[cfg(unix)]
fn now() -> Now {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // A clock that counts from the thread's beginning is never before it.
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(unix)]
fn since(start: Now) -> Duration {
    now().saturating_sub(start)
}

#[cfg(not(unix))]
type Now = std::time::Instant;

#[cfg(not(unix))]
fn now() -> Now {
    Now::now()
}

#[cfg(not(unix))]
fn since(start: Now) -> Duration {
    start.elapsed()
}
