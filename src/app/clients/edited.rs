//! Describes settings after an edit, or why they cannot be edited.

use std::path::Path;

use crate::error::Error;

/// The name of the entry.
pub const NAME: &str = "kb";

/// Text after a change, and the entry in it before and after.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) text: String,
    /// The keys that lead to the servers, joined by points.
    pub(super) key: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Edited {
    pub(super) fn same(text: &str) -> Self {
        Self { text: text.to_owned(), key: String::new(), before: None, after: None }
    }
}

/// Why settings cannot be changed.
#[derive(Debug)]
pub(super) struct Fault {
    /// 1-based.
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn of(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }

    pub(super) fn in_file(self, path: &Path) -> Error {
        let line = self.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        Error::config(path, format!("{line}{}; nothing was changed", self.message))
            .with_hint("correct the file, then run the command again")
    }
}
