//! Finds the best places to split a long region of source, from its syntax tree.
//!
//! A cut is the beginning of a line on which a statement, a case or an element begins. Outermost
//! cuts are preferred, and of these the ones after a blank line.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::grammar::Grammar;

/// Shorter regions are not split: this is about the 190 tokens that the smallest models read in
/// addition to context, at three characters per token.
pub(super) const MAX_UNCUT_BYTES: usize = 600;

/// Adjacent pieces are joined up to this size, so that a table of numbers does not become a million
/// pieces.
const MIN_PIECE_BYTES: usize = 160;

/// More deeply nested statements are not visited; they do not occur in real code.
const MAX_DEPTH: usize = 60;

/// A place to split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutPlace {
    /// Beginning of a line.
    pub(super) at: usize,
    /// Twice the depth in the tree or the indentation, plus 1 if no blank line precedes; smaller is better.
    pub(super) rank: usize,
}

/// State of one level of the tree while its nodes are visited.
#[derive(Default)]
struct TreeLevel {
    /// Whether a named node was visited; the first one stays with the code that opens the level.
    has_begun: bool,
    /// The row after a comment line; a node that begins there stays with the comment.
    row_after_comment: Option<usize>,
}

/// Finds all cuts in nodes that are too long to stay in one piece, in order.
pub(super) fn cuts(tree: &Tree, text: &str, grammar: &Grammar) -> Vec<CutPlace> {
    let mut cuts: Vec<CutPlace> = Vec::new();
    let mut levels = vec![TreeLevel::default()];
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let depth = levels.len();
        if let Some(level) = levels.last_mut() {
            let begins_line = begins_line(text, node);
            let is_glued = !node.is_named()
                || grammar.glued.iter().any(|kind| kind == node.kind())
                || !level.has_begun
                || level.row_after_comment == Some(node.start_position().row);
            let at = node.start_byte() - node.start_position().column;
            if begins_line && !is_glued && cuts.last().is_none_or(|last| last.at < at) {
                let is_after_blank = is_blank(last_line(&text[..at.saturating_sub(1)]));
                cuts.push(CutPlace { at, rank: depth * 2 + usize::from(!is_after_blank) });
            }
            level.has_begun |= node.is_named();
            let is_comment = grammar.is_comment(node.kind());
            level.row_after_comment = (is_comment && begins_line).then(|| row_after(node));
        }
        let is_long = node.end_byte() - node.start_byte() > MAX_UNCUT_BYTES;
        if is_long && depth < MAX_DEPTH && cursor.goto_first_child() {
            levels.push(TreeLevel::default());
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

/// Returns the cuts for text without a tree: after blank lines.
pub(super) fn paragraph_cuts(text: &str) -> Vec<CutPlace> {
    let mut at = 0;
    let mut was_blank = false;
    let mut cuts = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_blank = is_blank(line);
        if was_blank && !is_blank {
            cuts.push(CutPlace { at, rank: 0 });
        }
        was_blank = is_blank;
        at += line.len();
    }
    cuts
}

/// Splits a range into pieces, none longer than [`MAX_UNCUT_BYTES`] if there are enough cuts.
pub(super) fn pieces(range: Range<usize>, cuts: &[CutPlace]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut waiting = vec![range];
    while let Some(piece) = waiting.pop() {
        let first = cuts.partition_point(|cut| cut.at <= piece.start);
        let after = cuts.partition_point(|cut| cut.at < piece.end);
        let inside =
            if piece.len() > MAX_UNCUT_BYTES { &cuts[first..after.max(first)] } else { &[] };
        let Some(best) = inside.iter().map(|cut| cut.rank).min() else {
            match pieces.last_mut() {
                Some(last) if piece.end - last.start <= MIN_PIECE_BYTES => last.end = piece.end,
                _ => pieces.push(piece),
            }
            continue;
        };
        // The last piece is pushed first, as `waiting` is popped from its end.
        let mut end = piece.end;
        for cut in inside.iter().rev().filter(|cut| cut.rank == best) {
            waiting.push(cut.at..end);
            end = cut.at;
        }
        waiting.push(piece.start..end);
    }
    pieces
}

fn is_blank(text: &str) -> bool {
    text.trim_start().is_empty()
}

fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or_default()
}

/// Returns the row after a node, also for a node that ends with its line end.
pub(super) fn row_after(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row } else { end.row + 1 }
}

/// Whether only white space precedes a node on its line.
pub(super) fn begins_line(text: &str, node: Node<'_>) -> bool {
    let start = node.start_byte();
    text[start - node.start_position().column..start].trim_start().is_empty()
}
