//! Finds elements of a page, and recognises their kinds by their names.

use scraper::{ElementRef, Selector};

/// Elements within a line of text; all others begin and end a line.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "math", "nobr", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tspan", "tt", "u", "var", "wbr",
];

/// Whether an element is part of a line of text.
pub(super) fn is_inline(name: &str) -> bool {
    INLINE.contains(&name)
}

pub(super) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Returns the level of a heading; 0 for other elements.
pub(super) fn level(name: &str) -> u8 {
    if is_heading(name) { name.as_bytes()[1] - b'0' } else { 0 }
}

/// Returns the elements below `root` that match a selector, which must be valid.
pub(super) fn select<'a>(
    root: ElementRef<'a>,
    selector: &str,
) -> impl Iterator<Item = ElementRef<'a>> {
    let selector = Selector::parse(selector).ok();
    let found = selector.map(|selector| root.select(&selector).collect::<Vec<_>>());
    found.unwrap_or_default().into_iter()
}
