//! Reads Org, the outlines of Emacs.

mod inline;

use super::marks::MarkPositions;
use super::writer::{MarkupRow, MarkupWriter, SourceLine, dedent, join, join_after};
use crate::document::Document;

use inline::inline;

/// Words that state what to do about a headline.
const KEYWORDS: [&str; 6] = ["TODO", "DONE", "NEXT", "WAITING", "CANCELLED", "CANCELED"];

/// How the last line of a drawer and that of a block begin.
const DRAWER_END: &str = ":end:";
const BLOCK_END: &str = "#+end_";

pub(super) fn extract(text: &str) -> Document {
    let lines = SourceLine::all(text);
    let ends = MarkPositions::of_lines(&lines, closed);
    let mut writer = MarkupWriter::default();
    let mut at = 0;
    while at < lines.len() {
        at += element(&lines[at..], &ends, &mut writer).max(1);
    }
    writer.finish()
}

/// Returns what a line closes: a drawer, or a block with its name.
fn closed(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let name = text.strip_prefix(BLOCK_END).map(str::trim_start);
    name.map(|name| format!("{BLOCK_END}{name}")).or_else(|| (text == DRAWER_END).then_some(text))
}

/// Reads the element at the first line; returns how many lines it has.
fn element(lines: &[SourceLine<'_>], ends: &MarkPositions, writer: &mut MarkupWriter) -> usize {
    let first = lines[0];
    let text = first.text.trim_start();
    if text.is_empty() || is_comment(text) {
        return 1;
    }
    if let Some((level, title)) = headline(first.text) {
        if title.starts_with("COMMENT") || first.text.trim_end().ends_with(":noexport:") {
            return subtree(lines, level);
        }
        writer.heading(first.number, u8::try_from(level).unwrap_or(u8::MAX), &inline(title));
        return 1;
    }
    if text.starts_with("#+") {
        return keyword(lines, ends, writer);
    }
    if is_drawer(text) && first.text.trim_end().ends_with(':') {
        return ends.line(DRAWER_END, lines).map_or(1, |end| end + 1);
    }
    if ["SCHEDULED:", "DEADLINE:", "CLOSED:", "CLOCK:"].iter().any(|word| text.starts_with(word)) {
        return 1;
    }
    // Five dashes or more are a rule.
    if text.len() >= 5 && text.bytes().all(|byte| byte == b'-') {
        return 1;
    }
    if is_fixed(text) {
        let used = lines.iter().take_while(|line| is_fixed(line.text.trim_start())).count();
        let inside = lines[..used].iter().map(|line| {
            let text = line.text.trim_start();
            SourceLine { text: text.strip_prefix(": ").unwrap_or(""), ..*line }
        });
        writer.code("", &inside.collect::<Vec<_>>());
        return used;
    }
    if text.starts_with('|') {
        return table(lines, writer);
    }
    if item_mark(first.text).is_some() {
        return item(lines, writer);
    }
    let more = lines[1..].iter().take_while(|line| !line.is_blank() && !begins_element(line.text));
    let used = 1 + more.count();
    writer.paragraph(first.number, &inline(&join(&lines[..used])));
    used
}

fn is_fixed(text: &str) -> bool {
    text == ":" || text.starts_with(": ")
}

fn is_comment(text: &str) -> bool {
    text == "#" || text.starts_with("# ")
}

/// Whether a line ends the paragraph above it.
fn begins_element(text: &str) -> bool {
    let trimmed = text.trim_start();
    headline(text).is_some()
        || item_mark(text).is_some()
        || trimmed.starts_with("#+")
        || trimmed.starts_with('|')
        || trimmed.starts_with(": ")
        || is_comment(trimmed)
        || is_drawer(trimmed)
}

fn is_drawer(text: &str) -> bool {
    let name = text.trim().strip_prefix(':').and_then(|rest| rest.strip_suffix(':'));
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    })
}

/// Returns the depth and the text of a headline, without keyword, priority and tags.
fn headline(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'*').count();
    let mut title = text.get(level..)?.strip_prefix(' ').filter(|_| level > 0)?.trim();
    if let Some((word, rest)) = title.split_once(' ')
        && KEYWORDS.contains(&word)
    {
        title = rest.trim_start();
    }
    if title.starts_with("[#") && title.get(3..4) == Some("]") {
        title = title.get(4..).unwrap_or_default().trim_start();
    }
    if title.ends_with(':')
        && let Some(space) = title.rfind(char::is_whitespace)
    {
        let tags = title[space..].trim();
        if tags.starts_with(':')
            && tags.len() > 2
            && tags.chars().all(|c| c.is_alphanumeric() || "_@#%:".contains(c))
        {
            title = title[..space].trim_end();
        }
    }
    Some((level, title))
}

/// Returns the length of a headline with everything below it.
fn subtree(lines: &[SourceLine<'_>], level: usize) -> usize {
    let end = lines[1..]
        .iter()
        .position(|line| headline(line.text).is_some_and(|(other, _)| other <= level));
    end.map_or(lines.len(), |end| end + 1)
}

/// Reads `#+NAME: value` and the blocks `#+BEGIN_NAME`.
fn keyword(lines: &[SourceLine<'_>], ends: &MarkPositions, writer: &mut MarkupWriter) -> usize {
    let first = lines[0];
    let text = first.text.trim_start();
    if text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("#+begin_")) {
        return block(lines, ends, writer);
    }
    let Some((name, value)) = text[2..].split_once(':') else { return 1 };
    let value = value.trim();
    match name.to_ascii_lowercase().as_str() {
        "title" => writer.title(&inline(value)),
        "author" if !value.is_empty() => {
            writer.document().metadata.author = Some(inline(value));
        }
        "date" if value.starts_with(|c: char| c.is_ascii_digit()) => {
            writer.document().metadata.created = Some(value.to_owned());
        }
        "language" if !value.is_empty() => {
            writer.document().metadata.language = Some(value.to_owned());
        }
        "filetags" => {
            let tags = value.split([':', ' ']).filter(|tag| !tag.is_empty()).map(str::to_owned);
            writer.document().tags.extend(tags);
        }
        "subtitle" | "caption" | "description" => {
            writer.paragraph(first.number, &inline(value));
        }
        _ => {}
    }
    1
}

/// Reads a block between `#+BEGIN_NAME` and `#+END_NAME`.
fn block(lines: &[SourceLine<'_>], ends: &MarkPositions, writer: &mut MarkupWriter) -> usize {
    let mut words = lines[0].text.trim_start()[8..].split_whitespace();
    let name = words.next().unwrap_or_default().to_ascii_lowercase();
    // A block that is not closed is a line.
    let Some(end) = ends.line(&format!("{BLOCK_END}{name}"), lines) else { return 1 };
    let inside = &lines[1..end];
    match name.as_str() {
        "comment" | "export" | "html" | "latex" | "ascii" => {}
        "src" => writer.code(words.next().unwrap_or_default(), &unescaped(inside)),
        "example" => writer.code("", &unescaped(inside)),
        // Prose; it is read as if the marks were not there.
        _ => return 1,
    }
    end + 1
}

/// Removes the commas before lines that Org would read, and the indentation.
fn unescaped<'a>(lines: &[SourceLine<'a>]) -> Vec<SourceLine<'a>> {
    let mut lines = dedent(lines);
    for line in &mut lines {
        if line.text.starts_with(",*") || line.text.starts_with(",#+") {
            line.text = &line.text[1..];
        }
    }
    lines
}

fn table(lines: &[SourceLine<'_>], writer: &mut MarkupWriter) -> usize {
    let used = lines.iter().take_while(|line| line.text.trim_start().starts_with('|')).count();
    let rows = lines[..used].iter().filter(|line| !line.text.trim_start().starts_with("|-"));
    let rows: Vec<MarkupRow> = rows
        .map(|line| {
            let text = line.text.trim().trim_start_matches('|');
            let text = text.strip_suffix('|').unwrap_or(text);
            let cells = text.split('|').map(|cell| inline(cell.trim())).collect();
            MarkupRow { number: line.number, cells }
        })
        // A row of the widths of columns has no text.
        .filter(|row| !row.cells.iter().all(|cell| cell.is_empty() || is_width(cell)))
        .collect();
    writer.table(&rows);
    used
}

fn is_width(cell: &str) -> bool {
    let inside = cell.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inside.is_some_and(|inside| inside.chars().all(|c| c.is_ascii_digit() || "lrc".contains(c)))
}

/// Returns the indentation of a list item, and the end of its mark.
fn item_mark(text: &str) -> Option<(usize, usize)> {
    let trimmed = text.trim_start();
    let indent = text.len() - trimmed.len();
    let mark = trimmed.split(' ').next()?;
    let number = mark.strip_suffix(['.', ')']);
    let is_number = number.is_some_and(|number| {
        !number.is_empty() && number.len() <= 4 && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_mark = matches!(mark, "-" | "+") || mark == "*" && indent > 0 || is_number;
    (is_mark && (trimmed.len() == mark.len() || trimmed[mark.len()..].starts_with(' ')))
        .then_some((indent, indent + mark.len()))
}

/// Reads an item of a list up to the next one.
fn item(lines: &[SourceLine<'_>], writer: &mut MarkupWriter) -> usize {
    let first = lines[0];
    let Some((indent, end)) = item_mark(first.text) else { return 1 };
    let more = lines[1..].iter().take_while(|line| {
        !line.is_blank() && line.indent() > indent && !begins_element(line.text)
    });
    let used = 1 + more.count();
    let mut rest = first.text[end..].trim_start();
    for mark in ["[ ] ", "[X] ", "[-] "] {
        rest = rest.strip_prefix(mark).unwrap_or(rest);
    }
    if let Some(number) = rest.strip_prefix("[@") {
        rest = number.split_once(']').map_or(rest, |(_, rest)| rest.trim_start());
    }
    let text = inline(&join_after(rest, &lines[1..used])).replacen(" :: ", ": ", 1);
    writer.item(first.number, first.text[..end].trim(), &text, indent / 2);
    used
}

#[cfg(test)]
mod tests;
