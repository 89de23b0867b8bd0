//! Writes documents as lines of JSON, and reads such lines; whether to believe them is for
//! [`check`](super::check) to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::Binding;
use crate::error::{Error, Result};
use crate::store::{Record, Root};
use crate::text::json::Line;

/// Version of the lines; a program reads those up to its own.
pub(super) const VERSION: u32 = 1;

/// The first line of an export.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeadLine {
    /// Version of the lines.
    pub(super) kb_export: u32,
    /// What the database was built with; null before its first document.
    pub(super) binding: Option<BindingLine>,
    /// Folders that were added; null in none, but older exports do not name them.
    pub(super) roots: Option<Vec<RootLine>>,
}

/// A folder that was added.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RootLine {
    /// Absolute path.
    pub(super) path: String,
    /// Tags that new files in it bear.
    pub(super) tags: Vec<String>,
    /// What the user said its files are, else null.
    #[serde(rename = "type")]
    pub(super) doc_type: Option<String>,
    /// What the user said they are written in, else null.
    pub(super) language: Option<String>,
    /// Whether links in it are followed.
    pub(super) follow: bool,
}

/// What vectors are made with.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BindingLine {
    /// The model.
    pub(super) model_name: String,
    /// Numbers in a vector.
    pub(super) embedding_dim: u32,
    /// Tokens the model reads at most.
    pub(super) max_tokens: u32,
    /// How passages are computed: `int8`, `fp32`.
    pub(super) precision: String,
    /// Text that stands before every passage.
    pub(super) passage_prefix: String,
}

/// Every further line of an export: a document.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentLine {
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
    /// When it was added first: RFC 3339, UTC, whole seconds.
    pub(super) created_at: String,
    /// When its content was read last: RFC 3339, UTC, whole seconds.
    pub(super) updated_at: String,
    /// Tags, in the order of the alphabet.
    pub(super) tags: Vec<String>,
    /// What the database keeps of it besides; may change.
    pub(super) metadata: Value,
    /// Every path at which its bytes were seen.
    pub(super) paths: Vec<PathLine>,
    /// In their order.
    pub(super) chunks: Vec<ChunkLine>,
}

/// A path at which a document was seen.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathLine {
    /// Absolute path.
    pub(super) path: String,
    /// Size of the file in bytes.
    pub(super) size_bytes: u64,
    /// When the file was changed last: nanoseconds since 1970, UTC.
    pub(super) mtime_ns: i64,
}

/// A chunk.
#[derive(Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChunkLine {
    /// Id in the database it is from.
    pub(super) chunk_id: i64,
    /// Its own text.
    pub(super) text: String,
    /// What stands before it where it is indexed and embedded; may be empty.
    pub(super) context: String,
    /// Tokens the model reads of it, context and special tokens included.
    pub(super) token_count: u32,
    /// What the database keeps of it besides; may change.
    pub(super) metadata: Value,
    /// With `--vectors`: its vector, of unit length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) vector: Option<Vec<f32>>,
}

/// Writes the first line.
pub(super) fn encode_head(binding: Option<&Binding>, roots: &[Root]) -> Result<Line> {
    let binding = binding.map(|it| BindingLine {
        model_name: it.model_name.clone(),
        embedding_dim: it.dim,
        max_tokens: it.max_tokens,
        precision: it.precision.to_string(),
        passage_prefix: it.passage_prefix.clone(),
    });
    let roots = roots.iter().map(|it| RootLine {
        path: it.path.clone(),
        tags: it.tags.clone(),
        doc_type: it.doc_type.map(|it| it.as_str().to_owned()),
        language: it.language.clone(),
        follow: it.follows_links,
    });
    let head = HeadLine { kb_export: VERSION, binding, roots: Some(roots.collect()) };
    written(&head)
}

/// Reads the first line.
///
/// # Errors
///
/// What is wrong with it, in words that may repeat what is in the line.
pub(super) fn decode_head(line: &[u8]) -> Result<HeadLine, String> {
    serde_json::from_slice(line).map_err(|error| reason(&error))
}

/// Writes a document.
pub(super) fn encode(record: &Record) -> Result<Line> {
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
        paths: record
            .paths
            .iter()
            .map(|it| PathLine {
                path: it.path.clone(),
                size_bytes: it.size_bytes,
                mtime_ns: it.mtime_ns,
            })
            .collect(),
        chunks: record
            .chunks
            .iter()
            .map(|it| {
                Ok(ChunkLine {
                    chunk_id: it.id.0,
                    text: it.text.clone(),
                    context: it.context.clone(),
                    token_count: it.token_count,
                    metadata: parsed(&it.metadata)?,
                    vector: it.vector.clone(),
                })
            })
            .collect::<Result<_>>()?,
    };
    written(&line)
}

fn written(line: &impl Serialize) -> Result<Line> {
    Line::of(line).map_err(|error| Error::Store(error.into()))
}

fn parsed(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|it| Error::Store(it.into()))
}

/// Reads a document.
///
/// # Errors
///
/// As [`decode_head`].
pub(super) fn decode(line: &[u8]) -> Result<DocumentLine, String> {
    serde_json::from_slice(line).map_err(|error| reason(&error))
}

/// Says what is wrong with a line. The parser counts lines within it, of which there is one.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => message,
    }
}
