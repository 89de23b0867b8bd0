//! Writes the text of `kb outline`, `kb show` and `kb open`, for people.
//!
//! Titles and names are printed on one line; the text keeps its lines and tabs.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;

use crate::app::query::read::PagePicture;
use crate::present::terminal::sheet::CleanWriter;
use crate::read::{
    DocumentLinks, DocumentOutline, DocumentPart, LinkedDocument, OpenedDocument, PartKind,
    ShownPart,
};
use crate::text::markdown;
use crate::text::number::{counted, thousands};
use crate::text::printable::{clean, clean_lines};

/// Most documents that are named for links; JSON has all.
const MAX_ENDS: usize = 20;

/// Writes the parts of a document, indented by their level; `mark` is after its type. `path` is its path as shown,
/// which distinguishes it from others with the same title.
pub fn outline(
    outline: &DocumentOutline,
    mark: &str,
    path: Option<&str>,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    let document = &outline.document;
    let path = path.map(|path| format!(", {path}")).unwrap_or_default();
    writeln!(
        out,
        "{} {} [{}]{mark} {} in {}{path}",
        document.id,
        clean(&document.title),
        clean(&document.format),
        counted(outline.num_tokens, "token"),
        counted(document.chunk_count, "chunk")
    )?;
    for part in &outline.parts {
        let indent = "  ".repeat(part.level as usize);
        let name = part.name.as_deref().unwrap_or(&part.preview);
        let page = if part.kind == PartKind::Page { "page " } else { "" };
        writeln!(out, "{indent}{page}{} ({})", clean(name), facts(part).join(", "))?;
    }
    Ok(())
}

/// Returns the location and the size of a part.
pub(super) fn facts(part: &DocumentPart) -> Vec<String> {
    let mut facts = vec![counted(part.num_tokens, "token")];
    if let Some(pages) = part.pages.filter(|_| part.kind != PartKind::Page) {
        facts.push(format!("p.{pages}"));
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

/// Writes the text of a part of a document.
pub fn show(shown: &ShownPart, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let text = clean_lines(&shown.text);
    out.text(&text)?;
    if !text.is_empty() && !text.ends_with('\n') {
        writeln!(out)?;
    }
    if shown.num_cut > 0 {
        out.text(&more(shown.num_cut))?;
    }
    for (idx, (name, ends)) in other_ends(&shown.links).enumerate() {
        let gap = if idx == 0 { "\n" } else { "" };
        writeln!(out, "{gap}{name}: {ends}")?;
    }
    Ok(())
}

/// Returns the documents at the other ends of links, each once with its id, and the links that lead to none.
pub(super) fn other_ends(links: &DocumentLinks) -> impl Iterator<Item = (&'static str, String)> {
    let lists = [("Links", &links.links), ("Backlinks", &links.backlinks)].into_iter();
    lists.filter(|(_, links)| !links.is_empty()).map(|(name, links)| {
        let mut known = HashSet::new();
        let ends = links.iter().filter(|link| known.insert(link.document_id.ok_or(&link.text)));
        let ends: Vec<&LinkedDocument> = ends.collect();
        let shown = ends.iter().take(MAX_ENDS).map(|link| match (link.document_id, &link.title) {
            (Some(id), Some(title)) => format!("{} ({id})", clean(title)),
            _ => format!("{} (no document)", clean(&link.text)),
        });
        let num_more = ends.len().saturating_sub(MAX_ENDS);
        let more = (num_more > 0).then(|| format!("... ({num_more} more)"));
        (name, shown.chain(more).collect::<Vec<_>>().join(", "))
    })
}

/// Writes which page was drawn, the size of its picture, and the words that are marked on it.
pub fn picture(drawn: &PagePicture, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let PagePicture { document, page, picture, .. } = drawn;
    let title = clean(&document.title);
    let (width, height) = (thousands(picture.width), thousands(picture.height));
    write!(out, "page {page} of \"{title}\", document {}: {width} × {height} pixels", document.id)?;
    match picture.num_marked {
        _ if !drawn.is_marked => {}
        0 => write!(out, "; the words to mark were not found on it")?,
        number => write!(out, ", {} marked", counted(number, "word"))?,
    }
    writeln!(out)
}

/// Returns a part of a document as Markdown: source code is fenced, other text has its marks.
pub fn markdown(shown: &ShownPart) -> String {
    let mut text = match &shown.document.language {
        Some(language) => markdown::fenced(language, &shown.text),
        None => shown.text.trim_end().to_owned(),
    };
    if !text.is_empty() {
        text.push('\n');
    }
    if shown.num_cut > 0 {
        text += "\n";
        text += &more(shown.num_cut);
    }
    text
}

/// Returns the bytes of a document's file, followed by the number of lines cut off, if any.
pub fn open(opened: &OpenedDocument) -> Cow<'_, [u8]> {
    let bytes = opened.raw.as_deref().unwrap_or(opened.text.as_bytes());
    if opened.num_cut == 0 {
        return bytes.into();
    }
    [bytes, more(opened.num_cut).as_bytes()].concat().into()
}

/// Returns the line with the number of lines cut off.
fn more(num_cut: usize) -> String {
    let noun = if num_cut == 1 { "line" } else { "lines" };
    format!("... ({} more {noun})\n", thousands(num_cut))
}
