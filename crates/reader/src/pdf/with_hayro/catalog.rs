//! Reads the data of a PDF outside its pages: metadata, outline, language, labels.

use std::collections::{HashMap, HashSet};

use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::metadata::Metadata;
use hayro::hayro_syntax::object::{
    Array, DateTime, Dict, MaybeRef, Object, ObjectIdentifier, String as PdfString,
};

use super::numbering::Numbering;
use super::{labels, names, strings};
use crate::extract::pdf::clean;
use crate::extract::protocol::{DocumentHead, OutlineEntry};

/// Most bookmarks that are read; the largest handbooks have as many.
const MAX_OUTLINE: usize = 10_000;

/// Most names of destinations that are read: bounds the memory for a hostile tree.
const MAX_NAMES: usize = 500_000;

/// Returns what `pdf` states about itself.
pub(super) fn head(pdf: &Pdf, numbering: &Numbering) -> DocumentHead {
    let Metadata { title, author, creation_date, .. } = pdf.metadata();

    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
    let page_count = numbering.page_count;
    DocumentHead {
        title: title.as_deref().map(strings::decode),
        author: author.as_deref().map(strings::decode),
        created: creation_date.as_ref().map(rfc_3339),
        language: language(&catalog),
        page_count,
        labels: labels::of(&catalog, page_count),
        outline: outline(pdf, &catalog, numbering),
        format: None,
    }
}

fn rfc_3339(date: &DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, .. } = date;
    let zone = match (date.utc_offset_hour, date.utc_offset_minute) {
        (0, 0) => "Z".to_owned(),
        (hours, minutes) => format!("{hours:+03}:{minutes:02}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
}

/// Returns the language, if it looks like a language code.
fn language(catalog: &Dict<'_>) -> Option<String> {
    let stated = strings::decode(&catalog.get::<PdfString<'_>>(b"Lang")?);
    let code = stated.trim();
    let is_code = code.split(['-', '_']).next().is_some_and(|part| (2..=3).contains(&part.len()))
        && code.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    is_code.then(|| code.replace('_', "-"))
}

fn outline(pdf: &Pdf, catalog: &Dict<'_>, numbering: &Numbering) -> Vec<OutlineEntry> {
    let Some(root) = catalog.get::<Dict<'_>>(b"Outlines") else { return Vec::new() };
    let destinations = Destinations::new(pdf, catalog, numbering);
    let mut entries = Vec::new();
    let mut seen: HashSet<ObjectIdentifier> = HashSet::new();
    // An explicit stack, as the file controls the depth and length of the outline.
    let mut pending: Vec<(Dict<'_>, u8)> =
        root.get::<Dict<'_>>(b"First").into_iter().map(|item| (item, 1)).collect();
    while let Some((item, level)) = pending.pop()
        && entries.len() < MAX_OUTLINE
    {
        // A hostile outline may lead back to itself.
        if item.obj_id().is_some_and(|id| !seen.insert(id)) {
            continue;
        }
        let title = item.get::<PdfString<'_>>(b"Title").map(|title| strings::decode(&title));
        let title = clean::join_lines(&clean::text(&title.unwrap_or_default()));
        if !title.is_empty() {
            entries.push(OutlineEntry { title, level, page: destinations.page_of(&item) });
        }
        pending.extend(item.get::<Dict<'_>>(b"Next").map(|next| (next, level)));
        let below = level.saturating_add(1);
        pending.extend(item.get::<Dict<'_>>(b"First").map(|child| (child, below)));
    }
    entries
}

/// Where links lead.
struct Destinations<'a> {
    pages: HashMap<ObjectIdentifier, u32>,
    by_name: HashMap<Vec<u8>, Object<'a>>,
}

impl<'a> Destinations<'a> {
    fn new(pdf: &'a Pdf, catalog: &Dict<'a>, numbering: &Numbering) -> Self {
        let numbered = numbering.numbers.iter().copied().zip(pdf.pages().iter());
        let pages = numbered.filter_map(|(at, page)| Some((page.raw().obj_id()?, at))).collect();
        let mut by_name = HashMap::new();
        if let Some(old) = catalog.get::<Dict<'_>>(b"Dests") {
            for key in old.keys() {
                if let Some(destination) = old.get::<Object<'_>>(&*key) {
                    by_name.insert(key.to_vec(), destination);
                }
            }
        }
        let tree =
            catalog.get::<Dict<'_>>(b"Names").and_then(|tree| tree.get::<Dict<'_>>(b"Dests"));
        let entries = tree.into_iter().flat_map(|tree| names::entries(tree, MAX_NAMES));
        by_name.extend(entries.map(|(name, destination)| (name.to_vec(), destination)));
        Self { pages, by_name }
    }

    /// Returns the page that an item of the outline leads to, from 1.
    fn page_of(&self, item: &Dict<'a>) -> Option<u32> {
        let mut destination = item
            .get::<Object<'_>>(b"Dest")
            .or_else(|| item.get::<Dict<'_>>(b"A")?.get::<Object<'_>>(b"D"))?;
        // A name leads to a dictionary, and that to an array; a longer chain is a circle.
        for _ in 0..3 {
            destination = match destination {
                Object::Array(parts) => return self.page_at(&parts),
                Object::Dict(dict) => dict.get::<Object<'_>>(b"D")?,
                Object::Name(name) => self.by_name.get(&*name)?.clone(),
                Object::String(name) => self.by_name.get(&*name)?.clone(),
                _ => return None,
            };
        }
        None
    }

    fn page_at(&self, parts: &Array<'_>) -> Option<u32> {
        match parts.raw_iter().next()? {
            MaybeRef::Ref(page) => self.pages.get(&page.into()).copied(),
            // Not allowed, but common: the index of the page.
            MaybeRef::NotRef(Object::Number(idx)) => {
                u32::try_from(idx.as_i64()).ok().map(|idx: u32| idx.saturating_add(1))
            }
            MaybeRef::NotRef(_) => None,
        }
    }
}
