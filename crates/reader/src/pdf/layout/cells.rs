//! Converts lines of cells into rows of text, for tables with and without rules.

use super::lines::Line;
use super::numbers::is_number;
use crate::extract::pdf::clean;
use crate::markdown_table;

/// How far aligned base lines may differ, as a fraction of the size.
const ALIGNED: f64 = 0.3;

/// Fewest aligned lines that count as rows if they contain words; fewer may be wrapped text.
const MIN_ROWS_OF_WORDS: usize = 4;

/// Returns the text of a cell.
pub(super) fn text(lines: &[Line]) -> String {
    let lines: Vec<String> = lines.iter().map(Line::text).collect();
    clean::join_lines(&clean::text(&lines.join("\n")))
}

/// Returns a row of cells as one row of text, or as several if the lines of its cells are aligned.
pub(super) fn split_row(cells: &[Vec<Line>]) -> Vec<Vec<String>> {
    let steps = steps(cells);
    let filled: Vec<&Vec<Line>> = cells.iter().filter(|cell| !cell.is_empty()).collect();
    let on_step =
        |step: f64| filled.iter().filter(|cell| cell.iter().any(|line| is_on(line, step))).count();
    // Wrapped text leaves gaps: next to some of its lines, the other cells are empty.
    let is_amount = |line: &&Line| line.words.iter().all(|word| is_number(&word.text));
    let num_lines: usize = filled.iter().map(|cell| cell.len()).sum();
    let num_amounts = filled.iter().flat_map(|cell| cell.iter()).filter(is_amount).count();
    let (min_steps, share) =
        if num_amounts * 2 >= num_lines { (2, 1) } else { (MIN_ROWS_OF_WORDS, 2) };
    let are_rows = steps.len() >= min_steps
        && filled.len() >= 2
        && steps
            .iter()
            .all(|step| on_step(*step) >= 2 && on_step(*step) * 3 >= filled.len() * share);
    if !are_rows {
        return vec![cells.iter().map(|cell| text(cell)).collect()];
    }
    let row = |step: &f64| {
        cells
            .iter()
            .map(|cell| {
                let lines: Vec<Line> =
                    cell.iter().filter(|line| is_on(line, *step)).cloned().collect();
                text(&lines)
            })
            .collect()
    };
    steps.iter().map(row).collect()
}

fn is_on(line: &Line, base: f64) -> bool {
    (line.base - base).abs() <= ALIGNED * line.size
}

/// Returns the distinct base lines of cells that are next to each other.
fn steps(cells: &[Vec<Line>]) -> Vec<f64> {
    let mut steps: Vec<f64> = Vec::new();
    let mut lines: Vec<&Line> = cells.iter().flatten().collect();
    lines.sort_by(|a, b| a.base.total_cmp(&b.base));
    for line in lines {
        if !steps.last().is_some_and(|step| is_on(line, *step)) {
            steps.push(line.base);
        }
    }
    steps
}

/// Removes rows and columns without text.
pub(super) fn drop_empty(rows: &mut Vec<Vec<String>>) {
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    markdown_table::drop_empty_columns(rows);
}
