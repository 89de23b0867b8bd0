//! Extracts the text, tables, charts and diagrams of a drawing: a slide, the notes of a slide, the drawing on a sheet.

use std::collections::BTreeMap;

use crate::document::WordDestination;
use crate::extract::protocol::ReadFailure;
use crate::figures::{Figure, Figures};
use crate::flow::{self, FlowItem, FlowTables, MergedWith};
use crate::grid::{CellSpan, TableGrid};
use crate::members;
use crate::parts::is_description;
use crate::writer::BlockWriter;
use crate::xml::Element;

/// Placeholders whose text is the same on every slide.
const FURNITURE: &[&str] = &["sldNum", "dt", "ftr", "hdr"];

/// Elements whose text is not displayed.
const LEFT_OUT: &[&str] = &["Fallback", "extLst"];

/// The pieces of a drawing in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct DrawingText {
    pub(crate) items: Vec<DrawingItem>,
    /// Why it ends early.
    pub(crate) damage: Option<ReadFailure>,
}

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
    /// A text that is on every slide.
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
            Self::Furniture(text) => writer.left_out.add(WordDestination::RunningHead, &text),
        }
    }
}

/// The objects that a drawing refers to by ids.
#[derive(Debug, Default)]
pub(crate) struct DrawingLinks {
    pub(crate) figures: Figures,
    /// The names of embedded files.
    pub(crate) files: BTreeMap<String, String>,
}

/// Reads a slide or the drawing on a sheet; figures and embedded files that it does not place are at its end.
pub(crate) fn read(xml: &str, linked: DrawingLinks) -> DrawingText {
    let mut walk = DrawingWalk { linked, ..DrawingWalk::default() };
    let damage = flow::each(xml, LEFT_OUT, |content| walk.on(content)).err();
    let (mut items, DrawingLinks { figures, files }) = (walk.items, walk.linked);
    items.extend(figures.into_rest().map(DrawingItem::Figure));
    let files = files.values().map(|name| DrawingItem::Paragraph(members::reference(name)));
    items.extend(files);
    DrawingText { items, damage }
}

/// Reads the notes of the speaker on a slide.
pub(crate) fn read_notes(xml: &str) -> DrawingText {
    let mut walk = DrawingWalk { is_notes: true, ..DrawingWalk::default() };
    let damage = flow::each(xml, LEFT_OUT, |content| walk.on(content)).err();
    DrawingText { items: walk.items, damage }
}

#[derive(Debug, Default)]
struct DrawingWalk {
    items: Vec<DrawingItem>,
    linked: DrawingLinks,
    is_notes: bool,
    /// The kind of placeholder that the open shape fills.
    placeholder: Option<String>,
    title: String,
    is_text: bool,
    text: String,
    /// Whether a field is open that the program fills on every slide: the number of the slide, the date.
    is_furniture_field: bool,
    /// Whether the open paragraph has text of such a field, and other text.
    has_furniture: bool,
    has_own_text: bool,
    level: usize,
    marker: Option<String>,
    /// Numbers of the items of the open shape, by level.
    numbers: Vec<u32>,
    tables: FlowTables,
    /// Whether the next row is the head of the open table.
    has_first_row: bool,
}

/// Whether an attribute is set.
fn is_on(element: &Element<'_>, name: &str) -> bool {
    element.attribute(name).is_some_and(|value| value == "1" || value == "true")
}

impl DrawingWalk {
    fn on(&mut self, content: FlowItem<'_>) {
        match content {
            FlowItem::Open(element) => self.open(element),
            FlowItem::Close(name) => self.close(name),
            FlowItem::Text(text) if self.is_text => {
                self.text.push_str(text);
                let has_words = !text.trim().is_empty();
                self.has_furniture |= has_words && self.is_furniture_field;
                self.has_own_text |= has_words && !self.is_furniture_field;
            }
            FlowItem::Text(_) => {}
            FlowItem::Formula(text) => self.text.push_str(&text),
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "sp" | "graphicFrame" | "pic" => {
                self.placeholder = None;
                self.numbers.clear();
            }
            "cNvPr" if !self.is_notes => {
                let description = element.attribute("descr").unwrap_or_default();
                if is_description(&description) {
                    self.items.push(DrawingItem::Paragraph(description));
                }
            }
            "ph" => {
                self.placeholder = Some(element.attribute("type").unwrap_or("body".to_owned()));
            }
            "t" => self.is_text = true,
            "p" => {
                self.text.clear();
                (self.has_furniture, self.has_own_text) = (false, false);
                self.level = 0;
                // The layout gives the points of the main text their bullets.
                self.marker = (!self.is_notes && self.placeholder.as_deref() == Some("body"))
                    .then(|| "-".to_owned());
            }
            "pPr" => {
                let level = element.attribute("lvl").and_then(|level| level.parse().ok());
                // The format has nine levels, from 0.
                self.level = level.unwrap_or(0).min(8);
            }
            "buNone" => self.marker = None,
            "buChar" | "buBlip" => self.marker = Some("-".to_owned()),
            "buAutoNum" => {
                self.numbers.resize(self.level + 1, 0);
                if let Some(number) = self.numbers.last_mut() {
                    *number = number.saturating_add(1);
                    self.marker = Some(format!("{number}."));
                }
            }
            "fld" => {
                let kind = element.attribute("type").unwrap_or_default();
                self.is_furniture_field = matches!(&*kind, "slidenum" | "header" | "footer")
                    || kind.starts_with("datetime");
            }
            "br" => self.text.push('\n'),
            "tab" => self.text.push(' '),
            "tbl" => {
                self.tables.begin();
                self.has_first_row = false;
            }
            "tblPr" => self.has_first_row = is_on(element, "firstRow"),
            "tr" => {
                self.tables.begin_row();
                if std::mem::take(&mut self.has_first_row) {
                    self.tables.declare_head();
                }
            }
            "tc" => {
                self.tables.begin_cell();
                let rows = element.number("rowSpan").unwrap_or(1);
                let columns = element.number("gridSpan").unwrap_or(1);
                self.tables.span(CellSpan { rows, columns });
                if is_on(element, "hMerge") || is_on(element, "vMerge") {
                    self.tables.merge(MergedWith::Spanning);
                }
            }
            "chart" => self.figure(element.relation()),
            "relIds" => self.figure(element.prefixed("dm")),
            "oleObj" => {
                let file = element.relation().and_then(|id| self.linked.files.remove(&id));
                self.items
                    .extend(file.map(|name| DrawingItem::Paragraph(members::reference(&name))));
            }
            _ => {}
        }
    }

    fn figure(&mut self, id: Option<String>) {
        let figure = id.and_then(|id| self.linked.figures.take(&id));
        self.items.extend(figure.map(DrawingItem::Figure));
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.is_text = false,
            "fld" => self.is_furniture_field = false,
            "p" => self.end_paragraph(),
            "tc" => self.tables.end_cell(),
            "tbl" => self.items.extend(self.tables.end().map(DrawingItem::Table)),
            "sp" => {
                let title = std::mem::take(&mut self.title);
                if !title.is_empty() {
                    self.items.push(DrawingItem::Title(title));
                }
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.text);
        if self.tables.paragraph(&text, &mut Vec::new()) {
            return;
        }
        let placeholder = self.placeholder.as_deref();
        if text.trim().is_empty() {
            return;
        }
        if placeholder.is_some_and(|kind| FURNITURE.contains(&kind))
            || (self.has_furniture && !self.has_own_text)
        {
            self.items.push(DrawingItem::Furniture(text));
            return;
        }
        if matches!(placeholder, Some("title" | "ctrTitle")) {
            if !self.title.is_empty() {
                self.title.push(' ');
            }
            self.title.push_str(&text);
            return;
        }
        self.items.push(match self.marker.take() {
            Some(marker) => DrawingItem::Point(self.level, marker, text),
            None => DrawingItem::Paragraph(text),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts;

    #[track_caller]
    fn check(xml: &str, expected: &[&str]) {
        let mut writer = BlockWriter::default();
        let drawing = read(xml, DrawingLinks::default());
        drawing.items.into_iter().for_each(|item| item.write(&mut writer));
        let blocks = writer.finish();
        assert_eq!(blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>(), expected);
    }

    fn paragraph(properties: &str, text: &str) -> String {
        format!("<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>")
    }

    fn shape(kind: &str, paragraphs: &str) -> String {
        format!("<p:sp><p:nvPr>{kind}</p:nvPr><p:txBody>{paragraphs}</p:txBody></p:sp>")
    }

    #[test]
    fn points_have_their_level_and_number() {
        let number = "<a:pPr><a:buAutoNum type='arabicPeriod'/></a:pPr>";
        let xml = shape(
            "<p:ph idx='1'/>",
            &(paragraph("", "Gauges") + &paragraph("<a:pPr lvl='1'/>", "Float")),
        ) + &shape(
            "",
            &(paragraph(number, "Open") + &paragraph(number, "Read") + &paragraph("", "Done")),
        ) + &shape("<p:ph type='sldNum'/>", &paragraph("", "7"));
        check(&xml, &["- Gauges\n  - Float", "1. Open", "2. Read", "Done"]);
    }

    #[test]
    fn tables_and_descriptions_of_pictures_are_read() {
        let cell =
            |text: &str| format!("<a:tc><a:txBody>{}</a:txBody></a:tc>", paragraph("", text));
        let xml = format!(
            "<p:graphicFrame><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></p:graphicFrame>\
             <p:pic><p:cNvPr id='1' name='Picture 3' descr='The old tide house'/></p:pic>",
            cell("Code"),
            cell("Meaning"),
            cell("E23"),
            cell("dry")
        );
        check(&xml, &["| Code | Meaning |\n| --- | --- |\n| E23 | dry |", "The old tide house"]);
    }

    #[test]
    fn notes_may_be_in_any_shape_and_fields_are_furniture() {
        let field = |kind: &str, text: &str| {
            format!("<a:p><a:fld type='{kind}'><a:t>{text}</a:t></a:fld></a:p>")
        };
        let xml = shape("", &paragraph("", "Ask Maren."))
            + &shape("", &field("slidenum", "7"))
            + &shape("<p:ph type='hdr'/>", &paragraph("", "Harbour office"))
            + &shape("", &field("datetime1", "2024-05-01"));
        let furniture = |text: &str| DrawingItem::Furniture(text.to_owned());
        let expected = [
            DrawingItem::Paragraph("Ask Maren.".to_owned()),
            furniture("7"),
            furniture("Harbour office"),
            furniture("2024-05-01"),
        ];
        assert_eq!(read_notes(&xml).items, expected);
        check(
            &shape(
                "",
                "<a:p><a:r><a:t>Page </a:t></a:r><a:fld type='slidenum'><a:t>7</a:t></a:fld></a:p>",
            ),
            &["Page 7"],
        );
    }

    #[test]
    fn embedded_files_are_named_at_their_place_or_at_the_end() {
        let files = [("rId1", "late.docx"), ("rId2", "costs.xlsx")];
        let files = files.map(|(id, name)| (id.to_owned(), name.to_owned())).into();
        let xml = "<p:graphicFrame><mc:AlternateContent><mc:Choice><p:oleObj r:id='rId2'/></mc:Choice><mc:Fallback>\
                   <p:oleObj r:id='rId2'/></mc:Fallback></mc:AlternateContent></p:graphicFrame>"
            .to_owned()
            + &shape("", &paragraph("", "Ends."));
        let drawing = read(&xml, DrawingLinks { files, ..DrawingLinks::default() });
        let texts: Vec<_> = drawing.items.into_iter().filter_map(text_of).collect();
        assert_eq!(texts, ["Embedded file: costs.xlsx", "Ends.", "Embedded file: late.docx"]);
    }

    fn text_of(item: DrawingItem) -> Option<String> {
        if let DrawingItem::Paragraph(text) = item { Some(text) } else { None }
    }

    #[test]
    fn a_damaged_drawing_keeps_what_is_before_the_damage() {
        let drawing = read("<p:sld><p:sp><a:p><a:r><a:t>High water", DrawingLinks::default());
        assert_eq!(drawing.items, [DrawingItem::Paragraph("High water".to_owned())]);
        assert_eq!(drawing.damage.unwrap().detail, "it is cut off");
    }

    #[test]
    fn a_figure_is_shown_once_even_if_nothing_places_it() {
        let relations = "<Relationships><Relationship Id='a' Type='x/chart' Target='a.xml'/>\
            <Relationship Id='b' Type='x/chart' Target='b.xml'/></Relationships>";
        let chart = |title: &str| {
            format!(
                "<c:chart><c:title><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:title></c:chart>"
            )
        };
        let bytes = parts::archive(&[
            ("_rels/s.xml.rels", relations),
            ("a.xml", &chart("Unplaced")),
            ("b.xml", &chart("Placed")),
        ]);
        let mut archive = parts::open(&bytes).unwrap();
        let related = parts::relations(&mut archive, "s.xml").unwrap();
        let figures = Figures::read(&mut archive, &related);
        let xml = "<p:sld><c:chart r:id='b'/><c:chart r:id='b'/>".to_owned()
            + &shape("", &paragraph("", "Ends."));
        let drawing = read(&xml, DrawingLinks { figures, ..DrawingLinks::default() });
        let mut writer = BlockWriter::default();
        drawing.items.into_iter().for_each(|item| item.write(&mut writer));
        let texts: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert_eq!(texts, ["Placed", "Ends.", "Unplaced"]);
    }
}
