//! Reports the progress and the warnings of a call to the client that made it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::app::Observer;
use crate::app::observer::Event;
use crate::ingest;
use crate::mcp::protocol::{Call, Report};

/// Passes events on to the server's observer; the client gets the number of files, and what is worth reading.
pub(super) struct Reporter<'a> {
    server: &'a dyn Observer,
    call: &'a Call,
    /// Files done, and files found so far.
    counts: Mutex<(usize, usize)>,
    notes: Mutex<Vec<String>>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(server: &'a dyn Observer, call: &'a Call) -> Self {
        Self { server, call, counts: Mutex::default(), notes: Mutex::default() }
    }

    /// Returns the lines that the use case found worth reading.
    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn done(&self, message: Option<&str>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.0 += 1;
        if let Some(message) = message {
            let (done, total) = (counts.0, Some(counts.1.max(counts.0)));
            self.call.report(Report::Progress { done, total, message: message.to_owned() });
        }
    }
}

impl Observer for Reporter<'_> {
    fn on_event(&self, event: Event<'_>) {
        match &event {
            Event::Ingest(ingest::Event::Found { num_files }) => {
                self.counts.lock().unwrap_or_else(PoisonError::into_inner).1 = *num_files;
            }
            Event::Ingest(
                ingest::Event::Stored { path, .. } | ingest::Event::Skipped { path, .. },
            ) => {
                let name = path.map(|path| path.display().to_string()).unwrap_or_default();
                self.done(Some(&name));
            }
            Event::Ingest(ingest::Event::Ignored | ingest::Event::PassedOver) => self.done(None),
            Event::Ingest(ingest::Event::Failed { path, error }) => {
                let message = format!("{}: {error}", path.display());
                self.done(Some(&message));
                self.call.report(Report::Warning(message));
            }
            Event::Note(text) => {
                self.notes.lock().unwrap_or_else(PoisonError::into_inner).push((*text).to_owned());
                self.call.report(Report::Note((*text).to_owned()));
            }
            Event::Warning(text) | Event::Failure(text) => {
                self.call.report(Report::Warning((*text).to_owned()));
            }
            _ => {}
        }
        self.server.on_event(event);
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.call.cancel_flag()
    }
}
