//! Writes converted documents and the report of `kb convert` as JSON. Every key is always present; values
//! that do not apply are null.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::convert::{ConvertReport, ConvertedDocument, WrittenFile};
use crate::document::{Block, BlockKind, Document, FileParts, Markup, WordAccount};
use crate::ingest::FailedFile;
use crate::present::json::{VersionedAnswer, answer};
use crate::read::markdown;
use crate::text::decode::TextEncoding;
use crate::text::json::{Json, JsonLine};
use crate::text::paths::path_text;

/// A converted document.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConvertedJson<'a> {
    /// Absolute path of its file; null for standard input.
    path: Option<String>,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    doc_type: &'static str,
    /// How its bytes were read: `pdf`, `html`, `docx`, `python` and so on.
    format: &'static str,
    /// The title that the document states; null if it states none.
    title: Option<&'a str>,
    /// The author, as stated.
    author: Option<&'a str>,
    /// Date of creation, as stated.
    created: Option<&'a str>,
    /// Natural language, as stated.
    language: Option<&'a str>,
    /// Number of pages; null for a document without pages.
    page_count: Option<u32>,
    /// Tags that the document states.
    tags: &'a [String],
    /// The reader's warnings, one sentence each.
    warnings: &'a [String],
    /// Where its words went: how many of them for each reason, whatever pages are selected.
    words: Option<&'a WordAccount>,
    /// The outcome of each part of its file; null for a file without parts.
    parts: Option<&'a FileParts>,
    /// The encoding of its text and how it was found; null for sound UTF-8, and for a file that is not text.
    encoding: Option<&'a TextEncoding>,
    /// Its content in reading order.
    blocks: Vec<BlockJson<'a>>,
    /// The files embedded in it that can be read, with the path of its file, `//` and their names.
    members: Vec<Self>,
}

/// A block of a converted document.
#[derive(Serialize, JsonSchema)]
struct BlockJson<'a> {
    /// `heading`, `paragraph`, `list_item`, `table` or `code`.
    kind: &'static str,
    /// The headings above it, outermost first, without the title; those of a heading include itself.
    headings: &'a [String],
    /// Level of a heading, from 1; null for other blocks.
    level: Option<usize>,
    /// Qualified name of the definition that it belongs to; null outside source code.
    symbol: Option<&'a str>,
    /// Page, from 1; null for a document without pages.
    page: Option<u32>,
    /// The label of the page, if it is not its number.
    page_label: Option<String>,
    /// Its text: of a heading without marks, of code without fences, of a table as Markdown.
    text: String,
    /// The language of code, if it is stated or known.
    language: Option<String>,
    /// The cells of a table, row by row, the head first; null for other blocks.
    cells: Option<Vec<Vec<String>>>,
}

/// Writes a converted document.
pub fn converted(converted: &ConvertedDocument, out: &mut Json<'_>) -> io::Result<()> {
    answer(&converted_json(converted), out)
}

/// Returns the line of a converted document.
pub fn converted_line(converted: &ConvertedDocument) -> io::Result<JsonLine> {
    JsonLine::of(&VersionedAnswer::of(&converted_json(converted)))
}

fn converted_json(converted: &ConvertedDocument) -> ConvertedJson<'_> {
    let ConvertedDocument { path, format, document, levels, members } = converted;
    let markup = markdown::markup(document, *format);
    let blocks = document.blocks.iter().map(|block| BlockJson {
        level: (block.kind == BlockKind::Heading).then(|| levels.level(block)),
        ..block_json(document, block, markup)
    });
    let metadata = &document.metadata;
    let source = format.language().map(|language| language.as_str().to_owned());
    ConvertedJson {
        path: path.as_deref().map(path_text),
        doc_type: format.doc_type().as_str(),
        format: format.as_str(),
        title: document.title.as_deref(),
        author: metadata.author.as_deref(),
        created: metadata.created.as_deref(),
        language: metadata.language.as_deref(),
        page_count: metadata.page_count,
        tags: &document.tags,
        warnings: &metadata.warnings,
        words: metadata.words.as_ref(),
        parts: metadata.parts.as_ref(),
        encoding: metadata.encoding.as_ref(),
        members: members.iter().map(converted_json).collect(),
        blocks: blocks
            .map(|block| BlockJson { language: source.clone().or(block.language), ..block })
            .collect(),
    }
}

fn block_json<'a>(document: &'a Document, block: &'a Block, markup: Markup) -> BlockJson<'a> {
    let text = &document.text[block.bytes.clone()];
    let is_marked = markup == Markup::Markdown;
    let (text, language) = match block.kind {
        BlockKind::Heading if is_marked => (markdown::without_marks(text), None),
        BlockKind::Code if is_marked => markdown::without_fence(text),
        _ => (text.to_owned(), None),
    };
    BlockJson {
        kind: kind(block.kind),
        headings: &block.headings,
        level: None,
        symbol: block.symbol.as_deref(),
        page: block.page,
        page_label: block.page.and_then(|page| document.page_label(page)),
        cells: (block.kind == BlockKind::Table).then(|| markdown::cells(&text)),
        text,
        language,
    }
}

fn kind(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Heading => "heading",
        BlockKind::Paragraph => "paragraph",
        BlockKind::ListItem => "list_item",
        BlockKind::Table => "table",
        BlockKind::Code => "code",
    }
}

/// The report of `kb convert` into a folder.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConversionJson<'a> {
    /// Documents that were written.
    converted: usize,
    /// Files in folders that kb does not read.
    ignored: usize,
    /// Files that could not be converted.
    failed: usize,
    /// The files written, in the order in which they were found.
    documents: &'a [WrittenFile],
    /// Why each file failed.
    errors: Vec<FailedFile>,
    /// The readers' warnings, with the file.
    warnings: Vec<WarningJson>,
}

/// A reader's warning about a file.
#[derive(Serialize, JsonSchema)]
struct WarningJson {
    /// The file.
    path: String,
    /// One sentence, for people.
    warning: String,
}

/// Writes the report of a run that wrote to a folder.
pub fn conversion(report: &ConvertReport, out: &mut Json<'_>) -> io::Result<()> {
    let warnings = report
        .warnings
        .iter()
        .map(|(path, warning)| WarningJson { path: path_text(path), warning: warning.clone() });
    out.value(&VersionedAnswer::of(&ConversionJson {
        converted: report.written.len(),
        ignored: report.ignored,
        failed: report.failed.len(),
        documents: &report.written,
        errors: report.failed.iter().map(FailedFile::from).collect(),
        warnings: warnings.collect(),
    }))
}
