//! Keeps the formulas of a sheet, for the cells whose value is not in the file.

use std::collections::HashMap;

use crate::cell_names::reference;
use crate::xml::Element;

/// Most characters of a formula that other cells repeat: the file refers to it by a number, as often as it likes.
const MAX_SHARED: usize = 255;

/// What programs write before the names of newer functions, and do not show.
const PREFIXES: [&str; 2] = ["_xlfn.", "_xlws."];

#[derive(Debug, Default)]
pub(super) struct SheetFormulas {
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
    pub(super) fn open(&mut self, element: &Element<'_>) {
        let [kind, index] = element.values(["t", "si"]);
        self.is_present = true;
        self.index = index.filter(|_| kind.is_some_and(|kind| kind == "shared"));
        self.text.clear();
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends a cell. Returns its formula as shown if it has one, and no value.
    pub(super) fn end(&mut self, column: usize, row: u64, has_value: bool) -> Option<String> {
        if !std::mem::take(&mut self.is_present) {
            return None;
        }
        let index = self.index.take();
        if self.text.trim().is_empty() {
            let shared = index.and_then(|index| self.shared.get(&index));
            return shared.filter(|_| !has_value).cloned();
        }
        let formula = PREFIXES.iter().fold(self.text.trim().to_owned(), |formula, prefix| {
            if formula.contains(prefix) { formula.replace(prefix, "") } else { formula }
        });
        if let Some(index) = index {
            let start: String = formula.chars().take(MAX_SHARED).collect();
            let dots = if start.len() < formula.len() { "…" } else { "" };
            let shown = format!("={start}{dots} (as in {})", reference(column, row));
            self.shared.insert(index, shown);
        }
        (!has_value).then(|| format!("={formula}"))
    }
}
