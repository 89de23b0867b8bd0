//! Defines the events that a use case reports while it runs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::embed;
use crate::error::Error;
use crate::ingest::walk::{Start, WalkOptions};
use crate::ingest::{self, IngestReport};

/// An event during a use case.
#[derive(Debug)]
pub enum Event<'a> {
    /// A line worth reading, such as "Ready".
    Note(&'a str),
    /// A possible problem; the use case continues.
    Warning(&'a str),
    /// A file or line that could not be read.
    Failure(&'a str),
    /// A detail, such as the model in use, for verbose output.
    Detail(&'a str),
    /// Progress of fetching or preparing a model or library.
    Fetch(embed::Event),
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
    Ingest(&'a ingest::Event<'a>),
    /// Ingestion ends.
    IngestEnds {
        /// The report.
        report: &'a IngestReport,
        /// Why it ended early.
        error: Option<&'a Error>,
        /// Where failures are listed.
        log: &'a Path,
    },
    /// Progress of converting files.
    Converted {
        /// Files that were looked at.
        num_done: u64,
        /// All files.
        num_files: u64,
    },
    /// Progress of a push.
    Pushed {
        /// Blocks of chunks that were replaced.
        num_done: u64,
        /// Blocks to replace.
        num_blocks: u64,
    },
    /// Progress of computing vectors with the new model.
    Reindexed {
        /// Chunks with a new vector.
        num_done: u64,
        /// Chunks in the database.
        num_chunks: u64,
    },
}

/// Receives the events of a use case and may cancel it.
pub trait Observer: Send + Sync {
    /// Handles an event; may be called from several threads.
    fn on_event(&self, event: Event<'_>);

    /// Returns the flag that cancels the use case after its current step.
    fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::default()
    }

    /// Reports a line worth reading.
    fn note(&self, text: &str) {
        self.on_event(Event::Note(text));
    }

    /// Reports a possible problem.
    fn warn(&self, text: &str) {
        self.on_event(Event::Warning(text));
    }

    /// Reports a detail for verbose output.
    fn detail(&self, text: &str) {
        self.on_event(Event::Detail(text));
    }
}

/// Ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn on_event(&self, _: Event<'_>) {}
}
