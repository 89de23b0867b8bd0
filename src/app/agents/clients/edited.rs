//! Describes settings after an edit, or why they cannot be edited.

use std::path::Path;

use serde_json::Value;

use super::table::{Fields, ServerEntry, started};
use crate::error::Error;

/// The name of the entry.
pub const NAME: &str = "kb";

/// The entry that kb should have.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedEntry<'a> {
    /// `None` removes it.
    pub(super) entry: Option<&'a ServerEntry>,
    /// Whether fields that kb does not write are kept, such as variables of the environment.
    pub(super) keeps_others: bool,
}

/// The fields of an existing entry that kb does not write, in order; of a table, each of its keys, as
/// in `env LD_PRELOAD`. Both lists are empty if there is no such field or the entry is removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherFields {
    /// Those that are kept in the entry.
    pub kept: Vec<String>,
    /// Those that are removed from it.
    pub dropped: Vec<String>,
}

impl OtherFields {
    /// Sorts the fields of `entry` that are not in `own` into kept and dropped ones. An entry that
    /// starts no program is replaced, so it keeps none.
    pub(super) fn of(entry: &Value, own: &Fields, keeps_others: bool) -> Self {
        let all = entry.as_object().into_iter().flatten();
        let others = all.filter(|(key, _)| !own.iter().any(|(name, _)| name == key));
        let names = others.flat_map(|(key, value)| match value.as_object() {
            Some(table) if !table.is_empty() => {
                table.keys().map(|name| format!("{key} {name}")).collect()
            }
            _ => vec![key.clone()],
        });
        if keeps_others && started(entry).is_some() {
            Self { kept: names.collect(), dropped: Vec::new() }
        } else {
            Self { kept: Vec::new(), dropped: names.collect() }
        }
    }
}

/// Text after a change, and the entry in it before and after.
#[derive(Debug)]
pub(super) struct EditedSettings {
    pub(super) text: String,
    /// The keys that lead to the servers, joined by points.
    pub(super) key: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// The other fields of the earlier entry, kept and dropped.
    pub(super) others: OtherFields,
}

impl EditedSettings {
    pub(super) fn same(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            key: String::new(),
            before: None,
            after: None,
            others: OtherFields::default(),
        }
    }
}

/// Why settings cannot be changed.
#[derive(Debug)]
pub(super) struct SettingsFault {
    /// 1-based.
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

impl SettingsFault {
    pub(super) fn of(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }

    pub(super) fn in_file(self, path: &Path) -> Error {
        let line = self.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        Error::config(path, format!("{line}{}; nothing was changed", self.message))
            .with_hint("correct the file, then run the command again")
    }
}
