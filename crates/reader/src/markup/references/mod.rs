//! Reads lists of references, each of which becomes a section: its title, who wrote it, where it was published, and
//! notes about it.

pub(super) mod bibtex;
pub(super) mod ris;

use super::writer::MarkupWriter;
use crate::document::{Document, WordAccount, WordDestination};

/// The role of a field in the section of its reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReferenceRole {
    /// The heading of its section.
    Title,
    /// A person; persons with the same label are on one line.
    Person(&'static str),
    /// One of several words with the same label, which are on one line.
    Listed(&'static str),
    /// A line with a label.
    Labelled(&'static str),
    /// A paragraph: an abstract or a note.
    Prose,
    /// For a program: a path on a computer, the settings of a group.
    Internal,
}

/// A field with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReferenceField {
    /// The line at which it begins, from 1.
    number: u32,
    /// Its name in the file.
    name: String,
    role: ReferenceRole,
    text: String,
}

/// A reference.
#[derive(Debug, Default)]
struct Reference {
    /// The line at which it begins, from 1.
    number: u32,
    /// Its type and its key in citations: `article voss2019`.
    kind: String,
    key: String,
    fields: Vec<ReferenceField>,
}

/// Writes references in order.
#[derive(Default)]
struct References {
    writer: MarkupWriter,
    left_out: WordAccount,
}

impl References {
    fn write(&mut self, reference: &Reference) {
        let fields = reference.fields.iter().filter(|field| !field.text.trim().is_empty());
        let fields: Vec<&ReferenceField> = fields.collect();
        let title = fields.iter().find(|field| field.role == ReferenceRole::Title);
        match title {
            Some(title) => self.writer.heading(title.number, 2, &title.text),
            None => self.writer.heading(reference.number, 2, &reference.key),
        }
        let mut lines: Vec<(u32, String)> = Vec::new();
        let mut last_label = "";
        for field in &fields {
            let (label, text) = match field.role {
                ReferenceRole::Title if title.is_some_and(|title| title.number == field.number) => {
                    continue;
                }
                ReferenceRole::Title => ("Title", &field.text),
                ReferenceRole::Person(label)
                | ReferenceRole::Listed(label)
                | ReferenceRole::Labelled(label) => (label, &field.text),
                ReferenceRole::Prose => continue,
                ReferenceRole::Internal => {
                    self.left_out.add(WordDestination::Markup, &field.text);
                    continue;
                }
            };
            let is_more = matches!(field.role, ReferenceRole::Person(_) | ReferenceRole::Listed(_));
            match lines.last_mut() {
                Some((_, line)) if is_more && label == last_label => {
                    line.push_str("; ");
                    line.push_str(text);
                }
                _ if label.is_empty() => {
                    lines.push((field.number, format!("{}: {text}", field.name)));
                }
                _ => lines.push((field.number, format!("{label}: {text}"))),
            }
            last_label = label;
        }
        let key = [&*reference.kind, &*reference.key].join(" ");
        if !key.trim().is_empty() {
            let number = lines.last().map_or(reference.number, |(number, _)| *number);
            lines.push((number, format!("Reference: {}", key.trim())));
        }
        self.writer.lines(&lines);
        for field in fields.iter().filter(|field| field.role == ReferenceRole::Prose) {
            for paragraph in field.text.split("\n\n") {
                let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
                self.writer.lines(&[(field.number, words)]);
            }
        }
    }

    fn finish(self) -> Document {
        let mut document = self.writer.finish_without_title();
        document.metadata.words = Some(self.left_out);
        document
    }
}

#[cfg(test)]
mod tests;
