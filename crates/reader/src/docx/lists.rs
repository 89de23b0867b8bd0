//! Determines the marker of each list item, a dash or a number, from `numbering.xml`.

use std::collections::HashMap;

use crate::numerals::roman;
use crate::xml::{self, XmlEvent};

/// The marker of an item without a number.
pub(super) const BULLET: &str = "-";

/// How the items of one level are marked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DocxLevel {
    /// The name of the number format (ECMA-376, 17.18.59); `None` for a bullet.
    format: Option<String>,
    start: u64,
    /// The marker with `%1` to `%9` for the numbers of the levels.
    text: String,
}

impl Default for DocxLevel {
    fn default() -> Self {
        Self { format: None, start: 1, text: String::new() }
    }
}

/// Lists by number, with their counters.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Levels by abstract list.
    levels: HashMap<String, HashMap<usize, DocxLevel>>,
    /// Abstract lists by list.
    abstract_of: HashMap<String, String>,
    /// The levels at which a list starts again, with the first number.
    restarts: HashMap<String, HashMap<usize, u64>>,
    /// The last number on each level, by abstract list.
    last: HashMap<String, Vec<Option<u64>>>,
}

/// Deepest level in the format (ECMA-376, 17.9.3).
const MAX_LEVEL: usize = 8;

impl Lists {
    /// Reads the lists of the file; items of unknown lists get a dash.
    pub(super) fn read(xml: &str) -> Self {
        let mut lists = Self::default();
        let (mut abstract_id, mut list_id, mut level) = (String::new(), String::new(), 0_usize);
        let mut is_abstract = false;
        let _ = xml::each(xml, |event| {
            let XmlEvent::Open(element) = event else { return };
            match element.name() {
                "abstractNum" => {
                    abstract_id = element.attribute_or_empty("abstractNumId");
                    is_abstract = true;
                }
                "num" => {
                    list_id = element.attribute_or_empty("numId");
                    is_abstract = false;
                }
                "abstractNumId" => {
                    lists.abstract_of.insert(list_id.clone(), element.attribute_or_empty("val"));
                }
                "lvl" | "lvlOverride" => level = element.number("ilvl").unwrap_or(0),
                "startOverride" => {
                    let start = element.number("val").unwrap_or(1);
                    lists.restarts.entry(list_id.clone()).or_default().insert(level, start);
                }
                // Formats in `num` override single levels of a list; only their starts are heeded.
                "start" | "numFmt" | "lvlText" if is_abstract => {
                    let levels = lists.levels.entry(abstract_id.clone()).or_default();
                    let level = levels.entry(level).or_default();
                    match element.name() {
                        "start" => level.start = element.number("val").unwrap_or(1),
                        "lvlText" => level.text = element.attribute_or_empty("val"),
                        _ => {
                            let format = element.attribute_or_empty("val");
                            let is_number = !matches!(format.as_str(), "bullet" | "none");
                            level.format = is_number.then_some(format);
                        }
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
        // Lists with the same abstract list count on together.
        let abstract_id = self.abstract_of.get(list).map_or(list, String::as_str);
        let levels = self.levels.get(abstract_id);
        // A list that is nested only by its style has one level.
        let of_level = |level: usize| levels.and_then(|levels| levels.get(&level));
        let known = of_level(level).or_else(|| of_level(0)).cloned().unwrap_or_default();
        let last = self.last.entry(abstract_id.to_owned()).or_default();
        let restart = self.restarts.get_mut(list).and_then(|restarts| restarts.remove(&level));
        // Numbering below this level starts again.
        last.resize(level + 1, None);
        let number = match (restart, last[level]) {
            (Some(start), _) => start,
            (None, Some(last)) => last.saturating_add(1),
            (None, None) => known.start,
        };
        last[level] = Some(number);
        let Some(format) = &known.format else { return BULLET.to_owned() };
        if !known.text.contains('%') {
            return format!("{}.", spelt(number, format));
        }
        let mut text = known.text.clone();
        for idx in 0..=MAX_LEVEL {
            let place = format!("%{}", idx + 1);
            if text.contains(&place) {
                let of_idx = of_level(idx);
                let start = of_idx.map_or(1, |level| level.start);
                let number = last.get(idx).copied().flatten().unwrap_or(start);
                let format = of_idx.and_then(|level| level.format.as_deref()).unwrap_or(format);
                text = text.replace(&place, &spelt(number, format));
            }
        }
        text.trim().to_owned()
    }
}

fn spelt(number: u64, format: &str) -> String {
    match format {
        "lowerLetter" => letters(number).to_lowercase(),
        "upperLetter" => letters(number),
        "lowerRoman" => roman(number),
        "upperRoman" => roman(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        _ => number.to_string(),
    }
}

/// Counts as Word does: A to Z, AA to ZZ, AAA.
fn letters(number: u64) -> String {
    // Ten letters: a longer row says less than its number, and a file may ask for millions.
    const MOST: u64 = 26 * 10;
    if number == 0 || number > MOST {
        return number.to_string();
    }
    let letter = u8::try_from((number - 1) % 26).map_or('A', |idx| char::from(b'A' + idx));
    let count = usize::try_from((number - 1) / 26 + 1).unwrap_or(1);
    letter.to_string().repeat(count)
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
        assert_eq!(markers, ["2.", "a.", "b.", "3.", "a."]);
        assert_eq!(lists.marker("9", 0), "-");
        assert_eq!(lists.marker("9", usize::MAX), "-");
    }

    #[test]
    fn numbers_are_as_shown() {
        let mut lists = Lists::read(
            "<w:numbering><w:abstractNum w:abstractNumId='7'>\
             <w:lvl w:ilvl='0'><w:numFmt w:val='upperRoman'/><w:lvlText w:val='%1)'/></w:lvl>\
             <w:lvl w:ilvl='1'><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.%2'/></w:lvl></w:abstractNum>\
             <w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>\
             <w:num w:numId='2'><w:abstractNumId w:val='7'/></w:num>\
             <w:num w:numId='3'><w:abstractNumId w:val='7'/><w:lvlOverride w:ilvl='0'>\
             <w:startOverride w:val='9'/></w:lvlOverride></w:num></w:numbering>",
        );
        let markers = [("1", 0), ("1", 1), ("1", 1), ("2", 0), ("3", 0), ("3", 0)]
            .map(|(list, level)| lists.marker(list, level));
        assert_eq!(markers, ["I)", "I.1", "I.2", "II)", "IX)", "X)"]);
        assert_eq!(
            [letters(27), letters(0), roman(1994), roman(u64::MAX)],
            ["AA", "0", "mcmxciv", "18446744073709551615"]
        );
    }
}
