//! Edits a line of text with a cursor.

use crate::cli::find::keys::KeyCommand;
use crate::present::terminal::columns::{after, before, width};
use crate::text::printable::clean_name;

/// A line of text with a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LineEditor {
    text: String,
    /// A byte position in the text, between two graphemes.
    cursor: usize,
}

impl LineEditor {
    /// Returns a line with its cursor at the end.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), cursor: text.len() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Inserts text at the cursor. Line ends become spaces, and other control characters are left out.
    pub(super) fn insert(&mut self, typed: &str) {
        let typed: String = typed
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        self.text.insert_str(self.cursor, &typed);
        self.cursor += typed.len();
    }

    /// Edits the line; returns `None` if the command is not one of editing, else whether the text changed.
    pub(super) fn edit(&mut self, command: KeyCommand) -> Option<bool> {
        let (from, to) = match command {
            KeyCommand::Insert(typed) => {
                self.insert(typed.encode_utf8(&mut [0; 4]));
                return Some(true);
            }
            KeyCommand::Left => return self.moved(before(&self.text, self.cursor)),
            KeyCommand::Right => return self.moved(after(&self.text, self.cursor)),
            KeyCommand::WordLeft => return self.moved(self.word_start()),
            KeyCommand::WordRight => return self.moved(self.word_end()),
            KeyCommand::Home => return self.moved(0),
            KeyCommand::End => return self.moved(self.text.len()),
            KeyCommand::DeleteBefore => (before(&self.text, self.cursor), self.cursor),
            KeyCommand::DeleteAfter => (self.cursor, after(&self.text, self.cursor)),
            KeyCommand::DeleteWord => (self.word_start(), self.cursor),
            KeyCommand::DeleteToStart => (0, self.cursor),
            KeyCommand::DeleteToEnd => (self.cursor, self.text.len()),
            _ => return None,
        };
        self.text.replace_range(from..to, "");
        self.cursor = from;
        Some(from < to)
    }

    fn moved(&mut self, cursor: usize) -> Option<bool> {
        self.cursor = cursor;
        Some(false)
    }

    fn word_start(&self) -> usize {
        let left = self.text[..self.cursor].trim_end();
        left.rfind(' ').map_or(0, |space| space + 1)
    }

    fn word_end(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let skipped = rest.len() - rest.trim_start().len();
        rest[skipped..].find(' ').map_or(self.text.len(), |len| self.cursor + skipped + len)
    }

    /// Returns the part of the text that is shown in a width, clean, and the column of the cursor in it.
    pub(super) fn shown(&self, columns: usize) -> (String, usize) {
        let mut start = 0;
        while width(&self.text[start..self.cursor]) >= columns.max(1) {
            start = after(&self.text, start);
        }
        (clean_name(&self.text[start..]), width(&self.text[start..self.cursor]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, commands: &[KeyCommand]) -> (String, usize) {
        let mut entry = LineEditor::new(text);
        for command in commands {
            assert!(entry.edit(*command).is_some());
        }
        (entry.text, entry.cursor)
    }

    #[test]
    fn graphemes_are_kept_together() {
        use KeyCommand::{DeleteBefore, Insert, Left};
        assert_eq!(typed("cafe\u{301}", &[Left]), ("cafe\u{301}".into(), 3));
        assert_eq!(typed("cafe\u{301}", &[DeleteBefore]), ("caf".into(), 3));
        assert_eq!(typed("東都", &[Left, Insert('京')]), ("東京都".into(), 6));
    }

    #[test]
    fn words_are_moved_over_and_deleted() {
        use KeyCommand::{DeleteToEnd, DeleteToStart, DeleteWord, Home, WordLeft, WordRight};
        assert_eq!(typed("one two ", &[DeleteWord]), ("one ".into(), 4));
        assert_eq!(typed("one two", &[WordLeft, DeleteToStart]), ("two".into(), 0));
        assert_eq!(typed("one two", &[Home, WordRight, DeleteToEnd]), ("one".into(), 3));
    }

    #[test]
    fn the_cursor_is_always_shown() {
        assert_eq!(LineEditor::new("abcdef").shown(10), ("abcdef".into(), 6));
        assert_eq!(LineEditor::new("abcdef").shown(4), ("def".into(), 3));
        assert_eq!(LineEditor::new("東京都").shown(4), ("都".into(), 2));
        assert_eq!(LineEditor::new("").shown(0), (String::new(), 0));
    }

    #[test]
    fn a_paste_is_one_clean_line() {
        let mut entry = LineEditor::default();
        entry.insert("one\ntwo\u{1b}[31m");
        assert_eq!(entry.text(), "one two[31m");
    }
}
