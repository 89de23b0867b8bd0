//! Extracts the headings, paragraphs, items, tables, notes and objects of `content.xml`, slide by slide.
//!
//! The traversal is not recursive, as tables and frames may be nested to any depth.

use super::annotations::{self, Annotation};
use super::lists::OdfLists;
use super::objects::{Objects, OdfObject};
use super::styles::OdfStyles;
use crate::document::WordDestination;
use crate::extract::protocol::{ExtractedPage, ReadFailure};
use crate::flow::{self, FlowItem, FlowTables, MergedWith};
use crate::grid::CellSpan;
use crate::parts::is_description;
use crate::writer::BlockWriter;
use crate::xml::Element;

/// Elements whose text is not part of the document: removed text, pronunciations, pictures, what a program generates.
const LEFT_OUT: &[&str] = &[
    "tracked-changes", "ruby-text", "automatic-styles", "font-face-decls", "forms", "scripts",
    "index-title-template", "note-citation", "binary-data",
];

/// Frames whose text is the same on every slide.
const FURNITURE: &[&str] = &["header", "footer", "date-time", "page-number"];

/// Most blanks that one element stands for, and most repeated cells of a row: a few bytes could ask for a million.
const MAX_REPEATED: usize = 100;

/// How many annotations of a paragraph may be open at once; more would have to be searched for each that ends.
const MAX_OPEN_ANNOTATIONS: usize = 100;

/// Returns the slides, or a text as one page, up to the damage of the text.
pub(super) fn read(
    xml: &str,
    styles: OdfStyles,
    objects: Objects,
    omits_remarks: bool,
) -> (Vec<ExtractedPage>, Option<ReadFailure>) {
    let mut walk = OdfWalk { styles, objects, omits_remarks, ..OdfWalk::default() };
    let damage = match flow::each(xml, LEFT_OUT, |content| walk.on(content)) {
        Ok(left_out) => {
            walk.writer.left_out.merge(&left_out);
            None
        }
        Err(failed) => Some(failed),
    };
    walk.end_page();
    (walk.pages, damage)
}

/// An open paragraph or heading.
#[derive(Debug, Default)]
struct Paragraph {
    /// Level of a heading; 0 for a paragraph.
    level: u8,
    style: String,
    text: String,
    notes: Vec<String>,
    annotations: Vec<AnchoredAnnotation>,
}

/// An annotation in the open paragraph.
#[derive(Debug)]
struct AnchoredAnnotation {
    annotation: Annotation,
    /// Where the text that it is about starts, in bytes of the paragraph.
    start: usize,
}

#[derive(Default)]
struct OdfWalk {
    styles: OdfStyles,
    objects: Objects,
    omits_remarks: bool,
    pages: Vec<ExtractedPage>,
    /// Whether a slide has begun.
    has_slides: bool,
    writer: BlockWriter,
    paragraphs: Vec<Paragraph>,
    lists: OdfLists,
    tables: FlowTables,
    /// Whether the open rows are those of a head.
    is_in_head: bool,
    annotation: Option<Annotation>,
    /// Objects in open paragraphs and tables, which follow these.
    pending: Vec<OdfObject>,
    /// The open note: its text.
    note: Option<String>,
    num_notes: usize,
    /// The purpose of the open frame of a slide.
    class: String,
    title: String,
    /// Whether the speaker's notes have begun, and have text.
    notes_of_slide: Option<bool>,
    /// Whether the innermost element with text is a frame, and the description in it that is open.
    is_frame: bool,
    description: Option<String>,
}

impl OdfWalk {
    fn on(&mut self, content: FlowItem<'_>) {
        if let Some(annotation) = &mut self.annotation {
            if annotation.on(&content) {
                self.end_annotation();
            }
            return;
        }
        match content {
            FlowItem::Open(element) => self.open(element),
            FlowItem::Close(name) => self.close(name),
            FlowItem::Formula(text) => self.push(&text),
            FlowItem::Text(text) => match &mut self.description {
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
        match element.name() {
            "p" | "h" => {
                self.is_frame = false;
                let is_heading = element.name() == "h";
                // A bound that fits a byte; the writer shows six levels.
                let level = element.number("outline-level").unwrap_or(1_usize).min(9);
                let level = if is_heading { u8::try_from(level).unwrap_or(9) } else { 0 };
                let style = element.attribute_or_empty("style-name");
                self.paragraphs.push(Paragraph { level, style, ..Paragraph::default() });
            }
            "s" => self.push(&" ".repeat(element.number("c").unwrap_or(1).min(MAX_REPEATED))),
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            "note" => self.note = Some(String::new()),
            "annotation" => self.annotation = Some(Annotation::begin(element)),
            "annotation-end" => self.quote(&element.attribute_or_empty("name")),
            "list" => self.lists.begin(element),
            "list-item" | "list-header" => self.lists.begin_item(element),
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
                self.class = element.attribute_or_empty("class");
            }
            "title" | "desc" if self.is_frame => self.description = Some(String::new()),
            "object" => {
                let reference = element.attribute("href");
                let object = reference.and_then(|reference| self.objects.take(&reference));
                match (object, self.paragraphs.last_mut()) {
                    (Some(OdfObject::Formula(formula)), Some(paragraph)) => {
                        paragraph.text.push_str(&format!(" {formula} "));
                    }
                    (object, _) => self.pending.extend(object),
                }
            }
            "table-header-rows" => self.is_in_head = true,
            "table-row" => {
                self.tables.begin_row();
                if self.is_in_head {
                    self.tables.declare_head();
                }
            }
            "table-cell" | "covered-table-cell" => {
                self.tables.begin_cell();
                let num_repeated = element.number("number-columns-repeated").unwrap_or(1);
                self.tables.repeat(num_repeated.clamp(1, MAX_REPEATED));
                if element.name() == "covered-table-cell" {
                    self.tables.merge(MergedWith::Spanning);
                }
                let rows = element.number("number-rows-spanned").unwrap_or(1);
                let columns = element.number("number-columns-spanned").unwrap_or(1);
                self.tables.span(CellSpan { rows, columns });
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" | "h" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.end_paragraph(paragraph);
                }
                self.write_objects();
            }
            "note" => {
                let Some(note) = self.note.take().filter(|note| !note.trim().is_empty()) else {
                    return;
                };
                // A note without text gets no number, as nothing would be behind it.
                self.num_notes += 1;
                let number = self.num_notes;
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.text.push_str(&format!("[^{number}]"));
                    paragraph.notes.push(format!("[^{number}]: {}", note.trim()));
                }
            }
            "list" => {
                self.lists.end();
                if self.lists.is_empty() {
                    self.writer.end_item();
                }
            }
            "table-cell" | "covered-table-cell" => self.tables.end_cell(),
            "table-header-rows" => self.is_in_head = false,
            "table" => {
                self.tables.end_into(&mut self.writer);
                self.write_objects();
            }
            "frame" | "custom-shape" => {
                self.is_frame = false;
                self.end_title();
                self.class.clear();
                self.write_objects();
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
        let Paragraph { level, style, text, mut notes, annotations } = paragraph;
        for AnchoredAnnotation { annotation, .. } in annotations {
            if self.omits_remarks {
                self.writer.left_out.add(WordDestination::Remarks, &annotation.remark.text);
            } else {
                notes.push(annotation.remark.paragraph());
            }
        }
        if FURNITURE.contains(&self.class.as_str()) {
            self.writer.left_out.add(WordDestination::RunningHead, &text);
        } else if let Some(note) = &mut self.note {
            for text in std::iter::once(&text).chain(&notes) {
                note.push_str(text.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
                note.push(' ');
            }
        } else if !self.tables.paragraph(&text, &mut notes) {
            self.write_paragraph(level, &style, &text, &notes);
        }
    }

    fn write_paragraph(&mut self, level: u8, style: &str, text: &str, notes: &[String]) {
        if self.styles.is_code(style) && self.lists.is_empty() {
            self.writer.code_line(text);
            if !notes.is_empty() {
                self.writer.end_code();
            }
        } else {
            self.writer.end_code();
            let is_prose = level == 0 && !self.styles.is_title(style);
            let is_title = self.class == "title" && self.notes_of_slide.is_none();
            if is_prose && !is_title && !self.lists.is_empty() && !text.trim().is_empty() {
                self.begin_notes(text);
                self.item(style, text, notes);
                return;
            }
            if is_title {
                self.title.push_str(text);
                self.title.push(' ');
            } else {
                self.begin_notes(text);
                match level {
                    0 if is_prose => self.writer.paragraph(text),
                    level => self.writer.heading(level.max(1), text),
                }
            }
        }
        if !notes.is_empty() {
            self.end_title();
        }
        notes.iter().for_each(|note| self.writer.paragraph(note));
    }

    /// Writes the heading of the notes of a slide before their first text.
    fn begin_notes(&mut self, text: &str) {
        if self.notes_of_slide == Some(false) && !text.trim().is_empty() {
            self.notes_of_slide = Some(true);
            self.writer.heading(2, "Notes");
        }
    }

    fn item(&mut self, style: &str, text: &str, notes: &[String]) {
        let depth = self.lists.depth();
        match self.lists.marker(&self.styles, style) {
            Some(marker) => self.writer.item(depth, &marker, text),
            None => self.writer.continue_item(depth, text),
        }
        notes.iter().for_each(|note| self.writer.continue_item(depth, note));
    }

    fn end_annotation(&mut self) {
        let Some(annotation) = self.annotation.take() else { return };
        match self.paragraphs.last_mut() {
            Some(paragraph) => {
                let start = paragraph.text.len();
                paragraph.annotations.push(AnchoredAnnotation { annotation, start });
            }
            None => {
                self.end_title();
                self.writer.remark(&annotation.remark, self.omits_remarks);
            }
        }
    }

    /// Ends the text that the annotation with this name is about, if it is in the open paragraph.
    fn quote(&mut self, name: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let mut recent = paragraph.annotations.iter_mut().rev().take(MAX_OPEN_ANNOTATIONS);
        if let Some(anchored) = recent.find(|anchored| anchored.annotation.name == name) {
            let text = paragraph.text.get(anchored.start..).unwrap_or_default();
            anchored.annotation.remark.about = annotations::quoted(text);
        }
    }

    /// Writes the objects of paragraphs and tables that have ended.
    fn write_objects(&mut self) {
        if self.pending.is_empty() || !self.paragraphs.is_empty() || self.tables.is_open() {
            return;
        }
        self.writer.end_code();
        self.end_title();
        for object in std::mem::take(&mut self.pending) {
            object.write(&mut self.writer);
        }
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
