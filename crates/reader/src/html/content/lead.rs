//! Adds the title and the lead to the content, where they are outside of its element. Pure
//! functions.

use super::super::elements::is_heading;
use super::survey::{LeftOut, PageSurvey, TextAmount};
use crate::document::WordDestination;

/// A lead has at most this share of its text in links, in percent; a text with more leads to other pages.
const MAX_LINKED: usize = 30;

/// Returns the index of the element that contains the title and the content, and marks the other elements in it.
pub(super) fn add(survey: &PageSurvey<'_>, root: usize, left_out: &mut LeftOut) -> usize {
    let sums = survey.sums(left_out);
    let is_title = |idx: &usize| sums[*idx].letters > 0;
    if survey.titles().filter(is_title).any(|title| survey.below(root).contains(&title)) {
        return root;
    }
    let before = survey.titles().filter(|title| *title < root);
    let Some(title) = before.rev().find(is_title) else { return root };
    let mut common = root;
    while !survey.below(common).contains(&title) {
        common = survey.items[common].parent;
    }
    let mut idx = common + 1;
    while idx < survey.items[common].end {
        let inner = survey.below(idx);
        let is_between = title < idx && idx < root;
        if idx == title || idx == root || is_between && is_text(survey, &sums, idx) {
            idx = inner.end;
        } else if inner.contains(&title)
            || inner.contains(&root)
            || is_between && sums[idx].prose > 0
        {
            idx += 1;
        } else {
            left_out[idx].get_or_insert(WordDestination::Outside);
            idx = inner.end;
        }
    }
    common
}

/// Whether an element is a text that can be a part of the lead.
fn is_text(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let (name, sum) = (survey.items[idx].element.name(), sums[idx]);
    let is_text = is_heading(name)
        || matches!(name, "p" | "blockquote" | "ul" | "ol" | "pre" | "table")
        || survey.is_in_line(idx, sum);
    is_text && sum.letters > 0 && !sum.is_linked(MAX_LINKED)
}
