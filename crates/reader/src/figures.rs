//! Reads the charts and diagrams that a part of an office document refers to; shared by DOCX, XLSX and PPTX.

mod chart;
mod diagram;
mod figure;

use std::collections::BTreeMap;

use crate::parts::{Archive, RelatedPart, optional};
pub(crate) use figure::Figure;

/// Charts and diagrams by the ids that the part uses.
#[derive(Debug, Default)]
pub(crate) struct Figures(BTreeMap<String, Figure>);

impl Figures {
    /// Reads the charts and diagrams among the parts that a part refers to; each is read once in an archive.
    pub(crate) fn read(archive: &mut Archive<'_>, related: &BTreeMap<String, RelatedPart>) -> Self {
        let mut figures = BTreeMap::new();
        for (id, related) in related {
            let read = match related.kind.as_str() {
                "chart" | "chartEx" => chart::read,
                "diagramData" => diagram::read,
                _ => continue,
            };
            // A file may name one chart in thousands of drawings.
            if archive.is_untouched(&related.name) {
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
