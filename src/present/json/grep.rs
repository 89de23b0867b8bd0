//! Writes matching lines as JSON.

use std::io;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::query::grep::{GrepDetail, GrepDocument, GrepResults};
use crate::document::{LineRange, PageRange, StaleReason};
use crate::present::json::{SourceJson, VersionedAnswer};
use crate::present::text::stale;
use crate::read::grep::GrepLine;
use crate::store::ChunkId;
use crate::text::json::Json;

/// All documents with lines that match a pattern.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GrepJson<'a> {
    /// The pattern, unchanged.
    pattern: &'a str,
    /// The documents with a matching line, by id.
    results: Vec<GrepDocumentJson<'a>>,
    /// Matching lines of all documents; null with `--files-with-matches`.
    total_matches: Option<usize>,
    /// Number of `results`.
    returned: usize,
    /// Documents that were searched.
    searched: usize,
    /// Further notes, as in the answer to a query; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A document with matching lines.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Document")]
struct GrepDocumentJson<'a> {
    /// Where the lines are from.
    #[serde(flatten)]
    source: FileJson<'a>,
    /// Number of its matching lines; null with `--files-with-matches`.
    matches: Option<usize>,
    /// The matching lines, and with `--context` those around them, in order; null with `--count` and
    /// `--files-with-matches`.
    lines: Option<Vec<LineJson<'a>>>,
}

/// Where lines are from.
#[derive(Serialize, JsonSchema)]
struct FileJson<'a> {
    #[serde(flatten)]
    source: SourceJson<'a>,
    /// `changed` if the file has other bytes than when it was indexed, `missing` if it is not there any
    /// more; null if it is unchanged, or if there is no file.
    stale: Option<StaleReason>,
}

/// A line.
#[derive(Serialize, JsonSchema)]
struct LineJson<'a> {
    /// Id of the chunk that has the first match, as `kb show --chunk` takes it.
    chunk_id: ChunkId,
    /// Its page, from 1, or the first page of the chunk if an older kb stored it; null for a document without pages.
    page: Option<u32>,
    /// Equal to `page`, or the last page of the chunk.
    last_page: Option<u32>,
    /// Headings above it, without the title, joined by ` > `; null if there are none.
    section: Option<&'a str>,
    /// Qualified name of the function, class or type; null except for code.
    symbol: Option<&'a str>,
    /// The line in the file, from 1; the first line of the chunk if its lines cannot be counted; null if lines
    /// are unknown, as in a PDF.
    start_line: Option<u32>,
    /// Equal to `start_line`, or the last line of the chunk.
    end_line: Option<u32>,
    /// The complete line, without its end.
    text: &'a str,
    /// The matches in it; empty for a line of context.
    ranges: Vec<RangeJson>,
}

/// A part of a line.
#[derive(Serialize, JsonSchema)]
struct RangeJson {
    /// Its first byte in the UTF-8 of the line, from 0.
    start: usize,
    /// The byte after its last one.
    end: usize,
}

impl From<&Range<usize>> for RangeJson {
    fn from(range: &Range<usize>) -> Self {
        Self { start: range.start, end: range.end }
    }
}

/// A line with its document.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GrepLineJson<'a> {
    /// Where the line is from.
    #[serde(flatten)]
    source: FileJson<'a>,
    /// The line.
    #[serde(flatten)]
    line: LineJson<'a>,
}

impl<'a> From<&'a GrepDocument> for FileJson<'a> {
    fn from(found: &'a GrepDocument) -> Self {
        Self { source: (&found.document).into(), stale: found.stale }
    }
}

impl<'a> From<&'a GrepLine> for LineJson<'a> {
    fn from(line: &'a GrepLine) -> Self {
        Self {
            chunk_id: line.chunk_id,
            page: line.place.pages.map(PageRange::first),
            last_page: line.place.pages.map(PageRange::last),
            section: line.place.section.as_deref(),
            symbol: line.place.symbol.as_deref(),
            start_line: line.place.lines.map(LineRange::first),
            end_line: line.place.lines.map(LineRange::last),
            text: &line.text,
            ranges: line.matches.iter().map(RangeJson::from).collect(),
        }
    }
}

/// Writes the documents with matching lines.
pub fn grep(results: &GrepResults, out: &mut Json<'_>) -> io::Result<()> {
    let is_counted = results.detail != GrepDetail::Name;
    let documents = results.documents.iter();
    out.value(&VersionedAnswer::of(&GrepJson {
        pattern: &results.typed,
        results: documents.map(|found| document(found, results.detail)).collect(),
        total_matches: is_counted.then(|| results.num_lines()),
        returned: results.documents.len(),
        searched: results.num_searched,
        notes: results
            .notes
            .iter()
            .cloned()
            .chain(stale::advice_of(results).map(|advice| advice.to_string()))
            .collect(),
    }))
}

fn document(found: &GrepDocument, detail: GrepDetail) -> GrepDocumentJson<'_> {
    let has_lines = matches!(detail, GrepDetail::Lines(_));
    GrepDocumentJson {
        source: found.into(),
        matches: (detail != GrepDetail::Name).then_some(found.matched.num_lines),
        lines: has_lines.then(|| found.matched.lines.iter().map(LineJson::from).collect()),
    }
}

/// Writes one line of the documents per line.
pub fn grep_lines(results: &GrepResults, out: &mut Json<'_>) -> io::Result<()> {
    for found in &results.documents {
        for line in &found.matched.lines {
            out.line(&GrepLineJson { source: found.into(), line: line.into() })?;
        }
    }
    Ok(())
}
