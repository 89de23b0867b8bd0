//! Reduces the inline markup of AsciiDoc to its words.

use std::collections::HashMap;

use crate::characters::reference;
use crate::markup::inline::{MAX_SPAN_BYTES, push_between, push_code, scan, until};
use crate::markup::marks::GrowthBudget;
use crate::markup::writer::within;

/// Longest value of an attribute, in bytes: it may be used often.
const MAX_VALUE_BYTES: usize = 200;

/// Marks that a backslash takes their meaning from.
const ESCAPED: [char; 9] = ['*', '_', '`', '#', '{', '<', '[', '^', '~'];

/// Macros of which only the text in brackets is for readers.
const MACROS: &[&str] = &[
    "link:", "xref:", "mailto:", "image:", "kbd:", "btn:", "pass:", "stem:", "latexmath:",
    "asciimath:", "footnote:", "menu:", "icon:", "anchor:", "indexterm:", "indexterm2:",
    "footnoteref:",
];

/// Writes the character that a reference stands for. It does not make a heading or a fence of the text around it.
fn character(text: &str, out: &mut String) -> usize {
    let Some((len, letter)) = reference(text, false) else { return 0 };
    if matches!(letter, '#' | '`' | '~') {
        out.push('\\');
    }
    out.push(if letter == '\n' { ' ' } else { letter });
    len
}

/// The attributes of a document, which its text may name.
pub(super) struct Attributes {
    /// The values of `:name: value`.
    values: HashMap<String, String>,
    /// How much of these values may be inserted.
    growth: GrowthBudget,
}

impl Attributes {
    /// Returns those of a text, of which none is known yet.
    pub(super) fn of(text: &str) -> Self {
        Self { values: HashMap::new(), growth: GrowthBudget::of(text) }
    }

    /// Remembers a value, unless it is long.
    pub(super) fn remember(&mut self, name: &str, value: &str) {
        let value = self.inline(value);
        if value.len() <= MAX_VALUE_BYTES {
            self.values.insert(name.to_lowercase(), value);
        }
    }

    /// Returns the words of a text, with as many line breaks.
    pub(super) fn inline(&self, text: &str) -> String {
        scan(text, |rest, out| {
            let before = out.chars().next_back();
            let may_open = before.is_none_or(|c| !c.is_alphanumeric());
            let used = match rest.chars().next() {
                Some('\\') if rest[1..].starts_with(ESCAPED) => {
                    out.push_str(&rest[1..2]);
                    2
                }
                Some('{') => self.attribute_value(rest, out),
                Some('&') => character(rest, out),
                Some('<') if rest.starts_with("<<") => cross_reference(rest, out),
                Some('[') if rest.starts_with("[[") => {
                    within(rest, 200).find("]]").map_or(0, |at| at + 2)
                }
                Some('[') if may_open => role(rest),
                Some('+') if rest.starts_with("+++") => self.quoted(rest, "+++", out, false),
                Some(mark @ ('*' | '_' | '`' | '#' | '^' | '~')) => {
                    self.formatted(rest, mark, may_open, out)
                }
                Some('h' | 'f' | 'i') if may_open => self.url(rest, out),
                // A plus at the end of a line breaks the line.
                Some(' ') if rest == " +" || rest.starts_with(" +\n") => 2,
                _ => 0,
            };
            if used == 0 && may_open { self.macro_text(rest, out) } else { used }
        })
    }

    /// Reads `{name}`.
    fn attribute_value(&self, text: &str, out: &mut String) -> usize {
        let Some(end) = within(text, 60).find('}') else { return 0 };
        let name = &text[1..end];
        let value = match name.to_lowercase().as_str() {
            "nbsp" | "sp" => " ",
            "empty" | "blank" | "zwsp" => "",
            "apos" => "'",
            "caret" => "^",
            "tilde" => "~",
            "startsb" => "[",
            "endsb" => "]",
            "backslash" => "\\",
            "backtick" => "`",
            "two-colons" => "::",
            "quot" => "\"",
            "lt" => "<",
            "gt" => ">",
            "amp" => "&",
            "plus" => "+",
            "asterisk" => "*",
            "vbar" => "|",
            "cpp" => "C++",
            name => match self.values.get(name) {
                Some(value) if self.growth.take(value.len()) => value,
                _ => return 0,
            },
        };
        out.push_str(value);
        end + 1
    }

    /// Reads `*text*` and `**text**`, and the same with other marks.
    fn formatted(&self, text: &str, mark: char, may_open: bool, out: &mut String) -> usize {
        let double: String = [mark, mark].iter().collect();
        let is_code = mark == '`';
        if text.starts_with(&double) && !text[2..].starts_with(mark) {
            let used = self.quoted(text, &double, out, is_code);
            if used > 0 {
                return used;
            }
        }
        let is_script = matches!(mark, '^' | '~');
        if !may_open && !is_script {
            return 0;
        }
        let single = &double[..1];
        let inside = &text[1..];
        if inside.starts_with([' ', '\n']) {
            return 0;
        }
        // It does not end after a blank or before a letter.
        let inside = until(inside, single, |before, after| {
            !before.ends_with([' ', '\n'])
                && (is_script || after.is_none_or(|c| !c.is_alphanumeric() && c != mark))
        });
        let Some(inside) = inside else { return 0 };
        if is_script && inside.contains(' ') {
            return 0;
        }
        self.push(inside, is_code, out);
        inside.len() + 2
    }

    /// Reads text between two equal marks.
    fn quoted(&self, text: &str, mark: &str, out: &mut String, is_code: bool) -> usize {
        let inside = &text[mark.len()..];
        let Some(end) = within(inside, MAX_SPAN_BYTES).find(mark).filter(|end| *end > 0) else {
            return 0;
        };
        self.push(&inside[..end], is_code, out);
        end + 2 * mark.len()
    }

    fn push(&self, inside: &str, is_code: bool, out: &mut String) {
        if !is_code {
            out.push_str(&self.inline(inside));
            return;
        }
        // `+source+` is source without replacements.
        let inside = inside.strip_prefix('+').and_then(|i| i.strip_suffix('+')).unwrap_or(inside);
        let code = scan(inside, |rest, out| match rest.as_bytes()[0] {
            b'{' => self.attribute_value(rest, out),
            _ => 0,
        });
        push_code(&code, out);
    }

    /// Reads `https://host/path[text]`, and keeps only the text.
    fn url(&self, text: &str, out: &mut String) -> usize {
        let is_url =
            ["https://", "http://", "ftp://", "irc://"].iter().any(|s| text.starts_with(s));
        if !is_url {
            return 0;
        }
        let end = text.find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '<' | '>'));
        let end = end.unwrap_or(text.len());
        if let Some(label) = text[end..].strip_prefix('[')
            && let Some(close) = closing_bracket(label)
        {
            let words = label_text(&label[..close]);
            if words.trim().is_empty() {
                out.push_str(&text[..end]);
            } else {
                out.push_str(&self.inline(words));
            }
            return end + close + 2;
        }
        out.push_str(&text[..end]);
        end
    }

    /// Reads `name:target[text]`.
    fn macro_text(&self, text: &str, out: &mut String) -> usize {
        let Some(name) = MACROS.iter().find(|name| text.starts_with(**name)) else { return 0 };
        let rest = &text[name.len()..];
        let Some(open) = within(rest, MAX_SPAN_BYTES).find('[') else { return 0 };
        let target = &rest[..open];
        if target.contains(char::is_whitespace) || target.starts_with(':') {
            return 0;
        }
        let Some(close) = closing_bracket(&rest[open + 1..]) else { return 0 };
        let inside = &rest[open + 1..open + 1 + close];
        match *name {
            "indexterm:" | "anchor:" | "icon:" => {}
            "footnote:" | "footnoteref:" => push_between([" (", ")"], &self.inline(inside), out),
            "menu:" => {
                out.push_str(target);
                if !inside.is_empty() {
                    out.push_str(" > ");
                    out.push_str(inside);
                }
            }
            "image:" => out.push_str(label_text(inside)),
            _ if inside.trim().is_empty() => out.push_str(target),
            _ => out.push_str(&self.inline(label_text(inside))),
        }
        name.len() + open + close + 2
    }
}

/// Returns the position of the bracket that closes a text.
fn closing_bracket(text: &str) -> Option<usize> {
    let found = within(text, MAX_SPAN_BYTES).match_indices(']').map(|(at, _)| at);
    let mut found = found.filter(|at| !text[..*at].ends_with('\\'));
    found.next()
}

/// Returns the text of a link without its attributes: `text,window=_blank`.
fn label_text(inside: &str) -> &str {
    let inside = inside.trim_end_matches('^');
    if let Some(quoted) = inside.strip_prefix('"') {
        return quoted.split('"').next().unwrap_or_default();
    }
    match inside.find('=') {
        Some(at) => inside[..at].rfind(',').map_or("", |comma| &inside[..comma]),
        None => inside,
    }
}

/// Returns the description of a picture: `target[alt,width]`.
pub(super) fn alt(text: &str) -> &str {
    let inside = text.split_once('[').map_or("", |(_, inside)| inside.trim_end_matches(']'));
    let alt = inside.split(',').next().unwrap_or_default();
    if alt.contains('=') { "" } else { alt.trim_matches('"') }
}

/// Reads `<<id,text>>`.
fn cross_reference(text: &str, out: &mut String) -> usize {
    let Some(end) = within(text, 300).find(">>").filter(|end| *end > 2) else { return 0 };
    let inside = &text[2..end];
    if inside.contains("<<") {
        return 0;
    }
    out.push_str(inside.split_once(',').map_or(inside, |(_, text)| text.trim()));
    end + 2
}

/// Returns the length of `[.role]` before formatted text.
fn role(text: &str) -> usize {
    let Some(end) = within(text, 60).find(']') else { return 0 };
    let is_role = text[1..end].starts_with(['.', '#'])
        || text[1..end].chars().all(|c| c.is_alphanumeric() || c == '-');
    if is_role && text[end + 1..].starts_with(['#', '*', '_', '`']) { end + 1 } else { 0 }
}

/// Returns the mark of a list item, its depth and its text.
pub(super) fn item_mark(text: &str) -> Option<(&str, usize, &str)> {
    let text = text.trim_start();
    let (mark, rest) = text.split_once(' ')?;
    let depth = mark.len().checked_sub(1)?;
    let is_repeated = |c: char| mark.len() <= 6 && mark.chars().all(|found| found == c);
    let rest = rest.trim_start();
    if is_repeated('*') || mark == "-" {
        let rest = ["[ ] ", "[x] ", "[*] "]
            .iter()
            .find_map(|box_| rest.strip_prefix(box_))
            .unwrap_or(rest);
        return Some(("-", depth, rest));
    }
    if is_repeated('.') {
        return Some(("1.", depth, rest));
    }
    let number =
        mark.strip_suffix('.').or(mark.strip_prefix('<').and_then(|m| m.strip_suffix('>')))?;
    let is_number = !number.is_empty()
        && number.len() <= 4
        && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_number.then_some((mark.trim_matches(['<', '>']), 0, rest))
}

/// Splits `term:: text`.
pub(super) fn term(text: &str) -> Option<(&str, &str)> {
    // A mark after an address is part of a sentence.
    let before = text.find("://").map_or(text, |at| &text[..text.len().min(at + 2)]);
    let mut at = 0;
    loop {
        let found = at + before.get(at..)?.find("::")?;
        let after = text[found + 2..].trim_start_matches([':', ';']);
        let is_end = after.is_empty() || after.starts_with(' ');
        if is_end && found > 0 {
            let term = text[..found].trim();
            return (!term.is_empty())
                .then(|| (term, text[found..].trim_start_matches(':').trim_start()));
        }
        // All marks of a run have the same text after it.
        at = if is_end { found + 2 } else { text.len() - after.len() };
    }
}
