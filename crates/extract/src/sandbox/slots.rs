//! Limits how many processes read pages by OCR in parallel, and counts the pages and the time.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How far the OCR of a run has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OcrWork {
    /// Pages that need OCR, as far as is known.
    pub num_pages: usize,
    /// How many of them were read, or failed.
    pub num_done: usize,
    /// How long at least one page was being read.
    pub elapsed: Duration,
}

/// Permits to run OCR: one per worker or processor, for all documents together, because Tesseract fully uses a
/// processor and needs memory.
#[derive(Debug)]
pub(crate) struct WorkerSlots {
    num_slots: usize,
    state: Mutex<SlotState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct SlotState {
    num_used: usize,
    work: OcrWork,
    /// When the first of the permits in use was given.
    since: Option<Instant>,
}

impl Default for WorkerSlots {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

/// A permit, returned when it is dropped.
pub(crate) struct WorkerSlot<'a>(&'a WorkerSlots);

impl WorkerSlots {
    /// Creates permits for this many workers, but no more than there are processors.
    pub(crate) fn new(num_slots: usize) -> Self {
        let num_cores = thread::available_parallelism().map_or(1, NonZero::get);
        let num_slots = num_slots.clamp(1, num_cores);
        Self { num_slots, state: Mutex::default(), freed: Condvar::new() }
    }

    pub(crate) fn num_slots(&self) -> usize {
        self.num_slots
    }

    pub(crate) fn work(&self) -> OcrWork {
        self.lock().work
    }

    /// Counts pages that need OCR, and pages for which it has ended.
    pub(crate) fn count(&self, num_pages: usize, num_done: usize) {
        let work = &mut self.lock().work;
        work.num_pages += num_pages;
        work.num_done += num_done;
    }

    /// Waits for a permit.
    pub(crate) fn take(&self) -> WorkerSlot<'_> {
        let state = self.freed.wait_while(self.lock(), |state| state.num_used == self.num_slots);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.num_used += 1;
        state.since.get_or_insert_with(Instant::now);
        WorkerSlot(self)
    }

    fn lock(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WorkerSlot<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.num_used -= 1;
        if state.num_used == 0 {
            let since = state.since.take();
            state.work.elapsed += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
        drop(state);
        self.0.freed.notify_one();
    }
}
