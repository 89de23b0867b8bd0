//! Writes tags as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::tag::{RenamedTag, Tagged};
use crate::document::DocumentId;
use crate::present::json::CONTRACT_VERSION;
use crate::store::{StoredDocument, TagCount};
use crate::text::json::Json;

/// A tag.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct TagJson<'a> {
    /// The tag.
    name: &'a str,
    /// Number of documents that have it.
    count: u32,
}

/// Writes all tags.
///
/// # Errors
///
/// Errors of writing.
pub fn tags(tags: &[TagCount], out: &mut Json<'_>) -> io::Result<()> {
    let tags: Vec<TagJson<'_>> =
        tags.iter().map(|tag| TagJson { name: &tag.name, count: tag.count }).collect();
    out.value(&tags)
}

/// The tags of a document after a change.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct TaggedJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The document.
    id: DocumentId,
    /// All its tags, in alphabetical order.
    tags: &'a [String],
}

/// Writes the tags of a document after a change.
///
/// # Errors
///
/// Errors of writing.
pub fn tagged(document: &StoredDocument, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&TaggedJson {
        contract_version: CONTRACT_VERSION,
        id: document.id,
        tags: &document.tags,
    })
}

/// The tags of several documents after a change.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct TaggedAllJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
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
///
/// # Errors
///
/// Errors of writing.
pub fn tagged_all(tagged: &Tagged, out: &mut Json<'_>) -> io::Result<()> {
    let documents = tagged.documents.iter().map(|document| TagsOfJson {
        id: document.id,
        title: &document.title,
        tags: &document.tags,
    });
    out.value(&TaggedAllJson {
        contract_version: CONTRACT_VERSION,
        selected: tagged.documents.len(),
        changed: &tagged.changed,
        documents: documents.collect(),
    })
}

/// The result of renaming a tag.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct RenamedTagJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The old name.
    from: &'a str,
    /// The new name.
    to: &'a str,
    /// Documents that had the tag.
    documents: u32,
    /// Whether a tag with the new name existed, so that the two were merged.
    merged: bool,
}

/// Writes the result of renaming a tag.
///
/// # Errors
///
/// Errors of writing.
pub fn renamed_tag(
    from: &str,
    to: &str,
    renamed: RenamedTag,
    out: &mut Json<'_>,
) -> io::Result<()> {
    out.value(&RenamedTagJson {
        contract_version: CONTRACT_VERSION,
        from,
        to,
        documents: renamed.num_documents,
        merged: renamed.is_merged,
    })
}
