//! Writes Markdown line by line and remembers the line of the file that each line comes from.

use crate::document::{BlockKind, Document};
use crate::extract::markdown::spell::tidy_line;
use crate::extract::markdown::{self, LeadingHeading, UnplacedBlock};

/// Number of heading levels in Markdown.
const MAX_LEVEL: u8 = 6;

/// Longest row of a table, in cells: each row is made as long as the longest.
pub(super) const MAX_CELLS: usize = 1000;

/// How many times as many cells as it has a table may be written with; else its rows are not made
/// equally long.
const MAX_PADDING: usize = 8;

/// A line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceLine<'a> {
    /// Its number in the file, from 1.
    pub(super) number: u32,
    /// Its text without the line end, perhaps without its indentation.
    pub(super) text: &'a str,
}

impl<'a> SourceLine<'a> {
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let numbered = (1..).zip(text.lines());
        numbered.map(|(number, text)| Self { number, text: text.trim_end() }).collect()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the width of its indentation, in bytes.
    pub(super) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }

    /// Returns the line without its first `width` bytes of indentation.
    pub(super) fn dedent(&self, width: usize) -> Self {
        Self { text: &self.text[width.min(self.indent())..], ..*self }
    }
}

/// Removes the indentation that all lines share.
pub(super) fn dedent<'a>(lines: &[SourceLine<'a>]) -> Vec<SourceLine<'a>> {
    let filled = lines.iter().filter(|line| !line.is_blank());
    let width = filled.map(SourceLine::indent).min().unwrap_or(0);
    lines.iter().map(|line| line.dedent(width)).collect()
}

/// Joins lines to one text, in which a construct may span several lines.
pub(super) fn join(lines: &[SourceLine<'_>]) -> String {
    lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
}

/// Joins a text and the lines after it.
pub(super) fn join_after(first: &str, lines: &[SourceLine<'_>]) -> String {
    lines.iter().fold(first.to_owned(), |text, line| text + "\n" + line.text)
}

/// Returns the length of the paragraph at the first line, which may be blank.
pub(super) fn paragraph_len(lines: &[SourceLine<'_>]) -> usize {
    lines.iter().take_while(|line| !line.is_blank()).count()
}

/// A row of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MarkupRow {
    /// The line at which it begins, from 1.
    pub(super) number: u32,
    /// Its cells, perhaps with line breaks.
    pub(super) cells: Vec<String>,
}

impl MarkupRow {
    /// Returns the row with a function applied to its cells.
    pub(super) fn map(&self, of_cell: impl Fn(&str) -> String) -> Self {
        Self { number: self.number, cells: self.cells.iter().map(|cell| of_cell(cell)).collect() }
    }
}

/// Words with the lines they come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NumberedWords {
    lines: Vec<(u32, String)>,
    has_words: bool,
}

impl NumberedWords {
    /// Adds words of a line, which is the last one or a later one.
    pub(super) fn push(&mut self, number: u32, words: &str) {
        self.has_words = self.has_words || !words.trim().is_empty();
        match self.lines.last_mut() {
            Some((last, line)) if *last == number => line.push_str(words),
            _ => self.lines.push((number, words.to_owned())),
        }
    }

    /// Returns the words in one line.
    pub(super) fn joined(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        tidy_line(&lines.join(" "))
    }

    pub(super) fn is_blank(&self) -> bool {
        !self.has_words
    }

    /// Returns the number of the first line with words.
    pub(super) fn first_line(&self) -> Option<u32> {
        self.lines.iter().find(|(_, line)| !line.trim().is_empty()).map(|(number, _)| *number)
    }

    pub(super) fn last(&self) -> Option<char> {
        self.lines.last().and_then(|(_, line)| line.chars().next_back())
    }

    fn tidy(self) -> Vec<(u32, String)> {
        let lines = self.lines.into_iter().map(|(number, line)| (number, tidy_line(&line)));
        lines.filter(|(_, line)| !line.is_empty()).collect()
    }
}

/// Collects the blocks of a document.
#[derive(Default)]
pub(super) struct MarkupWriter {
    document: Document,
    pieces: Vec<UnplacedBlock>,
}

impl MarkupWriter {
    /// Sets the title, unless there is one.
    pub(super) fn title(&mut self, title: &str) {
        let title = markdown::to_heading(title);
        if self.document.title.is_none() && !title.is_empty() {
            self.document.title = Some(title);
        }
    }

    /// Returns the document, to set its metadata.
    pub(super) fn document(&mut self) -> &mut Document {
        &mut self.document
    }

    /// Writes a heading; `level` counts from 1.
    pub(super) fn heading(&mut self, number: u32, level: u8, text: &str) {
        let words = tidy_line(text);
        if words.is_empty() {
            return;
        }
        let marks = "#".repeat(level.clamp(1, MAX_LEVEL).into());
        let heading = (level.max(1), markdown::to_heading(&words.replace('`', "")));
        self.push(BlockKind::Heading, &[(number, format!("{marks} {words}"))], Some(heading));
    }

    /// Writes prose whose first line has this number.
    pub(super) fn paragraph(&mut self, number: u32, text: &str) {
        self.push(BlockKind::Paragraph, &prose(number, text), None);
    }

    /// Writes a paragraph of lines, several of which may come from one line of the file.
    pub(super) fn lines(&mut self, lines: &[(u32, String)]) {
        let tidy = lines.iter().map(|(number, line)| (*number, tidy_line(line)));
        let filled: Vec<_> = tidy.filter(|(_, line)| !line.is_empty()).collect();
        self.push(BlockKind::Paragraph, &filled, None);
    }

    /// Writes prose whose lines have their numbers.
    pub(super) fn paragraph_of(&mut self, words: NumberedWords) {
        self.push(BlockKind::Paragraph, &words.tidy(), None);
    }

    /// Writes an item of a list after its mark; its first line has this number. `depth` is that of
    /// the list, from 0.
    pub(super) fn item(&mut self, number: u32, mark: &str, text: &str, depth: usize) {
        self.push_item(prose(number, text), mark, depth);
    }

    /// Writes an item of a list whose lines have their numbers.
    pub(super) fn item_of(&mut self, words: NumberedWords, mark: &str, depth: usize) {
        self.push_item(words.tidy(), mark, depth);
    }

    fn push_item(&mut self, mut lines: Vec<(u32, String)>, mark: &str, depth: usize) {
        let indent = "  ".repeat(depth.min(MAX_LEVEL.into()));
        let hanging = " ".repeat(mark.chars().count() + 1);
        for (idx, (_, line)) in lines.iter_mut().enumerate() {
            let lead = if idx == 0 { format!("{mark} ") } else { hanging.clone() };
            *line = format!("{indent}{lead}{line}");
        }
        let previous = self.pieces.last();
        if depth > 0 && previous.is_some_and(|piece| piece.kind == BlockKind::ListItem) {
            self.extend(&lines);
        } else {
            self.push(BlockKind::ListItem, &lines, None);
        }
    }

    /// Writes source text between fences.
    pub(super) fn code(&mut self, language: &str, lines: &[SourceLine<'_>]) {
        let Some(first) = lines.iter().position(|line| !line.is_blank()) else { return };
        let Some(last) = lines.iter().rposition(|line| !line.is_blank()) else { return };
        let lines = &lines[first..=last];
        let longest = lines.iter().flat_map(|line| line.text.split(|c| c != '`').map(str::len));
        let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
        let language: String =
            language.chars().filter(|c| c.is_alphanumeric() || "+-#._".contains(*c)).collect();
        let (first, last) = (lines[0].number, lines[lines.len() - 1].number);
        let mut written = vec![(first, format!("{fence}{language}"))];
        written.extend(lines.iter().map(|line| (line.number, visible(line.text.trim_end()))));
        written.push((last, fence));
        self.push(BlockKind::Code, &written, None);
    }

    /// Writes a table, whose first row is its head.
    pub(super) fn table(&mut self, rows: &[MarkupRow]) {
        let width = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0).min(MAX_CELLS);
        let num_cells: usize = rows.iter().map(|row| row.cells.len().min(width)).sum();
        let is_padded = rows.len() * width <= MAX_PADDING * num_cells;
        let mut lines = Vec::with_capacity(rows.len() + 1);
        for row in rows {
            let mut line = String::from("|");
            for cell in row.cells.iter().take(width) {
                line.push(' ');
                line.push_str(&tidy_line(cell).replace('|', "\\|"));
                line.push_str(" |");
            }
            if is_padded || row.cells.is_empty() {
                let num_missing = if is_padded { width } else { 1 };
                line.push_str(&"  |".repeat(num_missing - row.cells.len().min(num_missing)));
            }
            lines.push((row.number, line));
            if lines.len() == 1 {
                lines.push((row.number, format!("|{}", " --- |".repeat(width))));
            }
        }
        let has_words = rows.iter().any(|row| row.cells.iter().any(|cell| !cell.trim().is_empty()));
        if has_words {
            self.push(BlockKind::Table, &lines, None);
        }
    }

    fn push(&mut self, kind: BlockKind, lines: &[(u32, String)], heading: Option<(u8, String)>) {
        if lines.is_empty() {
            return;
        }
        if !self.document.text.is_empty() {
            self.document.text.push_str("\n\n");
            let last = self.document.line_numbers.last().copied().unwrap_or(0);
            self.document.line_numbers.push(last);
        }
        let start = self.document.text.len();
        self.append(lines);
        self.pieces.push(UnplacedBlock { bytes: start..self.document.text.len(), kind, heading });
    }

    /// Adds lines to the last block.
    fn extend(&mut self, lines: &[(u32, String)]) {
        if lines.is_empty() {
            return;
        }
        self.document.text.push('\n');
        self.append(lines);
        if let Some(piece) = self.pieces.last_mut() {
            piece.bytes.end = self.document.text.len();
        }
    }

    fn append(&mut self, lines: &[(u32, String)]) {
        for (idx, (number, line)) in lines.iter().enumerate() {
            if idx > 0 {
                self.document.text.push('\n');
            }
            self.document.text.push_str(line);
            // Line numbers never decrease: a line that is written late is cited where it was
            // written.
            let last = self.document.line_numbers.last().copied().unwrap_or(0);
            self.document.line_numbers.push(last.max(*number));
        }
    }

    /// Returns the document; its headings are not titles.
    pub(super) fn finish_without_title(mut self) -> Document {
        self.document.has_lines = true;
        markdown::set_blocks(&mut self.document, self.pieces);
        self.document
    }

    /// Returns the document; its title is the first heading of level 1 unless it was set.
    pub(super) fn finish(mut self) -> Document {
        self.document.has_lines = true;
        markdown::set_title_and_blocks(&mut self.document, self.pieces, LeadingHeading::IsSection);
        self.document
    }
}

/// Returns the lines of a text that are not blank, with their numbers.
fn prose(number: u32, text: &str) -> Vec<(u32, String)> {
    let lines = (number..).zip(text.split('\n')).map(|(number, line)| (number, tidy_line(line)));
    lines.filter(|(_, line)| !line.is_empty()).collect()
}

/// Removes characters that only control a terminal.
fn visible(text: &str) -> String {
    text.chars().filter(|c| *c == '\t' || !c.is_control()).collect()
}

/// Returns the beginning of a text, at most this many bytes: no construct is longer.
pub(super) fn within(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
