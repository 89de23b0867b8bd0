//! Reads the escapes and the arguments of roff.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::extract::built_in;
use crate::markup::writer::within;

/// Characters by their names.
static NAMED: LazyLock<HashMap<String, String>> =
    LazyLock::new(|| built_in::table(include_str!("characters.toml")));

/// Longest argument of an escape between two marks, in bytes: bounds the search for the second one.
const MAX_QUOTED_BYTES: usize = 1000;

/// Returns the words of a line, without its escapes.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else { break };
        let after = &rest[c.len_utf8()..];
        rest = match c {
            // The rest of the line is a comment.
            '"' | '#' => "",
            'f' | 'F' | 'm' | 'M' | 'g' | 'k' | 'n' | 'V' | 'Y' => named(after).1,
            's' => size(after),
            '*' => {
                let (name, after) = named(after);
                out.push_str(match name {
                    "lq" | "L\"" => "“",
                    "rq" | "R\"" => "”",
                    "R" => "®",
                    "Tm" => "™",
                    "Aq" | "aq" => "'",
                    _ => "",
                });
                after
            }
            '(' | '[' => {
                let (name, after) = named(rest);
                out.push_str(&character(name));
                after
            }
            // Spaces of no width, hyphenation, continued lines.
            '&' | '|' | '^' | '/' | ',' | ')' | '%' | ':' | 'c' | '{' | '}' | 'd' | 'u' | 'p'
            | 'a' | 'r' | 'z' => after,
            'h' | 'v' | 'w' | 'l' | 'L' | 'D' | 'b' | 'o' | 'N' | 'C' | 'x' | 'X' | 'Z' | 'A'
            | 'B' | 'H' | 'S' | 'R' => {
                let (inside, after) = quoted(after);
                match c {
                    'C' => out.push_str(&character(inside)),
                    'o' | 'Z' => out.push_str(inside),
                    _ => {}
                }
                after
            }
            c => {
                out.push(match c {
                    'e' | 'E' => '\\',
                    '~' | '0' => ' ',
                    't' => '\t',
                    c => c,
                });
                after
            }
        };
    }
    out.push_str(rest);
    out
}

/// Splits the name after an escape: one character, `(xx` or `[name]`.
fn named(text: &str) -> (&str, &str) {
    let mut chars = text.char_indices();
    match chars.next() {
        Some((_, '(')) => {
            let end = chars.nth(1).map_or(text.len(), |(at, c)| at + c.len_utf8());
            (&text[1..end], &text[end..])
        }
        Some((_, '[')) => text[1..].split_once(']').unwrap_or((&text[1..], "")),
        Some((_, c)) => text.split_at(c.len_utf8()),
        None => ("", ""),
    }
}

/// Skips a size of type: `\s-1`, `\s0`, `\s(12`, `\s[10]`.
fn size(text: &str) -> &str {
    if text.starts_with(['(', '[']) {
        return named(text).1;
    }
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if text.starts_with(['(', '[']) {
        return named(text).1;
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).take(2).count();
    // Only sizes from 10 to 39 have two digits.
    let len = if digits == 2 && text.starts_with(['1', '2', '3']) { 2 } else { digits.min(1) };
    &text[len..]
}

/// Splits an argument between two equal marks.
fn quoted(text: &str) -> (&str, &str) {
    let Some(mark) = text.chars().next() else { return ("", "") };
    let inside = &text[mark.len_utf8()..];
    match within(inside, MAX_QUOTED_BYTES).find(mark) {
        Some(end) => (&inside[..end], &inside[end + mark.len_utf8()..]),
        None => ("", inside),
    }
}

/// Returns the character with a name; `uXXXX` is its code.
fn character(name: &str) -> String {
    if let Some(text) = NAMED.get(name) {
        return text.clone();
    }
    let code = name.strip_prefix('u').and_then(|code| u32::from_str_radix(code, 16).ok());
    code.and_then(char::from_u32).map(String::from).unwrap_or_default()
}

/// Splits the arguments of a macro, which may be quoted, and reads their escapes.
pub(super) fn arguments(text: &str) -> Vec<String> {
    raw_arguments(text).iter().map(|argument| plain(argument)).collect()
}

/// Splits the arguments of a macro.
pub(super) fn raw_arguments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && !rest.starts_with("\\\"") {
        let mut argument = String::new();
        if let Some(inside) = rest.strip_prefix('"') {
            rest = inside;
            loop {
                let Some(end) = rest.find('"') else {
                    argument.push_str(rest);
                    rest = "";
                    break;
                };
                argument.push_str(&rest[..end]);
                rest = &rest[end + 1..];
                // Two quotes are one.
                let Some(more) = rest.strip_prefix('"') else { break };
                argument.push('"');
                rest = more;
            }
        } else {
            let mut is_escaped = false;
            let end = rest.find(|c: char| {
                let is_end = c.is_whitespace() && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            let end = end.unwrap_or(rest.len());
            argument.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        found.push(argument);
        rest = rest.trim_start();
    }
    found
}
