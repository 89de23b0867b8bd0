//! Determines from `styles.xml` which styles are headings or lists.

use std::collections::HashMap;

use crate::xml::{self, Event};

/// Longest chain of styles that are based on one another; a longer one is a loop.
const MAX_CHAIN: usize = 20;

/// The properties of a paragraph style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Style {
    /// In lower case; `heading 1` in all languages of the user interface.
    name: String,
    based_on: Option<String>,
    outline_level: Option<u8>,
    list: Option<String>,
    list_level: Option<usize>,
}

/// Paragraph styles by id.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    /// Reads the styles of the file; styles that cannot be read are skipped.
    pub(super) fn read(xml: &str) -> Self {
        let mut styles = HashMap::new();
        let mut current: Option<(String, Style)> = None;
        let _ = xml::each(xml, |event| match event {
            Event::Open(element) => {
                let value = || element.attribute("val");
                if element.name() == "style" {
                    let id = element.attribute("styleId").unwrap_or_default();
                    current = Some((id, Style::default()));
                } else if let Some((_, style)) = &mut current {
                    match element.name() {
                        "name" => style.name = value().unwrap_or_default().to_lowercase(),
                        "basedOn" => style.based_on = value(),
                        "outlineLvl" => {
                            style.outline_level = value().and_then(|level| level.parse().ok());
                        }
                        "numId" => style.list = value(),
                        "ilvl" => style.list_level = value().and_then(|level| level.parse().ok()),
                        _ => {}
                    }
                }
            }
            Event::Close("style") => styles.extend(current.take()),
            Event::Close(_) | Event::Text(_) => {}
        });
        Self(styles)
    }

    /// Returns the level of a heading, from 1; `None` for any other style. A title is also a
    /// heading.
    pub(super) fn heading_level(&self, id: &str) -> Option<u8> {
        self.chain(id).find_map(|(id, style)| {
            let name = if style.name.is_empty() { id.to_lowercase() } else { style.name.clone() };
            if name == "title" {
                return Some(1);
            }
            let number =
                name.strip_prefix("heading").map(str::trim).and_then(|number| number.parse().ok());
            // These levels count from 0, and 9 is body text.
            let outlined = style.outline_level.filter(|level| *level < 9).map(|level| level + 1);
            number.filter(|level| (1..=9).contains(level)).or(outlined)
        })
    }

    /// Returns the list that a style belongs to, and the level in the list.
    pub(super) fn list(&self, id: &str) -> Option<(String, usize)> {
        self.chain(id).find_map(|(_, style)| {
            // `List Bullet 2` has a separate list with one level.
            let named = style.name.strip_prefix("list ").and_then(|rest| rest.rsplit(' ').next());
            let named = named
                .and_then(|number| number.parse().ok())
                .map(|number: usize| number.saturating_sub(1));
            let level = style.list_level.or(named).unwrap_or(0);
            style.list.map(|list| (list, level))
        })
    }

    /// Whether text in this style is source code.
    pub(super) fn is_code(&self, id: &str) -> bool {
        self.chain(id).any(|(_, style)| {
            matches!(
                style.name.as_str(),
                "html preformatted" | "source code" | "code" | "preformatted"
            )
        })
    }

    /// Returns a style and the styles it is based on; a style that is not in the file is recognised
    /// by its id.
    fn chain<'a>(&'a self, id: &'a str) -> impl Iterator<Item = (&'a str, Style)> {
        let unlisted = (!self.0.contains_key(id)).then(|| (id, Style::default()));
        let listed = std::iter::successors(self.0.get_key_value(id), |(_, style)| {
            self.0.get_key_value(style.based_on.as_deref()?)
        });
        unlisted
            .into_iter()
            .chain(listed.take(MAX_CHAIN).map(|(id, style)| (id.as_str(), style.clone())))
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
        let styles = Styles::read(STYLES);
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
            assert_eq!(styles.heading_level(id), expected, "{id}");
        }
    }

    #[test]
    fn a_style_may_belong_to_a_list() {
        let styles = Styles::read(STYLES);
        assert_eq!(styles.list("ListBullet"), Some(("4".to_owned(), 0)));
        assert_eq!(styles.list("ListBullet2"), Some(("5".to_owned(), 1)));
        assert_eq!(styles.list("Normal"), None);
    }
}
