//! Decides which elements of a page are displayed as text at all.

use ego_tree::NodeRef;
use scraper::node::Element;
use scraper::{ElementRef, Node};

/// Elements without text, or whose text is never displayed.
const NEVER_READ: &[&str] = &[
    "audio", "button", "canvas", "datalist", "dialog", "embed", "head", "iframe", "input", "menu",
    "noscript", "object", "option", "progress", "rp", "rt", "script", "select", "style", "svg",
    "template", "textarea", "video",
];

/// Those among them whose text is part of a message: it has no controls.
const READ_IN_MESSAGES: &[&str] = &["button", "menu", "object", "option", "select", "textarea"];

/// Whether the text of an element is displayed.
pub(in super::super) fn is_shown(node: NodeRef<'_, Node>, element: &Element) -> bool {
    !NEVER_READ.contains(&element.name())
        && element.attr("aria-hidden") != Some("true")
        && !is_hidden(node, element)
        && !is_permalink(node, element)
}

/// Whether the text of an element is displayed in a message.
pub(in super::super) fn is_shown_in_message(node: NodeRef<'_, Node>, element: &Element) -> bool {
    let name = element.name();
    (READ_IN_MESSAGES.contains(&name) || !NEVER_READ.contains(&name)) && !is_hidden(node, element)
}

fn is_hidden(node: NodeRef<'_, Node>, element: &Element) -> bool {
    let style = element.attr("style").unwrap_or_default().replace(' ', "").to_ascii_lowercase();
    element.attr("hidden").is_some() || style.contains("display:none") && !is_formula(node)
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
