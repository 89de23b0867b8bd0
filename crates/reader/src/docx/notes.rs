//! Collects the text of each note, by its id, from `footnotes.xml` and `endnotes.xml`.

use std::collections::HashMap;

use crate::xml::{self, Event};

/// Notes by kind and id, each on one line.
#[derive(Debug, Default)]
pub(super) struct Notes(HashMap<(&'static str, String), String>);

/// The elements that refer to notes, and the elements that contain them.
const KINDS: &[(&str, &str)] =
    &[("footnoteReference", "footnote"), ("endnoteReference", "endnote")];

impl Notes {
    /// Adds the notes of a part; notes that cannot be read are skipped.
    pub(super) fn read(&mut self, xml: &str) {
        let mut open: Option<(&'static str, String)> = None;
        let mut text = String::new();
        let mut is_text = false;
        let _ = xml::each(xml, |event| match event {
            Event::Open(element) => match element.name() {
                "t" => is_text = true,
                "tab" | "br" | "p" => text.push(' '),
                name => {
                    // Separator lines between text and notes are notes with a type.
                    if let Some((_, kind)) = KINDS.iter().find(|(_, kind)| *kind == name)
                        && element.attribute("type").is_none_or(|note_type| note_type == "normal")
                    {
                        open = element.attribute("id").map(|id| (*kind, id));
                        text.clear();
                    }
                }
            },
            Event::Text(run) if is_text => text.push_str(run),
            Event::Text(_) => {}
            Event::Close("t") => is_text = false,
            Event::Close(name) => {
                if let Some(key) = open.take_if(|(kind, _)| *kind == name) {
                    let words: Vec<&str> = text.split_whitespace().collect();
                    self.0.insert(key, words.join(" "));
                }
            }
        });
    }

    /// Returns the note that an element with this name and id refers to.
    pub(super) fn get(&self, reference: &str, id: &str) -> Option<&str> {
        let (_, kind) = KINDS.iter().find(|(name, _)| *name == reference)?;
        self.0.get(&(*kind, id.to_owned())).map(String::as_str).filter(|note| !note.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_found_by_their_references() {
        let mut notes = Notes::default();
        notes.read(
            "<w:footnotes><w:footnote w:type='separator' w:id='-1'><w:p/></w:footnote>\
             <w:footnote w:id='2'><w:p><w:r><w:t>By the</w:t></w:r></w:p><w:p><w:r><w:t>gate.\
             </w:t></w:r></w:p></w:footnote></w:footnotes>",
        );
        assert_eq!(notes.get("footnoteReference", "2"), Some("By the gate."));
        assert_eq!(notes.get("endnoteReference", "2"), None);
        assert_eq!(notes.get("footnoteReference", "-1"), None);
    }
}
