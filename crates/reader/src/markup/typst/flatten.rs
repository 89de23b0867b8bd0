//! Removes the code of Typst and keeps the content in it.
//!
//! Content in brackets may be anywhere in code, and code anywhere in content. Open brackets are on a stack, so that a
//! file of any depth is read once from its beginning to its end.

mod code;
mod deliver;

use std::collections::HashMap;

use super::frames::{Cells, TypstFrame, TypstPiece, called};
use super::scanner::TypstScanner;
use crate::document::{WordAccount, WordDestination};
use crate::markup::marks::{GrowthBudget, MAX_DEPTH};

/// The content of a file, without its code.
#[derive(Default)]
pub(super) struct FlatText {
    pub(super) pieces: Vec<TypstPiece>,
    /// The title and the authors that the document states.
    pub(super) title: Option<String>,
    pub(super) authors: Vec<String>,
    /// The words of code and comments.
    pub(super) left_out: WordAccount,
}

pub(super) fn flatten(text: &str) -> FlatText {
    let mut flattener = Flattener {
        scanner: TypstScanner::new(text),
        frames: Vec::new(),
        flat: FlatText::default(),
        callee: None,
        definitions: HashMap::new(),
        growth: GrowthBudget::of(text),
    };
    while !flattener.scanner.rest().is_empty() {
        match flattener.frames.last() {
            None | Some(TypstFrame::Content { .. }) => flattener.markup(),
            Some(_) => flattener.code(),
        }
    }
    while !flattener.frames.is_empty() {
        flattener.close();
    }
    flattener.flat
}

struct Flattener<'t> {
    scanner: TypstScanner<'t>,
    frames: Vec<TypstFrame>,
    flat: FlatText,
    /// The function whose name or arguments end here, in code.
    callee: Option<String>,
    definitions: HashMap<String, String>,
    growth: GrowthBudget,
}

impl Flattener<'_> {
    /// Reads up to the next mark of markup, and the mark.
    fn markup(&mut self) {
        const MARKS: [char; 12] = ['\\', '/', '`', '$', '*', '_', '#', '<', '~', '-', '[', ']'];
        let rest = self.scanner.rest();
        let len = rest.find(MARKS).unwrap_or(rest.len());
        if len > 0 {
            let number = self.scanner.line;
            let words = self.scanner.take(len);
            self.push(number, words);
            return;
        }
        let number = self.scanner.line;
        let before = self.scanner.before();
        let mark = rest.chars().next().unwrap_or_default();
        let after = rest[mark.len_utf8()..].chars().next();
        let (replacement, len) = match mark {
            '\\' => match after {
                Some(escaped) if !escaped.is_whitespace() => {
                    self.scanner.take(1);
                    let escaped = self.scanner.take(escaped.len_utf8());
                    self.push(number, escaped);
                    return;
                }
                _ => (" ", 1),
            },
            '/' if before != Some(':') && self.comment() => return,
            '`' => {
                let raw = self.scanner.raw();
                self.deliver_raw(&raw);
                return;
            }
            '$' => {
                self.formula();
                return;
            }
            '*' | '_' if !is_in_word(before, after) => ("", 1),
            '#' => {
                self.scanner.take(1);
                self.expression();
                return;
            }
            '<' => match label_len(rest) {
                Some(len) => ("", len),
                None => ("<", 1),
            },
            '~' => (" ", 1),
            '-' if rest.starts_with("---") => ("\u{2014}", 3),
            '-' if rest.starts_with("--") => ("\u{2013}", 2),
            '-' if rest.starts_with("-?") => ("", 2),
            '[' | ']' => {
                self.bracket(mark);
                return;
            }
            _ => (&rest[..mark.len_utf8()], mark.len_utf8()),
        };
        self.scanner.take(len);
        self.push(number, replacement);
    }

    /// Reads a bracket in content: a pair of them is words, and the last one closes the content.
    fn bracket(&mut self, mark: char) {
        let number = self.scanner.line;
        match self.frames.last_mut() {
            Some(TypstFrame::Content { num_brackets: 0, .. }) if mark == ']' => {
                self.scanner.take(1);
                let closed = self.close();
                self.go_on(closed);
                return;
            }
            Some(TypstFrame::Content { num_brackets, .. }) if mark == ']' => *num_brackets -= 1,
            Some(TypstFrame::Content { num_brackets, .. }) => *num_brackets += 1,
            _ => {}
        }
        let bracket = self.scanner.take(1);
        self.push(number, bracket);
    }

    /// Skips a comment, if there is one.
    fn comment(&mut self) -> bool {
        let Some(comment) = self.scanner.comment() else { return false };
        self.flat.left_out.add(WordDestination::Markup, comment);
        true
    }

    /// Copies a formula.
    fn formula(&mut self) {
        let number = self.scanner.line;
        let rest = self.scanner.rest();
        let inside = &rest[1..];
        let mut ends = inside.match_indices('$').map(|(end, _)| end);
        let end = ends.find(|end| !inside[..*end].ends_with('\\'));
        let end = end.filter(|end| !inside[..*end].contains("\n\n"));
        let formula = self.scanner.take(end.map_or(1, |end| end + 2)).to_owned();
        self.deliver(vec![TypstPiece::Text(number, formula)]);
    }

    /// Reads the code after `#` in markup.
    fn expression(&mut self) {
        while self.scanner.has_word("context") {
            self.scanner.path();
            self.scanner.take_blanks();
        }
        let rest = self.scanner.rest();
        let number = self.scanner.line;
        match rest.chars().next() {
            Some('[' | '(') => self.continue_call(String::new()),
            Some('{') => {
                self.scanner.take(1);
                self.open(TypstFrame::Block);
            }
            Some('"') => {
                let said = self.scanner.quoted();
                self.push(number, &said);
            }
            _ => match self.scanner.path() {
                "" => self.push(number, "#"),
                keyword @ ("let" | "set" | "show" | "import" | "include" | "return" | "if"
                | "for" | "while") => self.statement(keyword),
                path => self.call(path.to_owned()),
            },
        }
    }

    /// Begins a statement after its first word.
    fn statement(&mut self, keyword: &str) {
        let is_control = matches!(keyword, "if" | "for" | "while");
        let is_template = keyword == "show" && self.scanner.rest().starts_with(':');
        let mut defined = None;
        if keyword == "let" {
            self.scanner.take_blanks();
            defined = Some(self.scanner.path().to_owned());
            if self.scanner.rest().starts_with('(') {
                // The content of a function has places for its arguments.
                defined = None;
            }
        }
        self.open(TypstFrame::Statement {
            is_silent: !is_control && !is_template,
            is_control,
            defined,
        });
        self.callee = None;
    }

    /// Reads the text after the name of a function or of a variable in markup.
    fn call(&mut self, path: String) {
        let is_call = self.scanner.rest().starts_with(['(', '[']);
        if is_call {
            self.continue_call(path);
            return;
        }
        let number = self.scanner.line;
        match self.definitions.get(&path).filter(|text| self.growth.take(text.len())) {
            Some(text) => {
                let text = text.clone();
                self.push(number, &text);
            }
            None => self.flat.left_out.add(WordDestination::Markup, &path),
        }
    }

    /// Opens the arguments or the content that belong to a function in markup.
    fn continue_call(&mut self, callee: String) {
        let rest = self.scanner.rest();
        if rest.starts_with('(') {
            self.scanner.take(1);
            self.open_arguments(callee);
        } else if rest.starts_with('[') {
            self.scanner.take(1);
            self.open_content(callee);
        } else if rest.starts_with('.') && rest[1..].starts_with(char::is_alphabetic) {
            let name_len = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '-');
            let is_method = name_len.is_some_and(|len| rest[1 + len..].starts_with('('));
            if is_method {
                self.scanner.take(1 + name_len.unwrap_or(0));
                self.scanner.take(1);
                self.open_arguments(callee);
            }
        }
    }

    fn open(&mut self, frame: TypstFrame) {
        if self.frames.len() < MAX_DEPTH {
            self.frames.push(frame);
        }
    }

    fn open_arguments(&mut self, function: String) {
        let start = self.scanner.at();
        let cells = Cells::default();
        self.open(TypstFrame::Arguments { function, argument: String::new(), start, cells });
        self.callee = None;
    }

    fn open_content(&mut self, callee: String) {
        self.open(TypstFrame::Content { callee, pieces: Vec::new(), num_brackets: 0 });
    }

    /// Closes the innermost frame and returns what may go on after it; `None` after a statement.
    fn close(&mut self) -> Option<ClosedFrame> {
        match self.frames.pop()? {
            TypstFrame::Content { callee, pieces, .. } => {
                self.deliver(called(&callee, pieces, self.scanner.line));
                Some(ClosedFrame { callee, is_content: true })
            }
            TypstFrame::Arguments { function, argument, start, mut cells } => {
                let end = self.scanner.at().saturating_sub(1);
                cells.state(&argument, value_of(&self.scanner, start, end));
                if !cells.is_empty() {
                    self.deliver(vec![TypstPiece::Table(cells.rows())]);
                } else if function == "table.cell" {
                    self.span(cells.num_columns());
                }
                Some(ClosedFrame { callee: function, is_content: false })
            }
            TypstFrame::Block => Some(ClosedFrame { callee: String::new(), is_content: true }),
            TypstFrame::Statement { .. } => None,
        }
    }

    /// Continues after the closed frame: more content may belong to the function.
    fn go_on(&mut self, closed: Option<ClosedFrame>) {
        let Some(ClosedFrame { callee, is_content }) = closed else { return };
        match self.frames.last() {
            None | Some(TypstFrame::Content { .. }) => self.continue_call(callee),
            Some(TypstFrame::Statement { is_control: true, .. }) if is_content => {
                if self.scanner.rest().trim_start().starts_with("else") {
                    self.scanner.take_blanks();
                } else {
                    self.frames.pop();
                }
            }
            Some(_) => self.callee = Some(callee),
        }
    }
}

/// Content, arguments or a block that were closed.
struct ClosedFrame {
    /// The function that they belong to; may be empty.
    callee: String,
    /// Whether it is not arguments.
    is_content: bool,
}

/// Returns the text between two positions up to the one of a scanner.
fn value_of<'t>(scanner: &TypstScanner<'t>, start: usize, end: usize) -> &'t str {
    let value = scanner.since(start);
    value.get(..end.saturating_sub(start)).unwrap_or(value)
}

/// Returns the length of `<label>`; `None` for another text.
fn label_len(text: &str) -> Option<usize> {
    let inside = &text[1..];
    let end = inside.find(|c: char| !c.is_alphanumeric() && !"-_:.".contains(c))?;
    (end > 0 && inside[end..].starts_with('>')).then_some(end + 2)
}

/// Whether a mark is between two characters of a word, where it means nothing.
fn is_in_word(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
}
