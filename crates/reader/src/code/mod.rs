//! Reads source code as one block per definition (tree-sitter).
//!
//! Functions, methods and classes become sections with a symbol. The preamble of a file and the
//! code between definitions become sections without one. Each language with a grammar is a row of
//! the table in `languages`; the others are divided by their lines, with the words in `definitions`.
//! Code that cannot be parsed is kept as plain source: only white space is lost.

mod comments;
mod cut;
mod definitions;
mod grammar;
mod languages;
mod lines;
mod names;
mod outline;
mod regions;
mod types;
mod words;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::time::Duration;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::document::{Block, BlockKind, Document, Language};
use crate::extract::clock::Clock;
use cut::CutPlace;
use grammar::Grammar;
use regions::Region;

/// Longer sources are not parsed: they are data, and a tree takes many times their memory.
const MAX_PARSED_BYTES: usize = 8_000_000;

/// Bytes that the parser reads in one call, between which the time is checked.
const READ_BYTES: usize = 4096;

/// Time limit of the parser, and the addition per megabyte: ten times the time of the slowest of
/// 24,000 real files. Parsing a run of `<-` or of continued lines can take hours.
const MAX_TIME: Duration = Duration::from_secs(1);
const MAX_TIME_PER_MB: Duration = Duration::from_secs(3);

/// Longest chain of one operator in a statement. The memory of the Bash parser is quadratic in it
/// if a pipeline is malformed (650 MB at 8,000).
const MAX_CHAIN: usize = 2_000;

/// Finds the definitions of a source file and the code between them.
///
/// Blocks are ordered and disjoint, and contain everything but white space. The first block of a
/// definition starts a section. If the definition is long, more blocks follow, with its head as
/// context.
pub(super) fn extract(text: &str, language: Language) -> Document {
    let (regions, cuts) = match Grammar::of(language) {
        Some(grammar) => match parse(text, &grammar, time_limit(text.len())) {
            Some(tree) => {
                (outline::regions(&tree, text, &grammar), cut::cuts(&tree, text, &grammar))
            }
            None => {
                let all =
                    Region { bytes: 0..text.len(), starts_section: true, ..Region::default() };
                (vec![all], cut::paragraph_cuts(text))
            }
        },
        None => lines::divide(text, definitions::of(language)),
    };
    let blocks = regions.into_iter().flat_map(|region| blocks(text, &region, &cuts)).collect();
    Document { text: text.to_owned(), blocks, has_lines: true, ..Document::default() }
}

fn time_limit(num_bytes: usize) -> Duration {
    let num_started_mb = u32::try_from(num_bytes / 1_000_000 + 1).unwrap_or(u32::MAX);
    MAX_TIME.saturating_add(MAX_TIME_PER_MB.saturating_mul(num_started_mb))
}

/// Parses a source; `None` if that would take longer than `limit` or too much memory.
fn parse(text: &str, grammar: &Grammar, limit: Duration) -> Option<Tree> {
    if text.len() > MAX_PARSED_BYTES
        || grammar.costly_chain.is_some_and(|operator| longest_chain(text, operator) > MAX_CHAIN)
    {
        return None;
    }
    let mut best: Option<(usize, Tree)> = None;
    for parser in grammar.parsers {
        let Some(tree) = parse_with(&parser(), text, limit) else { continue };
        let num_errors = num_error_bytes(&tree);
        if best.as_ref().is_none_or(|(least, _)| num_errors < *least) {
            best = Some((num_errors, tree));
        }
        if num_errors == 0 {
            break;
        }
    }
    best.map(|(_, tree)| tree)
}

fn parse_with(language: &tree_sitter::Language, text: &str, limit: Duration) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let clock = Clock::start();
    let is_late = Cell::new(false);
    let bytes = text.as_bytes();
    // One step of a scanner may read everything, so both reading and stepping are timed.
    let mut read = |start: usize, _| {
        is_late.set(is_late.get() || clock.elapsed() > limit);
        let end = if is_late.get() { start } else { start + READ_BYTES };
        bytes.get(start..end.min(bytes.len())).unwrap_or_default()
    };
    let mut on_progress = |_: &ParseState| {
        is_late.set(is_late.get() || clock.elapsed() > limit);
        if is_late.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut on_progress);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    // A parser whose input ends early treats what it has as complete.
    tree.filter(|_| !is_late.get())
}

/// Counts the bytes in errors, and 1 for each missing node.
fn num_error_bytes(tree: &Tree) -> usize {
    let mut num_bytes = 0;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            num_bytes += node.byte_range().len().max(1);
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return num_bytes;
            }
        }
    }
}

/// Returns the largest number of operators on a line, or on lines that end with the operator.
fn longest_chain(text: &str, operator: char) -> usize {
    let mut longest = 0;
    let mut num_operators = 0;
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        num_operators += line.matches(operator).count();
        longest = longest.max(num_operators);
        if !line.ends_with([operator, '\\']) {
            num_operators = 0;
        }
    }
    longest
}

/// Splits a region into blocks.
fn blocks(text: &str, region: &Region, cuts: &[CutPlace]) -> Vec<Block> {
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

/// Removes blank lines from both ends; the first line keeps its indentation.
fn without_blank_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let end = range.start + piece.trim_end().len();
    let num_blank = piece.len() - piece.trim_start().len();
    let num_lines = piece[..num_blank].rfind('\n').map_or(0, |end| end + 1);
    (range.start + num_lines).min(end)..end
}
