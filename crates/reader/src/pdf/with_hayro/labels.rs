//! Reads the page labels of a PDF, such as `iv` or `A-3`.
//!
//! ISO 32000-1, 12.4.2: a number tree maps the index of a range's first page to the style, prefix
//! and first number of the range.

use std::collections::BTreeMap;

use hayro::hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};

use super::strings;
use crate::extract::pdf::clean;
use crate::numerals::roman;

/// Most nodes of the tree that are visited.
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
struct Range {
    style: Style,
    prefix: String,
    start: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Decimal,
    UpperRoman,
    LowerRoman,
    UpperLetters,
    LowerLetters,
    /// The prefix only.
    Bare,
}

impl Range {
    fn new(dict: &Dict<'_>) -> Self {
        let style = match dict.get::<Name<'_>>(b"S").as_deref() {
            Some(b"D") => Style::Decimal,
            Some(b"R") => Style::UpperRoman,
            Some(b"r") => Style::LowerRoman,
            Some(b"A") => Style::UpperLetters,
            Some(b"a") => Style::LowerLetters,
            _ => Style::Bare,
        };
        let prefix = dict.get::<PdfString<'_>>(b"P").map(|prefix| strings::decode(&prefix));
        let start = dict.get::<u32>(b"St").unwrap_or(1).max(1);
        Self { style, prefix: prefix.unwrap_or_default(), start }
    }

    fn label(&self, offset: u32) -> String {
        let number = self.start.saturating_add(offset);
        let number = match self.style {
            Style::Decimal => number.to_string(),
            Style::LowerRoman => roman(number.into()),
            Style::UpperRoman => roman(number.into()).to_uppercase(),
            Style::LowerLetters => letters(number),
            Style::UpperLetters => letters(number).to_uppercase(),
            Style::Bare => String::new(),
        };
        let label = clean::join_lines(&clean::text(&format!("{}{number}", self.prefix)));
        label.chars().take(MAX_CHARS).collect()
    }
}

fn ranges(root: Dict<'_>) -> BTreeMap<u32, Range> {
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
                ranges.insert(first, Range::new(&range));
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
    fn check(style: Style, start: u32, expected: [&str; 3]) {
        let range = Range { style, prefix: "A-".into(), start };
        assert_eq!(
            [0, 1, 2].map(|offset| range.label(offset)),
            expected.map(|label| format!("A-{label}"))
        );
    }

    #[test]
    fn every_style_counts_as_in_the_standard() {
        check(Style::Decimal, 9, ["9", "10", "11"]);
        check(Style::LowerRoman, 3, ["iii", "iv", "v"]);
        check(Style::UpperRoman, 1998, ["MCMXCVIII", "MCMXCIX", "MM"]);
        check(Style::UpperRoman, 3_999, ["MMMCMXCIX", "4000", "4001"]);
        check(Style::LowerLetters, 25, ["y", "z", "aa"]);
        check(Style::UpperLetters, 52, ["ZZ", "AAA", "BBB"]);
        check(Style::Bare, 1, ["", "", ""]);
    }

    #[test]
    fn a_huge_number_does_not_make_a_huge_label() {
        let range = Range { style: Style::LowerLetters, prefix: "x".repeat(99), start: u32::MAX };
        assert_eq!(range.label(7).chars().count(), MAX_CHARS);
        assert_eq!(letters(u32::MAX).len(), MAX_CHARS);
    }
}
