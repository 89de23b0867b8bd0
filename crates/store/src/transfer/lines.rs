//! Writes documents as lines of JSON, and parses such lines; [`check`](super::check) validates
//! them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::Binding;
use crate::error::{Error, Result};
use crate::text::json::JsonLine;
use crate::{AddedFolder, DocumentRecord, Edits, PathStamp};

/// Version of the lines; a program reads versions up to its own.
pub(super) const VERSION: u32 = 1;

/// The first line of an export.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadLine {
    /// Version of the lines.
    pub(super) kb_export: u32,
    /// The settings of its vectors; null before its first document.
    pub(super) binding: Option<BindingLine>,
    /// Folders that were added; never null, but missing in older exports.
    pub(super) roots: Option<Vec<RootLine>>,
}

/// A folder that was added.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RootLine {
    /// Absolute path.
    pub(super) path: String,
    /// Tags that new files in it get.
    pub(super) tags: Vec<String>,
    /// Type of its files if the user specified one, else null.
    #[serde(rename = "type")]
    pub(super) doc_type: Option<String>,
    /// Language of its files if the user specified one, else null.
    pub(super) language: Option<String>,
    /// Whether links in it are followed.
    pub(super) follow: bool,
}

/// How vectors are computed.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BindingLine {
    /// The model.
    pub(super) model_name: String,
    /// Numbers in a vector.
    pub(super) embedding_dim: u32,
    /// Most tokens that the model reads.
    pub(super) max_tokens: u32,
    /// How passages are computed: `int8`, `fp32`.
    pub(super) precision: String,
    /// Text that is put before every passage.
    pub(super) passage_prefix: String,
}

/// Every further line of an export: a document.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentLine {
    /// Id in the database it is from.
    pub(super) id: i64,
    /// Title.
    pub(super) title: String,
    /// Whether the user gave the title.
    pub(super) title_given: bool,
    /// Absolute path of its file; null for a note given as text.
    pub(super) path: Option<String>,
    /// SHA-256 of its bytes, in hexadecimal.
    pub(super) content_hash: String,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    pub(super) doc_type: String,
    /// Programming language of source code, else null.
    pub(super) language: Option<String>,
    /// When it was first added: RFC 3339, UTC, whole seconds.
    pub(super) created_at: String,
    /// When its content was last read: RFC 3339, UTC, whole seconds.
    pub(super) updated_at: String,
    /// Tags, in alphabetical order.
    pub(super) tags: Vec<String>,
    /// Other data that the database keeps about it; may change.
    pub(super) metadata: Value,
    /// The versions and settings that made it; null for a document of an older kb.
    pub(super) making: Option<String>,
    /// The text of a note that is stored in several chunks; null for all other documents.
    pub(super) note_text: Option<String>,
    /// When the user edited it; null if that never happened.
    pub(super) edits: Option<EditsLine>,
    /// Every path at which its bytes were found.
    pub(super) paths: Vec<PathStamp>,
    /// Its chunks, in order.
    pub(super) chunks: Vec<ChunkLine>,
}

/// When the user edited a document: RFC 3339, UTC, milliseconds.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditsLine {
    /// Edits of the title.
    pub(super) title: Vec<String>,
    /// Edits of the date.
    pub(super) date: Vec<String>,
    /// Edits of the text of a note.
    pub(super) text: Vec<String>,
    /// SHA-256 of the earlier texts of a note, in hexadecimal.
    pub(super) former: Vec<String>,
}

/// A chunk.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChunkLine {
    /// Id in the database it is from.
    pub(super) chunk_id: i64,
    /// The text of the chunk.
    pub(super) text: String,
    /// Text that is put before it for indexing and embedding; may be empty.
    pub(super) context: String,
    /// Tokens that the model reads, including context and special tokens.
    pub(super) token_count: u32,
    /// Other data that the database keeps about it; may change.
    pub(super) metadata: Value,
    /// With `--vectors`: its vector, of unit length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) vector: Option<Vec<f32>>,
}

/// Returns the first line of an export with these settings of vectors and these added folders.
pub fn head_line(binding: Option<&Binding>, roots: &[AddedFolder]) -> Result<JsonLine> {
    let binding = binding.map(|binding| BindingLine {
        model_name: binding.model_name.clone(),
        embedding_dim: binding.dim,
        max_tokens: binding.max_tokens,
        precision: binding.precision.to_string(),
        passage_prefix: binding.passage_prefix.clone(),
    });
    let roots = roots.iter().map(|root| RootLine {
        path: root.path.clone(),
        tags: root.tags.clone(),
        doc_type: root.doc_type.map(|doc_type| doc_type.as_str().to_owned()),
        language: root.language.clone(),
        follow: root.follows_links,
    });
    let head = HeadLine { kb_export: VERSION, binding, roots: Some(roots.collect()) };
    written(&head)
}

/// Reads the first line.
pub(super) fn decode_head(line: &[u8]) -> Result<HeadLine, String> {
    serde_json::from_slice(line).map_err(|error| reason(&error))
}

/// Returns the line of a document.
pub fn document_line(record: &DocumentRecord) -> Result<JsonLine> {
    let line = DocumentLine {
        id: record.id.0,
        title: record.title.clone(),
        title_given: record.is_title_given,
        path: record.path.clone(),
        content_hash: record.content_hash.clone(),
        doc_type: record.doc_type.to_string(),
        language: record.language.clone(),
        created_at: record.created_at.clone(),
        updated_at: record.updated_at.clone(),
        tags: record.tags.clone(),
        metadata: parsed(&record.metadata)?,
        making: record.making.clone(),
        note_text: record.note_text.clone(),
        edits: (record.edits != Edits::default()).then(|| EditsLine {
            title: record.edits.title.clone(),
            date: record.edits.date.clone(),
            text: record.edits.text.clone(),
            former: record.edits.former.clone(),
        }),
        paths: record.paths.clone(),
        chunks: record
            .chunks
            .iter()
            .map(|chunk| {
                Ok(ChunkLine {
                    chunk_id: chunk.id.0,
                    text: chunk.text.clone(),
                    context: chunk.context.clone(),
                    token_count: chunk.token_count,
                    metadata: parsed(&chunk.metadata)?,
                    vector: chunk.vector.clone(),
                })
            })
            .collect::<Result<_>>()?,
    };
    written(&line)
}

fn written(line: &impl Serialize) -> Result<JsonLine> {
    JsonLine::of(line).map_err(|error| Error::Store(error.into()))
}

fn parsed(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|error| Error::Store(error.into()))
}

/// A file that `kb convert` could not convert.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedLine {
    path: String,
    #[serde(rename = "code")]
    _code: String,
    error: String,
}

/// Returns why a file was not converted, if the line is such a report instead of a document.
pub(super) fn decode_failure(line: &[u8]) -> Option<String> {
    let FailedLine { path, error, .. } = serde_json::from_slice(line).ok()?;
    Some(format!("{path} was not converted: {error}"))
}

pub(super) fn decode(line: &[u8]) -> Result<DocumentLine, String> {
    serde_json::from_slice(line).map_err(|error| reason(&error))
}

/// Returns why a line is invalid. The parser counts lines, but there is only one.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => message,
    }
}

/// The first line of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportHead {
    /// The settings of its vectors; `None` before its first document.
    pub binding: Option<Binding>,
    /// The folders that were added.
    pub roots: Vec<AddedFolder>,
}
