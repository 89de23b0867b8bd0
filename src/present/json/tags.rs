//! Writes tags as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::tag::Tagged;
use crate::present::json::answer;
use crate::store::{DocumentId, StoredDocument};
use crate::text::json::Json;

/// The tags of a document after a change.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct TaggedJson<'a> {
    /// The document.
    id: DocumentId,
    /// All its tags, in alphabetical order.
    tags: &'a [String],
}

/// Writes the tags of a document after a change.
pub fn tagged(document: &StoredDocument, out: &mut Json<'_>) -> io::Result<()> {
    answer(&TaggedJson { id: document.id, tags: &document.tags }, out)
}

/// The tags of several documents after a change.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct TaggedAllJson<'a> {
    /// Number of selected documents.
    selected: usize,
    /// Ids of those whose tags changed.
    changed: &'a [DocumentId],
    /// All selected documents.
    documents: Vec<TagsOfJson<'a>>,
}

/// The tags of a document.
#[derive(Serialize, JsonSchema)]
struct TagsOfJson<'a> {
    /// The document.
    id: DocumentId,
    /// Its title.
    title: &'a str,
    /// All its tags, in alphabetical order.
    tags: &'a [String],
}

/// Writes the tags of several documents after a change.
pub fn tagged_all(tagged: &Tagged, out: &mut Json<'_>) -> io::Result<()> {
    let documents = tagged.documents.iter().map(|document| TagsOfJson {
        id: document.id,
        title: &document.title,
        tags: &document.tags,
    });
    answer(
        &TaggedAllJson {
            selected: tagged.documents.len(),
            changed: &tagged.changed,
            documents: documents.collect(),
        },
        out,
    )
}
