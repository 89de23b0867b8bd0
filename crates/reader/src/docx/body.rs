//! Extracts the paragraphs, headings, items and tables of `document.xml`.
//!
//! The traversal is not recursive, as tables and text boxes may be nested to any depth.

use super::lists::{BULLET, Lists};
use super::notes::Notes;
use super::styles::Styles;
use crate::extract::protocol::ReadFailure;
use crate::flow::{self, Content, Tables};
use crate::parts::is_description;
use crate::writer::Writer;
use crate::xml::Element;

/// Elements whose text is not part of the document: text from before a change, fallbacks for older
/// programs, pronunciations of words.
const LEFT_OUT: &[&str] =
    &["Fallback", "moveFrom", "pPrChange", "rPrChange", "tblPrChange", "tcPrChange", "rt"];

/// Most columns that a cell may span.
const MAX_SPAN: usize = 50;

/// Returns the text of a document.
pub(super) fn read(
    xml: &str,
    styles: Styles,
    lists: Lists,
    notes: Notes,
) -> Result<Writer, ReadFailure> {
    let mut walk = Walk { styles, lists, notes, ..Walk::default() };
    let left_out = flow::each(xml, LEFT_OUT, |content| walk.on(content))?;
    walk.writer.left_out.merge(&left_out);
    Ok(walk.writer)
}

/// An open paragraph.
#[derive(Debug, Default)]
struct Paragraph {
    text: String,
    style: String,
    outline_level: Option<u8>,
    /// Number of its list; `0` removes it from the list of its style.
    list: Option<String>,
    list_level: Option<usize>,
    /// Notes that it refers to.
    notes: Vec<String>,
}

#[derive(Default)]
struct Walk {
    styles: Styles,
    lists: Lists,
    notes: Notes,
    writer: Writer,
    is_text: bool,
    /// Whether the current elements are paragraph properties.
    is_in_properties: bool,
    paragraphs: Vec<Paragraph>,
    tables: Tables,
}

impl Walk {
    fn on(&mut self, content: Content<'_>) {
        match content {
            Content::Open(element) => self.open(element),
            Content::Close(name) => self.close(name),
            Content::Text(text) if self.is_text => self.push(text),
            Content::Text(_) => {}
            Content::Formula(text) => self.push(&text),
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        let name = element.name();
        let value = || element.attribute("val");
        match name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "pPr" => self.is_in_properties = true,
            "t" => self.is_text = true,
            "tbl" => {
                self.writer.end_code();
                self.tables.begin();
            }
            "footnoteReference" | "endnoteReference" => {
                let id = element.attribute("id").unwrap_or_default();
                let note = self.notes.get(name, &id);
                if let (Some(note), Some(paragraph)) = (note, self.paragraphs.last_mut()) {
                    paragraph.text.push_str(&format!("[^{id}]"));
                    paragraph.notes.push(format!("[^{id}]: {note}"));
                }
            }
            _ if self.is_in_properties => {
                let Some(paragraph) = self.paragraphs.last_mut() else { return };
                match name {
                    "pStyle" => paragraph.style = value().unwrap_or_default(),
                    "outlineLvl" => {
                        paragraph.outline_level = value().and_then(|level| level.parse().ok());
                    }
                    "numId" => paragraph.list = value(),
                    "ilvl" => paragraph.list_level = value().and_then(|level| level.parse().ok()),
                    _ => {}
                }
            }
            "tab" => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "docPr" | "shape" => {
                let name = if name == "shape" { "alt" } else { "descr" };
                let description = element.attribute(name).unwrap_or_default();
                if is_description(&description) {
                    self.push(&format!(" {description} "));
                }
            }
            "tr" => self.tables.begin_row(),
            "tc" => self.tables.begin_cell(1),
            "gridSpan" => {
                let span = value().and_then(|columns| columns.parse().ok());
                self.tables.span(usize::clamp(span.unwrap_or(1), 1, MAX_SPAN) - 1);
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.is_text = false,
            "pPr" => self.is_in_properties = false,
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.end_paragraph(paragraph);
                }
            }
            "tc" => self.tables.end_cell(),
            "tbl" => self.tables.end_into(&mut self.writer),
            _ => {}
        }
    }

    fn end_paragraph(&mut self, paragraph: Paragraph) {
        let Paragraph { text, style, outline_level, list, list_level, mut notes } = paragraph;
        if self.tables.paragraph(&text, &mut notes) {
            return;
        }
        if self.styles.is_code(&style) {
            self.writer.code_line(&text);
            return;
        }
        self.writer.end_code();
        let level = outline_level.filter(|level| *level < 9).map(|level| level + 1);
        let list = self.list_of(&style, list, list_level).filter(|_| !text.trim().is_empty());
        if let Some(level) = level.or_else(|| self.styles.heading_level(&style)) {
            let number = list.map(|(list, depth)| self.lists.marker(&list, depth));
            match number.filter(|number| number != BULLET) {
                Some(number) => self.writer.heading(level, &format!("{number} {text}")),
                None => self.writer.heading(level, &text),
            }
        } else if let Some((list, depth)) = list {
            let marker = self.lists.marker(&list, depth);
            self.writer.item(depth, &marker, &text);
            notes.iter().for_each(|note| self.writer.continue_item(depth, note));
            return;
        } else {
            self.writer.paragraph(&text);
        }
        notes.iter().for_each(|note| self.writer.paragraph(note));
    }

    /// Returns the list of a paragraph and its level; the paragraph's properties override those of
    /// its style.
    fn list_of(
        &self,
        style: &str,
        list: Option<String>,
        level: Option<usize>,
    ) -> Option<(String, usize)> {
        let (list, level) = match list {
            Some(list) => (list, level.unwrap_or(0)),
            None => self.styles.list(style)?,
        };
        (list != "0").then_some((list, level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        let styles = Styles::read(
            "<w:styles><w:style w:styleId='h2'><w:name w:val='heading 2'/></w:style>\
             <w:style w:styleId='pre'><w:name w:val='HTML Preformatted'/></w:style></w:styles>",
        );
        let lists = Lists::read(
            "<w:numbering><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'>\
             <w:numFmt w:val='decimal'/></w:lvl></w:abstractNum>\
             <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num></w:numbering>",
        );
        let mut notes = Notes::default();
        notes.read(
            "<w:footnote w:id='1'><w:p><w:r><w:t>By the gate.</w:t></w:r></w:p></w:footnote>",
        );
        let blocks = read(body, styles, lists, notes).unwrap().finish();
        assert_eq!(blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>(), expected);
    }

    fn paragraph(properties: &str, text: &str) -> String {
        format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    }

    #[test]
    fn headings_paragraphs_and_notes_are_written() {
        let body = paragraph("<w:pStyle w:val='h2'/>", "Float gauge")
            + "<w:p><w:r><w:t>Read it at</w:t><w:tab/><w:t>noon</w:t><w:footnoteReference \
               w:id='1'/></w:r><w:r><w:br/><w:t>daily.</w:t></w:r></w:p>";
        check(&body, &["## Float gauge", "Read it at noon[^1]\ndaily.", "[^1]: By the gate."]);
    }

    #[test]
    fn items_are_numbered() {
        let item = |level: usize, list: u8, text: &str| {
            paragraph(
                &format!(
                    "<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr>\
                     <w:tabs><w:tab w:val='left'/></w:tabs>"
                ),
                text,
            )
        };
        let body = item(0, 1, "one") + &item(1, 1, "below") + &item(0, 1, "two") + &item(0, 0, "x");
        check(&body, &["1. one\n  1. below", "2. two", "x"]);
    }

    #[test]
    fn tables_are_read() {
        let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("", text));
        let wide = "<w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p/></w:tc>";
        let inner = format!("<w:tc><w:tbl><w:tr>{}</w:tr></w:tbl></w:tc>", cell("in"));
        let body = format!(
            "<w:tbl><w:tr>{}{}</w:tr><w:tr>{wide}</w:tr><w:tr>{inner}{}</w:tr></w:tbl>",
            cell("Code"),
            cell("Meaning"),
            cell("dry"),
        );
        check(&body, &["| Code | Meaning |\n| --- | --- |\n| in | dry |"]);
    }

    #[test]
    fn text_that_is_not_content_is_left_out() {
        let body = "<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val='h2'/></w:pPr></w:pPrChange>\
                    </w:pPr><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:del><w:r>\
                    <w:delText>old</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText>\
                    <w:t>new</w:t></w:r></w:p>";
        check(body, &["new"]);
    }

    #[test]
    fn formulas_and_descriptions_of_pictures_are_text() {
        let body = "<w:p><w:r><w:t>So </w:t></w:r><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r>\
                    <m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath><w:r><w:t> is.</w:t></w:r></w:p>\
                    <w:p><w:r><w:drawing><wp:docPr id='1' name='Picture 1' descr='A float in its well'/></w:drawing>\
                    <w:drawing><wp:docPr id='2' name='Picture 2' descr='scan of gauge.png'/></w:drawing></w:r></w:p>";
        check(body, &["So x^2 is.", "A float in its well"]);
    }

    #[test]
    fn a_numbered_heading_has_its_number() {
        let numbered =
            "<w:pStyle w:val='h2'/><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr>";
        check(
            &(paragraph(numbered, "Scope") + &paragraph(numbered, "Terms")),
            &["## 1. Scope", "## 2. Terms"],
        );
    }

    #[test]
    fn source_text_is_one_block() {
        let line = |text: &str| paragraph("<w:pStyle w:val='pre'/>", text);
        check(&(line("if a:") + &line("  b") + &line("") + "<w:p/>"), &["```\nif a:\n  b\n```"]);
    }

    #[test]
    fn a_text_box_is_read_once() {
        let text_box = paragraph("", "boxed");
        let body = format!(
            "<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>{text_box}</w:txbxContent>\
             </mc:Choice><mc:Fallback><w:txbxContent>{text_box}</w:txbxContent></mc:Fallback>\
             </mc:AlternateContent><w:t>around</w:t></w:r></w:p>"
        );
        check(&body, &["boxed", "around"]);
    }
}
