//! Reads the charts and diagrams that a part of an office document refers to; shared by DOCX, XLSX and PPTX.

use std::collections::{BTreeMap, HashMap};

use crate::parts::{Archive, Related, optional};
use crate::writer::Writer;
use crate::xml::{self, Event};

/// A chart as its title and a table of its numbers, or a diagram as a list of its texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) points: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Figure {
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.paragraph(&self.title);
        self.points.iter().for_each(|point| writer.item(0, "-", point));
        writer.end_item();
        writer.table(self.rows.clone());
    }
}

/// Charts and diagrams by the ids that the part uses.
#[derive(Debug, Default)]
pub(crate) struct Figures(HashMap<String, Figure>);

impl Figures {
    /// Reads the charts and diagrams among the parts that a part refers to.
    pub(crate) fn read(archive: &mut Archive<'_>, related: &BTreeMap<String, Related>) -> Self {
        let mut figures = HashMap::new();
        for (id, related) in related {
            let read = match related.kind.as_str() {
                "chart" => chart,
                "diagramData" => diagram,
                _ => continue,
            };
            figures.insert(id.clone(), read(&optional(archive, &related.name)));
        }
        Self(figures)
    }

    /// Returns the figure with this id; `None` for any other part.
    pub(crate) fn get(&self, id: &str) -> Option<&Figure> {
        self.0.get(id)
    }
}

/// A series of a chart.
#[derive(Debug, Default)]
struct Series {
    name: String,
    labels: Vec<String>,
    values: Vec<String>,
}

/// Returns the title of a chart, and its numbers as a table: a row for each category, a column for
/// each series.
fn chart(xml: &str) -> Figure {
    let mut all: Vec<Series> = Vec::new();
    let (mut title, mut text) = (String::new(), String::new());
    let mut place = "";
    let _ = xml::each(xml, |event| match event {
        Event::Open(element) => {
            text.clear();
            match element.name() {
                "ser" => all.push(Series::default()),
                "title" => place = "title",
                "tx" if place != "title" => place = "name",
                "cat" | "xVal" => place = "labels",
                "val" | "yVal" => place = "values",
                _ => {}
            }
        }
        Event::Text(run) => text.push_str(run),
        Event::Close("t") if place == "title" => {
            title.push_str(&text);
            text.clear();
        }
        Event::Close("p") if place == "title" => title.push(' '),
        Event::Close("v") => {
            let Some(series) = all.last_mut() else { return };
            let value = std::mem::take(&mut text);
            match place {
                "name" => series.name = value,
                "labels" => series.labels.push(value),
                "values" => series.values.push(value),
                _ => {}
            }
        }
        Event::Close("title" | "cat" | "xVal" | "val" | "yVal" | "ser") => place = "",
        Event::Close("tx") if place == "name" => place = "",
        Event::Close(_) => {}
    });
    let labels = all.first().map(|series| series.labels.clone()).unwrap_or_default();
    let num_rows = all.iter().map(|series| series.values.len()).max().unwrap_or(0);
    let cell = |cells: &[String], row: usize| cells.get(row).cloned().unwrap_or_default();
    let head = std::iter::once(String::new()).chain(all.iter().map(|series| series.name.clone()));
    let mut rows = vec![head.collect::<Vec<_>>()];
    rows.extend((0..num_rows).map(|row| {
        let values = all.iter().map(|series| cell(&series.values, row));
        std::iter::once(cell(&labels, row)).chain(values).collect()
    }));
    if num_rows == 0 {
        rows.clear();
    }
    Figure { title, rows, ..Figure::default() }
}

/// Returns the texts of a diagram.
fn diagram(xml: &str) -> Figure {
    let (mut points, mut text, mut is_text) = (Vec::new(), String::new(), false);
    let _ = xml::each(xml, |event| match event {
        Event::Open(element) if element.name() == "p" => text.clear(),
        // Texts of nodes are `dgm:t`, which has paragraphs, and runs are `a:t`.
        Event::Open(element) => is_text = element.name() == "t",
        Event::Text(run) if is_text => text.push_str(run),
        Event::Close("t") => is_text = false,
        Event::Close("p") if !text.trim().is_empty() => {
            points.push(std::mem::take(&mut text));
        }
        Event::Close(_) | Event::Text(_) => {}
    });
    Figure { points, ..Figure::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_a_table() {
        let points = |values: [&str; 2]| {
            let point = |value| format!("<c:pt><c:v>{value}</c:v></c:pt>");
            format!(
                "<c:numCache><c:formatCode>General</c:formatCode>{}{}</c:numCache>",
                point(values[0]),
                point(values[1])
            )
        };
        let xml = format!(
            "<c:chart><c:title><c:tx><a:p><a:r><a:t>Water</a:t></a:r></a:p></c:tx></c:title><c:ser><c:tx><c:v>2020</c:v></c:tx>\
             <c:cat>{}</c:cat><c:val>{}</c:val></c:ser></c:chart>",
            points(["Brest", "Emden"]),
            points(["3.5", "4"])
        );
        let mut writer = Writer::default();
        chart(&xml).write(&mut writer);
        let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert_eq!(blocks, ["Water", "|  | 2020 |\n| --- | --- |\n| Brest | 3.5 |\n| Emden | 4 |"]);
    }

    #[test]
    fn a_diagram_is_a_list() {
        let xml = "<dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p/></dgm:t></dgm:pt>";
        assert_eq!(diagram(xml).points, ["Plan"]);
    }
}
