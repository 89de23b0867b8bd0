//! Finds the element that contains the content. Pure functions.

use super::names::ElementRole;
use super::survey::{LeftOut, PageSurvey, TextAmount};

/// An element with this share of the prose around it, in percent, contains the content.
const MIN_PROSE: usize = 90;

/// It also has this share of the text outside of links, which may be lists and tables.
const MIN_OWN: usize = 80;

/// An element that is marked as the content needs only this share of the prose.
const MIN_MARKED: usize = 45;

/// Elements that are only a part of a content.
const PARTS: &[&str] = &["blockquote", "dl", "ol", "p", "pre", "table", "tbody", "tr", "ul"];

/// Returns the index of the element that contains the content.
pub(super) fn find(survey: &PageSurvey<'_>, left_out: &LeftOut) -> usize {
    let sums = survey.sums(left_out);
    // A page of short texts has no prose.
    let prose = |idx: usize| if sums[0].prose > 0 { sums[idx].prose } else { sums[idx].own() };
    let mut root = 0;
    while prose(root) > 0 {
        let of_prose = |idx: usize| prose(idx) * 100 / prose(root);
        let of_own = |idx: usize| sums[idx].own() * 100 / sums[root].own().max(1);
        let is_marked = |idx: &usize| is_marked(survey, *idx) && of_prose(*idx) >= MIN_MARKED;
        let is_most = |idx: &usize| {
            // The only long paragraph is not all that was written.
            let is_paragraph = || survey.only_line(*idx, sums[*idx]).is_some();
            of_prose(*idx) >= MIN_PROSE && of_own(*idx) >= MIN_OWN && !is_paragraph()
        };
        let marked = survey.below(root).skip(1).find(is_marked);
        match marked.or_else(|| survey.children(root).find(is_most)) {
            Some(next) if !PARTS.contains(&survey.items[next].element.name()) => {
                // One of several containers of an article is not all of it.
                if has_more(survey, &sums, next, of_prose(next)) {
                    return survey.items[next].parent;
                }
                root = next;
            }
            _ => break,
        }
    }
    root
}

/// Whether an element with this share of the prose, in percent, has siblings that are parts of the content, too: of the
/// same class and with prose, or further articles that do not lead to other pages.
fn has_more(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize, of_prose: usize) -> bool {
    let kind = |at: usize| {
        let element = survey.items[at].element;
        (element.name(), element.attr("class"))
    };
    let is_more = |at: usize| match kind(idx) {
        ("article", _) => kind(at).0 == "article" && sums[at].sentences > 0 && sums[at].linked == 0,
        ("main", _) | (_, None) => false,
        kind_of_first => kind(at) == kind_of_first && sums[at].prose > 0 && of_prose < MIN_PROSE,
    };
    survey.children(survey.items[idx].parent).any(|at| at != idx && is_more(at))
}

/// Whether an element is marked as the content.
pub(super) fn is_marked(survey: &PageSurvey<'_>, idx: usize) -> bool {
    let item = &survey.items[idx];
    matches!(item.element.name(), "article" | "main")
        || item.element.attr("role") == Some("main")
        || item.role == Some(ElementRole::Body)
}
