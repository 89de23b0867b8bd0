//! Determines from `styles.xml` which styles are headings or lists, and which hide their text.

use std::collections::HashMap;

use super::values::{is_on, value};
use crate::xml::{self, Element, XmlEvent};

/// Longest chain of styles that are based on one another; a longer one is a loop.
const MAX_CHAIN: usize = 20;

/// The properties that a style of the file states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct DocxStyle {
    /// In lower case; `heading 1` in all languages of the user interface.
    name: String,
    based_on: Option<String>,
    outline_level: Option<u8>,
    list: Option<String>,
    list_level: Option<usize>,
    is_hidden: Option<bool>,
}

/// The properties of a style with those of the styles that it is based on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CompleteStyle {
    /// The level of a heading, from 1; `None` for any other style. A title is also a heading.
    pub(super) heading_level: Option<u8>,
    /// The list that the style belongs to, and the level in the list.
    pub(super) list: Option<(String, usize)>,
    /// Whether text in this style is source code.
    pub(super) is_code: bool,
    /// Whether text in this style is hidden.
    pub(super) is_hidden: bool,
}

/// Styles by id.
#[derive(Debug, Default)]
pub(super) struct DocxStyles {
    complete: HashMap<String, CompleteStyle>,
    /// The style of paragraphs that name none.
    default_paragraph: String,
    /// Whether all text is hidden that no run shows.
    hides_all: bool,
    /// Whether any style hides its text.
    pub(super) hide_text: bool,
}

impl DocxStyles {
    /// Reads the styles of the file; styles that cannot be read are skipped.
    pub(super) fn read(xml: &str) -> Self {
        let mut stated = HashMap::new();
        let mut styles = Self::default();
        let mut current: Option<(String, DocxStyle)> = None;
        let mut is_in_defaults = false;
        // Parts of a table style are for some cells only.
        let mut is_in_part = false;
        let _ = xml::each(xml, |event| match event {
            XmlEvent::Open(element) => match (element.name(), &mut current) {
                ("style", _) => {
                    let id = element.attribute("styleId").unwrap_or_default();
                    let is_default =
                        element.attribute("default").is_some_and(|on| is_on(Some(&on)));
                    if is_default && element.attribute("type").as_deref() == Some("paragraph") {
                        styles.default_paragraph.clone_from(&id);
                    }
                    current = Some((id, DocxStyle::default()));
                }
                ("docDefaults", _) => is_in_defaults = true,
                ("vanish", None) if is_in_defaults => {
                    styles.hides_all = is_on(element.attribute("val").as_deref());
                }
                ("tblStylePr", _) => is_in_part = true,
                (_, Some((_, style))) if !is_in_part => style.set(element),
                _ => {}
            },
            XmlEvent::Close("style") => {
                if let Some((id, mut style)) = current.take() {
                    if style.name.is_empty() {
                        style.name = id.to_lowercase();
                    }
                    stated.insert(id, style);
                }
            }
            XmlEvent::Close("docDefaults") => is_in_defaults = false,
            XmlEvent::Close("tblStylePr") => is_in_part = false,
            XmlEvent::Close(_) | XmlEvent::Text(_) => {}
        });
        let complete = stated.keys().map(|id| (id.clone(), complete(&stated, id)));
        styles.complete = complete.collect();
        styles.hide_text =
            styles.hides_all || styles.complete.values().any(|style| style.is_hidden);
        styles
    }

    /// Returns a style; one that is not in the file is recognised by its id.
    pub(super) fn get(&self, id: &str) -> CompleteStyle {
        let known = self.complete.get(id).cloned();
        known.unwrap_or_else(|| {
            let style = DocxStyle { name: id.to_lowercase(), ..DocxStyle::default() };
            CompleteStyle { heading_level: style.heading_level(), ..CompleteStyle::default() }
        })
    }

    /// Whether its styles hide a run that has no such property itself: the style of characters
    /// reverses that of the paragraph (ECMA-376, 17.7.3).
    pub(super) fn hide(&self, paragraph: &str, characters: &str) -> bool {
        let hides = |id: &str| self.complete.get(id).is_some_and(|style| style.is_hidden);
        let paragraph = if paragraph.is_empty() { &self.default_paragraph } else { paragraph };
        self.hides_all || hides(paragraph) != hides(characters)
    }
}

impl DocxStyle {
    fn set(&mut self, element: &Element<'_>) {
        match element.name() {
            "name" => self.name = element.attribute_or_empty("val").to_lowercase(),
            "basedOn" => self.based_on = value(element),
            "outlineLvl" => self.outline_level = element.number("val"),
            "numId" => self.list = value(element),
            "ilvl" => self.list_level = element.number("val"),
            "vanish" => self.is_hidden = Some(is_on(value(element).as_deref())),
            _ => {}
        }
    }

    fn heading_level(&self) -> Option<u8> {
        if self.name == "title" {
            return Some(1);
        }
        let number = self.name.strip_prefix("heading").map(str::trim);
        let number: Option<u8> = number.and_then(|number| number.parse().ok());
        // These levels count from 0, and 9 is body text.
        let outlined = self.outline_level.filter(|level| *level < 9).map(|level| level + 1);
        number.filter(|level| (1..=9).contains(level)).or(outlined)
    }

    fn list(&self) -> Option<(String, usize)> {
        let list = self.list.clone()?;
        // `List Bullet 2` has a separate list with one level.
        let named = self.name.strip_prefix("list ").and_then(|rest| rest.rsplit(' ').next());
        let named: Option<usize> = named.and_then(|number| number.parse().ok());
        let level = self.list_level.or(named.map(|number| number.saturating_sub(1)));
        Some((list, level.unwrap_or(0)))
    }

    fn is_code(&self) -> bool {
        matches!(self.name.as_str(), "html preformatted" | "source code" | "code" | "preformatted")
    }
}

/// Returns a style of the file with the properties of the styles that it is based on.
fn complete(stated: &HashMap<String, DocxStyle>, id: &str) -> CompleteStyle {
    let chain =
        std::iter::successors(stated.get(id), |style| stated.get(style.based_on.as_deref()?));
    let chain: Vec<&DocxStyle> = chain.take(MAX_CHAIN).collect();
    CompleteStyle {
        heading_level: chain.iter().find_map(|style| style.heading_level()),
        list: chain.iter().find_map(|style| style.list()),
        is_code: chain.iter().any(|style| style.is_code()),
        is_hidden: chain.iter().find_map(|style| style.is_hidden).unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLES: &str = "<w:styles>\
        <w:style w:styleId='Normal'><w:name w:val='Normal'/></w:style>\
        <w:style w:styleId='berschrift2'><w:name w:val='heading 2'/></w:style>\
        <w:style w:styleId='Mine'><w:name w:val='Mine'/><w:basedOn w:val='berschrift2'/></w:style>\
        <w:style w:styleId='Part'><w:name w:val='Part'/><w:pPr><w:outlineLvl w:val='0'/></w:pPr>\
        </w:style>\
        <w:style w:styleId='A'><w:name w:val='A'/><w:basedOn w:val='B'/></w:style>\
        <w:style w:styleId='B'><w:name w:val='B'/><w:basedOn w:val='A'/></w:style>\
        <w:style w:styleId='ListBullet'><w:name w:val='List Bullet'/><w:pPr><w:numPr>\
        <w:numId w:val='4'/></w:numPr></w:pPr></w:style>\
        <w:style w:styleId='ListBullet2'><w:name w:val='List Bullet 2'/><w:pPr><w:numPr>\
        <w:numId w:val='5'/></w:numPr></w:pPr></w:style></w:styles>";

    #[test]
    fn a_heading_is_recognised_by_its_name_its_level_or_its_base_style() {
        let styles = DocxStyles::read(STYLES);
        for (id, expected) in [
            ("berschrift2", Some(2)),
            ("Mine", Some(2)),
            ("Part", Some(1)),
            ("Normal", None),
            ("A", None),
            ("Heading3", Some(3)),
            ("Title", Some(1)),
            ("Nowhere", None),
        ] {
            assert_eq!(styles.get(id).heading_level, expected, "{id}");
        }
    }

    #[test]
    fn a_style_may_belong_to_a_list() {
        let styles = DocxStyles::read(STYLES);
        assert_eq!(styles.get("ListBullet").list, Some(("4".to_owned(), 0)));
        assert_eq!(styles.get("ListBullet2").list, Some(("5".to_owned(), 1)));
        assert_eq!(styles.get("Normal").list, None);
    }

    #[test]
    fn a_style_may_hide_its_text() {
        let hidden = "<w:rPr><w:vanish/></w:rPr>";
        let styles = DocxStyles::read(&format!(
            "<w:styles><w:style w:styleId='Answer'>{hidden}</w:style>\
             <w:style w:styleId='Hint'><w:basedOn w:val='Answer'/></w:style>\
             <w:style w:styleId='Shown'><w:basedOn w:val='Answer'/><w:rPr><w:vanish w:val='0'/></w:rPr>\
             </w:style><w:style w:styleId='Secret'>{hidden}</w:style>\
             <w:style w:styleId='Grid'><w:tblStylePr>{hidden}</w:tblStylePr></w:style></w:styles>"
        ));
        for (paragraph, characters, expected) in [
            ("Answer", "", true),
            ("Hint", "", true),
            ("Shown", "", false),
            ("", "Secret", true),
            ("Answer", "Secret", false),
            ("Grid", "", false),
            ("", "", false),
        ] {
            assert_eq!(styles.hide(paragraph, characters), expected, "{paragraph}, {characters}");
        }
    }

    #[test]
    fn a_paragraph_without_a_style_has_the_default_one() {
        let styles = DocxStyles::read(
            "<w:styles><w:style w:type='paragraph' w:default='1' w:styleId='N'><w:rPr><w:vanish/>\
             </w:rPr></w:style><w:style w:styleId='M'/></w:styles>",
        );
        assert!(styles.hide("", ""));
        assert!(!styles.hide("M", ""));
        let styles = DocxStyles::read(
            "<w:styles><w:docDefaults><w:rPr><w:vanish/></w:rPr></w:docDefaults></w:styles>",
        );
        assert!(styles.hide("M", ""));
        assert!(styles.hide_text);
    }
}
