//! Writes a paragraph as a heading, an item, a line of source code or prose, with the content attached to it.

use super::attached::AttachedText;
use super::lists::{BULLET, Lists};
use super::styles::{CompleteStyle, DocxStyles};
use crate::writer::BlockWriter;

/// An open paragraph.
#[derive(Debug, Default)]
pub(super) struct OpenParagraph {
    pub(super) text: String,
    pub(super) style: String,
    pub(super) outline_level: Option<u8>,
    /// Number of its list; `0` removes it from the list of its style.
    pub(super) list: Option<String>,
    pub(super) list_level: Option<usize>,
    pub(super) attached: Vec<AttachedText>,
    /// Whether its end was deleted, so that the next paragraph continues it.
    pub(super) is_joined: bool,
}

/// Where a paragraph is written, and what decides how.
pub(super) struct ParagraphOutput<'a> {
    pub(super) styles: &'a DocxStyles,
    pub(super) lists: &'a mut Lists,
    pub(super) writer: &'a mut BlockWriter,
    pub(super) omits_remarks: bool,
}

impl OpenParagraph {
    /// Writes the paragraph.
    pub(super) fn write(self, output: ParagraphOutput<'_>) {
        let ParagraphOutput { styles, lists, writer, omits_remarks } = output;
        let style = styles.get(&self.style);
        let mut item_depth = None;
        if style.is_code {
            writer.code_line(&self.text);
        } else {
            writer.end_code();
            item_depth = self.write_text(&style, lists, writer);
        }
        if style.is_code && !self.attached.is_empty() {
            writer.end_code();
        }
        for attached in self.attached {
            match item_depth {
                Some(depth) => attached.write_in_item(depth, writer, omits_remarks),
                None => attached.write(writer, omits_remarks),
            }
        }
    }

    /// Writes the text of a paragraph that is no source code; returns the depth of a list item.
    fn write_text(
        &self,
        style: &CompleteStyle,
        lists: &mut Lists,
        writer: &mut BlockWriter,
    ) -> Option<usize> {
        let list = self.list(style).filter(|_| !self.text.trim().is_empty());
        // Levels count from 0, and 9 is body text.
        let level = self.outline_level.filter(|level| *level < 9).map(|level| level + 1);
        if let Some(level) = level.or(style.heading_level) {
            let number = list.map(|(list, depth)| lists.marker(&list, depth));
            match number.filter(|number| number != BULLET) {
                Some(number) => writer.heading(level, &format!("{number} {}", self.text)),
                None => writer.heading(level, &self.text),
            }
        } else if let Some((list, depth)) = list {
            writer.item(depth, &lists.marker(&list, depth), &self.text);
            return Some(depth);
        } else {
            writer.paragraph(&self.text);
        }
        None
    }

    /// Returns the list of the paragraph and its level; its properties override those of its style.
    fn list(&self, style: &CompleteStyle) -> Option<(String, usize)> {
        let (list, level) = match &self.list {
            Some(list) => (list.clone(), self.list_level.unwrap_or(0)),
            None => style.list.clone()?,
        };
        (list != "0").then_some((list, level))
    }
}
