//! Defines the protocol of the pipe between `kb` and its reading child. A request line and the
//! bytes of the file go one way, one JSON object per line the other.
//!
//! ```text
//! → {"reader":…,"size_bytes":…,"max_memory_bytes":…,…}\n then size_bytes bytes
//! ← {"document":{…}}\n {"page":{…}}\n … {"done":{…}}\n    or    {"failed":{…}}\n
//! → the next request, or the end of the input
//! ```
//!
//! A line is written completely or not at all, so lines from before a crash can be trusted.

mod page;

use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::document::Office;
use crate::error::{Error, Failure};

pub(in crate::extract) use page::{OcrOutcome, Page, PageBlock, PageBlockKind, Place};

/// Marks a gap in the text of a page that is wider than those between letters, but narrower than
/// most spaces. A noncharacter, which no text contains.
pub(in crate::extract) const NARROW_GAP: char = '\u{FDD0}';

/// First argument of a process that is a reading child.
pub(crate) const CHILD_COMMAND: &str = "__read";

/// Names of the readers of PDF, best first. A request names the reader it wants.
pub(in crate::extract) const PDF_READERS: [&str; 3] = ["hayro", "unpdf", "pdf-extract"];

/// Names of the other readers in a request.
pub(in crate::extract) const HTML: &str = "html";
pub(in crate::extract) const CODE: &str = "code";
pub(in crate::extract) const DOCX: &str = "docx";
pub(in crate::extract) const EPUB: &str = "epub";
pub(in crate::extract) const PPTX: &str = "pptx";
pub(in crate::extract) const XLSX: &str = "xlsx";
pub(in crate::extract) const ODT: &str = "odt";
pub(in crate::extract) const ODP: &str = "odp";
pub(in crate::extract) const ODS: &str = "ods";
pub(in crate::extract) const RTF: &str = "rtf";
pub(in crate::extract) const FB2: &str = "fb2";
pub(in crate::extract) const MHTML: &str = "mhtml";
pub(in crate::extract) const EML: &str = "eml";
pub(in crate::extract) const MBOX: &str = "mbox";
pub(in crate::extract) const MEMBERS_OF_ZIP: &str = "members-of-zip";
pub(in crate::extract) const MEMBERS_OF_EML: &str = "members-of-eml";
pub(in crate::extract) const MEMBERS_OF_MBOX: &str = "members-of-mbox";
pub(in crate::extract) const IMAGE: &str = "image";
pub(in crate::extract) const OCR_OF_PDF: &str = "ocr-of-pdf";
pub(in crate::extract) const OCR_OF_IMAGE: &str = "ocr-of-image";

/// Returns the reader of a kind of office document.
pub(in crate::extract) fn reader_of(office: Office) -> &'static str {
    match office {
        Office::Pptx => PPTX,
        Office::Xlsx => XLSX,
        Office::Odt => ODT,
        Office::Odp => ODP,
        Office::Ods => ODS,
        Office::Rtf => RTF,
        Office::Fb2 => FB2,
        Office::Mhtml => MHTML,
        Office::Eml => EML,
        Office::Mbox => MBOX,
    }
}

/// The request to the child, in one line before the bytes of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::extract) struct Request {
    /// Name of the reader to use.
    pub(in crate::extract) reader: String,
    /// Size of the document, which follows, in bytes.
    pub(in crate::extract) size_bytes: u64,
    /// Address space that the child may use, in bytes.
    pub(in crate::extract) max_memory_bytes: u64,
    /// Processor time that it may use, in seconds.
    pub(in crate::extract) cpu_seconds: u64,
    /// Additional processor time per page, in milliseconds.
    pub(in crate::extract) cpu_ms_per_page: u64,
    /// Opens an encrypted file; never on the command line, which other users could see.
    pub(in crate::extract) password: Option<String>,
    /// How to run OCR, and on which pages; `None` for reading text.
    pub(in crate::extract) ocr: Option<OcrJob>,
    /// The word of the language of source code, which is sent as UTF-8; `None` for anything else.
    #[serde(default)]
    pub(in crate::extract) language: Option<String>,
}

/// How a child runs OCR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct OcrJob {
    /// The OCR program: Tesseract.
    pub(in crate::extract) program: PathBuf,
    /// Languages as Tesseract names them, joined by `+`.
    pub(in crate::extract) languages: String,
    /// Physical pages to read, from 1, in order.
    pub(in crate::extract) pages: Vec<u32>,
}

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum Line {
    /// First: what the document states about itself.
    Document(Head),
    /// Then the pages in order, including those that could not be read.
    Page(Page),
    /// Instead of pages: the parts of source code.
    Source(Vec<SourceBlock>),
    /// Instead of pages: a file in a container.
    Member(MemberLine),
    /// Last, if the reader succeeded.
    Done(Tail),
    /// Last, if it failed.
    Failed {
        /// As [`Failure::code`] spells it.
        code: String,
        /// The message of the reader.
        detail: String,
    },
}

/// A part of source code. The text itself is not sent back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct SourceBlock {
    /// Range of bytes in the text.
    pub(in crate::extract) bytes: Range<usize>,
    /// As in [`Block`](crate::document::Block).
    pub(in crate::extract) symbol: Option<String>,
    /// As in [`Block`](crate::document::Block).
    pub(in crate::extract) context: Option<String>,
    /// As in [`Block`](crate::document::Block).
    pub(in crate::extract) starts_section: bool,
}

/// A file in a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct MemberLine {
    /// Its clean name.
    pub(in crate::extract) name: String,
    /// Its bytes in Base64; `None` if it failed.
    pub(in crate::extract) bytes: Option<String>,
    /// The code and the detail of its failure.
    pub(in crate::extract) failed: Option<(String, String)>,
}

/// What a document states about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::extract) struct Head {
    /// Title as stated, even if it is useless.
    pub(in crate::extract) title: Option<String>,
    /// Author as stated.
    pub(in crate::extract) author: Option<String>,
    /// Date of creation, RFC 3339.
    pub(in crate::extract) created: Option<String>,
    /// Natural language as stated.
    pub(in crate::extract) language: Option<String>,
    /// Number of pages.
    pub(in crate::extract) page_count: u32,
    /// Bookmarks in reading order, parents before their children.
    pub(in crate::extract) outline: Vec<OutlineEntry>,
    /// The label of each page, in order; empty if all labels are page numbers.
    #[serde(default)]
    pub(in crate::extract) labels: Vec<String>,
    /// The texts in the fields of a form. Their positions on the pages are not known.
    #[serde(default)]
    pub(in crate::extract) fields: Vec<String>,
}

/// A bookmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct OutlineEntry {
    /// Its text.
    pub(in crate::extract) title: String,
    /// Depth, from 1.
    pub(in crate::extract) level: u8,
    /// Physical page that it leads to, from 1.
    pub(in crate::extract) page: Option<u32>,
}

/// Facts that a reader knows only at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct Tail {
    /// Number of pages that the file declares, if it does.
    pub(in crate::extract) declared_page_count: Option<u32>,
    /// Whether a part of the page tree, and so some pages, were lost.
    pub(in crate::extract) pages_lost: bool,
    /// Whether the object table of the file had to be rebuilt.
    pub(in crate::extract) rebuilt: bool,
    /// What was left out, one sentence each.
    #[serde(default)]
    pub(in crate::extract) warnings: Vec<String>,
}

/// Why a reader could not read a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) struct ReadFailure {
    /// The class of failure.
    pub(in crate::extract) failure: Failure,
    /// The message of the reader; may be empty.
    pub(in crate::extract) detail: String,
}

impl ReadFailure {
    pub(in crate::extract) fn new(failure: Failure, detail: impl Into<String>) -> Self {
        Self { failure, detail: detail.into() }
    }
}

impl From<ReadFailure> for Error {
    fn from(failed: ReadFailure) -> Self {
        Self::Extract { failure: failed.failure, detail: failed.detail }
    }
}

impl From<&ReadFailure> for Line {
    fn from(failed: &ReadFailure) -> Self {
        Self::Failed { code: failed.failure.code().to_owned(), detail: failed.detail.clone() }
    }
}

/// Classes that a reader may report, the most informative first: if several readers fail, the most
/// informative failure is reported.
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

/// Returns the class with this code; [`Failure::Crashed`] for an unknown code.
pub(in crate::extract) fn failure_from_code(code: &str) -> Failure {
    BY_INFORMATION.into_iter().find(|failure| failure.code() == code).unwrap_or(Failure::Crashed)
}

/// Serialises `line` as the bytes that cross the pipe, including the newline.
pub(in crate::extract) fn encode(line: &impl Serialize) -> Vec<u8> {
    // Only a map whose keys are not strings could fail, and there is none.
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Parses the output of [`encode`]; `None` for anything else.
pub(in crate::extract) fn decode<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

/// Parses bytes as lines of the protocol, for fuzzing.
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
            bytes.iter().filter(|&&byte| byte == b'\n').count(),
            1,
            "one line, whatever is in it"
        );
        assert_eq!(decode::<Line>(&bytes).as_ref(), Some(line));
    }

    #[test]
    fn every_line_is_parsed_back_unchanged() {
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
        check(&Line::Source(vec![SourceBlock {
            bytes: 3..7,
            symbol: Some("a.b".into()),
            context: None,
            starts_section: true,
        }]));
        check(&Line::Member(MemberLine {
            name: "a/b.md".into(),
            bytes: None,
            failed: Some(("damaged".into(), "crc".into())),
        }));
        check(&Line::Done(Tail {
            declared_page_count: Some(2),
            pages_lost: true,
            rebuilt: true,
            warnings: vec!["rows were left out".into()],
        }));
        check(&Line::from(&ReadFailure::new(Failure::Damaged, "xref")));
    }

    #[test]
    fn every_class_is_found_by_its_code() {
        for failure in BY_INFORMATION {
            assert_eq!(failure_from_code(failure.code()), failure);
        }
        assert_eq!(failure_from_code("nonsense"), Failure::Crashed);
    }

    #[test]
    fn half_a_line_is_refused() {
        let whole = encode(&Line::Done(Tail::default()));
        for end in 0..whole.len() - 1 {
            assert_eq!(decode::<Line>(&whole[..end]), None, "{end} bytes");
        }
    }
}
