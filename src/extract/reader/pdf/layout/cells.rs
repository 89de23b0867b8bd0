//! Turns lines of cells into rows of text: what tables with and without rules share.

use super::gaps::is_number;
use super::lines::Line;
use crate::extract::pdf::clean;
use crate::extract::reader::markdown_table;

/// How far base lines in step may differ, as a share of the size.
const IN_STEP: f64 = 0.3;

/// Lines in step that make rows where they hold words: fewer may be text that wraps.
const MIN_ROWS_OF_WORDS: usize = 4;

/// Returns the text of a cell.
pub(super) fn text(lines: &[Line]) -> String {
    let lines: Vec<String> = lines.iter().map(Line::text).collect();
    clean::join_lines(&clean::text(&lines.join("\n")))
}

/// Returns a row of cells as one row of text, or as several where its lines are in step.
pub(super) fn part_row(cells: &[Vec<Line>]) -> Vec<Vec<String>> {
    let steps = steps(cells);
    let filled: Vec<&Vec<Line>> = cells.iter().filter(|it| !it.is_empty()).collect();
    let on_step =
        |step: f64| filled.iter().filter(|it| it.iter().any(|it| is_on(it, step))).count();
    // Wrapped text leaves holes: where it stands, its neighbours have nothing.
    let is_amount = |it: &&Line| it.words.iter().all(|it| is_number(&it.text));
    let num_lines: usize = filled.iter().map(|it| it.len()).sum();
    let num_amounts = filled.iter().flat_map(|it| it.iter()).filter(is_amount).count();
    let (min_steps, share) =
        if num_amounts * 2 >= num_lines { (2, 1) } else { (MIN_ROWS_OF_WORDS, 2) };
    let are_rows = steps.len() >= min_steps
        && filled.len() >= 2
        && steps.iter().all(|it| on_step(*it) >= 2 && on_step(*it) * 3 >= filled.len() * share);
    if !are_rows {
        return vec![cells.iter().map(|it| text(it)).collect()];
    }
    let row = |step: &f64| {
        cells
            .iter()
            .map(|cell| {
                let lines: Vec<Line> = cell.iter().filter(|it| is_on(it, *step)).cloned().collect();
                text(&lines)
            })
            .collect()
    };
    steps.iter().map(row).collect()
}

fn is_on(line: &Line, base: f64) -> bool {
    (line.base - base).abs() <= IN_STEP * line.size
}

/// Returns the base lines of cells that stand beside each other, each once.
fn steps(cells: &[Vec<Line>]) -> Vec<f64> {
    let mut steps: Vec<f64> = Vec::new();
    let mut lines: Vec<&Line> = cells.iter().flatten().collect();
    lines.sort_by(|a, b| a.base.total_cmp(&b.base));
    for line in lines {
        if !steps.last().is_some_and(|it| is_on(line, *it)) {
            steps.push(line.base);
        }
    }
    steps
}

/// Leaves out rows and columns without text.
pub(super) fn drop_empty(rows: &mut Vec<Vec<String>>) {
    rows.retain(|row| row.iter().any(|it| !it.is_empty()));
    markdown_table::drop_empty_columns(rows);
}
