//! Reads code, word by word: calls, their arguments, and text in quotes.

use super::{Flattener, value_of};
use crate::markup::typst::frames::TypstFrame;

impl Flattener<'_> {
    /// Reads the next word or mark of code.
    pub(super) fn code(&mut self) {
        let callee = self.callee.take();
        let rest = self.scanner.rest();
        let Some(first) = rest.chars().next() else { return };
        match first {
            '\n' if matches!(self.frames.last(), Some(TypstFrame::Statement { .. })) => {
                self.close();
            }
            ';' if matches!(self.frames.last(), Some(TypstFrame::Statement { .. })) => {
                self.scanner.take(1);
                self.close();
            }
            '"' => self.quoted(),
            '`' => {
                let raw = self.scanner.raw();
                self.deliver_raw(&raw);
            }
            '$' => self.formula(),
            '/' if self.comment() => {}
            '[' => {
                self.scanner.take(1);
                self.open_content(callee.unwrap_or_default());
            }
            '(' => {
                self.scanner.take(1);
                self.open_arguments(callee.unwrap_or_default());
            }
            '{' => {
                self.scanner.take(1);
                self.open(TypstFrame::Block);
            }
            ')' | '}' | ']' => self.closing(first),
            ',' | ':' => self.separator(first, callee),
            c if c.is_alphabetic() || c == '_' => {
                let name = self.scanner.path().to_owned();
                self.name(name);
            }
            _ => {
                self.scanner.take(first.len_utf8());
            }
        }
    }

    /// Reads a name in code.
    fn name(&mut self, name: String) {
        let is_value = !self.scanner.rest().starts_with(['(', '[', ':']);
        let is_told = matches!(self.frames.last(), Some(TypstFrame::Arguments { argument, .. }) if !argument.is_empty());
        if is_value
            && is_told
            && let Some(text) =
                self.definitions.get(&name).filter(|text| self.growth.take(text.len()))
        {
            let text = text.clone();
            self.say(text);
        }
        self.callee = Some(name);
    }

    /// Reads a closing bracket in code. One that nothing opens is skipped.
    fn closing(&mut self, mark: char) {
        self.scanner.take(1);
        // Content is closed as a whole; no other bracket leads out of it.
        let innermost =
            self.frames.iter().rposition(|frame| matches!(frame, TypstFrame::Content { .. }));
        let opened = self.frames.iter().rposition(|frame| match frame {
            TypstFrame::Arguments { .. } => mark == ')',
            TypstFrame::Block => mark == '}',
            TypstFrame::Content { .. } => mark == ']',
            TypstFrame::Statement { .. } => false,
        });
        let Some(opened) = opened else { return };
        if mark != ']' && innermost.is_some_and(|innermost| opened < innermost) {
            return;
        }
        let mut closed = None;
        while self.frames.len() > opened {
            closed = self.close();
        }
        self.go_on(closed);
    }

    fn separator(&mut self, mark: char, callee: Option<String>) {
        self.scanner.take(1);
        let value_end = self.scanner.at() - 1;
        let Some(TypstFrame::Arguments { argument, start, cells, .. }) = self.frames.last_mut()
        else {
            return;
        };
        if mark == ':' {
            *argument = callee.unwrap_or_default();
        } else {
            cells.state(argument, value_of(&self.scanner, *start, value_end));
            argument.clear();
        }
        *start = self.scanner.at();
    }

    /// Reads a text in quotes in code.
    fn quoted(&mut self) {
        let said = self.scanner.quoted();
        self.say(said);
    }
}
