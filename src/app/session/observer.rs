//! Defines the events that a use case reports while it runs.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::app::session::message::{AppMessage, MessageLevel};
use crate::embed;
use crate::error::Error;
use crate::ingest::walk::{Start, WalkOptions};
use crate::ingest::{self, IngestReport};
use crate::wording::Wording;

/// An event during a use case.
#[derive(Debug)]
pub enum AppEvent<'a> {
    /// A line for the reader.
    Message(AppMessage<'a>),
    /// Progress of fetching or preparing a model or library.
    Fetch(embed::ModelEvent),
    /// Ingestion begins.
    IngestBegins {
        /// The given files and folders.
        starts: &'a [Start],
        /// How folders are walked; `None` if no files are read.
        walk: Option<WalkOptions>,
        /// Whether only one file was named, so that its failure is that of the use case.
        is_single: bool,
    },
    /// Progress of one document.
    Ingest(&'a ingest::IngestEvent<'a>),
    /// Ingestion ends.
    IngestEnds {
        /// The report.
        report: &'a IngestReport,
        /// Why it ended early.
        error: Option<&'a Error>,
        /// Where failures are listed.
        log: &'a Path,
    },
    /// Progress of a run over things whose number is known.
    Counted {
        /// The name of the things, in the plural.
        things: &'static str,
        /// Those that are done.
        num_done: u64,
        /// All of them.
        total: u64,
    },
}

/// Receives the events of a use case and may cancel it.
pub trait Observer: Send + Sync {
    /// Handles an event; may be called from several threads.
    fn on_event(&self, event: AppEvent<'_>);

    /// Returns the flag that cancels the use case after its current step.
    fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::default()
    }
}

impl dyn Observer + '_ {
    /// Reports a line that is about the only knowledge base, or about none.
    pub fn say(&self, level: MessageLevel, text: impl Into<Wording>) {
        self.on_event(AppEvent::Message(AppMessage::new(level, &text.into())));
    }

    /// Reports an action that was done or is being done.
    pub fn info(&self, text: impl Into<Wording>) {
        self.say(MessageLevel::Info, text);
    }

    /// Reports a fact worth knowing about an answer or a result.
    pub fn note(&self, text: impl Into<Wording>) {
        self.say(MessageLevel::Note, text);
    }

    /// Reports a possible problem.
    pub fn warn(&self, text: impl Into<Wording>) {
        self.say(MessageLevel::Warning, text);
    }

    /// Reports a file or line that could not be read.
    pub fn failure(&self, text: impl Into<Wording>) {
        self.say(MessageLevel::Failure, text);
    }

    /// Reports a detail for verbose output.
    pub fn detail(&self, text: impl Into<Wording>) {
        self.say(MessageLevel::Detail, text);
    }
}

/// Passes events on, and keeps the messages that belong in the answer: every face says the same.
pub struct NoteKeeper<'a> {
    observer: &'a dyn Observer,
    kept: Mutex<Vec<String>>,
}

impl<'a> NoteKeeper<'a> {
    /// Keeps none yet.
    pub fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, kept: Mutex::default() }
    }

    /// Returns all that was kept, each once, after those that were reported in another way.
    pub fn kept(self, mut reported: Vec<String>) -> Vec<String> {
        reported.extend(self.kept.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut seen = HashSet::new();
        reported.retain(|note| seen.insert(note.clone()));
        reported
    }
}

impl Observer for NoteKeeper<'_> {
    fn on_event(&self, event: AppEvent<'_>) {
        if let AppEvent::Message(message) = event
            && message.level.is_of_answers()
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(message.unlabelled().to_string());
        }
        self.observer.on_event(event);
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.observer.cancel_flag()
    }
}

/// Ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentObserver;

impl Observer for SilentObserver {
    fn on_event(&self, _: AppEvent<'_>) {}
}
