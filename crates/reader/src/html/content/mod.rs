//! Finds the main content of a parsed page by its structure. Pure functions. The shares and lengths in its files were
//! chosen on one half of 487 pages and hold on the other: F1 .934 and .931.

mod cues;
mod frame;
mod kind;
mod lead;
pub(super) mod missed;
mod names;
mod neighbours;
mod panels;
mod proof;
mod reference;
mod references;
mod root;
pub(super) mod shown;
mod survey;
mod tabs;
mod trim;

use std::collections::HashMap;

use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use super::elements::select;
use crate::document::WordDestination;
use panels::TogglePanels;
use survey::PageSurvey;

/// The content of an article has at least this many letters, or one in `MIN_SHARE` of the letters of the page.
/// Otherwise the page is no article, but a list of links, for example.
const MIN_LETTERS: usize = 250;
const MIN_SHARE: usize = 5;

/// The content of a page.
pub(super) struct PageContent<'a> {
    /// The element that contains it.
    pub(super) root: NodeRef<'a, Node>,
    /// The whole page.
    pub(super) body: NodeRef<'a, Node>,
    /// Elements that are not part of the content, and why.
    left_out: HashMap<NodeId, WordDestination>,
    hides: Hides,
    panels: TogglePanels,
}

/// Returns why the text of an element is never read.
type Hides = fn(NodeRef<'_, Node>, &Element) -> Option<WordDestination>;

impl<'a> PageContent<'a> {
    /// Finds the content of a web page.
    pub(super) fn of_page(html: &'a Html) -> Self {
        let panels = TogglePanels::of_page(html);
        let survey = PageSurvey::new(body(html), own_address(html), &panels);
        let mild = PagePart::of_documentation(&survey);
        if kind::is_documentation(html, &survey) {
            return PageContent { panels, ..mild.content(&survey) };
        }
        let part = PagePart::of_article(&survey);
        let is_enough = part.letters >= MIN_LETTERS || part.letters * MIN_SHARE >= mild.letters;
        PageContent { panels, ..(if is_enough { part } else { mild }).content(&survey) }
    }

    /// Returns everything on a page.
    pub(super) fn whole(html: &'a Html) -> Self {
        let body = *body(html);
        let panels = TogglePanels::of_page(html);
        PageContent { root: body, body, left_out: HashMap::new(), hides: shown::hides, panels }
    }

    /// Returns everything in a message.
    pub(super) fn of_message(html: &'a Html) -> Self {
        PageContent {
            hides: shown::hides_in_message,
            panels: TogglePanels::default(),
            ..Self::whole(html)
        }
    }

    /// Returns why an element and everything below it is left out; `None` if it is not.
    pub(super) fn leaves_out(
        &self,
        node: NodeRef<'_, Node>,
        element: &Element,
    ) -> Option<WordDestination> {
        if node.id() == self.root.id() {
            return None;
        }
        let hidden = (self.hides)(node, element).filter(|_| !self.panels.shows(node.id()));
        // The labels of a row are read with their panels.
        if self.panels.is_row(node.id()) {
            return Some(WordDestination::Menu);
        }
        match hidden {
            Some(_) if self.panels.copies(node.id()) => Some(WordDestination::Copy),
            Some(hidden) => Some(hidden),
            None => self.left_out.get(&node.id()).copied(),
        }
    }

    /// Returns what names a panel, if that is not read where it is.
    pub(super) fn label(&self, node: NodeRef<'_, Node>) -> Option<&str> {
        self.panels.label(node.id())
    }

    /// Returns a better reason for an element in one that is left out for this reason.
    pub(super) fn restates(within: WordDestination, element: &Element) -> Option<WordDestination> {
        let is_mixed = matches!(
            within,
            WordDestination::Frame | WordDestination::Outside | WordDestination::Teaser
        );
        if is_mixed { frame::stated(element, names::role(element)) } else { None }
    }
}

/// A part of a page.
struct PagePart {
    /// Index of the element that contains it.
    root: usize,
    /// Why each element is left out.
    left_out: Vec<Option<WordDestination>>,
    letters: usize,
}

impl PagePart {
    /// Finds the content of an article: of a page that is mostly prose.
    fn of_article(survey: &PageSurvey<'_>) -> Self {
        let mut left_out = vec![None; survey.items.len()];
        frame::leave_out(survey, &mut left_out);
        let root = root::find(survey, &left_out);
        frame::leave_out_within(survey, root, &mut left_out);
        trim::leave_out(survey, root, &mut left_out);
        let root = lead::add(survey, root, &mut left_out);
        Self::new(survey, root, left_out)
    }

    fn of_documentation(survey: &PageSurvey<'_>) -> Self {
        let mut left_out = vec![None; survey.items.len()];
        let root = reference::find(survey, &mut left_out);
        Self::new(survey, root, left_out)
    }

    fn new(survey: &PageSurvey<'_>, root: usize, left_out: Vec<Option<WordDestination>>) -> Self {
        let letters = survey.sums(&left_out)[root].letters;
        Self { root, left_out, letters }
    }

    fn content<'a>(self, survey: &PageSurvey<'a>) -> PageContent<'a> {
        let items = survey.items.iter().zip(self.left_out);
        let left_out = items.filter_map(|(item, reason)| Some((item.node.id(), reason?))).collect();
        let [root, body] = [self.root, 0].map(|idx| survey.items[idx].node);
        PageContent { root, body, left_out, hides: shown::hides, panels: TogglePanels::default() }
    }
}

/// Returns the address that a page states as its own.
fn own_address(html: &Html) -> Option<&str> {
    first_attribute(html, "link[rel=canonical][href]", "href")
        .or_else(|| first_attribute(html, "meta[property='og:url']", "content"))
}

/// Returns the value of an attribute in the first element with it that a selector names.
fn first_attribute<'a>(html: &'a Html, selector: &str, name: &str) -> Option<&'a str> {
    select(html.root_element(), selector).find_map(|found| found.attr(name))
}

fn body(html: &Html) -> ElementRef<'_> {
    let root = html.root_element();
    select(root, "body").next().unwrap_or(root)
}

#[cfg(test)]
mod tests;
