//! Reads Typst: the words that its markup and its functions set, not their appearance.
//!
//! `flatten` first removes code and keeps the content in it, so that only lines of markup and tables are left; then the
//! lines become headings, lists and paragraphs.

mod arguments;
mod flatten;
mod frames;
mod scanner;

use super::writer::{self, MarkupWriter, SourceLine, dedent};
use crate::document::Document;

use flatten::FlatText;
use frames::TypstPiece;

pub(super) fn extract(text: &str) -> Document {
    let FlatText { pieces, title, authors, left_out } = flatten::flatten(text);
    let mut writer = MarkupWriter::default();
    if let Some(title) = title {
        writer.title(&title);
    }
    writer.document().metadata.author =
        Some(authors.join(", ")).filter(|authors| !authors.is_empty());
    let mut lines = MarkupLines::default();
    for piece in pieces {
        match piece {
            TypstPiece::Text(number, text) => lines.add(number, &text),
            TypstPiece::Break(number) => {
                lines.begin(number);
                lines.begin(number);
            }
            TypstPiece::Table(rows) => {
                write(&lines.take(), &mut writer);
                writer.table(&rows);
            }
            TypstPiece::Code { language, number, text } => {
                write(&lines.take(), &mut writer);
                let numbered = (number..).zip(text.lines());
                let code: Vec<SourceLine<'_>> =
                    numbered.map(|(number, text)| SourceLine { number, text }).collect();
                writer.code(&language, &dedent(&code));
            }
        }
    }
    write(&lines.take(), &mut writer);
    let mut document = writer.finish();
    document.metadata.words = Some(left_out);
    document
}

/// Lines of markup with the lines of the file that they come from.
#[derive(Default)]
struct MarkupLines {
    lines: Vec<(u32, String)>,
    /// Whether the last line has words.
    has_words: bool,
}

impl MarkupLines {
    /// Adds a text, which continues the last line.
    fn add(&mut self, number: u32, text: &str) {
        for (idx, part) in text.split('\n').enumerate() {
            let number = number.saturating_add(u32::try_from(idx).unwrap_or(0));
            if idx > 0 || self.lines.is_empty() {
                self.begin(number);
            }
            let Some((last, line)) = self.lines.last_mut() else { return };
            if !self.has_words && !part.trim().is_empty() {
                *last = number;
                self.has_words = true;
            }
            line.push_str(part);
        }
    }

    /// Begins a line.
    fn begin(&mut self, number: u32) {
        self.lines.push((number, String::new()));
        self.has_words = false;
    }

    /// Takes all lines.
    fn take(&mut self) -> Vec<(u32, String)> {
        self.has_words = false;
        std::mem::take(&mut self.lines)
    }
}

/// The block that a line begins.
enum TypstLine<'t> {
    Heading(u8, &'t str),
    Item { depth: usize, mark: &'t str, text: &'t str },
}

/// Writes lines of markup as blocks.
fn write(lines: &[(u32, String)], writer: &mut MarkupWriter) {
    let mut at = 0;
    while let Some((number, line)) = lines.get(at) {
        let more = lines[at + 1..]
            .iter()
            .take_while(|(_, line)| !line.trim().is_empty() && begin(line).is_none());
        let num_more = more.count();
        let rest = &lines[at + 1..=at + num_more];
        match begin(line) {
            Some(TypstLine::Heading(level, text)) => {
                writer.heading(*number, level, text);
                at += 1;
                continue;
            }
            Some(TypstLine::Item { depth, mark, text }) => {
                let mut words = writer::NumberedWords::default();
                words.push(*number, text);
                rest.iter().for_each(|(number, line)| words.push(*number, line));
                writer.item_of(words, mark, depth);
            }
            None if line.trim().is_empty() => {
                at += 1;
                continue;
            }
            None => writer.lines(&lines[at..=at + num_more]),
        }
        at += 1 + num_more;
    }
}

/// Returns the block that a line begins; `None` for prose.
fn begin(line: &str) -> Option<TypstLine<'_>> {
    let text = line.trim_start();
    let depth = (line.len() - text.len()) / 2;
    let num_marks = text.bytes().take_while(|byte| *byte == b'=').count();
    if num_marks > 0 && text[num_marks..].starts_with([' ', '\t']) {
        let level = u8::try_from(num_marks).unwrap_or(u8::MAX);
        return Some(TypstLine::Heading(level, text[num_marks..].trim()));
    }
    let (mark, text) = text.split_once(' ').unwrap_or((text, ""));
    let number = mark.strip_suffix('.').unwrap_or_default();
    let is_number = !number.is_empty()
        && number.len() <= MAX_DIGITS
        && number.bytes().all(|byte| byte.is_ascii_digit());
    match mark {
        "-" | "/" => Some(TypstLine::Item { depth, mark: "-", text }),
        "+" => Some(TypstLine::Item { depth, mark: "1.", text }),
        _ if is_number => Some(TypstLine::Item { depth, mark, text }),
        _ => None,
    }
}

/// Longest number of an item: a year before a full stop may begin a line.
const MAX_DIGITS: usize = 3;

#[cfg(test)]
mod tests;
