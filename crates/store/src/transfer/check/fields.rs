//! Validates single values of an export.

use std::collections::HashSet;

use jiff::civil::DateTime;

use crate::PathStamp;
use crate::document::{DocType, Language};
use crate::limits;
use crate::text::paths;
use crate::text::printable::is_harmful;

/// Longest title, tag, path or other text of one line, in bytes.
const MAX_LINE_BYTES: usize = 1 << 20;

/// A valid value, or the reason for refusal.
pub(super) type Checked<T> = Result<T, String>;

pub(super) fn doc_type(word: &str) -> Checked<DocType> {
    word.parse().map_err(|error| format!("type {error}"))
}

pub(super) fn language(word: String) -> Checked<String> {
    match word.parse::<Language>() {
        Ok(_) => Ok(word),
        Err(error) => Err(format!("language {error}")),
    }
}

pub(super) fn id(id: i64) -> Checked<()> {
    if (1..=limits::IMPORTED_ID).contains(&id) {
        return Ok(());
    }
    Err(format!("the id {id} is not between 1 and {}", limits::IMPORTED_ID))
}

pub(super) fn hash(text: &str) -> Checked<()> {
    if text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Ok(());
    }
    Err(format!("content_hash `{text}` is not 64 lower-case hexadecimal digits"))
}

/// Checks a time in kb's format: `2026-11-21T09:30:00Z`.
pub(super) fn time(key: &str, text: &str) -> Checked<()> {
    let time = text.strip_suffix('Z').and_then(|time| time.parse::<DateTime>().ok());
    // Only the form that kb writes is accepted: writing the time again must give the same text.
    let written = time.map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    if written.as_deref() == Some(text) {
        return Ok(());
    }
    Err(format!("{key} `{text}` is not a time like 2026-11-21T09:30:00Z"))
}

pub(super) fn stamp(stamp: PathStamp) -> Checked<PathStamp> {
    if i64::try_from(stamp.size_bytes).is_err() {
        return Err(format!("no file has {} bytes", stamp.size_bytes));
    }
    Ok(PathStamp { path: path(stamp.path)?, ..stamp })
}

/// Checks a path: absolute, without `.`, `..` or empty parts, of any system. All other characters
/// are allowed in the name of a file.
pub(super) fn path(text: String) -> Checked<String> {
    // A file in a container has a relative path after that of the container.
    let (file, member) = paths::split_member(&text);
    let (parts, separators): (&str, &[char]) = if let Some(rest) = file.strip_prefix('/') {
        (rest, &['/'])
    } else if has_drive(file) {
        (&file[3..], &['/', '\\'])
    } else if let Some(rest) = text.strip_prefix(r"\\") {
        (rest, &['/', '\\'])
    } else {
        return Err(format!("the path `{text}` is not absolute"));
    };
    // A path without parts is the root folder, which can be added.
    let is_root = parts.is_empty();
    if (is_root || parts.split(separators).all(is_clean))
        && member.is_none_or(is_member_clean)
        && !text.contains('\0')
        && text.len() <= MAX_LINE_BYTES
    {
        return Ok(text);
    }
    Err(format!("the path `{text}` is not valid"))
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [b'A'..=b'Z' | b'a'..=b'z', b':', b'/' | b'\\', ..])
}

/// Whether the name of a file in a container has clean parts.
fn is_member_clean(name: &str) -> bool {
    name.split('/').all(is_clean) && !name.chars().any(char::is_control)
}

fn is_clean(part: &str) -> bool {
    !matches!(part, "" | "." | "..")
}

pub(super) fn tags(given: Vec<String>) -> Checked<Vec<String>> {
    let mut seen = HashSet::new();
    let mut tags = Vec::new();
    for tag in given {
        let tag = one_line("tag", &tag)?;
        if !seen.insert(tag.clone()) {
            return Err(format!("the tag `{tag}` is named twice"));
        }
        tags.push(tag);
    }
    Ok(tags)
}

/// Cleans a text of one line; an empty text is refused.
pub(super) fn one_line(what: &str, text: &str) -> Checked<String> {
    let cleaned = clean(text);
    if cleaned.trim().is_empty() {
        return Err(format!("a {what} is empty"));
    }
    if cleaned.len() > MAX_LINE_BYTES {
        return Err(format!("a {what} is longer than {MAX_LINE_BYTES} bytes"));
    }
    Ok(cleaned)
}

/// Replaces control characters of terminals, and characters that reorder or hide the text around
/// them, with spaces.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_unwanted(c) { ' ' } else { c }).collect()
}

/// Whether a character is not allowed in a text of one line. Direction marks are allowed, for
/// Arabic and Hebrew.
pub(super) fn is_unwanted(c: char) -> bool {
    is_harmful(c) && !matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

/// Cleans every text in a JSON value, which is at most as deep as the parser allows.
pub(super) fn clean_strings(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) if text.chars().any(is_unwanted) => *text = clean(text),
        serde_json::Value::Array(values) => values.iter_mut().for_each(clean_strings),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(clean_strings),
        _ => {}
    }
}
