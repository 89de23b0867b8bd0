//! Finds the members of JSON, of one value or of one per line, and the escapes in its strings; comments are skipped.

use super::escapes::{Escape, Escapes, OnEscape, backslash, decode};
use super::parts::Parts;

pub(super) fn scan(text: &str, parts: &mut Parts<'_>) {
    let bytes = text.as_bytes();
    // Whether each open container is an object.
    let mut open: Vec<bool> = Vec::new();
    let mut begins = true;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b',' => begins = true,
            b':' => {}
            b'/' if bytes[at..].starts_with(b"/") => at = find(bytes, at, b"\n"),
            b'/' if bytes[at..].starts_with(b"*") => at = find(bytes, at + 1, b"*/"),
            b'}' | b']' => {
                if open.pop().is_some() {
                    parts.close(start);
                }
                begins = open.is_empty();
            }
            byte if byte.is_ascii_whitespace() => begins |= open.is_empty(),
            byte => {
                if byte == b'"' {
                    at = end_of_string(bytes, at);
                }
                if std::mem::take(&mut begins) {
                    let is_key = byte == b'"' && open.last() == Some(&true);
                    parts.member(start, is_key.then(|| start + 1..(at - 1).max(start + 1)));
                }
                if matches!(byte, b'{' | b'[') {
                    parts.open();
                    open.push(byte == b'{');
                    begins = true;
                }
            }
        }
    }
}

/// Finds the escapes in strings.
pub(super) fn escapes(text: &str, on_escape: &mut OnEscape<'_>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at + 1..];
        at = match bytes[at] {
            b'"' => escapes_of_string(text, at + 1, on_escape),
            b'/' if rest.starts_with(b"/") => find(bytes, at + 1, b"\n"),
            b'/' if rest.starts_with(b"*") => find(bytes, at + 2, b"*/"),
            _ => at + 1,
        };
    }
}

/// Finds the escapes of a string; returns the position after it.
fn escapes_of_string(text: &str, from: usize, on_escape: &mut OnEscape<'_>) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\n' => return at,
            b'\\' => match backslash(&text[at..], Escapes::Json) {
                Some((len, stands_for)) => {
                    on_escape(Escape { bytes: at..at + len, stands_for });
                    at += len;
                }
                None => at += 2,
            },
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the text of a string in quotes.
pub(super) fn unquoted(quoted: &str) -> String {
    let decoded = decode(quoted, &mut [], escapes);
    let text = decoded.map_or_else(|| quoted.to_owned(), |decoded| decoded.text);
    let text = text.strip_prefix('"').unwrap_or(&text);
    text.strip_suffix('"').unwrap_or(text).to_owned()
}

/// Returns the position after a pattern, or the end.
fn find(bytes: &[u8], from: usize, pattern: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let found = rest.windows(pattern.len()).position(|window| window == pattern);
    found.map_or(bytes.len(), |found| from + found + pattern.len())
}

/// Returns the position after a string, which cannot contain a line end.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\n' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
