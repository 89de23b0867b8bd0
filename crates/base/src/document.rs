//! Defines the types shared by all stages: documents, blocks, chunks, filters.
//!
//! They are plain values: nothing here reads a file, uses the database or writes to a terminal. The
//! closed lists of words (types, languages, formats, precisions) are in `kinds` and `formats`.

mod binding;
mod document_kind;
mod file_lines;
mod formats;
pub mod join;
mod kinds;
mod languages;
mod levels;
mod parts;
mod ranges;
mod words;

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::decode::TextEncoding;
use crate::text::fields;

pub use binding::{Binding, ModelFiles};
pub use document_kind::{DocumentKind, FormatGroup};
pub use file_lines::{ChunkLineMap, FileLines};
pub use formats::{ContainerKind, Data, Dialect, Format, FormatContent, Headed, Markup, Picture};
pub use kinds::{DocType, FileOutcome, Precision, UnknownName};
pub use languages::Language;
pub use levels::HeadingLevels;
pub use parts::{FileParts, UnreadPart, embedded_reference};
pub use ranges::{LineKeys, LineRange, PageKeys, PageRange, line_keys, page_keys};
pub use words::{WordAccount, WordDestination, count as count_words};

/// The output of an extractor: the text of a file and its structure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The title the document itself states (metadata, front matter, first heading).
    pub title: Option<String>,
    /// The whole text, with `\n` line ends. Blocks are ranges of it.
    pub text: String,
    /// Structural pieces in reading order, with ordered, disjoint ranges. Text between blocks is
    /// not searched (front matter, blank lines).
    pub blocks: Vec<Block>,
    /// Whether the lines of `text` are lines of the file, so that line numbers are meaningful.
    pub has_lines: bool,
    /// The line of the file, from 1, that each line of `text` comes from; empty if they are the same.
    pub line_numbers: Vec<u32>,
    /// Labels of its pages (`iv`, `A-3`), in order, blank for one without; empty if all are the page numbers.
    pub page_labels: Vec<String>,
    /// Tags the document itself states, in its order.
    pub tags: Vec<String>,
    /// Words of its tables that are there again for a merged cell, and do not count.
    pub num_copied_words: u32,
    /// Other metadata stated by the document.
    pub metadata: Metadata,
}

impl Document {
    /// Returns the label of a physical page, counted from 1; `None` if it is the page number.
    pub fn page_label(&self, page: u32) -> Option<String> {
        let label = self.page_labels.get(usize::try_from(page).ok()?.checked_sub(1)?)?;
        (!label.is_empty() && *label != page.to_string()).then(|| label.clone())
    }
}

/// The metadata stated by a document, stored as JSON in `documents.metadata`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// The author, as stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Number of physical pages; `None` for a document without pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_count: Option<u32>,
    /// Date of creation as stated by the document, RFC 3339 if it could be parsed as a date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Natural language as stated by the document (a BCP 47 tag if it conforms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Natural language as recognised from the text (ISO 639-1); `None` for code, and if it is not clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub natural_language: Option<String>,
    /// The encoding of its text; `None` for valid UTF-8, and for a file that is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<TextEncoding>,
    /// How well its pages could be read; `None` for a document without pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// Its words, counted by destination; `None` for a document that an older kb has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<WordAccount>,
    /// The outcomes of its file's parts; `None` without parts, and for a document that an older kb has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<FileParts>,
    /// Its headings in order, with their levels; empty if its text has marks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<(u8, String)>,
    /// Other names that its front matter gives it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// That it says it is out of date; `None` for a document in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded: Option<OutdatedNotice>,
    /// The links to other documents in its front matter, as they are written, with their lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(u32, String)>,
    /// Messages to the user about reading the file, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A document's statement that it is out of date.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutdatedNotice {
    /// The path or title of what replaces it, as written; `None` if it does not say.
    pub by: Option<String>,
}

impl OutdatedNotice {
    /// Returns the statement for people: `superseded by travel-2025.md`.
    pub fn describe(&self) -> String {
        let by = self.by.as_ref().map(|by| format!(" by {by}"));
        format!("superseded{}", by.unwrap_or_default())
    }
}

/// How well the pages of a document could be read. Every page is read, empty or unread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quality {
    /// Pages with text.
    pub pages_read: u32,
    /// Pages with text from OCR; also counted in `pages_read`.
    pub pages_ocr: u32,
    /// Pages without content.
    pub pages_empty: u32,
    /// Pages whose text could not be read: scans without OCR, fonts without character codes,
    /// damage.
    pub pages_unread: u32,
    /// Unread pages that OCR might read, but it was missing or failed.
    pub pages_awaiting_ocr: u32,
    /// Visible characters.
    #[serde(rename = "characters")]
    pub num_characters: u32,
    /// Visible characters that are not text: private use, or without a character code in their
    /// font.
    #[serde(rename = "not_text")]
    pub num_not_text: u32,
    /// Words.
    #[serde(rename = "words")]
    pub num_words: u32,
    /// Words that the document has without spaces between their parts, whether they were separated
    /// or not.
    #[serde(rename = "glued")]
    pub num_glued: u32,
    /// Words that OCR has read.
    #[serde(rename = "words_ocr")]
    pub num_words_ocr: u32,
    /// How many of these OCR is not sure of.
    #[serde(rename = "unsure")]
    pub num_unsure: u32,
}

impl Quality {
    /// Returns the share of characters that are not text, 0 to 1; 0 if there are no characters.
    pub fn share_not_text(&self) -> f64 {
        f64::from(self.num_not_text) / f64::from(self.num_characters.max(1))
    }

    /// Returns the share of words that were found without spaces between their parts, 0 to 1; 0 if
    /// there are no words.
    pub fn share_glued(&self) -> f64 {
        f64::from(self.num_glued) / f64::from(self.num_words.max(1))
    }

    /// Returns the share of the words read by OCR that it is not sure of, 0 to 1; 0 without OCR.
    pub fn share_unsure(&self) -> f64 {
        f64::from(self.num_unsure) / f64::from(self.num_words_ocr.max(1))
    }
}

/// A structural piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its range in [`Document::text`]: bytes, half-open, on character boundaries.
    pub bytes: Range<usize>,
    /// Its kind, which decides where it may be split if it is too long for a chunk.
    pub kind: BlockKind,
    /// Enclosing headings, outermost first, without the document's title. A heading's own block
    /// includes itself.
    pub headings: Vec<String>,
    /// Qualified name of its definition (`Class.method`); `None` outside code.
    pub symbol: Option<String>,
    /// Context that a reader needs in addition to title and headings: the enclosing class with its
    /// docstring.
    pub context: Option<String>,
    /// Physical page, from 1; `None` for a document without pages.
    pub page: Option<u32>,
    /// Whether a chunk should begin here; the chunker ignores it only to merge small sections.
    pub starts_section: bool,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlockKind {
    /// A heading line; kept with the text after it.
    Heading,
    /// Prose: split at sentences, then at words.
    Paragraph,
    /// A list item with everything below it: split at lines, then as prose.
    ListItem,
    /// A table: split only between rows, then as prose.
    Table,
    /// Source text, fenced or a file's own: split at lines, blank ones first.
    Code,
}

/// The separator between the parts of a context or of a header chain.
pub const CHAIN_SEPARATOR: &str = " > ";

/// A passage that is embedded and ranked. Its JSON says where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Chunk {
    /// The chunk's own text; never blank.
    #[serde(skip)]
    pub text: String,
    /// Its context: title > header chain, or module > class with its docstring. May be empty.
    /// Indexed and embedded, never part of `text`.
    #[serde(skip)]
    pub context: String,
    /// Its tokens as the model counts them, including context and special tokens.
    pub token_count: u32,
    /// Its pages; `None` for a document without pages.
    #[serde(flatten, serialize_with = "page_keys")]
    #[schemars(with = "PageKeys")]
    pub pages: Option<PageRange>,
    /// The label of the first page; null if it is the page number.
    pub page_label: Option<String>,
    /// Headings above it, without the title, joined by ` > `; null if there are none.
    pub section: Option<String>,
    /// Qualified name of the function, class or type; null except for code.
    pub symbol: Option<String>,
    /// Its lines in the file; `None` if lines are unknown.
    #[serde(flatten, serialize_with = "line_keys")]
    #[schemars(with = "LineKeys")]
    pub lines: Option<LineRange>,
    /// Where its lines are in the file; `None` if lines of the text are lines of the file.
    #[serde(skip)]
    pub line_map: Option<ChunkLineMap>,
    /// Where in its text another page, section or symbol begins, in order; `None` if it is not known, because an older kb
    /// stored the chunk.
    #[serde(skip)]
    pub new_places: Option<Vec<PlaceChange>>,
}

/// A line of a chunk's text from which on the page, the section or the symbol is not that of the lines above.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaceChange {
    /// The line, from 0.
    pub line: u32,
    /// Its page, from 1; `None` for a document without pages.
    pub page: Option<u32>,
    /// Headings above it, joined by ` > `.
    pub section: Option<String>,
    /// Qualified name of its definition.
    pub symbol: Option<String>,
}

impl Chunk {
    /// Returns the lines of the file that it is from, if they are known.
    pub fn file_lines(&self) -> Option<FileLines> {
        Some(FileLines { lines: self.lines?, map: self.line_map.clone() })
    }

    /// Returns the page of a line of its text, counted from 0; all its pages if it is not known which.
    pub fn pages_of_line(&self, line: usize) -> Option<PageRange> {
        match self.place_of_line(line) {
            Some(place) => place.page.map(PageRange::single),
            None if self.new_places.is_some() => self.pages.map(PageRange::first_only),
            None => self.pages,
        }
    }

    /// Returns the place of a line of its text, counted from 0; `None` if it is that of the chunk, or not known.
    pub fn place_of_line(&self, line: usize) -> Option<&PlaceChange> {
        let places = self.new_places.as_deref().unwrap_or_default();
        places.iter().rev().find(|place| place.line as usize <= line)
    }

    /// Returns the passage that the model reads: context, a blank line, text.
    pub fn passage(context: &str, text: &str) -> String {
        if context.is_empty() { text.to_owned() } else { format!("{context}\n\n{text}") }
    }
}

/// The vector of a passage, and those of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The passage's vector, of unit length.
    pub vector: Vec<f32>,
    /// The vectors of its tokens in a few bits each; `None` if they are not kept.
    pub codes: Option<Vec<u8>>,
}

fields::words! {
    /// How the file of a document differs from the indexed content.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum StaleReason {
        /// The file has other bytes.
        Changed = "changed",
        /// None of the document's paths has a file.
        Missing = "missing",
    }
}

/// The documents to search or list; an empty filter includes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only documents of this type or format.
    pub kind: Option<DocumentKind>,
    /// Only source code in this language.
    pub language: Option<Language>,
    /// Only documents with all of these tags.
    pub tags: Vec<String>,
    /// Only documents with none of these tags.
    pub excluded_tags: Vec<String>,
    /// Only documents of this day or later: a date, or the beginning of one (`2024`, `2024-05`).
    pub since: Option<String>,
    /// Only documents of this day or earlier, as `since`; a month or year includes its end.
    pub until: Option<String>,
    /// Only documents that were added on this day (UTC) or later, as `since`; also a time in UTC.
    pub added_since: Option<String>,
    /// The meanings of its relative dates, for people; they do not filter anything.
    pub date_notes: Vec<String>,
    /// Only documents at or below one of these absolute paths; complete components, in any normal form.
    pub paths: Vec<String>,
    /// More of these, typed as a number: the document with this id if there is one, else what is at or below the path.
    pub numbered: Vec<NumberedPath>,
    /// Only chunks without these words and phrases; a prefix of words ends in `*`.
    pub excluded: Vec<String>,
}

/// A path of a filter that was typed as a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedPath {
    /// The id of a document.
    pub id: i64,
    /// The absolute path, if there is no such document.
    pub path: String,
}

impl Filter {
    /// Whether every document passes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_characters_or_words() {
        let quality = Quality {
            num_characters: 8,
            num_not_text: 2,
            num_words: 1,
            num_glued: 1,
            num_words_ocr: 4,
            num_unsure: 3,
            ..Quality::default()
        };
        let shares = [quality.share_not_text(), quality.share_glued(), quality.share_unsure()];
        assert_eq!(shares, [0.25, 1.0, 0.75]);
    }

    #[test]
    fn without_characters_and_words_all_shares_are_zero() {
        let quality = Quality::default();
        let shares = [quality.share_not_text(), quality.share_glued(), quality.share_unsure()];
        assert_eq!(shares, [0.0; 3]);
    }

    #[test]
    fn a_page_has_a_label_if_it_is_not_its_number() {
        let document = Document {
            page_labels: ["iv", "2", ""].map(str::to_owned).to_vec(),
            ..Document::default()
        };
        let labels: Vec<Option<String>> = (0..5).map(|page| document.page_label(page)).collect();
        assert_eq!(labels, [None, Some("iv".to_owned()), None, None, None]);
    }
}
