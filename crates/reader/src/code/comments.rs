//! Collects the comments and attributes that belong to the definition below them.

use tree_sitter::Node;

use super::cut::{begins_line, row_after};

/// The last run of comments on consecutive lines.
#[derive(Default)]
pub(super) struct Comments {
    start: usize,
    end: usize,
    /// The row after the last comment; `None` before the first comment.
    next_row: Option<usize>,
}

impl Comments {
    /// Adds the next comment; a comment after code belongs to that code.
    pub(super) fn add(&mut self, text: &str, comment: Node<'_>) {
        if !self.are_adjacent_to(text, comment) {
            if !begins_line(text, comment) {
                return;
            }
            if !self.end_above(comment) {
                self.start = comment.start_byte() - comment.start_position().column;
            }
        }
        self.end = comment.end_byte();
        self.next_row = Some(row_after(comment));
    }

    /// Whether there are only blanks between the last comment and a node.
    fn are_adjacent_to(&self, text: &str, node: Node<'_>) -> bool {
        let between = text.get(self.end..node.start_byte());
        self.next_row.is_some()
            && between.is_some_and(|text| text.chars().all(|c| c == ' ' || c == '\t'))
    }

    /// Whether the last comment ends on the line above a node.
    pub(super) fn end_above(&self, node: Node<'_>) -> bool {
        self.next_row == Some(node.start_position().row)
    }

    /// Returns where a definition begins: at the first of the comments above it, else at its line.
    pub(super) fn start_with(&self, text: &str, definition: Node<'_>) -> usize {
        if self.are_adjacent_to(text, definition) {
            self.start
        } else if !begins_line(text, definition) {
            definition.start_byte()
        } else if self.end_above(definition) {
            self.start
        } else {
            definition.start_byte() - definition.start_position().column
        }
    }
}
