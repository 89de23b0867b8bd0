//! Splits off the attributes that Textile writes before words.

use crate::markup::writer::within;

/// Longest attribute of a block, a cell or a span, in bytes: bounds the search for its end.
const MAX_ATTRIBUTE_BYTES: usize = 200;

/// Splits off the attributes of a block, a cell or a span: classes, styles, languages and alignment.
pub(super) fn attributes(text: &str) -> (&str, &str) {
    let mut rest = text;
    loop {
        let close = match rest.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            Some('[') => ']',
            Some('<' | '>' | '=' | ')') => {
                rest = &rest[1..];
                continue;
            }
            _ => break,
        };
        match within(rest, MAX_ATTRIBUTE_BYTES).find(close) {
            Some(end) if !rest[..end].contains(' ') || close == '}' => rest = &rest[end + 1..],
            // A bracket alone indents.
            _ if close == ')' => rest = &rest[1..],
            _ => break,
        }
    }
    text.split_at(text.len() - rest.len())
}
