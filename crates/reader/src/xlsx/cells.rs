//! Reads the shared texts of a spreadsheet, and the cells of a sheet with their formulas.

use std::collections::HashMap;

use super::formats::Formats;
use crate::cell_names::{position, reference};
use crate::extract::protocol::ReadFailure;
use crate::parts::SalvagedPart;
use crate::sheet::{Budget, SheetCell, SheetRows};
use crate::xml::{self, Element, XmlEvent};

/// Most characters of a formula that other cells repeat: the file refers to it by a number, as often as it likes.
const MAX_SHARED_FORMULA: usize = 255;

/// Prefixes that programs write before the names of newer functions, and do not show.
const FUNCTION_PREFIXES: [&str; 2] = ["_xlfn.", "_xlws."];

/// The texts and formats that cells refer to.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) shared: Vec<String>,
    pub(super) formats: Formats,
}

/// The shared texts, in their order.
#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    pub(super) texts: Vec<String>,
    /// Why they end early.
    pub(super) damage: Option<ReadFailure>,
}

/// Reads the shared texts, without the pronunciations of words.
pub(super) fn shared(part: SalvagedPart) -> SharedTexts {
    let mut texts: Vec<String> = Vec::new();
    let (mut is_text, mut is_left_out) = (false, false);
    let outcome = xml::each(&part.text, |event| match event {
        XmlEvent::Open(element) => match element.name() {
            "si" => texts.push(String::new()),
            "t" => is_text = !is_left_out,
            "rPh" => is_left_out = true,
            _ => {}
        },
        XmlEvent::Text(run) if is_text => {
            if let Some(text) = texts.last_mut() {
                text.push_str(run);
            }
        }
        XmlEvent::Close("t") => is_text = false,
        XmlEvent::Close("rPh") => is_left_out = false,
        XmlEvent::Close(_) | XmlEvent::Text(_) => {}
    });
    SharedTexts { texts, damage: part.damage.or(outcome.err()) }
}

/// Reads the cells of a sheet, up to its damage.
pub(super) fn read(
    xml: &str,
    name: String,
    texts: &Texts,
    budget: &mut Budget,
) -> (SheetRows, Option<ReadFailure>) {
    let mut walk = SheetWalk {
        sheet: SheetRows::new(name),
        texts,
        budget,
        row: 0,
        cells: Vec::new(),
        cell: XlsxCell::default(),
        is_text: false,
        is_formula: false,
        is_pronunciation: false,
        is_full: false,
        formulas: SheetFormulas::default(),
    };
    let outcome = xml::each(xml, |event| walk.on(event));
    (walk.sheet, outcome.err())
}

/// An open cell.
#[derive(Debug, Default)]
struct XlsxCell {
    column: usize,
    /// How its value is stored: `s` for a shared text, `n` for a number.
    kind: String,
    style: usize,
    text: String,
    /// Whether it has an element for its value, which may be empty.
    has_value: bool,
}

struct SheetWalk<'a> {
    sheet: SheetRows,
    texts: &'a Texts,
    budget: &'a mut Budget,
    row: u64,
    cells: Vec<SheetCell>,
    cell: XlsxCell,
    is_text: bool,
    is_formula: bool,
    is_pronunciation: bool,
    is_full: bool,
    formulas: SheetFormulas,
}

impl SheetWalk<'_> {
    fn on(&mut self, event: XmlEvent<'_>) {
        match event {
            _ if self.is_full => {}
            XmlEvent::Open(element) => self.open(element),
            XmlEvent::Text(text) if self.is_text => self.cell.text.push_str(text),
            XmlEvent::Text(text) if self.is_formula => self.formulas.push(text),
            XmlEvent::Text(_) => {}
            XmlEvent::Close("v" | "t") => self.is_text = false,
            XmlEvent::Close("f") => self.is_formula = false,
            XmlEvent::Close("rPh") => self.is_pronunciation = false,
            XmlEvent::Close("c") => self.end_cell(),
            XmlEvent::Close("row") => {
                let cells = std::mem::take(&mut self.cells);
                self.is_full = !self.sheet.push(self.row, cells, self.budget);
            }
            XmlEvent::Close(_) => {}
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "row" => {
                let number = element.attribute("r").and_then(|number| number.parse().ok());
                self.row = number.unwrap_or(self.row.saturating_add(1));
                self.cells.clear();
            }
            "c" => {
                let next = self.cells.last().map_or(0, |cell| cell.column + 1);
                let [reference, kind, style] = element.values(["r", "t", "s"]);
                let column = reference.and_then(|reference| position(&reference));
                self.cell = XlsxCell {
                    column: column.map_or(next, |(column, _)| column),
                    kind: kind.unwrap_or_default(),
                    style: style.and_then(|style| style.parse().ok()).unwrap_or(0),
                    ..XlsxCell::default()
                };
            }
            "v" | "t" => {
                self.is_text = !self.is_pronunciation;
                self.cell.has_value = true;
            }
            "f" => {
                self.is_formula = true;
                self.formulas.open(element);
            }
            "rPh" => self.is_pronunciation = true,
            "mergeCell" => self.sheet.merge(&element.attribute("ref").unwrap_or_default()),
            "autoFilter" => self.sheet.declare_head(&element.attribute("ref").unwrap_or_default()),
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        let XlsxCell { column, kind, style, text, has_value } = std::mem::take(&mut self.cell);
        // A formula may give a text without letters.
        let has_value = !text.trim().is_empty() || (has_value && kind == "str");
        if let Some(formula) = self.formulas.end(column, self.row, has_value) {
            self.budget.num_formulas += 1;
            self.cells.push(SheetCell { column, text: formula, is_value: true });
            return;
        }
        let Texts { shared, formats } = self.texts;
        let format = formats.of(style);
        let text = if kind == "s" {
            let idx: Option<usize> = text.trim().parse().ok();
            idx.and_then(|idx| shared.get(idx)).map_or("", String::as_str)
        } else {
            &text
        };
        let (shown, is_value) = match kind.as_str() {
            "s" | "str" | "inlineStr" => (format.text(text), false),
            "b" => ((if text.trim() == "1" { "TRUE" } else { "FALSE" }).to_owned(), true),
            "e" | "d" => (text.to_owned(), true),
            _ => (format.number(text.trim(), formats.is_1904), true),
        };
        if shown.trim().is_empty() {
            self.sheet.hide(text);
        } else {
            self.cells.push(SheetCell { column, text: shown, is_value });
        }
    }
}

/// The formulas of a sheet, for the cells whose value is not in the file.
#[derive(Debug, Default)]
struct SheetFormulas {
    /// Formulas that several cells share, by their index, with the cell that has their text.
    shared: HashMap<String, String>,
    /// Whether the open cell has a formula.
    is_present: bool,
    /// The index of that formula, if it is shared.
    index: Option<String>,
    text: String,
}

impl SheetFormulas {
    /// Begins the formula of a cell.
    fn open(&mut self, element: &Element<'_>) {
        let [kind, index] = element.values(["t", "si"]);
        self.is_present = true;
        self.index = index.filter(|_| kind.is_some_and(|kind| kind == "shared"));
        self.text.clear();
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends a cell. Returns its formula as shown if it has one, and no value.
    fn end(&mut self, column: usize, row: u64, has_value: bool) -> Option<String> {
        if !std::mem::take(&mut self.is_present) {
            return None;
        }
        let index = self.index.take();
        if self.text.trim().is_empty() {
            let shared = index.and_then(|index| self.shared.get(&index));
            return shared.filter(|_| !has_value).cloned();
        }
        let formula =
            FUNCTION_PREFIXES.iter().fold(self.text.trim().to_owned(), |formula, prefix| {
                if formula.contains(prefix) { formula.replace(prefix, "") } else { formula }
            });
        if let Some(index) = index {
            let start: String = formula.chars().take(MAX_SHARED_FORMULA).collect();
            let dots = if start.len() < formula.len() { "…" } else { "" };
            let shown = format!("={start}{dots} (as in {})", reference(column, row));
            self.shared.insert(index, shown);
        }
        (!has_value).then(|| format!("={formula}"))
    }
}
