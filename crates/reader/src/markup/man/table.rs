//! Reads the tables of tbl, between `.TS` and `.TE`.

use super::escapes::plain;
use crate::markup::writer::{MarkupRow, SourceLine};

pub(super) fn rows(lines: &[SourceLine<'_>]) -> Vec<MarkupRow> {
    let mut separator = '\t';
    let mut at = 0;
    if let Some(options) = lines.first().filter(|line| line.text.trim_end().ends_with(';')) {
        if let Some(stated) = options.text.split("tab").nth(1) {
            separator = stated.trim_start().chars().nth(1).unwrap_or(separator);
        }
        at = 1;
    }
    // The formats of the columns end with a dot.
    at += lines[at..]
        .iter()
        .position(|line| line.text.trim_end().ends_with('.'))
        .map_or(0, |end| end + 1);
    let mut rows: Vec<MarkupRow> = Vec::new();
    let mut is_block = false;
    for line in &lines[at..] {
        let text = line.text;
        if is_block {
            let Some(cell) = rows.last_mut().and_then(|row| row.cells.last_mut()) else { break };
            match text.strip_prefix("T}") {
                Some(rest) => {
                    is_block = false;
                    if let (Some(row), Some(rest)) = (rows.last_mut(), rest.strip_prefix(separator))
                    {
                        is_block = push(row, rest, separator);
                    }
                }
                None if text.starts_with('.') => {
                    let words = text.split_once(' ').map_or("", |(_, words)| words);
                    cell.push(' ');
                    cell.push_str(&plain(words));
                }
                None => {
                    cell.push(' ');
                    cell.push_str(&plain(text));
                }
            }
            continue;
        }
        let is_rule = matches!(text.trim(), "_" | "=" | "") || text.starts_with('.');
        if is_rule {
            continue;
        }
        let mut row = MarkupRow { number: line.number, cells: Vec::new() };
        is_block = push(&mut row, text, separator);
        rows.push(row);
    }
    rows
}

/// Adds cells to a row; whether the last one continues up to `T}`.
fn push(row: &mut MarkupRow, text: &str, separator: char) -> bool {
    let mut is_block = false;
    for cell in text.split(separator) {
        is_block = cell.trim() == "T{";
        row.cells.push(if is_block { String::new() } else { plain(cell) });
    }
    is_block
}
