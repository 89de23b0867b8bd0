//! Reads the markup of MediaWiki.
//!
//! Templates are left out, as in other readers: their words are elsewhere.

mod inline;
mod tags;

use super::marks::{MAX_DEPTH, Marks};
use super::writer::{Line, Row, Writer, join};
use crate::document::Document;

use inline::inline;

/// Reads a page.
pub(super) fn extract(text: &str) -> Document {
    let text = tags::without_templates(text);
    let lines = Line::all(&text);
    let ends = Marks::of_lines(&lines, |text| {
        let closed = |name: &&str| text.contains(&format!("</{name}>"));
        let names = tags::CODE.into_iter().filter(|_| text.contains("</"));
        names.filter(closed).map(str::to_owned).collect::<Vec<_>>()
    });
    let mut writer = Writer::default();
    let mut at = 0;
    while at < lines.len() {
        at += element(&lines[at..], &ends, &mut writer).max(1);
    }
    writer.finish()
}

/// Reads the element at the first line; returns how many lines it has.
fn element(lines: &[Line<'_>], ends: &Marks, writer: &mut Writer) -> usize {
    let first = lines[0];
    if first.is_blank() {
        return 1;
    }
    if let Some((level, title)) = heading(first.text) {
        writer.heading(first.number, level, &inline(title));
        return 1;
    }
    if first.text.trim_start_matches([':', ' ']).starts_with("{|") {
        return table(lines, writer);
    }
    if let Some((name, language)) = tags::code(first.text) {
        return code(lines, ends.line(name, lines), name, &language, writer);
    }
    if first.text.starts_with(['*', '#', ';', ':']) {
        return item(lines, writer);
    }
    if first.text.bytes().all(|byte| byte == b'-') && first.text.len() >= 4 {
        return 1;
    }
    if first.text.starts_with(' ') {
        let is_fixed = |line: &&Line<'_>| line.text.starts_with(' ') && !line.is_blank();
        let used = lines.iter().take_while(is_fixed).count();
        let texts: Vec<String> = lines[..used].iter().map(|line| inline(line.text)).collect();
        let inside = lines[..used].iter().zip(&texts);
        let inside: Vec<Line<'_>> =
            inside.map(|(line, text)| Line { text: &text[1.min(text.len())..], ..*line }).collect();
        writer.code("", &inside);
        return used;
    }
    let is_prose = |line: &&Line<'_>| !line.is_blank() && !begins_element(line.text);
    let used = 1 + lines[1..].iter().take_while(is_prose).count();
    // References and tags may span lines, but not paragraphs.
    writer.paragraph(first.number, &inline(&join(&lines[..used])));
    used
}

fn begins_element(text: &str) -> bool {
    heading(text).is_some()
        || text.starts_with(['*', '#', ';', ':', ' '])
        || text.starts_with("{|")
        || tags::code(text).is_some()
}

/// Returns the level and the text of a heading.
fn heading(text: &str) -> Option<(u8, &str)> {
    let text = text.trim_end();
    let open = text.bytes().take_while(|byte| *byte == b'=').count();
    let close = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    let level = open.min(close).min(6);
    (level > 0 && text.len() > 2 * level)
        .then(|| (u8::try_from(level).unwrap_or(6), text[level..text.len() - level].trim()))
}

/// Reads source text between tags; `end` is its last line.
fn code(
    lines: &[Line<'_>],
    end: Option<usize>,
    name: &str,
    language: &str,
    writer: &mut Writer,
) -> usize {
    let close = format!("</{name}>");
    let Some(end) = end else {
        // A tag that is not closed is prose.
        writer.paragraph(lines[0].number, &inline(lines[0].text));
        return 1;
    };
    let mut inside: Vec<Line<'_>> = lines[..=end].to_vec();
    let last = inside[end];
    inside[end].text = last.text.split(&close).next().unwrap_or_default();
    inside[0].text = inside[0].text.split_once('>').map_or("", |(_, text)| text);
    writer.code(language, &inside);
    let after = last.text.split_once(&close).map_or("", |(_, after)| after);
    writer.paragraph(last.number, &inline(after));
    end + 1
}

/// Reads an item of a list; items of definitions are prose.
fn item(lines: &[Line<'_>], writer: &mut Writer) -> usize {
    let first = lines[0];
    let marks = first.text.bytes().take_while(|byte| b"*#;:".contains(byte)).count();
    let mut text = first.text[marks..].trim().to_owned();
    let mut used = 1;
    // Source text or a reference may begin in an item and end below it.
    while tags::is_open(&text) && used < lines.len() && used < MAX_DEPTH {
        text.push('\n');
        text.push_str(lines[used].text);
        used += 1;
    }
    let text = inline(&text);
    match first.text[..marks].bytes().next_back() {
        Some(b'*') => writer.item(first.number, "-", &text, marks - 1),
        Some(b'#') => writer.item(first.number, "1.", &text, marks - 1),
        _ => writer.paragraph(first.number, &text),
    }
    used
}

/// Reads a table up to `|}`.
fn table(lines: &[Line<'_>], writer: &mut Writer) -> usize {
    let mut depth = 0_usize;
    let mut used = 0;
    for line in lines {
        used += 1;
        let text = line.text.trim_start();
        depth += usize::from(text.trim_start_matches(':').starts_with("{|"));
        depth -= usize::from(text.starts_with("|}") && !text.starts_with("|}}"));
        if depth == 0 {
            break;
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut is_new = true;
    let mut is_skipped = false;
    for line in &lines[1..used] {
        let text = line.text.trim_start();
        let text = if text.starts_with("{|") { "" } else { text };
        if text.starts_with("|}") || text.is_empty() {
            continue;
        }
        if text.starts_with("|-") {
            is_new = true;
            continue;
        }
        if let Some(caption) = text.strip_prefix("|+") {
            writer.paragraph(line.number, &inline(after_attributes(caption)));
            continue;
        }
        let Some(rest) = text.strip_prefix(['|', '!']) else {
            if let Some(cell) =
                rows.last_mut().and_then(|row| row.cells.last_mut()).filter(|_| !is_skipped)
            {
                cell.push('\n');
                cell.push_str(&inline(text.trim_start_matches(['*', '#'])));
            }
            continue;
        };
        is_skipped = false;
        if is_new {
            rows.push(Row { number: line.number, cells: Vec::new() });
            is_new = false;
        }
        let Some(row) = rows.last_mut() else { continue };
        let separated =
            if text.starts_with('!') { rest.replace("!!", "||") } else { rest.to_owned() };
        row.cells.extend(separated.split("||").map(|cell| inline(after_attributes(cell))));
    }
    rows.retain(|row| row.cells.iter().any(|cell| !cell.trim().is_empty()));
    writer.table(&rows);
    used
}

/// Returns a cell without the attributes before its text: `colspan=2 | text`.
fn after_attributes(cell: &str) -> &str {
    match cell.split_once('|') {
        Some((before, text)) if before.contains('=') && !before.contains("[[") => text,
        _ => cell,
    }
}

#[cfg(test)]
mod tests;
