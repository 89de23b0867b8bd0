//! Finds elements of a page by a selector.

use scraper::{ElementRef, Selector};

/// Returns the elements below `root` that match a selector, which must be valid.
pub(super) fn select<'a>(
    root: ElementRef<'a>,
    selector: &str,
) -> impl Iterator<Item = ElementRef<'a>> {
    let selector = Selector::parse(selector).ok();
    let found = selector.map(|selector| root.select(&selector).collect::<Vec<_>>());
    found.unwrap_or_default().into_iter()
}
