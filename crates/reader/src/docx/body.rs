//! Extracts the paragraphs, headings, items and tables of `document.xml`.
//!
//! The traversal is not recursive, as tables and text boxes may be nested to any depth.

use std::collections::{BTreeMap, BTreeSet};

use super::attached::AttachedText;
use super::comments::OpenComments;
use super::lists::Lists;
use super::merged::MergedFiles;
use super::notes::DocxNotes;
use super::paragraph::{OpenParagraph, ParagraphOutput};
use super::runs::{LEFT_OUT, PropertiesOf, Runs};
use super::styles::DocxStyles;
use super::values::{is_on, value};
use crate::extract::protocol::{ReadFailure, Request};
use crate::figures::Figures;
use crate::flow::{self, FlowItem, FlowTables, MergedWith};
use crate::grid::CellSpan;
use crate::members;
use crate::writer::BlockWriter;
use crate::xml::Element;

/// The objects that the text of a document refers to.
#[derive(Debug, Default)]
pub(super) struct BodyReferences {
    pub(super) lists: Lists,
    pub(super) notes: DocxNotes,
    pub(super) comments: OpenComments,
    pub(super) figures: Figures,
    pub(super) merged: MergedFiles,
    /// The names of embedded files by the ids of their parts.
    pub(super) embedded: BTreeMap<String, String>,
}

/// The text of a document.
#[derive(Debug)]
pub(super) struct BodyText {
    pub(super) writer: BlockWriter,
    /// Why the text ends early.
    pub(super) damage: Option<ReadFailure>,
}

/// Reads the text of a document.
pub(super) fn read(
    xml: &str,
    styles: &DocxStyles,
    references: BodyReferences,
    request: &Request,
) -> BodyText {
    let mut walk = DocxWalk {
        styles,
        runs: Runs::new(xml, styles, request.keeps_all),
        references,
        writer: BlockWriter::default(),
        open: Vec::new(),
        joined: None,
        tables: FlowTables::default(),
        num_tables: 0,
        left_out: None,
        of_table: Vec::new(),
        request,
    };
    let outcome = flow::each(xml, LEFT_OUT, |content| walk.on(&content));
    let damage = match outcome {
        Ok(left_out) => {
            walk.writer.left_out.merge(&left_out);
            None
        }
        Err(damage) => Some(damage),
    };
    BodyText { writer: walk.finish(), damage }
}

/// A row or a cell that is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HiddenCells {
    /// The element that ends it.
    name: &'static str,
    /// The number of open tables.
    num_tables: usize,
}

struct DocxWalk<'a> {
    styles: &'a DocxStyles,
    runs: Runs<'a>,
    references: BodyReferences,
    writer: BlockWriter,
    open: Vec<OpenParagraph>,
    /// A paragraph that the next one continues.
    joined: Option<OpenParagraph>,
    tables: FlowTables,
    num_tables: usize,
    /// The outermost row or cell that is not shown.
    left_out: Option<HiddenCells>,
    /// The text to write after the outermost table.
    of_table: Vec<AttachedText>,
    request: &'a Request,
}

impl DocxWalk<'_> {
    fn on(&mut self, content: &FlowItem<'_>) {
        if let Some(text) = self.runs.on(content) {
            self.push(&text);
        }
        match content {
            // A comment on deleted text is shown, unlike the text.
            FlowItem::Open(element) if element.name() == "commentReference" => {
                self.comment(element);
            }
            _ if self.runs.is_deleted() => {}
            FlowItem::Open(element) => match self.runs.properties() {
                Some(described) => self.property(described, element),
                None => self.open(element),
            },
            FlowItem::Close(name) => self.close(name),
            FlowItem::Text(_) | FlowItem::Formula(_) => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.text.push_str(text);
            self.references.comments.push(text);
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "p" => {
                let joined = self.joined.take();
                self.open.push(joined.map_or_else(OpenParagraph::default, |joined| {
                    let OpenParagraph { text, attached, .. } = joined;
                    OpenParagraph { text, attached, ..OpenParagraph::default() }
                }));
            }
            "tbl" => {
                self.end_joined();
                self.writer.end_code();
                self.tables.begin();
                self.num_tables += 1;
            }
            "tr" => self.tables.begin_row(),
            "tc" => self.tables.begin_cell(),
            name @ ("footnoteReference" | "endnoteReference") => self.note(name, element),
            "commentRangeStart" => {
                self.references.comments.begin(element.attribute("id").unwrap_or_default());
            }
            "commentRangeEnd" => {
                self.references.comments.end(&element.attribute("id").unwrap_or_default());
            }
            "chart" => self.figure(element.relation()),
            "relIds" => self.figure(element.prefixed("dm")),
            "altChunk" => {
                let id = element.relation().unwrap_or_default();
                let blocks = self.references.merged.take(&id);
                self.attach(blocks.map(AttachedText::Blocks));
            }
            "OLEObject" | "objectEmbed" => self.embedded_file(element),
            _ => {}
        }
    }

    /// Reads a property of a paragraph, a row or a cell.
    fn property(&mut self, described: PropertiesOf, element: &Element<'_>) {
        let name = element.name();
        match described {
            PropertiesOf::Paragraph => {
                let Some(paragraph) = self.open.last_mut() else { return };
                match name {
                    "pStyle" => paragraph.style = value(element).unwrap_or_default(),
                    "outlineLvl" => {
                        paragraph.outline_level = element.number("val");
                    }
                    "numId" => paragraph.list = value(element),
                    "ilvl" => paragraph.list_level = element.number("val"),
                    "del" | "moveFrom" => paragraph.is_joined = true,
                    _ => {}
                }
            }
            PropertiesOf::Row => match name {
                "del" => self.leave_out("tr"),
                "hidden" if !self.request.keeps_all && is_on(value(element).as_deref()) => {
                    self.leave_out("tr");
                }
                "tblHeader" if is_on(value(element).as_deref()) => self.tables.declare_head(),
                "gridBefore" => self.tables.skip(number(value(element))),
                _ => {}
            },
            PropertiesOf::Cell => match name {
                "cellDel" => self.leave_out("tc"),
                "gridSpan" => {
                    let span = CellSpan { columns: number(value(element)), ..CellSpan::default() };
                    self.tables.span(span);
                }
                // Without a value, the cell continues the one above.
                "vMerge" if value(element).is_none_or(|value| value != "restart") => {
                    self.tables.merge(MergedWith::Above);
                }
                "hMerge" if value(element).is_none_or(|value| value != "restart") => {
                    self.tables.merge(MergedWith::Spanning);
                }
                _ => {}
            },
            PropertiesOf::Run | PropertiesOf::Control => {}
        }
    }

    /// Leaves out the row or the cell that is open, up to the end of the element with this name.
    fn leave_out(&mut self, name: &'static str) {
        self.left_out.get_or_insert(HiddenCells { name, num_tables: self.num_tables });
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => {
                if let Some(paragraph) = self.open.pop() {
                    if paragraph.is_joined {
                        self.joined = Some(paragraph);
                    } else {
                        self.end_paragraph(paragraph);
                    }
                }
            }
            "txbxContent" => self.end_joined(),
            "tc" => {
                self.end_joined();
                if !self.ends_left_out("tc") {
                    self.tables.end_cell();
                }
            }
            "tr" => {
                self.ends_left_out("tr");
            }
            "tbl" => {
                self.num_tables = self.num_tables.saturating_sub(1);
                self.end_table();
            }
            "body" => self.end_joined(),
            _ => {}
        }
    }

    /// Ends a row or a cell; returns whether it was left out.
    fn ends_left_out(&mut self, name: &'static str) -> bool {
        let closed = HiddenCells { name, num_tables: self.num_tables };
        self.left_out.take_if(|left_out| *left_out == closed).is_some()
    }

    /// Ends the innermost table.
    fn end_table(&mut self) {
        self.tables.end_into(&mut self.writer);
        if !self.tables.is_open() {
            for attached in std::mem::take(&mut self.of_table) {
                attached.write(&mut self.writer, self.request.omits_remarks);
            }
        }
    }

    fn note(&mut self, name: &str, element: &Element<'_>) {
        let id = element.attribute("id").unwrap_or_default();
        let Some(note) = self.references.notes.take(name, &id) else { return };
        if self.runs.is_hidden() {
            self.runs.leave_out(&note);
            return;
        }
        self.push(&format!("[^{id}]"));
        self.attach(Some(AttachedText::Line(format!("[^{id}]: {note}"))));
    }

    fn comment(&mut self, element: &Element<'_>) {
        let id = element.attribute("id").unwrap_or_default();
        let remarks = self.references.comments.place(&id);
        self.attach(remarks.into_iter().map(AttachedText::Remark));
    }

    fn figure(&mut self, id: Option<String>) {
        let figure = id.and_then(|id| self.references.figures.take(&id)).map(AttachedText::Figure);
        if !self.runs.is_hidden() {
            self.attach(figure);
        } else if let Some(figure) = figure {
            figure.leave_out(&mut self.writer);
        }
    }

    fn embedded_file(&mut self, element: &Element<'_>) {
        let id = element.relation().unwrap_or_default();
        let Some(name) = self.references.embedded.remove(&id) else { return };
        let line = members::reference(&name);
        if self.tables.is_open() {
            self.push(&format!(" {line} "));
        } else {
            self.attach(Some(AttachedText::Line(line)));
        }
    }

    /// Lets something follow the open paragraph, the open table, or the last block.
    fn attach(&mut self, all: impl IntoIterator<Item = AttachedText>) {
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.attached.extend(all);
        } else if self.tables.is_open() {
            self.of_table.extend(all);
        } else {
            self.end_joined();
            self.writer.end_code();
            for attached in all {
                attached.write(&mut self.writer, self.request.omits_remarks);
            }
        }
    }

    /// Ends a paragraph that no other one continues.
    fn end_joined(&mut self) {
        if let Some(paragraph) = self.joined.take() {
            self.end_paragraph(paragraph);
        }
    }

    fn end_paragraph(&mut self, mut paragraph: OpenParagraph) {
        self.references.comments.push(" ");
        if self.left_out.is_some() {
            self.runs.leave_out(&paragraph.text);
            for attached in paragraph.attached {
                attached.leave_out(&mut self.writer);
            }
            return;
        }
        if self.tables.paragraph(&paragraph.text, &mut Vec::new()) {
            self.of_table.append(&mut paragraph.attached);
            return;
        }
        let output = ParagraphOutput {
            styles: self.styles,
            lists: &mut self.references.lists,
            writer: &mut self.writer,
            omits_remarks: self.request.omits_remarks,
        };
        paragraph.write(output);
    }

    /// Returns the text, with content that has no place in it at the end.
    fn finish(mut self) -> BlockWriter {
        self.end_joined();
        let BodyReferences { comments, figures, merged, embedded, .. } =
            std::mem::take(&mut self.references);
        self.attach(merged.into_rest().map(AttachedText::Blocks));
        self.attach(figures.into_rest().map(AttachedText::Figure));
        self.attach(comments.into_rest().into_iter().map(AttachedText::Remark));
        let names = embedded.into_values().collect::<BTreeSet<_>>();
        self.attach(names.iter().map(|name| AttachedText::Line(members::reference(name))));
        self.writer.left_out.merge(&self.runs.into_left_out());
        self.writer
    }
}

/// Returns a number of columns; one if it is not stated.
fn number(value: Option<String>) -> usize {
    value.and_then(|value| value.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests;
