//! Holds the constructs that are open while Typst is read: content, arguments with the cells of a table, blocks and
//! statements.

use super::arguments::num_columns;
use crate::markup::writer::MarkupRow;

/// Most columns that a cell takes: a few bytes could ask for a million.
const MAX_SPAN: usize = 20;

/// A part of the text.
pub(super) enum TypstPiece {
    /// Markup, with the line of its first character; it continues the piece before.
    Text(u32, String),
    /// The end of a paragraph.
    Break(u32),
    Table(Vec<MarkupRow>),
    /// Source text on separate lines.
    Code {
        language: String,
        number: u32,
        text: String,
    },
}

/// An open bracket or statement.
pub(super) enum TypstFrame {
    /// Content in brackets after a function, or an argument; with the brackets in its words.
    Content { callee: String, pieces: Vec<TypstPiece>, num_brackets: usize },
    /// Arguments in parentheses; `argument` is the name of the open one.
    Arguments { function: String, argument: String, start: usize, cells: Cells },
    /// Code in braces.
    Block,
    /// A statement up to the end of its line; a name that it defines.
    Statement { is_silent: bool, is_control: bool, defined: Option<String> },
}

impl TypstFrame {
    /// Returns the function and the name of the open argument; `None` if it is not in arguments.
    pub(super) fn argument(&self) -> Option<(&str, &str)> {
        match self {
            Self::Arguments { function, argument, .. } => Some((function, argument)),
            _ => None,
        }
    }
}

/// Whether the arguments of a function describe the document: those of a template, or of `document`.
pub(super) fn states(function: &str) -> bool {
    function == "document" || function.ends_with(".with")
}

/// The cells of an open table.
#[derive(Default)]
pub(super) struct Cells {
    num_columns: usize,
    cells: Vec<MarkupRow>,
    /// How many columns the next cell takes; 0 for one.
    pub(super) next_span: usize,
}

impl Cells {
    /// Takes the value of an argument.
    pub(super) fn state(&mut self, argument: &str, value: &str) {
        if argument == "columns" || argument == "colspan" {
            self.num_columns = num_columns(value);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns the number that the argument `columns` or `colspan` states.
    pub(super) fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// Adds a cell.
    pub(super) fn push(&mut self, number: u32, text: String) {
        self.cells.push(MarkupRow { number, cells: vec![text] });
        let num_columns = std::mem::take(&mut self.next_span);
        self.widen(num_columns);
    }

    /// Lets the last cell take several columns.
    pub(super) fn widen(&mut self, num_columns: usize) {
        let num_columns = num_columns.min(MAX_SPAN);
        if let Some(last) = self.cells.last_mut().filter(|_| num_columns > 1) {
            last.cells.resize(num_columns, String::new());
        }
    }

    /// Returns the cells in rows.
    pub(super) fn rows(self) -> Vec<MarkupRow> {
        let num_columns = self.num_columns.max(1);
        let mut rows: Vec<MarkupRow> = Vec::new();
        for cell in self.cells {
            match rows.last_mut().filter(|row| row.cells.len() < num_columns) {
                Some(row) => row.cells.extend(cell.cells),
                None => rows.push(cell),
            }
        }
        rows
    }
}

/// Returns what a function makes of the content in brackets after it.
pub(super) fn called(callee: &str, pieces: Vec<TypstPiece>, number: u32) -> Vec<TypstPiece> {
    let text = |text: &str| TypstPiece::Text(number, text.to_owned());
    let (before, after) = match callee {
        "footnote" => (vec![text(" (")], text(")")),
        "heading" => (vec![TypstPiece::Break(number), text("= ")], TypstPiece::Break(number)),
        _ => return pieces,
    };
    before.into_iter().chain(pieces).chain([after]).collect()
}

/// Returns the words of pieces on one line.
pub(super) fn joined(pieces: &[TypstPiece]) -> String {
    let mut words = String::new();
    for piece in pieces {
        match piece {
            TypstPiece::Text(_, text) | TypstPiece::Code { text, .. } => words.push_str(text),
            TypstPiece::Break(_) => words.push(' '),
            TypstPiece::Table(rows) => {
                for cell in rows.iter().flat_map(|row| &row.cells) {
                    words.push(' ');
                    words.push_str(cell);
                }
            }
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
