//! Collects the blocks of data that people read: each line has the line of the file that it is from.

use crate::document::{BlockKind, Document};
use crate::extract::markdown::{self, LeadingHeading, UnplacedBlock};

/// Finds the line of a position in a file.
pub(super) struct LineNumbers {
    newlines: Vec<usize>,
}

impl LineNumbers {
    pub(super) fn of(text: &str) -> Self {
        Self { newlines: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// Returns the line of a position, from 1.
    pub(super) fn at(&self, at: usize) -> u32 {
        let line = self.newlines.partition_point(|newline| *newline < at) + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

/// Collects blocks in order.
#[derive(Default)]
pub(super) struct ProseWriter {
    document: Document,
    pieces: Vec<UnplacedBlock>,
}

impl ProseWriter {
    /// Sets the title, unless there is one.
    pub(super) fn title(&mut self, title: &str) {
        let title = markdown::to_heading(title);
        if self.document.title.is_none() && !title.is_empty() {
            self.document.title = Some(title);
        }
    }

    /// Sets when it was made, unless that is known.
    pub(super) fn created(&mut self, time: Option<String>) {
        let created = &mut self.document.metadata.created;
        *created = created.take().or(time);
    }

    /// Adds a heading, whose text may have marks before its words.
    pub(super) fn heading(&mut self, line: u32, level: u8, text: &str) {
        let words = markdown::to_heading(text.trim_start_matches('#'));
        if !words.is_empty() {
            self.push(line, BlockKind::Heading, text, Some((level, words)));
        }
    }

    /// Adds a block whose lines are all from one line of the file.
    pub(super) fn block(&mut self, line: u32, kind: BlockKind, text: &str) {
        self.push(line, kind, text, None);
    }

    fn push(&mut self, line: u32, kind: BlockKind, text: &str, heading: Option<(u8, String)>) {
        let text = text.trim_end();
        if text.trim().is_empty() {
            return;
        }
        let document = &mut self.document;
        if !document.text.is_empty() {
            document.text.push_str("\n\n");
            document.line_numbers.extend(document.line_numbers.last().copied());
        }
        let start = document.text.len();
        document.text.push_str(text);
        document.line_numbers.extend(text.split('\n').map(|_| line));
        self.pieces.push(UnplacedBlock { bytes: start..document.text.len(), kind, heading });
    }

    /// Returns the document; `None` if it has no text. Its headings are not its title.
    pub(super) fn finish(mut self) -> Option<Document> {
        self.document.has_lines = self.document.line_numbers.is_sorted();
        if !self.document.has_lines {
            // Text that is written in another order than in the file cannot be cited.
            self.document.line_numbers.clear();
        }
        if self.document.title.is_some() {
            markdown::set_title_and_blocks(
                &mut self.document,
                self.pieces,
                LeadingHeading::IsSection,
            );
        } else {
            markdown::set_blocks(&mut self.document, self.pieces);
        }
        (!self.document.blocks.is_empty()).then_some(self.document)
    }
}
