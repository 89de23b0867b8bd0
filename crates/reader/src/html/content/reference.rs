//! Finds the content of a page of documentation, and leaves out only the elements around it. Pure functions.

use super::super::elements::is_heading;
use super::names::ContentRole;
use super::survey::{LeftOut, PageSurvey, TextAmount};
use super::{frame, kind, lead, names, neighbours, proof};
use crate::document::WordDestination;

/// The content has at least one in this many letters of the page. An element with fewer may be marked as the content
/// and hold only a part of it.
const MIN_SHARE: usize = 4;

/// Navigation has at least this share of its text in links, in percent; the rest are headings of groups.
const MIN_LINKED: usize = 60;

/// Returns the index of the element that contains the content, and marks the other elements in it.
pub(super) fn find(survey: &PageSurvey<'_>, left_out: &mut LeftOut) -> usize {
    let heading = survey.items.iter().position(|item| is_heading(item.element.name()));
    let heading = heading.unwrap_or(survey.items.len());
    let sums = survey.sums(left_out);
    for (idx, reason) in left_out.iter_mut().enumerate().skip(1) {
        *reason = is_frame(survey, &sums, idx, heading).then(|| frame::reason(survey, &sums, idx));
    }
    let shown = survey.sums(left_out);
    let mut root = 0;
    for is_content in [is_main, is_article, is_named] {
        let mut found = survey.below(root).skip(1).filter(|idx| is_content(survey, *idx));
        if let (Some(only), None) = (found.next(), found.next())
            && shown[only].letters * MIN_SHARE >= shown[root].letters
        {
            root = only;
        }
    }
    // The header of a section is not part of the only article in it.
    let above = survey.items[root].parent;
    let has_header = is_article(survey, root)
        && survey.children(above).any(|idx| {
            idx < root && survey.items[idx].element.name() == "header" && shown[idx].is_written()
        });
    if has_header {
        root = above;
    }
    if root > 0 {
        // Prose and tables within the content are part of it, whatever the names of their elements are.
        for idx in survey.below(root).filter(|idx| sums[*idx].is_written()) {
            let is_named = left_out[idx].is_some()
                || names::is_around_documentation(survey.items[idx].element);
            if !is_named || left_out[idx].is_some() && proof::is_given(survey, &sums, idx) {
                continue;
            }
            left_out[idx] = None;
            // Its title and other words may have names of the same kind.
            let own = survey.children(idx).filter(|child| sums[*child].linked == 0);
            own.for_each(|child| left_out[child] = None);
        }
    }
    lead::add(survey, root, left_out)
}

fn is_main(survey: &PageSurvey<'_>, idx: usize) -> bool {
    let element = survey.items[idx].element;
    element.name() == "main" || element.attr("role") == Some("main")
}

fn is_article(survey: &PageSurvey<'_>, idx: usize) -> bool {
    survey.items[idx].element.name() == "article"
}

fn is_named(survey: &PageSurvey<'_>, idx: usize) -> bool {
    names::is_documentation(survey.items[idx].element)
}

fn is_frame(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize, heading: usize) -> bool {
    let element = survey.items[idx].element;
    match element.name() {
        "html" | "body" | "main" | "article" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => false,
        // A table of contents below the title is part of the page.
        "nav" => idx < heading || !is_contents(survey, idx),
        "footer" => true,
        "header" => is_site_header(survey, sums, idx),
        _ if neighbours::are_in(survey, sums, idx) || kind::is_signature(survey, sums, idx) => true,
        _ if is_above(survey, sums, idx, heading) || is_menu(survey, sums, idx) => true,
        _ => {
            let is_named = frame::has_role(element) || names::is_around_documentation(element);
            is_named
                && sums[idx].letters * MIN_SHARE < sums[0].letters
                && !survey.titles().any(|title| survey.below(idx).contains(&title))
        }
    }
}

/// Whether an element that is named a menu, also by its id, has little else than links.
fn is_menu(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    survey.items[idx].role == Some(ContentRole::Frame(WordDestination::Menu))
        && sums[idx].is_linked(MIN_LINKED)
        && !sums[idx].is_written()
}

/// Whether an element above the first heading and all sentences has little else than links: it leads through the site.
fn is_above(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize, heading: usize) -> bool {
    survey.items[idx].end <= heading
        && survey.is_before_sentences(idx)
        && heading < survey.items.len()
        && sums[idx].is_linked(MIN_LINKED)
        && !sums[idx].is_written()
        && !survey.has_line_without_link(idx)
}

/// Whether all links of an element lead to places on the page.
fn is_contents(survey: &PageSurvey<'_>, idx: usize) -> bool {
    let mut hrefs = survey.below(idx).filter_map(|idx| survey.items[idx].element.attr("href"));
    hrefs.all(|href| href.starts_with('#'))
}

/// Whether this is the header of a site rather than of a page or a section: it has no title, or it has
/// navigation and is outside of the content.
fn is_site_header(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let has_title = survey.titles().any(|title| survey.below(idx).contains(&title));
    let is_of_section = sums[idx].is_written()
        && (with_parents(survey, idx).any(|idx| survey.items[idx].element.name() == "section")
            || is_in_content(survey, idx));
    !has_title && !is_of_section
        || survey.below(idx).any(|idx| survey.items[idx].element.name() == "nav")
            && !is_in_content(survey, idx)
}

fn is_in_content(survey: &PageSurvey<'_>, idx: usize) -> bool {
    with_parents(survey, idx).any(|idx| is_main(survey, idx) || is_article(survey, idx))
}

/// Returns an element and those around it, innermost first.
fn with_parents(survey: &PageSurvey<'_>, idx: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(idx), |idx| (*idx > 0).then(|| survey.items[*idx].parent))
}
