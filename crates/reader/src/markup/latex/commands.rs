//! Reads commands.

use std::rc::Rc;

use super::words::{self, WORDS};
use super::{LatexReader, MAX_FORMULA_BYTES, num_blanks};
use crate::markup::writer::within;

/// Longest source text within a line, in bytes: bounds the search for its end.
const MAX_VERBATIM_BYTES: usize = 1000;

impl LatexReader {
    pub(super) fn command(&mut self, end: usize) {
        let text = Rc::clone(&self.text);
        let rest = &text[self.at + 1..end];
        let len = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '@').unwrap_or(rest.len());
        if len == 0 {
            self.control_symbol(rest);
            return;
        }
        let name = &rest[..len];
        self.advance(1 + len);
        if self.text[self.at..].starts_with('*') {
            self.advance(1);
        }
        match name {
            "begin" => return self.begin(end),
            "end" => return self.end(),
            "verb" | "lstinline" => return self.verbatim(),
            "item" => return self.item(),
            "newcommand"
            | "renewcommand"
            | "providecommand"
            | "DeclareRobustCommand"
            | "DeclareMathOperator" => return self.define(),
            "def" | "gdef" | "edef" => return self.define_plain(),
            "let" => return,
            "par" | "newpage" | "clearpage" | "maketitle" | "tableofcontents" | "frontmatter"
            | "mainmatter" | "appendix" | "bigskip" | "medskip" | "smallskip" => {
                self.flush();
                return;
            }
            "iffalse" => return self.skip_conditional(),
            _ => {}
        }
        if self.expand(name) || self.heading(name) || self.stated(name) || self.inline(name) {
            return;
        }
        // Options of a command that is not known; its arguments are read as text.
        self.skip_options();
        self.skip_blanks(name);
    }

    /// The blanks after the name of a command only end it.
    fn skip_blanks(&mut self, name: &str) {
        let num_blanks = num_blanks(&self.text[self.at..]);
        let is_declaration = words::symbol(name).is_none();
        self.advance(num_blanks);
        if num_blanks > 0 && is_declaration && self.words.last().is_some_and(|c| !c.is_whitespace())
        {
            self.push(" ");
        }
    }

    /// Reads a command that is one character: `\%`, `\\`, `\"o`.
    fn control_symbol(&mut self, rest: &str) {
        let Some(c) = rest.chars().next() else {
            self.advance(1);
            return;
        };
        self.advance(1);
        match c {
            '\\' => {
                self.advance(1);
                if self.text[self.at..].starts_with('*') {
                    self.advance(1);
                }
                self.skip_options();
                if self.tables.is_empty() { self.push(" ") } else { self.end_row() }
            }
            '[' | '(' => {
                let close = if c == '[' { "\\]" } else { "\\)" };
                let mark = if c == '[' { "$$" } else { "$" };
                self.advance(1);
                let text = Rc::clone(&self.text);
                if let Some(len) = self.distance(close, text.len(), MAX_FORMULA_BYTES) {
                    self.formula(mark, &text[self.at..self.at + len]);
                    self.at += len + close.len();
                }
            }
            ' ' | ',' | ';' | ':' | '>' | '\n' | '\t' => {
                self.advance(1);
                self.push(" ");
            }
            '!' | '/' | '-' | ')' | ']' | '@' => self.advance(1),
            c if words::is_accent(c.encode_utf8(&mut [0; 4])) => {
                self.advance(1);
                self.accent(c.encode_utf8(&mut [0; 4]));
            }
            c => {
                let mut buffer = [0; 4];
                self.push(c.encode_utf8(&mut buffer));
                self.advance(c.len_utf8());
            }
        }
    }

    /// Reads the letter that an accent is on.
    fn accent(&mut self, name: &str) {
        let rest = &self.text[self.at..];
        // As in `\'{\i}`: a blank, a bracket and a backslash may be between the accent and its letter.
        let trimmed = rest.trim_start_matches([' ', '{', '\\']);
        let num_skipped = rest.len() - trimmed.len();
        let Some(letter) = trimmed.chars().next().filter(|c| c.is_alphabetic() && num_skipped < 4)
        else {
            return;
        };
        let accented = words::accented(name, letter);
        self.advance(num_skipped + letter.len_utf8());
        self.push(accented.encode_utf8(&mut [0; 4]));
        // `{\"{o}}` has one more, which is skipped with all others.
    }

    /// Reads `\section{text}`.
    fn heading(&mut self, name: &str) -> bool {
        let below = u8::from(self.has_chapters);
        let level = match name {
            "part" | "chapter" => 1,
            "section" => 1 + below,
            "subsection" | "frametitle" => 2 + below,
            "subsubsection" => 3 + below,
            "paragraph" => 4 + below,
            "subparagraph" => 5 + below,
            _ => return false,
        };
        self.skip_options();
        let Some(words) = self.group_words() else { return true };
        if !self.is_silent {
            // Tables that nothing closes end with the text.
            while !self.tables.is_empty() {
                self.end_table();
            }
            self.flush();
            let number = words.first_line().unwrap_or(self.line);
            self.writer.heading(number, level, &words.joined());
        }
        true
    }

    /// Reads what the document says about itself.
    fn stated(&mut self, name: &str) -> bool {
        if !matches!(name, "title" | "author" | "date") {
            return false;
        }
        self.skip_options();
        let Some(words) = self.group_words() else { return true };
        let (number, text) = (words.first_line().unwrap_or(self.line), words.joined());
        let metadata = &mut self.writer.document().metadata;
        match name {
            "author" if !text.is_empty() => metadata.author = Some(text),
            "date" if text.starts_with(|c: char| c.is_ascii_digit()) => {
                metadata.created = Some(text);
            }
            "title" if !text.is_empty() => {
                self.writer.heading(number, 1, &text);
                self.writer.title(&text);
            }
            _ => {}
        }
        true
    }

    /// Reads a command within a line; whether it is known.
    fn inline(&mut self, name: &str) -> bool {
        if let Some(num_arguments) = WORDS.silent_commands.of(name) {
            self.skip_options();
            if name == "bibitem" {
                self.flush();
            }
            for _ in 0..num_arguments {
                if self.skip_group().is_none() {
                    break;
                }
                self.skip_options();
            }
            return true;
        }
        if let Some(num_settings) = WORDS.settings.of(name) {
            self.skip_options();
            for _ in 0..num_settings {
                self.skip_group();
                self.skip_options();
            }
            return true;
        }
        match name {
            "footnote" | "footnotetext" | "marginpar" => {
                self.skip_options();
                if let Some(words) = self.group_words() {
                    self.push(&format!(" ({})", words.joined()));
                }
            }
            "caption" | "captionof" => {
                self.skip_options();
                if name == "captionof" {
                    self.skip_group();
                }
                if let Some(words) = self.group_words() {
                    self.flush();
                    if !self.is_silent && self.tables.is_empty() {
                        self.writer.paragraph_of(words);
                    }
                }
            }
            "ref" | "pageref" | "eqref" | "autoref" | "cref" | "Cref" | "nameref" => {
                if let Some(label) = self.skip_group() {
                    self.push(&format!("[{label}]"));
                }
            }
            "url" | "path" | "nolinkurl" => {
                if let Some(url) = self.skip_group() {
                    self.push(url.trim());
                }
            }
            name if words::is_accent(name) => self.accent(name),
            name => match words::symbol(name) {
                Some(text) => {
                    self.push(text);
                    self.skip_blanks(name);
                }
                None => return false,
            },
        }
        true
    }

    /// Reads `\verb|source|`.
    fn verbatim(&mut self) {
        self.skip_options();
        let text = Rc::clone(&self.text);
        let rest = &text[self.at..];
        let Some(mark) = rest.chars().next().filter(|c| !c.is_whitespace()) else { return };
        let close = if mark == '{' { '}' } else { mark };
        let inside = &rest[mark.len_utf8()..];
        let end = within(inside, MAX_VERBATIM_BYTES).find([close, '\n']);
        let Some(end) = end.filter(|end| inside[*end..].starts_with(close)) else { return };
        self.push(&format!("`{}`", &inside[..end]));
        self.advance(mark.len_utf8() + end + close.len_utf8());
    }

    /// Skips to the `\fi` of a condition that is never true.
    fn skip_conditional(&mut self) {
        if let Some(len) = self.distance("\\fi", self.text.len(), MAX_FORMULA_BYTES) {
            self.advance(len + "\\fi".len());
        }
    }
}
