//! Collects the text of each footnote, endnote and comment, by its id, from the parts that have them.

use std::collections::HashMap;

use super::runs::{LEFT_OUT, Runs};
use super::styles::DocxStyles;
use crate::document::WordAccount;
use crate::flow::{self, FlowItem};
use crate::xml::Element;

/// A footnote, an endnote or a comment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DocxNote {
    /// Its text, on one line.
    pub(super) text: String,
    /// Who wrote it, as a comment states it.
    pub(super) author: String,
    /// When, as a comment states it.
    pub(super) date: String,
    /// The ids of its paragraphs, by which other parts refer to a comment.
    pub(super) paragraph_ids: Vec<String>,
}

/// Notes by their ids.
pub(super) type NotesById = HashMap<String, DocxNote>;

/// Footnotes and endnotes.
#[derive(Debug, Default)]
pub(super) struct DocxNotes {
    pub(super) footnotes: NotesById,
    pub(super) endnotes: NotesById,
}

impl DocxNotes {
    /// Returns the text of the note that an element with this name and id refers to; a note is written once.
    pub(super) fn take(&mut self, reference: &str, id: &str) -> Option<String> {
        let notes = match reference {
            "footnoteReference" => &mut self.footnotes,
            _ => &mut self.endnotes,
        };
        notes.remove(id).map(|note| note.text).filter(|text| !text.is_empty())
    }
}

/// Reads parts with notes.
pub(super) struct NoteReader<'a> {
    pub(super) styles: &'a DocxStyles,
    pub(super) shows_hidden: bool,
    /// Words of notes that are not shown.
    pub(super) left_out: WordAccount,
}

impl NoteReader<'_> {
    /// Returns the notes of a part, which are elements with this name; those before the damage if the part is damaged.
    pub(super) fn read(&mut self, xml: &str, name: &str) -> NotesById {
        let mut runs = Runs::new(xml, self.styles, self.shows_hidden);
        let mut notes = NotesById::new();
        let mut open: Option<(String, DocxNote)> = None;
        let left_out = flow::each(xml, LEFT_OUT, |content| {
            let text = runs.on(&content);
            if let (Some(text), Some((_, note))) = (text, &mut open) {
                note.text.push_str(&text);
            }
            match content {
                FlowItem::Open(element) if element.name() == name => open = begin(element),
                FlowItem::Open(element) if element.name() == "p" => {
                    if let Some((_, note)) = &mut open {
                        note.text.push(' ');
                        note.paragraph_ids.extend(element.attribute("paraId"));
                    }
                }
                FlowItem::Close(closed) if closed == name => {
                    if let Some((id, mut note)) = open.take() {
                        note.text = note.text.split_whitespace().collect::<Vec<_>>().join(" ");
                        notes.insert(id, note);
                    }
                }
                _ => {}
            }
        });
        self.left_out.merge(&left_out.unwrap_or_default());
        self.left_out.merge(&runs.into_left_out());
        notes
    }
}

/// Begins a note. Separator lines between text and notes are notes with a type.
fn begin(element: &Element<'_>) -> Option<(String, DocxNote)> {
    let note_type = element.attribute("type");
    if note_type.is_some_and(|note_type| note_type != "normal") {
        return None;
    }
    let author = element.attribute("author").unwrap_or_default();
    let date = element.attribute("date").unwrap_or_default();
    let id = element.attribute("id")?;
    Some((id, DocxNote { author, date, ..DocxNote::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes_of(xml: &str, name: &str) -> NotesById {
        let styles = DocxStyles::default();
        let mut reader =
            NoteReader { styles: &styles, shows_hidden: false, left_out: WordAccount::default() };
        reader.read(xml, name)
    }

    #[test]
    fn notes_are_found_by_their_references() {
        let footnotes = notes_of(
            "<w:footnotes><w:footnote w:type='separator' w:id='-1'><w:p/></w:footnote>\
             <w:footnote w:id='2'><w:p><w:r><w:t>By the</w:t></w:r></w:p><w:p><w:r><w:t>gate.\
             </w:t></w:r></w:p></w:footnote></w:footnotes>",
            "footnote",
        );
        let mut notes = DocxNotes { footnotes, ..DocxNotes::default() };
        assert_eq!(notes.take("endnoteReference", "2"), None);
        assert_eq!(notes.take("footnoteReference", "2").as_deref(), Some("By the gate."));
        assert_eq!(notes.take("footnoteReference", "-1"), None);
    }

    #[test]
    fn a_comment_has_an_author_and_only_the_text_that_is_shown() {
        let comments = notes_of(
            "<w:comments><w:comment w:id='0' w:author='Maren' w:date='2024-05-01'><w:p w14:paraId='7A'>\
             <w:r><w:rPr><w:vanish/></w:rPr><w:t>not </w:t></w:r><w:r><w:t>late</w:t></w:r></w:p>\
             </w:comment><w:comment w:id='1'><w:p><w:r><w:t>cut",
            "comment",
        );
        let expected = DocxNote {
            text: "late".to_owned(),
            author: "Maren".to_owned(),
            date: "2024-05-01".to_owned(),
            paragraph_ids: vec!["7A".to_owned()],
        };
        let cut = DocxNote { text: "cut".to_owned(), ..DocxNote::default() };
        let expected = [("0".to_owned(), expected), ("1".to_owned(), cut)];
        assert_eq!(comments, HashMap::from(expected));
    }
}
