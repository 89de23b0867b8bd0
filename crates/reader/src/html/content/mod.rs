//! Finds the main content of a parsed page by its structure. Pure functions.

mod cues;
mod frame;
mod kind;
mod lead;
mod names;
mod reference;
mod references;
mod root;
mod shown;
mod survey;
mod trim;

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use super::select::select;
use survey::Survey;

/// The content of an article has at least this many letters, or one in `MIN_SHARE` of the letters
/// of the page. Otherwise the page is no article, but a list of links, for example.
const MIN_LETTERS: usize = 250;
const MIN_SHARE: usize = 5;

/// The content of a page.
pub(super) struct Content<'a> {
    /// The element that contains it.
    pub(super) root: NodeRef<'a, Node>,
    /// Elements below it that are not part of it.
    left_out: HashSet<NodeId>,
    is_shown: IsShown,
}

/// Whether the text of an element is displayed.
type IsShown = fn(NodeRef<'_, Node>, &Element) -> bool;

impl<'a> Content<'a> {
    /// Finds the content of a web page.
    pub(super) fn of_page(html: &'a Html) -> Self {
        let survey = Survey::new(body(html), own_address(html));
        let mild = Part::of_documentation(&survey);
        if kind::is_documentation(html, &survey) {
            return mild.content(&survey);
        }
        let part = Part::of_article(&survey);
        let is_enough = part.letters >= MIN_LETTERS || part.letters * MIN_SHARE >= mild.letters;
        (if is_enough { part } else { mild }).content(&survey)
    }

    /// Returns everything on a page.
    pub(super) fn whole(html: &'a Html) -> Self {
        Content { root: *body(html), left_out: HashSet::new(), is_shown: shown::is_shown }
    }

    /// Returns everything in a message.
    pub(super) fn of_message(html: &'a Html) -> Self {
        Content { is_shown: shown::is_shown_in_message, ..Self::whole(html) }
    }

    /// Whether an element and everything below it is left out.
    pub(super) fn leaves_out(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        node.id() != self.root.id()
            && (self.left_out.contains(&node.id()) || !(self.is_shown)(node, element))
    }
}

/// A part of a page.
struct Part {
    /// Index of the element that contains it.
    root: usize,
    /// Whether each element is left out.
    left_out: Vec<bool>,
    letters: usize,
}

impl Part {
    /// Finds the content of an article: of a page that is mostly prose.
    fn of_article(survey: &Survey<'_>) -> Self {
        let mut left_out = vec![false; survey.items.len()];
        frame::leave_out(survey, &mut left_out);
        let root = root::find(survey, &left_out);
        trim::leave_out(survey, root, &mut left_out);
        let root = lead::add(survey, root, &mut left_out);
        Self::new(survey, root, left_out)
    }

    fn of_documentation(survey: &Survey<'_>) -> Self {
        let mut left_out = vec![false; survey.items.len()];
        let root = reference::find(survey, &mut left_out);
        Self::new(survey, root, left_out)
    }

    fn new(survey: &Survey<'_>, root: usize, left_out: Vec<bool>) -> Self {
        let letters = survey.sums(&left_out)[root].letters;
        Self { root, left_out, letters }
    }

    fn content<'a>(self, survey: &Survey<'a>) -> Content<'a> {
        let items = survey.items.iter().zip(&self.left_out);
        let left_out = items.filter(|(_, is_out)| **is_out).map(|(item, _)| item.node.id());
        let root = survey.items[self.root].node;
        Content { root, left_out: left_out.collect(), is_shown: shown::is_shown }
    }
}

/// Returns the address that a page states as its own.
fn own_address(html: &Html) -> Option<&str> {
    let of =
        |selector, name| select(html.root_element(), selector).find_map(|found| found.attr(name));
    of("link[rel=canonical][href]", "href").or_else(|| of("meta[property='og:url']", "content"))
}

fn body(html: &Html) -> ElementRef<'_> {
    let root = html.root_element();
    select(root, "body").next().unwrap_or(root)
}

#[cfg(test)]
mod tests;
