//! Writes rows of cells as a Markdown table.

/// Removes the columns of `rows` that have no text. All rows must have the same length.
pub(crate) fn drop_empty_columns(rows: &mut [Vec<String>]) {
    let width = rows.first().map_or(0, Vec::len);
    let is_used: Vec<bool> =
        (0..width).map(|at| rows.iter().any(|row| !row[at].is_empty())).collect();
    for row in rows {
        let mut used = is_used.iter();
        row.retain(|_| *used.next().unwrap_or(&true));
    }
}

/// Formats `rows` as a table with the first row as its header. All rows must have the same length.
pub(crate) fn to_markdown(rows: &[Vec<String>]) -> String {
    let mut lines = Vec::with_capacity(rows.len() + 1);
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
        if number == 0 {
            lines.push(format!("|{}", " --- |".repeat(row.len())));
        }
    }
    lines.join("\n")
}
