//! Reads the text of the charts and diagrams that a slide refers to.

use std::collections::{BTreeMap, HashMap};

use super::items::Item;
use crate::extract::protocol::ReadFailure;
use crate::parts::{Archive, Related, part};
use crate::xml::{self, Event};

/// Charts and diagrams by the ids that a slide uses.
#[derive(Debug, Default)]
pub(super) struct Figures(HashMap<String, Vec<Item>>);

impl Figures {
    /// Reads the parts that a slide refers to.
    pub(super) fn read(
        archive: &mut Archive<'_>,
        related: &BTreeMap<String, Related>,
    ) -> Result<Self, ReadFailure> {
        let mut figures = HashMap::new();
        for (id, related) in related {
            let read = match related.kind.as_str() {
                "chart" => chart,
                "diagramData" => diagram,
                _ => continue,
            };
            let text = part(archive, &related.name)?.unwrap_or_default();
            figures.insert(id.clone(), read(&text));
        }
        Ok(Self(figures))
    }

    pub(super) fn get(&self, id: &str) -> Option<&[Item]> {
        self.0.get(id).map(Vec::as_slice)
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
fn chart(xml: &str) -> Vec<Item> {
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
    let mut items = Vec::new();
    if !title.trim().is_empty() {
        items.push(Item::Paragraph(title));
    }
    let labels = all.first().map(|series| series.labels.clone()).unwrap_or_default();
    let num_rows = all.iter().map(|series| series.values.len()).max().unwrap_or(0);
    let cell = |cells: &[String], row: usize| cells.get(row).cloned().unwrap_or_default();
    let head = std::iter::once(String::new()).chain(all.iter().map(|series| series.name.clone()));
    let mut rows = vec![head.collect::<Vec<_>>()];
    rows.extend((0..num_rows).map(|row| {
        let values = all.iter().map(|series| cell(&series.values, row));
        std::iter::once(cell(&labels, row)).chain(values).collect()
    }));
    if num_rows > 0 {
        items.push(Item::Table(rows));
    }
    items
}

/// Returns the texts of a diagram.
fn diagram(xml: &str) -> Vec<Item> {
    let (mut items, mut text, mut is_text) = (Vec::new(), String::new(), false);
    let _ = xml::each(xml, |event| match event {
        Event::Open(element) if element.name() == "p" => text.clear(),
        // Texts of nodes are `dgm:t`, which has paragraphs, and runs are `a:t`.
        Event::Open(element) => is_text = element.name() == "t",
        Event::Text(run) if is_text => text.push_str(run),
        Event::Close("t") => is_text = false,
        Event::Close("p") if !text.trim().is_empty() => {
            items.push(Item::Point(0, "-".to_owned(), std::mem::take(&mut text)));
        }
        Event::Close(_) | Event::Text(_) => {}
    });
    items
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
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table = vec![row(["", "2020"]), row(["Brest", "3.5"]), row(["Emden", "4"])];
        assert_eq!(chart(&xml), [Item::Paragraph("Water ".to_owned()), Item::Table(table)]);
    }

    #[test]
    fn a_diagram_is_a_list() {
        let xml = "<dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p/></dgm:t></dgm:pt>";
        assert_eq!(diagram(xml), [Item::Point(0, "-".to_owned(), "Plan".to_owned())]);
    }
}
