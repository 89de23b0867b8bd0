//! Returns the text of the requested part of a document.

use crate::document::{CHAIN_SEPARATOR, PageRange, StaleReason};
use crate::error::{Error, Result};
use crate::read::cut::cut;
use crate::read::links::{DocumentLinks, links};
use crate::read::marks;
use crate::read::parts::{DocumentPart, PartKind, StoredText};
use crate::store::{ChunkId, Store, StoredDocument};
use crate::text::fold::fold;
use crate::text::headings;
use crate::text::similar::similar;

/// Which part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartSelection {
    /// The whole document.
    Whole,
    /// A heading, or the end of a header chain; case is ignored.
    Section(String),
    /// A qualified name, or its last part.
    Symbol(String),
    /// Some physical pages.
    Pages(PageRange),
    /// A chunk, with this many chunks before and after it.
    Chunk(ChunkId, u32),
}

/// Which part, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowOptions {
    /// Which part.
    pub selection: PartSelection,
    /// How many lines to return at most; `None` for no limit.
    pub max_lines: Option<u32>,
}

/// A part of a document, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPart {
    /// The document.
    pub document: StoredDocument,
    /// The complete part and where it is.
    pub part: DocumentPart,
    /// Qualified name of the definition that a single chunk belongs to.
    pub symbol: Option<String>,
    /// Its text in the database; headings have the marks of Markdown, except in plain text.
    pub text: String,
    /// Lines that were cut off.
    pub num_cut: usize,
    /// Parts with the same name, including this one.
    pub num_matches: usize,
    /// How its file differs from the text; `None` if it does not, or if it was not compared.
    pub stale: Option<StaleReason>,
    /// Its links; those of other documents to it only for the whole document.
    pub links: DocumentLinks,
}

/// Finds a part; the first one if several have the name.
pub fn show(store: &Store, document: StoredDocument, options: &ShowOptions) -> Result<ShownPart> {
    let text = StoredText::read(store, document.id)?;
    let mut matches = select(&text, &document, &options.selection)?;
    let num_matches = matches.len();
    let part = matches.swap_remove(0);
    let whole = marks::marked(&text, &document, part.bytes.clone());
    let (end, num_cut) = cut(&whole, options.max_lines);
    let shown = whole[..end].to_owned();
    let symbol = match options.selection {
        PartSelection::Chunk(id, _) => text
            .chunks
            .iter()
            .find(|stored| stored.id == id)
            .and_then(|stored| stored.chunk.symbol.clone()),
        _ => part.name.clone().filter(|_| part.kind == PartKind::Symbol),
    };
    let is_part = options.selection != PartSelection::Whole;
    let links = links(store, &document, is_part.then_some(&part))?;
    Ok(ShownPart { symbol, text: shown, num_cut, num_matches, document, part, stale: None, links })
}

/// Returns the selected parts, at least one.
fn select(
    text: &StoredText,
    document: &StoredDocument,
    selection: &PartSelection,
) -> Result<Vec<DocumentPart>> {
    match selection {
        PartSelection::Whole => {
            Ok(vec![text.of_chunks(PartKind::Text, 1, None, 0..text.chunks.len())])
        }
        PartSelection::Pages(pages) => match text.on_pages(*pages) {
            Some(part) => Ok(vec![part]),
            None if pages.is_single() => {
                Err(unknown(document, format!("page {pages}"), Vec::new()))
            }
            None => Err(unknown(document, format!("pages {pages}"), Vec::new())),
        },
        PartSelection::Chunk(id, around) => {
            let at = text.chunks.iter().position(|stored| stored.id == *id);
            let at = at.ok_or_else(|| unknown(document, format!("chunk {id}"), Vec::new()))?;
            let around = *around as usize;
            let end = at.saturating_add(around).saturating_add(1).min(text.chunks.len());
            let mut part = text.of_chunks(PartKind::Text, 1, None, at.saturating_sub(around)..end);
            part.section.clone_from(&text.chunks[at].chunk.section);
            Ok(vec![part])
        }
        PartSelection::Section(typed) => select_sections(text, document, typed),
        PartSelection::Symbol(typed) => select_symbols(text, document, typed),
    }
}

fn unknown(document: &StoredDocument, what: String, similar: Vec<String>) -> Error {
    Error::UnknownPart { what, document: document.id.0, similar }
}

/// Returns the sections with a heading or chain: those in the text, else those of the chunks.
fn select_sections(
    text: &StoredText,
    document: &StoredDocument,
    typed: &str,
) -> Result<Vec<DocumentPart>> {
    let wanted = normal(typed);
    let all = [text.parts(document), text.stored_parts()];
    let all = all.map(|mut parts| {
        parts.retain(|part| part.kind == PartKind::Section);
        parts
    });
    for parts in &all {
        let found: Vec<DocumentPart> =
            parts.iter().filter(|part| is_section(part, &wanted)).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let last = wanted.rsplit(CHAIN_SEPARATOR).next().unwrap_or_default();
    let similar = similar(&all[0], |part| normal(part.name.as_deref().unwrap_or_default()), last);
    let similar = similar.into_iter().filter_map(|part| part.section.clone()).collect();
    Err(unknown(document, format!("section '{typed}'"), similar))
}

/// Returns the symbols with a name; only if there are none, those with the name in another case.
fn select_symbols(
    text: &StoredText,
    document: &StoredDocument,
    typed: &str,
) -> Result<Vec<DocumentPart>> {
    let mut parts = text.stored_parts();
    parts.retain(|part| part.kind == PartKind::Symbol);
    let mut found: Vec<DocumentPart> =
        parts.iter().filter(|part| is_symbol(&symbol_name(part), typed)).cloned().collect();
    let folded = fold(typed);
    if found.is_empty() {
        let alike = parts.iter().filter(|part| is_symbol(&fold(&symbol_name(part)), &folded));
        found = alike.cloned().collect();
    }
    // An exact match of the qualified name takes precedence.
    found.sort_by_key(|part| symbol_name(part) != typed);
    if !found.is_empty() {
        return Ok(found);
    }
    let similar = similar(&parts, |part| fold(&symbol_name(part)), &folded);
    let similar = similar.into_iter().map(symbol_name).collect();
    Err(unknown(document, format!("symbol '{typed}'"), similar))
}

fn symbol_name(part: &DocumentPart) -> String {
    part.name.clone().unwrap_or_default()
}

/// Whether a qualified name is the wanted one, or ends with it.
fn is_symbol(name: &str, wanted: &str) -> bool {
    name == wanted
        || name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.') || rest.ends_with("::"))
}

/// Whether a section's chain is the wanted one, or ends with it.
fn is_section(part: &DocumentPart, wanted: &str) -> bool {
    let chain = normal(part.section.as_deref().unwrap_or_default());
    chain == wanted
        || chain.strip_suffix(wanted).is_some_and(|above| above.ends_with(CHAIN_SEPARATOR))
}

fn normal(text: &str) -> String {
    fold(&headings::plain(text))
}

#[cfg(test)]
mod tests;
