//! Holds the open references of a map, of which each becomes an item of a list.

use crate::writer::BlockWriter;
use crate::xml::Element;

/// Whether an element refers to a topic.
pub(super) fn is_reference(name: &str) -> bool {
    matches!(
        name,
        "topicref"
            | "topichead"
            | "mapref"
            | "chapter"
            | "part"
            | "appendix"
            | "preface"
            | "appendices"
            | "notices"
            | "glossarylist"
            | "topicset"
            | "keydef"
    )
}

/// The open references, the innermost last.
#[derive(Debug, Default)]
pub(super) struct TopicRefs {
    /// The file of each reference that is not written yet; `None` if it is written.
    open: Vec<Option<String>>,
}

impl TopicRefs {
    /// Opens a reference; its title may be in it.
    pub(super) fn begin(&mut self, element: &Element<'_>, writer: &mut BlockWriter) {
        self.write_last(writer);
        self.open.push(Some(element.attribute("href").unwrap_or_default()));
        if let Some(title) = element.attribute("navtitle") {
            self.title(&title, writer);
        }
    }

    /// Writes the innermost reference with its title. Returns whether one was waiting for it.
    pub(super) fn title(&mut self, title: &str, writer: &mut BlockWriter) -> bool {
        let depth = self.open.len().saturating_sub(1);
        let is_waiting = self.open.last_mut().and_then(Option::take).is_some();
        if is_waiting {
            writer.item(depth, "-", title);
        }
        is_waiting
    }

    pub(super) fn end(&mut self, writer: &mut BlockWriter) {
        self.write_last(writer);
        self.open.pop();
    }

    /// Writes the innermost reference with the name of its file, unless it is written.
    fn write_last(&mut self, writer: &mut BlockWriter) {
        if let Some(file) = self.open.last().cloned().flatten() {
            self.title(&file, writer);
        }
    }
}
