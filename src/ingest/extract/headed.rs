//! Headings, paragraphs, lists, tables and source text in, blocks in the spelling of Markdown out;
//! and those blocks in, a headed [`Document`] out.
//!
//! What HTML and DOCX have in common. A [`Writer`] runs in the reading child, [`to_document`] where
//! its answer arrives.

use super::markdown::{self, Piece};
use super::table;
use crate::document::{Document, Metadata};
use crate::error::Result;
use crate::ingest::extract::child::protocol::{Head, PageBlock, PageBlockKind};
use crate::ingest::extract::child::{ReadOptions, parent};

/// Reads a web page or a word processor's text, whichever `reader` reads.
///
/// # Errors
///
/// Those of [`super::pdf::extract`].
pub(super) fn extract(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Document> {
    let reading = parent::read(name, bytes, options)?;
    let blocks = reading.pages.into_iter().flat_map(|it| it.blocks).collect();
    Ok(to_document(reading.head, blocks))
}

/// Levels of headings that Markdown has.
const MAX_LEVEL: u8 = 6;

/// Deepest indentation of a list: what lies deeper is set below the same item.
const MAX_DEPTH: usize = 8;

/// Most cells a row is filled up to: a table is as wide as its widest row, and a span of columns is
/// the file's own claim.
const MAX_COLUMNS: usize = 100;

/// Spells out pieces in the order they come.
#[derive(Debug, Default)]
pub(in crate::ingest::extract) struct Writer {
    blocks: Vec<PageBlock>,
    /// The outermost item of a list that is not finished.
    item: String,
}

impl Writer {
    /// Returns what was written.
    pub(in crate::ingest::extract) fn finish(mut self) -> Vec<PageBlock> {
        self.end_item();
        self.blocks
    }

    /// Writes a heading; levels count from 1.
    pub(in crate::ingest::extract) fn heading(&mut self, level: u8, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            let level = level.clamp(1, MAX_LEVEL);
            self.push(PageBlockKind::Heading, level, mark(level) + &text);
        }
    }

    /// Writes prose.
    pub(in crate::ingest::extract) fn paragraph(&mut self, text: &str) {
        self.push(PageBlockKind::Paragraph, 0, tidy(text));
    }

    /// Writes source text between fences that it does not hold itself.
    pub(in crate::ingest::extract) fn code(&mut self, language: &str, text: &str) {
        let block = fenced(language, text);
        self.push(PageBlockKind::Code, 0, block);
    }

    /// Writes a table, its first row as the header; rows may differ in length. A table of one
    /// column is a list of paragraphs.
    pub(in crate::ingest::extract) fn table(&mut self, rows: Vec<Vec<String>>) {
        let clean = |cell: &String| tidy(cell).split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rows: Vec<Vec<String>> =
            rows.into_iter().map(|row| row.iter().take(MAX_COLUMNS).map(clean).collect()).collect();
        rows.retain(|row: &Vec<String>| row.iter().any(|it| !it.is_empty()));
        let num_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        if num_columns <= 1 {
            rows.iter().flatten().for_each(|it| self.paragraph(it));
            return;
        }
        rows.iter_mut().for_each(|it| it.resize(num_columns, String::new()));
        self.push(PageBlockKind::Table, 0, table::to_markdown(&rows));
    }

    /// Begins an item of a list; `depth` counts from 0, `marker` is `-` or `1.`.
    pub(in crate::ingest::extract) fn item(&mut self, depth: usize, marker: &str, text: &str) {
        if depth == 0 {
            self.end_item();
        }
        let text = tidy(text);
        if !text.is_empty() {
            self.push_lines(depth, &format!("{marker} "), &text);
        }
    }

    /// Goes on with an item of a list.
    pub(in crate::ingest::extract) fn item_goes_on(&mut self, depth: usize, text: &str) {
        let text = tidy(text);
        if !text.is_empty() {
            self.push_lines(depth, "  ", &text);
        }
    }

    /// Writes source text below an item of a list.
    pub(in crate::ingest::extract) fn item_code(&mut self, depth: usize, lang: &str, text: &str) {
        let text = fenced(lang, text);
        if !text.is_empty() {
            self.push_lines(depth, "  ", &text);
        }
    }

    /// Ends the item that was begun last, with all below it.
    pub(in crate::ingest::extract) fn end_item(&mut self) {
        if !self.item.is_empty() {
            let text = std::mem::take(&mut self.item);
            self.blocks.push(PageBlock::new(PageBlockKind::ListItem, 0, text));
        }
    }

    fn push_lines(&mut self, depth: usize, marker: &str, text: &str) {
        let indent = "  ".repeat(depth.min(MAX_DEPTH));
        for (idx, line) in text.lines().enumerate() {
            if !self.item.is_empty() {
                self.item.push('\n');
            }
            let lead = if idx == 0 { marker } else { "  " };
            self.item.push_str(format!("{indent}{lead}{line}").trim_end());
        }
    }

    fn push(&mut self, kind: PageBlockKind, level: u8, text: String) {
        if !text.trim().is_empty() {
            self.end_item();
            self.blocks.push(PageBlock::new(kind, level, text));
        }
    }
}

/// Returns what Markdown writes before a heading.
fn mark(level: u8) -> String {
    "#".repeat(level.into()) + " "
}

/// Returns source text between fences that it does not hold itself; nothing for blank text.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let text = text.trim_end();
    let text = text.trim_start_matches('\n');
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns text without what is there to steer line breaks, each run of blanks one space; line
/// breaks stay.
fn tidy(text: &str) -> String {
    let is_seen = |it: &char| {
        !matches!(it, '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
            && (it.is_whitespace() || !it.is_control())
    };
    let seen: String = text.chars().filter(is_seen).collect();
    let lines = seen.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Makes a document of what a reading child has written.
///
/// Its title is its first heading, if what the document calls itself says no more than a site's name
/// beside it; else that; else its first heading.
pub(in crate::ingest::extract) fn to_document(head: Head, blocks: Vec<PageBlock>) -> Document {
    let mut document = Document {
        metadata: Metadata {
            author: head.author.map(|it| tidy(&it)).filter(|it| !it.is_empty()),
            created: head.created,
            language: head.language,
            ..Metadata::default()
        },
        ..Document::default()
    };
    let mut pieces = Vec::with_capacity(blocks.len());
    for block in blocks {
        if !document.text.is_empty() {
            document.text.push_str("\n\n");
        }
        let start = document.text.len();
        document.text.push_str(&block.text);
        // As the Markdown stage reads a heading.
        let words = block.text.trim_start_matches('#').replace('`', "");
        pieces.push(Piece {
            bytes: start..document.text.len(),
            kind: block.kind.into(),
            heading: (block.level > 0).then(|| (block.level, markdown::to_heading(&words))),
        });
    }
    let stated = head.title.map(|it| markdown::to_heading(&it)).filter(|it| !it.is_empty());
    let first = pieces.iter().find_map(|it| it.heading.as_ref());
    document.title = stated.filter(|stated| {
        first.is_none_or(|(_, it)| !stated.to_lowercase().contains(&it.to_lowercase()))
    });
    markdown::settle(&mut document, pieces);
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(write: impl FnOnce(&mut Writer), expected: &[&str]) {
        let mut writer = Writer::default();
        write(&mut writer);
        let blocks = writer.finish();
        let texts: Vec<&str> = blocks.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_item_keeps_what_is_below_it() {
        check(
            |it| {
                it.item(0, "-", "tide  tables\nof 1902");
                it.item(1, "1.", "Brest");
                it.item_goes_on(1, "the oldest");
                it.item_code(0, "sh", "ls\n");
                it.item(0, "-", "gauges");
                it.paragraph("end");
            },
            &[
                "- tide tables\n  of 1902\n  1. Brest\n    the oldest\n  ```sh\n  ls\n  ```",
                "- gauges",
                "end",
            ],
        );
    }

    #[test]
    fn a_ragged_table_is_filled_up() {
        let row = |cells: &[&str]| cells.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        check(
            |it| it.table(vec![row(&["Code", "Meaning"]), row(&["E23"]), row(&["", " "])]),
            &["| Code | Meaning |\n| --- | --- |\n| E23 |  |"],
        );
        check(|it| it.table(vec![row(&["only"]), row(&["one"])]), &["only", "one"]);
    }

    #[test]
    fn nothing_makes_no_block() {
        check(
            |it| {
                it.heading(2, " \n");
                it.paragraph("\u{200B} ");
                it.code("", "\n \n");
                it.table(Vec::new());
                it.item(0, "-", "");
            },
            &[],
        );
    }

    #[test]
    fn source_text_keeps_its_shape() {
        check(|it| it.code("py", "\n  a\n\n    b\n\n"), &["```py\n  a\n\n    b\n```"]);
        check(|it| it.code("", "```"), &["````\n```\n````"]);
    }

    fn title(stated: Option<&str>, headings: &[(u8, &str)]) -> (Option<String>, Vec<Vec<String>>) {
        let mut writer = Writer::default();
        for (level, text) in headings {
            writer.heading(*level, text);
            writer.paragraph("words");
        }
        let head = Head { title: stated.map(str::to_owned), ..Head::default() };
        let document = to_document(head, writer.finish());
        (document.title, document.blocks.into_iter().map(|it| it.headings).collect())
    }

    #[test]
    fn a_title_without_the_name_of_its_site_is_the_title() {
        let (title, headings) = title(Some("Gauges | Harbour"), &[(1, "Gauges"), (2, "Float")]);
        assert_eq!(title.as_deref(), Some("Gauges"));
        assert_eq!(headings, [vec![], vec![], vec!["Float".to_owned()], vec!["Float".to_owned()]]);
    }

    #[test]
    fn what_a_document_calls_itself_is_its_title() {
        let (own, headings) = title(Some("Harbour handbook"), &[(1, "Gauges")]);
        assert_eq!((own.as_deref(), headings[1].len()), (Some("Harbour handbook"), 1));
        let (own, headings) = title(Some("kb list - handbook"), &[(2, "`kb list`"), (3, "Flags")]);
        assert_eq!((own.as_deref(), &*headings[3]), (Some("kb list"), &["Flags".to_owned()][..]));
        assert_eq!(title(None, &[(2, "Float")]).0.as_deref(), Some("Float"));
        assert_eq!(title(None, &[]).0, None);
    }
}
