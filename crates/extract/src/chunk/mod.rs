//! Packs blocks into chunks that fit the token budget.
//!
//! Knows no format: an extractor labels pieces of text with their kind and headings, and this
//! module packs them so that the model can read every chunk completely. `seams` finds where text
//! may be split, `cut` makes atoms from blocks, `pack` makes runs from atoms, `wide` divides tables by
//! columns, `context` builds the context of a chunk, and `lines` finds its lines in the file. `recut`
//! splits a stored chunk again. This file writes the chunks and enforces the limit by counting each
//! chunk again in the form in which it is embedded.

mod context;
mod cut;
mod lines;
mod options;
mod pack;
mod recut;
mod seams;
mod wide;

use std::ops::Range;

use crate::document::{Block, BlockKind, CHAIN_SEPARATOR, Chunk, Document, PageRange, PlaceChange};

use context::{ChunkContext, Contexts};
use cut::Atom;
use lines::{TextLines, to_u32};
use pack::PackedRun;
use wide::TablePart;

pub use options::{ChunkOptions, Strategy};
pub use recut::recut;

/// Splits a document into chunks in reading order.
///
/// A chunk that continues the rows of a table begins with the table's head, and fenced code is fenced in every chunk
/// of a document whose lines are not those of the file, such as a notebook. A table that is too wide is divided by its
/// columns; each part begins with the head and has the first column.
///
/// `num_tokens` counts a text without special tokens; it need not be additive. Every character of a
/// block that is not white space is in at least one chunk, and no chunk's passage with
/// `reserved_tokens` exceeds `model_tokens` (unless a single character does). Without blocks there
/// are no chunks.
pub fn chunk(
    document: &Document,
    title: &str,
    num_tokens: &dyn Fn(&str) -> usize,
    options: &ChunkOptions,
) -> Vec<Chunk> {
    chunk_and_warn(document, title, num_tokens, options).0
}

/// Splits a document as [`chunk()`] does; returns also what about its tables a reader should know.
pub fn chunk_and_warn(
    document: &Document,
    title: &str,
    num_tokens: &dyn Fn(&str) -> usize,
    options: &ChunkOptions,
) -> (Vec<Chunk>, Vec<String>) {
    let contexts = Contexts::new(title, num_tokens, options);
    let mut writer = ChunkWriter::new(document, contexts, options);
    if options.strategy == Strategy::Whole && writer.write_single() {
        return (writer.chunks, Vec::new());
    }
    let runs = match options.strategy {
        Strategy::Structure => pack::sections(document, &mut writer.contexts, options),
        Strategy::Fixed | Strategy::Whole => pack::windows(document, &mut writer.contexts, options),
    };
    for run in runs {
        match run {
            PackedRun::Atoms(atoms) => writer.write(atoms),
            PackedRun::Part(headings, part) => writer.write_part(headings, &part),
        }
    }
    (writer.chunks, writer.warnings)
}

/// Writes runs of atoms as chunks.
struct ChunkWriter<'a> {
    document: &'a Document,
    contexts: Contexts<'a>,
    options: &'a ChunkOptions,
    lines: TextLines<'a>,
    chunks: Vec<Chunk>,
    warnings: Vec<String>,
    /// The last table with a warning.
    warned: Option<usize>,
}

impl<'a> ChunkWriter<'a> {
    fn new(document: &'a Document, contexts: Contexts<'a>, options: &'a ChunkOptions) -> Self {
        let lines = TextLines::of(document);
        let (chunks, warnings) = (Vec::new(), Vec::new());
        Self { document, contexts, options, lines, chunks, warnings, warned: None }
    }

    /// Writes the whole document as one chunk, if the model can read it.
    fn write_single(&mut self) -> bool {
        let atoms: Vec<Atom> = cut::block_atoms(self.document);
        let Some(rendered) = self.render(&atoms) else { return true };
        let text = &rendered.text;
        let num_tokens = self.contexts.count(text);
        let Some(left) = self.options.window().checked_sub(num_tokens) else { return false };
        let mut context = self.contexts.of_title(left);
        let mut total = self.contexts.count(&Chunk::passage(&context.text, text));
        if total > self.options.window() {
            // With this tokenizer the separator adds tokens.
            context = ChunkContext::default();
            total = num_tokens;
        }
        self.push(&atoms, rendered, context.text, total);
        true
    }

    /// Writes one run as one chunk, or as several if the tokenizer counts more tokens in the whole
    /// than in its parts.
    fn write(&mut self, atoms: Vec<Atom>) {
        let mut stack = vec![atoms];
        while let Some(atoms) = stack.pop() {
            let Some(mut rendered) = self.render(&atoms) else { continue };
            let text = &mut rendered.text;
            if let Some(head) = self.repeated_head(&atoms) {
                text.insert_str(0, head);
                rendered.num_head_lines = head.matches('\n').count();
            }
            rendered.num_head_lines += self.fence(&atoms, text);
            let mut context = self.contexts.of_chunk(self.document, &atoms);
            let mut total = self.contexts.count(&Chunk::passage(&context.text, text));
            let limit = self.options.max_tokens.saturating_add(context.cost);
            if total > limit.min(self.options.window()) {
                if let Some((left, right)) = cut::halve(&self.document.text, &atoms) {
                    stack.push(right);
                    stack.push(left);
                    continue;
                }
                if total > self.options.window() {
                    context = ChunkContext::default();
                    total = self.contexts.count(text);
                }
            }
            self.push(&atoms, rendered, context.text, total);
        }
    }

    /// Writes a part of a wide table below its headings. It is halved if the tokenizer counts more tokens in it than in its
    /// cells; the depth is that of halving a text to single characters.
    fn write_part(&mut self, mut atoms: Vec<Atom>, part: &TablePart) {
        let block = &self.document.blocks[part.block_idx];
        let rendered = self.render(&atoms);
        let RenderedRun { mut text, mut spans, .. } = rendered.unwrap_or_default();
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&part.text);
        spans.push(part.bytes.clone());
        let is_continued = part.bytes.start > block.bytes.start;
        let mut context = self.contexts.of_block(block, is_continued);
        let mut total = self.contexts.count(&Chunk::passage(&context.text, &text));
        let limit = self.options.max_tokens.saturating_add(context.cost);
        let rows = Atom {
            bytes: part.bytes.clone(),
            block_idx: part.block_idx,
            is_continued,
            weight: total,
            seam: seams::Seam::Sentence,
        };
        atoms.push(rows);
        if total > limit.min(self.options.window()) {
            // Only the first half has the headings above.
            if let Some((len, _)) = seams::middle(&part.text) {
                let (left, right) = part.text.split_at(len);
                atoms.pop();
                let half = |text: &str| TablePart { text: text.trim().to_owned(), ..part.clone() };
                self.write_part(atoms, &half(left));
                return self.write_part(Vec::new(), &half(right));
            }
            context = ChunkContext::default();
            total = self.contexts.count(&text);
        }
        if part.is_shortened && self.warned.replace(part.block_idx) != Some(part.block_idx) {
            self.warnings.push(self.shortened(block));
        }
        let num_head_lines = part.num_head_lines;
        self.push(&atoms, RenderedRun { text, spans, num_head_lines }, context.text, total);
    }

    /// Names a table whose labels or heads are shortened.
    fn shortened(&self, block: &Block) -> String {
        let head = &self.document.text[block.bytes.clone()];
        let head: String = head.trim_matches(['|', ' ']).chars().take(MAX_NAME).collect();
        let name = block.headings.last().unwrap_or(&head);
        format!(
            "labels and heads of the table in `{name}` are shortened in chunks: they are too long"
        )
    }

    /// Returns the head of the table whose rows a run continues.
    fn repeated_head(&self, atoms: &[Atom]) -> Option<&'a str> {
        let first = atoms.first().filter(|atom| atom.is_continued)?;
        let (head, _) = self.contexts.table_head(self.document, first.block_idx)?;
        let end = self.document.blocks[first.block_idx].bytes.start + head.len();
        let is_row = self.document.text[..first.bytes.start].ends_with('\n');
        (is_row && first.bytes.start >= end && self.options.strategy == Strategy::Structure)
            .then_some(head)
    }

    /// Opens and closes the fences of code that a run continues or does not end. Returns the number of lines before it.
    fn fence(&self, atoms: &[Atom], text: &mut String) -> usize {
        let last = atoms
            .last()
            .and_then(|last| Some((last, self.contexts.fences(self.document, last.block_idx)?)));
        if let Some((_, fences)) = last.filter(|(last, fences)| last.bytes.end <= fences.code.end) {
            text.push('\n');
            text.push_str(fences.mark);
        }
        let first = atoms
            .first()
            .and_then(|first| Some((first, self.contexts.fences(self.document, first.block_idx)?)));
        if let Some((_, fences)) =
            first.filter(|(first, fences)| first.bytes.start >= fences.code.start)
        {
            text.insert_str(0, fences.head);
            return fences.head.matches('\n').count();
        }
        0
    }

    /// Returns the text of a run: slices of the source, with a blank line between two that are
    /// separated by text outside all blocks. `None` if everything is blank.
    fn render(&self, atoms: &[Atom]) -> Option<RenderedRun> {
        let source = &self.document.text;
        let mut spans: Vec<(Range<usize>, BlockKind)> = Vec::new();
        for atom in atoms {
            match spans.last_mut() {
                Some((span, _)) if is_blank_between(source, span.end, atom.bytes.start) => {
                    span.end = atom.bytes.end;
                }
                _ => spans.push((atom.bytes.clone(), self.document.blocks[atom.block_idx].kind)),
            }
        }
        let spans: Vec<Range<usize>> = spans
            .into_iter()
            .map(|(span, kind)| trim(source, span, kind))
            .filter(|span| !span.is_empty())
            .collect();
        let texts: Vec<&str> = spans.iter().map(|span| &source[span.clone()]).collect();
        let text = texts.join(BETWEEN_SPANS);
        (!spans.is_empty()).then_some(RenderedRun { text, spans, num_head_lines: 0 })
    }

    fn push(&mut self, atoms: &[Atom], rendered: RenderedRun, context: String, num_tokens: usize) {
        let RenderedRun { text, spans, num_head_lines } = rendered;
        let (Some(first), Some(last)) = (atoms.first(), atoms.last()) else { return };
        let blocks = &self.document.blocks;
        let lead = context::lead(self.document, atoms);
        let new_places = self.new_places(atoms, lead, &spans, num_head_lines);
        let section = section_of(&blocks[lead]);
        let lines = self.lines.of_chunk(&spans, num_head_lines);
        let pages = blocks[first.block_idx].page.zip(blocks[last.block_idx].page);
        self.chunks.push(Chunk {
            text,
            context,
            token_count: to_u32(num_tokens + self.options.reserved_tokens),
            section,
            symbol: blocks[first.block_idx].symbol.clone(),
            pages: pages.map(|(first, last)| PageRange::between(first, last)),
            page_label: blocks[first.block_idx]
                .page
                .and_then(|page| self.document.page_label(page)),
            lines: lines.as_ref().map(|lines| lines.lines),
            line_map: lines.and_then(|lines| lines.map),
            new_places: Some(new_places),
        });
    }

    /// Returns where in the text of a run, which consists of spans of the document behind lines that it repeats, another
    /// page, section or symbol begins. The headings before the lead begin its section.
    fn new_places(
        &self,
        atoms: &[Atom],
        lead: usize,
        spans: &[Range<usize>],
        num_head_lines: usize,
    ) -> Vec<PlaceChange> {
        let mut places: Vec<PlaceChange> = Vec::new();
        let mut last = atoms[0].block_idx;
        let (mut span, mut line, mut counted) = (0, num_head_lines, spans[0].start);
        for atom in &atoms[1..] {
            let (block, above) =
                (&self.document.blocks[atom.block_idx], &self.document.blocks[last]);
            // Headings above the lead are part of its section.
            let is_as_lead = atom.block_idx <= lead;
            let is_same = block.page == above.page
                && block.symbol == above.symbol
                && (is_as_lead || block.headings == above.headings);
            last = atom.block_idx;
            if is_same {
                continue;
            }
            while spans.get(span + 1).is_some_and(|next| next.start <= atom.bytes.start) {
                let rest = &self.document.text[counted..spans[span].end.max(counted)];
                line += rest.matches('\n').count() + BETWEEN_SPANS.len();
                span += 1;
                counted = spans[span].start;
            }
            let start = atom.bytes.start.clamp(counted, spans[span].end.max(counted));
            line += self.document.text[counted..start].matches('\n').count();
            counted = start;
            let place = PlaceChange {
                line: to_u32(line),
                page: block.page,
                section: section_of(&self.document.blocks[atom.block_idx.max(lead)]),
                symbol: block.symbol.clone(),
            };
            // If two places are on one line, the later one counts.
            match places.last_mut().filter(|above| above.line >= place.line) {
                Some(same_line) => *same_line = place,
                None => places.push(place),
            }
        }
        places
    }
}

/// Returns the headings above a block as one text.
fn section_of(block: &Block) -> Option<String> {
    (!block.headings.is_empty()).then(|| block.headings.join(CHAIN_SEPARATOR))
}

/// Stands between spans that text outside all blocks separates.
const BETWEEN_SPANS: &str = "\n\n";

/// Longest name of a table in a warning, in characters: its head may be a line of any length.
const MAX_NAME: usize = 60;

/// The text of a run.
#[derive(Debug, Default)]
struct RenderedRun {
    text: String,
    /// Its ranges in the document, at least one.
    spans: Vec<Range<usize>>,
    /// Lines of a head that is repeated before them.
    num_head_lines: usize,
}

fn is_blank_between(source: &str, start: usize, end: usize) -> bool {
    source.get(start..end).is_some_and(|between| between.chars().all(char::is_whitespace))
}

/// Removes blank lines and blanks around a span, but keeps the indentation of code.
fn trim(source: &str, span: Range<usize>, kind: BlockKind) -> Range<usize> {
    let text = &source[span.clone()];
    let end = span.start + text.trim_end().len();
    let mut start = (span.start + (text.len() - text.trim_start().len())).min(end);
    if kind == BlockKind::Code {
        let line_start =
            source[span.start..start].rfind('\n').map(|newline| span.start + newline + 1);
        let is_line_start = span.start == 0 || source[..span.start].ends_with('\n');
        start = line_start.or(is_line_start.then_some(span.start)).unwrap_or(start).min(end);
    }
    start..end
}

#[cfg(test)]
mod tests;
