//! The JSON of `kb outline`, `kb show` and `kb open`. Every key is always there; what does not apply
//! is null.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{ChunkId, DocumentId};
use crate::present::json::CONTRACT_VERSION;
use crate::read::{Opened, Outline, Part, Shown};
use crate::store::StoredDocument;
use crate::text::json::Json;

/// What every answer says of the document.
#[derive(Serialize, JsonSchema)]
struct DocumentJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Id, as `kb info` takes it.
    document_id: DocumentId,
    /// Title.
    title: &'a str,
    /// Absolute path of its file; null for a note given as text.
    path: Option<&'a str>,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    doc_type: &'a str,
}

impl<'a> From<&'a StoredDocument> for DocumentJson<'a> {
    fn from(document: &'a StoredDocument) -> Self {
        Self {
            contract_version: CONTRACT_VERSION,
            document_id: document.id,
            title: &document.title,
            path: document.path.as_deref(),
            doc_type: document.doc_type.as_str(),
        }
    }
}

/// The parts of a document.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct OutlineJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: DocumentJson<'a>,
    /// Chunks it has.
    total_chunks: u32,
    /// Tokens of the model, of all its chunks with their contexts.
    tokens: u64,
    /// In the order of the text.
    parts: Vec<PartJson<'a>>,
}

/// A part of a document.
#[derive(Serialize, JsonSchema)]
struct PartJson<'a> {
    /// `section`, `page`, `symbol` or `text`.
    kind: &'a str,
    /// 1 for the outermost.
    level: u32,
    /// Heading, qualified symbol or number of the page; null for mere text.
    name: Option<&'a str>,
    /// Headings down to its own, joined by ` > `; null for all but sections.
    section: Option<&'a str>,
    /// How its text begins, on one line.
    preview: &'a str,
    /// First page, from 1; null where there are none.
    page: Option<u32>,
    /// Last page, included.
    last_page: Option<u32>,
    /// First line in the file, from 1, where lines are known.
    start_line: Option<u32>,
    /// Last line in the file, included.
    end_line: Option<u32>,
    /// Tokens of the model that it costs, contexts included.
    tokens: u32,
    /// Chunks that are wholly or partly in it, in order.
    chunk_ids: &'a [ChunkId],
}

impl<'a> From<&'a Part> for PartJson<'a> {
    fn from(part: &'a Part) -> Self {
        Self {
            kind: part.kind.as_str(),
            level: part.level,
            name: part.name.as_deref(),
            section: part.section.as_deref(),
            preview: &part.preview,
            page: part.page,
            last_page: part.last_page,
            start_line: part.start_line,
            end_line: part.end_line,
            tokens: part.num_tokens,
            chunk_ids: &part.chunk_ids,
        }
    }
}

/// Writes the parts of a document.
///
/// # Errors
///
/// What writing gives.
pub fn outline(outline: &Outline, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&OutlineJson {
        document: (&outline.document).into(),
        total_chunks: outline.document.chunk_count,
        tokens: outline.num_tokens,
        parts: outline.parts.iter().map(PartJson::from).collect(),
    })
}

/// A part of a document with its text.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ShowJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: DocumentJson<'a>,
    /// Headings down to its own, joined by ` > `, where it is a section.
    section: Option<&'a str>,
    /// Qualified name, where it is a definition.
    symbol: Option<&'a str>,
    /// First page, from 1; null where there are none.
    page: Option<u32>,
    /// Last page, included.
    last_page: Option<u32>,
    /// First line in the file, from 1, where lines are known.
    start_line: Option<u32>,
    /// Last line in the file, included.
    end_line: Option<u32>,
    /// Tokens of the model that the whole part costs.
    tokens: u32,
    /// Chunks that are wholly or partly in it, in order.
    chunk_ids: &'a [ChunkId],
    /// How many parts fit what was asked for; the first is shown.
    matches: usize,
    /// The text, or its first lines.
    text: &'a str,
    /// Whether `--max-lines` cut it.
    truncated: bool,
}

/// Writes a part of a document.
///
/// # Errors
///
/// What writing gives.
pub fn show(shown: &Shown, out: &mut Json<'_>) -> io::Result<()> {
    let part = &shown.part;
    out.value(&ShowJson {
        document: (&shown.document).into(),
        section: part.section.as_deref(),
        symbol: shown.symbol.as_deref(),
        page: part.page,
        last_page: part.last_page,
        start_line: part.start_line,
        end_line: part.end_line,
        tokens: part.num_tokens,
        chunk_ids: &part.chunk_ids,
        matches: shown.num_matches,
        text: &shown.text,
        truncated: shown.num_cut > 0,
    })
}

/// The file of a document.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct OpenJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: DocumentJson<'a>,
    /// Where the text is from: `file`, or `database` where there is no file or it is no text.
    origin: &'a str,
    /// Whether the file has changed since it was added; null where there is no file.
    changed: Option<bool>,
    /// Why the document's file was not read; null where it was, or where there is none.
    file_error: Option<&'a str>,
    /// First line of the text, from 1.
    start_line: u32,
    /// Last line of the text, included.
    end_line: u32,
    /// Lines there are.
    total_lines: u32,
    /// The lines that were asked for.
    text: &'a str,
    /// Whether `--max-lines` cut them.
    truncated: bool,
}

/// Writes a document's text.
///
/// # Errors
///
/// What writing gives.
pub fn open(opened: &Opened, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&OpenJson {
        document: (&opened.document).into(),
        origin: opened.origin.as_str(),
        changed: opened.has_changed,
        file_error: opened.file_error.as_deref(),
        start_line: opened.start_line,
        end_line: opened.end_line,
        total_lines: opened.num_lines,
        text: &opened.text,
        truncated: opened.num_cut > 0,
    })
}
