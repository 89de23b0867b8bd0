//! Defines what crosses the pipe between `kb` and its reading child: a request line and the file's bytes one
//! way, one JSON object per line the other.
//!
//! ```text
//! → {"reader":…,"size_bytes":…,"max_memory_bytes":…,…}\n then size_bytes bytes
//! ← {"document":{…}}\n {"page":{…}}\n … {"done":{…}}\n    or    {"failed":{…}}\n
//! → the next request, or the end of the input
//! ```
//!
//! A line is written whole or not at all, so what came before a crash can be trusted.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::document::BlockKind;
use crate::error::{Error, Failure};

/// First argument of a process that is a reading child.
pub(crate) const CHILD_COMMAND: &str = "__read";

/// Names of the readers of PDF, best first. A request names the reader it wants.
pub(in crate::extract) const PDF_READERS: [&str; 3] = ["hayro", "unpdf", "pdf-extract"];

/// Names of the other readers, as a request has them.
pub(in crate::extract) const HTML: &str = "html";
pub(in crate::extract) const DOCX: &str = "docx";
pub(in crate::extract) const EPUB: &str = "epub";
pub(in crate::extract) const IMAGE: &str = "image";
pub(in crate::extract) const OCR_OF_PDF: &str = "ocr-of-pdf";
pub(in crate::extract) const OCR_OF_IMAGE: &str = "ocr-of-image";

/// What the child is asked, in one line before the file's bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::extract) struct Request {
    /// Name of the reader to read it with.
    pub(in crate::extract) reader: String,
    /// How many bytes of the document follow.
    pub(in crate::extract) size_bytes: u64,
    /// Address space the child may take, in bytes.
    pub(in crate::extract) max_memory_bytes: u64,
    /// Processor time it may take, in seconds.
    pub(in crate::extract) cpu_seconds: u64,
    /// What each page adds to that, in milliseconds.
    pub(in crate::extract) cpu_ms_per_page: u64,
    /// Opens an encrypted file; never on the command line, where other users could see it.
    pub(in crate::extract) password: Option<String>,
    /// Who reads pictures of text, and of which pages; `None` where text is read as text.
    pub(in crate::extract) ocr: Option<OcrJob>,
}

/// What a child needs to have pictures of text read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct OcrJob {
    /// The program that reads them: Tesseract.
    pub(in crate::extract) program: PathBuf,
    /// Languages as it names them, joined by `+`.
    pub(in crate::extract) languages: String,
    /// Physical pages to read, from 1, in their order.
    pub(in crate::extract) pages: Vec<u32>,
}

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum Line {
    /// First: what the document says about itself.
    Document(Head),
    /// Then the pages in their order, also those that could not be read.
    Page(Page),
    /// Last, if all went well.
    Done(Tail),
    /// Last, if it did not.
    Failed {
        /// As [`Failure::code`] spells it.
        code: String,
        /// What the reader said.
        detail: String,
    },
}

/// What a document says about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::extract) struct Head {
    /// Title as stated, sensible or not.
    pub(in crate::extract) title: Option<String>,
    /// Author as stated.
    pub(in crate::extract) author: Option<String>,
    /// Date of creation, RFC 3339.
    pub(in crate::extract) created: Option<String>,
    /// Natural language as stated.
    pub(in crate::extract) language: Option<String>,
    /// Pages there are.
    pub(in crate::extract) page_count: u32,
    /// Bookmarks in reading order, parents before their children.
    pub(in crate::extract) outline: Vec<OutlineEntry>,
    /// What each page calls itself, in order; nothing where that is its number.
    #[serde(default)]
    pub(in crate::extract) labels: Vec<String>,
    /// What was typed into the fields of a form. Where they are on the pages is not known.
    #[serde(default)]
    pub(in crate::extract) fields: Vec<String>,
}

/// A bookmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct OutlineEntry {
    /// Its words.
    pub(in crate::extract) title: String,
    /// Depth, from 1.
    pub(in crate::extract) level: u8,
    /// Physical page it leads to, from 1.
    pub(in crate::extract) page: Option<u32>,
}

/// A page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::extract) struct Page {
    /// Physical number, from 1.
    pub(in crate::extract) number: u32,
    /// Size in points, as it is looked at; 0 from readers that do not tell.
    #[serde(default)]
    pub(in crate::extract) width: f64,
    #[serde(default)]
    pub(in crate::extract) height: f64,
    /// Pieces in reading order; none of them blank.
    pub(in crate::extract) blocks: Vec<PageBlock>,
    /// Instructions on the page that draw text, legible or not.
    pub(in crate::extract) num_text_ops: u32,
    /// Whether the page has no instructions that draw anything.
    #[serde(default)]
    pub(in crate::extract) is_blank: bool,
    /// Share of the page that pictures cover, 0 to 1.
    pub(in crate::extract) image_coverage: f64,
    /// Pieces of text whose characters could not be told.
    pub(in crate::extract) num_unreadable: u32,
    /// Why the page could not be read; `None` if it was.
    pub(in crate::extract) failed: Option<String>,
    /// What came of reading it as a picture of text; `None` if nobody tried.
    #[serde(default)]
    pub(in crate::extract) ocr: Option<OcrOutcome>,
}

/// What came of reading a page as a picture of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum OcrOutcome {
    /// Read; there may be no text on it.
    Read,
    /// Tesseract could not, which another run of it might.
    Refused(String),
    /// The page could not be drawn.
    Lost(String),
}

impl OcrOutcome {
    /// Returns why the page could not be read; `None` if it was.
    pub(in crate::extract) fn reason(&self) -> Option<&str> {
        match self {
            Self::Read => None,
            Self::Refused(reason) | Self::Lost(reason) => Some(reason),
        }
    }
}

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::extract) struct PageBlock {
    /// What the reader takes it for.
    pub(in crate::extract) kind: PageBlockKind,
    /// Rank of a heading from 1; 0 for everything else.
    pub(in crate::extract) level: u8,
    /// Its text; a table as lines of Markdown.
    pub(in crate::extract) text: String,
    /// Where it stands and how it looks; `None` from readers that do not tell.
    #[serde(default)]
    pub(in crate::extract) place: Option<Place>,
}

impl PageBlock {
    /// Returns a block of which only the text is known.
    pub(in crate::extract) fn new(kind: PageBlockKind, level: u8, text: impl Into<String>) -> Self {
        Self { kind, level, text: text.into(), place: None }
    }
}

/// Where a block stands, in points from the page's upper left corner, and how it looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::extract) struct Place {
    pub(in crate::extract) left: f64,
    pub(in crate::extract) top: f64,
    pub(in crate::extract) right: f64,
    pub(in crate::extract) bottom: f64,
    /// Height of its typeface.
    pub(in crate::extract) size: f64,
    /// Ink of its palest line, against that of most text of the page; 0 where it is not known.
    pub(in crate::extract) ink: f64,
    /// Whether its typeface is called bold.
    pub(in crate::extract) is_bold: bool,
    pub(in crate::extract) num_lines: u32,
}

/// [`BlockKind`] as it is written on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum PageBlockKind {
    /// A heading.
    Heading,
    /// Prose.
    Paragraph,
    /// An item of a list, its bullet or number with it.
    ListItem,
    /// A table in Markdown.
    Table,
    /// Lines set in a typewriter face.
    Code,
}

impl From<PageBlockKind> for BlockKind {
    fn from(kind: PageBlockKind) -> Self {
        match kind {
            PageBlockKind::Heading => Self::Heading,
            PageBlockKind::Paragraph => Self::Paragraph,
            PageBlockKind::ListItem => Self::ListItem,
            PageBlockKind::Table => Self::Table,
            PageBlockKind::Code => Self::Code,
        }
    }
}

impl From<BlockKind> for PageBlockKind {
    fn from(kind: BlockKind) -> Self {
        match kind {
            BlockKind::Heading => Self::Heading,
            BlockKind::Paragraph => Self::Paragraph,
            BlockKind::ListItem => Self::ListItem,
            BlockKind::Table => Self::Table,
            BlockKind::Code => Self::Code,
        }
    }
}

/// What a reader knows only when it is through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct Tail {
    /// Pages the file says it has, where it says so.
    pub(in crate::extract) declared_page_count: Option<u32>,
    /// Whether a part of the page tree was lost, and with it pages.
    pub(in crate::extract) pages_lost: bool,
    /// Whether the file's directory of objects had to be made anew.
    pub(in crate::extract) rebuilt: bool,
}

/// Why a reader gave up on a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) struct GaveUp {
    /// Its class.
    pub(in crate::extract) failure: Failure,
    /// What the reader said; may be empty.
    pub(in crate::extract) detail: String,
}

impl GaveUp {
    pub(in crate::extract) fn new(failure: Failure, detail: impl Into<String>) -> Self {
        Self { failure, detail: detail.into() }
    }
}

impl From<GaveUp> for Error {
    fn from(it: GaveUp) -> Self {
        Self::Extract { failure: it.failure, detail: it.detail }
    }
}

impl From<&GaveUp> for Line {
    fn from(it: &GaveUp) -> Self {
        Self::Failed { code: it.failure.code().to_owned(), detail: it.detail.clone() }
    }
}

/// Classes a reader may name, the most telling first: of several readers that gave up, the one
/// that knows why is quoted.
pub(in crate::extract) const BY_INFORMATION: [Failure; 9] = [
    Failure::PasswordNeeded,
    Failure::EncryptionNotSupported,
    Failure::WrongFormat,
    Failure::NotText,
    Failure::NoPages,
    Failure::OutOfMemory,
    Failure::TimedOut,
    Failure::Damaged,
    Failure::Crashed,
];

/// Returns the class spelt `code`; [`Failure::Crashed`] for a word that is none.
pub(in crate::extract) fn failure_from_code(code: &str) -> Failure {
    BY_INFORMATION.into_iter().find(|it| it.code() == code).unwrap_or(Failure::Crashed)
}

/// Writes `line` as the bytes that cross the pipe, newline included.
pub(in crate::extract) fn encode(line: &impl Serialize) -> Vec<u8> {
    // Only a map with keys that are no strings could fail, and there is none.
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reads what [`encode`] wrote; `None` for anything else.
pub(in crate::extract) fn decode<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

/// Takes bytes for lines of the protocol.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz(bytes: &[u8]) {
    if let Some(line) = decode::<Line>(bytes) {
        let again = encode(&line);
        assert!(decode::<Line>(&again).is_some());
    }
    let _ = decode::<Request>(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &Line) {
        let bytes = encode(line);
        assert_eq!(
            bytes.iter().filter(|&&it| it == b'\n').count(),
            1,
            "one line, whatever is in it"
        );
        assert_eq!(decode::<Line>(&bytes).as_ref(), Some(line));
    }

    #[test]
    fn every_line_comes_back_as_it_went() {
        check(&Line::Document(Head {
            title: Some("a\nb".into()),
            outline: vec![OutlineEntry { title: "1 \"One\"".into(), level: 1, page: None }],
            ..Head::default()
        }));
        check(&Line::Page(Page {
            number: 3,
            blocks: vec![PageBlock::new(PageBlockKind::Table, 0, "| a |\n| --- |\n| \u{1F30A} |")],
            image_coverage: 0.25,
            ..Page::default()
        }));
        check(&Line::Done(Tail { declared_page_count: Some(2), pages_lost: true, rebuilt: true }));
        check(&Line::from(&GaveUp::new(Failure::Damaged, "xref")));
    }

    #[test]
    fn every_class_is_known_by_its_code() {
        for failure in BY_INFORMATION {
            assert_eq!(failure_from_code(failure.code()), failure);
        }
        assert_eq!(failure_from_code("nonsense"), Failure::Crashed);
    }

    #[test]
    fn half_a_line_is_no_line() {
        let whole = encode(&Line::Done(Tail::default()));
        for end in 0..whole.len() - 1 {
            assert_eq!(decode::<Line>(&whole[..end]), None, "{end} bytes");
        }
    }
}
