//! Reads reStructuredText, as docutils and Sphinx define it.

mod directives;
mod inline;
mod tables;

use super::marks::MAX_DEPTH;
use super::writer::{MarkupRow, MarkupWriter, SourceLine, dedent, join, paragraph_len};
use crate::document::Document;

use inline::Replacements;

/// Width of a tab stop, as in docutils.
const TAB: usize = 8;

pub(super) fn extract(text: &str) -> Document {
    let text = expand_tabs(text);
    let lines = SourceLine::all(&text);
    let mut reader = RstReader {
        writer: MarkupWriter::default(),
        adornments: Vec::new(),
        replacements: Replacements::of(&text, &lines),
    };
    reader.body(&lines, 0, true);
    reader.writer.finish()
}

/// Replaces tabs by spaces up to the next tab stop.
fn expand_tabs(text: &str) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        if c == '\t' {
            let width = TAB - column % TAB;
            expanded.extend(std::iter::repeat_n(' ', width));
            column += width;
        } else {
            expanded.push(c);
            column = if c == '\n' { 0 } else { column + 1 };
        }
    }
    expanded
}

/// Writes the blocks of a document.
struct RstReader {
    writer: MarkupWriter,
    /// How the titles of each level are adorned, from the top: the character, and whether there is a
    /// line above the title.
    adornments: Vec<(char, bool)>,
    replacements: Replacements,
}

impl RstReader {
    /// Reads lines that share one indentation. `depth` counts the constructs around them;
    /// `has_sections` is false inside of them.
    fn body(&mut self, lines: &[SourceLine<'_>], depth: usize, has_sections: bool) {
        let mut at = 0;
        while at < lines.len() {
            if lines[at].is_blank() {
                at += 1;
                continue;
            }
            at += self.element(&lines[at..], depth, has_sections).max(1);
        }
    }

    /// Reads the element at the first line; returns how many lines it has.
    fn element(&mut self, lines: &[SourceLine<'_>], depth: usize, has_sections: bool) -> usize {
        let first = lines[0];
        if has_sections && let Some(used) = self.section(lines) {
            return used;
        }
        if is_adornment(first.text) && lines.get(1).is_none_or(SourceLine::is_blank) {
            return 1;
        }
        if let Some(table) = tables::read(lines) {
            self.table(&table.rows);
            return table.num_lines;
        }
        if first.text == ".." || first.text.starts_with(".. ") || first.text.starts_with("__ ") {
            let used = indented_after(lines);
            self.explicit(&lines[..used], depth);
            return used;
        }
        if first.indent() > 0 {
            // Indented lines are a quotation, or text that is wrongly indented.
            let used = lines.iter().take_while(|line| line.is_blank() || line.indent() > 0).count();
            self.nested(&dedent(&lines[..used]), depth);
            return used;
        }
        if first.text.starts_with(">>> ") {
            let used = paragraph_len(lines);
            self.writer.code("python", &lines[..used]);
            return used;
        }
        if first.text.starts_with("| ") || first.text == "|" {
            let used = paragraph_len(lines);
            let text: Vec<&str> = lines[..used]
                .iter()
                .map(|line| line.text.strip_prefix('|').unwrap_or(line.text))
                .collect();
            self.prose(first.number, &text.join("\n"));
            return used;
        }
        if let Some(mark) = list_mark(first.text) {
            return self.item(lines, mark, depth);
        }
        if let Some((name, rest)) = field(first.text) {
            return self.field(lines, &name, rest, depth);
        }
        self.paragraph(lines, depth)
    }

    /// Reads a section's title; `None` if there is none.
    fn section(&mut self, lines: &[SourceLine<'_>]) -> Option<usize> {
        let (title, adornment, used) = match lines {
            [over, title, under, ..]
                if is_adornment(over.text)
                    && under.text.trim() == over.text.trim()
                    && !title.is_blank()
                    && width(title.text) <= width(over.text) =>
            {
                (title, (over.text.chars().next()?, true), 3)
            }
            [title, under, ..]
                // As docutils, which accepts an underline that is too short from four signs on.
                if is_adornment(under.text)
                    && title.indent() == 0
                    && !title.is_blank()
                    && !is_adornment(title.text)
                    && (width(title.text) <= width(under.text) || under.text.len() >= 4) =>
            {
                (title, (under.text.chars().next()?, false), 2)
            }
            _ => return None,
        };
        let idx = self.adornments.iter().position(|known| *known == adornment);
        let idx = idx.unwrap_or_else(|| {
            self.adornments.push(adornment);
            self.adornments.len() - 1
        });
        let text = self.replacements.inline(title.text);
        self.writer.heading(title.number, u8::try_from(idx + 1).unwrap_or(u8::MAX), &text);
        Some(used)
    }

    /// Reads an item of a list and the lines indented below it.
    fn item(&mut self, lines: &[SourceLine<'_>], mark: usize, depth: usize) -> usize {
        let mut used = indented_after(lines);
        // An item may lack the indentation of its second line.
        if used == 1 && lines.get(1).is_some_and(|line| !line.is_blank()) {
            let more = lines[1..]
                .iter()
                .take_while(|line| !line.is_blank() && list_mark(line.text).is_none());
            used += more.count();
        }
        let first = SourceLine { text: lines[0].text[mark..].trim_start(), ..lines[0] };
        let mut inside = vec![first];
        inside.extend(dedent(&lines[1..used]));
        let num_lead = paragraph_len(&inside);
        let is_code = inside[..num_lead].last().is_some_and(|line| line.text.ends_with("::"));
        if num_lead == 0 || first.text.starts_with(".. ") {
            self.nested(&inside, depth);
            return used;
        }
        let text = self.replacements.inline(without_code_mark(&join(&inside[..num_lead])));
        self.writer.item(first.number, lines[0].text[..mark].trim(), &text, depth);
        let rest = &inside[num_lead..];
        let num_code = if is_code { self.literal(rest) } else { 0 };
        self.nested(&dedent(&rest[num_code..]), depth);
        used
    }

    /// Reads a field: `:name: text`, and the lines indented below it.
    fn field(&mut self, lines: &[SourceLine<'_>], name: &str, rest: &str, depth: usize) -> usize {
        let used = indented_after(lines);
        let below = dedent(&lines[1..used]);
        let num_lead = paragraph_len(&below);
        let more = join(&below[..num_lead]);
        self.prose(lines[0].number, &format!("{name}: {rest}\n{more}"));
        self.nested(&below[num_lead..], depth);
        used
    }

    /// Reads a paragraph, with the literal block or the definition that follows it.
    fn paragraph(&mut self, lines: &[SourceLine<'_>], depth: usize) -> usize {
        // The definition of a term is indented.
        if lines[0].indent() == 0
            && lines.get(1).is_some_and(|line| !line.is_blank() && line.indent() > 0)
        {
            self.prose(lines[0].number, without_code_mark(lines[0].text));
            let end = indented_after(lines);
            let below = &lines[1..end];
            let num_code = if lines[0].text.ends_with("::") { self.literal(below) } else { 0 };
            self.nested(&dedent(&below[num_code..]), depth);
            return end;
        }
        let used = paragraph_len(lines);
        let text = join(&lines[..used]);
        self.prose(lines[0].number, without_code_mark(&text));
        if text.ends_with("::") { used + self.literal(&lines[used..]) } else { used }
    }

    /// Writes the literal block that begins after blank lines; returns how many lines it has.
    fn literal(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let Some(start) = lines.iter().position(|line| !line.is_blank()) else { return 0 };
        let first = lines[start];
        let is_quoted = first.indent() == 0
            && first.text.starts_with(|c: char| c.is_ascii_punctuation())
            && !first.text.starts_with("..");
        let used = match first.text.chars().next() {
            // Each line begins with the same mark.
            Some(mark) if is_quoted => {
                lines[start..].iter().take_while(|line| line.text.starts_with(mark)).count()
            }
            _ => num_indented(&lines[start..]),
        };
        self.writer.code("", &dedent(&lines[start..start + used]));
        start + used
    }

    /// Reads lines inside another element.
    fn nested(&mut self, lines: &[SourceLine<'_>], depth: usize) {
        if depth < MAX_DEPTH {
            self.body(lines, depth + 1, false);
        } else if let Some(first) = lines.first() {
            self.prose(first.number, &join(lines));
        }
    }

    fn table(&mut self, rows: &[MarkupRow]) {
        let rows = rows.iter().map(|row| row.map(|cell| self.replacements.inline(cell)));
        let rows: Vec<MarkupRow> = rows.collect();
        self.writer.table(&rows);
    }

    fn prose(&mut self, number: u32, text: &str) {
        let text = self.replacements.inline(text);
        self.writer.paragraph(number, &text);
    }
}

/// Returns how many lines belong to the first: itself and the lines indented below it.
fn indented_after(lines: &[SourceLine<'_>]) -> usize {
    let end = 1 + num_indented(&lines[1..]);
    lines[..end].iter().rposition(|line| !line.is_blank()).map_or(end, |last| last + 1)
}

/// Returns how many lines at the beginning are indented or blank.
fn num_indented(lines: &[SourceLine<'_>]) -> usize {
    lines.iter().take_while(|line| line.is_blank() || line.indent() > 0).count()
}

fn width(text: &str) -> usize {
    text.trim().chars().count()
}

/// Whether a line only consists of one repeated punctuation mark.
fn is_adornment(text: &str) -> bool {
    let text = text.trim_end();
    let Some(mark) = text.chars().next() else { return false };
    mark.is_ascii_punctuation()
        && text.len() >= 2
        && text.bytes().all(|byte| char::from(byte) == mark)
        && !matches!(text, "::" | ".." | "--" | "__" | "...")
}

/// Returns the length of the mark of a list item, including the blank after it.
fn list_mark(text: &str) -> Option<usize> {
    if text.starts_with(['*', '-', '+', '•']) {
        let mark = text.chars().next().map_or(1, char::len_utf8);
        return (text[mark..].starts_with(' ') || text.len() == mark && mark == 1)
            .then_some((mark + 1).min(text.len()));
    }
    let open = usize::from(text.starts_with('('));
    let len = text[open..].find([')', '.']).filter(|len| (1..=4).contains(len))?;
    let number = &text[open..open + len];
    let is_number = number == "#"
        || number.bytes().all(|byte| byte.is_ascii_digit())
        || number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic())
        || number.bytes().all(|byte| b"ivxlcIVXLC".contains(&byte));
    let end = open + len + 1;
    (is_number && (open == 0 || text[..end].ends_with(')')) && text[end..].starts_with(' '))
        .then_some(end + 1)
}

/// Returns the name and the text of a field.
fn field(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix(':')?;
    let end = rest.match_indices(':').map(|(at, _)| at).find(|at| {
        let after = &rest[at + 1..];
        after.is_empty() || after.starts_with(' ')
    })?;
    (end > 0 && !rest.starts_with(' ') && !rest[..end].contains('`'))
        .then(|| (rest[..end].to_owned(), rest[end + 1..].trim_start()))
}

/// Removes the mark that a literal block follows.
fn without_code_mark(text: &str) -> &str {
    match text.strip_suffix("::") {
        Some(before) if before.is_empty() || before.ends_with(char::is_whitespace) => before,
        Some(_) => &text[..text.len() - 1],
        None => text,
    }
}

#[cfg(test)]
mod tests;
