//! Reads LaTeX: the words that its commands set, not their appearance.
//!
//! Macros without and with arguments are expanded where the document defines them. Formulas are kept in TeX between
//! dollar signs.

mod commands;
mod environments;
mod expansion;
mod macros;
mod words;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::marks::{Groups, GrowthBudget, MarkPositions};
use super::writer::{MarkupRow, MarkupWriter, NumberedWords, within};
use crate::document::Document;

use macros::Macro;

/// Longest formula, in bytes: a `$` that nothing closes is a sign of a currency, not the beginning of a formula.
const MAX_FORMULA_BYTES: usize = 10_000;

/// Longest group, in bytes: a bracket that nothing closes would be searched for to the end of the text, each time.
const MAX_GROUP_BYTES: usize = 10_000;

/// How deep groups are followed: bounds the recursion on a hostile file.
const MAX_DEPTH: usize = 40;

pub(super) fn extract(text: &str) -> Document {
    let text = text.trim_end();
    let mut reader = LatexReader {
        text: Rc::from(text),
        line: 1,
        growth: GrowthBudget::of(text),
        has_chapters: text.contains("\\chapter{") || text.contains("\\chapter*{"),
        ..LatexReader::default()
    };
    let begin = text.find("\\begin{document}");
    if let Some(begin) = begin {
        reader.is_silent = true;
        reader.run(begin);
        reader.words = NumberedWords::default();
        reader.is_silent = false;
    }
    let end = text.rfind("\\end{document}").filter(|end| begin.is_none_or(|begin| *end > begin));
    reader.run(end.unwrap_or(text.len()));
    while !reader.tables.is_empty() {
        reader.end_table();
    }
    reader.flush();
    reader.writer.finish()
}

/// Returns the words of a short text, as of a field of BibTeX.
pub(super) fn words_of(text: &str) -> String {
    let mut reader = LatexReader {
        text: Rc::from(text),
        line: 1,
        growth: GrowthBudget::of(text),
        ..LatexReader::default()
    };
    reader.run(text.len());
    while !reader.tables.is_empty() {
        reader.end_table();
    }
    reader.flush();
    reader.writer.finish().text
}

/// A list that is being read.
struct LatexList {
    is_numbered: bool,
    num_items: usize,
}

/// A table that is being read.
#[derive(Default)]
struct LatexTable {
    rows: Vec<MarkupRow>,
    row: MarkupRow,
}

/// Where the ends of constructs are in a text, once they are asked for.
#[derive(Default)]
struct ConstructEnds {
    ends: MarkPositions,
    braces: OnceCell<Groups>,
    brackets: OnceCell<Groups>,
}

/// Reads characters and writes blocks.
#[derive(Default)]
struct LatexReader {
    text: Rc<str>,
    places: ConstructEnds,
    /// The next byte, and its line.
    at: usize,
    line: u32,
    /// Whether the text is that of a macro, whose lines are those of its use.
    is_expanded: bool,
    writer: MarkupWriter,
    /// The words of the paragraph so far.
    words: NumberedWords,
    /// The mark of the item that the paragraph begins.
    mark: Option<String>,
    lists: Vec<LatexList>,
    tables: Vec<LatexTable>,
    macros: HashMap<String, Rc<Macro>>,
    num_expansions: usize,
    expansion_depth: usize,
    growth: GrowthBudget,
    depth: usize,
    /// Whether the document has chapters, above its sections.
    has_chapters: bool,
    /// In the preamble, words are not read.
    is_silent: bool,
}

impl LatexReader {
    fn run(&mut self, end: usize) {
        let text = Rc::clone(&self.text);
        while self.at < end {
            let rest = &text[self.at..end];
            let Some(first) = rest.chars().next() else { return };
            match first {
                '\\' => self.command(end),
                '%' => self.comment(rest),
                // A blank line ends a paragraph, any other line end is a blank.
                '\n' => {
                    self.advance(1);
                    let blank = num_blanks(&rest[1..]);
                    if rest[1 + blank..].starts_with('\n') {
                        self.flush();
                        self.advance(blank);
                    } else {
                        self.push(" ");
                    }
                }
                '$' => self.math(rest),
                // Brackets that belong to no command group words, and show nothing.
                '{' | '}' => self.advance(1),
                '~' => self.replace(1, " "),
                '&' if !self.tables.is_empty() => {
                    self.end_cell();
                    self.advance(1);
                }
                '`' if rest.starts_with("``") => self.replace(2, "\u{201C}"),
                '`' => self.replace(1, "\u{2018}"),
                '\'' if rest.starts_with("''") => self.replace(2, "\u{201D}"),
                '-' if rest.starts_with("---") => self.replace(3, "\u{2014}"),
                '-' if rest.starts_with("--") => self.replace(2, "\u{2013}"),
                _ => {
                    let stop =
                        rest.find(['\\', '%', '\n', '$', '{', '}', '~', '&', '`', '\'', '-']);
                    let len = stop.filter(|len| *len > 0).unwrap_or(match stop {
                        Some(_) => first.len_utf8(),
                        None => rest.len(),
                    });
                    self.push(&rest[..len]);
                    self.advance(len);
                }
            }
        }
    }

    /// Moves on, and counts lines.
    fn advance(&mut self, len: usize) {
        if !self.is_expanded {
            let passed = &self.text[self.at..self.at + len];
            let num_lines = passed.bytes().filter(|byte| *byte == b'\n').count();
            self.line += u32::try_from(num_lines).unwrap_or(0);
        }
        self.at += len;
    }

    fn push(&mut self, words: &str) {
        if !self.is_silent {
            self.words.push(self.line, words);
        }
    }

    fn replace(&mut self, len: usize, words: &str) {
        self.push(words);
        self.advance(len);
    }

    /// Skips a comment with its line end and the blanks after it.
    fn comment(&mut self, rest: &str) {
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        // A blank line after it still ends the paragraph.
        let blank = num_blanks(&rest[end..]);
        if rest[end + blank..].starts_with('\n') {
            self.flush();
        }
        self.advance(end + blank);
    }

    /// Copies a formula.
    fn math(&mut self, rest: &str) {
        let mark = if rest.starts_with("$$") { "$$" } else { "$" };
        let inside = within(&rest[mark.len()..], MAX_FORMULA_BYTES);
        let found = inside.match_indices(mark).map(|(at, _)| at);
        let mut found = found.filter(|at| !inside[..*at].ends_with('\\'));
        match found.next().filter(|end| !inside[..*end].contains("\n\n")) {
            Some(end) => {
                let len = end + 2 * mark.len();
                self.formula(mark, &inside[..end]);
                self.at += len;
            }
            None => self.replace(mark.len(), mark),
        }
    }

    /// Writes TeX between marks, line by line. Does not move on.
    fn formula(&mut self, mark: &str, tex: &str) {
        self.push(mark);
        for (idx, line) in tex.split('\n').enumerate() {
            if idx > 0 && !self.is_expanded {
                self.line += 1;
            }
            self.push(if idx > 0 { " " } else { "" });
            self.push(line);
        }
        self.push(mark);
    }

    /// Writes the words so far as a paragraph or an item.
    fn flush(&mut self) {
        if !self.tables.is_empty() {
            self.push(" ");
            return;
        }
        let words = std::mem::take(&mut self.words);
        if words.is_blank() || self.is_silent {
            return;
        }
        match self.mark.take() {
            Some(mark) => {
                let depth = self.lists.len().saturating_sub(1);
                self.writer.item_of(words, &mark, depth);
            }
            None => self.writer.paragraph_of(words),
        }
    }

    /// Reads up to `end` into other words than those of the paragraph.
    fn captured(&mut self, end: usize) -> NumberedWords {
        let outer = std::mem::take(&mut self.words);
        let was_silent = std::mem::take(&mut self.is_silent);
        // Nothing inside of it ends the paragraph around it.
        let tables = std::mem::replace(&mut self.tables, vec![LatexTable::default()]);
        self.nested(end);
        self.tables = tables;
        self.is_silent = was_silent;
        std::mem::replace(&mut self.words, outer)
    }

    /// Reads a group up to `end`, unless groups are nested too deep.
    fn nested(&mut self, end: usize) {
        if self.depth >= MAX_DEPTH {
            let rest = self.text[self.at..end].to_owned();
            self.push(&rest);
            self.advance(end - self.at);
            return;
        }
        self.depth += 1;
        self.run(end);
        self.depth -= 1;
        // A command at the end may have read on.
        if self.at < end {
            self.advance(end - self.at);
        }
    }

    /// Returns how far away a mark is, if there is one in this many bytes before `end`.
    fn distance(&mut self, mark: &str, end: usize, max_bytes: usize) -> Option<usize> {
        let found = self.places.ends.find(&self.text, mark, self.at)? - self.at;
        (found + mark.len() <= max_bytes.min(end - self.at)).then_some(found)
    }

    /// Returns the range inside the group that begins here; `None` if there is none.
    fn group(&self, open: char, close: char) -> Option<(usize, usize)> {
        let rest = &self.text[self.at..];
        let start = num_blanks(rest);
        let start = start + usize::from(rest[start..].starts_with('\n'));
        let start = start + num_blanks(&rest[start..]);
        if !rest[start..].starts_with(open) {
            return None;
        }
        let open_at = self.at + start;
        let groups = if open == '{' { &self.places.braces } else { &self.places.brackets };
        let end = groups.get_or_init(|| Groups::of(&self.text, open, close)).end(open_at)?;
        let inside = open_at + open.len_utf8();
        (end - inside <= MAX_GROUP_BYTES).then_some((inside, end))
    }

    /// Skips a group, if there is one, and returns its text.
    fn skip_group(&mut self) -> Option<String> {
        let (start, end) = self.group('{', '}')?;
        let inside = self.text[start..end].to_owned();
        self.advance(end + 1 - self.at);
        Some(inside)
    }

    /// Skips options in brackets, which follow without a blank.
    fn skip_options(&mut self) {
        while self.text[self.at..].starts_with('[')
            && let Some((_, end)) = self.group('[', ']')
        {
            self.advance(end + 1 - self.at);
        }
    }

    /// Reads a group into separate words; `None` if there is none.
    fn group_words(&mut self) -> Option<NumberedWords> {
        let (start, end) = self.group('{', '}')?;
        self.advance(start - self.at);
        let words = self.captured(end);
        self.advance((end + 1).saturating_sub(self.at));
        Some(words)
    }
}

/// Counts the blanks at the beginning of a text.
fn num_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
mod tests;
