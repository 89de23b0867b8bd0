//! Reads manual pages: the macros of man and mdoc, and the requests of roff that pages use.

mod escapes;
mod mdoc;
mod table;

use super::marks::MarkPositions;
use super::writer::{MarkupWriter, NumberedWords, SourceLine};
use crate::document::Document;

use escapes::{arguments, plain};

/// Requests whose lines up to `..` define macros.
const DEFINITIONS: [&str; 4] = ["de", "de1", "am", "ig"];

/// The lines that end definitions and equations.
const DEFINITION_END: &str = "..";
const EQUATION_END: &str = ".EN";

/// Longest number that is the mark of an item: the lines below are indented by its length.
const MAX_NUMBER_LEN: usize = 10;

/// Reads a page.
pub(super) fn extract(text: &str) -> Document {
    let lines = SourceLine::all(text);
    let mut reader =
        ManReader { ends: MarkPositions::of_lines(&lines, closed), ..ManReader::default() };
    let mut at = 0;
    while at < lines.len() {
        at += reader.line(&lines[at..]).max(1);
    }
    reader.flush();
    reader.end_code();
    reader.writer.finish()
}

/// Returns what a line closes.
fn closed(text: &str) -> Option<String> {
    let is_equation = text.starts_with(EQUATION_END).then_some(EQUATION_END);
    (text == DEFINITION_END).then_some(DEFINITION_END).or(is_equation).map(str::to_owned)
}

/// A list of `.Bl`, as mdoc describes it.
struct MdocList {
    mark: &'static str,
    has_terms: bool,
    is_code: bool,
}

/// Writes the blocks of a page.
#[derive(Default)]
struct ManReader {
    writer: MarkupWriter,
    /// The words of the paragraph so far.
    words: NumberedWords,
    /// The mark of the item that the paragraph begins.
    mark: Option<String>,
    /// Lines that keep their line breaks; `None` outside of such text.
    fixed: Option<Vec<(u32, String)>>,
    /// Whether the next line of text is the term of an item.
    awaits_term: bool,
    /// The level of the heading that the next line is.
    awaits_heading: Option<u8>,
    /// The name that `.Nm` stands for.
    name: String,
    /// The lists around the text, as `.Bl` describes them.
    lists: Vec<MdocList>,
    is_mdoc: bool,
    /// Whether the last condition was false, so that `.el` is read.
    is_else_read: bool,
    /// Where definitions and equations end.
    ends: MarkPositions,
}

impl ManReader {
    /// Reads a line of text, or a request with the lines that belong to it.
    fn line(&mut self, lines: &[SourceLine<'_>]) -> usize {
        let line = lines[0];
        let Some(rest) = line.text.strip_prefix(['.', '\'']) else {
            self.text(line);
            return 1;
        };
        let rest = rest.trim_start();
        let len = rest.find(|c: char| c.is_whitespace() || c == '\\').unwrap_or(rest.len());
        let (name, rest) = (&rest[..len], rest[len..].trim());
        if DEFINITIONS.contains(&name) {
            return self.ends.line(DEFINITION_END, lines).map_or(1, |end| end + 1);
        }
        match name {
            "TS" => {
                self.end_code();
                self.flush();
                let end = lines.iter().position(|line| line.text.starts_with(".TE"));
                let end = end.unwrap_or(lines.len());
                self.writer.table(&table::rows(&lines[1..end]));
                return end + 1;
            }
            "EQ" => return self.ends.line(EQUATION_END, lines).map_or(1, |end| end + 1),
            // The second form of a page is for printers.
            "if" | "ie" | "el" | "while" => return self.condition(lines, name, rest),
            _ => {}
        }
        self.request(line.number, name, rest);
        1
    }

    /// Reads a line without a request.
    fn text(&mut self, line: SourceLine<'_>) {
        if line.is_blank() && self.fixed.is_none() {
            self.flush();
            return;
        }
        let text = plain(line.text);
        self.say(line.number, &text);
    }

    /// Takes the name of a page and its section as the title.
    fn title(&mut self, parts: &[String]) {
        if let Some(title) = parts.first() {
            let section = parts.get(1).map(|section| format!("({section})"));
            self.writer.title(&format!("{title}{}", section.unwrap_or_default()));
        }
    }

    /// Adds words to what is being read.
    fn say(&mut self, number: u32, text: &str) {
        if let Some(level) = self.awaits_heading.take() {
            self.writer.heading(number, level, text);
        } else if std::mem::take(&mut self.awaits_term) {
            self.words.push(number, text.trim());
            self.words.push(number, ": ");
        } else if let Some(fixed) = &mut self.fixed {
            fixed.push((number, text.to_owned()));
        } else {
            if !self.words.is_blank() {
                self.words.push(number, " ");
            }
            self.words.push(number, text);
        }
    }

    fn request(&mut self, number: u32, name: &str, rest: &str) {
        if rest.starts_with("\\\"") && !matches!(name, "PP" | "P" | "LP" | "Pp") {
            return;
        }
        let is_mdoc_name = matches!(name.len(), 2 | 3)
            && name.ends_with(|c: char| c.is_ascii_lowercase())
            && name.starts_with(|c: char| c.is_ascii_uppercase());
        if is_mdoc_name && (self.is_mdoc || name == "Dd") {
            self.is_mdoc = true;
            return self.mdoc(number, name, rest);
        }
        match name {
            "TH" => self.title(&arguments(rest)),
            "SH" | "SS" => {
                self.end_code();
                self.flush();
                let level = if name == "SH" { 2 } else { 3 };
                match arguments(rest).join(" ") {
                    text if text.is_empty() => self.awaits_heading = Some(level),
                    text => self.writer.heading(number, level, &text),
                }
            }
            "PP" | "P" | "LP" | "sp" | "br" | "RS" | "RE" | "HP" | "in" | "ti" | "bp" => {
                if self.fixed.is_some() {
                    self.say(number, "");
                } else if name != "br" {
                    self.flush();
                }
            }
            "TP" | "TQ" => {
                self.end_code();
                self.flush();
                self.awaits_term = true;
                self.mark = Some("-".into());
            }
            "IP" => {
                self.end_code();
                self.flush();
                let mark = arguments(rest).into_iter().next().unwrap_or_default();
                let mark = mark.trim();
                let is_bullet = !mark.chars().any(char::is_alphanumeric);
                let is_number = mark
                    .trim_matches(['.', ')', '(', '[', ']'])
                    .bytes()
                    .all(|b| b.is_ascii_digit())
                    && mark.len() <= MAX_NUMBER_LEN;
                if !mark.is_empty() {
                    self.mark =
                        Some(if is_number && !is_bullet { mark.to_owned() } else { "-".into() });
                    if !is_bullet && !is_number {
                        self.words.push(number, &format!("{mark}: "));
                    }
                }
            }
            "nf" | "EX" | "Vb" => {
                self.flush();
                self.fixed.get_or_insert_default();
            }
            "fi" | "EE" | "Ve" => self.end_code(),
            "SM" | "B" | "I" | "R" | "SB" | "CW" | "CB" => {
                let words = arguments(rest).join(" ");
                if !words.is_empty() {
                    self.say(number, &words);
                }
            }
            "BR" | "RB" | "BI" | "IB" | "IR" | "RI" => self.say(number, &arguments(rest).concat()),
            "OP" => self.say(number, &format!("[{}]", arguments(rest).join(" "))),
            "SY" => {
                self.flush();
                self.say(number, &arguments(rest).join(" "));
            }
            "YS" => self.flush(),
            "UR" | "MT" => self.say(number, &arguments(rest).join(" ")),
            "UE" | "ME" | "MR" => {
                let parts = arguments(rest);
                match name {
                    "MR" if parts.len() > 1 => {
                        self.say(
                            number,
                            &format!("{}({}){}", parts[0], parts[1], parts[2..].concat()),
                        );
                    }
                    _ if !parts.is_empty() => self.words.push(number, &parts.concat()),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Reads `.if`, `.ie` and `.el`, and keeps the words for terminals.
    fn condition(&mut self, lines: &[SourceLine<'_>], name: &str, rest: &str) -> usize {
        let is_block = rest.contains("\\{");
        let used = if is_block { block_len(lines) } else { 1 };
        let (condition, words) = match name {
            "el" => ("n", rest),
            _ => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        let mut is_read = condition == "n" || condition == "!t";
        match name {
            "ie" => self.is_else_read = !is_read,
            "el" => is_read = self.is_else_read,
            _ => {}
        }
        if !is_read {
            return used;
        }
        let words = words.trim().trim_start_matches("\\{").trim_start_matches('\\').trim();
        let first = SourceLine { text: words, ..lines[0] };
        if !words.is_empty() && !words.starts_with(".if") && !words.starts_with(".ie") {
            self.line(&[first]);
        }
        for line in &lines[1..used] {
            let text = line.text.trim_end_matches("\\}").trim_end_matches('.');
            let is_nested = text.contains("\\{") || text.starts_with(".de");
            if !is_nested && !text.is_empty() {
                self.line(&[SourceLine { text, ..*line }]);
            }
        }
        used
    }

    /// Writes the words so far.
    fn flush(&mut self) {
        self.awaits_term = false;
        let words = std::mem::take(&mut self.words);
        let mark = self.mark.take();
        if words.is_blank() {
            return;
        }
        match mark {
            Some(mark) => self.writer.item_of(words, &mark, 0),
            None => self.writer.paragraph_of(words),
        }
    }

    /// Writes the lines that keep their line breaks.
    fn end_code(&mut self) {
        let Some(fixed) = self.fixed.take() else { return };
        let lines: Vec<SourceLine<'_>> =
            fixed.iter().map(|(number, text)| SourceLine { number: *number, text }).collect();
        self.writer.code("", &lines);
    }
}

/// Returns the length of a block between `\{` and `\}`.
fn block_len(lines: &[SourceLine<'_>]) -> usize {
    let mut depth = 0_usize;
    for (idx, line) in lines.iter().enumerate() {
        depth += line.text.matches("\\{").count();
        depth = depth.saturating_sub(line.text.matches("\\}").count());
        if depth == 0 {
            return idx + 1;
        }
    }
    lines.len()
}

#[cfg(test)]
mod tests;
