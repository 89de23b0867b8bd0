//! Reads the entries of BibTeX and BibLaTeX, whose values are LaTeX.

use std::collections::HashMap;

use super::{Reference, ReferenceField, ReferenceRole, References};
use crate::document::{Document, WordDestination};
use crate::markup::latex;
use crate::markup::marks::GrowthBudget;

/// The abbreviations of months that every style defines.
const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
];

/// Fields by their names; a field that is not in the table keeps its name as label.
const ROLES: &[(&str, ReferenceRole)] = &[
    ("title", ReferenceRole::Title),
    ("author", ReferenceRole::Person("Authors")),
    ("editor", ReferenceRole::Person("Editors")),
    ("translator", ReferenceRole::Person("Translators")),
    ("abstract", ReferenceRole::Prose),
    ("note", ReferenceRole::Prose),
    ("annote", ReferenceRole::Prose),
    ("annotation", ReferenceRole::Prose),
    ("review", ReferenceRole::Prose),
    ("comment", ReferenceRole::Prose),
    ("addendum", ReferenceRole::Prose),
    ("doi", ReferenceRole::Labelled("DOI")),
    ("url", ReferenceRole::Labelled("URL")),
    ("isbn", ReferenceRole::Labelled("ISBN")),
    ("issn", ReferenceRole::Labelled("ISSN")),
    ("booktitle", ReferenceRole::Labelled("In")),
    ("journaltitle", ReferenceRole::Labelled("Journal")),
    // Fields that reference managers add for their own use; `bdsk-file-1` is Base64.
    ("file", ReferenceRole::Internal),
    ("pdf", ReferenceRole::Internal),
    ("groups", ReferenceRole::Internal),
    ("owner", ReferenceRole::Internal),
    ("timestamp", ReferenceRole::Internal),
    ("creationdate", ReferenceRole::Internal),
    ("modificationdate", ReferenceRole::Internal),
    ("date-added", ReferenceRole::Internal),
    ("date-modified", ReferenceRole::Internal),
    ("__markedentry", ReferenceRole::Internal),
];

/// Fields whose values are addresses, not LaTeX.
const VERBATIM: &[&str] = &["url", "doi", "eprint", "file", "pdf", "isbn", "issn"];

pub(crate) fn extract(text: &str) -> Document {
    let mut references = References::default();
    let mut scanner = BibtexScanner { text, at: 0, line: 1 };
    let mut strings: HashMap<String, String> = HashMap::new();
    strings.extend(MONTHS.map(|month| (month[..3].to_lowercase(), month.to_owned())));
    let growth = GrowthBudget::of(text);
    while let Some((before, kind)) = scanner.entry() {
        // Text between entries is a comment.
        references.left_out.add(WordDestination::Markup, before);
        let number = scanner.line;
        match kind.to_lowercase().as_str() {
            "comment" => {
                let comment = scanner.group();
                references.left_out.add(WordDestination::Markup, comment);
            }
            "preamble" => {
                let preamble = scanner.group();
                references.left_out.add(WordDestination::Markup, preamble);
            }
            "string" => {
                scanner.open();
                let fields = scanner.fields(&strings, &growth);
                strings.extend(fields.into_iter().map(|raw| (raw.name, raw.value)));
            }
            kind => {
                scanner.open();
                let key = scanner.until(&[',', '}', ')', '\n']).trim().to_owned();
                scanner.skip(',');
                let fields = scanner.fields(&strings, &growth);
                let fields = fields.into_iter().flat_map(BibtexField::read).collect();
                references.write(&Reference { number, kind: kind.to_owned(), key, fields });
            }
        }
    }
    references.left_out.add(WordDestination::Markup, &scanner.text[scanner.at..]);
    references.finish()
}

/// A field as the file has it.
struct BibtexField {
    number: u32,
    name: String,
    value: String,
}

impl BibtexField {
    /// Returns the fields that it becomes: one for each person.
    fn read(self) -> Vec<ReferenceField> {
        let Self { number, name, value } = self;
        let role = ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role);
        let is_internal = name.starts_with("bdsk-") || name.starts_with("mendeley-");
        let role = role.unwrap_or(if is_internal {
            ReferenceRole::Internal
        } else {
            ReferenceRole::Labelled("")
        });
        let of =
            |name: &str, text: String| ReferenceField { number, name: name.to_owned(), role, text };
        match role {
            ReferenceRole::Person(_) => persons(&value)
                .into_iter()
                .map(|person| of(&name, latex::words_of(&person)))
                .collect(),
            ReferenceRole::Internal => vec![of(&name, value)],
            _ if VERBATIM.contains(&&*name) => vec![of(&name, address(&value))],
            _ => {
                // The first letter of a label is a capital.
                let mut letters = name.chars();
                let first = letters.next().map(|first| first.to_ascii_uppercase());
                let label: String = first.into_iter().chain(letters).collect();
                // Exports of web sites do not escape the sign, which begins comments in LaTeX.
                let value = value.replace('%', "\\%").replace("\\\\%", "\\%");
                vec![of(&label, latex::words_of(&value))]
            }
        }
    }
}

/// Returns an address without what only LaTeX needs.
fn address(value: &str) -> String {
    let words: String = value.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace(['{', '}'], "").replace("\\url", "").replace('\\', "")
}

/// Returns the persons of a field, each with the first name before the last.
fn persons(value: &str) -> Vec<String> {
    let names = split_outside(value, " and ").into_iter().map(|name| {
        let parts = split_outside(name.trim(), ",");
        match parts.as_slice() {
            ["others"] => "et al.".to_owned(),
            [last, first] => format!("{} {}", first.trim(), last.trim()),
            [last, suffix, first] => {
                format!("{} {} {}", first.trim(), last.trim(), suffix.trim())
            }
            _ => name.trim().to_owned(),
        }
    });
    names.filter(|name| !name.trim().is_empty()).collect()
}

/// Splits a text at a mark outside of braces; a line break is as good as a blank.
fn split_outside<'t>(text: &'t str, mark: &str) -> Vec<&'t str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= start && has_mark(&text.as_bytes()[at..], mark) => {
                parts.push(&text[start..at]);
                start = at + mark.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Whether a text begins with a mark; a line break is as good as a blank.
fn has_mark(text: &[u8], mark: &str) -> bool {
    let window = text.get(..mark.len());
    window.is_some_and(|window| {
        window
            .iter()
            .zip(mark.bytes())
            .all(|(byte, wanted)| *byte == wanted || (wanted == b' ' && byte.is_ascii_whitespace()))
    })
}

/// Reads a file from its beginning to its end.
struct BibtexScanner<'t> {
    text: &'t str,
    at: usize,
    /// The line of the next byte, from 1.
    line: u32,
}

impl<'t> BibtexScanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Moves on by some bytes and returns them.
    fn take(&mut self, len: usize) -> &'t str {
        let taken = &self.rest()[..len];
        let num_lines = taken.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(num_lines).unwrap_or(0));
        self.at += len;
        taken
    }

    /// Moves to the next `@name` before a brace; returns the text before it, and the name.
    fn entry(&mut self) -> Option<(&'t str, &'t str)> {
        let rest = self.rest();
        let mut starts = rest.match_indices('@').map(|(at, _)| at);
        let (start, len) = starts.find_map(|at| Some((at, entry_len(&rest[at..])?)))?;
        let before = self.take(start);
        let name = self.take(len);
        Some((before, name[1..].trim()))
    }

    /// Skips the brace or the parenthesis that opens an entry.
    fn open(&mut self) {
        self.take(self.rest().len().min(1));
    }

    /// Returns the text up to one of these characters, which is not consumed.
    fn until(&mut self, ends: &[char]) -> &'t str {
        let rest = self.rest();
        self.take(rest.find(ends).unwrap_or(rest.len()))
    }

    /// Skips white space, and then this character, if it is there.
    fn skip(&mut self, wanted: char) -> bool {
        let rest = self.rest();
        self.take(rest.len() - rest.trim_start().len());
        let is_there = self.rest().starts_with(wanted);
        if is_there {
            self.take(wanted.len_utf8());
        }
        is_there
    }

    /// Reads the fields of an entry up to its end.
    fn fields(
        &mut self,
        strings: &HashMap<String, String>,
        growth: &GrowthBudget,
    ) -> Vec<BibtexField> {
        let mut fields = Vec::new();
        loop {
            self.skip(',');
            if self.skip('}') || self.skip(')') || self.rest().is_empty() {
                return fields;
            }
            let number = self.line;
            let name = self.until(&['=', ',', '}', ')', '@']).trim().to_lowercase();
            if self.skip('=') {
                let value = self.value(strings, growth);
                fields.push(BibtexField { number, name, value });
            } else if self.rest().starts_with('@') {
                // The end of the entry before is missing.
                return fields;
            }
        }
    }

    /// Reads a value: groups, texts in quotes, numbers and names of strings, joined by `#`.
    fn value(&mut self, strings: &HashMap<String, String>, growth: &GrowthBudget) -> String {
        let mut value = String::new();
        loop {
            self.skip(' ');
            let rest = self.rest();
            if rest.starts_with('{') {
                value.push_str(self.group());
            } else if rest.starts_with('"') {
                value.push_str(self.quoted());
            } else {
                let word = self.until(&[',', '}', ')', '#', '\n']).trim();
                let known = strings.get(&word.to_lowercase());
                match known.filter(|known| growth.take(known.len())) {
                    Some(known) => value.push_str(known),
                    None => value.push_str(word),
                }
            }
            if !self.skip('#') {
                return value;
            }
        }
    }

    /// Returns the text in the braces that open here. A group that is not closed ends before the next entry.
    fn group(&mut self) -> &'t str {
        let (mut depth, mut is_escaped) = (0_usize, false);
        let rest = self.rest();
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'{' | b'(' if at == 0 => depth = 1,
                b'{' => depth += 1,
                b')' if depth == 1 && rest.starts_with('(') => depth = 0,
                b'}' => depth = depth.saturating_sub(1),
                b'\n' if begins_entry(&rest[at + 1..]) => return self.take(at + 1)[1..].trim_end(),
                _ => {}
            }
            if depth == 0 {
                return self.take(at + 1).get(1..at).unwrap_or_default();
            }
        }
        self.take(rest.len()).get(1..).unwrap_or_default()
    }

    /// Returns the text in the quotes that open here; a quote in braces is part of it.
    fn quoted(&mut self) -> &'t str {
        let mut depth = 0_usize;
        let rest = self.rest();
        for (at, byte) in rest.bytes().enumerate().skip(1) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b'"' if depth == 0 => return self.take(at + 1).get(1..at).unwrap_or_default(),
                b'\n' if begins_entry(&rest[at + 1..]) => return self.take(at + 1)[1..].trim_end(),
                _ => {}
            }
        }
        self.take(rest.len()).get(1..).unwrap_or_default()
    }
}

/// Longest name of a kind of entry, in bytes: bounds the search behind each `@`.
const MAX_KIND_BYTES: usize = 40;

/// Returns the length of `@name` before a brace, with the blanks between.
fn entry_len(text: &str) -> Option<usize> {
    let mut names = text.bytes().skip(1).take(MAX_KIND_BYTES);
    let len = names.position(|byte| !byte.is_ascii_alphabetic())?;
    let after = text[1 + len..].trim_start_matches([' ', '\t', '\n']);
    let is_entry = len > 0 && after.starts_with(['{', '(']);
    is_entry.then_some(text.len() - after.len())
}

/// Whether a line begins an entry.
fn begins_entry(line: &str) -> bool {
    line.starts_with('@') && entry_len(line).is_some()
}
