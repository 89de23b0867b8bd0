//! Finds the best places to cut a long stretch of source, from its syntax tree.
//!
//! A cut is the beginning of a line on which a statement, a case or an element begins: the
//! outermost that will do, after a blank line if there is one.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::comments::row_after;
use super::grammar::Grammar;

/// What is not longer stays whole: about the 190 tokens that the smallest models read beside
/// context, at three characters a token.
pub(super) const WHOLE_BYTES: usize = 600;

/// Neighbouring pieces are joined up to here, so that a table of numbers is not a million pieces.
const MIN_PIECE_BYTES: usize = 160;

/// Statements nested deeper are not looked at: nobody writes them.
const MAX_DEPTH: usize = 60;

/// A place to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Beginning of a line.
    at: usize,
    /// Depth in the tree, doubled, and one more if no blank line is before it: smaller is better.
    rank: usize,
}

/// What a level of the tree remembers while its nodes go by.
#[derive(Default)]
struct Level {
    /// Whether a node with a name was there: the first one stays with what opens the level.
    has_begun: bool,
    /// The row after a comment line: what begins there stays with the comment.
    row_after_comment: Option<usize>,
}

/// Finds all places to cut in nodes too long to stay whole, in order.
pub(super) fn cuts(tree: &Tree, text: &str, grammar: &Grammar) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    let mut levels = vec![Level::default()];
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let depth = levels.len();
        if let Some(level) = levels.last_mut() {
            let begins_line = begins_line(text, node);
            let is_glued = !node.is_named()
                || grammar.glued.contains(&node.kind())
                || !level.has_begun
                || level.row_after_comment == Some(node.start_position().row);
            let at = node.start_byte() - node.start_position().column;
            if begins_line && !is_glued && cuts.last().is_none_or(|last| last.at < at) {
                let is_after_blank = is_blank(last_line(&text[..at.saturating_sub(1)]));
                cuts.push(Cut { at, rank: depth * 2 + usize::from(!is_after_blank) });
            }
            level.has_begun |= node.is_named();
            let is_comment = grammar.is_comment(node.kind());
            level.row_after_comment = (is_comment && begins_line).then(|| row_after(node));
        }
        let is_long = node.end_byte() - node.start_byte() > WHOLE_BYTES;
        if is_long && depth < MAX_DEPTH && cursor.goto_first_child() {
            levels.push(Level::default());
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return cuts;
            }
            levels.pop();
        }
    }
}

/// Places to cut where there is no tree: after blank lines.
pub(super) fn paragraph_cuts(text: &str) -> Vec<Cut> {
    let mut at = 0;
    let mut was_blank = false;
    let mut cuts = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_blank = is_blank(line);
        if was_blank && !is_blank {
            cuts.push(Cut { at, rank: 0 });
        }
        was_blank = is_blank;
        at += line.len();
    }
    cuts
}

/// Cuts a stretch into pieces, none longer than [`WHOLE_BYTES`] where there is a place to cut.
pub(super) fn pieces(stretch: Range<usize>, cuts: &[Cut]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut waiting = vec![stretch];
    while let Some(piece) = waiting.pop() {
        let first = cuts.partition_point(|cut| cut.at <= piece.start);
        let after = cuts.partition_point(|cut| cut.at < piece.end);
        let inside = if piece.len() > WHOLE_BYTES { &cuts[first..after.max(first)] } else { &[] };
        let Some(best) = inside.iter().map(|cut| cut.rank).min() else {
            match pieces.last_mut() {
                Some(last) if piece.end - last.start <= MIN_PIECE_BYTES => last.end = piece.end,
                _ => pieces.push(piece),
            }
            continue;
        };
        // The last piece goes in first: what waits is taken from the end.
        let mut end = piece.end;
        for cut in inside.iter().rev().filter(|cut| cut.rank == best) {
            waiting.push(cut.at..end);
            end = cut.at;
        }
        waiting.push(piece.start..end);
    }
    pieces
}

/// Whether nothing but white space stands before a node on its line.
pub(super) fn begins_line(text: &str, node: Node<'_>) -> bool {
    let start = node.start_byte();
    is_blank(&text[start - node.start_position().column..start])
}

fn is_blank(text: &str) -> bool {
    text.trim_start().is_empty()
}

fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or_default()
}
