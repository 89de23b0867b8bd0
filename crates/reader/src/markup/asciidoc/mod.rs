//! Reads AsciiDoc, as Asciidoctor and Antora define it.

mod inline;
mod table;

use super::marks::{MAX_DEPTH, MarkPositions};
use super::writer::{MarkupRow, MarkupWriter, SourceLine, dedent, join, join_after, paragraph_len};
use crate::document::Document;

use inline::Attributes;

/// The lines around tables.
const TABLES: [&str; 4] = ["|===", ",===", ":===", "!==="];

/// Words that begin an admonition.
const NOTES: [&str; 5] = ["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"];

pub(super) fn extract(text: &str) -> Document {
    let lines = SourceLine::all(text);
    let ends = MarkPositions::of_lines(&lines, |text| {
        let is_end = text == "```" || is_delimiter(text);
        is_end.then(|| text.to_owned())
    });
    let mut reader =
        AsciidocReader { writer: MarkupWriter::default(), attributes: Attributes::of(text), ends };
    let num_header = reader.header(&lines);
    reader.body(&lines[num_header..], 0);
    reader.writer.finish()
}

/// The attributes that the lines above a block state.
#[derive(Default)]
struct BlockAttributes {
    /// Its style and its language: `[source,java]`.
    style: String,
    language: String,
    /// Whether the first row of a table is its head.
    has_columns: Option<usize>,
    /// Whether the block belongs to the item of a list above it, which has no sections.
    is_attached: bool,
}

/// Writes the blocks of a document.
struct AsciidocReader {
    writer: MarkupWriter,
    attributes: Attributes,
    /// The lines that may end blocks.
    ends: MarkPositions,
}

impl AsciidocReader {
    /// Reads the title, the author and the attributes; returns how many lines they are.
    fn header(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let mut at = lines.iter().take_while(|line| is_skipped(line)).count();
        while at < lines.len() && self.attribute(lines[at].text) {
            at += 1;
        }
        at += lines[at..].iter().take_while(|line| is_skipped(line)).count();
        let Some((1, title, used)) = heading(&lines[at..]) else { return at };
        let number = lines[at].number;
        at += used;
        let mut num_named = 0;
        while let Some(line) = lines.get(at).filter(|line| !line.is_blank()) {
            if self.attribute(line.text) || is_comment(line.text) {
                at += 1;
                continue;
            }
            // At most two lines below the title name the author and the revision.
            if num_named == 2 || line.text.starts_with(['=', '[', '.', '*', '|', '-']) {
                break;
            }
            if num_named == 0 && line.text.chars().next().is_some_and(char::is_alphabetic) {
                let author = line.text.split(['<', ';']).next().unwrap_or_default().trim();
                self.writer.document().metadata.author = Some(author.to_owned());
            }
            num_named += 1;
            at += 1;
        }
        let title = self.attributes.inline(title);
        self.writer.heading(number, 1, &title);
        at
    }

    /// Remembers `:name: value`; whether the line is one.
    fn attribute(&mut self, text: &str) -> bool {
        let Some((name, value)) = text.strip_prefix(':').and_then(|rest| rest.split_once(':'))
        else {
            return false;
        };
        if name.is_empty()
            || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '!'))
            || !(value.is_empty() || value.starts_with(' '))
        {
            return false;
        }
        self.attributes.remember(name, value.trim());
        true
    }

    fn body(&mut self, lines: &[SourceLine<'_>], depth: usize) {
        let mut above = BlockAttributes::default();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            let is_text = !line.is_blank()
                && !is_comment(line.text)
                && !is_directive(line.text)
                && !self.attribute(line.text)
                && !self.block_attributes(line, &mut above);
            if !is_text {
                above.is_attached &= !line.is_blank() && !is_directive(line.text);
                at += 1;
            } else {
                let found = std::mem::take(&mut above);
                at += self.block(&lines[at..], &found, depth).max(1);
                above.is_attached = line.text == "+";
            }
        }
    }

    /// Reads `[style]`, `[[anchor]]` and `.Title`; whether the line is one.
    fn block_attributes(&mut self, line: SourceLine<'_>, above: &mut BlockAttributes) -> bool {
        let text = line.text;
        if let Some(title) = text.strip_prefix('.')
            && !title.starts_with(['.', ' '])
            && !title.is_empty()
        {
            self.prose(line.number, title);
            return true;
        }
        let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
            return false;
        };
        if inside.starts_with('[') || inside.starts_with('#') {
            return true;
        }
        let mut parts = inside.split(',').map(|part| part.trim().trim_matches('"'));
        let style = parts.next().unwrap_or_default();
        if !style.contains('=') && !style.is_empty() {
            above.style = style.split(['%', '#', '.']).next().unwrap_or_default().to_lowercase();
            if let Some(language) = parts.next().filter(|part| !part.contains('=')) {
                above.language = language.to_owned();
            }
        }
        above.has_columns = table::num_columns(inside).or(above.has_columns);
        if matches!(above.style.as_str(), "quote" | "verse") && !above.language.is_empty() {
            above.language.clear();
        }
        true
    }

    /// Reads the block at the first line; returns how many lines it has.
    fn block(&mut self, lines: &[SourceLine<'_>], above: &BlockAttributes, depth: usize) -> usize {
        let first = lines[0];
        let is_discrete = matches!(above.style.as_str(), "discrete" | "float");
        // Only the outermost blocks are sections; a discrete heading may be anywhere.
        if (depth == 0 && !above.is_attached || is_discrete)
            && let Some((level, title, used)) = heading(lines)
        {
            let title = self.attributes.inline(title);
            self.writer.heading(first.number, level, &title);
            return used;
        }
        // Breaks of a page, rules, and the sign that attaches a block to an item have no text.
        if first.text == "<<<" || first.text == "'''" || first.text == "+" {
            return 1;
        }
        if let Some(used) = self.delimited(lines, above, depth) {
            return used;
        }
        if above.style == "verse" {
            let used = paragraph_len(lines);
            self.prose(first.number, &join(&lines[..used]));
            return used;
        }
        if let Some(text) =
            first.text.strip_prefix("image:").and_then(|text| text.strip_prefix(':'))
        {
            self.prose(first.number, inline::alt(text));
            return 1;
        }
        // An indented paragraph is source, but an indented item is an item.
        if first.indent() > 0 && inline::item_mark(first.text).is_none() {
            let used = paragraph_len(lines);
            self.writer.code("", &dedent(&lines[..used]));
            return used;
        }
        if let Some((mark, level, rest)) = inline::item_mark(first.text) {
            return self.item(lines, mark, level, rest);
        }
        if matches!(above.style.as_str(), "source" | "listing" | "literal") {
            let used = paragraph_len(lines);
            self.writer.code(&above.language, &lines[..used]);
            return used;
        }
        if let Some((term, rest)) = inline::term(first.text) {
            self.prose(first.number, term);
            let used = prose_len(lines);
            self.prose(first.number, &join_after(rest, &lines[1..used]));
            return used;
        }
        self.note(first.number, above);
        let used = prose_len(lines);
        self.prose(first.number, &join(&lines[..used]));
        used
    }

    /// Reads a block between two equal lines; `None` if the first line does not open one.
    fn delimited(
        &mut self,
        lines: &[SourceLine<'_>],
        above: &BlockAttributes,
        depth: usize,
    ) -> Option<usize> {
        let open = lines[0].text;
        let mark = open.chars().next()?;
        let is_fence = open.starts_with("```");
        let is_table = TABLES.contains(&open);
        if !is_fence && !is_delimiter(open) {
            return None;
        }
        let close = if is_fence { "```" } else { open };
        let end = self.ends.line(close, &lines[1..]);
        // A block that is not closed is a line.
        let Some(end) = end.map(|end| end + 1) else { return Some(1) };
        let inside = &lines[1..end];
        let is_code = matches!(above.style.as_str(), "source" | "listing" | "literal");
        match mark {
            '/' => {}
            '`' => self.writer.code(open.trim_start_matches('`').trim(), inside),
            '-' if open != "--" => self.writer.code(&above.language, inside),
            '.' => self.writer.code(&above.language, inside),
            _ if is_code => self.writer.code(&above.language, inside),
            '+' if above.style == "stem" || above.style == "latexmath" => {
                self.writer.code("math", inside);
            }
            // A passthrough block has markup of another format.
            '+' => {}
            _ if is_table => {
                let rows = table::rows(inside, mark, above.has_columns);
                let rows = rows.iter().map(|row| row.map(|cell| self.attributes.inline(cell)));
                let rows: Vec<MarkupRow> = rows.collect();
                self.writer.table(&rows);
            }
            _ if depth < MAX_DEPTH && above.style != "verse" => {
                self.note(lines[0].number, above);
                self.body(inside, depth + 1);
            }
            _ => self.prose(lines[1].number, &join(inside)),
        }
        Some(end + 1)
    }

    /// Reads an item of a list.
    fn item(&mut self, lines: &[SourceLine<'_>], mark: &str, level: usize, rest: &str) -> usize {
        let used = prose_len(lines);
        let text = self.attributes.inline(&join_after(rest, &lines[1..used]));
        self.writer.item(lines[0].number, mark, &text, level);
        used
    }

    /// Writes the word that begins an admonition.
    fn note(&mut self, number: u32, above: &BlockAttributes) {
        if let Some(label) = NOTES.iter().find(|note| above.style.eq_ignore_ascii_case(note)) {
            self.prose(number, label);
        }
    }

    fn prose(&mut self, number: u32, text: &str) {
        let text = self.attributes.inline(text);
        self.writer.paragraph(number, &text);
    }
}

/// Returns the length of the paragraph that begins here.
fn prose_len(lines: &[SourceLine<'_>]) -> usize {
    let more = lines[1..]
        .iter()
        .take_while(|line| !line.is_blank() && !ends_paragraph(line.text.trim_start()));
    1 + more.count()
}

/// Whether a line before or after the attributes of the header is not part of it.
fn is_skipped(line: &SourceLine<'_>) -> bool {
    line.is_blank() || is_comment(line.text)
}

/// The lines below the titles of two lines, by level.
const UNDERLINES: &str = "=-~^+";

/// Returns the level and the text of the heading that begins here, and how many lines it has.
fn heading<'a>(lines: &[SourceLine<'a>]) -> Option<(u8, &'a str, usize)> {
    let text = lines.first()?.text;
    let mark = text.chars().next()?;
    let num_marks = text.chars().take_while(|c| *c == mark).count();
    let after = text.get(num_marks..).and_then(|rest| rest.strip_prefix(' '));
    if let ('=' | '#', 1..=6, Some(title)) = (mark, num_marks, after) {
        let closed = title.strip_suffix(&text[..num_marks]).filter(|title| title.ends_with(' '));
        let title = closed.unwrap_or(title).trim();
        return (!title.is_empty()).then(|| (u8::try_from(num_marks).unwrap_or(6), title, 1));
    }
    let below = lines.get(1)?.text;
    let level = (1..).zip(UNDERLINES.chars()).find(|(_, mark)| below.starts_with(*mark))?;
    let is_title = below.len() > 1
        && below.chars().all(|c| c == level.1)
        && text.chars().count().abs_diff(below.len()) < 2
        && mark != '.'
        && text.contains(char::is_alphanumeric);
    is_title.then(|| (level.0, text.trim(), 2))
}

fn is_comment(text: &str) -> bool {
    text.starts_with("//") && !text.starts_with("///")
}

/// Whether a line is for the processor: files to include, conditions, generated contents.
fn is_directive(text: &str) -> bool {
    ["include::", "ifdef::", "ifndef::", "ifeval::", "endif::", "toc::"]
        .iter()
        .any(|name| text.starts_with(name) && text.ends_with(']'))
}

/// Whether a line is one of the two equal ones around a block: four signs or more.
fn is_delimiter(text: &str) -> bool {
    let mark = text.chars().next().unwrap_or(' ');
    let is_rule = text.len() >= 4 && "-.=*_+/".contains(mark) && text.chars().all(|c| c == mark);
    is_rule || text == "--" || TABLES.contains(&text)
}

/// Whether a line opens a block between two equal lines, or describes one.
fn starts_block(text: &str) -> bool {
    (is_delimiter(text) && !matches!(text, ",===" | ":===" | "!==="))
        || text == "+"
        || text.starts_with("```")
        || text.starts_with('[') && text.ends_with(']') && !text.contains(' ')
        || inline::item_mark(text).is_some()
}

/// Whether a line ends the paragraph above it.
fn ends_paragraph(text: &str) -> bool {
    starts_block(text) || is_directive(text) || is_comment(text) || inline::term(text).is_some()
}

#[cfg(test)]
mod tests;
