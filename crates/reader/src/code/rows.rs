//! Says where a node of a syntax tree is on its rows.

use tree_sitter::Node;

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
