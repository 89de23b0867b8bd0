//! Spells headings, paragraphs, lists, tables and source text as blocks of Markdown.
//!
//! HTML, EPUB and DOCX are written with it; the parent makes a document of the blocks (`extract/headed.rs`).

use super::markdown_table;
use crate::extract::markdown::spell::{fenced, tidy};
use crate::extract::protocol::{PageBlock, PageBlockKind};

/// Levels of headings that Markdown has.
const MAX_LEVEL: u8 = 6;

/// Deepest indentation of a list: what lies deeper is set below the same item.
const MAX_DEPTH: usize = 8;

/// Most cells a row is filled up to: a table is as wide as its widest row, and a span of columns is
/// the file's own claim.
const MAX_COLUMNS: usize = 100;

/// Spells out pieces in the order they come.
#[derive(Debug, Default)]
pub(super) struct Writer {
    blocks: Vec<PageBlock>,
    /// The outermost item of a list that is not finished.
    item: String,
}

impl Writer {
    /// Returns what was written.
    pub(super) fn finish(mut self) -> Vec<PageBlock> {
        self.end_item();
        self.blocks
    }

    /// Writes a heading; levels count from 1.
    pub(super) fn heading(&mut self, level: u8, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            let level = level.clamp(1, MAX_LEVEL);
            self.push(PageBlockKind::Heading, level, mark(level) + &text);
        }
    }

    /// Writes prose.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.push(PageBlockKind::Paragraph, 0, tidy(text));
    }

    /// Writes source text between fences that it does not hold itself.
    pub(super) fn code(&mut self, language: &str, text: &str) {
        let block = fenced(language, text);
        self.push(PageBlockKind::Code, 0, block);
    }

    /// Writes a table, its first row as the header; rows may differ in length. A table of one
    /// column is a list of paragraphs.
    pub(super) fn table(&mut self, rows: Vec<Vec<String>>) {
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
        self.push(PageBlockKind::Table, 0, markdown_table::to_markdown(&rows));
    }

    /// Begins an item of a list; `depth` counts from 0, `marker` is `-` or `1.`.
    pub(super) fn item(&mut self, depth: usize, marker: &str, text: &str) {
        if depth == 0 {
            self.end_item();
        }
        let text = tidy(text);
        if !text.is_empty() {
            self.push_lines(depth, &format!("{marker} "), &text);
        }
    }

    /// Goes on with an item of a list.
    pub(super) fn item_goes_on(&mut self, depth: usize, text: &str) {
        let text = tidy(text);
        if !text.is_empty() {
            self.push_lines(depth, "  ", &text);
        }
    }

    /// Writes source text below an item of a list.
    pub(super) fn item_code(&mut self, depth: usize, lang: &str, text: &str) {
        let text = fenced(lang, text);
        if !text.is_empty() {
            self.push_lines(depth, "  ", &text);
        }
    }

    /// Ends the item that was begun last, with all below it.
    pub(super) fn end_item(&mut self) {
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
}
