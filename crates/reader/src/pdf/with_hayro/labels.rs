//! Reads the page labels of a PDF, such as `iv` or `A-3`.
//!
//! ISO 32000-1, 12.4.2: a number tree maps the index of a range's first page to the style, prefix
//! and first number of the range.

use std::collections::BTreeMap;

use hayro::hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};

use super::strings;
use crate::extract::pdf::clean;
use crate::numerals::roman;

/// Most nodes of the tree that are visited: it may be a circle.
const MAX_NODES: usize = 10_000;

/// Longest label in characters, as labels are shown in citations.
const MAX_CHARS: usize = 32;

/// Returns the label of each page in order; empty if all labels are page numbers.
pub(super) fn of(catalog: &Dict<'_>, num_pages: u32) -> Vec<String> {
    let Some(tree) = catalog.get::<Dict<'_>>(b"PageLabels") else { return Vec::new() };
    let ranges = ranges(tree);
    let labels: Vec<String> = (0..num_pages)
        .map(|idx| match ranges.range(..=idx).next_back() {
            Some((first, range)) => range.label(idx - first),
            None => String::new(),
        })
        .collect();
    let is_informative = (1_u32..)
        .zip(&labels)
        .any(|(number, label)| !label.is_empty() && *label != number.to_string());
    if is_informative { labels } else { Vec::new() }
}

/// A range of pages that are numbered in one way.
struct LabelRange {
    /// The name of the style; empty for the prefix only.
    style: Vec<u8>,
    prefix: String,
    start: u32,
}

impl LabelRange {
    fn new(dict: &Dict<'_>) -> Self {
        let style = dict.get::<Name<'_>>(b"S").map(|style| style.to_vec());
        let prefix = dict.get::<PdfString<'_>>(b"P").map(|prefix| strings::decode(&prefix));
        let start = dict.get::<u32>(b"St").unwrap_or(1).max(1);
        Self { style: style.unwrap_or_default(), prefix: prefix.unwrap_or_default(), start }
    }

    fn label(&self, offset: u32) -> String {
        let number = self.start.saturating_add(offset);
        let number = match &*self.style {
            b"D" => number.to_string(),
            b"r" => roman(number.into()),
            b"R" => roman(number.into()).to_uppercase(),
            b"a" => letters(number),
            b"A" => letters(number).to_uppercase(),
            _ => String::new(),
        };
        let label = clean::join_lines(&clean::text(&format!("{}{number}", self.prefix)));
        label.chars().take(MAX_CHARS).collect()
    }
}

fn ranges(root: Dict<'_>) -> BTreeMap<u32, LabelRange> {
    let mut ranges = BTreeMap::new();
    let mut pending = vec![root];
    let mut num_nodes = 0;
    while let Some(node) = pending.pop()
        && num_nodes < MAX_NODES
    {
        num_nodes += 1;
        let leaves = node.get::<Array<'_>>(b"Nums");
        let mut leaves = leaves.iter().flat_map(Array::iter::<Object<'_>>);
        while let (Some(first), Some(range)) = (leaves.next(), leaves.next()) {
            if let (Object::Number(first), Object::Dict(range)) = (first, range)
                && let Ok(first) = u32::try_from(first.as_i64())
            {
                ranges.insert(first, LabelRange::new(&range));
            }
        }
        let kids = node.get::<Array<'_>>(b"Kids");
        pending.extend(kids.iter().flat_map(Array::iter::<Dict<'_>>));
    }
    ranges
}

/// Returns `a` to `z` for 1 to 26, then `aa` to `zz`, `aaa` and so on.
fn letters(number: u32) -> String {
    let (round, letter) = ((number - 1) / 26, (number - 1) % 26);
    let letter = char::from_u32(u32::from('a') + letter).unwrap_or('a');
    let length = usize::try_from(round).unwrap_or(MAX_CHARS).min(MAX_CHARS - 1) + 1;
    std::iter::repeat_n(letter, length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(style: &str, start: u32, expected: [&str; 3]) {
        let range = LabelRange { style: style.into(), prefix: "A-".into(), start };
        assert_eq!(
            [0, 1, 2].map(|offset| range.label(offset)),
            expected.map(|label| format!("A-{label}"))
        );
    }

    #[test]
    fn every_style_counts_as_in_the_standard() {
        check("D", 9, ["9", "10", "11"]);
        check("r", 3, ["iii", "iv", "v"]);
        check("R", 1998, ["MCMXCVIII", "MCMXCIX", "MM"]);
        check("R", 3_999, ["MMMCMXCIX", "4000", "4001"]);
        check("a", 25, ["y", "z", "aa"]);
        check("A", 52, ["ZZ", "AAA", "BBB"]);
        check("", 1, ["", "", ""]);
    }

    #[test]
    fn a_huge_number_does_not_make_a_huge_label() {
        let range = LabelRange { style: b"a".to_vec(), prefix: "x".repeat(99), start: u32::MAX };
        assert_eq!(range.label(7).chars().count(), MAX_CHARS);
        assert_eq!(letters(u32::MAX).len(), MAX_CHARS);
    }
}
