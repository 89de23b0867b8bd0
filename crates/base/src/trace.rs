//! Measures how long each stage takes, if the user asks for it.
//!
//! This is a global on purpose. A session could own it only if every stage, and the workers and
//! threads below it, took one more argument, for numbers that one interface prints once, at the end
//! of its process. Sessions of one process share the numbers, and nothing else depends on them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// In the order in which the stages first ended.
static TIMES: Mutex<Vec<(&'static str, Time)>> = Mutex::new(Vec::new());

/// The duration of a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Time {
    /// Number of runs.
    pub num_runs: usize,
    /// Total time of all runs, on any thread.
    pub total: Duration,
}

/// Starts measuring.
pub fn start() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Runs a stage and measures it.
pub fn stage<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    if !IS_ON.load(Ordering::Relaxed) {
        return work();
    }
    let begin = Instant::now();
    let done = work();
    let took = begin.elapsed();
    let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    let at = times.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        times.push((name, Time::default()));
        times.len() - 1
    });
    let time = &mut times[at].1;
    time.num_runs += 1;
    time.total += took;
    done
}

/// Returns the stages that ran, in the order in which they first ended.
pub fn times() -> Vec<(&'static str, Time)> {
    TIMES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_listed_in_the_order_they_ended() {
        assert_eq!(stage("trace-test-before", || 1), 1);
        start();
        stage("trace-test-first", || ());
        stage("trace-test-second", || ());
        stage("trace-test-first", || ());
        let found: Vec<(&str, usize)> = times()
            .into_iter()
            .filter(|(name, _)| name.starts_with("trace-test"))
            .map(|(name, time)| (name, time.num_runs))
            .collect();
        assert_eq!(found, [("trace-test-first", 2), ("trace-test-second", 1)]);
    }
}
