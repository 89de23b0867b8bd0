//! Writes an edited document as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::present::json::answer;
use crate::store::{DocumentId, StoredDocument};
use crate::text::json::Json;

/// A document after `kb edit`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct EditedJson<'a> {
    /// The document.
    id: DocumentId,
    /// Its title.
    title: &'a str,
    /// All its tags, in alphabetical order.
    tags: &'a [String],
    /// The day that the user gave it; null without.
    date: Option<&'a str>,
    /// What changed: `title`, `tags`, `date`, `text`.
    changed: &'a [&'static str],
}

/// Writes a document after it was edited, and what changed.
pub fn edited(
    document: &StoredDocument,
    changed: &[&'static str],
    out: &mut Json<'_>,
) -> io::Result<()> {
    answer(
        &EditedJson {
            id: document.id,
            title: &document.title,
            tags: &document.tags,
            date: document.date_given.as_deref(),
            changed,
        },
        out,
    )
}
