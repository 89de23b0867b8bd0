//! Defines requests that add to the knowledge base.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::indexing::add::{AddRequest, DocumentSource};
use crate::app::session::values;
use crate::error::{Error, Result};
use crate::store::DocumentId;

/// Save a note.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoteInput {
    /// Text to remember
    pub(crate) text: String,
    /// Title of the note
    pub(crate) title: Option<String>,
    /// Tags for the note
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

/// Replace the text of a note.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateNoteInput {
    /// Id of the note
    pub(crate) document: DocumentId,
    /// New text of the note
    pub(crate) text: String,
    /// New title
    pub(crate) title: Option<String>,
    /// Tags to add
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

/// Add files and folders.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddInput {
    /// Files and folders; folders include everything below them
    #[schemars(length(min = 1))]
    pub(crate) paths: Vec<PathBuf>,
    /// Tags for every document
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

impl AddInput {
    /// Converts the input to a request.
    pub(crate) fn into_request(self) -> Result<AddRequest> {
        if self.paths.iter().any(|path| path.as_os_str() == "-") {
            return Err(Error::usage(
                "`-` means standard input, which carries the server's protocol",
            )
            .with_hint("name a file or a folder, or add the text as a note"));
        }
        let tags = tags(&self.tags)?;
        Ok(AddRequest { tags, ..AddRequest::of(DocumentSource::Paths(self.paths)) })
    }
}

/// Parses tags as typed; commas also separate them.
pub(crate) fn tags(given: &[String]) -> Result<Vec<String>> {
    let tags = given.iter().flat_map(|tags| tags.split(',')).map(values::tag);
    tags.collect::<std::result::Result<_, _>>().map_err(Error::usage)
}
