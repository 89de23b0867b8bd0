//! Cuts text data (JSON, YAML, TOML, XML, logs) where a key, an element or a record begins.
//!
//! Each scanner only finds where things begin, how they are nested and which strings have escapes, and accepts any text;
//! `parts` makes blocks of that, so a file on one line is cut like any other. The text is that of the file, except for
//! its escapes: `escapes` replaces them with their characters.

mod conversation;
mod escapes;
mod feed;
mod json;
mod json_value;
mod lines;
mod parts;
mod prose;
mod tables;
mod xml;
mod yaml;
mod yaml_quotes;

use std::ops::Range;

use crate::document::{Data, Document};

pub(super) use conversation::chats;
use escapes::{OnEscape, UnescapedText, decode};
use lines::{indent, lines};
use parts::Parts;

pub(super) fn extract(text: &str, kind: Data) -> Document {
    let read = match kind {
        Data::Json | Data::JsonLines => conversation::extract(text, kind),
        Data::Xml => feed::extract(text),
        _ => None,
    };
    if let Some(document) = read {
        return document;
    }
    let to_name = |name| to_name(text, name, kind);
    let mut parts = Parts::new(text, &to_name);
    match kind {
        Data::Json | Data::JsonLines => json::scan(text, &mut parts),
        Data::Yaml => yaml::scan(text, &mut parts),
        Data::Toml => tables::scan(text, &mut parts),
        Data::Xml => xml::scan(text, &mut parts),
        Data::Log => scan_log(text, &mut parts),
    }
    let mut blocks = parts.finish();
    let decoded = decode(text, &mut blocks, |text, on_escape| find_escapes(text, kind, on_escape));
    let UnescapedText { text, line_numbers } = decoded
        .unwrap_or_else(|| UnescapedText { text: text.to_owned(), ..UnescapedText::default() });
    blocks.retain(|block| !block.bytes.is_empty());
    Document { text, blocks, has_lines: true, line_numbers, ..Document::default() }
}

/// Finds the entries of a log. A line that is indented continues an entry.
fn scan_log(text: &str, parts: &mut Parts<'_>) {
    for (at, line) in lines(text) {
        if !line.is_empty() && indent(line) == 0 {
            parts.member(at, None);
        }
    }
}

/// Finds the escapes of a format in a text.
fn find_escapes(text: &str, kind: Data, on_escape: &mut OnEscape<'_>) {
    match kind {
        Data::Json | Data::JsonLines => json::escapes(text, on_escape),
        Data::Yaml => yaml_quotes::escapes(text, on_escape),
        Data::Toml => tables::escapes(text, on_escape),
        Data::Xml => xml::escapes(text, on_escape),
        Data::Log => {}
    }
}

/// Returns the name of a member on one line, without its escapes and the quotes around it.
fn to_name(text: &str, name: Range<usize>, kind: Data) -> String {
    let quoted = name.start.checked_sub(1).and_then(|start| text.get(start..name.end + 1));
    let quoted = quoted.filter(|quoted| quoted.starts_with(['"', '\'']));
    let Some(name) = quoted.or_else(|| text.get(name)) else { return String::new() };
    let decoded = decode(name, &mut [], |name, on_escape| find_escapes(name, kind, on_escape));
    let name = decoded.map_or_else(|| name.to_owned(), |decoded| decoded.text);
    let name = if quoted.is_some() { &name[1..name.len() - 1] } else { &name };
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
