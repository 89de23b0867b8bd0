//! Rows of cells in, a Markdown table out.

/// Writes `rows`, all of one length, as a table with the first row as its header.
pub(in crate::ingest::extract) fn to_markdown(rows: &[Vec<String>]) -> String {
    let mut lines = Vec::with_capacity(rows.len() + 1);
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|it| it.replace('|', "\\|")).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
        if number == 0 {
            lines.push(format!("|{}", " --- |".repeat(row.len())));
        }
    }
    lines.join("\n")
}
