//! The text of `kb outline`, `kb show` and `kb open`, for people.
//!
//! Titles and names are cleaned of control characters, the text itself of all but line ends and
//! tabs.

use std::io;
use std::io::Write;

use crate::present::clean::{clean, clean_lines};
use crate::present::number::thousands;
use crate::read::{Opened, Outline, Part, PartKind, Shown};

/// Writes the parts of a document, indented by their level.
///
/// # Errors
///
/// What writing gives.
pub fn outline(outline: &Outline, out: &mut dyn Write) -> io::Result<()> {
    let document = &outline.document;
    writeln!(
        out,
        "{} {} [{}] {} tokens in {} chunks",
        document.id,
        clean(&document.title),
        document.doc_type,
        thousands(outline.num_tokens),
        thousands(u64::from(document.chunk_count))
    )?;
    for part in &outline.parts {
        let indent = "  ".repeat(part.level as usize);
        let name = part.name.as_deref().unwrap_or(&part.preview);
        let page = if part.kind == PartKind::Page { "page " } else { "" };
        writeln!(out, "{indent}{page}{} ({})", clean(name), facts(part).join(", "))?;
    }
    Ok(())
}

/// Returns where a part is and how much it is.
fn facts(part: &Part) -> Vec<String> {
    let mut facts = vec![format!("{} tokens", thousands(u64::from(part.num_tokens)))];
    if let (Some(first), true) = (part.page, part.kind != PartKind::Page) {
        facts.push(match part.last_page.filter(|it| *it != first) {
            Some(last) => format!("p.{first}-{last}"),
            None => format!("p.{first}"),
        });
    }
    if let (Some(first), Some(last)) = (part.start_line, part.end_line) {
        facts.push(format!("lines {first}-{last}"));
    }
    match part.chunk_ids.as_slice() {
        [] => {}
        [one] => facts.push(format!("chunk {one}")),
        [first, .., last] => facts.push(format!("chunks {first}-{last}")),
    }
    facts
}

/// Writes a part of a document: its text alone.
///
/// # Errors
///
/// What writing gives.
pub fn show(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    lines(&shown.text, shown.num_cut, out)
}

/// Writes a document's text.
///
/// # Errors
///
/// What writing gives.
pub fn open(opened: &Opened, out: &mut dyn Write) -> io::Result<()> {
    lines(&opened.text, opened.num_cut, out)
}

fn lines(text: &str, num_cut: usize, out: &mut dyn Write) -> io::Result<()> {
    let text = clean_lines(text);
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        writeln!(out)?;
    }
    if num_cut > 0 {
        writeln!(out, "... ({num_cut} more lines)")?;
    }
    Ok(())
}
