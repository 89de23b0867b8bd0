//! Reads the tables of reStructuredText: grids, simple tables and comma-separated values.

use crate::markup::writer::{MarkupRow, SourceLine};

pub(super) struct RstTable {
    pub(super) rows: Vec<MarkupRow>,
    /// How many lines it takes.
    pub(super) num_lines: usize,
}

/// Reads a grid or a simple table at the first line; `None` if there is none.
pub(super) fn read(lines: &[SourceLine<'_>]) -> Option<RstTable> {
    let first = lines.first()?.text;
    if first.starts_with("+-") || first.starts_with("+=") {
        return grid(lines);
    }
    (first.starts_with("==") && first.contains(' ') && is_rule(first, '='))
        .then(|| simple(lines))?
}

fn is_rule(text: &str, mark: char) -> bool {
    !text.trim().is_empty() && text.chars().all(|c| c == mark || c == ' ')
}

/// A line whose columns are counted in characters.
struct Columns<'a> {
    text: &'a str,
    /// Where each character begins, unless each is one byte.
    starts: Option<Vec<usize>>,
}

impl<'a> Columns<'a> {
    fn of(text: &'a str) -> Self {
        let starts = (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect());
        Self { text, starts }
    }

    /// Returns the text between two columns; empty after the end of the line.
    fn between(&self, from: usize, to: usize) -> &'a str {
        &self.text[self.byte_at(from)..self.byte_at(to)]
    }

    /// Returns the text from the start of a cell to the start of the next one.
    fn cell(&self, starts: &[usize], idx: usize) -> &'a str {
        let to = starts.get(idx + 1).copied().unwrap_or(usize::MAX);
        self.between(starts[idx], to)
    }

    fn byte_at(&self, column: usize) -> usize {
        match &self.starts {
            Some(starts) => starts.get(column).copied().unwrap_or(self.text.len()),
            None => column.min(self.text.len()),
        }
    }
}

/// Adds a line to a cell of a row; the cells before it may be empty.
fn add_to(row: &mut MarkupRow, idx: usize, text: &str) {
    if row.cells.len() <= idx {
        row.cells.resize(idx + 1, String::new());
    }
    add(&mut row.cells[idx], text);
}

/// Gives the first row all columns: what the rules of the table show.
fn widen(rows: &mut [MarkupRow], width: usize) {
    if let Some(row) = rows.first_mut() {
        row.cells.resize(width.max(row.cells.len()), String::new());
    }
}

fn add(cell: &mut String, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        if !cell.is_empty() {
            cell.push('\n');
        }
        cell.push_str(text);
    }
}

/// Reads a table drawn with `+`, `-` and `|`.
fn grid(lines: &[SourceLine<'_>]) -> Option<RstTable> {
    let num_lines = lines.iter().take_while(|line| line.text.starts_with(['+', '|'])).count();
    let lines = &lines[..num_lines];
    // Every border may add columns, as cells may span several.
    let borders = lines.iter().filter(|line| is_border(line.text));
    let mut starts: Vec<usize> = borders
        .flat_map(|line| line.text.chars().enumerate().filter(|(_, c)| *c == '+').map(|(at, _)| at))
        .collect();
    starts.sort_unstable();
    starts.dedup();
    if lines.len() < 3 || starts.len() < 2 {
        return None;
    }
    let mut rows: Vec<MarkupRow> = Vec::new();
    let mut row = MarkupRow::default();
    for line in lines {
        if is_border(line.text) {
            if row.number > 0 {
                rows.push(std::mem::take(&mut row));
            }
            continue;
        }
        if row.number == 0 {
            row.number = line.number;
        }
        // A cell ends at the next `|` that is at the start of a column, or with the line.
        let columns = Columns::of(line.text);
        let mut open: Option<usize> = None;
        for (idx, at) in starts.iter().enumerate() {
            let mark = columns.between(*at, *at + 1);
            if !matches!(mark, "|" | "+" | "") {
                continue;
            }
            let text = open.map_or("", |open| columns.between(starts[open] + 1, *at));
            // The rule of a cell next to one that spans rows.
            if let Some(open) = open
                && !text.chars().all(|c| matches!(c, '-' | '=' | '+'))
            {
                add_to(&mut row, open, text);
            }
            if mark.is_empty() {
                break;
            }
            open = Some(idx);
        }
    }
    if row.number > 0 {
        rows.push(row);
    }
    widen(&mut rows, starts.len() - 1);
    Some(RstTable { rows, num_lines })
}

/// Whether a line of a drawn table is a rule, perhaps next to cells that span rows.
fn is_border(text: &str) -> bool {
    text.starts_with('+') && text.chars().all(|c| matches!(c, '+' | '-' | '=' | ' ' | '|'))
}

/// Reads a table between rules of `=`; blanks in the rules separate the columns.
fn simple(lines: &[SourceLine<'_>]) -> Option<RstTable> {
    let rule = lines[0].text;
    let mut starts = Vec::new();
    let mut previous = ' ';
    for (column, c) in rule.chars().enumerate() {
        if c == '=' && previous == ' ' {
            starts.push(column);
        }
        previous = c;
    }
    // The table ends with a rule that a blank line follows, or with its third rule.
    let mut num_rules = 1;
    let mut end = None;
    for (idx, line) in lines.iter().enumerate().skip(1) {
        if is_rule(line.text, '=') && line.text.starts_with("==") {
            num_rules += 1;
            if num_rules == 3 || lines.get(idx + 1).is_none_or(SourceLine::is_blank) {
                end = Some(idx);
                break;
            }
        }
    }
    let end = end?;
    let mut rows: Vec<MarkupRow> = Vec::new();
    let mut is_new = true;
    for line in &lines[1..end] {
        if line.is_blank() || is_rule(line.text, '=') || is_rule(line.text, '-') {
            is_new = true;
            continue;
        }
        let columns = Columns::of(line.text);
        // A row without a first cell continues the row above it.
        if is_new || !columns.cell(&starts, 0).trim().is_empty() || rows.is_empty() {
            rows.push(MarkupRow { number: line.number, cells: Vec::new() });
        }
        is_new = false;
        if let Some(row) = rows.last_mut() {
            for idx in 0..starts.len() {
                let cell = columns.cell(&starts, idx);
                if cell.is_empty() {
                    break;
                }
                add_to(row, idx, cell);
            }
        }
    }
    widen(&mut rows, starts.len());
    Some(RstTable { rows, num_lines: end + 1 })
}

/// Reads comma-separated values, one row per line.
pub(super) fn comma_separated(lines: &[SourceLine<'_>]) -> Vec<MarkupRow> {
    let filled = lines.iter().filter(|line| !line.is_blank());
    let rows = filled.map(|line| {
        let mut cells = vec![String::new()];
        let mut is_quoted = false;
        for c in line.text.chars() {
            match c {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                _ => cells.last_mut().expect("there is a cell").push(c),
            }
        }
        MarkupRow { number: line.number, cells }
    });
    rows.collect()
}
