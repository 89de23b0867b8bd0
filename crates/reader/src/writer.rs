//! Formats headings, paragraphs, lists, tables and source code as Markdown blocks.
//!
//! The readers of web pages, books, office files and mail use it; the parent builds a document from the blocks
//! (`extract/headed.rs`).

use super::grid::{CopyBudget, FilledTable, TableGrid};
use crate::document::{BlockKind, WordAccount, WordDestination};
use crate::extract::markdown::spell::tidy;
use crate::extract::protocol::{ExtractedPage, PageBlock};
use crate::text::markdown::{self, fenced};

/// Number of heading levels in Markdown.
const MAX_LEVEL: u8 = 6;

/// Deepest indentation of a list; deeper items are not indented further, as their blanks would outweigh their text.
const MAX_DEPTH: usize = 8;

/// Most columns of a table; a wider one is divided into parts, as its rows are padded to the widest.
pub(super) const MAX_COLUMNS: usize = 100;

/// Collects blocks in order.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    /// Words that are not in the blocks.
    pub(super) left_out: WordAccount,
    blocks: Vec<PageBlock>,
    /// The copies that merged cells may still be filled with.
    copies: CopyBudget,
    /// The outermost list item that is not finished.
    item: String,
    /// Lines of source text, one paragraph of the document each.
    code_lines: String,
}

impl BlockWriter {
    /// Returns the blocks as the page with this number, from 1.
    pub(super) fn page(mut self, number: u32) -> ExtractedPage {
        let left_out = std::mem::take(&mut self.left_out);
        let num_copied_words = self.copies.num_words;
        let lacks_copies = self.copies.is_spent;
        let blocks = self.finish();
        ExtractedPage {
            number,
            blocks,
            left_out,
            num_copied_words,
            lacks_copies,
            ..ExtractedPage::default()
        }
    }

    pub(super) fn finish(mut self) -> Vec<PageBlock> {
        self.end_code();
        self.end_item();
        self.blocks
    }

    /// Whether nothing has been added.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.item.is_empty() && self.code_lines.is_empty()
    }

    /// Adds what another writer has collected.
    pub(super) fn append(&mut self, other: Self) {
        let page = other.page(1);
        self.account(&page);
        let blocks = page.blocks;
        if !blocks.is_empty() {
            self.blocks(blocks);
        }
    }

    /// Adds the account that a page gives of its words.
    fn account(&mut self, page: &ExtractedPage) {
        self.left_out.merge(&page.left_out);
        self.copies.merge(page.num_copied_words, page.lacks_copies);
    }

    /// Adds blocks that are finished.
    pub(super) fn blocks(&mut self, blocks: Vec<PageBlock>) {
        self.end_code();
        self.end_item();
        self.blocks.extend(blocks);
    }

    /// Adds a document that is embedded in this one. Its headings become paragraphs, as the text after it is not theirs.
    pub(super) fn embed(&mut self, page: ExtractedPage) {
        self.account(&page);
        self.end_code();
        for block in page.blocks {
            if block.level > 0 {
                self.paragraph(block.text.trim_start_matches(['#', ' ']));
            } else {
                self.end_item();
                self.blocks.push(block);
            }
        }
    }

    /// Adds a heading; levels start at 1.
    pub(super) fn heading(&mut self, level: u8, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            let level = level.clamp(1, MAX_LEVEL);
            self.push(BlockKind::Heading, level, heading_prefix(level) + &text);
        }
    }

    /// Adds prose.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.push(BlockKind::Paragraph, 0, tidy(text));
    }

    /// Adds source code between fences that do not occur in it.
    pub(super) fn code(&mut self, language: &str, text: &str) {
        let block = fenced(language, text);
        self.push(BlockKind::Code, 0, block);
    }

    /// Adds a line of source text; lines in a row become one block.
    pub(super) fn code_line(&mut self, line: &str) {
        self.code_lines.push_str(line);
        self.code_lines.push('\n');
    }

    /// Ends the lines of source text.
    pub(super) fn end_code(&mut self) {
        let lines = std::mem::take(&mut self.code_lines);
        self.code("", &lines);
    }

    /// Adds a table with the first row as its header; rows may differ in length. A table with one
    /// column becomes paragraphs.
    pub(super) fn table(&mut self, rows: Vec<Vec<String>>) {
        let beyond = rows.iter().flat_map(|row| row.iter().skip(MAX_COLUMNS));
        beyond.for_each(|cell| self.left_out.add(WordDestination::TooLong, cell));
        let mut rows: Vec<Vec<String>> = rows.into_iter().map(|row| clean_cells(&row)).collect();
        rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        self.rows(rows);
    }

    /// Adds a table whose cells may be merged, and the lines above it.
    pub(super) fn grid(&mut self, grid: TableGrid) {
        let FilledTable { above, mut rows, left_out, .. } = grid.fill(&mut self.copies);
        self.left_out.merge(&left_out);
        above.iter().for_each(|text| self.paragraph(text));
        let num_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        if num_columns <= MAX_COLUMNS {
            return self.rows(rows);
        }
        // A table with more columns becomes several, each with the labels of the first column.
        for start in (1..num_columns).step_by(MAX_COLUMNS - 1) {
            let part = rows.iter_mut().enumerate().filter_map(|(number, row)| {
                let (labels, cells) = row.split_at_mut(start);
                let num_cells = cells.len().min(MAX_COLUMNS - 1);
                let cells = &mut cells[..num_cells];
                let is_needed =
                    start == 1 || number == 0 || cells.iter().any(|cell| !cell.is_empty());
                if !is_needed {
                    return None;
                }
                let label = match start {
                    1 => labels[0].clone(),
                    _ => self.copies.copy(&labels[0]),
                };
                Some(std::iter::once(label).chain(cells.iter_mut().map(std::mem::take)).collect())
            });
            let part = part.collect();
            self.rows(part);
        }
    }

    /// Adds a table with its head.
    fn rows(&mut self, mut rows: Vec<Vec<String>>) {
        let num_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        if num_columns <= 1 {
            rows.iter().flatten().for_each(|cell| self.paragraph(cell));
            return;
        }
        rows.iter_mut().for_each(|row| row.resize(num_columns, String::new()));
        if rows.iter().flatten().any(|cell| !cell.is_empty()) {
            self.push(BlockKind::Table, 0, markdown::table(&rows));
        }
    }

    /// Begins a list item; `depth` starts at 0, `marker` is `-` or `1.`.
    pub(super) fn item(&mut self, depth: usize, marker: &str, text: &str) {
        if depth == 0 {
            self.end_item();
        }
        let text = tidy(text);
        if !text.is_empty() {
            self.push_lines(depth, &format!("{marker} "), &text);
        }
    }

    /// Continues a list item.
    pub(super) fn continue_item(&mut self, depth: usize, text: &str) {
        let text = tidy(text);
        if !text.is_empty() {
            self.push_lines(depth, "  ", &text);
        }
    }

    /// Adds source code below a list item.
    pub(super) fn item_code(&mut self, depth: usize, lang: &str, text: &str) {
        let text = fenced(lang, text);
        if !text.is_empty() {
            self.push_lines(depth, "  ", &text);
        }
    }

    /// Ends the current item with everything below it.
    pub(super) fn end_item(&mut self) {
        if !self.item.is_empty() {
            let text = std::mem::take(&mut self.item);
            self.blocks.push(PageBlock::new(BlockKind::ListItem, 0, text));
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

    fn push(&mut self, kind: BlockKind, level: u8, text: String) {
        if !text.trim().is_empty() {
            self.end_item();
            self.blocks.push(PageBlock::new(kind, level, text));
        }
    }
}

/// Returns the Markdown prefix of a heading.
fn heading_prefix(level: u8) -> String {
    "#".repeat(level.into()) + " "
}

/// Returns the cells of a row that have a column, each on one line.
fn clean_cells(row: &[String]) -> Vec<String> {
    let cells = row.iter().take(MAX_COLUMNS);
    cells.map(|cell| tidy(cell).split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(write: impl FnOnce(&mut BlockWriter), expected: &[&str]) {
        let mut writer = BlockWriter::default();
        write(&mut writer);
        let blocks = writer.finish();
        let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_item_keeps_its_nested_items() {
        check(
            |writer| {
                writer.item(0, "-", "tide  tables\nof 1902");
                writer.item(1, "1.", "Brest");
                writer.continue_item(1, "the oldest");
                writer.item_code(0, "sh", "ls\n");
                writer.item(0, "-", "gauges");
                writer.paragraph("end");
            },
            &[
                "- tide tables\n  of 1902\n  1. Brest\n    the oldest\n  ```sh\n  ls\n  ```",
                "- gauges",
                "end",
            ],
        );
    }

    #[test]
    fn a_ragged_table_is_padded() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        check(
            |writer| writer.table(vec![row(&["Code", "Meaning"]), row(&["E23"]), row(&["", " "])]),
            &["| Code | Meaning |\n| --- | --- |\n| E23 |  |"],
        );
        check(|writer| writer.table(vec![row(&["only"]), row(&["one"])]), &["only", "one"]);
    }

    #[test]
    fn an_embedded_document_has_no_headings() {
        let mut inner = BlockWriter::default();
        inner.heading(2, "Costs");
        inner.paragraph("Rope");
        let inner = inner.page(1);
        check(
            |writer| {
                writer.item(0, "-", "before");
                writer.embed(inner);
            },
            &["- before", "Costs", "Rope"],
        );
    }

    #[test]
    fn empty_content_makes_no_block() {
        check(
            |writer| {
                writer.heading(2, " \n");
                writer.paragraph("\u{200B} ");
                writer.code("", "\n \n");
                writer.table(Vec::new());
                writer.item(0, "-", "");
            },
            &[],
        );
    }

    #[test]
    fn source_code_keeps_its_indentation() {
        check(|writer| writer.code("py", "\n  a\n\n    b\n\n"), &["```py\n  a\n\n    b\n```"]);
        check(|writer| writer.code("", "```"), &["````\n```\n````"]);
    }
}
