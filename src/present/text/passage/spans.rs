//! Joins and shortens the pieces of a line. Pure functions.

use crate::present::terminal::columns::{ELLIPSIS, prefix, width};

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSpan {
    /// Clean text.
    pub text: String,
    /// Whether it matches the query.
    pub is_match: bool,
}

/// Joins adjacent pieces of one kind, which overlapping matches leave.
pub(super) fn join(spans: Vec<LineSpan>) -> Vec<LineSpan> {
    let mut joined: Vec<LineSpan> = Vec::new();
    for span in spans {
        match joined.last_mut().filter(|last| last.is_match == span.is_match) {
            Some(last) => last.text.push_str(&span.text),
            None => joined.push(span),
        }
    }
    joined
}

/// Ends a line with an ellipsis within a width.
pub(super) fn shorten(spans: &mut Vec<LineSpan>, columns: usize) {
    let mut left = columns - 1;
    for span in spans.iter_mut() {
        span.text.truncate(prefix(&span.text, left).len());
        left -= width(&span.text);
    }
    spans.retain(|span| !span.text.is_empty());
    let is_stop = spans.last().is_some_and(|span| span.text.ends_with('.'));
    let space = if is_stop && left > 0 { " " } else { "" };
    spans.push(LineSpan { text: format!("{space}{ELLIPSIS}"), is_match: false });
    *spans = join(std::mem::take(spans));
}
