//! Converts lines of cells into rows of text, for tables with and without rules.

use super::lines::TextLine;
use super::numbers::is_number;
use crate::extract::pdf::clean;

/// How far aligned base lines may differ, as a fraction of the size.
const ALIGNED: f64 = 0.3;

/// Fewest aligned lines that count as rows if they contain words; fewer may be wrapped text.
const MIN_ROWS_OF_WORDS: usize = 4;

/// Fewest dots of a leader.
const MIN_LEADER: usize = 4;

/// Returns the text of a cell, without the leader to the next one.
pub(super) fn text(lines: &[TextLine]) -> String {
    let lines: Vec<String> = lines.iter().map(TextLine::text).collect();
    let text = clean::join_lines(&clean::text(&lines.join("\n")));
    let label = text.trim_end_matches(['.', ' ']);
    if text.len() - label.len() >= MIN_LEADER { label.to_owned() } else { text }
}

/// Returns a row of cells as one row of text, or as several if the lines of its cells are aligned.
pub(super) fn split_row(cells: &[Vec<TextLine>]) -> Vec<Vec<String>> {
    let steps = steps(cells);
    let filled: Vec<&Vec<TextLine>> = cells.iter().filter(|cell| !cell.is_empty()).collect();
    // Wrapped text leaves gaps: next to some of its lines, the other cells are empty.
    let num_lines: usize = filled.iter().map(|cell| cell.len()).sum();
    let num_amounts =
        filled.iter().flat_map(|cell| cell.iter()).filter(|line| is_amount(line)).count();
    let (min_steps, share) =
        if num_amounts * 2 >= num_lines { (2, 1) } else { (MIN_ROWS_OF_WORDS, 2) };
    let are_rows = steps.len() >= min_steps
        && filled.len() >= 2
        && steps.iter().all(|step| {
            let cells = filled.iter().filter(|cell| cell.iter().any(|line| is_on(line, *step)));
            let num_cells = cells.count();
            num_cells >= 2 && num_cells * 3 >= filled.len() * share
        });
    if are_rows {
        steps.iter().map(|step| row_on(cells, *step)).collect()
    } else {
        vec![cells.iter().map(|cell| text(cell)).collect()]
    }
}

/// Whether all words of a line are numbers.
fn is_amount(line: &TextLine) -> bool {
    line.words.iter().all(|word| is_number(&word.text))
}

/// Returns the text of each cell on one base line.
fn row_on(cells: &[Vec<TextLine>], base: f64) -> Vec<String> {
    let mut row = Vec::with_capacity(cells.len());
    for cell in cells {
        let lines: Vec<TextLine> = cell.iter().filter(|line| is_on(line, base)).cloned().collect();
        row.push(text(&lines));
    }
    row
}

fn is_on(line: &TextLine, base: f64) -> bool {
    (line.base - base).abs() <= ALIGNED * line.size
}

/// Returns the distinct base lines of cells that are next to each other.
fn steps(cells: &[Vec<TextLine>]) -> Vec<f64> {
    let mut steps: Vec<f64> = Vec::new();
    let mut lines: Vec<&TextLine> = cells.iter().flatten().collect();
    lines.sort_by(|a, b| a.base.total_cmp(&b.base));
    for line in lines {
        if !steps.last().is_some_and(|step| is_on(line, *step)) {
            steps.push(line.base);
        }
    }
    steps
}

/// Removes rows and columns without text, and moves heads as [`join_heads`] does. `columns` has the ends of each column.
pub(super) fn drop_empty(rows: &mut Vec<Vec<String>>, columns: &mut Vec<[f64; 2]>) {
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    let mut idx = 0;
    columns.retain(|_| {
        idx += 1;
        rows.iter().any(|row| !row[idx - 1].is_empty())
    });
    drop_empty_columns(rows);
    join_heads(rows, columns);
}

/// Moves a head that is next to its column into it: one of two neighbouring columns has a head, and no row has other
/// text in both. `columns` has the ends of each column, if they are known.
pub(super) fn join_heads(rows: &mut [Vec<String>], columns: &mut Vec<[f64; 2]>) {
    let width = rows.first().map_or(0, Vec::len);
    for right in (1..width).rev() {
        let has_one_head =
            rows.first().is_some_and(|row| row[right - 1].is_empty() != row[right].is_empty());
        if has_one_head && rows.len() > 2 && !rows.iter().any(|row| has_two_texts(row, right)) {
            for row in rows.iter_mut() {
                let cell = row.remove(right);
                if row[right - 1].is_empty() {
                    row[right - 1] = cell;
                }
            }
            if right < columns.len() {
                columns[right - 1][1] = columns.remove(right)[1];
            }
        }
    }
}

/// Whether the cell at `right` and the one before it have different texts.
fn has_two_texts(row: &[String], right: usize) -> bool {
    let (left, right) = (&row[right - 1], &row[right]);
    !left.is_empty() && !right.is_empty() && left != right
}

/// Removes the columns of `rows` that have no text. All rows must have the same length.
fn drop_empty_columns(rows: &mut [Vec<String>]) {
    let width = rows.first().map_or(0, Vec::len);
    let is_used: Vec<bool> =
        (0..width).map(|at| rows.iter().any(|row| !row[at].is_empty())).collect();
    for row in rows {
        let mut used = is_used.iter();
        row.retain(|_| *used.next().unwrap_or(&true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_beside_its_column_is_moved_into_it() {
        let check = |rows: &[&[&str]], expected: &[&[&str]]| {
            let owned = |rows: &[&[&str]]| -> Vec<Vec<String>> {
                rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
            };
            let mut found = owned(rows);
            let mut columns = (0_u8..).zip(rows[0]).map(|(at, _)| [at.into(), at.into()]).collect();
            drop_empty(&mut found, &mut columns);
            assert_eq!(columns.len(), found[0].len());
            assert_eq!(found, owned(expected));
        };
        check(
            &[
                &["Plan", "", "County", "Total"],
                &["COHS", "Marin", "", "36"],
                &["", "Napa", "", "28"],
            ],
            &[&["Plan", "County", "Total"], &["COHS", "Marin", "36"], &["", "Napa", "28"]],
        );
        // Two heads are two columns, also if no row has both.
        let accounts: &[&[&str]] =
            &[&["", "Debit", "Credit"], &["Rent", "7", ""], &["Sales", "", "9"]];
        check(accounts, accounts);
        let labels: &[&[&str]] = &[&["", "2024"], &["Ebb", "7"], &["Flood", "8"]];
        check(labels, labels);
    }
}
