//! Decides whether a possible heading stands where a heading stands: not within a sentence, and not
//! among the lines of a form. A pure function.

use super::headings::number_depth;
use crate::protocol::{PageBlock, PageBlockKind};

/// Largest distance of two blocks of one sentence, as a multiple of the larger text size.
const NEAR: f64 = 1.2;

/// Fewest words of the part of a sentence: a command or a function in lower case may begin the text
/// below a short heading.
const MIN_WORDS: usize = 4;

/// Fewest possible headings of one style without text between them that are lines of a form, such as
/// an address.
const MIN_FORM_LINES: usize = 3;

/// Sets the levels of those possible headings of a page to 0 that only look like one.
pub(super) fn drop_others(blocks: &[PageBlock], levels: &mut [u8]) {
    let is_line = |at: usize| number_depth(&blocks[at].text).is_none();
    let mut start = 0;
    while start < levels.len() {
        let len = (start..levels.len())
            .take_while(|at| levels[*at] > 0 && levels[*at] == levels[start] && is_line(*at))
            .count();
        if len >= MIN_FORM_LINES {
            levels[start..start + len].fill(0);
        }
        start += len.max(1);
    }
    for (at, level) in levels.iter_mut().enumerate() {
        if *level > 0 && is_in_sentence(blocks, at) {
            *level = 0;
        }
    }
}

/// Whether the text of a block goes on in the next one, or begins in the previous one.
fn is_in_sentence(blocks: &[PageBlock], at: usize) -> bool {
    let block = &blocks[at];
    let goes_on = |above: &PageBlock, below: &PageBlock| {
        let (Some(one), Some(other)) = (above.place, below.place) else { return false };
        let distance = other.top - one.bottom;
        below.kind.is_prose()
            && below.kind != PageBlockKind::ListItem
            && above.kind.is_prose()
            && below.text.starts_with(char::is_lowercase)
            && !above.text.ends_with(['.', '!', '?', ':', ';'])
            && distance.abs() <= NEAR * one.size.max(other.size)
    };
    let is_long = block.text.split_whitespace().count() >= MIN_WORDS;
    let before = at.checked_sub(1).and_then(|before| blocks.get(before));
    is_long
        && number_depth(&block.text).is_none()
        && (blocks.get(at + 1).is_some_and(|next| goes_on(block, next))
            || before.is_some_and(|before| goes_on(before, block)))
}
