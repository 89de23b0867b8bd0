//! Tells paragraphs around the content that a reader may miss from offers and notices. Pure functions.

use ego_tree::NodeRef;
use scraper::Node;

use super::super::elements::is_heading;
use super::cues;

/// Whether a text holds a sentence and is as long as a paragraph; shorter ones, links and headings announce other pages.
pub(crate) fn is_paragraph(text: NodeRef<'_, Node>) -> bool {
    // Teasers and captions are shorter.
    const MIN_WORDS: usize = 15;
    let Some(words) = text.value().as_text().map(|text| text.trim()) else { return false };
    let parent = text.parent().and_then(|parent| parent.value().as_element());
    words.contains(['.', '!', '?', '\u{3002}'])
        && words.split_whitespace().nth(MIN_WORDS - 1).is_some()
        && !cues::is_notice(words)
        && !parent.is_some_and(|parent| parent.name() == "a" || is_heading(parent.name()))
        && !is_in_offer(text)
}

/// Whether a text is near a form, near a heading that is a link, or in an item with a link: it is about that, or about
/// another page.
fn is_in_offer(text: NodeRef<'_, Node>) -> bool {
    /// How far up is looked, and at how many nodes there: this is asked for each text around the content.
    const MAX_UP: usize = 4;
    const MAX_NEAR: usize = 100;
    let mut items =
        text.ancestors().take(MAX_UP).filter(|above| is_named(*above, |name| name == "li"));
    if items.any(|item| item.descendants().take(MAX_NEAR).any(is_link)) {
        return true;
    }
    let near = text.ancestors().take(MAX_UP).flat_map(|above| above.descendants().take(MAX_NEAR));
    near.into_iter().any(|node| {
        is_named(node, |name| matches!(name, "form" | "input" | "textarea"))
            || is_named(node, is_heading)
                && (node.ancestors().take(MAX_UP).any(is_link)
                    || node.descendants().take(MAX_UP).any(is_link))
    })
}

/// Whether a node is an element with a name that `is_name` accepts.
fn is_named(node: NodeRef<'_, Node>, is_name: impl Fn(&str) -> bool) -> bool {
    node.value().as_element().is_some_and(|element| is_name(element.name()))
}

fn is_link(node: NodeRef<'_, Node>) -> bool {
    is_named(node, |name| name == "a")
}
