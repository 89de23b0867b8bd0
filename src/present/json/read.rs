//! Writes the JSON of `kb outline`, `kb show` and `kb open`. Every key is always present; values that do
//! not apply are null.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{ChunkId, DocumentId, Stale};
use crate::present::json::{CONTRACT_VERSION, file_of, member_of};
use crate::read::{Opened, Outline, Part, Shown};
use crate::store::StoredDocument;
use crate::text::json::Json;

/// The document, as in every answer.
#[derive(Serialize, JsonSchema)]
struct DocumentJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Id, as `kb info` takes it.
    document_id: DocumentId,
    /// Title.
    title: &'a str,
    /// Absolute path of its file, which may contain it; null for a note without a file.
    path: Option<&'a str>,
    /// Its name in that file, such as an archive or a mailbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<&'a str>,
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
            path: document.path.as_deref().map(file_of),
            member: document.path.as_deref().and_then(member_of),
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
    /// Number of its chunks.
    total_chunks: u32,
    /// Tokens of all its chunks with their contexts, as the model counts them.
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
    /// Heading, qualified symbol or page number; null for plain text.
    name: Option<&'a str>,
    /// Headings down to its own, joined by ` > `; null except for sections.
    section: Option<&'a str>,
    /// The beginning of its text, on one line.
    preview: &'a str,
    /// First page, from 1; null for a document without pages.
    page: Option<u32>,
    /// Last page, inclusive.
    last_page: Option<u32>,
    /// First line in the file, from 1; null if lines are unknown.
    start_line: Option<u32>,
    /// Last line in the file, inclusive.
    end_line: Option<u32>,
    /// Its tokens including contexts, as the model counts them.
    tokens: u32,
    /// Chunks that are completely or partly in it, in order.
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
/// Errors of writing.
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
    /// Headings down to its own, joined by ` > `; null except for sections.
    section: Option<&'a str>,
    /// Qualified name of a definition, else null.
    symbol: Option<&'a str>,
    /// First page, from 1; null for a document without pages.
    page: Option<u32>,
    /// Last page, inclusive.
    last_page: Option<u32>,
    /// First line in the file, from 1; null if lines are unknown.
    start_line: Option<u32>,
    /// Last line in the file, inclusive.
    end_line: Option<u32>,
    /// Tokens of the complete part, as the model counts them.
    tokens: u32,
    /// Chunks that are completely or partly in it, in order.
    chunk_ids: &'a [ChunkId],
    /// `changed` if the file has other bytes than when it was indexed, `missing` if it is not there any
    /// more; null if it is unchanged, or if there is no file.
    stale: Option<&'static str>,
    /// How many parts match the request; the first is shown.
    matches: usize,
    /// The text, or its first lines.
    text: &'a str,
    /// Whether `--max-lines` cut the text.
    truncated: bool,
}

/// Writes a part of a document.
///
/// # Errors
///
/// Errors of writing.
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
        stale: shown.stale.map(Stale::as_str),
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
    /// Where the text is from: `file`, or `database` if there is no file or it is not text.
    origin: &'a str,
    /// Whether the file has changed since it was added; null if there is no file.
    changed: Option<bool>,
    /// Why the document's file was not read; null if it was, or if there is none.
    file_error: Option<&'a str>,
    /// First line of the text, from 1.
    start_line: u32,
    /// Last line of the text, inclusive.
    end_line: u32,
    /// Total number of lines.
    total_lines: u32,
    /// The requested lines.
    text: &'a str,
    /// Whether `--max-lines` cut the text.
    truncated: bool,
}

/// Writes a document's text.
///
/// # Errors
///
/// Errors of writing.
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
