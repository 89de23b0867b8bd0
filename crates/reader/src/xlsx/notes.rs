//! Reads the comments on the cells of a sheet: notes, and threads of comments, of which Excel also writes notes for older
//! programs.

use std::collections::{HashMap, HashSet};

use crate::remarks::Remark;
use crate::xml::{self, XmlEvent};

/// The author of a note that is a copy of a thread is this with the id of the first comment.
const THREAD_AUTHOR: &str = "tc=";

/// How the explanation ends that Excel puts before the copy of a thread, in any language: the number of its help page.
const EXPLANATION_END: &str = "linkid=870924";

/// The names of those who take part in threads, by their ids.
#[derive(Debug, Default)]
pub(super) struct Persons(HashMap<String, String>);

impl Persons {
    /// Reads the persons of a workbook; a damaged list ends where the damage is.
    pub(super) fn read(xml: &str) -> Self {
        let mut names = HashMap::new();
        let _ = xml::each(xml, |event| {
            if let XmlEvent::Open(element) = event
                && element.name() == "person"
            {
                names.extend(element.attribute("id").zip(element.attribute("displayName")));
            }
        });
        Self(names)
    }
}

/// Returns the comments of threads, in the order of the part.
pub(super) fn threaded(xml: &str, persons: &Persons) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    let mut is_text = false;
    // The comments before damage are kept.
    let _ = xml::each(xml, |event| match event {
        XmlEvent::Open(element) => match element.name() {
            "threadedComment" => {
                let id = element.attribute_or_empty("personId");
                remarks.push(Remark {
                    author: persons.0.get(&id).cloned().unwrap_or_default(),
                    date: element.attribute_or_empty("dT"),
                    about: element.attribute_or_empty("ref"),
                    text: String::new(),
                });
            }
            "text" => is_text = true,
            _ => {}
        },
        XmlEvent::Text(text) if is_text => {
            if let Some(remark) = remarks.last_mut() {
                remark.text.push_str(text);
            }
        }
        XmlEvent::Close("text") => is_text = false,
        XmlEvent::Close(_) | XmlEvent::Text(_) => {}
    });
    remarks
}

/// Returns the notes, in the order of the part, without those that are copies of these threads.
pub(super) fn legacy(xml: &str, threads: &[Remark]) -> Vec<Remark> {
    let (mut authors, mut remarks): (Vec<String>, Vec<Remark>) = (Vec::new(), Vec::new());
    let (mut is_author, mut is_text) = (false, false);
    let _ = xml::each(xml, |event| match event {
        XmlEvent::Open(element) => match element.name() {
            "author" => {
                is_author = true;
                authors.push(String::new());
            }
            "comment" => {
                let author = element.attribute("authorId").and_then(|id| id.parse::<usize>().ok());
                let author = author.and_then(|idx| authors.get(idx)).cloned().unwrap_or_default();
                let about = element.attribute("ref").unwrap_or_default();
                remarks.push(Remark { author, about, ..Remark::default() });
            }
            "t" => is_text = true,
            // This text says how the other text is pronounced.
            "rPh" => is_text = false,
            _ => {}
        },
        XmlEvent::Text(text) if is_author => {
            if let Some(author) = authors.last_mut() {
                author.push_str(text);
            }
        }
        XmlEvent::Text(text) if is_text => {
            if let Some(remark) = remarks.last_mut() {
                remark.text.push_str(text);
            }
        }
        XmlEvent::Close("author") => is_author = false,
        XmlEvent::Close("t") => is_text = false,
        XmlEvent::Close(_) | XmlEvent::Text(_) => {}
    });
    let in_threads: HashSet<&str> = threads.iter().map(|remark| &*remark.about).collect();
    remarks.retain(|remark| !is_copy(remark) || !in_threads.contains(&*remark.about));
    remarks.iter_mut().for_each(clean);
    remarks
}

/// Whether a note is the copy of a thread.
fn is_copy(remark: &Remark) -> bool {
    remark.author.starts_with(THREAD_AUTHOR) || remark.text.contains(EXPLANATION_END)
}

/// Removes what Excel has put before the words of the person.
fn clean(remark: &mut Remark) {
    if remark.author.starts_with(THREAD_AUTHOR) {
        remark.author.clear();
    }
    if let Some((_, words)) = remark.text.split_once(EXPLANATION_END) {
        // The line between is a heading: "Comment:".
        let words = words.trim_start().split_once('\n').map_or(words, |(_, words)| words);
        remark.text = words.to_owned();
    }
    let lead = format!("{}:", remark.author);
    if let Some(words) = remark.text.trim_start().strip_prefix(&lead)
        && !remark.author.is_empty()
    {
        remark.text = words.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(reference: &str, author: usize, text: &str) -> String {
        format!(
            "<comment ref='{reference}' authorId='{author}'><text><r><t>{text}</t></r></text></comment>"
        )
    }

    #[track_caller]
    fn check(notes: &str, threads: &[Remark], expected: &[&str]) {
        let xml = format!(
            "<comments><authors><author>Jan Bruns</author><author>tc={{1}}</author></authors><commentList>{notes}\
             </commentList></comments>"
        );
        let paragraphs: Vec<String> = legacy(&xml, threads).iter().map(Remark::paragraph).collect();
        assert_eq!(paragraphs, expected);
    }

    const COPY: &str = "[Kommentarthread]\n\nIhre Version von Excel. Weitere Informationen: \
        https://go.microsoft.com/fwlink/?linkid=870924\n\nKommentar:\n    Late again";

    #[test]
    fn a_note_names_its_author_once() {
        check(
            &(note("B2", 0, "Jan Bruns:\nLate") + &note("B3", 7, "Paid")),
            &[],
            &["Comment by Jan Bruns on B2: Late", "Comment on B3: Paid"],
        );
    }

    #[test]
    fn the_copy_of_a_thread_is_not_shown_next_to_it() {
        let persons =
            Persons::read("<personList><person displayName='Maren Voss' id='{P}'/></personList>");
        let xml = "<ThreadedComments><threadedComment ref='A2' dT='2024-05-01T10:00:00.00' personId='{P}' id='{1}'><text>Late \
            &amp; again</text></threadedComment><threadedComment ref='A2' personId='{Q}' parentId='{1}'><text>Why?</text>\
            </threadedComment></ThreadedComments>";
        let threads = threaded(xml, &persons);
        let first = Remark {
            author: "Maren Voss".to_owned(),
            date: "2024-05-01T10:00:00.00".to_owned(),
            about: "A2".to_owned(),
            text: "Late & again".to_owned(),
        };
        let reply = Remark { about: "A2".into(), text: "Why?".into(), ..Remark::default() };
        assert_eq!(threads, [first, reply]);
        check(&note("A2", 1, COPY), &threads, &[]);
        // Without the thread, only the copy is left.
        check(&note("A2", 1, COPY), &[], &["Comment on A2: Late again"]);
    }
}
