//! Extracts the sheets of a spreadsheet, whose cells have their text as shown, and the other content of the sheets.

use std::collections::BTreeMap;

use super::annotations::Annotation;
use super::objects::Objects;
use super::ranges;
use super::values::CellValue;
use crate::cell_names;
use crate::extract::protocol::ReadFailure;
use crate::flow::{self, FlowItem};
use crate::parts::is_description;
use crate::sheet::{Budget, SheetCell, SheetRows};
use crate::writer::BlockWriter;
use crate::xml::Element;

/// Elements that are not the content of sheets: removed cells, copies of other files.
const LEFT_OUT: &[&str] =
    &["tracked-changes", "dde-links", "automatic-styles", "font-face-decls", "binary-data"];

/// Elements that are drawn on a sheet, on a cell or apart from cells.
const DRAWN: &[&str] = &[
    "frame", "custom-shape", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path",
    "connector", "caption", "measure", "regular-polygon", "g",
];

/// Most columns of a sheet, as in the usual programs: a few bytes can say that a cell is repeated more often.
const MAX_COLUMNS: usize = 16_384;

/// Returns the sheets, up to the damage of the text.
pub(super) fn read(
    xml: &str,
    objects: Objects,
    omits_remarks: bool,
    budget: &mut Budget,
) -> (BlockWriter, Option<ReadFailure>) {
    let mut walk = SheetsWalk {
        writer: BlockWriter::default(),
        budget,
        objects,
        omits_remarks,
        sheet: None,
        heads: ranges::heads(xml),
        is_in_head: false,
        below: BlockWriter::default(),
        depth: 0,
        num_drawn: 0,
        row: 0,
        rows_repeated: 1,
        cells: Vec::new(),
        column: 0,
        columns_repeated: 1,
        num_rows: 1,
        num_columns: 1,
        value: CellValue::default(),
        annotation: None,
        text: String::new(),
        drawn_text: String::new(),
        is_text: false,
        has_text: false,
        is_full: false,
    };
    let outcome = flow::each(xml, LEFT_OUT, |content| walk.on(&content));
    match outcome {
        Ok(left_out) => {
            walk.writer.left_out.merge(&left_out);
            (walk.writer, None)
        }
        Err(failed) => (walk.writer, Some(failed)),
    }
}

struct SheetsWalk<'a> {
    writer: BlockWriter,
    budget: &'a mut Budget,
    objects: Objects,
    omits_remarks: bool,
    sheet: Option<SheetRows>,
    /// By sheet, the rows that are heads of ranges.
    heads: BTreeMap<String, Vec<u64>>,
    /// Whether the open row is declared a head.
    is_in_head: bool,
    /// The content of the open sheet besides cells.
    below: BlockWriter,
    /// Number of open tables; those in cells add no rows.
    depth: usize,
    /// Number of open elements that are drawn.
    num_drawn: usize,
    row: u64,
    rows_repeated: u64,
    cells: Vec<SheetCell>,
    column: usize,
    columns_repeated: usize,
    /// How many rows and columns the open cell takes.
    num_rows: u64,
    num_columns: u64,
    value: CellValue,
    annotation: Option<Annotation>,
    text: String,
    drawn_text: String,
    is_text: bool,
    /// Whether the open cell has a paragraph, which may be empty.
    has_text: bool,
    is_full: bool,
}

impl SheetsWalk<'_> {
    fn on(&mut self, content: &FlowItem<'_>) {
        if let Some(annotation) = &mut self.annotation {
            if annotation.on(content) {
                self.end_annotation();
            }
            return;
        }
        match content {
            FlowItem::Open(element) => self.open(element),
            FlowItem::Text(text) if self.is_text => self.push(text),
            FlowItem::Text(_) | FlowItem::Formula(_) => {}
            FlowItem::Close(name) => self.close(name),
        }
    }

    fn push(&mut self, text: &str) {
        let is_drawn = self.num_drawn > 0;
        (if is_drawn { &mut self.drawn_text } else { &mut self.text }).push_str(text);
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "table" => {
                self.depth += 1;
                if self.depth == 1 {
                    let name = element.attribute("name").unwrap_or_default();
                    let heads = self.heads.remove(&name).unwrap_or_default();
                    let mut sheet = SheetRows::new(name);
                    heads.into_iter().for_each(|row| sheet.declare_head_row(row));
                    self.sheet = Some(sheet);
                    self.row = 0;
                }
            }
            "table-header-rows" if self.depth == 1 => self.is_in_head = true,
            "table-row" if self.depth == 1 => {
                let repeated = element.attribute("number-rows-repeated");
                let repeated = repeated.and_then(|number| number.parse().ok());
                self.rows_repeated = repeated.unwrap_or(1).max(1);
                self.cells.clear();
                self.column = 0;
            }
            "table-cell" | "covered-table-cell" if self.depth == 1 => self.open_cell(element),
            "p" => {
                self.has_text |= self.num_drawn == 0;
                self.is_text = true;
                self.push(" ");
            }
            "s" | "tab" | "line-break" => self.push(" "),
            "annotation" => self.annotation = Some(Annotation::begin(element)),
            "object" => {
                let reference = element.attribute("href").unwrap_or_default();
                if let Some(object) = self.objects.take(&reference) {
                    object.write(&mut self.below);
                }
            }
            "title" | "desc" if self.num_drawn > 0 => {
                self.end_drawn_text();
                self.is_text = true;
            }
            name if DRAWN.contains(&name) => self.num_drawn += 1,
            _ => {}
        }
    }

    fn open_cell(&mut self, element: &Element<'_>) {
        self.num_rows = element.number("number-rows-spanned").unwrap_or(1);
        self.num_columns = element.number("number-columns-spanned").unwrap_or(1);
        let [columns, kind, value, date, time, boolean, string, currency, formula] = element
            .values([
                "number-columns-repeated",
                "value-type",
                "value",
                "date-value",
                "time-value",
                "boolean-value",
                "string-value",
                "currency",
                "formula",
            ]);
        let columns = columns.and_then(|number| number.parse().ok()).unwrap_or(1);
        self.columns_repeated = usize::max(columns, 1);
        self.value = CellValue {
            kind: kind.unwrap_or_default(),
            value: value.or(date).or(time).or(boolean).or(string).unwrap_or_default(),
            currency: currency.unwrap_or_default(),
            formula: formula.unwrap_or_default(),
        };
        self.text.clear();
        self.has_text = false;
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => {
                self.is_text = false;
                if self.num_drawn > 0 {
                    self.drawn_text.push('\n');
                }
            }
            "table-cell" | "covered-table-cell" if self.depth == 1 => self.end_cell(),
            "table-row" if self.depth == 1 => self.end_row(),
            "table-header-rows" if self.depth == 1 => self.is_in_head = false,
            "table" => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0
                    && let Some(sheet) = self.sheet.take()
                {
                    sheet.write(std::mem::take(&mut self.below), &mut self.writer);
                }
            }
            "title" | "desc" if self.num_drawn > 0 => {
                self.is_text = false;
                let description = std::mem::take(&mut self.drawn_text);
                if is_description(&description) {
                    self.below.paragraph(&description);
                }
            }
            name if self.num_drawn > 0 && DRAWN.contains(&name) => {
                self.num_drawn -= 1;
                self.end_drawn_text();
            }
            _ => {}
        }
    }

    /// Ends the text of a shape.
    fn end_drawn_text(&mut self) {
        let text = std::mem::take(&mut self.drawn_text);
        self.below.paragraph(&text);
    }

    fn end_annotation(&mut self) {
        let Some(Annotation { mut remark, .. }) = self.annotation.take() else { return };
        remark.about = cell_names::reference(self.column, self.row.saturating_add(1));
        self.below.remark(&remark, self.omits_remarks);
    }

    fn end_cell(&mut self) {
        let mut text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut is_value = !matches!(self.value.kind.as_str(), "" | "string");
        if !self.has_text && self.value.is_missing() {
            text = self.value.shown_formula();
            is_value = true;
            self.budget.num_formulas += 1;
        } else if !self.has_text {
            text = self.value.show();
        }
        let end = self.column.saturating_add(self.columns_repeated);
        if let Some(sheet) = self.sheet.as_mut().filter(|_| !text.is_empty()) {
            let num_columns = usize::try_from(self.num_columns).unwrap_or(usize::MAX);
            sheet.merge_at(self.row.saturating_add(1), self.column, self.num_rows, num_columns);
        }
        if !text.is_empty() && !self.is_full {
            for column in self.column..end.min(MAX_COLUMNS) {
                self.cells.push(SheetCell { column, text: text.clone(), is_value });
            }
        }
        self.column = end;
    }

    fn end_row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let first = self.row.saturating_add(1);
        self.row = self.row.saturating_add(self.rows_repeated);
        let Some(sheet) = self.sheet.as_mut().filter(|_| !cells.is_empty()) else { return };
        for number in first..=self.row {
            if self.is_full {
                return;
            }
            if self.is_in_head {
                sheet.declare_head_row(number);
            }
            self.is_full = !sheet.push(number, cells.clone(), self.budget);
        }
    }
}
