//! Reduces the inline markup of reStructuredText to its words.

use std::collections::HashMap;

use crate::markup::inline::{self, push_between, push_code, scan};
use crate::markup::marks::GrowthBudget;
use crate::markup::writer::{SourceLine, within};

/// Longest text of a replacement, in bytes: it may be used often.
const MAX_REPLACEMENT_BYTES: usize = 200;

/// The texts that replace `|name|`, and how much of them may be inserted.
pub(super) struct Replacements {
    texts: HashMap<String, String>,
    growth: GrowthBudget,
}

impl Replacements {
    /// Collects those of a text, which has these lines.
    pub(super) fn of(text: &str, lines: &[SourceLine<'_>]) -> Self {
        Self { texts: replacements(lines), growth: GrowthBudget::of(text) }
    }

    /// Returns the words of a text, with as many line breaks.
    pub(super) fn inline(&self, text: &str) -> String {
        plain(text, &|name| self.texts.get(name).filter(|text| self.growth.take(text.len())))
    }
}

/// Collects the texts of `.. |name| replace:: text` and the descriptions of images.
fn replacements(lines: &[SourceLine<'_>]) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for (idx, line) in lines.iter().enumerate() {
        let Some(rest) = line.text.trim_start().strip_prefix(".. |") else { continue };
        let Some((name, rest)) = rest.split_once('|') else { continue };
        let rest = rest.trim();
        let text = if let Some(text) = rest.strip_prefix("replace::") {
            text.trim()
        } else {
            // The options of an image are below it.
            let below = lines[idx + 1..].iter().take_while(|line| line.indent() > 0).take(8);
            let mut alt = below.filter_map(|line| line.text.trim().strip_prefix(":alt:"));
            alt.next().map_or("", str::trim)
        };
        if text.len() <= MAX_REPLACEMENT_BYTES {
            found.insert(name.to_owned(), plain(text, &|_| None));
        }
    }
    found
}

/// Returns the replacement of a name.
type Replacement<'r> = dyn Fn(&str) -> Option<&'r String> + 'r;

fn plain(text: &str, replacement: &Replacement<'_>) -> String {
    let mut is_after_escape = false;
    scan(text, |rest, out| {
        let before = out.chars().next_back();
        // An escaped blank separates markup from the word before it.
        let is_separated = std::mem::replace(&mut is_after_escape, rest.starts_with("\\ "));
        let may_open = is_separated || before.is_none_or(|c| !c.is_alphanumeric());
        match rest.as_bytes()[0] {
            b'\\' => escaped(rest, out),
            b'`' if rest.starts_with("``") => literal(rest, out),
            b'`' => interpreted(rest, out),
            b':' if may_open => role(rest, out),
            b'*' if may_open => emphasis(rest, out),
            b'|' if may_open => substitution(rest, replacement, out),
            b'[' if may_open => citation(rest, out),
            b'_' => reference_end(rest, before),
            _ => 0,
        }
    })
}

/// Reads `\x`, which is `x`; an escaped blank is nothing.
fn escaped(text: &str, out: &mut String) -> usize {
    let Some(next) = text[1..].chars().next() else { return 0 };
    if next == '\n' {
        return 1;
    }
    if !next.is_whitespace() {
        out.push(next);
    }
    1 + next.len_utf8()
}

/// Returns the text up to `mark`, which does not follow a blank; never beyond a blank line.
fn until<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    inline::until(text, mark, |before, _| !before.ends_with([' ', '\n', '\\']))
}

/// Reads ` ``source`` `.
fn literal(text: &str, out: &mut String) -> usize {
    let Some(inside) = until(&text[2..], "``") else { return 0 };
    // A run of backticks ends with its last one.
    let more = text[2 + inside.len() + 2..].bytes().take_while(|byte| *byte == b'`').count();
    push_code(inside, out);
    4 + inside.len() + more
}

/// Reads `` `text` ``, a link if `_` follows.
fn interpreted(text: &str, out: &mut String) -> usize {
    let Some(inside) = until(&text[1..], "`") else { return 0 };
    let end = inside.len() + 2;
    let after = &text[end..];
    push_target_text(inside, out);
    // `text`:role: is a role behind its text.
    let role = after.strip_prefix(':').and_then(|rest| within(rest, 80).split_once(':'));
    match role.filter(|(role, _)| is_role(role)) {
        Some((role, _)) => end + role.len() + 2,
        None => end + after.bytes().take(2).take_while(|byte| *byte == b'_').count(),
    }
}

/// Reads `` :role:`text` ``.
fn role(text: &str, out: &mut String) -> usize {
    let Some(tick) = within(text, 80).find(":`").filter(|tick| *tick > 0) else { return 0 };
    if !is_role(&text[1..tick]) {
        return 0;
    }
    let Some(inside) = until(&text[tick + 2..], "`") else { return 0 };
    let is_math = &text[1..tick] == "math";
    if is_math {
        push_between(["$", "$"], inside, out);
    } else {
        push_target_text(inside, out);
    }
    tick + 2 + inside.len() + 1
}

fn is_role(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 60
        && name.chars().all(|c| c.is_alphanumeric() || "-_.+:".contains(c))
}

/// Writes the text of `text <target>`, and of a name whose path is not to be shown (`~a.b`).
fn push_target_text(inside: &str, out: &mut String) {
    let text = match inside.rfind('<') {
        Some(open) if inside.ends_with('>') && !inside[..open].trim().is_empty() => &inside[..open],
        _ => inside.trim_start_matches(['~', '!']).trim_matches(['<', '>']),
    };
    out.push_str(text.trim_end_matches(' '));
    // The line breaks of the target are kept, because lines are counted.
    let num_lost = inside.matches('\n').count() - text.matches('\n').count();
    out.push_str(&"\n".repeat(num_lost));
}

/// Reads `*text*` and `**text**`.
fn emphasis(text: &str, out: &mut String) -> usize {
    let mark = if text.starts_with("**") { "**" } else { "*" };
    let inside = &text[mark.len()..];
    if inside.starts_with([' ', '\n', '*']) {
        return 0;
    }
    let Some(inside) = until(inside, mark) else { return 0 };
    out.push_str(inside);
    2 * mark.len() + inside.len()
}

/// Reads `|name|`, perhaps with `_` after it.
fn substitution(text: &str, replacement: &Replacement<'_>, out: &mut String) -> usize {
    let Some(name) = until(&text[1..], "|").filter(|name| !name.starts_with(' ')) else { return 0 };
    if name.contains('\n') {
        return 0;
    }
    out.push_str(replacement(name).map_or(name, String::as_str));
    let end = name.len() + 2;
    end + text[end..].bytes().take(2).take_while(|byte| *byte == b'_').count()
}

/// Reads `[1]_` and `[#name]_`.
fn citation(text: &str, out: &mut String) -> usize {
    let Some(end) = within(text, 60).find("]_").filter(|end| *end > 1) else { return 0 };
    let label = &text[1..end];
    if !label.chars().all(|c| c.is_alphanumeric() || "#*-_.:".contains(c)) {
        return 0;
    }
    push_between(["[", "]"], label.trim_start_matches('#'), out);
    end + 2
}

/// Returns the length of the mark after a word that is a link: `word_`.
fn reference_end(text: &str, before: Option<char>) -> usize {
    // A longer run is no mark.
    let marks = text.bytes().take(3).take_while(|byte| *byte == b'_').count();
    let is_end = text[marks..]
        .chars()
        .next()
        .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '(' | '/' | '*' | '=' | '`'));
    let is_word = before.is_some_and(char::is_alphanumeric);
    if is_word && is_end && marks <= 2 { marks } else { 0 }
}
