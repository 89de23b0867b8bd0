//! Extracts the title, paragraphs, items and tables of a slide.

use super::items::Item;
use crate::figures::Figures;
use crate::flow::{self, Content, Tables};
use crate::parts::is_description;
use crate::xml::Element;

/// Placeholders whose text is the same on every slide.
const FURNITURE: &[&str] = &["sldNum", "dt", "ftr", "hdr"];

/// Elements whose text is not displayed.
const LEFT_OUT: &[&str] = &["Fallback", "extLst"];

/// Returns the pieces of a slide in the order of the file; a damaged slide ends where the damage is.
pub(super) fn read(xml: &str, figures: &Figures) -> Vec<Item> {
    let mut walk = Walk { figures: Some(figures), ..Walk::default() };
    let _ = flow::each(xml, LEFT_OUT, |content| walk.on(content));
    walk.items
}

/// Returns what the speaker has noted.
pub(super) fn read_notes(xml: &str) -> Vec<Item> {
    let mut walk = Walk { is_notes: true, ..Walk::default() };
    let _ = flow::each(xml, LEFT_OUT, |content| walk.on(content));
    walk.items
}

#[derive(Debug, Default)]
struct Walk<'a> {
    items: Vec<Item>,
    figures: Option<&'a Figures>,
    is_notes: bool,
    /// The kind of placeholder that the open shape fills.
    placeholder: Option<String>,
    title: String,
    is_text: bool,
    text: String,
    level: usize,
    marker: Option<String>,
    /// Numbers of the items of the open shape, by level.
    numbers: Vec<u32>,
    tables: Tables,
}

impl Walk<'_> {
    fn on(&mut self, content: Content<'_>) {
        match content {
            Content::Open(element) => self.open(element),
            Content::Close(name) => self.close(name),
            Content::Text(text) if self.is_text => self.text.push_str(text),
            Content::Text(_) => {}
            Content::Formula(text) => self.text.push_str(&text),
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
                    self.items.push(Item::Paragraph(description));
                }
            }
            "ph" => {
                self.placeholder = Some(element.attribute("type").unwrap_or("body".to_owned()));
            }
            "t" => self.is_text = true,
            "p" => {
                self.text.clear();
                self.level = 0;
                // The layout gives the points of the main text their bullets.
                self.marker = (!self.is_notes && self.placeholder.as_deref() == Some("body"))
                    .then(|| "-".to_owned());
            }
            "pPr" => {
                let level = element.attribute("lvl").and_then(|level| level.parse().ok());
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
            "br" => self.text.push('\n'),
            "tab" => self.text.push(' '),
            "tbl" => self.tables.begin(),
            "tr" => self.tables.begin_row(),
            "tc" => self.tables.begin_cell(1),
            "chart" => self.figure(element.relation()),
            "relIds" => self.figure(element.prefixed("dm")),
            _ => {}
        }
    }

    fn figure(&mut self, id: Option<String>) {
        let figure = self.figures.zip(id).and_then(|(figures, id)| figures.get(&id));
        self.items.extend(figure.cloned().map(Item::Figure));
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.is_text = false,
            "p" => self.end_paragraph(),
            "tc" => self.tables.end_cell(),
            "tbl" => self.items.extend(self.tables.end().map(Item::Table)),
            "sp" => {
                let title = std::mem::take(&mut self.title);
                if !title.is_empty() {
                    self.items.push(Item::Title(title));
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
            || (self.is_notes && placeholder != Some("body"))
        {
            self.items.push(Item::Furniture(text));
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
            Some(marker) => Item::Point(self.level, marker, text),
            None => Item::Paragraph(text),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::Writer;

    #[track_caller]
    fn check(xml: &str, expected: &[&str]) {
        let mut writer = Writer::default();
        read(xml, &Figures::default()).into_iter().for_each(|item| item.write(&mut writer));
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
}
