//! Limits how many processes read pages by OCR in parallel.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Permits to run OCR: one per processor, for all documents together, because Tesseract fully uses
/// a processor and needs memory.
#[derive(Debug)]
pub(crate) struct Slots {
    num_slots: usize,
    num_free: Mutex<usize>,
    freed: Condvar,
}

impl Default for Slots {
    fn default() -> Self {
        let num_slots = thread::available_parallelism().map_or(1, NonZero::get);
        Self { num_slots, num_free: Mutex::new(num_slots), freed: Condvar::new() }
    }
}

/// A permit, returned when it is dropped.
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn num_slots(&self) -> usize {
        self.num_slots
    }

    /// Waits for a permit.
    pub(crate) fn take(&self) -> Slot<'_> {
        let free = self.num_free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(free, |num_free| *num_free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.num_free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
