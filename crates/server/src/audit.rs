//! Appends a record of each tool call to a file.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::files::{File, write};
use crate::text::json::JsonLine;

/// Receives every call: once before it is dispatched, once after.
pub trait AuditSink: Send + Sync {
    /// A call with valid input is about to be dispatched. Refused input is not reported here.
    fn enter(&self, tool: &str, id: u64, input: &Value);

    /// A call is over, whatever its outcome.
    fn exit(&self, tool: &str, id: u64, duration: Duration, envelope: &Value);
}

/// Discards every record.
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn enter(&self, _: &str, _: u64, _: &Value) {}

    fn exit(&self, _: &str, _: u64, _: Duration, _: &Value) {}
}

/// Appends one JSON object per line to a file.
pub struct JsonLines {
    file: Mutex<File>,
    now: fn() -> String,
}

impl JsonLines {
    /// Opens the file, or creates it if it is missing. From then on only its owner can read it.
    pub fn open(path: &Path, now: fn() -> String) -> Result<Self> {
        let file = write::append(path).map_err(|source| Error::of_file(path, source))?;
        Ok(Self { file: Mutex::new(file), now })
    }

    /// Writes a line at once. Errors are ignored: a full disk must not keep a tool from answering.
    fn write(&self, line: &Value) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = JsonLine::of(line).and_then(|line| file.write_all(line.as_str().as_bytes()));
    }
}

impl AuditSink for JsonLines {
    fn enter(&self, tool: &str, id: u64, input: &Value) {
        let time = (self.now)();
        self.write(&json!({
            "event": "enter", "time": time, "id": id, "tool": tool, "input": input,
        }));
    }

    fn exit(&self, tool: &str, id: u64, duration: Duration, envelope: &Value) {
        let time = (self.now)();
        // Whole microseconds, so that no digits of the arithmetic are logged.
        let duration_ms = (duration.as_secs_f64() * 1e6).round() / 1e3;
        // The data of the answer is left out: it is in the database.
        self.write(&json!({
            "event": "exit", "time": time, "id": id, "tool": tool, "duration_ms": duration_ms,
            "ok": envelope["ok"], "error": envelope["error"],
        }));
    }
}
