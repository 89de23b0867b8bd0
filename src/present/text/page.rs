//! Formats a Markdown page of the documentation as text.

use std::io;

use crate::present::terminal::columns::{padding, width, wrap};
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::blocks::links;

/// Spaces before each cell of a table.
const GAP: &str = "  ";

/// Smallest width of a column on a narrow terminal.
const MIN_COLUMNS: usize = 8;

/// Writes Markdown as plain text within a width: code indented, tables aligned, links as their text.
pub fn plain(markdown: &str, columns: usize, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let mut is_code = false;
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            writeln!(out, "    {line}")?;
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(cells(line));
            }
            table(&rows, columns, out)?;
        } else if line.starts_with('#') || line.is_empty() {
            writeln!(out, "{}", words(line.trim_start_matches('#').trim_start()))?;
        } else {
            let mut text = line.to_owned();
            while let Some(line) = lines.next_if(|line| continues(line)) {
                text = format!("{text} {}", line.trim_start());
            }
            paragraph(&words(&text), columns, out)?;
        }
    }
    Ok(())
}

/// Whether a line belongs to the paragraph or the item above it.
fn continues(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(['#', '|', '-']) && !line.starts_with("```")
}

/// Writes a paragraph, or a list item with its lines aligned.
fn paragraph(text: &str, columns: usize, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let indent = if text.starts_with("- ") { 2 } else { 0 };
    for (number, line) in wrap(&text[indent..], columns.saturating_sub(indent)).enumerate() {
        let before = if number == 0 { &text[..indent] } else { &"  "[..indent] };
        writeln!(out, "{before}{}", &text[indent..][line])?;
    }
    Ok(())
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| words(cell.trim()).replace('\u{0}', "|")).collect()
}

/// Writes all rows except the delimiter row. Wide cells take several lines.
fn table(rows: &[Vec<String>], columns: usize, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let rows: Vec<Vec<String>> =
        rows.iter().enumerate().filter(|(idx, _)| *idx != 1).map(|(_, row)| row.clone()).collect();
    let num_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; num_columns];
    for row in &rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell).max(*widest);
        }
    }
    while widths.iter().map(|width| GAP.len() + width).sum::<usize>() > columns {
        match widths.iter_mut().max().filter(|width| **width > MIN_COLUMNS) {
            Some(width) => *width -= 1,
            None => break,
        }
    }
    for row in rows {
        let cells: Vec<Vec<&str>> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| wrap(cell, *width).map(|line| &cell[line]).collect())
            .collect();
        for number in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.get(number).copied().unwrap_or_default();
                line += &format!("{GAP}{part}{}", padding(part, *width));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// Returns a line with links as their text.
fn words(line: &str) -> String {
    let mut shown = line.to_owned();
    links(line).into_iter().rev().for_each(|range| shown.replace_range(range, ""));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_without_markup() {
        let page = "\
# Title

See [the rows](other.md#rows), or `[]`:

| flag | means |
| --- | --- |
| `-a` | one |
| `--long` | two |

```sh
kb list
```
";
        let mut out = Vec::new();
        plain(page, 80, &mut CleanWriter::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        Title

        See the rows, or `[]`:

          flag      means
          `-a`      one
          `--long`  two

            kb list
        ");
    }

    #[test]
    fn a_page_fits_a_narrow_terminal() {
        let page = "\
A paragraph that was written
in two lines.

- An item that needs more than one line.

| code | means |
| --- | --- |
| 0 | done, even if the answer is empty |
";
        let mut out = Vec::new();
        plain(page, 24, &mut CleanWriter::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        A paragraph that was
        written in two lines.

        - An item that needs
          more than one line.

          code  means
          0     done, even if
                the answer is
                empty
        ");
    }
}
