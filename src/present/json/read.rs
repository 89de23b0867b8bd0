//! Writes the JSON of `kb outline`, `kb show` and `kb open`. Every key is always present; values that do
//! not apply are null.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::query::read::PagePicture;
use crate::document::{PageKeys, PageRange, StaleReason, page_keys};
use crate::present::json::{SourceJson, VersionedAnswer, answer};
use crate::read::{DocumentLinks, DocumentOutline, DocumentPart, OpenedDocument, ShownPart};
use crate::store::ChunkId;
use crate::text::json::Json;

/// The parts of a document.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OutlineJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: SourceJson<'a>,
    /// Number of its chunks.
    total_chunks: u32,
    /// Tokens of all its chunks with their contexts, as the model counts them.
    tokens: u64,
    /// In the order of the text.
    parts: &'a [DocumentPart],
}

/// Writes the parts of a document.
pub fn outline(outline: &DocumentOutline, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&VersionedAnswer::of(&OutlineJson {
        document: (&outline.document).into(),
        total_chunks: outline.document.chunk_count,
        tokens: outline.num_tokens,
        parts: &outline.parts,
    }))
}

/// A part of a document with its text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ShowJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: SourceJson<'a>,
    /// Headings down to its own, joined by ` > `; null except for sections.
    section: Option<&'a str>,
    /// Qualified name of a definition, else null.
    symbol: Option<&'a str>,
    #[serde(flatten, serialize_with = "page_keys")]
    #[schemars(with = "PageKeys")]
    pages: Option<PageRange>,
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
    #[serde(flatten)]
    links: &'a DocumentLinks,
}

/// Writes a part of a document.
pub fn show(shown: &ShownPart, out: &mut Json<'_>) -> io::Result<()> {
    let part = &shown.part;
    out.value(&VersionedAnswer::of(&ShowJson {
        document: (&shown.document).into(),
        section: part.section.as_deref(),
        symbol: shown.symbol.as_deref(),
        pages: part.pages,
        start_line: part.start_line,
        end_line: part.end_line,
        tokens: part.num_tokens,
        chunk_ids: &part.chunk_ids,
        stale: shown.stale.map(StaleReason::as_str),
        matches: shown.num_matches,
        text: &shown.text,
        truncated: shown.num_cut > 0,
        links: &shown.links,
    }))
}

/// A page of a document that was drawn.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PictureJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: SourceJson<'a>,
    /// Physical page, from 1.
    page: u32,
    /// In pixels; the longer side has at most 1,600.
    width: u32,
    /// In pixels.
    height: u32,
    /// Words of the page that are marked; null if none were to be marked.
    marked: Option<u32>,
}

/// Writes what was drawn.
pub fn picture(drawn: &PagePicture, out: &mut Json<'_>) -> io::Result<()> {
    let PagePicture { document, page, picture, .. } = drawn;
    let (document, marked) = (document.into(), drawn.is_marked.then_some(picture.num_marked));
    let (width, height) = (picture.width, picture.height);
    answer(&PictureJson { document, page: *page, width, height, marked }, out)
}

/// The file of a document.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OpenJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: SourceJson<'a>,
    /// Its text.
    #[serde(flatten)]
    opened: &'a OpenedDocument,
}

/// Writes a document's text.
pub fn open(opened: &OpenedDocument, out: &mut Json<'_>) -> io::Result<()> {
    answer(&OpenJson { document: (&opened.document).into(), opened }, out)
}
