//! Determines the marker of each list item, a dash or a number, from `numbering.xml`.

use std::collections::HashMap;

use crate::extract::reader::xml::{self, Event};

/// How the items of one level are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    is_numbered: bool,
    start: u64,
}

impl Default for Level {
    fn default() -> Self {
        Self { is_numbered: false, start: 1 }
    }
}

/// Lists by number, with their counters.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Levels by abstract list.
    levels: HashMap<String, HashMap<usize, Level>>,
    /// Abstract lists by list.
    abstract_of: HashMap<String, String>,
    /// The next number on each level, by list.
    next: HashMap<String, Vec<Option<u64>>>,
}

/// Deepest level in the format (ECMA-376, 17.9.3).
const MAX_LEVEL: usize = 8;

impl Lists {
    /// Reads the lists of the file; items of unknown lists get a dash.
    pub(super) fn read(xml: &str) -> Self {
        let mut lists = Self::default();
        let (mut abstract_id, mut list_id, mut level) = (String::new(), String::new(), 0_usize);
        let _ = xml::each(xml, |event| {
            let Event::Open(element) = event else { return };
            let value = |name: &str| element.attribute(name).unwrap_or_default();
            match element.name() {
                "abstractNum" => abstract_id = value("abstractNumId"),
                "num" => list_id = value("numId"),
                "abstractNumId" => {
                    lists.abstract_of.insert(list_id.clone(), value("val"));
                }
                "lvl" => level = value("ilvl").parse().unwrap_or(0),
                "start" | "numFmt" => {
                    let levels = lists.levels.entry(abstract_id.clone()).or_default();
                    let level = levels.entry(level).or_default();
                    if element.name() == "start" {
                        level.start = value("val").parse().unwrap_or(1);
                    } else {
                        level.is_numbered = !matches!(value("val").as_str(), "bullet" | "none");
                    }
                }
                _ => {}
            }
        });
        lists
    }

    /// Returns the marker of the next item of a list at a level, and counts it.
    pub(super) fn marker(&mut self, list: &str, level: usize) -> String {
        let level = level.min(MAX_LEVEL);
        let levels =
            self.abstract_of.get(list).and_then(|abstract_id| self.levels.get(abstract_id));
        // A list that is nested only by its style has one level.
        let known = levels.and_then(|levels| levels.get(&level).or_else(|| levels.get(&0)));
        let known = known.copied().unwrap_or_default();
        let next = self.next.entry(list.to_owned()).or_default();
        // Numbering below this level starts again.
        next.resize(level + 1, None);
        let number = next[level].unwrap_or(known.start);
        next[level] = Some(number.saturating_add(1));
        if known.is_numbered { format!("{number}.") } else { "-".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_starts_again_below_another_item() {
        let mut lists = Lists::read(
            "<w:numbering><w:abstractNum w:abstractNumId='7'>\
             <w:lvl w:ilvl='0'><w:start w:val='2'/><w:numFmt w:val='decimal'/></w:lvl>\
             <w:lvl w:ilvl='1'><w:numFmt w:val='lowerLetter'/></w:lvl></w:abstractNum>\
             <w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num></w:numbering>",
        );
        let markers = [0, 1, 1, 0, 1].map(|level| lists.marker("1", level));
        assert_eq!(markers, ["2.", "1.", "2.", "3.", "1."]);
        assert_eq!(lists.marker("9", 0), "-");
        assert_eq!(lists.marker("9", usize::MAX), "-");
    }
}
