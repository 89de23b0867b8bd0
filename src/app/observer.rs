//! What a use case reports while it runs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::embed;
use crate::error::Error;
use crate::ingest::walk::{Start, WalkOptions};
use crate::ingest::{self, IngestReport};

/// Something that happened on the way to the result.
#[derive(Debug)]
pub enum Event<'a> {
    /// A line worth reading, such as "Ready".
    Note(&'a str),
    /// Something that may be wrong, though the use case goes on.
    Warning(&'a str),
    /// A file or line that could not be read.
    Failure(&'a str),
    /// What the use case works with, for those who want to know.
    Detail(&'a str),
    /// A model or library is fetched or prepared.
    Fetch(embed::Event),
    /// Documents are going to be ingested.
    IngestBegins {
        /// What is named.
        starts: &'a [Start],
        /// How folders are walked; `None` where no files are read.
        walk: Option<WalkOptions>,
        /// Whether one file was named, whose failure is the use case's own.
        is_single: bool,
    },
    /// Something happened to a document.
    Ingest(&'a ingest::Event<'a>),
    /// Ingesting is over.
    IngestEnds {
        /// What was done.
        report: &'a IngestReport,
        /// Why it ended early.
        error: Option<&'a Error>,
        /// Where failures are listed.
        log: &'a Path,
    },
    /// Reports how many chunks have a vector of the new model.
    Reindexed {
        /// Chunks with a new vector.
        num_done: u64,
        /// Chunks in the database.
        num_chunks: u64,
    },
}

/// Follows a use case.
pub trait Observer: Send + Sync {
    /// Takes an event; may be called from several threads.
    fn on_event(&self, event: Event<'_>);

    /// Returns the flag that ends the use case after the step at hand.
    fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::default()
    }

    /// Reports a line worth reading.
    fn note(&self, text: &str) {
        self.on_event(Event::Note(text));
    }

    /// Reports something that may be wrong.
    fn warn(&self, text: &str) {
        self.on_event(Event::Warning(text));
    }

    /// Reports what the use case works with.
    fn detail(&self, text: &str) {
        self.on_event(Event::Detail(text));
    }
}

/// Follows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn on_event(&self, _: Event<'_>) {}
}
