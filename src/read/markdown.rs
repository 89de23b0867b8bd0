//! Writes a document as Markdown. A pure function.

use crate::document::{Block, BlockKind, Data, Document, Format, HeadingLevels, Markup};
use crate::text::markdown;

pub use crate::text::markdown::{cells, without_fence, without_marks};

/// Returns a document as Markdown, with a line end if it is not empty.
///
/// Headings get as many `#` as their chain has headings, and one more if the title is a heading. Text that is already
/// Markdown and plain text are unchanged, and source code or data is one fenced block. With `has_page_marks`, a comment
/// with its number stands before each page with text.
pub fn markdown(
    document: &Document,
    format: Format,
    levels: HeadingLevels,
    has_page_marks: bool,
) -> String {
    let has_pages = document.blocks.iter().any(|block| block.page.is_some());
    let mut text = match markup(document, format) {
        Markup::Source => markdown::fenced(format.as_str(), &document.text),
        Markup::Verbatim | Markup::Markdown if !has_pages => document.text.trim_end().to_owned(),
        markup => by_blocks(document, markup, levels, has_page_marks),
    };
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Returns how the text of a document is written. Data that people read is not source: feeds are Markdown, and
/// conversations have plain text.
pub fn markup(document: &Document, format: Format) -> Markup {
    let is_prose = document.blocks.iter().any(|block| block.kind != BlockKind::Code);
    match format {
        Format::Data(Data::Xml) if is_prose => Markup::Markdown,
        Format::Data(_) if is_prose => Markup::Blocks,
        _ => format.markup(),
    }
}

fn by_blocks(
    document: &Document,
    markup: Markup,
    levels: HeadingLevels,
    has_page_marks: bool,
) -> String {
    let mut written = String::new();
    let mut page = None;
    let mut is_in_list = false;
    for block in &document.blocks {
        let text = &document.text[block.bytes.clone()];
        let text = match (markup, block.kind) {
            (Markup::Blocks, BlockKind::Heading) => markdown::heading(levels.level(block), text),
            (Markup::Blocks, BlockKind::ListItem) => markdown::list_item(text),
            (Markup::Blocks, BlockKind::Code) => markdown::fenced("", text),
            (Markup::Blocks, BlockKind::Paragraph) => markdown::prose(text),
            _ => text.to_owned(),
        };
        let is_item = markup == Markup::Blocks && block.kind == BlockKind::ListItem;
        if has_page_marks && block.page.is_some() && block.page != page {
            separate(&mut written, "\n\n");
            written += &page_mark(document, block);
            is_in_list = false;
        }
        page = block.page.or(page);
        separate(&mut written, if is_item && is_in_list { "\n" } else { "\n\n" });
        written += &text;
        is_in_list = is_item;
    }
    written
}

fn separate(written: &mut String, separator: &str) {
    if !written.is_empty() {
        written.push_str(separator);
    }
}

/// Returns the comment before a page: its number, and its label if that differs.
fn page_mark(document: &Document, block: &Block) -> String {
    let page = block.page.unwrap_or_default();
    match document.page_label(page) {
        // A comment must not end inside the label.
        Some(label) => format!("<!-- page {page} ({}) -->", label.replace("--", "-")),
        None => format!("<!-- page {page} -->"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(document: &Document, format: Format, has_page_marks: bool) -> String {
        markdown(document, format, HeadingLevels::of(document), has_page_marks)
    }

    /// Builds a document with pages from kinds, header chains and texts.
    fn document(blocks: &[(BlockKind, &[&str], u32, &str)]) -> Document {
        let mut document = Document::default();
        for (kind, headings, page, text) in blocks {
            if !document.text.is_empty() {
                document.text += "\n\n";
            }
            let start = document.text.len();
            document.text += text;
            document.blocks.push(Block {
                bytes: start..document.text.len(),
                kind: *kind,
                headings: headings.iter().map(|name| (*name).to_owned()).collect(),
                symbol: None,
                context: None,
                page: Some(*page),
                starts_section: false,
            });
        }
        document
    }

    #[test]
    fn blocks_of_pages_get_their_marks() {
        use BlockKind::{Code, Heading, ListItem, Paragraph, Table};
        let mut pages = document(&[
            (Heading, &[], 1, "Tide tables"),
            (Heading, &["1 Use"], 1, "1 Use"),
            (Paragraph, &["1 Use"], 1, "# of\nboats"),
            (ListItem, &["1 Use"], 1, "• one"),
            (ListItem, &["1 Use"], 1, "• two"),
            (Heading, &["1 Use", "1.1 More"], 2, "1.1\nMore"),
            (Table, &["1 Use", "1.1 More"], 2, "| a | b |\n| --- | --- |\n| 1 | 2 |"),
            (Code, &["1 Use", "1.1 More"], 2, "run `it`"),
        ]);
        pages.page_labels = vec!["i".into(), "2".into()];
        insta::assert_snapshot!(written(&pages, Format::Pdf, true), @r"
        <!-- page 1 (i) -->

        # Tide tables

        ## 1 Use

        \# of
        boats

        - one
        - two

        <!-- page 2 -->

        ### 1.1 More

        | a | b |
        | --- | --- |
        | 1 | 2 |

        ```
        run `it`
        ```
        ");
        assert!(!written(&pages, Format::Pdf, false).contains("page"));
    }

    #[test]
    fn text_of_pages_is_put_together_and_other_text_stays_as_it_is() {
        let of_pages = |format| {
            let mut pages = document(&[
                (BlockKind::Paragraph, &[], 1, "# one"),
                (BlockKind::Paragraph, &[], 2, "two"),
            ]);
            pages.text = pages.text.replace("\n\n", "  ");
            written(&pages, format, true)
        };
        for format in [Format::Text, Format::Markdown] {
            assert_eq!(of_pages(format), "<!-- page 1 -->\n\n# one\n\n<!-- page 2 -->\n\ntwo\n");
        }
        let mut plain = document(&[
            (BlockKind::Paragraph, &[], 1, "# one"),
            (BlockKind::Paragraph, &[], 1, "two"),
        ]);
        plain.text = plain.text.replace("\n\n", "  ");
        plain.blocks.iter_mut().for_each(|block| block.page = None);
        assert_eq!(written(&plain, Format::Text, true), "# one  two\n");
    }

    #[test]
    fn without_a_title_in_the_text_chapters_are_the_first_level() {
        let pages = document(&[(BlockKind::Heading, &["1 Use"], 1, "1 Use")]);
        assert_eq!(written(&pages, Format::Pdf, false), "# 1 Use\n");
    }

    #[test]
    fn data_that_people_read_is_not_fenced() {
        let chat = document(&[
            (BlockKind::Heading, &["Family"], 1, "Family"),
            (BlockKind::Paragraph, &["Family"], 1, "Jan: Yes\n# no heading"),
        ]);
        let format = Format::Data(Data::Json);
        assert_eq!(written(&chat, format, false), "# Family\n\nJan: Yes\n\\# no heading\n");
        let data = document(&[(BlockKind::Code, &[], 1, "{}")]);
        assert_eq!(written(&data, format, false), "```json\n{}\n```\n");
    }

    #[test]
    fn text_is_verbatim_and_source_is_fenced() {
        let text = Document { text: "# a\n\n\n*b*\n".into(), ..Document::default() };
        assert_eq!(written(&text, Format::Text, true), "# a\n\n\n*b*\n");
        assert_eq!(written(&text, Format::Markdown, true), "# a\n\n\n*b*\n");
        let source = Document { text: "let a = 1;\n".into(), ..Document::default() };
        let language = crate::document::Language::Rust;
        let fenced = written(&source, Format::Code(language), true);
        assert_eq!(fenced, "```rust\nlet a = 1;\n```\n");
        assert_eq!(written(&Document::default(), Format::Pdf, true), "");
    }
}
