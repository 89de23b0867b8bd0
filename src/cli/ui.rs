//! Shows the events of use cases on the terminal.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::Observer;
use crate::app::session::observer::AppEvent;
use crate::cli::interrupt::Interrupt;
use crate::cli::messages;
use crate::cli::progress::{CountProgress, FetchProgress, IngestProgress};
use crate::error::{Error, Result};
use crate::present::text::human::HumanLayout;

/// Prints events on stderr and draws progress bars for long operations.
#[derive(Default)]
pub(super) struct Ui {
    fetching: Mutex<Option<FetchProgress>>,
    ingesting: Mutex<Option<IngestProgress>>,
    counting: Mutex<Option<CountProgress>>,
    is_cancelled: Arc<AtomicBool>,
}

impl Ui {
    /// Lets signals cancel a use case after its current step. A server does not call this, because
    /// cancelling one call must not end the server.
    pub(super) fn listen(&self) -> Interrupt {
        Interrupt::listen(&self.is_cancelled)
    }

    /// Prints a line above the bar, if there is one.
    fn apart(&self, print: impl FnOnce()) {
        match &*lock(&self.counting) {
            Some(progress) => progress.suspend(print),
            None => print(),
        }
    }
}

/// Passes on everything but messages that answers have: for an answer that is read where they would be printed.
pub(super) struct WithoutNotes<'a>(pub(super) &'a Ui);

impl Observer for WithoutNotes<'_> {
    fn on_event(&self, event: AppEvent<'_>) {
        match event {
            AppEvent::Message(message) if message.level.is_of_answers() => {}
            other => self.0.on_event(other),
        }
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.0.cancel_flag()
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Ui {
    fn on_event(&self, event: AppEvent<'_>) {
        match event {
            AppEvent::Message(message) => self.apart(|| messages::show(&message)),
            AppEvent::Fetch(event) => {
                lock(&self.fetching).get_or_insert_with(FetchProgress::new).on_event(event);
            }
            AppEvent::IngestBegins { starts, walk, is_single } => {
                let progress = IngestProgress::new(is_single);
                if let Some(options) = walk {
                    progress.count(starts, options);
                }
                *lock(&self.ingesting) = Some(progress);
            }
            AppEvent::Ingest(event) => {
                if let Some(progress) = &mut *lock(&self.ingesting) {
                    progress.on_event(event);
                }
            }
            AppEvent::IngestEnds { report, error, log } => {
                let Some(progress) = lock(&self.ingesting).take() else { return };
                progress.finish();
                if error.is_some() && report.added + report.updated > 0 {
                    messages::info(HumanLayout::summary(report));
                }
                match error {
                    None => progress.conclude(log),
                    Some(Error::Cancelled) => progress.report_remaining(),
                    Some(_) => {}
                }
            }
            AppEvent::Counted { things, num_done, total } => {
                let mut slot = lock(&self.counting);
                let bar = slot.get_or_insert_with(|| CountProgress::of(things, total));
                bar.set(num_done, total);
            }
        }
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_cancelled)
    }
}

/// Returns [`Error::Interrupted`] if a signal cancelled the use case, else its outcome.
pub(super) fn ended<T>(outcome: Result<T>, interrupt: &Interrupt) -> Result<T> {
    if matches!(outcome, Err(Error::Cancelled)) {
        interrupt.check()?;
    }
    outcome
}
