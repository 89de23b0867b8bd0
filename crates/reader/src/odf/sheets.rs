//! Extracts the sheets of a spreadsheet, whose cells have their text as shown.

use crate::extract::protocol::ReadFailure;
use crate::sheet::{Budget, Cell, Sheet};
use crate::writer::Writer;
use crate::xml::{self, Element, Event};

/// Elements that are not the content of cells: removed cells, remarks, drawings, copies of other files.
const LEFT_OUT: &[&str] =
    &["tracked-changes", "annotation", "shapes", "frame", "dde-links", "automatic-styles"];

/// Most columns of a sheet.
const MAX_COLUMNS: usize = 16_384;

pub(super) fn read(xml: &str) -> Result<(Writer, Budget), ReadFailure> {
    let mut walk = Walk { rows_repeated: 1, columns_repeated: 1, ..Walk::default() };
    xml::each(xml, |event| walk.on(event))?;
    Ok((walk.writer, walk.budget))
}

#[derive(Default)]
struct Walk {
    writer: Writer,
    budget: Budget,
    sheet: Option<Sheet>,
    depth_left_out: usize,
    /// Number of open tables; those in cells add no rows.
    depth: usize,
    row: u64,
    rows_repeated: u64,
    cells: Vec<Cell>,
    column: usize,
    columns_repeated: usize,
    is_value: bool,
    text: String,
    is_text: bool,
    is_full: bool,
}

impl Walk {
    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::Open(_) if self.depth_left_out > 0 => self.depth_left_out += 1,
            Event::Close(_) if self.depth_left_out > 0 => self.depth_left_out -= 1,
            Event::Open(element) if LEFT_OUT.contains(&element.name()) => self.depth_left_out = 1,
            Event::Open(element) => self.open(element),
            Event::Text(text) if self.is_text && self.depth_left_out == 0 => {
                self.text.push_str(text);
            }
            Event::Text(_) => {}
            Event::Close(name) => self.close(name),
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        let repeated = |name: &str| element.attribute(name).and_then(|number| number.parse().ok());
        match element.name() {
            "table" => {
                self.depth += 1;
                if self.depth == 1 {
                    let name = element.attribute("name").unwrap_or_default();
                    self.sheet = Some(Sheet::new(name));
                    self.row = 0;
                }
            }
            "table-row" if self.depth == 1 => {
                self.rows_repeated = repeated("number-rows-repeated").unwrap_or(1).max(1);
                self.cells.clear();
                self.column = 0;
            }
            "table-cell" | "covered-table-cell" if self.depth == 1 => {
                let columns = repeated("number-columns-repeated").unwrap_or(1).max(1);
                self.columns_repeated = usize::try_from(columns).unwrap_or(MAX_COLUMNS);
                let kind = element.attribute("value-type");
                self.is_value = kind.is_some_and(|kind| kind != "string");
                self.text.clear();
            }
            "p" => {
                self.is_text = true;
                self.text.push(' ');
            }
            "s" | "tab" | "line-break" => self.text.push(' '),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => self.is_text = false,
            "table-cell" | "covered-table-cell" if self.depth == 1 => self.end_cell(),
            "table-row" if self.depth == 1 => self.end_row(),
            "table" => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0
                    && let Some(sheet) = self.sheet.take()
                {
                    sheet.write(Writer::default(), &mut self.writer);
                }
            }
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = self.column.saturating_add(self.columns_repeated);
        if !text.is_empty() && !self.is_full {
            for column in self.column..end.min(MAX_COLUMNS) {
                self.cells.push(Cell { column, text: text.clone(), is_value: self.is_value });
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
            self.is_full = !sheet.push(number, cells.clone(), &mut self.budget);
        }
    }
}
