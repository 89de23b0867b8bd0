//! Defines the protocol of the pipe between `kb` and its reading child. A request line and the
//! bytes of the file go one way, one JSON object per line the other.
//!
//! ```text
//! → {"reader":…,"size_bytes":…,"max_memory_bytes":…,…}\n then size_bytes bytes
//! ← {"document":{…}}\n {"page":{…}}\n … {"done":{…}}\n    or    {"failed":{…}}\n
//! ← {"pictures":{…}}\n   → what Tesseract reads on each: [{"Ok":…},{"Err":…},…]\n
//! ```
//!
//! A child answers one request and ends. A line is written completely or not at all, so lines from
//! before a crash can be trusted.

pub(crate) mod bounds;
mod in_base64;
mod page;
mod sent;

use serde::{Deserialize, Serialize};

use super::sandbox::Layers;
use crate::document::{Document, FileParts, WordAccount};
use crate::error::{Error, FailureKind};
use crate::text::decode::TextEncoding;

pub use page::{BlockPlace, BlockPlacement, ExtractedPage, OcrOutcome, PageBlock, PageNote};
pub use sent::{MAX_NAME, MemberLine, RenderedPage, clean_name};

/// Marks a gap in the text of a page that is wider than those between letters, but narrower than
/// most spaces. A noncharacter, which no text contains.
pub const NARROW_GAP: char = '\u{FDD0}';

/// Marks where a hyphen at the end of a line was taken out of a word, which may belong to it. A noncharacter, as above.
pub const LINE_HYPHEN: char = '\u{FDD1}';

/// First argument of a process that is a reading child.
pub const CHILD_COMMAND: &str = "__read";

/// First argument of a process that limits itself and becomes Tesseract.
pub const OCR_COMMAND: &str = "__ocr";

/// Names of the readers of PDF, best first. A request names the reader it wants.
pub const PDF_READERS: [&str; 2] = ["hayro", "pdf-extract"];

/// Names of the other readers in a request; those of [`Headed`](crate::document::Headed) formats are their words.
pub const CODE: &str = "code";
pub const MARKUP: &str = "markup";
pub const DATA: &str = "data";
pub const NOTEBOOK: &str = "notebook";
pub const NOTEBOOK_WITH_RESULTS: &str = "notebook-with-results";
/// Reads nothing, and reports what confines the child.
pub const LAYERS: &str = "layers";
/// Says which format an archive is, and reads nothing else of it.
pub const PACKAGE: &str = "package";
/// Unpacks a single file that was compressed.
pub const COMPRESSED: &str = "compressed";
pub const MEMBERS_OF_ZIP: &str = "members-of-zip";
pub const MEMBERS_OF_MBOX: &str = "members-of-mbox";
pub const MEMBERS_OF_ENEX: &str = "members-of-enex";
pub const MEMBERS_OF_CHATS: &str = "members-of-chats";
pub const IMAGE: &str = "image";
pub const OCR_OF_PDF: &str = "ocr-of-pdf";
pub const OCR_OF_IMAGE: &str = "ocr-of-image";
pub const PICTURE_OF_PDF: &str = "picture-of-pdf";
pub const PICTURE_OF_IMAGE: &str = "picture-of-image";

/// The request to the child, in one line before the bytes of the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Name of the reader to use.
    pub reader: String,
    /// Size of the document, which follows, in bytes.
    pub size_bytes: u64,
    /// Address space that the child may use, in bytes.
    pub max_memory_bytes: u64,
    /// Processor time that it may use, in seconds.
    pub cpu_seconds: u64,
    /// Additional processor time per page, in milliseconds.
    pub cpu_ms_per_page: u64,
    /// Processor time that it may use whatever the number of pages, in seconds.
    pub max_cpu_seconds: u64,
    /// Opens an encrypted file; never on the command line, which other users could see.
    pub password: Option<String>,
    /// Physical pages to read by OCR, from 1, in order; empty for reading text.
    pub ocr_pages: Vec<u32>,
    /// Areas of pages, with the numbers of these, from 1. OCR reads only the areas of such a page, and all of any other
    /// page.
    #[serde(default)]
    pub ocr_areas: Vec<(u32, BlockPlace)>,
    /// The word of the programming language, markup language or kind of data of a text, which is
    /// sent as UTF-8; `None` for anything else.
    pub kind: Option<String>,
    /// Whether everything is read that the document shows.
    #[serde(default)]
    pub keeps_all: bool,
    /// Whether comments and notes of people are left out, and only counted.
    #[serde(default)]
    pub omits_remarks: bool,
    /// The page to draw, for the readers that draw one.
    #[serde(default)]
    pub drawing: Option<Drawing>,
}

/// Longest text to mark, in bytes: more than a page has.
pub const MAX_MARKED_BYTES: usize = 16 << 10;

/// A page to draw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawing {
    /// Physical page, from 1.
    pub page: u32,
    /// The text to mark on it; empty for none.
    pub marked: String,
}

/// Largest processor time including pages, as a multiple of the time without them, because the file
/// itself declares the number of pages.
const MAX_CPU_FACTOR: u64 = 20;

impl Request {
    /// Returns the processor time for a document with this many pages, in seconds.
    pub fn cpu_seconds_of(&self, page_count: u32) -> u64 {
        let for_pages = self.cpu_ms_per_page.saturating_mul(page_count.into()) / 1000;
        let most = self.cpu_seconds.saturating_mul(MAX_CPU_FACTOR).min(self.max_cpu_seconds);
        self.cpu_seconds.saturating_add(for_pages).min(most)
    }
}

/// Pictures of one document for Tesseract, and the information to find on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pictures {
    /// The information to find.
    pub wanted: OcrTask,
    pub pictures: Vec<Picture>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// Dots per inch, if known.
    pub dpi: Option<f64>,
    /// One byte per pixel, 0 for black, row by row from the top.
    #[serde(with = "in_base64")]
    pub pixels: Vec<u8>,
}

/// Information that Tesseract finds on a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OcrTask {
    /// Its words, as a table.
    Words,
    /// By how much it is turned, as a report.
    Turn,
}

/// The output of Tesseract, or the reason why it failed.
pub type Recognised = Result<String, String>;

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerLine {
    /// First: what the document states about itself.
    Document(DocumentHead),
    /// Then the pages in order, including those that could not be read.
    Page(ExtractedPage),
    /// Instead of pages: a text that was parsed completely.
    Parsed(Box<ParsedText>),
    /// Instead of pages: a file in a container.
    Member(MemberLine),
    /// Between pages: pictures for Tesseract. The child waits for a line with a result for each.
    Pictures(Pictures),
    /// Instead of pages: the picture of one.
    Drawn(RenderedPage),
    /// Instead of everything else: what confines the child.
    Layers(Layers),
    /// Last, if the reader succeeded.
    Done(ReadingSummary),
    /// Last, if it failed.
    Failed {
        /// As [`FailureKind::as_str`] spells it.
        code: String,
        /// The message of the reader.
        detail: String,
    },
}

/// A parsed text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParsedText {
    /// The document; without its text if that is the text in the request.
    pub document: Document,
    /// Whether the text is that in the request.
    pub has_same_text: bool,
}

/// The properties that a document states about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentHead {
    /// The word of the format that the file turned out to be; `None` if it is the one asked for.
    #[serde(default)]
    pub format: Option<String>,
    /// Title as stated, even if it is useless.
    pub title: Option<String>,
    /// Author as stated.
    pub author: Option<String>,
    /// Date of creation, RFC 3339.
    pub created: Option<String>,
    /// Natural language as stated.
    pub language: Option<String>,
    /// Number of pages.
    pub page_count: u32,
    /// Bookmarks in reading order, parents before their children.
    pub outline: Vec<OutlineEntry>,
    /// The label of each page, in order; empty if all labels are page numbers.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// A bookmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineEntry {
    /// Its text.
    pub title: String,
    /// Depth, from 1.
    pub level: u8,
    /// Physical page that it leads to, from 1.
    pub page: Option<u32>,
}

/// Facts that a reader knows only at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingSummary {
    /// Number of pages that the file declares, if it does.
    pub declared_page_count: Option<u32>,
    /// Whether a part of the page tree, and so some pages, were lost.
    pub pages_lost: bool,
    /// Whether the object table of the file had to be rebuilt.
    pub rebuilt: bool,
    /// The parts that were left out, one sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Words in parts that no page accounts for.
    #[serde(default)]
    pub left_out: WordAccount,
    /// The outcomes of the parts of the file.
    #[serde(default)]
    pub parts: FileParts,
    /// The encoding of its text; `None` for valid UTF-8, and for a file that is not text. If there are several texts, the
    /// least certain encoding counts.
    #[serde(default)]
    pub encoding: Option<TextEncoding>,
}

/// Describes an answer that no reader of kb gives.
pub(crate) const INVALID: &str = "its answer is invalid";

/// Why a reader could not read a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFailure {
    /// The class of failure.
    pub failure: FailureKind,
    /// The message of the reader; may be empty.
    pub detail: String,
}

impl ReadFailure {
    pub fn new(failure: FailureKind, detail: impl Into<String>) -> Self {
        Self { failure, detail: detail.into() }
    }
}

impl From<ReadFailure> for Error {
    fn from(failed: ReadFailure) -> Self {
        Self::Extract { failure: failed.failure, detail: failed.detail }
    }
}

impl From<&ReadFailure> for AnswerLine {
    fn from(failed: &ReadFailure) -> Self {
        Self::Failed { code: failed.failure.as_str().to_owned(), detail: failed.detail.clone() }
    }
}

/// Returns the class with this code; [`FailureKind::Crashed`] for an unknown code.
pub fn failure_from_code(code: &str) -> FailureKind {
    let known = FailureKind::ALL.into_iter().find(|failure| failure.as_str() == code);
    known.unwrap_or(FailureKind::Crashed)
}

/// Serialises `line` as the bytes that cross the pipe, including the newline.
pub fn encode(line: &impl Serialize) -> Vec<u8> {
    // Only a map whose keys are not strings could fail, and there is none.
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Parses the output of [`encode`]; `None` for anything else.
pub fn decode<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(test)]
mod tests;
