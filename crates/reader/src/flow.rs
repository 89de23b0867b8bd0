//! Walks the bodies of office documents and books: emits their content without the elements that are left out, and
//! collects tables.
//!
//! Nothing here is recursive, as elements and tables may be nested to any depth.

use super::grid::{CellSpan, TableGrid};
use super::math::{self, Formula};
use super::writer::BlockWriter;
use super::xml::{self, Element, XmlEvent};
use super::{EarlyEnd, Emit};
use crate::document::{WordAccount, WordDestination};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};

/// The content of a file that is one XML document.
pub(super) struct WalkedXml {
    pub(super) head: DocumentHead,
    pub(super) writer: BlockWriter,
    /// Whether an element was met with which documents in the format begin.
    pub(super) has_root: bool,
}

impl WalkedXml {
    /// Emits its only page. `outcome` is that of [`each`]: the text before a damaged place is kept. `format` is the
    /// expected format of the file.
    pub(super) fn emit(
        mut self,
        outcome: Result<WordAccount, ReadFailure>,
        format: &str,
        emit: &mut Emit<'_>,
    ) -> Result<ReadingSummary, EarlyEnd> {
        if let Ok(left_out) = &outcome {
            self.writer.left_out.merge(left_out);
        }
        let page = self.writer.page(1);
        let mut warnings = Vec::new();
        match outcome {
            Ok(_) if !self.has_root => {
                let detail = format!("it is XML, not {format}");
                return Err(ReadFailure::new(FailureKind::WrongFormat, detail).into());
            }
            Ok(_) => {}
            Err(failed) if page.blocks.is_empty() => return Err(failed.into()),
            Err(ReadFailure { detail, .. }) => {
                warnings.push(format!("the text after the damaged part is missing: {detail}"));
            }
        }
        emit(AnswerLine::Document(self.head))?;
        emit(AnswerLine::Page(page))?;
        Ok(ReadingSummary { warnings, ..ReadingSummary::default() })
    }
}

/// The next item of a body.
#[derive(Clone)]
pub(super) enum FlowItem<'a> {
    /// The start of an element.
    Open(&'a Element<'a>),
    /// The end of an element with this name.
    Close(&'a str),
    /// Text.
    Text(&'a str),
    /// A formula, on one line.
    Formula(String),
}

/// Calls `on_content` for every item except elements whose names are in `left_out` and their content. Returns the words
/// of these elements.
pub(super) fn each(
    xml: &str,
    left_out: &[&str],
    mut on_content: impl FnMut(FlowItem<'_>),
) -> Result<WordAccount, ReadFailure> {
    let (mut words, mut reason) = (WordAccount::default(), None);
    // Open elements, counted from the one that is left out.
    let mut depth_left_out = 0_usize;
    let mut open_formula: Option<Formula> = None;
    xml::each(xml, |event| {
        if let Some(formula) = &mut open_formula {
            if let Some(text) = formula.on(event) {
                open_formula = None;
                on_content(FlowItem::Formula(text));
            }
            return;
        }
        match event {
            XmlEvent::Open(_) if depth_left_out > 0 => depth_left_out += 1,
            XmlEvent::Close(_) if depth_left_out > 0 => depth_left_out -= 1,
            XmlEvent::Text(text) if depth_left_out > 0 => {
                if let Some(reason) = reason {
                    words.add(reason, text);
                }
            }
            XmlEvent::Open(element) if left_out.contains(&element.name()) => {
                depth_left_out = 1;
                reason = match element.name() {
                    // Pictures and styles have no words.
                    "binary" | "binary-data" | "stylesheet" | "automatic-styles" => None,
                    // A copy of the same text for older programs.
                    "Fallback" => Some(WordDestination::Copy),
                    name if name.ends_with("-info") => Some(WordDestination::Markup),
                    _ => Some(WordDestination::Hidden),
                };
            }
            XmlEvent::Open(element) if math::is_formula(element.name()) => {
                open_formula.insert(Formula::default()).on(event);
            }
            XmlEvent::Open(element) => on_content(FlowItem::Open(element)),
            XmlEvent::Close(name) => on_content(FlowItem::Close(name)),
            XmlEvent::Text(text) => on_content(FlowItem::Text(text)),
        }
    })?;
    Ok(words)
}

/// The open tables, the innermost last.
#[derive(Debug, Default)]
pub(super) struct FlowTables {
    open: Vec<FlowTable>,
    /// Notes of the outermost table.
    notes: Vec<String>,
}

#[derive(Debug, Default)]
struct FlowTable {
    grid: TableGrid,
    cell: String,
    span: CellSpan,
    /// In how many columns the open cell is repeated.
    num_repeated: usize,
    is_head: bool,
    /// Whether the open cell is part of another one: the one above it, or one to the left or above that spans it.
    merged: Option<MergedWith>,
}

/// The cell that a merged one is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergedWith {
    /// The cell above it.
    Above,
    /// A cell that spans it.
    Spanning,
}

impl FlowTables {
    pub(super) fn begin(&mut self) {
        self.open.push(FlowTable::default());
    }

    pub(super) fn begin_row(&mut self) {
        if let Some(table) = self.open.last_mut() {
            table.grid.begin_row();
        }
    }

    /// Declares that the open row belongs to the head.
    pub(super) fn declare_head(&mut self) {
        if let Some(table) = self.open.last_mut() {
            table.grid.declare_head();
        }
    }

    /// Leaves out columns of the open row.
    pub(super) fn skip(&mut self, num_columns: usize) {
        if let Some(table) = self.open.last_mut() {
            table.grid.skip(num_columns);
        }
    }

    pub(super) fn begin_cell(&mut self) {
        if let Some(table) = self.open.last_mut() {
            (table.span, table.num_repeated, table.is_head) = (CellSpan::default(), 1, false);
            table.merged = None;
        }
    }

    /// Lets the open cell take several rows and columns.
    pub(super) fn span(&mut self, span: CellSpan) {
        if let Some(table) = self.open.last_mut() {
            table.span = span;
        }
    }

    /// Repeats the open cell in the columns after it.
    pub(super) fn repeat(&mut self, num_columns: usize) {
        if let Some(table) = self.open.last_mut() {
            table.num_repeated = num_columns;
        }
    }

    /// Declares that the open cell is a head of its column or row.
    pub(super) fn declare_head_cell(&mut self) {
        if let Some(table) = self.open.last_mut() {
            table.is_head = true;
        }
    }

    /// Lets the open cell be part of another one.
    pub(super) fn merge(&mut self, with: MergedWith) {
        if let Some(table) = self.open.last_mut() {
            table.merged = Some(with);
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Adds a paragraph to the open cell; returns whether a table is open.
    pub(super) fn paragraph(&mut self, text: &str, notes: &mut Vec<String>) -> bool {
        let Some(table) = self.open.last_mut() else { return false };
        table.cell.push_str(text);
        table.cell.push(' ');
        self.notes.append(notes);
        true
    }

    pub(super) fn end_cell(&mut self) {
        let Some(table) = self.open.last_mut() else { return };
        let text = std::mem::take(&mut table.cell);
        match table.merged {
            Some(MergedWith::Above) => table.grid.continue_above(text, table.span.columns),
            Some(MergedWith::Spanning) if text.trim().is_empty() => {
                table.grid.skip(table.num_repeated);
            }
            _ => {
                for _ in 1..table.num_repeated {
                    table.grid.cell(text.clone(), table.span);
                }
                table.grid.cell(text, table.span);
                if table.is_head {
                    table.grid.declare_head_cell();
                }
            }
        }
    }

    /// Ends the innermost table. Returns it if no table is open then; else its text becomes text of the outer cell.
    pub(super) fn end(&mut self) -> Option<TableGrid> {
        let table = self.open.pop()?;
        let Some(outer) = self.open.last_mut() else { return Some(table.grid) };
        for cell in table.grid.into_rows().flatten() {
            outer.cell.push_str(&cell);
            outer.cell.push(' ');
        }
        None
    }

    /// Ends the innermost table, and writes the outermost with its notes.
    pub(super) fn end_into(&mut self, writer: &mut BlockWriter) {
        if let Some(grid) = self.end() {
            writer.grid(grid);
            std::mem::take(&mut self.notes).iter().for_each(|note| writer.paragraph(note));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_left_out_with_all_that_is_in_them() {
        let mut seen = String::new();
        each("<a>1<b>2<c>3</c><b/>4</b>5<m:oMath><m:t>x</m:t></m:oMath></a>", &["b"], |content| {
            match content {
                FlowItem::Open(element) => seen += element.name(),
                FlowItem::Close(name) => seen += &name.to_uppercase(),
                FlowItem::Text(text) => seen += text,
                FlowItem::Formula(text) => seen += &format!("[{text}]"),
            }
        })
        .unwrap();
        assert_eq!(seen, "a15[x]A");
    }

    #[test]
    fn the_text_of_an_inner_table_belongs_to_the_outer_cell() {
        let mut tables = FlowTables::default();
        let mut notes = vec!["[^1]: seen".to_owned()];
        assert!(!tables.paragraph("outside", &mut notes));
        tables.begin();
        tables.begin_row();
        tables.begin_cell();
        tables.repeat(2);
        tables.begin();
        assert!(tables.paragraph("in", &mut notes));
        tables.end_cell();
        assert!(tables.end().is_none());
        tables.end_cell();
        tables.begin_cell();
        tables.paragraph("last", &mut notes);
        tables.end_cell();
        let mut writer = BlockWriter::default();
        tables.end_into(&mut writer);
        let blocks = writer.finish();
        assert_eq!(blocks[0].text, "| in | in | last |\n| --- | --- | --- |");
        assert_eq!(blocks[1].text, "[^1]: seen");
    }
}
