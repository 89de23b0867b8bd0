//! Serves tools to agents over stdin and stdout (rmcp).
//!
//! ```text
//! streams ──► server ──► chain: turn → validate → audit in → dispatch → audit out ──► envelope
//! ```
//!
//! It knows no specific tool: the program registers them, each with a schema and a function. It has
//! its own asynchronous runtime. Tools run on separate threads and are synchronous.

#![expect(
    clippy::missing_errors_doc,
    reason = "its functions return one `Error`, whose variants say what happened, or a `Failure`"
)]

use kb_base::{cancel, error, files, limits, text};

mod audit;
mod chain;
mod forms;
mod host;
mod listing;
mod messages;
mod reports;
mod resources;
mod roots;
mod running;
mod server;
mod streams;
mod validate;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};

pub use audit::{AuditSink, JsonLines, NoAudit};
pub use chain::{ToolCallResponse, ToolDispatcher};
pub use host::Host;
pub use listing::UNLISTED;
pub use resources::{DirectoryEntry, Resource, ResourceContent, Resources, SkillEntry, SkillFile};
pub use server::serve;

/// A JSON object: the input schema of a tool.
pub type Schema = Map<String, Value>;

/// The function of a tool; gets checked input.
pub type Handler = dyn Fn(Value, &Call) -> Result<ToolReply, ToolFailure> + Send + Sync;

/// The answer of a tool: text, data or both.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolReply {
    /// The answer for programs, sent in an envelope as structured content.
    pub data: Option<Value>,
    /// The text that the agent reads; without it, the envelope.
    pub text: Option<String>,
    /// A picture behind the text, as PNG.
    pub image: Option<Vec<u8>>,
    /// Where the rest begins, if the data is only a part; the value of the argument `cursor`.
    pub next_cursor: Option<usize>,
    /// Remarks on data that is a list, which has no place for them; the text has them too.
    pub notes: Vec<String>,
}

impl From<Value> for ToolReply {
    fn from(data: Value) -> Self {
        Self { data: Some(data), ..Self::default() }
    }
}

/// The effect of a tool on the data that matters to the user. Logs and indexes, which kb makes from the files, do
/// not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Nothing.
    Reads,
    /// It only adds.
    Adds {
        /// Whether the same call again adds nothing.
        is_idempotent: bool,
    },
    /// It replaces what was there.
    Replaces {
        /// Whether the same call again changes nothing more.
        is_idempotent: bool,
    },
}

/// A tool that agents can call.
pub struct Tool {
    /// In `snake_case`; unique.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// A description of its effect and of when to use it, for the agent.
    pub description: String,
    /// The schema of its input; an object. Properties marked with [`UNLISTED`] are accepted but not listed.
    pub schema: Schema,
    /// The effect on the user's data.
    pub effect: ToolEffect,
    /// Runs the tool.
    pub handler: Box<Handler>,
}

/// Why a tool failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    /// One line.
    pub message: String,
    /// Stable word.
    pub code: String,
    /// The step to take next.
    pub fix: Option<String>,
}

/// A report of a running tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// How far it is.
    Progress {
        /// The amount done.
        done: usize,
        /// The total, if known.
        total: Option<usize>,
        /// The step that was done last.
        message: String,
    },
    /// A line worth reading.
    Note(String),
    /// A possible problem; the tool continues.
    Warning(String),
}

/// Receives the reports of a tool.
pub type OnReport = dyn Fn(Report) + Send + Sync;

/// The information that a tool has about the call it answers.
#[derive(Clone)]
pub struct Call {
    is_cancelled: Arc<AtomicBool>,
    on_report: Arc<OnReport>,
}

impl Call {
    /// Makes a call that reports to `on_report`.
    pub fn new(on_report: Arc<OnReport>) -> Self {
        Self { is_cancelled: Arc::new(AtomicBool::new(false)), on_report }
    }

    /// Returns a flag that becomes true when the client no longer wants an answer.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_cancelled)
    }

    /// Marks the call as cancelled: the client no longer wants an answer.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the client no longer wants an answer.
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Whether this is the same call.
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.is_cancelled, &other.is_cancelled)
    }

    /// Reports something to the client.
    pub fn report(&self, report: Report) {
        (self.on_report)(report);
    }
}
