//! Recognises rows of labels above as many panels, tabs that work without a program, and headings that are buttons. Pure
//! functions.

use ego_tree::NodeRef;
use scraper::{ElementRef, Node};

/// Most labels of a row: bounds the work on a hostile page.
const MAX_LABELS: usize = 50;

/// Returns the panels that a row of labels names, in order, with their labels; empty for other elements.
pub(super) fn panels_of<'a>(row: NodeRef<'a, Node>) -> Vec<(NodeRef<'a, Node>, String)> {
    let mut labels: Vec<NodeRef<'a, Node>> = Vec::new();
    for child in elements(row) {
        match name(child) {
            "label" if labels.len() < MAX_LABELS => labels.push(child),
            "input" => {}
            _ => return Vec::new(),
        }
    }
    let panels = row.next_siblings().find(|node| node.value().is_element());
    let panels: Vec<NodeRef<'a, Node>> =
        panels.into_iter().flat_map(elements).take(MAX_LABELS + 1).collect();
    if labels.len() < 2 || panels.len() != labels.len() {
        return Vec::new();
    }
    panels.into_iter().zip(labels.into_iter().map(text)).collect()
}

/// Whether a heading has words that are on no button.
pub(super) fn has_text_beside_buttons(heading: NodeRef<'_, Node>) -> bool {
    /// Most nodes that are looked at; a page may have any number of buttons in a heading.
    const MAX_NODES: usize = 100;
    heading.descendants().take(MAX_NODES).any(|node| {
        node.value().as_text().is_some_and(|text| text.contains(char::is_alphanumeric))
            && !node.ancestors().take_while(|above| *above != heading).any(is_button)
    })
}

pub(super) fn is_button(node: NodeRef<'_, Node>) -> bool {
    node.value().as_element().is_some_and(|element| element.name() == "button")
}

fn elements(node: NodeRef<'_, Node>) -> impl Iterator<Item = NodeRef<'_, Node>> {
    node.children().filter(|child| child.value().is_element())
}

fn name(node: NodeRef<'_, Node>) -> &str {
    node.value().as_element().map_or("", |element| element.name())
}

fn text(label: NodeRef<'_, Node>) -> String {
    let texts = ElementRef::wrap(label).into_iter().flat_map(|label| label.text());
    texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}
