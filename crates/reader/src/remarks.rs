//! Writes what people have remarked on a document: comments and notes, apart from the text that they are about.

use crate::document::WordDestination;
use crate::writer::BlockWriter;

/// A comment or a note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Remark {
    /// Who wrote it, as stated; may be empty.
    pub(crate) author: String,
    /// Its date or time, as stated; may be empty. Only the day is shown.
    pub(crate) date: String,
    /// Its subject: a cell (`B3`) or quoted words; may be empty.
    pub(crate) about: String,
    /// Its text.
    pub(crate) text: String,
}

impl Remark {
    /// Returns it as one paragraph: `Comment by Maren Voss, 2024-05-01, on B3: text`.
    pub(crate) fn paragraph(&self) -> String {
        let text = self.text.trim();
        if text.is_empty() {
            return String::new();
        }
        let mut paragraph = "Comment".to_owned();
        let day = self.date.split('T').next().unwrap_or_default();
        let on = if day.is_empty() { " on " } else { ", on " };
        for (lead, words) in [(" by ", &*self.author), (", ", day), (on, &self.about)] {
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            if !words.is_empty() {
                paragraph.push_str(lead);
                paragraph.push_str(&words);
            }
        }
        paragraph + ": " + text
    }
}

impl BlockWriter {
    /// Adds a remark as a paragraph, or counts its words if the user does not want remarks.
    pub(crate) fn remark(&mut self, remark: &Remark, omits_remarks: bool) {
        if omits_remarks {
            self.left_out.add(WordDestination::Remarks, &remark.text);
        } else {
            self.paragraph(&remark.paragraph());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: [&str; 4], expected: &str) {
        let [author, date, about, text] = parts.map(str::to_owned);
        assert_eq!(Remark { author, date, about, text }.paragraph(), expected);
    }

    #[test]
    fn a_remark_says_whose_it_is_and_what_it_is_about() {
        let all = ["Maren Voss", "2024-05-01T10:00:00Z", "B3", " Late. "];
        check(all, "Comment by Maren Voss, 2024-05-01, on B3: Late.");
        check(["", "", "", "Late."], "Comment: Late.");
        check(
            ["Maren Voss", "", "\u{201C}the  rope\u{201D}", "Late."],
            "Comment by Maren Voss on \u{201C}the rope\u{201D}: Late.",
        );
        check(["Maren Voss", "", "B3", " "], "");
    }

    #[test]
    fn remarks_that_are_not_wanted_are_counted() {
        let mut writer = BlockWriter::default();
        writer.remark(&Remark { text: "Ask Maren.".into(), ..Remark::default() }, true);
        let page = writer.page(1);
        assert!(page.blocks.is_empty());
        assert_eq!(page.left_out.counts().collect::<Vec<_>>(), [(WordDestination::Remarks, 2)]);
    }
}
