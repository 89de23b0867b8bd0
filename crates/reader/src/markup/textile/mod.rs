//! Reads Textile, the markup of wikis and trackers.

mod attributes;
mod inline;

use super::marks::MarkPositions;
use super::writer::{MarkupRow, MarkupWriter, SourceLine, join, join_after, paragraph_len};
use crate::document::{Document, WordAccount, WordDestination};

use attributes::attributes;
use inline::inline;

/// Most columns that a cell takes: a few bytes could ask for a million.
const MAX_SPAN: usize = 20;

/// The last line of a block of HTML with source text.
const PRE_END: &str = "</pre>";

pub(super) fn extract(text: &str) -> Document {
    let lines = SourceLine::all(text);
    let mut reader = TextileReader {
        ends: MarkPositions::of_lines(&lines, |text| {
            text.contains(PRE_END).then(|| PRE_END.to_owned())
        }),
        ..TextileReader::default()
    };
    let mut at = 0;
    while at < lines.len() {
        at += reader.block(&lines[at..]).max(1);
    }
    let mut document = reader.writer.finish();
    document.metadata.words = Some(reader.left_out);
    document
}

#[derive(Default)]
struct TextileReader {
    writer: MarkupWriter,
    ends: MarkPositions,
    left_out: WordAccount,
}

impl TextileReader {
    /// Reads the block at the first line; returns how many lines it has.
    fn block(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let first = lines[0];
        if first.is_blank() {
            return 1;
        }
        if let Some(signature) = Signature::of(first.text) {
            return self.signed(&signature, lines);
        }
        if first.text.trim_start().starts_with("<pre") {
            return self.preformatted(lines);
        }
        if item(first.text).is_some() {
            return self.item(lines);
        }
        if is_row(first.text) {
            return self.table(lines);
        }
        // Such a row of signs is a rule.
        if first.text.len() > 2 && first.text.trim().bytes().all(|byte| byte == b'-') {
            return 1;
        }
        if let Some((term, words)) =
            first.text.strip_prefix("- ").and_then(|text| text.split_once(":="))
        {
            let text = format!("{}: {}", inline(term.trim()), inline(words.trim()));
            self.writer.item(first.number, "-", &text, 0);
            return 1;
        }
        let more = lines[1..]
            .iter()
            .take_while(|line| !line.is_blank() && item(line.text).is_none() && !is_row(line.text));
        let len = 1 + more.count();
        self.writer.paragraph(first.number, &inline(&join(&lines[..len])));
        len
    }

    /// Reads a block whose first line states its kind.
    fn signed(&mut self, signature: &Signature<'_>, lines: &[SourceLine<'_>]) -> usize {
        let number = lines[0].number;
        if signature.name == "table" {
            // This line has the attributes of a table, whose rows follow.
            return 1;
        }
        let len = if signature.is_extended {
            let end = lines[1..].iter().position(|line| Signature::of(line.text).is_some());
            end.map_or(lines.len(), |end| end + 1)
        } else {
            paragraph_len(lines)
        };
        let is_code = matches!(signature.name, "bc" | "pre");
        if is_code {
            let first = SourceLine { number, text: signature.text };
            let code: Vec<SourceLine<'_>> =
                [first].into_iter().chain(lines[1..len].iter().copied()).collect();
            self.writer.code(signature.language, &code);
            return len;
        }
        let text = join_after(signature.text, &lines[1..len]);
        match signature.name {
            "###" => self.left_out.add(WordDestination::Markup, &text),
            "notextile" => self.writer.paragraph(number, &text),
            name => match name.strip_prefix('h').and_then(|level| level.parse().ok()) {
                Some(level) => self.writer.heading(number, level, &inline(&text)),
                None => self.paragraphs(number, &text),
            },
        }
        len
    }

    /// Writes the paragraphs of a quotation.
    fn paragraphs(&mut self, number: u32, text: &str) {
        let mut number = number;
        for paragraph in text.split("\n\n") {
            self.writer.paragraph(number, &inline(paragraph));
            let num_lines = paragraph.matches('\n').count() + "\n\n".len();
            number = number.saturating_add(u32::try_from(num_lines).unwrap_or(0));
        }
    }

    /// Reads `<pre>` up to its end.
    fn preformatted(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let Some(end) = self.ends.line(PRE_END, lines) else {
            self.writer.paragraph(lines[0].number, &inline(lines[0].text));
            return 1;
        };
        let texts: Vec<String> = lines[..=end].iter().map(|line| without_tags(line.text)).collect();
        let code: Vec<SourceLine<'_>> = lines
            .iter()
            .zip(&texts)
            .map(|(line, text)| SourceLine { number: line.number, text })
            .collect();
        self.writer.code("", &code);
        end + 1
    }

    /// Reads an item with the lines that continue it.
    fn item(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let first = lines[0];
        let Some(TextileItem { depth, mark, text }) = item(first.text) else { return 1 };
        let more = lines[1..].iter().take_while(|line| {
            !line.is_blank() && item(line.text).is_none() && Signature::of(line.text).is_none()
        });
        let len = 1 + more.count();
        let text = inline(&join_after(text, &lines[1..len]));
        self.writer.item(first.number, mark, &text, depth);
        len
    }

    /// Reads rows, each of which ends with a line that ends with a bar.
    fn table(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let (mut rows, mut at) = (Vec::new(), 0);
        while lines.get(at).is_some_and(|line| is_row(line.text)) {
            let len = 1 + lines[at..]
                .iter()
                .take_while(|line| !line.is_blank() && !line.text.ends_with('|'))
                .count();
            let len = len.min(lines.len() - at);
            rows.push(row(lines[at].number, &join(&lines[at..at + len])));
            at += len;
        }
        self.writer.table(&rows);
        at
    }
}

/// The words that state the kind of a block: `h2(class). `, `bc.. `.
struct Signature<'t> {
    name: &'t str,
    /// The language of source text.
    language: &'t str,
    /// Whether the block continues over blank lines.
    is_extended: bool,
    text: &'t str,
}

impl<'t> Signature<'t> {
    /// Names of blocks; those of headings and notes have a number after the first letters.
    const NAMES: &'static [&'static str] = &[
        "h1", "h2", "h3", "h4", "h5", "h6", "p", "bq", "bc", "pre", "notextile", "table", "###",
        "fn",
    ];

    fn of(line: &'t str) -> Option<Self> {
        let name = Self::NAMES.iter().find(|name| line.starts_with(**name))?;
        let mut rest = &line[name.len()..];
        if *name == "fn" {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        let (attributes, after) = attributes(rest);
        let after = after.strip_prefix('.')?;
        let (is_extended, after) = match after.strip_prefix('.') {
            Some(after) => (true, after),
            None => (false, after),
        };
        // `p.5` is not the beginning of a paragraph. Quotations may have an address: `bq.:https://…`.
        let text = match after.strip_prefix(':') {
            Some(address) => address.split_once(' ').map_or("", |(_, text)| text),
            None => after.strip_prefix(' ').or(after.is_empty().then_some(""))?,
        };
        let language = attributes.trim_matches(['(', ')']);
        Some(Self { name, language, is_extended, text })
    }
}

/// An item of a list.
struct TextileItem<'t> {
    depth: usize,
    mark: &'static str,
    text: &'t str,
}

fn item(line: &str) -> Option<TextileItem<'_>> {
    let num_marks = line.bytes().take_while(|byte| matches!(byte, b'*' | b'#')).count();
    let (marks, rest) = line.split_at(num_marks);
    let mark = if marks.ends_with('#') { "1." } else { "-" };
    let (_, rest) = attributes(rest);
    let text = rest.strip_prefix(' ').filter(|_| num_marks > 0)?;
    Some(TextileItem { depth: num_marks - 1, mark, text: text.trim() })
}

fn is_row(line: &str) -> bool {
    let text = line.trim_start();
    // Rows may have attributes: `{color: red}. |a|`.
    text.starts_with('|') && text.len() > 1
        || text.split_once(". |").is_some_and(|(row, _)| {
            let (attributes, rest) = attributes(row);
            !attributes.is_empty() && rest.is_empty()
        })
}

/// Returns the cells of a row.
fn row(number: u32, text: &str) -> MarkupRow {
    let start = text.find('|').map_or(0, |at| at + 1);
    let text = text[start..].trim_end();
    let text = text.strip_suffix('|').unwrap_or(text);
    let mut cells = Vec::new();
    for cell in text.split('|') {
        let (num_columns, words) = cell_words(cell);
        cells.push(inline(words.trim()));
        cells.resize(cells.len() + num_columns.clamp(1, MAX_SPAN) - 1, String::new());
    }
    MarkupRow { number, cells }
}

/// Returns how many columns a cell takes, and its words after its attributes: `_. head`, `\2=. wide`.
fn cell_words(cell: &str) -> (usize, &str) {
    let Some((before, words)) =
        cell.split_once(". ").or(cell.strip_suffix('.').map(|begin| (begin, "")))
    else {
        return (1, cell);
    };
    let mut rest = before;
    let mut num_columns = 1;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '_' | '^' | '-' | '~' | '=' | '<' | '>' => {}
            '\\' | '/' => {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let number = rest[..end].parse().unwrap_or(1);
                if first == '\\' {
                    num_columns = number;
                }
                rest = &rest[end..];
            }
            '(' | '{' | '[' => {
                let Some(end) = rest.find([')', '}', ']']) else { return (1, cell) };
                rest = &rest[end + 1..];
            }
            _ => return (1, cell),
        }
    }
    (num_columns, words)
}

/// Removes the tags `<pre>` and `<code>`.
fn without_tags(line: &str) -> String {
    let mut bare = line.to_owned();
    for tag in ["<pre>", "</pre>", "<code>", "</code>"] {
        bare = bare.replace(tag, "");
    }
    match bare.split_once("<code class=").or(bare.split_once("<pre class=")) {
        Some((before, after)) => {
            before.to_owned() + after.split_once('>').map_or("", |(_, words)| words)
        }
        None => bare,
    }
}

#[cfg(test)]
mod tests;
