//! Source code in, one block per definition out (tree-sitter).
//!
//! Functions, methods and classes are sections with a symbol; so are a file's preamble and the
//! code between definitions, without one. Languages differ by a row of the table in `grammar`.
//! What does not parse is kept as plain source: nothing but white space is lost.

mod cut;
mod grammar;
mod outline;
mod words;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::{ControlFlow, Range};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use self::cut::Cut;
use self::grammar::Grammar;
use self::outline::Region;
use crate::document::{Block, BlockKind, Document, Language};

/// Longer sources are not parsed: they are data, and a tree takes many times their memory.
const MAX_PARSED_BYTES: usize = 8_000_000;

/// What the parser reads at a time.
const READ_BYTES: usize = 4096;

/// How often the parser may read each stretch of a source: of 24,000 real files none above 1 kB
/// needs more than 45. A run of 100,000 continued lines needs as many.
const MAX_READS: usize = 200;

/// One round (of a hundred steps of the parser) for every so many bytes of a source: the worst of
/// those files needs one for 34.
const BYTES_PER_ROUND: usize = 12;

/// Reads and rounds that any source may take.
const MIN_STEPS: usize = 1_000;

/// Finds the definitions of a source file and what lies between them.
///
/// Blocks are ordered and disjoint and leave out nothing but white space. The first block of a
/// definition starts a section; what a long one is cut into follows, with its head as context.
pub fn extract(text: &str, language: Language) -> Document {
    let grammar = Grammar::of(language);
    let (regions, cuts) = match parse(text, grammar) {
        Some(tree) => (outline::regions(&tree, text, grammar), cut::cuts(&tree, text, grammar)),
        None => {
            let whole = Region { bytes: 0..text.len(), starts_section: true, ..Region::default() };
            (vec![whole], cut::paragraph_cuts(text))
        }
    };
    let blocks = regions.into_iter().flat_map(|region| blocks(text, &region, &cuts)).collect();
    Document { text: text.to_owned(), blocks, has_lines: true, ..Document::default() }
}

/// Parses a source; `None` where that would take too long.
///
/// What is counted is work, not time, so that a file gives the same chunks on every machine.
fn parse(text: &str, grammar: &Grammar) -> Option<Tree> {
    if text.len() > MAX_PARSED_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&(grammar.parser)()).ok()?;
    let reads_left = Cell::new(MIN_STEPS + text.len().div_ceil(READ_BYTES) * MAX_READS);
    let mut rounds_left = MIN_STEPS + text.len() / BYTES_PER_ROUND;
    let bytes = text.as_bytes();
    let mut read = |start: usize, _| {
        reads_left.set(reads_left.get().saturating_sub(1));
        let end = if reads_left.get() == 0 { start } else { start + READ_BYTES };
        bytes.get(start..end.min(bytes.len())).unwrap_or_default()
    };
    let mut go_on = |_: &ParseState| {
        rounds_left = rounds_left.saturating_sub(1);
        match rounds_left == 0 || reads_left.get() == 0 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    // Without reads left the parser takes what it has read for the whole.
    tree.filter(|_| reads_left.get() > 0)
}

/// Makes blocks of a region.
fn blocks(text: &str, region: &Region, cuts: &[Cut]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for piece in cut::pieces(region.bytes.clone(), cuts) {
        let bytes = without_blank_lines(text, piece);
        if bytes.is_empty() {
            continue;
        }
        let is_first = blocks.is_empty();
        let context = if is_first { &region.context } else { &region.later_context };
        blocks.push(Block {
            bytes,
            kind: BlockKind::Code,
            headings: Vec::new(),
            symbol: region.symbol.clone(),
            context: context.clone(),
            page: None,
            starts_section: is_first && region.starts_section,
        });
    }
    blocks
}

/// Takes blank lines off both ends; the indentation of the first line stays.
fn without_blank_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let end = range.start + piece.trim_end().len();
    let num_blank = piece.len() - piece.trim_start().len();
    let num_lines = piece[..num_blank].rfind('\n').map_or(0, |it| it + 1);
    (range.start + num_lines).min(end)..end
}
