//! Reads Typst: the words that its markup and its functions set, not what they look like.
//!
//! `flatten` first removes code and keeps the content in it, so that what is left are lines of markup and tables;
//! then the lines become headings, lists and paragraphs.

mod arguments;
mod flatten;
mod frames;
mod scanner;

use super::writer::{self, Line, Writer, dedent};
use crate::document::Document;

use flatten::Flat;
use frames::Piece;

pub(super) fn extract(text: &str) -> Document {
    let Flat { pieces, title, authors, left_out } = flatten::flatten(text);
    let mut writer = Writer::default();
    if let Some(title) = title {
        writer.title(&title);
    }
    writer.document().metadata.author =
        Some(authors.join(", ")).filter(|authors| !authors.is_empty());
    let mut lines: Vec<(u32, String)> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(number, text) => add(&mut lines, number, &text),
            Piece::Break(number) => {
                lines.extend([(number, String::new()), (number, String::new())])
            }
            Piece::Table(rows) => {
                write(&std::mem::take(&mut lines), &mut writer);
                writer.table(&rows);
            }
            Piece::Code { language, number, text } => {
                write(&std::mem::take(&mut lines), &mut writer);
                let numbered = (number..).zip(text.lines());
                let code: Vec<Line<'_>> =
                    numbered.map(|(number, text)| Line { number, text }).collect();
                writer.code(&language, &dedent(&code));
            }
        }
    }
    write(&lines, &mut writer);
    let mut document = writer.finish();
    document.metadata.words = Some(left_out);
    document
}

/// Adds a text to the lines; it continues the last one.
fn add(lines: &mut Vec<(u32, String)>, number: u32, text: &str) {
    for (idx, part) in text.split('\n').enumerate() {
        let number = number.saturating_add(u32::try_from(idx).unwrap_or(0));
        match lines.last_mut().filter(|_| idx == 0) {
            Some((last, line)) => {
                if line.trim().is_empty() {
                    *last = number;
                }
                line.push_str(part);
            }
            None => lines.push((number, part.to_owned())),
        }
    }
}

/// What a line begins.
enum Begin<'t> {
    Heading(u8, &'t str),
    Item { depth: usize, mark: &'t str, text: &'t str },
}

/// Writes lines of markup as blocks.
fn write(lines: &[(u32, String)], writer: &mut Writer) {
    let mut at = 0;
    while let Some((number, line)) = lines.get(at) {
        let is_more = |(_, line): &&(u32, String)| !line.trim().is_empty() && begin(line).is_none();
        let num_more = lines[at + 1..].iter().take_while(is_more).count();
        let with = |first: &str| {
            let rest = lines[at + 1..=at + num_more].iter();
            let mut all = vec![(*number, first.to_owned())];
            all.extend(rest.cloned());
            all
        };
        match begin(line) {
            Some(Begin::Heading(level, text)) => {
                writer.heading(*number, level, text);
                at += 1;
                continue;
            }
            Some(Begin::Item { depth, mark, text }) => {
                let mut words = writer::Words::default();
                with(text).iter().for_each(|(number, line)| words.push(*number, line));
                writer.item_of(words, mark, depth);
            }
            None if line.trim().is_empty() => {
                at += 1;
                continue;
            }
            None => writer.lines(&with(line)),
        }
        at += 1 + num_more;
    }
}

/// Returns what a line begins; `None` for prose.
fn begin(line: &str) -> Option<Begin<'_>> {
    let text = line.trim_start();
    let depth = (line.len() - text.len()) / 2;
    let num_marks = text.bytes().take_while(|byte| *byte == b'=').count();
    if num_marks > 0 && text[num_marks..].starts_with([' ', '\t']) {
        let level = u8::try_from(num_marks).unwrap_or(u8::MAX);
        return Some(Begin::Heading(level, text[num_marks..].trim()));
    }
    let (mark, text) = text.split_once(' ').unwrap_or((text, ""));
    let number = mark.strip_suffix('.').unwrap_or_default();
    let is_number = !number.is_empty()
        && number.len() <= MAX_DIGITS
        && number.bytes().all(|byte| byte.is_ascii_digit());
    match mark {
        "-" | "/" => Some(Begin::Item { depth, mark: "-", text }),
        "+" => Some(Begin::Item { depth, mark: "1.", text }),
        _ if is_number => Some(Begin::Item { depth, mark, text }),
        _ => None,
    }
}

/// Longest number of an item: a year before a full stop may begin a line.
const MAX_DIGITS: usize = 3;

#[cfg(test)]
mod tests;
