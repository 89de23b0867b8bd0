//! Reads the tables of AsciiDoc.

use crate::markup::writer::{MarkupRow, SourceLine};

/// Returns the number of columns that `[cols="1,2"]` states.
pub(super) fn num_columns(attributes: &str) -> Option<usize> {
    let rest = attributes.split_once("cols=")?.1;
    let stated = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split(',').next()?,
    };
    let columns = stated.split([',', ';']).map(|column| {
        let repeated = column.split_once('*').and_then(|(times, _)| times.trim().parse().ok());
        repeated.unwrap_or(1_usize)
    });
    // A few bytes could ask for a million columns.
    Some(columns.fold(0, usize::saturating_add)).filter(|number| (1..=1000).contains(number))
}

/// Returns the rows of a table. Without a stated number of columns, its first line has one row.
pub(super) fn rows(
    lines: &[SourceLine<'_>],
    mark: char,
    num_columns: Option<usize>,
) -> Vec<MarkupRow> {
    let separator = match mark {
        ',' | ':' | '!' => mark,
        _ => '|',
    };
    let mut cells: Vec<(u32, String)> = Vec::new();
    let mut width = num_columns;
    for line in lines {
        if line.text.starts_with("//") {
            continue;
        }
        // The cells before the second row are those of the first line.
        if width.is_none()
            && (line.is_blank() || line.text.starts_with(separator))
            && cells.len() > 1
        {
            width = Some(cells.len());
        }
        let is_new_row = matches!(separator, ',' | ':') && !line.is_blank();
        let mut parts = split(line.text, separator).into_iter();
        match parts.next() {
            Some(first) if is_new_row => cells.push((line.number, first)),
            Some(first) => {
                if let Some((_, cell)) = cells.last_mut() {
                    cell.push('\n');
                    cell.push_str(&first);
                }
            }
            None => {}
        }
        cells.extend(parts.map(|cell| (line.number, cell)));
    }
    let width = width.unwrap_or(cells.len()).max(1);
    let rows = cells.chunks(width).map(|cells| MarkupRow {
        number: cells[0].0,
        cells: cells.iter().map(|(_, cell)| cell.trim().to_owned()).collect(),
    });
    rows.collect()
}

/// Splits a line at its separators, without the format that may precede one: `2+^.>s|cell`.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut previous = ' ';
    for c in text.chars() {
        let cell = cells.last_mut().expect("there is a cell");
        if c == separator && previous == '\\' {
            cell.pop();
            cell.push(c);
        } else if c == separator {
            let word = cell.rsplit(char::is_whitespace).next().unwrap_or_default();
            if separator == '|' && is_format(word) {
                cell.truncate(cell.len() - word.len());
            }
            cells.push(String::new());
        } else {
            cell.push(c);
        }
        previous = c;
    }
    cells
}

fn is_format(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 8
        && word
            .chars()
            .all(|c| c.is_ascii_digit() || "+*.<>^".contains(c) || "adehlmsv".contains(c))
        && (word.len() == 1 || word.contains(['+', '*', '<', '>', '^']))
}
