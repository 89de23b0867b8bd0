//! Recognises lists and tables of links that belong to the content: notes, sources, contents. Pure
//! functions.

use super::super::elements::is_heading;
use super::survey::{PageSurvey, TextAmount};

/// Fewest letters per link: shorter ones name services and sections of a site.
const MIN_LETTERS: usize = 15;

/// Fewest rows of a table whose cells say what the links next to them are; fewer may begin without a link by chance.
const MIN_ROWS: usize = 3;

/// Most elements below one that are examined. Lists may be nested, and each is examined again for every one around it.
const MAX_BELOW: usize = 2_000;

/// Whether the links in an element, which has no prose, belong to the content; `is_below` if there
/// is a heading directly above it.
pub(super) fn are_in(
    survey: &PageSurvey<'_>,
    sums: &[TextAmount],
    idx: usize,
    is_below: bool,
) -> bool {
    is_note(&survey.first_line(idx))
        || has_labelled(survey, sums, idx, "tr")
        || (is_below
            || has_labelled(survey, sums, idx, "li")
            || survey
                .below(idx)
                .take(MAX_BELOW)
                .any(|idx| is_heading(survey.items[idx].element.name())))
            && lead_elsewhere(survey, sums, idx)
}

/// Whether a line begins with the number of a note: `[12]`.
fn is_note(line: &str) -> bool {
    let number = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    number.is_some_and(|(number, _)| {
        (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether most rows or items with words begin with words that are not in a link.
pub(super) fn has_labelled(
    survey: &PageSurvey<'_>,
    sums: &[TextAmount],
    idx: usize,
    name: &str,
) -> bool {
    let rows: Vec<usize> = survey
        .below(idx)
        .take(MAX_BELOW)
        .filter(|at| survey.items[*at].element.name() == name && sums[*at].letters > 0)
        .collect();
    let num_labelled = rows.iter().filter(|at| survey.begins_without_link(**at)).count();
    rows.len() >= MIN_ROWS && num_labelled * 2 > rows.len()
}

/// Whether most links lead to other sites or to places on the page, and say where.
fn lead_elsewhere(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let own = survey.address.and_then(site);
    let links = survey.below(idx).take(MAX_BELOW).filter_map(|at| {
        survey.items[at].element.attr("href").map(|href| (href, sums[at].letters))
    });
    let (mut num_links, mut num_elsewhere, mut letters) = (0, 0, 0);
    for (href, len) in links.filter(|(_, len)| *len > 0) {
        num_links += 1;
        letters += len;
        let is_elsewhere =
            href.starts_with('#') || site(href).is_some_and(|site| Some(site) != own);
        num_elsewhere += usize::from(is_elsewhere);
    }
    num_elsewhere * 2 > num_links && letters >= MIN_LETTERS * num_links
}

/// Returns the site of an address: the last two parts of its host.
fn site(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("//")?;
    let host = rest.split(['/', '?', '#', ':']).next()?;
    let start = host.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    Some(&host[start..])
}
