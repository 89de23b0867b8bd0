//! Divides a document into sections, pages or symbols.
//!
//! Headings of Markdown are read again from the text, so that small sections in the same chunk are
//! separated. For other formats, parts come from the metadata of the chunks.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::join::{self, JoinedText};
use crate::document::{CHAIN_SEPARATOR, PageKeys, PageRange, page_keys};
use crate::error::Result;
use crate::store::{ChunkId, DocumentId, Store, StoredChunk, StoredDocument};
use crate::text::fields;
use crate::text::headings::MarkdownPage;

/// Splits a qualified symbol into its names, outermost first: `Stack::push`, `HarmonicModel.fit`.
fn symbol_names(symbol: &str) -> impl Iterator<Item = &str> {
    symbol.split("::").flat_map(|part| part.split('.'))
}

/// Characters of the longest preview, without the line end.
const PREVIEW_CHARS: usize = 80;

fields::words! {
    /// The kind of a part.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PartKind {
        /// A heading with everything below it.
        Section = "section",
        /// A page.
        Page = "page",
        /// A definition with the definitions inside it.
        Symbol = "symbol",
        /// A chunk under no heading and in no definition.
        Text = "text",
    }
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Part")]
pub struct DocumentPart {
    /// `section`, `page`, `symbol` or `text`.
    pub kind: PartKind,
    /// 1 for the outermost.
    pub level: u32,
    /// Heading, qualified symbol or page number; null for plain text.
    pub name: Option<String>,
    /// Headings down to its own, joined by ` > `; null except for sections.
    pub section: Option<String>,
    /// The beginning of its text, on one line.
    pub preview: String,
    /// Its pages; `None` for a document without pages.
    #[serde(flatten, serialize_with = "page_keys")]
    #[schemars(with = "PageKeys")]
    pub pages: Option<PageRange>,
    // No range of lines: where lines cannot be counted, only one end may be known.
    /// First line in the file, from 1; null if lines are unknown.
    pub start_line: Option<u32>,
    /// Last line in the file, inclusive.
    pub end_line: Option<u32>,
    /// Its tokens including contexts, as the model counts them; a chunk that is partly in it counts in proportion.
    #[serde(rename = "tokens")]
    pub num_tokens: u32,
    /// Chunks that are completely or partly in it, in order.
    pub chunk_ids: Vec<ChunkId>,
    /// Its range in the joined text of the document.
    #[serde(skip)]
    pub(super) bytes: Range<usize>,
}

/// The parts of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentOutline {
    /// The document.
    pub document: StoredDocument,
    /// In reading order.
    pub parts: Vec<DocumentPart>,
    /// Tokens of all chunks with their contexts.
    pub num_tokens: u64,
}

/// An outline has to lead somewhere: a level at which there are fewer parts, such as only the title, is not enough.
const LEAST_PARTS: usize = 2;

impl DocumentOutline {
    /// Keeps the parts down to the first level at which there are several. Returns this level, and how many deeper parts
    /// there were.
    pub fn keep_outermost(&mut self) -> (u32, usize) {
        let mut levels: Vec<u32> = self.parts.iter().map(|part| part.level).collect();
        levels.sort_unstable();
        let least = levels.len().min(LEAST_PARTS);
        let level = least.checked_sub(1).map_or(1, |last| levels[last]);
        let num_parts = self.parts.len();
        self.parts.retain(|part| part.level <= level);
        (level, num_parts - self.parts.len())
    }
}

/// Lists the parts of a document down to a level.
pub fn outline(
    store: &Store,
    document: StoredDocument,
    level: Option<u32>,
) -> Result<DocumentOutline> {
    let text = StoredText::read(store, document.id)?;
    let mut parts = text.parts(&document);
    parts.retain(|part| level.is_none_or(|level| part.level <= level));
    let num_tokens = text.chunks.iter().map(|stored| u64::from(stored.chunk.token_count)).sum();
    Ok(DocumentOutline { document, parts, num_tokens })
}

/// The text of a document in the database.
pub(super) struct StoredText {
    pub(super) chunks: Vec<StoredChunk>,
    pub(super) joined: JoinedText,
}

impl StoredText {
    pub(super) fn read(store: &Store, id: DocumentId) -> Result<Self> {
        let chunks = store.chunks(id)?;
        let joined = join::join(chunks.iter().map(|stored| &stored.chunk));
        Ok(Self { chunks, joined })
    }

    /// Returns the most detailed parts: the headings in the text, else the parts of the chunks.
    pub(super) fn parts(&self, document: &StoredDocument) -> Vec<DocumentPart> {
        let parts = if document.format == "markdown" { self.headings() } else { Vec::new() };
        if parts.is_empty() { self.stored_parts() } else { parts }
    }

    /// Returns the parts stored with the chunks: symbols, sections, pages, or single chunks.
    pub(super) fn stored_parts(&self) -> Vec<DocumentPart> {
        if self.chunks.iter().any(|stored| stored.chunk.symbol.is_some()) {
            self.nested(PartKind::Symbol)
        } else if self.chunks.iter().any(|stored| stored.chunk.section.is_some()) {
            self.nested(PartKind::Section)
        } else if self.chunks.iter().any(|stored| stored.chunk.pages.is_some()) {
            self.pages()
        } else {
            (0..self.chunks.len())
                .map(|idx| self.of_chunks(PartKind::Text, 1, None, idx..idx + 1))
                .collect()
        }
    }

    /// Returns the headings in the text, each with everything below it.
    fn headings(&self) -> Vec<DocumentPart> {
        let page = MarkdownPage::new(self.joined.text.clone(), 0);
        let headings = page.headings();
        let mut parts: Vec<DocumentPart> = Vec::new();
        let mut chain: Vec<(u8, String)> = Vec::new();
        let before = page.preamble(&headings);
        if !headings.is_empty() && !before.trim().is_empty() {
            parts.push(self.of_bytes(PartKind::Text, 1, None, 0..before.len()));
        }
        for heading in headings {
            chain.retain(|(level, _)| *level < heading.level);
            chain.push((heading.level, heading.text.clone()));
            let names: Vec<&str> = chain.iter().map(|(_, name)| name.as_str()).collect();
            let section = Some(names.join(CHAIN_SEPARATOR));
            let (level, bytes) = (u32::from(heading.level), page.bytes(&heading));
            let mut part = self.of_bytes(PartKind::Section, level, Some(heading.text), bytes);
            part.section = section;
            parts.push(part);
        }
        parts
    }

    /// Returns runs of chunks with the same symbol or heading, each including the runs inside it.
    fn nested(&self, kind: PartKind) -> Vec<DocumentPart> {
        let is_symbol = kind == PartKind::Symbol;
        let paths: Vec<Vec<&str>> = self
            .chunks
            .iter()
            .map(|stored| if is_symbol { &stored.chunk.symbol } else { &stored.chunk.section })
            .map(|name| match name.as_deref() {
                Some(name) if is_symbol => symbol_names(name).collect(),
                Some(name) => name.split(CHAIN_SEPARATOR).collect(),
                None => Vec::new(),
            })
            .collect();
        let mut parts = Vec::new();
        let mut previous: &[&str] = &[];
        for (idx, path) in paths.iter().enumerate() {
            if path.is_empty() {
                parts.push(self.of_chunks(PartKind::Text, 1, None, idx..idx + 1));
            }
            let common = path.iter().zip(previous).take_while(|(a, b)| a == b).count();
            for depth in common..path.len() {
                let prefix = &path[..=depth];
                // A method's class is a separate part only if it has text outside the method.
                if is_symbol && depth + 1 < path.len() {
                    continue;
                }
                let follow =
                    paths[idx..].iter().take_while(|path| path.starts_with(prefix)).count();
                let level = u32::try_from(depth + 1).unwrap_or(u32::MAX);
                let symbol = self.chunks[idx].chunk.symbol.clone().filter(|_| is_symbol);
                let name = symbol.unwrap_or_else(|| prefix[depth].to_owned());
                let mut part = self.of_chunks(kind, level, Some(name), idx..idx + follow);
                part.section = (!is_symbol).then(|| prefix.join(CHAIN_SEPARATOR));
                parts.push(part);
            }
            previous = path;
        }
        parts
    }

    fn pages(&self) -> Vec<DocumentPart> {
        let pages = self.chunks.iter().filter_map(|stored| stored.chunk.pages);
        let last = pages.map(PageRange::last).max().unwrap_or(0);
        (1..=last).filter_map(|page| self.on_pages(PageRange::single(page))).collect()
    }

    /// Returns some pages: the chunks that are completely or partly on them.
    pub(super) fn on_pages(&self, pages: PageRange) -> Option<DocumentPart> {
        let start = self.chunks.iter().position(|stored| is_on(stored, pages))?;
        let end = self.chunks.iter().rposition(|stored| is_on(stored, pages))? + 1;
        let mut part = self.of_chunks(PartKind::Page, 1, Some(pages.to_string()), start..end);
        part.pages = Some(pages);
        Some(part)
    }

    pub(super) fn of_chunks(
        &self,
        kind: PartKind,
        level: u32,
        name: Option<String>,
        chunks: Range<usize>,
    ) -> DocumentPart {
        let spans = &self.joined.spans[chunks];
        let bytes =
            spans.first().map_or(0, |span| span.start)..spans.last().map_or(0, |span| span.end);
        self.of_bytes(kind, level, name, bytes)
    }

    fn of_bytes(
        &self,
        kind: PartKind,
        level: u32,
        name: Option<String>,
        bytes: Range<usize>,
    ) -> DocumentPart {
        let text = &self.joined.text[bytes.clone()];
        let bytes = bytes.start..bytes.start + text.trim_end().len();
        let spans = self.joined.spans.iter().enumerate();
        let inside: Vec<usize> = spans
            .filter(|(_, span)| span.start < bytes.end && bytes.start < span.end)
            .map(|(idx, _)| idx)
            .collect();
        let num_tokens: u64 = inside
            .iter()
            .map(|idx| share(&self.chunks[*idx], &self.joined.spans[*idx], &bytes))
            .sum();
        let (first, last) = (inside.first().copied(), inside.last().copied());
        let first_pages = first.and_then(|idx| self.chunks[idx].chunk.pages);
        let last_pages = last.and_then(|idx| self.chunks[idx].chunk.pages);
        DocumentPart {
            kind,
            level,
            name,
            section: None,
            preview: preview(text),
            pages: first_pages.zip(last_pages).map(|(first, last)| first.to_end_of(last)),
            start_line: first.and_then(|idx| self.joined.line(idx, bytes.start)),
            end_line: last.and_then(|idx| self.joined.line(idx, bytes.end)),
            num_tokens: u32::try_from(num_tokens).unwrap_or(u32::MAX),
            chunk_ids: inside.iter().map(|idx| self.chunks[*idx].id).collect(),
            bytes,
        }
    }

    /// Returns the line in the file of a position.
    pub(super) fn line_at(&self, at: usize) -> Option<u32> {
        self.joined.line(self.joined.chunk_at(at), at)
    }
}

/// Whether a chunk is completely or partly on some pages.
fn is_on(stored: &StoredChunk, pages: PageRange) -> bool {
    stored.chunk.pages.is_some_and(|own| own.overlaps(pages))
}

/// Returns a chunk's tokens in proportion to the part of it within `bytes`.
fn share(stored: &StoredChunk, span: &Range<usize>, bytes: &Range<usize>) -> u64 {
    let common = span.end.min(bytes.end).saturating_sub(span.start.max(bytes.start));
    let (common, len) = (common as u64, span.len().max(1) as u64);
    (u64::from(stored.chunk.token_count) * common).div_ceil(len)
}

fn preview(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.trim_end().chars().take(PREVIEW_CHARS).collect()
}

#[cfg(test)]
mod tests;
