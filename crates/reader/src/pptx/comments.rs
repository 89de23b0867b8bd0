//! Reads the comments on a slide, in the older format and in that of programs since 2021, and who wrote them.

use std::collections::{BTreeMap, HashMap};

use crate::parts::{Archive, RelatedPart, optional};
use crate::remarks::Remark;
use crate::xml::{self, XmlEvent};

/// The names of those who have written comments, by their ids.
#[derive(Debug, Default)]
pub(super) struct CommentAuthors(HashMap<String, String>);

impl CommentAuthors {
    /// Reads the authors of a presentation, whose related parts these are.
    pub(super) fn read(archive: &mut Archive<'_>, related: &BTreeMap<String, RelatedPart>) -> Self {
        let mut names = HashMap::new();
        for (kind, usual) in
            [("commentAuthors", "ppt/commentAuthors.xml"), ("authors", "ppt/authors.xml")]
        {
            let found = related.values().find(|related| related.kind == kind);
            let text = optional(archive, found.map_or(usual, |related| &related.name));
            let _ = xml::each(&text, |event| {
                if let XmlEvent::Open(element) = event
                    && matches!(element.name(), "cmAuthor" | "author")
                {
                    names.extend(element.attribute("id").zip(element.attribute("name")));
                }
            });
        }
        Self(names)
    }
}

/// Returns the comments of a part, each before its replies.
pub(super) fn read(xml: &str, authors: &CommentAuthors) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    // The comment and the reply that are open, by their places in the list.
    let mut open: Vec<usize> = Vec::new();
    let mut is_text = false;
    // The comments before damage are kept.
    let _ = xml::each(xml, |event| match event {
        XmlEvent::Open(element) => match element.name() {
            "cm" | "reply" => {
                let author = element.attribute("authorId");
                let author = author.and_then(|id| authors.0.get(&id)).cloned().unwrap_or_default();
                let date = element.attribute("dt").or(element.attribute("created"));
                let date = date.unwrap_or_default();
                open.push(remarks.len());
                remarks.push(Remark { author, date, ..Remark::default() });
            }
            // Older programs put the words into `text`, newer ones into runs of paragraphs.
            "text" | "t" => is_text = true,
            _ => {}
        },
        XmlEvent::Text(text) if is_text => {
            if let Some(remark) = open.last().and_then(|idx| remarks.get_mut(*idx)) {
                remark.text.push_str(text);
            }
        }
        XmlEvent::Text(_) => {}
        XmlEvent::Close("text" | "t") => is_text = false,
        XmlEvent::Close("p") => {
            if let Some(remark) = open.last().and_then(|idx| remarks.get_mut(*idx)) {
                remark.text.push('\n');
            }
        }
        XmlEvent::Close("cm" | "reply") => drop(open.pop()),
        XmlEvent::Close(_) => {}
    });
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, expected: &[&str]) {
        let names = [("0", "Maren Voss"), ("{7A}", "Jan Bruns")];
        let names = names.map(|(id, name)| (id.to_owned(), name.to_owned()));
        let remarks = read(xml, &CommentAuthors(names.into()));
        let paragraphs: Vec<String> = remarks.iter().map(Remark::paragraph).collect();
        assert_eq!(paragraphs, expected);
    }

    #[test]
    fn comments_of_older_programs_have_text() {
        check(
            "<p:cmLst><p:cm authorId='0' dt='2024-05-01T10:00:00.000' idx='1'><p:pos x='1' y='1'/><p:text>Ask &amp; see\
             </p:text></p:cm><p:cm authorId='9'><p:text>Who?</p:text></p:cm></p:cmLst>",
            &["Comment by Maren Voss, 2024-05-01: Ask & see", "Comment: Who?"],
        );
    }

    #[test]
    fn comments_of_newer_programs_are_before_their_replies() {
        check(
            "<p188:cmLst><p188:cm id='{1}' authorId='{7A}' created='2024-05-01T10:00:00.000'><pc:sldMkLst/><p188:replyLst>\
             <p188:reply id='{2}' authorId='0' created='2024-05-02T10:00:00.000'><p188:txBody><a:p><a:r><a:t>Done.</a:t></a:r>\
             </a:p></p188:txBody></p188:reply></p188:replyLst><p188:txBody><a:bodyPr/><a:p><a:r><a:t>Which gauge?</a:t></a:r>\
             </a:p><a:p><a:r><a:t>Float?</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>",
            &[
                "Comment by Jan Bruns, 2024-05-01: Which gauge?\nFloat?",
                "Comment by Maren Voss, 2024-05-02: Done.",
            ],
        );
    }
}
