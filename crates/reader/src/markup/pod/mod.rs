//! Reads POD, the documentation of Perl.

mod inline;

use super::marks::MarkPositions;
use super::writer::{MarkupWriter, SourceLine, dedent, join, join_after, paragraph_len};
use crate::document::{Document, WordAccount, WordDestination};

use inline::inline;

/// The heading of the section that names the subject of the page.
const NAME: &str = "NAME";

pub(super) fn extract(text: &str) -> Document {
    let lines = SourceLine::all(text);
    if !lines.iter().any(|line| command(line).is_some()) {
        // A text without documentation is read as plain text.
        return Document::default();
    }
    let mut reader = PodReader {
        ends: MarkPositions::of_lines(&lines, |text| {
            text.starts_with("=end").then(|| "=end".to_owned())
        }),
        ..PodReader::default()
    };
    let mut at = 0;
    while at < lines.len() {
        at += reader.paragraph(&lines[at..]).max(1);
    }
    reader.end_item();
    let mut document = reader.writer.finish();
    document.metadata.words = Some(reader.left_out);
    document
}

/// Writes paragraphs one after the other.
#[derive(Default)]
struct PodReader {
    writer: MarkupWriter,
    /// The lines at which blocks for other programs end.
    ends: MarkPositions,
    /// Whether the lines are documentation; the lines before and between are Perl.
    is_pod: bool,
    /// Whether the next paragraph is the name of the page.
    is_name: bool,
    /// Number of open lists.
    num_lists: usize,
    /// The item whose text has not come yet.
    item: Option<PodItem>,
    left_out: WordAccount,
}

struct PodItem {
    number: u32,
    mark: String,
    /// The term that the item is about; empty for a bullet or a number.
    term: String,
}

impl PodReader {
    /// Reads the paragraph at the first line; returns how many lines it has.
    fn paragraph(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let first = lines[0];
        if first.is_blank() {
            return 1;
        }
        if let Some(command) = command(&first) {
            return self.command(command, lines);
        }
        if !self.is_pod {
            let len = lines.iter().take_while(|line| !line.text.starts_with('=')).count().max(1);
            self.writer.code("perl", &lines[..len]);
            return len;
        }
        if is_verbatim(&first) {
            let block = lines.iter().take_while(|line| line.is_blank() || is_verbatim(line));
            let len = block.count();
            self.end_item();
            self.writer.code("", &dedent(&lines[..len]));
            return len;
        }
        let len = paragraph_len(lines);
        let text = inline(&join(&lines[..len]));
        if std::mem::take(&mut self.is_name) {
            self.writer.title(&text);
        }
        match self.item.take() {
            Some(item) => self.write_item(&item, &text),
            None => self.writer.paragraph(first.number, &text),
        }
        len
    }

    /// Reads a command; returns how many lines belong to it.
    fn command(&mut self, command: &str, lines: &[SourceLine<'_>]) -> usize {
        let number = lines[0].number;
        let len = paragraph_len(lines);
        let (name, rest) = command.split_once([' ', '\t']).unwrap_or((command, ""));
        let text = join_after(rest.trim(), &lines[1..len]);
        self.end_item();
        self.is_pod = name != "cut";
        match name {
            "item" => self.item = Some(item(number, &text)),
            "over" => self.num_lists += 1,
            "back" => self.num_lists = self.num_lists.saturating_sub(1),
            // The blank line after it is often missing.
            "cut" => return 1,
            "begin" if !is_read(rest) => {
                let Some(end) = self.ends.line("=end", lines) else { return len };
                self.left_out.add(WordDestination::Markup, &join(&lines[1..end]));
                return end + 1;
            }
            "for" => {
                let words = text.split_once(char::is_whitespace).map_or("", |(_, words)| words);
                if is_read(rest) {
                    self.writer.paragraph(number, &inline(words));
                } else {
                    self.left_out.add(WordDestination::Markup, words);
                }
            }
            _ => {
                let level = name.strip_prefix("head").and_then(|level| level.parse().ok());
                if let Some(level) = level {
                    self.writer.heading(number, level, &inline(&text));
                    self.is_name = level == 1 && text.trim() == NAME;
                }
            }
        }
        len
    }

    /// Writes an item that has no text.
    fn end_item(&mut self) {
        if let Some(item) = self.item.take() {
            self.write_item(&item, "");
        }
    }

    /// Writes an item with its first paragraph.
    fn write_item(&mut self, item: &PodItem, text: &str) {
        let depth = self.num_lists.saturating_sub(1);
        let term = &item.term;
        let colon = if term.is_empty() || text.is_empty() { "" } else { ": " };
        self.writer.item(item.number, &item.mark, &format!("{term}{colon}{text}"), depth);
    }
}

/// Returns the words of a command after its sign.
fn command<'t>(line: &SourceLine<'t>) -> Option<&'t str> {
    line.text.strip_prefix('=').filter(|rest| rest.starts_with(char::is_alphabetic))
}

/// Whether a block for another program is text after all.
fn is_read(format: &str) -> bool {
    let format = format.trim();
    format.starts_with(':') || format.split_whitespace().next() == Some("text")
}

/// Reads the words after `=item`: a bullet, a number, or the term that the item is about.
fn item(number: u32, text: &str) -> PodItem {
    let (mark, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let digits = mark.trim_end_matches('.');
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (mark, term) = match mark {
        "*" | "" => ("-".to_owned(), rest),
        _ if is_number => (format!("{digits}."), rest),
        _ => ("-".to_owned(), text),
    };
    PodItem { number, mark, term: inline(term) }
}

/// Whether a line begins a paragraph that is shown unchanged.
fn is_verbatim(line: &SourceLine<'_>) -> bool {
    line.text.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests;
