//! Returns the text of the requested part of a document.

use crate::document::{CHAIN_SEPARATOR, StaleReason};
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
    /// The first and the last of some physical pages, from 1.
    Pages(u32, u32),
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
    let unknown = |what: String, similar: Vec<String>| Error::UnknownPart {
        what,
        document: document.id.0,
        similar,
    };
    match selection {
        PartSelection::Whole => {
            Ok(vec![text.of_chunks(PartKind::Text, 1, None, 0..text.chunks.len())])
        }
        PartSelection::Pages(first, last) => match text.pages_from(*first, *last) {
            Some(part) => Ok(vec![part]),
            None if first == last => Err(unknown(format!("page {first}"), Vec::new())),
            None => Err(unknown(format!("pages {first}-{last}"), Vec::new())),
        },
        PartSelection::Chunk(id, around) => {
            let at = text.chunks.iter().position(|stored| stored.id == *id);
            let at = at.ok_or_else(|| unknown(format!("chunk {id}"), Vec::new()))?;
            let around = *around as usize;
            let end = at.saturating_add(around).saturating_add(1).min(text.chunks.len());
            let mut part = text.of_chunks(PartKind::Text, 1, None, at.saturating_sub(around)..end);
            part.section.clone_from(&text.chunks[at].chunk.section);
            Ok(vec![part])
        }
        PartSelection::Section(typed) => {
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
            let name = |part: &DocumentPart| normal(part.name.as_deref().unwrap_or_default());
            let last = wanted.rsplit(CHAIN_SEPARATOR).next().unwrap_or_default();
            let similar = similar(&all[0], name, last).into_iter();
            let similar = similar.filter_map(|part| part.section.clone()).collect();
            Err(unknown(format!("section '{typed}'"), similar))
        }
        PartSelection::Symbol(typed) => {
            let mut parts = text.stored_parts();
            parts.retain(|part| part.kind == PartKind::Symbol);
            let name = |part: &DocumentPart| part.name.clone().unwrap_or_default();
            let is_called = |name: &str, wanted: &str| {
                name == wanted
                    || name
                        .strip_suffix(wanted)
                        .is_some_and(|rest| rest.ends_with('.') || rest.ends_with("::"))
            };
            let folded = fold(typed);
            let exact = |part: &&DocumentPart| is_called(&name(part), typed);
            let alike = |part: &&DocumentPart| is_called(&fold(&name(part)), &folded);
            let mut found: Vec<DocumentPart> = parts.iter().filter(exact).cloned().collect();
            if found.is_empty() {
                found = parts.iter().filter(alike).cloned().collect();
            }
            // An exact match of the qualified name takes precedence.
            found.sort_by_key(|part| name(part) != *typed);
            if !found.is_empty() {
                return Ok(found);
            }
            let similar = similar(&parts, |part| fold(&name(part)), &folded);
            let similar = similar.into_iter().map(name).collect();
            Err(unknown(format!("symbol '{typed}'"), similar))
        }
    }
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
