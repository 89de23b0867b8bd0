//! Leaves out elements within the content that are not part of it. Pure functions.

use super::super::elements::{is_heading, level};
use super::names::ContentRole;
use super::survey::{LeftOut, PageSurvey, TextAmount};
use super::{cues, proof, references};
use crate::document::WordDestination;

/// A note or a list of teasers has at most this share of the prose, in percent; with more, it is the content.
const MAX_SHARE: usize = 20;

/// Longest note about the content, in letters; a longer one is about other pages.
const MAX_NOTE: usize = 1_000;

/// Longest note that is not made of links, in letters, such as the date and the author of a page.
const MAX_SHORT: usize = 100;

/// A list of links has at least this share of its text in links, in percent.
const MIN_LINKED: usize = 60;

/// The text that a line such as "Read more" introduces has at least this share in links, in percent. The line is also
/// evidence, so a smaller share is enough than for a list of links.
const MIN_INTRODUCED: usize = 25;

/// A sentence with at least this many letters outside of links is not a list of links.
const MIN_OWN: usize = 10;

/// Longest line that introduces something, in letters; a longer one is a sentence of the content.
const MAX_LINE: usize = 60;

/// How many elements are near a caption; a page may have any number of both.
const MAX_NEAR: usize = 30;

/// Marks the outermost elements below `root` that are not content.
pub(super) fn leave_out(survey: &PageSurvey<'_>, root: usize, left_out: &mut LeftOut) {
    let sums = survey.sums(left_out);
    // Where the last heading ends, with the links below it that are kept.
    let mut heading_end = usize::MAX;
    // Where the links end that are kept.
    let mut kept = 0;
    let mut idx = root + 1;
    while idx < survey.items[root].end {
        let item = &survey.items[idx];
        if is_heading(item.element.name()) {
            heading_end = item.pieces.end;
        }
        if item.element.name() == "table" && references::has_labelled(survey, &sums, idx, "tr") {
            kept = kept.max(item.end);
        }
        if left_out[idx].is_none() {
            if let Some(reason) = note(survey, &sums, idx) {
                leave_out_pictures(survey, idx, left_out);
                left_out[idx] = Some(reason);
            } else if is_introduction(survey, &sums, idx) {
                leave_out_introduced(survey, &sums, idx, left_out);
                left_out[idx] = Some(WordDestination::Teaser);
            }
            if left_out[idx].is_none() && idx >= kept && is_links(survey, &sums, idx) {
                let is_below = survey.is_next(heading_end, item.pieces.start);
                if references::are_in(survey, &sums, idx, is_below) {
                    kept = item.end;
                    heading_end = if is_below { item.pieces.end } else { heading_end };
                } else {
                    left_out[idx] = Some(WordDestination::Links);
                }
            }
        }
        idx = if left_out[idx].is_some() { survey.items[idx].end } else { idx + 1 };
    }
    // Headings come last, because they are left out with the text below them.
    keep_links(survey, root, left_out);
    leave_out_headings(survey, root, left_out);
}

/// Keeps lists of links that have more text than all the rest: they are the content.
fn keep_links(survey: &PageSurvey<'_>, root: usize, left_out: &mut LeftOut) {
    let lists: Vec<usize> =
        survey.below(root).filter(|idx| left_out[*idx] == Some(WordDestination::Links)).collect();
    let before = survey.sums(left_out)[root].letters;
    let mut with_links = left_out.to_vec();
    lists.iter().for_each(|idx| with_links[*idx] = None);
    // More than the rest: what was kept is then a frame around the links.
    if survey.sums(&with_links)[root].letters > 2 * before {
        lists.iter().for_each(|idx| left_out[*idx] = None);
    }
}

/// Returns why an element is left out that describes the content or is an offer.
fn note(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> Option<WordDestination> {
    let item = &survey.items[idx];
    let (name, sum) = (item.element.name(), sums[idx]);
    let line = survey.only_line(idx, sum);
    let is_offer = line.as_deref().is_some_and(cues::is_offer);
    let is_note = !is_heading(name)
        && !survey.is_in_line(idx, sums[idx])
        && sums[idx].prose * 100 <= sums[0].prose * MAX_SHARE
        && (matches!(name, "address" | "figcaption")
            || name == "time" && !is_in_item(survey, idx)
            || item.role == Some(ContentRole::Note) && is_noted(survey, sums, idx)
            || is_offer
            || line.as_deref().is_some_and(cues::is_caption))
        && !is_numbered(&survey.first_line(idx));
    is_note.then_some(match () {
        () if is_offer => WordDestination::Frame,
        () if sum.letters > MAX_NOTE => WordDestination::Teaser,
        () => WordDestination::Byline,
    })
}

/// Whether an element that is named a note is one: nothing is written in it, or only what describes a picture or the author.
fn is_noted(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let (sum, around) = (sums[idx], survey.items[idx].parent);
    !sum.is_written() && (sum.letters <= MAX_SHORT || sum.is_linked(MIN_LINKED))
        || proof::is_given(survey, sums, idx)
        || !sum.has_table
            && sums[around].sentences == sum.sentences
            && has_picture_near(survey, around)
}

fn has_picture_near(survey: &PageSurvey<'_>, around: usize) -> bool {
    survey.below(around).take(MAX_NEAR).any(|idx| survey.items[idx].element.name() == "img")
}

/// Whether an element is part of an item or a cell, such as the date of an event.
fn is_in_item(survey: &PageSurvey<'_>, idx: usize) -> bool {
    /// Most elements that are searched for an item, from this one up: a date may be wrapped in a few elements.
    const MAX_UP: usize = 4;
    let parents = std::iter::successors(Some(idx), |idx| Some(survey.items[*idx].parent));
    parents.take(MAX_UP).any(|idx| matches!(survey.items[idx].element.name(), "li" | "td" | "dd"))
}

/// Whether a caption has a number, to which the content refers: "Figure 3".
fn is_numbered(caption: &str) -> bool {
    let mut words = caption.split_whitespace();
    let (Some(name), Some(number)) = (words.next(), words.next()) else { return false };
    name.chars().all(|c| c.is_alphabetic() || c == '.')
        && number.len() < 6
        && number.starts_with(|c: char| c.is_ascii_digit())
}

/// Marks the pictures next to a caption that repeat it.
fn leave_out_pictures(survey: &PageSurvey<'_>, caption: usize, left_out: &mut LeftOut) {
    /// Beginning of the description that is compared, in characters: captions go on in another way, or are cut.
    const BEGINNING: usize = 20;
    let text = survey.first_line(caption);
    for idx in survey.below(survey.items[caption].parent).take(MAX_NEAR) {
        let description = survey.items[idx].element.attr("alt").unwrap_or_default();
        let words = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let beginning: String = words.chars().take(BEGINNING).collect();
        if !beginning.is_empty() && text.contains(&beginning) {
            left_out[idx].get_or_insert(WordDestination::Byline);
        }
    }
}

/// Whether an element is a list of links.
fn is_links(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let (name, sum) = (survey.items[idx].element.name(), sums[idx]);
    matches!(name, "article" | "div" | "ol" | "p" | "section" | "table" | "ul")
        && sum.prose == 0
        && sum.is_linked(MIN_LINKED)
        && (name != "p"
            || sum.own() < MIN_OWN
            || sum.own() < MAX_LINE && !is_sentence(&survey.first_line(idx)))
}

/// Whether an element begins with a line that introduces something else.
fn is_introduction(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let sum = sums[idx];
    let is_line = sum.prose == 0 && sum.letters < MAX_LINE;
    let is_list = sum.is_linked(MIN_INTRODUCED) && sum.prose * 100 <= sums[0].prose * MAX_SHARE;
    sum.letters > 0
        && (is_line || is_list)
        && !survey.is_in_line(idx, sum)
        && cues::introduces(&survey.first_line(idx))
}

/// Marks the elements that a line introduces: those after it that are empty or partly links.
fn leave_out_introduced(
    survey: &PageSurvey<'_>,
    sums: &[TextAmount],
    idx: usize,
    left_out: &mut LeftOut,
) {
    let end = survey.items[survey.items[idx].parent].end;
    let mut next = survey.items[idx].end;
    while next < end {
        let (name, sum) = (survey.items[next].element.name(), sums[next]);
        let is_introduced = sum.letters == 0 || sum.is_linked(MIN_INTRODUCED);
        if is_heading(name) || !is_introduced {
            break;
        }
        left_out[next].get_or_insert(WordDestination::Teaser);
        next = survey.items[next].end;
    }
}

/// Marks headings without text below them, because that text is left out; sentences are leads.
fn leave_out_headings(survey: &PageSurvey<'_>, root: usize, left_out: &mut LeftOut) {
    let is_gone = survey.gone(left_out);
    // The level of the heading below, and where its text begins.
    let (mut below, mut end) = (0, survey.items[root].pieces.end);
    for idx in survey.below(root).rev() {
        let item = &survey.items[idx];
        let level = level(item.element.name());
        if level == 0 || is_gone[idx] || !survey.has_text(item.pieces.clone(), &is_gone) {
            continue;
        }
        end = end.max(item.pieces.end);
        let is_empty =
            level > 1 && below <= level && !survey.has_text(item.pieces.end..end, &is_gone);
        if is_empty && !is_sentence(&survey.first_line(idx)) {
            left_out[idx] = Some(WordDestination::Links);
        } else {
            below = level;
        }
        end = item.pieces.start;
    }
}

fn is_sentence(line: &str) -> bool {
    // A heading that is a question has fewer.
    const MIN_WORDS: usize = 6;
    line.ends_with(['.', '?']) && line.split_whitespace().count() >= MIN_WORDS
}
