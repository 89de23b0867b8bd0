//! Proves by its kind that an element with sentences is not part of the content. Pure functions.

use scraper::ElementRef;
use scraper::node::Element;

use super::cues;
use super::names::ContentRole;
use super::survey::{DisplayedElement, PageSurvey, TextAmount};
use crate::document::WordDestination;

/// Most elements below one that are examined. Elements may be nested, and each is examined again for every one around
/// it.
const MAX_BELOW: usize = 2_000;

/// An element that offers other pages has at least this share of its text in links, in percent: their titles, among
/// lines about them.
const MIN_LINKED: usize = 25;

/// Longest notice about cookies, in letters; a longer text with such a button is the page itself.
const MAX_CONSENT: usize = 2_000;

/// Texts of a button that are read; more are no label.
const MAX_TEXTS: usize = 10;

/// A list of other pages has at least this many links to them; a sentence may have two.
const MIN_AWAY: usize = 3;

/// Parts of addresses with which pages are shared.
const SHARING: &[&str] = &[
    "/sharer", "/intent/", "/share?", "/shareArticle", "/share/url", "pin/create", "wa.me/?",
    "/submit?url",
];

/// Whether an element, which holds sentences or a table, is furniture for another reason than its name.
pub(super) fn is_given(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let DisplayedElement { element, role, .. } = survey.items[idx];
    let offers_pages = is_offered(role) && num_away(survey, idx) >= MIN_AWAY;
    element.name() == "nav"
        || role == Some(ContentRole::Comments) && are_comments(survey, idx)
        || sums[idx].is_linked(MIN_LINKED) && (is_offered(role) || num_links(survey, idx) > 1)
        || offers_pages
        || is_consent(survey, sums, idx)
        || survey.below(idx).take(MAX_BELOW).any(|at| is_control(survey.items[at].element))
}

/// Whether an element is named a list of other pages.
fn is_offered(role: Option<ContentRole>) -> bool {
    matches!(role, Some(ContentRole::Teaser | ContentRole::Frame(WordDestination::Teaser)))
}

/// Whether an element that is named so holds what readers wrote: parts that say who or when, or a form for more.
fn are_comments(survey: &PageSurvey<'_>, idx: usize) -> bool {
    survey.below(idx).skip(1).take(MAX_BELOW).any(|at| {
        let DisplayedElement { element, role, .. } = survey.items[at];
        matches!(role, Some(ContentRole::Comments | ContentRole::Note))
            || matches!(element.name(), "time" | "textarea")
            || is_control(element)
    })
}

/// How many links an element has; a sentence with one link is no menu.
fn num_links(survey: &PageSurvey<'_>, idx: usize) -> usize {
    let below = survey.below(idx).take(MAX_BELOW);
    below.filter(|at| survey.items[*at].element.name() == "a").count()
}

/// How many links of an element lead to other pages.
fn num_away(survey: &PageSurvey<'_>, idx: usize) -> usize {
    let hrefs =
        survey.below(idx).take(MAX_BELOW).filter_map(|at| survey.items[at].element.attr("href"));
    hrefs.filter(|href| !href.starts_with('#')).count()
}

/// Whether an element by its name, or below the body, asks for consent to cookies, with a button or link that agrees to them.
pub(super) fn is_consent(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let DisplayedElement { node, element, role, parent, .. } = survey.items[idx];
    let may_be_notice =
        role == Some(ContentRole::Frame(WordDestination::CookieNotice)) || parent == 0;
    let is_content =
        sums[idx].letters > MAX_CONSENT || matches!(element.name(), "main" | "article");
    if !may_be_notice || is_content {
        return false;
    }
    let below = node.descendants().take(MAX_BELOW);
    below.clone().any(|node| node.value().as_text().is_some_and(|text| text.contains("ookie")))
        && below.filter_map(ElementRef::wrap).any(|element| {
            matches!(element.value().name(), "a" | "button")
                && cues::consents(&element.text().take(MAX_TEXTS).collect::<String>())
        })
}

/// Whether an element is for entering or sharing something, or leads to the page of an author.
fn is_control(element: &Element) -> bool {
    matches!(element.name(), "form" | "label")
        || matches!(element.attr("rel"), Some("author" | "license"))
        || ["href", "data-href"].iter().any(|name| element.attr(name).is_some_and(is_sharing))
}

/// Whether an address is for sharing a page.
fn is_sharing(address: &str) -> bool {
    SHARING.iter().any(|part| address.contains(part))
}
