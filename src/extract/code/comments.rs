//! Collects the comments and attributes that belong to the definition below them.

use tree_sitter::Node;

use super::cut::begins_line;

/// The last comments on consecutive lines.
#[derive(Default)]
pub(super) struct Comments {
    start: usize,
    end: usize,
    /// The row after the last of them; `None` before the first comment.
    next_row: Option<usize>,
}

/// Returns the row after a node, which may end with the end of its last line.
pub(super) fn row_after(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row } else { end.row + 1 }
}

impl Comments {
    /// Takes the next comment; one behind code belongs to that code.
    pub(super) fn note(&mut self, text: &str, comment: Node<'_>) {
        if !self.are_beside(text, comment) {
            if !begins_line(text, comment) {
                return;
            }
            if !self.are_above(comment) {
                self.start = comment.start_byte() - comment.start_position().column;
            }
        }
        self.end = comment.end_byte();
        self.next_row = Some(row_after(comment));
    }

    /// Whether nothing but blanks is between the last of them and a node.
    fn are_beside(&self, text: &str, node: Node<'_>) -> bool {
        let between = text.get(self.end..node.start_byte());
        let is_blank = |it: &str| it.chars().all(|it| it == ' ' || it == '\t');
        self.next_row.is_some() && between.is_some_and(is_blank)
    }

    /// Whether the last of them ends on the line above a node.
    pub(super) fn are_above(&self, node: Node<'_>) -> bool {
        self.next_row == Some(node.start_position().row)
    }

    /// Where a definition begins: the first of the comments above it, else its line.
    pub(super) fn start_with(&self, text: &str, definition: Node<'_>) -> usize {
        if self.are_beside(text, definition) {
            self.start
        } else if !begins_line(text, definition) {
            definition.start_byte()
        } else if self.are_above(definition) {
            self.start
        } else {
            definition.start_byte() - definition.start_position().column
        }
    }
}
