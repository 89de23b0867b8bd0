//! Comments as they go by in, those that belong to the definition below them out.

use tree_sitter::Node;

use super::cut::begins_line;

/// The last comments on consecutive lines.
#[derive(Default)]
pub(super) struct Comments {
    start: usize,
    /// The row after the last of them; `None` before the first comment.
    next_row: Option<usize>,
}

impl Comments {
    /// Takes the next comment; one behind code belongs to that code.
    pub(super) fn note(&mut self, text: &str, comment: Node<'_>) {
        if !begins_line(text, comment) {
            return;
        }
        if !self.are_above(comment) {
            self.start = comment.start_byte() - comment.start_position().column;
        }
        self.next_row = Some(comment.end_position().row + 1);
    }

    /// Whether the last of them ends on the line above a node.
    pub(super) fn are_above(&self, node: Node<'_>) -> bool {
        self.next_row == Some(node.start_position().row)
    }

    /// Where a definition begins: the first of the comments above it, else its line.
    pub(super) fn start_with(&self, text: &str, definition: Node<'_>) -> usize {
        if !begins_line(text, definition) {
            definition.start_byte()
        } else if self.are_above(definition) {
            self.start
        } else {
            definition.start_byte() - definition.start_position().column
        }
    }
}
