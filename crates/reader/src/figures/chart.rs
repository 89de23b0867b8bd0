//! Reads a chart as its titles and tables of its numbers: a row for each category, a column for each series.
//!
//! Charts of both kinds are read (ECMA-376, part 1, 21.2; MS-ODRAWXML, 2.24.3).

use std::collections::{BTreeMap, BTreeSet};

use super::figure::{Figure, FigureRows};
use crate::number_format::NumberFormat;
use crate::writer::MAX_COLUMNS;
use crate::xml::{self, Element, XmlEvent};

/// Values by their indices; a series may have gaps.
type ChartPoints = BTreeMap<usize, String>;

/// Returns a chart; a damaged one has the part before the damage.
pub(super) fn read(xml: &str) -> Figure {
    let mut walk = ChartWalk::default();
    let _ = xml::each(xml, |event| match event {
        XmlEvent::Open(element) => walk.open(element),
        XmlEvent::Text(text) => walk.text.push_str(text),
        XmlEvent::Close(name) => walk.close(name),
    });
    walk.finish()
}

/// The numbers of a chart that belong together.
#[derive(Debug, Default)]
struct ChartSeries {
    name: String,
    /// The labels of the categories, the innermost level first. An outer level has a label for the
    /// first category of each group.
    labels: Vec<ChartPoints>,
    values: ChartPoints,
}

/// The part of a chart that a text belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ChartPlace {
    #[default]
    Elsewhere,
    Title,
    SeriesName,
    Labels,
    Values,
}

/// An axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChartAxis {
    Labels,
    Values,
}

#[derive(Debug, Default)]
struct ChartWalk {
    series: Vec<ChartSeries>,
    title: String,
    labels_title: String,
    values_titles: Vec<String>,
    /// The open axis.
    axis: Option<ChartAxis>,
    /// Whether the axis of the labels is one of numbers, the first of all.
    is_scattered: bool,
    place: ChartPlace,
    text: String,
    /// The open title, or the last name of a series.
    words: String,
    /// The index of the open point.
    idx: usize,
    /// The format of numbers; `None` for text.
    code: Option<String>,
    is_1904: bool,
}

impl ChartWalk {
    fn open(&mut self, element: &Element<'_>) {
        self.text.clear();
        let name = element.name();
        match name {
            // In the second kind of charts, `data` has the numbers and `series` the name.
            "ser" | "data" => self.series.push(ChartSeries::default()),
            "catAx" | "dateAx" | "serAx" => self.axis = Some(ChartAxis::Labels),
            "valAx" | "axis" => {
                let is_first = std::mem::take(&mut self.is_scattered);
                self.axis = Some(if is_first { ChartAxis::Labels } else { ChartAxis::Values });
            }
            "title" => self.begin_words(ChartPlace::Title),
            "tx" if self.place != ChartPlace::Title => self.begin_words(ChartPlace::SeriesName),
            "cat" | "xVal" | "strDim" => {
                self.place = ChartPlace::Labels;
                self.code = None;
                self.is_scattered |= name == "xVal";
            }
            "val" | "yVal" => self.place = ChartPlace::Values,
            "numDim" => {
                self.place = ChartPlace::Values;
                self.code = Some(String::new());
            }
            "numCache" | "numLit" => {
                self.code = Some(String::new());
                self.begin_level();
            }
            "strCache" | "strLit" => {
                self.code = None;
                self.begin_level();
            }
            "lvl" => {
                self.code =
                    self.code.take().map(|_| element.attribute("formatCode").unwrap_or_default());
                self.begin_level();
            }
            "pt" => {
                self.idx = element.attribute("idx").and_then(|idx| idx.parse().ok()).unwrap_or(0);
            }
            "date1904" => self.is_1904 = element.attribute("val").as_deref() != Some("0"),
            "dataId" => {
                let id: Option<usize> = element.attribute("val").and_then(|id| id.parse().ok());
                if let Some(series) = id.and_then(|id| self.series.get_mut(id)) {
                    series.name = std::mem::take(&mut self.words);
                }
            }
            _ => {}
        }
    }

    fn begin_words(&mut self, place: ChartPlace) {
        self.place = place;
        self.words.clear();
    }

    /// Begins a level of labels.
    fn begin_level(&mut self) {
        if let Some(series) = self.series.last_mut()
            && self.place == ChartPlace::Labels
        {
            series.labels.push(ChartPoints::new());
        }
    }

    fn close(&mut self, name: &str) {
        match (name, self.place) {
            ("formatCode", _) if self.code.is_some() => {
                self.code = Some(std::mem::take(&mut self.text));
            }
            ("t" | "v", ChartPlace::Title) | ("v", ChartPlace::SeriesName) => {
                self.words.push_str(&self.text);
                self.text.clear();
            }
            ("p" | "pt", ChartPlace::Title | ChartPlace::SeriesName) => self.words.push(' '),
            // The point itself has the text in the second kind of charts.
            ("v" | "pt", ChartPlace::Labels | ChartPlace::Values) => self.end_point(),
            ("title", _) => {
                let title = std::mem::take(&mut self.words);
                match self.axis {
                    None => self.title = title,
                    Some(ChartAxis::Labels) => self.labels_title = title,
                    Some(ChartAxis::Values) => self.values_titles.push(title),
                }
                self.place = ChartPlace::Elsewhere;
            }
            ("catAx" | "dateAx" | "serAx" | "valAx" | "axis", _) => self.axis = None,
            ("tx", ChartPlace::SeriesName) => {
                if let Some(series) = self.series.last_mut().filter(|series| series.name.is_empty())
                {
                    series.name.clone_from(&self.words);
                }
                self.place = ChartPlace::Elsewhere;
            }
            ("cat" | "xVal" | "strDim" | "val" | "yVal" | "numDim" | "ser", _) => {
                self.place = ChartPlace::Elsewhere;
            }
            _ => {}
        }
    }

    fn end_point(&mut self) {
        let text = std::mem::take(&mut self.text);
        let Some(series) = self.series.last_mut().filter(|_| !text.trim().is_empty()) else {
            return;
        };
        let text = match &self.code {
            Some(code) => NumberFormat::new(code).number(&text, self.is_1904),
            None => text,
        };
        let points = match self.place {
            ChartPlace::Values => Some(&mut series.values),
            _ => series.labels.last_mut(),
        };
        if let Some(points) = points {
            points.insert(self.idx, text);
        }
    }

    fn finish(self) -> Figure {
        let mut tables = Vec::new();
        let mut rest = &self.series[..];
        while let Some((first, others)) = rest.split_first() {
            // Each series of points has its own labels.
            let num_others = others
                .iter()
                .take(MAX_COLUMNS - 2)
                .take_while(|series| series.labels == first.labels || series.labels.is_empty())
                .count();
            let (together, others) = rest.split_at(1 + num_others);
            tables.extend(table(&self.labels_title, together));
            rest = others;
        }
        let mut titles = vec![self.title];
        titles.extend(self.values_titles);
        Figure { titles, tables, ..Figure::default() }
    }
}

/// Returns the table of series with the same labels; `None` if there are no numbers.
fn table(labels_title: &str, series: &[ChartSeries]) -> Option<FigureRows> {
    if series.iter().all(|series| series.values.is_empty()) {
        return None;
    }
    let labels = series.first().map(|series| &series.labels[..]).unwrap_or_default();
    let label_idxs = labels.first().into_iter().flat_map(ChartPoints::keys);
    let value_idxs = series.iter().flat_map(|series| series.values.keys());
    let idxs: BTreeSet<usize> = label_idxs.chain(value_idxs).copied().collect();
    let names = series.iter().map(|series| series.name.trim().to_owned());
    let mut rows = vec![std::iter::once(labels_title.trim().to_owned()).chain(names).collect()];
    for idx in idxs {
        let values =
            series.iter().map(|series| series.values.get(&idx).cloned().unwrap_or_default());
        rows.push(std::iter::once(label(labels, idx)).chain(values).collect());
    }
    Some(rows)
}

/// Returns the label of a category with those of its groups, the outermost first.
fn label(levels: &[ChartPoints], idx: usize) -> String {
    let Some((innermost, outer)) = levels.split_first() else { return String::new() };
    let mut labels = Vec::new();
    for level in outer.iter().rev() {
        labels.extend(level.range(..=idx).next_back().map(|(_, label)| label.clone()));
    }
    labels.extend(innermost.get(&idx).cloned());
    labels.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[&str]) -> String {
        let points = values.iter().enumerate().filter(|(_, value)| !value.is_empty());
        points.map(|(idx, value)| format!("<c:pt idx='{idx}'><c:v>{value}</c:v></c:pt>")).collect()
    }

    fn numbers(code: &str, values: &[&str]) -> String {
        format!("<c:numCache><c:formatCode>{code}</c:formatCode>{}</c:numCache>", points(values))
    }

    fn series(name: &str, labels: &str, values: &str) -> String {
        format!(
            "<c:ser><c:tx><c:strCache>{}</c:strCache></c:tx><c:cat>{labels}</c:cat><c:val>{values}</c:val></c:ser>",
            points(&[name])
        )
    }

    fn texts(labels: &[&str]) -> String {
        format!("<c:strCache>{}</c:strCache>", points(labels))
    }

    #[track_caller]
    fn check(xml: &str, titles: &[&str], tables: &[&[&[&str]]]) {
        let figure = read(&format!("<c:chartSpace>{xml}</c:chartSpace>"));
        assert_eq!(figure.titles.iter().map(|title| title.trim()).collect::<Vec<_>>(), titles);
        assert_eq!(figure.tables, tables);
    }

    #[test]
    fn a_chart_is_a_table_with_the_formats_of_its_numbers() {
        let places = texts(&["Brest", "Emden", "007"]);
        let xml = format!(
            "<c:title><c:tx><a:p><a:r><a:t>Water</a:t></a:r></a:p></c:tx></c:title>{}{}<c:catAx><c:title><c:tx><c:v>Port</c:v>\
             </c:tx></c:title></c:catAx><c:valAx><c:title><c:tx><c:v>Metres</c:v></c:tx></c:title></c:valAx>",
            series("2020", &places, &numbers("General", &["3.5", "", "4"])),
            series("Share", &places, &numbers("0%", &["0.25", "0.5"])),
        );
        check(
            &xml,
            &["Water", "Metres"],
            &[&[
                &["Port", "2020", "Share"],
                &["Brest", "3.5", "25%"],
                &["Emden", "", "50%"],
                &["007", "4", ""],
            ]],
        );
    }

    #[test]
    fn a_group_of_categories_is_part_of_their_labels() {
        let labels = format!(
            "<c:multiLvlStrCache><c:lvl>{}</c:lvl><c:lvl>{}</c:lvl></c:multiLvlStrCache>",
            points(&["Q1", "Q2", "Q1"]),
            points(&["2024", "", "2025"]),
        );
        check(
            &series("Grain", &labels, &numbers("", &["5", "6", "7"])),
            &[""],
            &[&[&["", "Grain"], &["2024 Q1", "5"], &["2024 Q2", "6"], &["2025 Q1", "7"]]],
        );
    }

    #[test]
    fn series_with_labels_of_their_own_are_tables_of_their_own() {
        let xml = series("A", &numbers("yyyy-mm-dd", &["45292"]), &numbers("", &["1"]))
            + &series("B", &numbers("", &["7"]), &numbers("", &["2"]))
            + &series("C", "", &numbers("", &["3"]));
        check(
            &xml,
            &[""],
            &[&[&["", "A"], &["2024-01-01", "1"]], &[&["", "B", "C"], &["7", "2", "3"]]],
        );
    }

    #[test]
    fn a_chart_of_the_second_kind_is_read() {
        let xml = "<cx:data id='0'><cx:strDim type='cat'><cx:f>S!A1</cx:f><cx:lvl><cx:pt idx='0'>Stock</cx:pt></cx:lvl>\
            </cx:strDim><cx:numDim type='val'><cx:f>S!B1</cx:f><cx:lvl formatCode='0.0'><cx:pt idx='0'>9</cx:pt></cx:lvl>\
            </cx:numDim></cx:data><cx:title><cx:tx><cx:txData><cx:v>Bridge</cx:v></cx:txData></cx:tx></cx:title>\
            <cx:series><cx:tx><cx:txData><cx:f>S!B1</cx:f><cx:v>Barrels</cx:v></cx:txData></cx:tx><cx:dataId val='0'/>\
            </cx:series>";
        check(xml, &["Bridge"], &[&[&["", "Barrels"], &["Stock", "9.0"]]]);
    }

    #[test]
    fn a_chart_without_numbers_is_its_title() {
        check("<c:title><c:tx><c:v>Water</c:v></c:tx></c:title><c:ser/>", &["Water"], &[]);
    }
}
