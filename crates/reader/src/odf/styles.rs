//! Determines from the styles of an `OpenDocument` file which are titles or source code, and how lists are
//! numbered.

use std::collections::HashMap;

use crate::xml::{self, XmlEvent};

/// Longest chain of styles that are based on one another; a longer one is a loop.
const MAX_CHAIN: usize = 20;

/// How the items of one level of a list are marked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OdfLevel {
    start: u64,
    suffix: String,
}

/// The styles of a document.
#[derive(Debug, Default)]
pub(super) struct OdfStyles {
    /// The style that a paragraph style is based on.
    parents: HashMap<String, String>,
    /// The list style that a paragraph style states.
    lists: HashMap<String, String>,
    /// Numbered levels of list styles, by name and level from 1.
    numbered: HashMap<(String, usize), OdfLevel>,
}

impl OdfStyles {
    /// Adds the styles of a part; styles that cannot be read are skipped.
    pub(super) fn read(&mut self, xml: &str) {
        let mut list = String::new();
        let _ = xml::each(xml, |event| {
            let XmlEvent::Open(element) = event else { return };
            match element.name() {
                "style" => {
                    let [name, parent, list] =
                        element.values(["name", "parent-style-name", "list-style-name"]);
                    self.lists.extend(name.clone().zip(list));
                    self.parents.extend(name.zip(parent));
                }
                "list-style" => list = element.attribute_or_empty("name"),
                "list-level-style-number" => {
                    let level = element.number("level").unwrap_or(1);
                    // A level without a format has no number.
                    if !element.attribute_or_empty("num-format").is_empty() {
                        let suffix = element.attribute("num-suffix").filter(|suffix| suffix == ")");
                        let level_style = OdfLevel {
                            start: element.number("start-value").unwrap_or(1),
                            suffix: suffix.unwrap_or_else(|| ".".to_owned()),
                        };
                        self.numbered.insert((list.clone(), level), level_style);
                    }
                }
                _ => {}
            }
        });
    }

    /// Returns the first number of a level of a list, from 1, and the sign after it; `None` for bullets.
    pub(super) fn numbering(&self, list: &str, level: usize) -> Option<(u64, &str)> {
        let level = self.numbered.get(&(list.to_owned(), level))?;
        Some((level.start, &level.suffix))
    }

    /// Returns the list style of a paragraph style.
    pub(super) fn list_of(&self, style: &str) -> Option<&str> {
        self.chain(style).find_map(|name| self.lists.get(name)).map(String::as_str)
    }

    pub(super) fn is_title(&self, style: &str) -> bool {
        self.chain(style).any(|name| name == "Title")
    }

    pub(super) fn is_code(&self, style: &str) -> bool {
        self.chain(style).any(|name| matches!(name, "Preformatted_20_Text" | "Source_20_Code"))
    }

    /// Returns the name of a style and of those it is based on.
    fn chain<'a>(&'a self, style: &'a str) -> impl Iterator<Item = &'a str> {
        std::iter::successors(Some(style), |name| self.parents.get(*name).map(String::as_str))
            .take(MAX_CHAIN)
    }
}
