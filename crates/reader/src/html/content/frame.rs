//! Leaves out what surrounds the content: navigation, offers, comments. Pure functions.

use scraper::node::Element;

use super::super::elements::is_heading;
use super::names::ContentRole;
use super::survey::{DisplayedElement, LeftOut, PageSurvey, TextAmount};
use super::{neighbours, proof, root};
use crate::document::WordDestination;

/// Values of `role` that mark such elements.
const ROLES: &[&str] = &[
    "alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar",
    "navigation", "search", "toolbar",
];

/// An element with a larger share of the page's prose, in percent, contains the content, whatever its name is.
const MAX_SHARE: usize = 40;

/// Comments are left out if the rest of the page has at least this much prose, in letters. On a
/// page of a forum they are the content.
const MIN_REST: usize = 300;

/// A teaser has at least this share of its text in links, in percent: classes such as `box` and `list` are also
/// around content.
const MIN_LINKED: usize = 50;

/// Marks the outermost elements that are not content.
pub(super) fn leave_out(survey: &PageSurvey<'_>, left_out: &mut LeftOut) {
    // The comments come first, so that they do not count as prose of the page.
    mark(survey, left_out, is_comments);
    mark(survey, left_out, is_frame);
}

/// Marks the outermost elements within the content that are not part of it. Sentences and tables are kept unless they
/// are proven to be something else; a name proves nothing.
pub(super) fn leave_out_within(survey: &PageSurvey<'_>, root: usize, left_out: &mut LeftOut) {
    let was_out = left_out[survey.below(root)].to_vec();
    left_out[survey.below(root)].fill(None);
    let sums = survey.sums(left_out);
    // If parts of it are marked as the content, the others are around them.
    let has_main =
        !is_main(survey, &sums, root) && survey.below(root).any(|idx| is_main(survey, &sums, idx));
    let mut main_end = if has_main { 0 } else { usize::MAX };
    let mut idx = root + 1;
    while idx < survey.items[root].end {
        if idx >= main_end && is_main(survey, &sums, idx) {
            main_end = survey.items[idx].end;
        }
        let is_out = was_out[idx - root].is_some()
            || is_frame(survey, &sums, idx)
            || is_comments(survey, &sums, idx);
        let may_stay = idx < main_end && sums[idx].is_written();
        if is_out && (!may_stay || proof::is_given(survey, &sums, idx)) {
            left_out[idx] = Some(reason(survey, &sums, idx));
        }
        idx = if left_out[idx].is_some() { survey.items[idx].end } else { idx + 1 };
    }
}

type Test = fn(&PageSurvey<'_>, &[TextAmount], usize) -> bool;

/// Whether an element below the body is marked as the content, and something is written in it.
fn is_main(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    idx > 0 && root::is_marked(survey, idx) && sums[idx].is_written()
}

fn mark(survey: &PageSurvey<'_>, left_out: &mut LeftOut, is_out: Test) {
    let sums = survey.sums(left_out);
    let mut idx = 1;
    while idx < survey.items.len() {
        if left_out[idx].is_none() && is_out(survey, &sums, idx) {
            left_out[idx] = Some(reason(survey, &sums, idx));
        }
        idx = if left_out[idx].is_some() { survey.items[idx].end } else { idx + 1 };
    }
}

fn is_comments(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let item = &survey.items[idx];
    let name = item.element.name();
    item.role == Some(ContentRole::Comments)
        && !is_heading(name)
        && !survey.is_in_line(idx, sums[idx])
        && !matches!(name, "body" | "main")
        && sums[0].prose - sums[idx].prose >= MIN_REST
}

fn is_frame(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let (item, page, sum) = (&survey.items[idx], sums[0], sums[idx]);
    let is_most = if page.prose > 0 {
        sum.prose * 100 > page.prose * MAX_SHARE
    } else {
        sum.letters * 100 > page.letters * MAX_SHARE
    };
    let is_out = match item.element.name() {
        // Navigation is not content, even if it has most of the text of the page.
        "nav" => return true,
        "article" | "body" | "main" => false,
        _ if proof::is_consent(survey, sums, idx) => true,
        _ if neighbours::are_in(survey, sums, idx) => true,
        name if is_most || is_heading(name) => false,
        "aside" | "footer" | "form" | "label" => true,
        "header" => sum.prose == 0,
        _ => match item.role {
            Some(ContentRole::Body) => false,
            Some(ContentRole::Frame(_)) => true,
            Some(ContentRole::Teaser) if sum.is_linked(MIN_LINKED) => true,
            _ => has_role(item.element),
        },
    };
    is_out && !survey.is_in_line(idx, sum) && !has_title(survey, sums, idx)
}

/// Returns why an element is left out that is not content.
pub(super) fn reason(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> WordDestination {
    let DisplayedElement { element, role, .. } = &survey.items[idx];
    match role {
        _ if proof::is_consent(survey, sums, idx) => WordDestination::CookieNotice,
        _ if neighbours::are_in(survey, sums, idx) => WordDestination::Menu,
        Some(ContentRole::Teaser) => WordDestination::Teaser,
        _ => stated(element, *role).unwrap_or(WordDestination::Frame),
    }
}

/// Returns why an element is left out because of its name, without regard to the elements around it.
pub(super) fn stated(element: &Element, role: Option<ContentRole>) -> Option<WordDestination> {
    const MENUS: &[&str] = &["menu", "menubar", "navigation", "search", "toolbar"];
    match role {
        _ if element.name() == "nav" => Some(WordDestination::Menu),
        Some(ContentRole::Comments) => Some(WordDestination::Comments),
        Some(ContentRole::Frame(reason)) => Some(reason),
        _ => element
            .attr("role")
            .is_some_and(|role| MENUS.contains(&role))
            .then_some(WordDestination::Menu),
    }
}

/// Whether an element has the role of something around the content.
pub(super) fn has_role(element: &Element) -> bool {
    element.attrs().any(|(name, value)| name == "role" && ROLES.contains(&value))
}

/// Whether an element contains a title that is not a link.
fn has_title(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    survey.titles().any(|title| {
        survey.below(idx).contains(&title) && sums[title].letters > 0 && sums[title].linked == 0
    })
}
