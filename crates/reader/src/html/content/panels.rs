//! Finds panels that are closed at first, such as tabs and answers, and what names them. Pure functions.
//!
//! A page may hide anything, also text that is not for people. So a hidden element is a panel only if something that is
//! displayed names it: a control that refers to it, or the button, heading or line next to it.

use std::collections::{HashMap, HashSet};

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use super::super::elements::is_heading;
use super::{shown, tabs};

/// Longest label of a panel, in characters: a question may be a label, but a paragraph is not.
const MAX_LABEL: usize = 150;

/// Most nodes of a panel that are examined. Panels may be nested, and each is examined again for every one around it.
const MAX_BELOW: usize = 5_000;

/// A panel of which this share is in links is a menu, in percent.
const MAX_LINKED: usize = 60;

/// Attributes of a control with the id of the element that it opens.
const REFERENCES: &[&str] = &["aria-controls", "data-target", "data-bs-target", "href"];

/// Attributes of a button that opens a panel, whether or not it says which.
const TOGGLES: &[&str] = &["aria-controls", "aria-expanded", "data-bs-toggle", "data-toggle"];

/// The panels of a page.
#[derive(Default)]
pub(crate) struct TogglePanels {
    /// Hidden elements that are read all the same.
    opened: HashSet<NodeId>,
    /// Hidden elements whose text is displayed elsewhere.
    copies: HashSet<NodeId>,
    /// Panels and their labels, where these are not read as part of the text.
    labels: HashMap<NodeId, String>,
    /// Rows of labels, each of which is read with its panel.
    rows: HashSet<NodeId>,
    /// Buttons whose text is read.
    buttons: HashSet<NodeId>,
}

impl TogglePanels {
    /// Finds the panels of a page.
    pub(super) fn of_page(html: &Html) -> Self {
        let mut panels = Self::default();
        let mut texts: HashSet<&str> = HashSet::new();
        // The controls come first: a panel is known only by the control that names it, which may be after it.
        let controls = Controls::of_page(html, &mut texts);
        let mut skipped: Option<NodeId> = None;
        for edge in html.tree.root().traverse() {
            match edge {
                Edge::Open(node) if skipped.is_none() => {
                    let Node::Element(element) = node.value() else { continue };
                    if shown::is_closed(node, element) {
                        let label = controls.label(node, element).filter(|_| is_content(node));
                        let is_copy = is_copy(node, &texts);
                        match label {
                            Some(label) if !is_copy => {
                                panels.open(node, label);
                                texts.extend(long_texts(node));
                            }
                            label => {
                                skipped = Some(node.id());
                                if label.is_some() {
                                    panels.copies.insert(node.id());
                                }
                            }
                        }
                    } else if element.name() == "button" {
                        panels.button(node);
                    } else if element.name() == "label" {
                        panels.row(node);
                    } else if is_panel(element)
                        && let Some(tab) = controls.name(node, element)
                    {
                        panels.labels.insert(node.id(), tab);
                    }
                }
                Edge::Close(node) if skipped == Some(node.id()) => skipped = None,
                _ => {}
            }
        }
        panels
    }

    /// Whether the text of a hidden element is displayed elsewhere.
    pub(super) fn copies(&self, node: NodeId) -> bool {
        self.copies.contains(&node)
    }

    /// Whether a hidden element or a button is read.
    pub(super) fn shows(&self, node: NodeId) -> bool {
        self.opened.contains(&node) || self.buttons.contains(&node)
    }

    /// Returns the label of a panel that has no heading.
    pub(crate) fn label(&self, node: NodeId) -> Option<&str> {
        self.labels.get(&node).map(String::as_str)
    }

    /// Whether an element is a row of labels that are read with their panels.
    pub(super) fn is_row(&self, node: NodeId) -> bool {
        self.rows.contains(&node)
    }

    /// Reads the row of a label.
    fn row(&mut self, label: NodeRef<'_, Node>) {
        let Some(row) = label.parent().filter(|row| !self.rows.contains(&row.id())) else { return };
        // Only the first label of a row is asked.
        if label
            .prev_siblings()
            .any(|node| node.value().as_element().is_some_and(|node| node.name() == "label"))
        {
            return;
        }
        for (panel, label) in tabs::panels_of(row) {
            self.rows.insert(row.id());
            self.labels.entry(panel.id()).or_insert(label);
        }
    }

    fn open(&mut self, node: NodeRef<'_, Node>, label: Label) {
        self.opened.insert(node.id());
        if let Label::Text(text) = label {
            self.labels.insert(node.id(), text);
        }
    }

    /// Reads a button that names the element after it.
    fn button(&mut self, node: NodeRef<'_, Node>) {
        let heading = node.ancestors().take(3).find(|node| {
            node.value().as_element().is_some_and(|element| {
                is_heading(element.name()) || matches!(element.name(), "summary" | "dt")
            })
        });
        if let Some(heading) = heading {
            if !tabs::has_text_beside_buttons(heading) {
                self.buttons.insert(node.id());
            }
            return;
        }
        let Some(panel) = next_element(node).filter(|next| is_block(*next)) else { return };
        let id = panel.value().as_element().and_then(Element::id);
        let mut targets = node.value().as_element().into_iter().flat_map(targets);
        if targets.any(|target| Some(target.trim_start_matches('#')) != id) {
            return;
        }
        // A button that does not state that it opens something must be one of several.
        if let Some(text) = text_of(node)
            && (is_toggle(node)
                || next_element(panel).is_some_and(tabs::is_button)
                || previous_element(node).and_then(previous_element).is_some_and(tabs::is_button))
        {
            self.labels.entry(panel.id()).or_insert(text);
        }
    }
}

/// The source of the name of a panel.
enum Label {
    /// A text that is not read elsewhere.
    Text(String),
    /// A heading or a line before it, which is read.
    Before,
}

/// The displayed elements that name others by their ids.
struct Controls<'a> {
    /// The text of the control that refers to an id.
    by_target: HashMap<String, String>,
    /// The elements that have ids: panels may refer to their labels.
    by_id: HashMap<&'a str, NodeRef<'a, Node>>,
}

impl<'a> Controls<'a> {
    /// Finds the controls, and the displayed texts that are long enough to be compared.
    fn of_page(html: &'a Html, texts: &mut HashSet<&'a str>) -> Self {
        let mut controls = Self { by_target: HashMap::new(), by_id: HashMap::new() };
        let mut skipped: Option<NodeId> = None;
        for edge in html.tree.root().traverse() {
            match edge {
                Edge::Open(node) if skipped.is_none() => {
                    let Node::Element(element) = node.value() else {
                        texts.extend(long_text(node));
                        continue;
                    };
                    if shown::is_closed(node, element) {
                        skipped = Some(node.id());
                        continue;
                    }
                    for target in targets(element) {
                        let id = target.trim_start_matches('#');
                        let is_reference =
                            id.len() < target.len() || element.attr("href") != Some(target);
                        if is_reference
                            && !id.is_empty()
                            && let Some(text) = text_of(node)
                        {
                            controls.by_target.entry(id.to_owned()).or_insert(text);
                        }
                    }
                    if let Some(id) = element.id() {
                        controls.by_id.entry(id).or_insert(node);
                    }
                }
                Edge::Close(node) if skipped == Some(node.id()) => skipped = None,
                _ => {}
            }
        }
        controls
    }

    /// Returns the text of the control that refers to an element, or that it refers to.
    fn name(&self, node: NodeRef<'_, Node>, element: &Element) -> Option<String> {
        let label = element.attr("aria-labelledby").and_then(|id| self.by_id.get(id));
        let name = label.and_then(|label| text_of(*label));
        let name = name.or_else(|| self.by_target.get(element.id()?).cloned());
        name.or_else(|| tab_of(node, element))
    }

    /// Returns what names a hidden element.
    fn label(&self, node: NodeRef<'_, Node>, element: &Element) -> Option<Label> {
        if let Some(text) = self.name(node, element) {
            let is_before = previous_element(node)
                .is_some_and(|before| text_of(before).as_ref() == Some(&text) && is_read(before));
            return Some(if is_before { Label::Before } else { Label::Text(text) });
        }
        let before = previous_element(node);
        let after = next_element(node);
        if let Some(before) = before
            && let Some(text) = text_of(before)
        {
            let name = before.value().as_element().map_or("", Element::name);
            if is_control(before) {
                let is_read = name != "button";
                return Some(if is_read { Label::Before } else { Label::Text(text) });
            }
            let is_named = if is_heading(name) {
                name != "h1"
                    && after.is_none_or(|after| {
                        after.value().as_element().is_some_and(|after| is_heading(after.name()))
                    })
            } else {
                after.is_none() && before.prev_siblings().all(|node| !node.value().is_element())
            };
            if is_named {
                return Some(Label::Before);
            }
        }
        let is_until_found = element.attr("hidden") == Some("until-found");
        // A button after a hidden text may do anything; "Read more" is mostly a link.
        let opens =
            after.is_some_and(|after| is_control(after) && (is_read(after) || is_toggle(after)));
        (is_until_found || opens).then_some(Label::Before)
    }
}

/// Returns the tab of a panel: the one with the same place in the list of tabs before the panels.
fn tab_of(node: NodeRef<'_, Node>, element: &Element) -> Option<String> {
    /// How far up the list of tabs is looked for, and how many tabs are counted: this is asked for each panel.
    const MAX_UP: usize = 4;
    const MAX_TABS: usize = 100;
    if !is_panel(element) {
        return None;
    }
    let place =
        node.prev_siblings().take(4 * MAX_TABS).filter(|node| has_role(node, "tabpanel")).count();
    let list = node.ancestors().take(MAX_UP).find_map(|parent| {
        parent.children().take(MAX_TABS).find(|node| has_role(node, "tablist"))
    })?;
    let tabs = list.descendants().take(MAX_BELOW).filter(|node| has_role(node, "tab"));
    tabs.take(MAX_TABS).nth(place).and_then(text_of)
}

fn has_role(node: &NodeRef<'_, Node>, role: &str) -> bool {
    node.value().as_element().is_some_and(|element| element.attr("role") == Some(role))
}

/// Whether an element opens or closes something, rather than leading away.
fn is_control(node: NodeRef<'_, Node>) -> bool {
    node.value().as_element().is_some_and(|element| match element.name() {
        "button" | "summary" => true,
        "a" => {
            element.attr("href").is_none_or(|href| href == "#" || href.starts_with("javascript:"))
        }
        _ => element.attr("role") == Some("button") || is_toggle(node),
    })
}

/// Returns the targets of a control: ids, or addresses.
fn targets(element: &Element) -> impl Iterator<Item = &str> {
    element.attrs().filter(|(name, _)| REFERENCES.contains(name)).map(|(_, value)| value)
}

/// Whether an element says that it opens something.
fn is_toggle(node: NodeRef<'_, Node>) -> bool {
    let element = node.value().as_element();
    element.is_some_and(|element| element.attrs().any(|(name, _)| TOGGLES.contains(&name)))
}

fn is_panel(element: &Element) -> bool {
    element.attrs().any(|attribute| attribute == ("role", "tabpanel"))
}

/// Whether most of the text of a hidden element is displayed elsewhere.
fn is_copy(panel: NodeRef<'_, Node>, texts: &HashSet<&str>) -> bool {
    /// Share of the text that is elsewhere, in percent; the rest may be a label or a date of the copy.
    const MIN_COPIED: usize = 80;
    let (copies, others): (Vec<&str>, Vec<&str>) =
        long_texts(panel).partition(|text| texts.contains(text));
    let copied: usize = copies.into_iter().map(str::len).sum();
    let other: usize = others.into_iter().map(str::len).sum();
    copied > 0 && copied * 100 >= (copied + other) * MIN_COPIED
}

fn long_texts(node: NodeRef<'_, Node>) -> impl Iterator<Item = &str> {
    node.descendants().take(MAX_BELOW).filter_map(long_text)
}

/// Returns a text that is long enough not to be the same by chance.
fn long_text(node: NodeRef<'_, Node>) -> Option<&str> {
    const MIN_BYTES: usize = 20;
    let text = node.value().as_text()?.trim();
    (text.len() >= MIN_BYTES).then_some(text)
}

/// Whether the text of an element is read where it is.
fn is_read(node: NodeRef<'_, Node>) -> bool {
    node.value().as_element().is_some_and(|element| element.name() != "button")
}

/// Whether a hidden element holds text of the page: it is no form, dialog or menu, and no program.
fn is_content(panel: NodeRef<'_, Node>) -> bool {
    const OTHERS: &[&str] = &["dialog", "form", "iframe", "input", "nav", "select", "textarea"];
    const ROLES: &[&str] = &["alert", "alertdialog", "dialog", "menu", "navigation", "search"];
    let mut letters = 0;
    let mut linked = 0;
    for node in panel.descendants().take(MAX_BELOW) {
        match node.value() {
            Node::Element(element) => {
                let role = element.attr("role").unwrap_or_default();
                if OTHERS.contains(&element.name()) || ROLES.contains(&role) {
                    return false;
                }
                if element.name() == "a"
                    && let Some(link) = ElementRef::wrap(node)
                {
                    linked += link.text().map(str::len).sum::<usize>();
                }
            }
            Node::Text(text) => letters += text.trim().len(),
            _ => {}
        }
    }
    letters > 0 && linked * 100 < letters * MAX_LINKED
}

/// Returns the text of a label, with single spaces; `None` for a text that is too long for one.
fn text_of(node: NodeRef<'_, Node>) -> Option<String> {
    let mut text = String::new();
    for piece in ElementRef::wrap(node)?.text() {
        text.push_str(piece);
        // Much more than a label has with its blanks: the rest need not be read.
        if text.len() > 8 * MAX_LABEL {
            return None;
        }
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (text.contains(char::is_alphanumeric) && text.chars().count() <= MAX_LABEL).then_some(text)
}

fn is_block(node: NodeRef<'_, Node>) -> bool {
    let name = node.value().as_element().map_or("", Element::name);
    matches!(name, "div" | "section" | "p" | "ul" | "ol" | "dl" | "article" | "dd")
}

fn next_element(node: NodeRef<'_, Node>) -> Option<NodeRef<'_, Node>> {
    node.next_siblings().find(|node| node.value().is_element())
}

fn previous_element(node: NodeRef<'_, Node>) -> Option<NodeRef<'_, Node>> {
    node.prev_siblings().find(|node| node.value().is_element())
}

#[cfg(test)]
mod tests;
