//! Reduces the inline markup of MediaWiki to its words.

use crate::markup::marks::Marks;
use crate::markup::writer::within;

/// Longest link, in bytes.
const MAX_LINK_BYTES: usize = 1000;

/// Longest text between two tags, in bytes.
const MAX_TAG_BYTES: usize = 4000;

/// Names of links to pictures and categories.
const FILES: [&str; 6] = ["file:", "image:", "datei:", "bild:", "fichier:", "media:"];
const CATEGORIES: [&str; 3] = ["category:", "kategorie:", "catégorie:"];

/// Returns the words of a text, with as many line breaks.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut ends = Marks::default();
    while let Some(at) = rest.find(['[', '\'', '<', '&', '_']) {
        out.push_str(&rest[..at]);
        let here = &rest[at..];
        let used = match here.as_bytes()[0] {
            b'[' if here.starts_with("[[") => link(here, &mut out),
            b'[' => outside_link(here, &mut out),
            b'\'' => {
                let marks = here.bytes().take(5).take_while(|byte| *byte == b'\'').count();
                if marks >= 2 { marks } else { 0 }
            }
            b'<' => tag(text, text.len() - here.len(), &mut ends, &mut out),
            b'&' => entity(here, &mut out),
            _ => switch(here),
        };
        if used == 0 {
            out.push_str(&here[..1]);
            rest = &here[1..];
        } else {
            rest = &here[used..];
        }
    }
    out.push_str(rest);
    out
}

/// Reads `[[page|text]]`; a picture is its caption, a category its name.
fn link(text: &str, out: &mut String) -> usize {
    let Some(end) = link_end(within(text, MAX_LINK_BYTES)) else { return 0 };
    let inside = &text[2..end];
    let lower = inside.trim_start_matches(':').to_lowercase();
    let num_lines = inside.matches('\n').count();
    if FILES.iter().any(|name| lower.starts_with(name)) {
        let caption = after_last_bar(inside);
        let is_option = ["thumb", "left", "right", "center", "frame", "none", "border", "mini"]
            .contains(&caption.trim())
            || caption.trim_end().ends_with("px");
        if inside.contains('|') && !is_option && !caption.starts_with("alt=") {
            out.push(' ');
            out.push_str(&inline(caption).replace('\n', " "));
        }
    } else if CATEGORIES.iter().any(|name| lower.starts_with(name)) && !inside.starts_with(':') {
        // Categories say what a page is about.
        out.push_str(inside.split('|').next().unwrap_or_default());
    } else {
        let label = inside.split_once('|').map_or(inside, |(_, label)| label);
        let label = if label.trim().is_empty() { inside.trim_end_matches('|') } else { label };
        out.push_str(&inline(label).replace('\n', " "));
    }
    out.push_str(&"\n".repeat(num_lines));
    end + 2
}

/// Returns where the brackets begin that close a link.
fn link_end(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(found) = text[at..].find(['[', ']']) {
        at += found;
        let rest = &text[at..];
        if rest.starts_with("[[") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("]]") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at);
            }
            at += 2;
        } else {
            at += 1;
        }
    }
    None
}

/// Returns the text after the last `|` that is not inside another link.
fn after_last_bar(inside: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, c) in inside.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &inside[start..]
}

/// Reads `[https://host/path text]`.
fn outside_link(text: &str, out: &mut String) -> usize {
    let inside = &text[1..];
    if !["http://", "https://", "//", "mailto:", "ftp://"].iter().any(|s| inside.starts_with(s)) {
        return 0;
    }
    let Some(end) = within(inside, MAX_LINK_BYTES)
        .find([']', '\n'])
        .filter(|end| inside[*end..].starts_with(']'))
    else {
        return 0;
    };
    match inside[..end].split_once(' ') {
        Some((_, label)) => out.push_str(&inline(label)),
        None => out.push_str(&inside[..end]),
    }
    end + 2
}

/// Reads the tag at `at`; references are written in brackets.
fn tag(whole: &str, at: usize, ends: &mut Marks, out: &mut String) -> usize {
    let text = &whole[at..];
    let mut close_after = |end: usize, close: &str| {
        let found = ends.find(whole, close, at + end)? - at - end;
        (found + close.len() <= MAX_TAG_BYTES).then_some(found)
    };
    let Some(end) = within(text, MAX_LINK_BYTES).find('>') else { return 0 };
    let inside = text[1..end].trim_end_matches('/').trim();
    let name: String =
        inside.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').collect();
    let num_lines = text[..=end].matches('\n').count();
    match name.to_ascii_lowercase().as_str() {
        "nowiki" | "math" | "code" | "tt" | "syntaxhighlight" | "source" | "pre" => {
            let close = format!("</{name}>");
            let Some(close_at) = close_after(end, &close) else { return end + 1 };
            let content = &text[end + 1..end + close_at];
            let mark = match name.as_str() {
                "nowiki" => "",
                "math" => "$",
                _ => "`",
            };
            out.push_str(mark);
            // Code may have markup, formulas have none.
            if mark == "`" {
                out.push_str(&inline(content));
            } else {
                out.push_str(content);
            }
            out.push_str(mark);
            end + close_at + close.len()
        }
        "ref" if !text[..end].ends_with('/') => {
            let Some(close_at) = close_after(end, "</ref>") else { return end + 1 };
            let content = inline(&text[end + 1..end + close_at]);
            if !content.trim().is_empty() {
                out.push_str(" (");
                out.push_str(content.trim_start_matches(' '));
                out.push(')');
            }
            end + close_at + "</ref>".len()
        }
        "br" | "br/" | "/p" | "p" | "/div" | "/td" | "/li" => {
            out.push(' ');
            end + 1
        }
        name if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') => {
            out.push_str(&"\n".repeat(num_lines));
            end + 1
        }
        _ => 0,
    }
}

/// Reads the entities that people type.
fn entity(text: &str, out: &mut String) -> usize {
    let Some(end) = within(text, 12).find(';') else { return 0 };
    let name = &text[1..end];
    let text = match name {
        "nbsp" | "thinsp" | "ensp" | "emsp" => " ",
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "ndash" => "–",
        "mdash" => "—",
        "minus" => "−",
        "times" => "×",
        "deg" => "°",
        "hellip" => "…",
        _ => {
            let code =
                name.strip_prefix('#').and_then(|code| match code.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16).ok(),
                    None => code.parse().ok(),
                });
            let Some(c) = code.and_then(char::from_u32) else { return 0 };
            out.push(c);
            return end + 1;
        }
    };
    out.push_str(text);
    end + 1
}

/// Returns the length of a switch: `__NOTOC__`.
fn switch(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("__") else { return 0 };
    let len = rest.bytes().take_while(u8::is_ascii_uppercase).count();
    if len > 0 && rest[len..].starts_with("__") { len + 4 } else { 0 }
}
