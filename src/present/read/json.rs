//! The JSON of `kb outline`, `kb show` and `kb open`. Every key is always there; what does not apply
//! is null.

use std::io;
use std::io::Write;

use serde::Serialize;

use crate::present::json::{CONTRACT_VERSION, write};
use crate::read::{Opened, Outline, Part, Shown};
use crate::store::StoredDocument;

/// What every answer says of the document.
#[derive(Serialize)]
struct DocumentJson<'a> {
    contract_version: u32,
    document_id: i64,
    title: &'a str,
    path: Option<&'a str>,
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

#[derive(Serialize)]
struct OutlineJson<'a> {
    #[serde(flatten)]
    document: DocumentJson<'a>,
    total_chunks: u32,
    tokens: u64,
    parts: Vec<PartJson<'a>>,
}

#[derive(Serialize)]
struct PartJson<'a> {
    kind: &'a str,
    level: u32,
    name: Option<&'a str>,
    section: Option<&'a str>,
    preview: &'a str,
    page: Option<u32>,
    last_page: Option<u32>,
    start_line: Option<u32>,
    end_line: Option<u32>,
    tokens: u32,
    chunk_ids: &'a [i64],
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
pub fn outline(outline: &Outline, out: &mut dyn Write) -> io::Result<()> {
    write(
        &OutlineJson {
            document: (&outline.document).into(),
            total_chunks: outline.document.chunk_count,
            tokens: outline.num_tokens,
            parts: outline.parts.iter().map(PartJson::from).collect(),
        },
        out,
    )
}

#[derive(Serialize)]
struct ShowJson<'a> {
    #[serde(flatten)]
    document: DocumentJson<'a>,
    section: Option<&'a str>,
    symbol: Option<&'a str>,
    page: Option<u32>,
    last_page: Option<u32>,
    start_line: Option<u32>,
    end_line: Option<u32>,
    tokens: u32,
    chunk_ids: &'a [i64],
    matches: usize,
    text: &'a str,
    truncated: bool,
}

/// Writes a part of a document.
///
/// # Errors
///
/// What writing gives.
pub fn show(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let part = &shown.part;
    write(
        &ShowJson {
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
        },
        out,
    )
}

#[derive(Serialize)]
struct OpenJson<'a> {
    #[serde(flatten)]
    document: DocumentJson<'a>,
    origin: &'a str,
    changed: Option<bool>,
    start_line: u32,
    end_line: u32,
    total_lines: u32,
    text: &'a str,
    truncated: bool,
}

/// Writes a document's text.
///
/// # Errors
///
/// What writing gives.
pub fn open(opened: &Opened, out: &mut dyn Write) -> io::Result<()> {
    write(
        &OpenJson {
            document: (&opened.document).into(),
            origin: opened.origin.as_str(),
            changed: opened.has_changed,
            start_line: opened.start_line,
            end_line: opened.end_line,
            total_lines: opened.num_lines,
            text: &opened.text,
            truncated: opened.num_cut > 0,
        },
        out,
    )
}
