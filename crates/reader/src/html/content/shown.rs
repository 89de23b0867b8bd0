//! Decides which elements of a page are displayed as text at all.

use ego_tree::NodeRef;
use scraper::node::Element;
use scraper::{ElementRef, Node};

use crate::document::WordDestination;

/// Elements without text, or whose text is never displayed, also those of drawings.
const NEVER_SHOWN: &[&str] = &[
    "audio", "canvas", "datalist", "defs", "desc", "dialog", "embed", "head", "iframe", "input",
    "metadata", "progress", "rp", "rt", "symbol", "title", "video",
];

/// Elements whose text is for programs.
const SOURCE: &[&str] = &["noscript", "script", "style", "template"];

/// Elements with which a page is used; their text is part of a message, which has no controls.
const CONTROLS: &[&str] = &["button", "menu", "option", "select", "textarea"];

/// Whether an element has no text for people.
pub(crate) fn is_source(element: &Element) -> bool {
    // The text of a shadow root is displayed.
    SOURCE.contains(&element.name()) && element.attr("shadowrootmode").is_none()
}

/// Returns why the text of an element is never read; `None` if it is displayed as text.
pub(super) fn hides(node: NodeRef<'_, Node>, element: &Element) -> Option<WordDestination> {
    if CONTROLS.contains(&element.name()) || is_permalink(node, element) {
        return Some(WordDestination::Menu);
    }
    let is_out = element.name() == "object" || element.attrs().any(is_aria_hidden);
    if is_out { Some(WordDestination::Undisplayed) } else { hides_in_message(node, element) }
}

/// The same for an element of a message.
pub(super) fn hides_in_message(
    node: NodeRef<'_, Node>,
    element: &Element,
) -> Option<WordDestination> {
    let is_out = NEVER_SHOWN.contains(&element.name()) || is_source(element);
    (is_out || is_hidden(node, element)).then_some(WordDestination::Undisplayed)
}

/// Whether an element may be a panel that is closed at first.
pub(super) fn is_closed(node: NodeRef<'_, Node>, element: &Element) -> bool {
    (is_hidden(node, element)
        || element.attrs().any(is_aria_hidden) && element.attr("role") == Some("tabpanel"))
        && !NEVER_SHOWN.contains(&element.name())
}

// All elements are asked; most have no attributes, and to look one up by its name takes longer than to read all.
fn is_hidden(node: NodeRef<'_, Node>, element: &Element) -> bool {
    element.attrs().any(|(name, value)| match name {
        "hidden" => true,
        "style" => {
            let style = value.replace(' ', "").to_ascii_lowercase();
            style.contains("display:none") && !is_formula(node)
        }
        _ => false,
    })
}

fn is_aria_hidden(attribute: (&str, &str)) -> bool {
    attribute == ("aria-hidden", "true")
}

/// Whether an element begins with a formula. `MediaWiki` hides formulas behind pictures of them.
fn is_formula(node: NodeRef<'_, Node>) -> bool {
    let mut elements = node.children().filter_map(|child| child.value().as_element());
    elements.next().is_some_and(|element| element.name() == "math")
}

/// Whether an element is the link symbol next to a heading.
fn is_permalink(node: NodeRef<'_, Node>, element: &Element) -> bool {
    element.name() == "a"
        && ElementRef::wrap(node).is_some_and(|link| {
            let text: String = link.text().take(3).collect();
            matches!(text.trim(), "¶" | "#" | "§" | "🔗" | "\u{F0C1}")
        })
}
