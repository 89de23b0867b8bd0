//! Knows the tags and the templates of MediaWiki.

use crate::markup::marks::Marks;
use crate::markup::writer::within;

/// Tags around source text.
pub(super) const CODE: [&str; 3] = ["syntaxhighlight", "source", "pre"];

/// Longest template or source text, in bytes.
const MAX_BYTES: usize = 50_000;

/// How deep templates may be nested.
const MAX_NESTED: usize = 100;

/// Removes templates and comments, but not their line ends.
pub(super) fn without_templates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut rest = text;
    let mut ends = Marks::default();
    while !rest.is_empty() {
        let stop = rest.find(['{', '}', '<']).unwrap_or(rest.len());
        let (before, here) = rest.split_at(stop);
        keep(before, depth, &mut out);
        rest = here;
        if here.starts_with("<!--") {
            let end = here.find("-->").map_or(here.len(), |end| end + 3);
            keep(&here[..end], 1, &mut out);
            rest = &here[end..];
        } else if depth == 0
            && let Some(len) = verbatim_len(text, text.len() - here.len(), &mut ends)
        {
            out.push_str(&here[..len]);
            rest = &here[len..];
        } else if here.starts_with("{{") && !here.starts_with("{{{!") && depth < MAX_NESTED {
            // A template that is not closed in this text is text.
            let is_closed = depth > 0 || is_closed(here);
            if is_closed {
                depth += 1;
            } else {
                keep("{{", depth, &mut out);
            }
            rest = &here[2..];
        } else if here.starts_with("}}") && depth > 0 {
            depth -= 1;
            rest = &here[2..];
        } else if let Some(c) = here.chars().next() {
            let len = c.len_utf8();
            keep(&here[..len], depth, &mut out);
            rest = &here[len..];
        }
    }
    out
}

fn keep(text: &str, depth: usize, out: &mut String) {
    if depth == 0 {
        out.push_str(text);
    } else {
        out.extend(text.chars().filter(|c| *c == '\n'));
    }
}

/// Returns the length of text from `at` on that is not read as markup.
fn verbatim_len(whole: &str, at: usize, ends: &mut Marks) -> Option<usize> {
    let text = &whole[at..];
    let name = ["nowiki", "pre", "source", "syntaxhighlight", "math"].into_iter().find(|name| {
        let rest = text.strip_prefix('<').and_then(|rest| rest.strip_prefix(*name));
        rest.is_some_and(|rest| rest.starts_with(['>', ' ']))
    })?;
    let close = format!("</{name}>");
    let len = ends.find(whole, &close, at)? - at + close.len();
    (len <= MAX_BYTES).then_some(len)
}

/// Whether the template that begins here ends.
fn is_closed(text: &str) -> bool {
    let bytes = within(text, MAX_BYTES).as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"{{" if depth == MAX_NESTED => return false,
            b"{{" => {
                depth += 1;
                at += 2;
            }
            b"}}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return true;
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
    false
}

/// Returns the name of the tag that a line of source text begins with, and its language.
pub(super) fn code(text: &str) -> Option<(&'static str, String)> {
    let rest = text.trim_start().strip_prefix('<')?;
    let name = CODE.into_iter().find(|name| rest.starts_with(name))?;
    let after = &rest[name.len()..];
    if !after.starts_with(['>', ' ']) || !after.contains('>') {
        return None;
    }
    let attributes = after.split('>').next().unwrap_or_default();
    let language = attributes.split("lang=").nth(1).unwrap_or_default();
    let language = language.trim_matches(['"', '\'']).split(['"', '\'', ' ']).next();
    Some((name, language.unwrap_or_default().to_owned()))
}

/// Whether a tag that may span lines is not closed in this text.
pub(super) fn is_open(text: &str) -> bool {
    ["pre", "source", "syntaxhighlight", "ref", "nowiki"].iter().any(|name| {
        let open = format!("<{name}");
        let Some(at) = text.rfind(&open) else { return false };
        let rest = &text[at..];
        let is_empty = rest.split('>').next().is_some_and(|tag| tag.ends_with('/'));
        !is_empty && !rest.contains(&format!("</{name}>"))
    })
}
