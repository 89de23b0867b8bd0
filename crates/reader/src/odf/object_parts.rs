//! Reads the objects that are embedded in a document: formulas, charts, texts and spreadsheets, each in a separate
//! part.

use super::objects::{Objects, OdfObject};
use super::styles::OdfStyles;
use super::{body, sheets};
use crate::figures::Figure;
use crate::flow::{self, FlowItem, FlowTables};
use crate::grid::TableGrid;
use crate::math::{self, Formula};
use crate::sheet::Budget;
use crate::xml::{self, XmlEvent};

/// Returns the content of an object, up to its damage; `None` for one without words. The cells of all objects and sheets
/// of a file have one budget.
pub(super) fn read(xml: &str, omits_remarks: bool, budget: &mut Budget) -> Option<OdfObject> {
    let mut open_formula: Option<Formula> = None;
    let (mut formula, mut kind, mut is_body) = (None, String::new(), false);
    let _ = xml::each(xml, |event| match &mut open_formula {
        Some(open) => formula = formula.take().or(open.on(event)),
        None => {
            let XmlEvent::Open(element) = event else { return };
            if math::is_formula(element.name()) {
                open_formula.insert(Formula::default()).on(event);
            } else if std::mem::take(&mut is_body) {
                element.name().clone_into(&mut kind);
            }
            is_body = element.name() == "body";
        }
    });
    if let Some(text) = formula {
        return Some(OdfObject::Formula(text));
    }
    match kind.as_str() {
        "chart" => Some(OdfObject::Chart(chart(xml))),
        "spreadsheet" => {
            let (writer, _) = sheets::read(xml, Objects::default(), omits_remarks, budget);
            Some(OdfObject::Document(vec![writer.page(1)]))
        }
        "text" | "presentation" | "drawing" => {
            let mut styles = OdfStyles::default();
            styles.read(xml);
            let (pages, _) = body::read(xml, styles, Objects::default(), omits_remarks);
            Some(OdfObject::Document(pages))
        }
        _ => None,
    }
}

/// Returns the titles of a chart, and the table of its numbers.
fn chart(xml: &str) -> Figure {
    let (mut title, mut rows, mut tables) = (String::new(), Vec::new(), FlowTables::default());
    let (mut text, mut is_title, mut is_text) = (String::new(), false, false);
    let _ = flow::each(xml, &["automatic-styles"], |content| match content {
        FlowItem::Open(element) => match element.name() {
            "title" | "subtitle" | "footer" => is_title = true,
            "table" => tables.begin(),
            "table-row" => tables.begin_row(),
            "table-cell" => tables.begin_cell(),
            "p" => {
                is_text = true;
                text.clear();
            }
            "s" | "tab" | "line-break" => text.push(' '),
            _ => {}
        },
        FlowItem::Text(run) if is_text => text.push_str(run),
        FlowItem::Text(_) | FlowItem::Formula(_) => {}
        FlowItem::Close(name) => match name {
            "p" => {
                is_text = false;
                // A missing value is not a number.
                let is_number = !matches!(&*text, "NaN" | "1.#NAN");
                if is_title {
                    title.push_str(&text);
                    title.push(' ');
                } else if is_number {
                    tables.paragraph(&text, &mut Vec::new());
                }
            }
            "title" | "subtitle" | "footer" => is_title = false,
            "table-cell" => tables.end_cell(),
            "table" => rows.extend(tables.end().into_iter().flat_map(TableGrid::into_rows)),
            _ => {}
        },
    });
    Figure::of_table(title, rows)
}
