//! Defines the pieces of a drawing.

use crate::document::WordReason;
use crate::figures::Figure;
use crate::grid::TableGrid;
use crate::writer::BlockWriter;

/// A piece of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DrawingItem {
    Title(String),
    Paragraph(String),
    /// Its depth from 0, its marker, its text.
    Point(usize, String, String),
    Table(TableGrid),
    /// A chart or a diagram.
    Figure(Figure),
    /// What is on every slide.
    Furniture(String),
}

impl DrawingItem {
    pub(crate) fn write(self, writer: &mut BlockWriter) {
        match self {
            Self::Title(text) => writer.heading(1, &text),
            Self::Paragraph(text) => writer.paragraph(&text),
            Self::Point(depth, marker, text) => writer.item(depth, &marker, &text),
            Self::Table(grid) => writer.grid(grid),
            Self::Figure(figure) => figure.write(writer),
            Self::Furniture(text) => writer.left_out.add(WordReason::RunningHead, &text),
        }
    }
}
