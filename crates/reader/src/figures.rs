//! Reads the charts and diagrams that a part of an office document refers to; shared by DOCX, XLSX and PPTX.

mod chart;
mod diagram;

use std::collections::{BTreeMap, BTreeSet};

use crate::parts::{Archive, Related, optional};
use crate::writer::Writer;

/// The rows of a table, the first as its header.
pub(crate) type FigureRows = Vec<Vec<String>>;

/// A chart as its titles and tables of its numbers, or a diagram as a list of its texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Figure {
    titles: Vec<String>,
    points: Vec<FigurePoint>,
    tables: Vec<FigureRows>,
}

/// A text of a diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FigurePoint {
    /// How deep it is nested, from 0.
    depth: usize,
    text: String,
}

impl Figure {
    /// Returns the figure of a table; its first row is its header.
    pub(crate) fn of_table(title: String, rows: FigureRows) -> Self {
        Self { titles: vec![title], tables: vec![rows], ..Self::default() }
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        self.titles.iter().for_each(|title| writer.paragraph(title));
        for point in &self.points {
            writer.item(point.depth, "-", &point.text);
        }
        writer.end_item();
        self.tables.iter().for_each(|rows| writer.table(rows.clone()));
    }
}

/// Charts and diagrams by the ids that the part uses.
#[derive(Debug, Default)]
pub(crate) struct Figures(BTreeMap<String, Figure>);

impl Figures {
    /// Reads the charts and diagrams among the parts that a part refers to; each is read once.
    pub(crate) fn read(archive: &mut Archive<'_>, related: &BTreeMap<String, Related>) -> Self {
        let (mut figures, mut names) = (BTreeMap::new(), BTreeSet::new());
        for (id, related) in related {
            let read = match related.kind.as_str() {
                "chart" | "chartEx" => chart::read,
                "diagramData" => diagram::read,
                _ => continue,
            };
            if names.insert(&related.name) {
                figures.insert(id.clone(), read(&optional(archive, &related.name)));
            }
        }
        Self(figures)
    }

    /// Returns the figure with this id, once; `None` for any other part.
    pub(crate) fn take(&mut self, id: &str) -> Option<Figure> {
        self.0.remove(id)
    }

    /// Returns the figures that were not taken.
    pub(crate) fn into_rest(self) -> impl Iterator<Item = Figure> {
        self.0.into_values()
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
        let mut writer = Writer::default();
        figure.write(&mut writer);
        let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert_eq!(
            blocks,
            ["Water", "- Plan\n  - Draw", "|  | 2020 |\n| --- | --- |\n| Brest | 3.5 |"]
        );
    }
}
