//! Finds the elements of XML, and the characters that are written as references. Comments, declarations and CDATA are text
//! of the element around them.

use super::escapes::{Escape, OnEscape};
use super::parts::Parts;
use crate::characters::reference;

pub(super) fn scan(text: &str, parts: &mut Parts<'_>) {
    let mut at = 0;
    let mut depth = 0_usize;
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        let tag = &text[start..];
        let len = match tag {
            _ if tag.starts_with("<!--") => len_with(tag, "-->"),
            _ if tag.starts_with("<![CDATA[") => len_with(tag, "]]>"),
            _ if tag.starts_with("<?") => len_with(tag, "?>"),
            _ if tag.starts_with("<!") => after_quoted(tag),
            _ if tag.starts_with("</") => {
                if depth > 0 {
                    parts.close(start);
                    depth -= 1;
                }
                len_with(tag, ">")
            }
            _ if tag[1..].starts_with(|first: char| first.is_alphabetic() || first == '_') => {
                let len = after_quoted(tag);
                parts.member(start, None);
                if !tag[..len].ends_with("/>") {
                    parts.open();
                    depth += 1;
                }
                len
            }
            _ => 1,
        };
        at = start + len;
    }
}

/// Finds the references in texts and attributes. A document that declares entities gives names their meaning: then only
/// numbers and the five names of XML stand for characters.
pub(super) fn escapes(text: &str, on_escape: &mut OnEscape<'_>) {
    let has_entities = text.contains("<!ENTITY");
    let mut at = 0;
    while let Some(found) = text[at..].find(['&', '<']) {
        let start = at + found;
        let rest = &text[start..];
        let len = match rest {
            _ if rest.starts_with("<!--") => len_with(rest, "-->"),
            _ if rest.starts_with("<![CDATA[") => len_with(rest, "]]>"),
            _ if rest.starts_with("<?") => len_with(rest, "?>"),
            _ if rest.starts_with("<!DOCTYPE") => after_doctype(rest),
            _ if rest.starts_with('<') => 1,
            _ => match reference(rest, has_entities) {
                Some((len, letter)) => {
                    on_escape(Escape { bytes: start..start + len, stands_for: Some(letter) });
                    len
                }
                None => 1,
            },
        };
        at = start + len;
    }
}

/// Returns the length of what ends with `end`; all of it if nothing ends it.
fn len_with(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |found| found + end.len())
}

/// Returns the length of a document type with the declarations in it.
fn after_doctype(text: &str) -> usize {
    // Its declarations are between brackets.
    let Some(bracket) = text.find(['[', '>']).filter(|at| text[*at..].starts_with('[')) else {
        return after_quoted(text);
    };
    let inner = &text[bracket..];
    inner.find("]>").map_or(text.len(), |found| bracket + found + 2)
}

/// Returns the length of a tag, whose attributes may contain `>`.
fn after_quoted(tag: &str) -> usize {
    let mut quote = None;
    for (at, letter) in tag.char_indices() {
        match (quote, letter) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    tag.len()
}
