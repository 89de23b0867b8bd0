//! Finds the place of each comment in the text, and the words that it is about.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::notes::{DocxNote, NotesById};
use crate::remarks::Remark;
use crate::xml::{self, XmlEvent};

/// Most characters of the words that a comment is about: enough to find them, as they are near the comment in any
/// case.
const MAX_QUOTE: usize = 80;

/// Most ranges that are open at once, as each word is added to all of them; people hardly ever have as many comments
/// on the same words.
const MAX_OPEN: usize = 64;

/// The comments of a document, until they have their places in the text.
#[derive(Debug, Default)]
pub(super) struct OpenComments {
    /// Comments without a place, by their ids.
    waiting: BTreeMap<String, DocxNote>,
    /// The ids of the comments that answer another, by its id, in the order of the part.
    answers: HashMap<String, Vec<String>>,
    /// The words of ranges that are open and not full, by the ids of their comments.
    filling: BTreeMap<String, String>,
    /// The words of all other ranges.
    quotes: HashMap<String, String>,
}

impl OpenComments {
    /// Prepares to place comments; `extended` is the part that says which comment answers which.
    pub(super) fn new(comments: NotesById, extended: &str) -> Self {
        let answers = answers(&comments, extended);
        Self { waiting: comments.into_iter().collect(), answers, ..Self::default() }
    }

    /// Begins the words that a comment is about.
    pub(super) fn begin(&mut self, id: String) {
        if self.filling.len() < MAX_OPEN
            && self.waiting.contains_key(&id)
            && !self.quotes.contains_key(&id)
        {
            self.filling.entry(id).or_default();
        }
    }

    /// Adds text to the open ranges.
    pub(super) fn push(&mut self, text: &str) {
        if self.filling.is_empty() {
            return;
        }
        let mut full = Vec::new();
        for (id, words) in &mut self.filling {
            words.extend(text.chars().take(MAX_QUOTE + 1));
            if words.len() > MAX_QUOTE * char::MAX.len_utf8() {
                full.push(id.clone());
            }
        }
        full.iter().for_each(|id| self.end(id));
    }

    /// Ends the words that a comment is about.
    pub(super) fn end(&mut self, id: &str) {
        if let Some((id, words)) = self.filling.remove_entry(id) {
            self.quotes.insert(id, words);
        }
    }

    /// Returns a comment and the answers to it, at the place that refers to it.
    pub(super) fn place(&mut self, id: &str) -> Vec<Remark> {
        self.end(id);
        let about = self.quotes.get(id).map(|words| quoted(words)).unwrap_or_default();
        let mut remarks = Vec::new();
        let mut open = vec![(id.to_owned(), about)];
        while let Some((id, about)) = open.pop() {
            let Some(note) = self.waiting.remove(&id) else { continue };
            let on_answer = match note.author.trim() {
                "" => "that comment".to_owned(),
                author => format!("the comment by {}", shortened(author)),
            };
            let answers = self.answers.remove(&id).unwrap_or_default();
            open.extend(answers.into_iter().rev().map(|answer| (answer, on_answer.clone())));
            let DocxNote { text, author, date, .. } = note;
            remarks.push(Remark { author, date, about, text });
        }
        remarks
    }

    /// Returns the comments that no place refers to.
    pub(super) fn into_rest(mut self) -> Vec<Remark> {
        let mut ids: Vec<String> = self.waiting.keys().cloned().collect();
        let answers: HashSet<&String> = self.answers.values().flatten().collect();
        // Answers come with the comments that they answer; ids are numbers.
        ids.sort_by_cached_key(|id| (answers.contains(id), id.len(), id.clone()));
        ids.iter().flat_map(|id| self.place(id)).collect()
    }
}

/// Returns the ids of the answers to each comment. Comments are known by one of their paragraphs
/// (MS-DOCX, 2.5.1.1).
fn answers(comments: &NotesById, extended: &str) -> HashMap<String, Vec<String>> {
    let mut by_paragraph = HashMap::new();
    for (id, comment) in comments {
        by_paragraph.extend(comment.paragraph_ids.iter().map(|paragraph| (paragraph.as_str(), id)));
    }
    let mut answers: HashMap<String, Vec<String>> = HashMap::new();
    // Without this part, answers are comments like others.
    let _ = xml::each(extended, |event| {
        if let XmlEvent::Open(element) = event
            && let Some(paragraph) = element.attribute("paraId")
            && let Some(answered) = element.attribute("paraIdParent")
            && let Some(id) = by_paragraph.get(paragraph.as_str())
            && let Some(answered) = by_paragraph.get(answered.as_str())
        {
            answers.entry((*answered).clone()).or_default().push((*id).clone());
        }
    });
    answers
}

/// Returns words between quotation marks.
fn quoted(words: &str) -> String {
    let words = shortened(words);
    if words.is_empty() { words } else { format!("\u{201C}{words}\u{201D}") }
}

/// Returns words on one line, shortened to whole words.
fn shortened(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = words.char_indices().nth(MAX_QUOTE) else { return words };
    let start = &words[..end];
    let start = start.rsplit_once(' ').map_or(start, |(start, _)| start);
    format!("{start} …")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(all: &[(&str, &str)]) -> NotesById {
        let note = |id: &str, author: &str| DocxNote {
            text: format!("text of {id}"),
            author: author.to_owned(),
            paragraph_ids: vec![format!("P{id}")],
            ..DocxNote::default()
        };
        all.iter().map(|(id, author)| ((*id).to_owned(), note(id, author))).collect()
    }

    #[track_caller]
    fn check(remarks: &[Remark], expected: &[&str]) {
        let paragraphs: Vec<String> = remarks.iter().map(Remark::paragraph).collect();
        assert_eq!(paragraphs, expected);
    }

    #[test]
    fn a_comment_quotes_the_words_that_it_is_about() {
        let mut open = OpenComments::new(comments(&[("1", "Maren"), ("2", "")]), "");
        open.push("before");
        open.begin("1".into());
        open.push(" the ");
        open.begin("2".into());
        open.push("rope");
        open.end("1");
        open.push(" ends");
        check(&open.place("1"), &["Comment by Maren on \u{201C}the rope\u{201D}: text of 1"]);
        check(&open.place("2"), &["Comment on \u{201C}rope ends\u{201D}: text of 2"]);
        check(&open.place("2"), &[]);
    }

    #[test]
    fn a_long_quote_is_shortened() {
        let mut open = OpenComments::new(comments(&[("1", "")]), "");
        open.begin("1".into());
        (0..1000).for_each(|_| open.push("low water "));
        assert!(open.filling.is_empty());
        let expected = format!("Comment on \u{201C}{}…\u{201D}: text of 1", "low water ".repeat(8));
        check(&open.place("1"), &[&expected]);
        assert_eq!(quoted(&"x".repeat(81)), format!("\u{201C}{} …\u{201D}", "x".repeat(80)));
    }

    #[test]
    fn answers_follow_their_comment() {
        let extended = "<w15:commentsEx><w15:commentEx w15:paraId='P1'/>\
            <w15:commentEx w15:paraId='P2' w15:paraIdParent='P1'/>\
            <w15:commentEx w15:paraId='P3' w15:paraIdParent='P1'/>\
            <w15:commentEx w15:paraId='P4' w15:paraIdParent='P4'/></w15:commentsEx>";
        let all = comments(&[("1", "Maren"), ("2", "Jonas"), ("3", ""), ("4", "")]);
        let mut open = OpenComments::new(all, extended);
        check(
            &open.place("1"),
            &[
                "Comment by Maren: text of 1",
                "Comment by Jonas on the comment by Maren: text of 2",
                "Comment on the comment by Maren: text of 3",
            ],
        );
        check(&open.place("3"), &[]);
        check(&open.into_rest(), &["Comment: text of 4"]);
    }

    #[test]
    fn comments_without_a_place_come_last() {
        let extended = "<x><y paraId='P2' paraIdParent='P10'/></x>";
        let all = comments(&[("2", ""), ("10", "Maren"), ("9", "")]);
        check(
            &OpenComments::new(all, extended).into_rest(),
            &[
                "Comment: text of 9",
                "Comment by Maren: text of 10",
                "Comment on the comment by Maren: text of 2",
            ],
        );
    }
}
