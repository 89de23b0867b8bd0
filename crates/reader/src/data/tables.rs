//! Finds the tables and keys of TOML, and the escapes in its strings. A comment belongs to the part after it.

use std::ops::Range;

use super::escapes::{Escape, Escapes, OnEscape, backslash};
use super::lines::{indent, lines};
use super::parts::Parts;

pub(super) fn scan(text: &str, parts: &mut Parts<'_>) {
    let mut is_in_table = false;
    let mut comment = None;
    let mut value = OpenValue::default();
    for (at, line) in lines(text) {
        let content = line.trim_start();
        let start = at + indent(line);
        if value.is_open() {
            value.read(content);
            continue;
        }
        if content.is_empty() {
            continue;
        }
        if content.starts_with('#') {
            comment.get_or_insert(at);
            continue;
        }
        let begin = comment.take().unwrap_or(at);
        if let Some(name) = table(content) {
            if is_in_table {
                parts.close(begin);
            }
            parts.member(begin, Some(start + name.start..start + name.end));
            parts.open();
            is_in_table = true;
        } else if let Some((key, rest)) = content.split_once('=') {
            parts.member(begin, Some(start..start + key.len()));
            value.read(rest);
        }
    }
}

/// Finds the escapes in strings in double quotes.
pub(super) fn escapes(text: &str, on_escape: &mut OnEscape<'_>) {
    let bytes = text.as_bytes();
    // The quotes that end the string.
    let mut open: Option<&str> = None;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let Some(quotes) = open else {
            if bytes[at] == b'#' {
                at += text[at..].find('\n').unwrap_or(rest.len());
                continue;
            }
            open = QUOTES.into_iter().find(|quotes| rest.starts_with(quotes.as_bytes()));
            at += open.map_or(1, str::len);
            continue;
        };
        let is_escape = bytes[at] == b'\\' && quotes.starts_with('"');
        let escape = if is_escape { backslash(&text[at..], Escapes::Toml) } else { None };
        if let Some((len, stands_for)) = escape {
            on_escape(Escape { bytes: at..at + len, stands_for });
            at += len;
        } else if is_escape {
            at += 2;
        } else if rest.starts_with(quotes.as_bytes()) {
            at += quotes.len();
            open = None;
        } else {
            // A string in single quotes or pairs of them ends with its line.
            open = open.filter(|quotes| quotes.len() > 1 || bytes[at] != b'\n');
            at += 1;
        }
    }
}

/// The quotes that begin and end a string, the longest first.
const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

/// Returns where the name is in `[name]` or `[[name]]`.
fn table(content: &str) -> Option<Range<usize>> {
    let name = content.strip_prefix('[')?;
    let name = name.strip_prefix('[').unwrap_or(name);
    let end = name.find(']')?;
    let start = content.len() - name.len();
    let rest = name[end..].trim_start_matches(']').trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(start..start + end)
}

/// A value that may reach over several lines.
#[derive(Debug, Default)]
struct OpenValue {
    /// Open brackets.
    depth: usize,
    /// The quotes that end a text.
    quotes: Option<&'static str>,
}

impl OpenValue {
    fn is_open(&self) -> bool {
        self.depth > 0 || self.quotes.is_some()
    }

    /// Reads one more line of it.
    fn read(&mut self, line: &str) {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if let Some(quotes) = self.quotes {
                match rest.find(quotes) {
                    Some(at) => {
                        self.quotes = None;
                        rest = &rest[at + quotes.len()..];
                    }
                    None => break,
                }
                continue;
            }
            let long = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes));
            if let Some(quotes) = long {
                self.quotes = Some(quotes);
                rest = &rest[quotes.len()..];
                continue;
            }
            rest = &rest[first.len_utf8()..];
            match first {
                '"' | '\'' => rest = after_text(rest, first),
                '[' | '{' => self.depth += 1,
                ']' | '}' => self.depth = self.depth.saturating_sub(1),
                '#' => break,
                _ => {}
            }
        }
    }
}

/// Returns the rest of a line after a text.
fn after_text(rest: &str, quote: char) -> &str {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if quote == '"' => is_escaped = true,
            _ if letter == quote => return &rest[at + 1..],
            _ => {}
        }
    }
    ""
}
