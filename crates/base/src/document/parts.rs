//! Counts the parts of a file that consists of parts, so that none vanishes unsaid: entries of an archive, parts of a
//! message, attachments, embedded files, annotations, frames.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::number::thousands;

/// Returns the line that represents an embedded file in the text of its document. The file is a separate document.
pub fn embedded_reference(name: &str) -> String {
    format!("Embedded file: {name}")
}

/// How many parts that could not be read are named.
const MAX_NAMED: usize = 10;

/// The outcome of each part of a file. Words that a reader leaves out of a part are counted in
/// `words`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileParts {
    /// Parts that were read: what they say is in the document or a document of its own, or is counted by a reason.
    #[serde(rename = "read")]
    pub num_read: u32,
    /// Parts without text, by kind: `picture`, `style`.
    pub without_text: BTreeMap<String, u32>,
    /// Parts that could not be read, the first ten of them.
    pub unread: Vec<UnreadPart>,
    /// How many parts could not be read.
    #[serde(rename = "unread_count")]
    pub num_unread: u32,
}

/// A part that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadPart {
    /// Its name in the file.
    pub name: String,
    /// Its size in bytes as the file states it.
    pub size_bytes: u64,
    /// Why, in words that fit after "not read: ".
    pub reason: String,
}

impl FileParts {
    /// Counts a part that was read.
    pub fn add_read(&mut self) {
        self.num_read = self.num_read.saturating_add(1);
    }

    /// Counts a part that has no text by its kind.
    pub fn add_without_text(&mut self, kind: &str) {
        let count = self.without_text.entry(kind.to_owned()).or_default();
        *count = count.saturating_add(1);
    }

    /// Counts a part that could not be read, and names it if few were before it.
    pub fn add_unread(&mut self, name: &str, size_bytes: u64, reason: &str) {
        self.num_unread = self.num_unread.saturating_add(1);
        if self.unread.len() < MAX_NAMED {
            let (name, reason) = (name.to_owned(), reason.to_owned());
            self.unread.push(UnreadPart { name, size_bytes, reason });
        }
    }

    /// Describes what became of the parts: `12 read; without text: 3 picture, 2 style; 1 not read`.
    pub fn describe(&self) -> String {
        let mut text = format!("{} read", thousands(self.num_read));
        let kinds = self.without_text.iter();
        let kinds: Vec<String> =
            kinds.map(|(kind, count)| format!("{} {kind}", thousands(*count))).collect();
        if !kinds.is_empty() {
            text += &format!("; without text: {}", kinds.join(", "));
        }
        if self.num_unread > 0 {
            text += &format!("; {} not read", thousands(self.num_unread));
        }
        text
    }

    /// Returns the number of all parts.
    pub fn num_parts(&self) -> u32 {
        let without_text =
            self.without_text.values().fold(0_u32, |sum, count| sum.saturating_add(*count));
        self.num_read.saturating_add(without_text).saturating_add(self.num_unread)
    }

    /// Says which parts could not be read, in one sentence; `None` if all were.
    pub fn warning(&self) -> Option<String> {
        let named = self.unread.iter().map(|part| {
            format!("`{}` ({} bytes: {})", part.name, thousands(part.size_bytes), part.reason)
        });
        let mut named = named.collect::<Vec<_>>().join(", ");
        let num_more = u64::from(self.num_unread).saturating_sub(self.unread.len() as u64);
        if num_more > 0 {
            named += &format!(" and {} more", thousands(num_more));
        }
        (!named.is_empty()).then(|| format!("not read: {named}"))
    }

    /// Whether the file has no parts.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_counted_and_ten_are_named() {
        let mut parts = FileParts::default();
        assert!(parts.is_empty() && parts.warning().is_none());
        assert_eq!(
            serde_json::to_string(&parts).unwrap(),
            r#"{"read":0,"without_text":{},"unread":[],"unread_count":0}"#
        );
        parts.add_read();
        parts.add_without_text("picture");
        parts.add_without_text("picture");
        (0..12).for_each(|number| parts.add_unread(&format!("a{number}.bin"), 3, "unknown"));
        assert_eq!((parts.num_parts(), parts.unread.len(), parts.num_unread), (15, 10, 12));
        assert_eq!(parts.describe(), "1 read; without text: 2 picture; 12 not read");
        let warning = parts.warning().unwrap();
        assert!(
            warning.starts_with("not read: `a0.bin` (3 bytes: unknown), `a1.bin`"),
            "{warning}"
        );
        assert!(warning.ends_with("`a9.bin` (3 bytes: unknown) and 2 more"), "{warning}");
        let json = serde_json::to_string(&parts).unwrap();
        assert_eq!(serde_json::from_str::<FileParts>(&json).unwrap(), parts);
    }
}
