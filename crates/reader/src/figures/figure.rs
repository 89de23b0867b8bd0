//! Writes a chart or a diagram into the text of a document.

use crate::writer::BlockWriter;

/// The rows of a table, the first as its header.
pub(super) type FigureRows = Vec<Vec<String>>;

/// A chart as its titles and tables of its numbers, or a diagram as a list of its texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Figure {
    pub(super) titles: Vec<String>,
    pub(super) points: Vec<FigurePoint>,
    pub(super) tables: Vec<FigureRows>,
}

/// A text of a diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FigurePoint {
    /// How deep it is nested, from 0.
    pub(super) depth: usize,
    pub(super) text: String,
}

impl Figure {
    /// Returns the figure of a table; its first row is its header.
    pub(crate) fn of_table(title: String, rows: FigureRows) -> Self {
        Self { titles: vec![title], tables: vec![rows], ..Self::default() }
    }

    pub(crate) fn write(&self, writer: &mut BlockWriter) {
        self.titles.iter().for_each(|title| writer.paragraph(title));
        for point in &self.points {
            writer.item(point.depth, "-", &point.text);
        }
        writer.end_item();
        self.tables.iter().for_each(|rows| writer.table(rows.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_written_as_titles_items_and_tables() {
        let point = |depth, text: &str| FigurePoint { depth, text: text.to_owned() };
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let figure = Figure {
            titles: vec!["Water".to_owned()],
            points: vec![point(0, "Plan"), point(1, "Draw")],
            tables: vec![vec![row(["", "2020"]), row(["Brest", "3.5"])]],
        };
        let mut writer = BlockWriter::default();
        figure.write(&mut writer);
        let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert_eq!(
            blocks,
            ["Water", "- Plan\n  - Draw", "|  | 2020 |\n| --- | --- |\n| Brest | 3.5 |"]
        );
    }
}
