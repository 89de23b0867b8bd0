//! Extracts the headings, paragraphs, items, tables and notes of `content.xml`, slide by slide.
//!
//! The traversal is not recursive, as tables and frames may be nested to any depth.

use std::collections::HashMap;

use super::styles::Styles;
use crate::document::Reason;
use crate::extract::protocol::{Page, ReadFailure};
use crate::flow::{self, Content, Tables};
use crate::parts::is_description;
use crate::writer::Writer;
use crate::xml::Element;

/// Elements whose text is not part of the document: removed text, remarks, pronunciations, what a program
/// generates.
const LEFT_OUT: &[&str] = &[
    "tracked-changes", "annotation", "ruby-text", "automatic-styles", "font-face-decls", "forms",
    "scripts", "index-title-template", "note-citation",
];

/// Frames whose text is the same on every slide.
const FURNITURE: &[&str] = &["header", "footer", "date-time", "page-number"];

/// Most blanks that one element stands for, and most repeated cells of a row.
const MAX_REPEATED: usize = 100;

/// Returns the slides, or a text as one page.
pub(super) fn read(
    xml: &str,
    styles: Styles,
    formulas: HashMap<String, String>,
) -> Result<Vec<Page>, ReadFailure> {
    let mut walk = Walk { styles, formulas, ..Walk::default() };
    let left_out = flow::each(xml, LEFT_OUT, |content| walk.on(content))?;
    walk.writer.left_out.merge(&left_out);
    walk.end_page();
    Ok(walk.pages)
}

/// An open paragraph or heading.
#[derive(Debug, Default)]
struct Paragraph {
    /// Level of a heading; 0 for a paragraph.
    level: u8,
    style: String,
    text: String,
    notes: Vec<String>,
}

/// An open list.
#[derive(Debug, Default)]
struct List {
    style: String,
    next: Option<u64>,
    /// Whether the open item has text.
    has_text: bool,
}

#[derive(Default)]
struct Walk {
    styles: Styles,
    formulas: HashMap<String, String>,
    pages: Vec<Page>,
    /// Whether a slide has begun.
    has_slides: bool,
    writer: Writer,
    paragraphs: Vec<Paragraph>,
    lists: Vec<List>,
    tables: Tables,
    /// The open note: its text.
    note: Option<String>,
    num_notes: usize,
    /// What the open frame of a slide is for.
    class: String,
    title: String,
    /// Whether the speaker's notes have begun, and have text.
    notes_of_slide: Option<bool>,
    /// Whether the innermost element with text is a frame, and the description in it that is open.
    is_frame: bool,
    description: Option<String>,
}

impl Walk {
    fn on(&mut self, content: Content<'_>) {
        match content {
            Content::Open(element) => self.open(element),
            Content::Close(name) => self.close(name),
            Content::Formula(text) => self.push(&text),
            Content::Text(text) => match &mut self.description {
                Some(description) => description.push_str(text),
                // Line breaks in the file are blanks.
                None => self.push(&text.replace(['\n', '\r', '\t'], " ")),
            },
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        let value = |name: &str| element.attribute(name);
        let number = |name: &str| value(name).and_then(|number| number.parse::<usize>().ok());
        match element.name() {
            "p" | "h" => {
                self.is_frame = false;
                let is_heading = element.name() == "h";
                let level = number("outline-level").unwrap_or(1).min(9);
                let level = if is_heading { u8::try_from(level).unwrap_or(9) } else { 0 };
                let style = value("style-name").unwrap_or_default();
                self.paragraphs.push(Paragraph { level, style, ..Paragraph::default() });
            }
            "s" => self.push(&" ".repeat(number("c").unwrap_or(1).min(MAX_REPEATED))),
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            "note" => self.note = Some(String::new()),
            "list" => self.open_list(value("style-name")),
            "list-item" | "list-header" => {
                if let Some(list) = self.lists.last_mut() {
                    list.has_text = false;
                    if let Some(start) = number("start-value") {
                        list.next = list.next.map(|_| u64::try_from(start).unwrap_or(1));
                    }
                }
            }
            "table" => {
                self.writer.end_code();
                self.tables.begin();
            }
            "page" => {
                if self.has_slides {
                    self.end_page();
                }
                self.has_slides = true;
            }
            "notes" => {
                self.end_title();
                self.notes_of_slide = Some(false);
            }
            "frame" | "custom-shape" => {
                self.is_frame = true;
                self.class = value("class").unwrap_or_default();
            }
            "title" | "desc" if self.is_frame => self.description = Some(String::new()),
            "object" => {
                let folder = value("href").unwrap_or_default();
                let folder = folder.trim_start_matches("./");
                let formula = self.formulas.get(folder).map(|formula| format!(" {formula} "));
                self.push(&formula.unwrap_or_default());
            }
            "table-row" => self.tables.begin_row(),
            "table-cell" | "covered-table-cell" => {
                let num_filled = number("number-columns-repeated").unwrap_or(1);
                self.tables.begin_cell(num_filled.clamp(1, MAX_REPEATED));
            }
            _ => {}
        }
    }

    fn open_list(&mut self, style: Option<String>) {
        let inherited = self.lists.last().map(|list| list.style.clone());
        let style = style.or(inherited).unwrap_or_default();
        let numbering = self.styles.numbering(&style, self.lists.len() + 1);
        let next = numbering.map(|(start, _)| start);
        self.lists.push(List { style, next, has_text: false });
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" | "h" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.end_paragraph(paragraph);
                }
            }
            "note" => {
                let Some(note) = self.note.take().filter(|note| !note.trim().is_empty()) else {
                    return;
                };
                self.num_notes += 1;
                let number = self.num_notes;
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.text.push_str(&format!("[^{number}]"));
                    paragraph.notes.push(format!("[^{number}]: {}", note.trim()));
                }
            }
            "list" => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.writer.end_item();
                }
            }
            "table-cell" | "covered-table-cell" => self.tables.end_cell(),
            "table" => self.tables.end_into(&mut self.writer),
            "frame" | "custom-shape" => {
                self.is_frame = false;
                self.end_title();
                self.class.clear();
            }
            "title" | "desc" => {
                if let Some(description) = self.description.take()
                    && is_description(&description)
                {
                    match self.paragraphs.last_mut() {
                        Some(paragraph) => paragraph.text.push_str(&format!(" {description} ")),
                        None => self.writer.paragraph(&description),
                    }
                }
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self, paragraph: Paragraph) {
        let Paragraph { level, style, text, mut notes } = paragraph;
        if FURNITURE.contains(&self.class.as_str()) {
            self.writer.left_out.add(Reason::RunningHead, &text);
            return;
        }
        if let Some(note) = &mut self.note {
            note.push_str(text.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
            note.push(' ');
            return;
        }
        if self.tables.paragraph(&text, &mut notes) {
            return;
        }
        if self.styles.is_code(&style) && self.lists.is_empty() {
            self.writer.code_line(&text);
            return;
        }
        self.writer.end_code();
        if self.class == "title" && self.notes_of_slide.is_none() {
            self.title.push_str(&text);
            self.title.push(' ');
            return;
        }
        if self.notes_of_slide == Some(false) && !text.trim().is_empty() {
            self.notes_of_slide = Some(true);
            self.writer.heading(2, "Notes");
        }
        if level > 0 {
            self.writer.heading(level, &text);
        } else if self.styles.is_title(&style) {
            self.writer.heading(1, &text);
        } else if !self.lists.is_empty() && !text.trim().is_empty() {
            self.item(&text, &notes);
            return;
        } else {
            self.writer.paragraph(&text);
        }
        notes.iter().for_each(|note| self.writer.paragraph(note));
    }

    fn item(&mut self, text: &str, notes: &[String]) {
        let depth = self.lists.len() - 1;
        let Some(list) = self.lists.last_mut() else { return };
        if list.has_text {
            self.writer.continue_item(depth, text);
        } else {
            list.has_text = true;
            let marker = match &mut list.next {
                Some(next) => {
                    let number = *next;
                    *next = next.saturating_add(1);
                    let numbering = self.styles.numbering(&list.style, depth + 1);
                    format!("{number}{}", numbering.map_or(".", |(_, suffix)| suffix))
                }
                None => "-".to_owned(),
            };
            self.writer.item(depth, &marker, text);
        }
        notes.iter().for_each(|note| self.writer.continue_item(depth, note));
    }

    fn end_title(&mut self) {
        let title = std::mem::take(&mut self.title);
        self.writer.heading(1, &title);
    }

    /// Ends the open slide, or the text.
    fn end_page(&mut self) {
        self.writer.end_code();
        self.end_title();
        self.notes_of_slide = None;
        let number = u32::try_from(self.pages.len() + 1).unwrap_or(u32::MAX);
        self.pages.push(std::mem::take(&mut self.writer).page(number));
    }
}
