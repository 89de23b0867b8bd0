//! Serves tools to agents over stdin and stdout (rmcp).
//!
//! ```text
//! server ──► chain: turn → validate → audit in → dispatch → audit out ──► envelope
//! ```
//!
//! Knows no tool: the folder above registers them, each a schema and a function. This folder is the only one
//! with an asynchronous runtime. Tools run on separate threads and know nothing of it.

mod audit;
mod chain;
mod server;
mod validate;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};

pub use audit::{AuditSink, JsonLines, NoAudit};
pub use chain::Chain;
pub use server::{Resource, Resources, serve};

/// A JSON object: the input schema of a tool.
pub type Schema = Map<String, Value>;

/// What a tool does with its checked input.
pub type Handler = dyn Fn(Value, &Call) -> Result<Value, Failure> + Send + Sync;

/// Something an agent can have done.
pub struct Tool {
    /// In `snake_case`; unique.
    pub name: String,
    /// What it does and when to use it, for the agent.
    pub description: String,
    /// What it takes; an object.
    pub schema: Schema,
    /// Whether it changes nothing the user would miss.
    pub is_read_only: bool,
    /// Does it.
    pub handler: Box<Handler>,
}

/// Why a tool could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// One line.
    pub message: String,
    /// Stable word.
    pub code: String,
    /// What to do next.
    pub fix: Option<String>,
}

/// Tells how far a call is: done, of how many if that is known, with what.
pub type OnProgress = dyn Fn(usize, Option<usize>, &str) + Send + Sync;

/// What a tool may know of the call it answers.
#[derive(Clone)]
pub struct Call {
    is_cancelled: Arc<AtomicBool>,
    on_progress: Arc<OnProgress>,
}

impl Call {
    /// Makes a call that tells `on_progress`.
    pub fn new(on_progress: Arc<OnProgress>) -> Self {
        Self { is_cancelled: Arc::new(AtomicBool::new(false)), on_progress }
    }

    /// Returns what becomes true when the client wants no answer any more.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_cancelled)
    }

    /// Says that the client wants no answer any more.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the client wants no answer any more.
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Whether this is the same call.
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.is_cancelled, &other.is_cancelled)
    }

    /// Tells the client how far it is.
    pub fn progress(&self, done: usize, total: Option<usize>, message: &str) {
        (self.on_progress)(done, total, message);
    }
}

/// Returns what every answer is: `ok`, and `data` or `error`.
fn envelope_schema() -> Schema {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "data": { "description": "The answer; there if ok is true" },
            "error": {
                "type": "object",
                "description": "Why there is none; there if ok is false",
                "properties": {
                    "code": { "type": "string", "enum": ["INVALID_PARAMS", "HANDLER_ERROR"] },
                    "message": { "type": "string" },
                    "details": { "type": "object" }
                },
                "required": ["code", "message"]
            }
        },
        "required": ["ok"]
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Schema::new(),
    }
}
