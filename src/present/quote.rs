//! Hits in, lines to paste or to jump to out: Markdown with citations, `path:line`.

use std::io;

use crate::document::DocType;
use crate::present::sheet::Sheet;
use crate::search::Hit;
use crate::text::printable::{clean, clean_lines};

/// Writes one location a line: `path:line` where lines are known, else the path, and for a document
/// without a file its address.
///
/// # Errors
///
/// What writing gives.
pub fn paths<'a>(hits: impl IntoIterator<Item = &'a Hit>, out: &mut Sheet<'_>) -> io::Result<()> {
    for hit in hits {
        writeln!(out, "{}", location(hit))?;
    }
    Ok(())
}

/// Writes passages as Markdown: who says it, then what it says, quoted or, if it is code, fenced.
///
/// # Errors
///
/// What writing gives.
pub fn markdown<'a>(
    hits: impl IntoIterator<Item = &'a Hit>,
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    for (idx, hit) in hits.into_iter().enumerate() {
        if idx > 0 {
            writeln!(out)?;
        }
        let text = clean_lines(&hit.stored.chunk.chunk.text);
        writeln!(out, "{}\n", citation(hit))?;
        if hit.stored.doc_type == DocType::Code {
            let fence = fence(&text);
            let language = hit.stored.language.as_deref().unwrap_or_default();
            writeln!(out, "{fence}{language}\n{text}\n{fence}")?;
        } else {
            for line in text.lines() {
                writeln!(out, "{}", format!("> {line}").trim_end())?;
            }
        }
    }
    Ok(())
}

/// Returns title, page or section or symbol, and location.
fn citation(hit: &Hit) -> String {
    let chunk = &hit.stored.chunk.chunk;
    let mut parts = vec![format!("**{}**", clean(&hit.stored.title))];
    match (chunk.page, chunk.last_page) {
        (Some(first), Some(last)) if last > first => parts.push(format!("pp. {first}-{last}")),
        (Some(first), _) => parts.push(format!("p. {first}")),
        _ => {}
    }
    parts.extend(chunk.section.as_deref().map(|it| format!("§ {}", clean(it))));
    parts.extend(chunk.symbol.as_deref().map(|it| format!("`{}`", clean(it))));
    format!("{} ({})", parts.join(", "), location(hit))
}

fn location(hit: &Hit) -> String {
    let line = hit.stored.chunk.chunk.start_line;
    match (&hit.stored.path, line) {
        (Some(path), Some(line)) => format!("{}:{line}", clean(path)),
        (Some(path), None) => clean(path),
        (None, _) => format!("kb://document/{}", hit.stored.document_id),
    }
}

/// Returns a fence that is longer than any run of backticks in a text.
fn fence(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("``` x ````"), "`````");
    }
}
