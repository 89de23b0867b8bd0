//! Finds the escapes in the quoted strings of YAML. A backslash means nothing in any other text.

use super::escapes::{Escape, Escapes, OnEscape, backslash};
use super::lines::indent;

pub(super) fn escapes(text: &str, on_escape: &mut OnEscape<'_>) {
    let mut quotes = QuotedStrings { text, on_escape, flow_depth: 0, open: None, block_of: None };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        quotes.line(start, end);
        start = end;
    }
}

/// A string that is not ended yet.
#[derive(Clone, Copy)]
struct OpenString {
    quote: u8,
    /// The column that its further lines are behind; `None` for a string that is the whole document.
    column: Option<usize>,
}

struct QuotedStrings<'a, 'b> {
    text: &'a str,
    on_escape: &'a mut OnEscape<'b>,
    /// Brackets that are open.
    flow_depth: usize,
    open: Option<OpenString>,
    /// The column of the key or mark whose value is a block of text.
    block_of: Option<usize>,
}

impl QuotedStrings<'_, '_> {
    fn line(&mut self, start: usize, end: usize) {
        let line = &self.text[start..end];
        let content = line.trim();
        if content.is_empty() {
            return;
        }
        let column = indent(line);
        if self.block_of.is_some_and(|key| column > key) {
            return;
        }
        self.block_of = None;
        if line.starts_with("---") {
            (self.flow_depth, self.open) = (0, None);
        }
        let mut at = start + column;
        match self.open.take().filter(|open| open.column.is_none_or(|key| column > key)) {
            Some(open) => at = self.string(at, end, open),
            None => {
                let key = match self.text.as_bytes()[at] {
                    b'"' | b'\'' if column == 0 => None,
                    _ => Some(column),
                };
                at = self.value(at, end, column, key);
            }
        }
        while at < end && self.open.is_none() {
            at = self.after(at, end, start, column);
        }
    }

    /// Reads what begins with a value or a key, to its end.
    fn value(&mut self, from: usize, end: usize, column: usize, key: Option<usize>) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        // The column of the last mark of a list before it.
        let mut owner = column;
        while at < end {
            let is_mark = matches!(bytes[at], b'-' | b'?')
                && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
            match bytes[at] {
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                b'[' | b'{' => {
                    self.flow_depth += 1;
                    at += 1;
                }
                _ if is_mark => {
                    owner = column + (at - from);
                    at += 1;
                }
                // A tag, or the name of a node.
                b'!' | b'&' => {
                    let word = self.text[at..end].find(char::is_whitespace);
                    at = word.map_or(end, |len| at + len);
                }
                quote @ (b'"' | b'\'') => {
                    return self.string(at + 1, end, OpenString { quote, column: key });
                }
                b'|' | b'>' if self.is_block_mark(at, end) => {
                    self.block_of = Some(owner);
                    return end;
                }
                _ => return at,
            }
        }
        at
    }

    /// Whether the rest of a line says how a block of text is written.
    fn is_block_mark(&self, at: usize, end: usize) -> bool {
        let rest = self.text[at + 1..end].trim_start_matches(['+', '-']);
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.trim_start_matches(['+', '-']);
        self.flow_depth == 0 && (rest.trim().is_empty() || rest.trim_start().starts_with('#'))
    }

    /// Reads text without quotes, or the text after a string, up to the next value.
    fn after(&mut self, at: usize, end: usize, start: usize, column: usize) -> usize {
        let bytes = self.text.as_bytes();
        let is_flow = self.flow_depth > 0;
        let is_before_blank = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        match bytes[at] {
            b'#' if before.is_none_or(u8::is_ascii_whitespace) => end,
            b':' if is_before_blank || (is_flow && matches!(before, Some(b'"' | b'\''))) => {
                // The block of a value is deeper than its key, which may be behind the mark of a list.
                let head = self.text[start..at].trim_start_matches([' ', '\t', '-', '?']);
                let key = (at - start).saturating_sub(head.len()).max(column);
                self.value_of(at + 1, end, key)
            }
            b',' if is_flow => self.value(at + 1, end, column, Some(column)),
            b'[' | b'{' if is_flow => self.value(at, end, column, Some(column)),
            b']' | b'}' => {
                self.flow_depth = self.flow_depth.saturating_sub(1);
                at + 1
            }
            _ => at + 1,
        }
    }

    /// Reads the value of a key in a column.
    fn value_of(&mut self, at: usize, end: usize, key: usize) -> usize {
        let blanks = self.text[at..end].len() - self.text[at..end].trim_start().len();
        let start = at + blanks;
        let first = self.text.as_bytes()[..end].get(start);
        if matches!(first, Some(b'|' | b'>')) && self.is_block_mark(start, end) {
            self.block_of = Some(key);
            return end;
        }
        self.value(start, end, key, Some(key))
    }

    /// Reads the rest of a string, within a line; returns where it ends there.
    fn string(&mut self, from: usize, end: usize, open: OpenString) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while at < end {
            let is_quote = bytes[at] == open.quote;
            if is_quote && open.quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') {
                (self.on_escape)(Escape { bytes: at..at + 2, stands_for: Some('\'') });
                at += 2;
            } else if is_quote {
                return at + 1;
            } else if bytes[at] == b'\\' && open.quote == b'"' {
                match backslash(&self.text[at..], Escapes::Yaml) {
                    Some((len, stands_for)) => {
                        (self.on_escape)(Escape { bytes: at..at + len, stands_for });
                        at += len;
                    }
                    None => at += 2,
                }
            } else {
                at += 1;
            }
        }
        self.open = Some(open);
        end
    }
}
