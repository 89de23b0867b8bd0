//! Finds the keys and the items of YAML by their indentation. A comment belongs to the part after it.

use std::ops::Range;

use super::lines::{indent, lines};
use super::parts::Parts;

pub(super) fn scan(text: &str, parts: &mut Parts<'_>) {
    // The levels that are open; items of a list are deeper than a key with the same indentation.
    let mut levels: Vec<usize> = Vec::new();
    let mut comment = None;
    // The indentation of the key whose value is a block of text.
    let mut text_of: Option<usize> = None;
    for (at, line) in lines(text) {
        let content = line.trim_start();
        let column = indent(line);
        if content.is_empty() {
            continue;
        }
        if text_of.is_some_and(|key| column > key) {
            continue;
        }
        text_of = None;
        if content.starts_with('#') {
            comment.get_or_insert(at);
            continue;
        }
        let is_document = line == "---" || line.starts_with("--- ");
        let is_item = content == "-" || content.starts_with("- ");
        let name = key(content).map(|name| at + column + name.start..at + column + name.end);
        if !is_document && !is_item && name.is_none() {
            comment = None;
            continue;
        }
        let start = comment.take().unwrap_or(at);
        let level = column * 2 + usize::from(is_item);
        let kept = if is_document { 0 } else { level };
        while levels.len() > 1 && levels.last().is_some_and(|open| *open > kept) {
            parts.close(start);
            levels.pop();
        }
        match levels.last_mut() {
            None => levels.push(level),
            Some(open) if *open >= level => *open = level,
            Some(_) => {
                parts.open();
                levels.push(level);
            }
        }
        parts.member(start, name.filter(|_| !is_item));
        let value = content.trim_start_matches(['-', ' ']);
        let is_text = value.rsplit(' ').next().is_some_and(|last| last.starts_with(['|', '>']));
        text_of = is_text.then_some(line.len() - value.len());
    }
}

/// Returns where the key is in a line `key: value`.
fn key(content: &str) -> Option<Range<usize>> {
    if let Some(quote) = content.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let len = content[1..].find(quote)?;
        return content[len + 2..].starts_with(':').then_some(1..len + 1);
    }
    let len = content.find(": ").or_else(|| content.ends_with(':').then(|| content.len() - 1))?;
    let is_name = !content.starts_with(['[', '{', '&', '*', '!', '|', '>', '%', '@', '`', '?']);
    (len > 0 && is_name).then_some(0..len)
}
