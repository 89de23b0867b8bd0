//! Reads annotations: the comments of people in texts, on slides and on cells.

use crate::flow::FlowItem;
use crate::remarks::Remark;
use crate::xml::Element;

/// Most words that are quoted of the text that an annotation is about, which is read in its place in full.
const MAX_QUOTED_WORDS: usize = 12;

/// An annotation that is being read.
#[derive(Debug, Default)]
pub(super) struct Annotation {
    /// Its name, which the end of the text that it is about repeats.
    pub(super) name: String,
    pub(super) remark: Remark,
    text: String,
    /// Number of open elements in it.
    depth: usize,
}

impl Annotation {
    pub(super) fn begin(element: &Element<'_>) -> Self {
        Self { name: element.attribute("name").unwrap_or_default(), ..Self::default() }
    }

    /// Reads the next item in it; returns whether it has ended.
    pub(super) fn on(&mut self, content: &FlowItem<'_>) -> bool {
        match content {
            FlowItem::Open(element) => {
                if self.depth == 0 {
                    self.text.clear();
                }
                self.depth += 1;
                match element.name() {
                    "s" | "tab" => self.text.push(' '),
                    "line-break" => self.text.push('\n'),
                    _ => {}
                }
            }
            FlowItem::Text(text) => self.text.push_str(&text.replace(['\n', '\r', '\t'], " ")),
            FlowItem::Formula(text) => self.text.push_str(text),
            FlowItem::Close(_) if self.depth == 0 => return true,
            FlowItem::Close(name) => {
                self.depth -= 1;
                match *name {
                    "creator" if self.depth == 0 => {
                        self.remark.author = std::mem::take(&mut self.text);
                    }
                    "date" | "date-string" if self.depth == 0 => {
                        self.remark.date = std::mem::take(&mut self.text);
                    }
                    "p" | "h" => {
                        self.remark.text.push_str(&std::mem::take(&mut self.text));
                        self.remark.text.push('\n');
                    }
                    _ => {}
                }
            }
        }
        false
    }
}

/// Returns the text that an annotation is about, in quotation marks; long text ends early.
pub(super) fn quoted(text: &str) -> String {
    let mut words = text.split_whitespace();
    let quoted = words.by_ref().take(MAX_QUOTED_WORDS).collect::<Vec<_>>().join(" ");
    let end = if words.next().is_some() { " …" } else { "" };
    if quoted.is_empty() { quoted } else { format!("“{quoted}{end}”") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow;

    #[test]
    fn an_annotation_has_an_author_a_day_and_paragraphs() {
        let xml = "<office:annotation office:name='n1'><dc:creator>Maren Voss</dc:creator><dc:date>2024-05-01T10:00:00</dc:date>\
                   <meta:creator-initials>MV</meta:creator-initials><text:list><text:list-item><text:p>Late<text:s/>again, \
                   <text:date>1 May</text:date></text:p></text:list-item></text:list><text:p>Why?</text:p></office:annotation>";
        let mut open: Option<Annotation> = None;
        let mut found = None;
        flow::each(xml, &[], |content| match &mut open {
            Some(annotation) => {
                if annotation.on(&content) {
                    found = open.take();
                }
            }
            None => {
                if let FlowItem::Open(element) = content {
                    open = Some(Annotation::begin(element));
                }
            }
        })
        .unwrap();
        let Annotation { name, remark, .. } = found.unwrap();
        assert_eq!((&*name, &*remark.author), ("n1", "Maren Voss"));
        assert_eq!(remark.date, "2024-05-01T10:00:00");
        assert_eq!(remark.text, "Late again, 1 May\nWhy?\n");
    }

    #[test]
    fn long_text_is_not_quoted_whole() {
        assert_eq!(quoted(" the  rope "), "“the rope”");
        assert_eq!(quoted(" "), "");
        assert_eq!(quoted(&"ab ".repeat(13)), format!("“{}…”", "ab ".repeat(12)));
    }
}
