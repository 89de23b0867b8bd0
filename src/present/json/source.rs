//! Says where a text is from.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::DocType;
use crate::store::{DocumentId, PassingDocument, StoredDocument, StoredHit};
use crate::text::fields;

/// Where a text is from.
#[derive(Serialize, JsonSchema)]
pub(super) struct SourceJson<'a> {
    /// Id of the document, as `kb info` takes it.
    document_id: DocumentId,
    /// Title of the document.
    title: &'a str,
    #[serde(flatten, serialize_with = "fields::place")]
    #[schemars(with = "fields::Place<'_>")]
    path: &'a Option<String>,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    doc_type: DocType,
}

impl<'a> From<&'a StoredDocument> for SourceJson<'a> {
    fn from(document: &'a StoredDocument) -> Self {
        let StoredDocument { id, title, path, doc_type, .. } = document;
        Self { document_id: *id, title, path, doc_type: *doc_type }
    }
}

impl<'a> From<&'a StoredHit> for SourceJson<'a> {
    fn from(hit: &'a StoredHit) -> Self {
        let StoredHit { document_id, title, path, doc_type, .. } = hit;
        Self { document_id: *document_id, title, path, doc_type: *doc_type }
    }
}

impl<'a> From<&'a PassingDocument> for SourceJson<'a> {
    fn from(document: &'a PassingDocument) -> Self {
        let PassingDocument { id, title, path, doc_type } = document;
        Self { document_id: *id, title, path, doc_type: *doc_type }
    }
}
