//! Finds the element that contains the content. Pure functions.

use super::names::ContentRole;
use super::survey::{LeftOut, PageSurvey, TextAmount};

/// An element with this share of the prose around it, in percent, contains the content; the rest is a teaser or a
/// note.
const MIN_PROSE: usize = 90;

/// It also has this share of the text outside of links, which may be lists and tables.
const MIN_OWN: usize = 80;

/// An element that is marked as the content needs only this share of the prose: comments may have more than half of
/// it.
const MIN_MARKED: usize = 45;

/// Elements that are only a part of a content.
const PARTS: &[&str] = &["blockquote", "dl", "ol", "p", "pre", "table", "tbody", "tr", "ul"];

/// Returns the index of the element that contains the content.
pub(super) fn find(survey: &PageSurvey<'_>, left_out: &LeftOut) -> usize {
    let sums = survey.sums(left_out);
    let mut root = 0;
    while prose(&sums, root) > 0 {
        let marked = survey
            .below(root)
            .skip(1)
            .find(|idx| is_marked(survey, *idx) && prose_share(&sums, *idx, root) >= MIN_MARKED);
        let next = marked
            .or_else(|| survey.children(root).find(|idx| has_most(survey, &sums, *idx, root)));
        match next {
            Some(next) if !PARTS.contains(&survey.items[next].element.name()) => {
                // One of several containers of an article is not all of it.
                if has_more(survey, &sums, next, prose_share(&sums, next, root)) {
                    return survey.items[next].parent;
                }
                root = next;
            }
            _ => break,
        }
    }
    root
}

/// Returns the amount of prose in an element, or of all its text outside of links if the page has no prose.
fn prose(sums: &[TextAmount], idx: usize) -> usize {
    // A page of short texts has no prose.
    if sums[0].prose > 0 { sums[idx].prose } else { sums[idx].own() }
}

/// Returns how much of the prose of `root` is in an element, in percent.
fn prose_share(sums: &[TextAmount], idx: usize, root: usize) -> usize {
    prose(sums, idx) * 100 / prose(sums, root)
}

/// Whether an element has most of the text of `root`.
fn has_most(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize, root: usize) -> bool {
    // The only long paragraph is not all that was written.
    prose_share(sums, idx, root) >= MIN_PROSE
        && sums[idx].own() * 100 / sums[root].own().max(1) >= MIN_OWN
        && survey.only_line(idx, sums[idx]).is_none()
}

/// Whether an element with this share of the prose, in percent, has siblings that are parts of the content, too: of the
/// same class and with prose, or further articles that do not lead to other pages.
fn has_more(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize, of_prose: usize) -> bool {
    let first = survey.items[idx].element;
    let (name, class) = (first.name(), first.attr("class"));
    survey.children(survey.items[idx].parent).filter(|at| *at != idx).any(|at| {
        let other = survey.items[at].element;
        match (name, class) {
            ("article", _) => {
                other.name() == "article" && sums[at].sentences > 0 && sums[at].linked == 0
            }
            ("main", _) | (_, None) => false,
            _ => {
                (other.name(), other.attr("class")) == (name, class)
                    && sums[at].prose > 0
                    && of_prose < MIN_PROSE
            }
        }
    })
}

/// Whether an element is marked as the content.
pub(super) fn is_marked(survey: &PageSurvey<'_>, idx: usize) -> bool {
    let item = &survey.items[idx];
    matches!(item.element.name(), "article" | "main")
        || item.element.attr("role") == Some("main")
        || item.role == Some(ContentRole::Body)
}
