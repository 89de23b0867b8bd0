//! Reads environments: lists, tables, source text, formulas.

use std::rc::Rc;

use super::words::WORDS;
use super::{LatexList, LatexReader, LatexTable, MAX_DEPTH};
use crate::markup::writer::{MarkupRow, SourceLine, within};

/// Longest source text, in bytes; what is not closed within it is read as words. Bounds the search for its end.
const MAX_CODE_BYTES: usize = 100_000;

impl LatexReader {
    /// Reads `\begin{name}`, and environments that are not read word by word up to their end.
    pub(super) fn begin(&mut self, end: usize) {
        let Some(name) = self.skip_group() else { return };
        let is_starred = name.ends_with('*');
        let plain = name.trim_end_matches('*');
        let silent = WORDS.silent_environments.iter().any(|known| known == plain);
        let is_code = WORDS.code.iter().any(|known| known == plain);
        let is_math = WORDS.math.iter().any(|known| known == plain);
        if silent || is_code || is_math {
            let text = Rc::clone(&self.text);
            let rest = &text[self.at..end];
            let close = format!("\\end{{{name}}}");
            let Some(len) = self.distance(&close, end, MAX_CODE_BYTES) else { return };
            match () {
                () if self.is_silent || silent => self.advance(len),
                () if is_code => self.code(plain, &rest[..len]),
                () => {
                    self.formula("$$", rest[..len].trim_end());
                    self.at += rest[..len].trim_end().len();
                    self.advance(len - rest[..len].trim_end().len());
                }
            }
            self.advance(close.len().min(end - self.at));
            return;
        }
        if let Some(num_arguments) = WORDS.tables.of(plain) {
            self.skip_options();
            if is_starred {
                self.skip_group();
            }
            for _ in 0..num_arguments {
                self.skip_group();
                self.skip_options();
            }
            if self.tables.len() < MAX_DEPTH {
                if self.tables.is_empty() {
                    self.flush();
                }
                self.tables.push(LatexTable::default());
            }
            return;
        }
        self.skip_options();
        for _ in 0..WORDS.arguments.of(plain).unwrap_or(0) {
            self.skip_group();
            self.skip_options();
        }
        self.flush();
        match plain {
            "itemize" | "enumerate" | "description" | "compactitem" | "compactenum"
                if self.lists.len() < MAX_DEPTH =>
            {
                let is_numbered = matches!(plain, "enumerate" | "compactenum");
                self.lists.push(LatexList { is_numbered, num_items: 0 });
            }
            "frame" => {
                if let Some(title) = self.group_words() {
                    let number = title.first_line().unwrap_or(self.line);
                    self.writer.heading(number, 2 + u8::from(self.has_chapters), &title.joined());
                }
            }
            _ => {}
        }
    }

    /// Reads `\end{name}`.
    pub(super) fn end(&mut self) {
        let Some(name) = self.skip_group() else { return };
        let plain = name.trim_end_matches('*');
        if WORDS.tables.of(plain).is_some() {
            return self.end_table();
        }
        self.flush();
        if matches!(plain, "itemize" | "enumerate" | "description" | "compactitem" | "compactenum")
        {
            self.lists.pop();
            self.mark = None;
        }
    }

    /// Reads `\item` and the term that may follow it.
    pub(super) fn item(&mut self) {
        self.flush();
        let term = match self.group('[', ']') {
            Some((start, end)) => {
                self.advance(start - self.at);
                let words = self.captured(end);
                self.advance((end + 1).saturating_sub(self.at));
                Some(words.joined())
            }
            None => None,
        };
        let Some(list) = self.lists.last_mut() else { return };
        list.num_items += 1;
        self.mark =
            Some(if list.is_numbered { format!("{}.", list.num_items) } else { "-".to_owned() });
        if let Some(term) = term {
            self.push(&format!("{term}: "));
        }
    }

    fn code(&mut self, name: &str, inside: &str) {
        self.flush();
        let mut inside = inside;
        let mut language = "";
        if let Some(options) = inside.strip_prefix('[')
            && let Some(end) = within(options, 1000).find(']')
        {
            let stated = options[..end]
                .split(',')
                .find_map(|option| option.trim().strip_prefix("language="));
            language = stated.unwrap_or_default().trim_matches(['{', '}']);
            self.advance(end + 2);
            inside = &options[end + 1..];
        }
        if name == "minted"
            && let Some(rest) = inside.strip_prefix('{')
            && let Some(end) = within(rest, 100).find('}')
        {
            language = &rest[..end];
            self.advance(end + 2);
            inside = &rest[end + 1..];
        }
        let is_expanded = self.is_expanded;
        let numbers = (self.line..).map(|number| if is_expanded { self.line } else { number });
        let lines: Vec<SourceLine<'_>> = numbers
            .zip(inside.split('\n'))
            .map(|(number, text)| SourceLine { number, text })
            .collect();
        self.writer.code(language, &lines);
        self.advance(inside.len());
    }

    pub(super) fn end_cell(&mut self) {
        let words = std::mem::take(&mut self.words);
        let Some(table) = self.tables.last_mut() else { return };
        if table.row.cells.is_empty() {
            table.row.number = words.first_line().unwrap_or(self.line);
        }
        table.row.cells.push(words.joined());
    }

    pub(super) fn end_row(&mut self) {
        self.end_cell();
        let Some(table) = self.tables.last_mut() else { return };
        let row = std::mem::take(&mut table.row);
        if row.cells.iter().any(|cell| !cell.is_empty()) {
            table.rows.push(row);
        }
    }

    /// Writes a table; one inside another, or in words that are read apart, becomes words.
    pub(super) fn end_table(&mut self) {
        if self.tables.is_empty() {
            return;
        }
        self.end_row();
        let Some(mut table) = self.tables.pop() else { return };
        if self.is_silent {
            return;
        }
        if self.tables.is_empty() {
            // Rows of cells that span columns may begin on earlier lines.
            table.rows.sort_by_key(|row: &MarkupRow| row.number);
            self.writer.table(&table.rows);
        } else {
            let cells: Vec<String> = table.rows.into_iter().flat_map(|row| row.cells).collect();
            self.push(&cells.join(" "));
        }
    }
}
