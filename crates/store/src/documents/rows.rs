//! Reads and writes JSON columns and the rows that several queries return.
//!
//! The JSON keys are the contract's (`page_count`, `section_header`, `symbol_name`), the struct
//! fields are kb's; absent values are left out. Unknown keys are ignored, so that a database
//! written by a newer kb of the same schema can be read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cut;
use super::stored::{ListedDocument, StoredChunk, StoredDocument};
use crate::db::columns::{json_column, named_column, to_json};
use crate::db::row::StoredRow;
use crate::document::{
    Chunk, ChunkLineMap, DocType, FileLines, Format, LineRange, Metadata, PageRange, PlaceChange,
};
use crate::ids::ChunkId;

/// `documents.metadata`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DocumentColumn {
    format: String,
    #[serde(flatten)]
    metadata: Metadata,
    /// The day that the user gave; kept by the statement that updates a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
}

/// `chunks.metadata`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ChunkColumn {
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_page: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    section_header: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol_name: Option<String>,
    /// Line, page, section and symbol of each [`PlaceChange`].
    #[serde(skip_serializing_if = "Option::is_none")]
    new_places: Option<Vec<NewPlaceJson>>,
    /// First and last line in the text of the document, if that has other lines than the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_lines: Option<[u32; 2]>,
    /// As in [`ChunkLineMap`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    line_offsets: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
}

type NewPlaceJson = (u32, Option<u32>, Option<String>, Option<String>);

impl ChunkColumn {
    fn file_lines(&self) -> Option<FileLines> {
        Some(FileLines { lines: self.lines()?, map: self.line_map() })
    }

    /// Returns the lines in the file; `None` if they are unknown or not in order.
    fn lines(&self) -> Option<LineRange> {
        LineRange::new(self.start_line?, self.end_line?)
    }

    /// Returns the pages; `None` if there are none or they are not in order.
    fn pages(&self) -> Option<PageRange> {
        PageRange::new(self.page?, self.last_page.or(self.page)?)
    }

    fn line_map(&self) -> Option<ChunkLineMap> {
        let [first, last] = self.text_lines?;
        let in_text = LineRange::new(first, last)?;
        Some(ChunkLineMap { in_text, offsets: self.line_offsets.clone() })
    }

    /// Returns the chunk at this place, without its text.
    fn into_chunk(self) -> Chunk {
        Chunk {
            line_map: self.line_map(),
            pages: self.pages(),
            lines: self.lines(),
            new_places: self.new_places.map(|places| {
                places
                    .into_iter()
                    .map(|(line, page, section, symbol)| PlaceChange {
                        line,
                        page,
                        section,
                        symbol,
                    })
                    .collect()
            }),
            section: self.section_header,
            symbol: self.symbol_name,
            page_label: self.page_label,
            ..Chunk::default()
        }
    }
}

/// Returns `documents.metadata` for a document read as `format`.
pub(crate) fn document_json(format: Format, metadata: &Metadata) -> rusqlite::Result<String> {
    let (format, metadata) = (format.as_str().to_owned(), metadata.clone());
    to_json(&DocumentColumn { format, metadata, date: None })
}

/// Returns `chunks.metadata`.
pub(crate) fn chunk_json(chunk: &Chunk) -> rusqlite::Result<String> {
    to_json(&ChunkColumn {
        page: chunk.pages.map(PageRange::first),
        last_page: chunk.pages.map(PageRange::last),
        page_label: chunk.page_label.clone(),
        section_header: chunk.section.clone(),
        symbol_name: chunk.symbol.clone(),
        new_places: chunk.new_places.as_ref().map(|places| {
            places
                .iter()
                .map(|place| (place.line, place.page, place.section.clone(), place.symbol.clone()))
                .collect()
        }),
        text_lines: chunk.line_map.as_ref().map(|map| [map.in_text.first(), map.in_text.last()]),
        line_offsets: chunk.line_map.as_ref().map(|map| map.offsets.clone()).unwrap_or_default(),
        start_line: chunk.lines.map(LineRange::first),
        end_line: chunk.lines.map(LineRange::last),
    })
}

/// Reads untrusted `documents.metadata` and returns the format in it.
pub(crate) fn check_document_json(json: &str) -> Result<String, String> {
    Ok(exactly::<DocumentColumn>(json)?.format)
}

/// Refuses `chunks.metadata` that kb would not have written.
pub(crate) fn check_chunk_json(json: &str) -> Result<(), String> {
    let chunk: ChunkColumn = exactly(json)?;
    let text_lines = chunk.text_lines;
    let ranges = [
        ("page", chunk.page, "last_page", chunk.last_page),
        ("start_line", chunk.start_line, "end_line", chunk.end_line),
        (
            "text_lines",
            text_lines.map(|lines| lines[0]),
            "its end",
            text_lines.map(|lines| lines[1]),
        ),
    ];
    for (first_name, first, last_name, last) in ranges {
        if first == Some(0) || last == Some(0) {
            return Err(format!("{first_name} and {last_name} count from 1"));
        }
        if last.is_some_and(|last| first.is_none_or(|first| last < first)) {
            return Err(format!("{last_name} comes before {first_name}"));
        }
    }
    let places = chunk.new_places.as_deref().unwrap_or_default();
    if !places.is_sorted_by(|a, b| a.0 < b.0) || places.iter().any(|place| place.1 == Some(0)) {
        return Err("new_places are not in order, or a page is 0".to_owned());
    }
    let last_offset = chunk.lines().map(|lines| lines.count() - 1);
    let is_within = chunk.line_offsets.last() <= last_offset.as_ref();
    if !(is_within && chunk.line_offsets.is_sorted()) {
        return Err("line_offsets are not between start_line and end_line".to_owned());
    }
    Ok(())
}

/// Parses JSON and accepts only keys and values that `T` would write.
fn exactly<T: Serialize + for<'de> Deserialize<'de>>(json: &str) -> Result<T, String> {
    let given: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let read: T = serde_json::from_value(given.clone()).map_err(|error| error.to_string())?;
    let written = serde_json::to_value(&read).map_err(|error| error.to_string())?;
    match unknown(&given, &written) {
        Some(key) => Err(format!("`{key}` is not a key or a value that kb writes")),
        None => Ok(read),
    }
}

/// Returns a key of `given` that is missing in `written` or has another value.
fn unknown(given: &Value, written: &Value) -> Option<String> {
    let (Value::Object(given), Value::Object(written)) = (given, written) else {
        return (given != written).then(|| "?".to_owned());
    };
    given.iter().find_map(|(key, value)| {
        let Some(known) = written.get(key) else { return Some(key.clone()) };
        unknown(value, known).map(|_| key.clone())
    })
}

/// The message for a document whose metadata kb cannot read.
const DAMAGED: &str = "its details in the database are damaged; `kb doctor --fix` repairs them";

/// Reads a row of `documents` with `tags` (JSON array) and `chunk_count`.
pub(crate) fn stored_document(row: &StoredRow<'_>) -> rusqlite::Result<StoredDocument> {
    // Columns are read by position: looking them up by name would take a tenth of the time for a long list.
    let mut json: DocumentColumn = json_column(row, 7)?;
    if json.format.is_empty() && !is_document_json(row.text(7)?) {
        json.metadata.warnings.push(DAMAGED.to_owned());
    }
    Ok(StoredDocument {
        id: row.get(0)?,
        title: row.get(1)?,
        is_title_given: row.get(2)?,
        path: row.get(3)?,
        content_hash: row.get(4)?,
        doc_type: named_column(row, 5, DocType::Markdown)?,
        language: row.get(6)?,
        format: json.format,
        created_at: row.get(8)?,
        updated_at: row.get(9)?,
        metadata: json.metadata,
        date_given: json.date,
        tags: json_column(row, 10)?,
        chunk_count: row.get(11)?,
    })
}

/// Reads a row of `documents` with `chunk_count` for a list; tags are read separately.
pub(crate) fn listed_document(row: &StoredRow<'_>) -> rusqlite::Result<ListedDocument> {
    let metadata = row.text(7)?;
    // Most documents have none.
    let has_quality = cut::has_quality(metadata);
    let json: DocumentColumn =
        if has_quality { json_column(row, 7)? } else { DocumentColumn::default() };
    let doc_type = named_column(row, 3, DocType::Markdown)?;
    let language: Option<String> = row.get(4)?;
    Ok(ListedDocument {
        id: row.get(0)?,
        title: row.get(1)?,
        path: row.get(2)?,
        doc_type,
        format: cut::format_word(metadata, language.as_deref(), doc_type),
        language,
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
        quality: json.metadata.quality,
        words_json: cut::words_json(metadata),
        num_unread_parts: cut::num_unread_parts(metadata),
        encoding: cut::encoding(metadata),
        tags: Vec::new(),
        chunk_count: row.get(8)?,
        date: row.get(9)?,
        date_origin: row.get(10)?,
    })
}

/// Where a line of a chunk is from, or the chunk if that is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkPlace {
    /// Headings above it, joined by ` > `.
    pub section: Option<String>,
    /// Qualified name of its definition.
    pub symbol: Option<String>,
    /// Its physical page, or those of the chunk.
    pub pages: Option<PageRange>,
    /// Its line in the file, or those of the chunk.
    pub lines: Option<LineRange>,
}

impl ChunkPlace {
    /// Returns where a line of a chunk's text, counted from 0, is from. The lines are those of the chunk.
    pub fn of_line(chunk: &Chunk, line: usize) -> Self {
        let (section, symbol) = match chunk.place_of_line(line) {
            Some(place) => (&place.section, &place.symbol),
            None => (&chunk.section, &chunk.symbol),
        };
        Self {
            section: section.clone(),
            symbol: symbol.clone(),
            pages: chunk.pages_of_line(line),
            lines: chunk.lines,
        }
    }
}

/// Parses `chunks.metadata` and returns the chunk without its text.
/// One that kb does not write has no place.
pub(crate) fn placed_chunk(json: &str) -> Chunk {
    serde_json::from_str::<ChunkColumn>(json).unwrap_or_default().into_chunk()
}

/// Whether a text is `documents.metadata` as kb writes it.
pub(crate) fn is_document_json(text: &str) -> bool {
    serde_json::from_str::<DocumentColumn>(text).is_ok()
}

/// Whether a text is `chunks.metadata` as kb writes it.
pub(crate) fn is_chunk_json(text: &str) -> bool {
    serde_json::from_str::<ChunkColumn>(text).is_ok()
}

/// Parses only the lines in `chunks.metadata`, which [`chunk_json`] writes last: parsing all of it would be a third of the
/// time for reading all texts. Those of a text with other lines than its file are parsed in full.
pub(crate) fn chunk_lines(json: &str) -> Option<FileLines> {
    let whole = json;
    let json = json.strip_suffix('}')?;
    let (len, end) = last_number(json, "\"end_line\":")?;
    let (len, start) = last_number(json[..len].strip_suffix(',')?, "\"start_line\":")?;
    // If the text has lines of its file, they come before these numbers, and only the full parser reads them.
    if json[..len].ends_with("],") && json.contains("\"text_lines\":[") {
        return serde_json::from_str::<ChunkColumn>(whole).ok()?.file_lines();
    }
    LineRange::new(start, end).map(FileLines::verbatim)
}

/// Splits off a number with its key at the end of a text; returns the length of the rest and the number.
fn last_number(text: &str, key: &str) -> Option<(usize, u32)> {
    let rest = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number: u32 = text[rest.len()..].parse().ok()?;
    Some((rest.strip_suffix(key)?.len(), number))
}

/// Reads a row of `chunks` whose id is called `chunk_id` and whose metadata `chunk_metadata`.
pub(crate) fn stored_chunk(row: &StoredRow<'_>) -> rusqlite::Result<StoredChunk> {
    let json: ChunkColumn = json_column(row, "chunk_metadata")?;
    Ok(StoredChunk {
        id: row.get("chunk_id")?,
        chunk_index: row.get("chunk_index")?,
        chunk: Chunk {
            text: row.get("text")?,
            context: row.get("context")?,
            token_count: row.get::<_, Option<u32>>("token_count")?.unwrap_or(0),
            ..json.into_chunk()
        },
    })
}

impl StoredChunk {
    /// Makes a chunk of a copy elsewhere, given without the parts that `metadata` has, as JSON.
    pub fn of_copy(
        id: ChunkId,
        chunk_index: u32,
        chunk: Chunk,
        metadata: &str,
    ) -> Result<Self, String> {
        check_chunk_json(metadata)?;
        let json: ChunkColumn =
            serde_json::from_str(metadata).map_err(|error| error.to_string())?;
        let Chunk { text, context, token_count, .. } = chunk;
        let chunk = Chunk { text, context, token_count, ..json.into_chunk() };
        Ok(Self { id, chunk_index, chunk })
    }
}

/// Returns the day that the user gave a document with this metadata.
pub(crate) fn date_given(json: &str) -> Option<String> {
    serde_json::from_str::<DocumentColumn>(json).ok()?.date
}
