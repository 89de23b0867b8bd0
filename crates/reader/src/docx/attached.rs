//! Writes the content that belongs to a paragraph or to a table, after it: notes, comments,
//! figures, other files.

use crate::document::WordDestination;
use crate::extract::protocol::PageBlock;
use crate::figures::Figure;
use crate::remarks::Remark;
use crate::writer::BlockWriter;

/// Text that is written after the paragraph or the table that it belongs to.
#[derive(Debug)]
pub(super) enum AttachedText {
    /// A footnote or an endnote, or the name of an embedded file.
    Line(String),
    Remark(Remark),
    Figure(Figure),
    /// The text of a file that is merged into the document.
    Blocks(Vec<PageBlock>),
}

impl AttachedText {
    /// Writes it after a paragraph or a table.
    pub(super) fn write(self, writer: &mut BlockWriter, omits_remarks: bool) {
        match self {
            Self::Line(line) => writer.paragraph(&line),
            Self::Remark(remark) => writer.remark(&remark, omits_remarks),
            Self::Figure(figure) => figure.write(writer),
            Self::Blocks(blocks) => writer.blocks(blocks),
        }
    }

    /// Writes it below a list item, so that the list continues.
    pub(super) fn write_in_item(self, depth: usize, writer: &mut BlockWriter, omits_remarks: bool) {
        match self {
            Self::Line(line) => writer.continue_item(depth, &line),
            Self::Remark(remark) if !omits_remarks => {
                writer.continue_item(depth, &remark.paragraph());
            }
            other => other.write(writer, omits_remarks),
        }
    }

    /// Counts its words as text that the document does not show.
    pub(super) fn leave_out(self, writer: &mut BlockWriter) {
        let mut hidden = BlockWriter::default();
        self.write(&mut hidden, false);
        for block in hidden.finish() {
            writer.left_out.add(WordDestination::Hidden, &block.text);
        }
    }
}
