//! Shows a page of the documentation as text.

use std::io;

use crate::present::terminal::sheet::Sheet;

/// Writes Markdown as it is read best without being drawn: code indented, columns of tables below each
/// other, links as their words.
///
/// # Errors
///
/// What writing gives.
pub fn plain(markdown: &str, out: &mut Sheet<'_>) -> io::Result<()> {
    let mut is_code = false;
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            writeln!(out, "    {line}")?;
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(line) = lines.next_if(|it| it.starts_with('|')) {
                rows.push(cells(line));
            }
            table(&rows, out)?;
        } else {
            let line = line.trim_start_matches('#').trim_start_matches(' ');
            writeln!(out, "{}", words(line))?;
        }
    }
    Ok(())
}

/// Returns the cells of a row as they are shown.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|it| words(it.trim()).replace('\u{0}', "|")).collect()
}

/// Writes all rows but the second, which divides.
fn table(rows: &[Vec<String>], out: &mut Sheet<'_>) -> io::Result<()> {
    let rows: Vec<&Vec<String>> =
        rows.iter().enumerate().filter(|(idx, _)| *idx != 1).map(|(_, it)| it).collect();
    let num_columns = rows.iter().map(|it| it.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..num_columns)
        .map(|idx| rows.iter().filter_map(|it| it.get(idx)).map(|it| it.chars().count()).max())
        .map(Option::unwrap_or_default)
        .collect();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line += &format!("  {cell:width$}");
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Returns a line with its links as their words and without marks of code.
fn words(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        match after
            .split_once("](")
            .and_then(|(text, after)| Some((text, after.split_once(')')?.1)))
        {
            Some((text, after)) if !before.ends_with('`') => {
                shown += before;
                shown += text;
                rest = after;
            }
            _ => {
                shown += before;
                shown.push('[');
                rest = after;
            }
        }
    }
    shown += rest;
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_without_its_marks() {
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
        plain(page, &mut Sheet::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        Title

        See the rows, or `[]`:

          flag      means
          `-a`      one
          `--long`  two

            kb list
        ");
    }
}
