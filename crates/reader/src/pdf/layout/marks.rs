//! Recognises list markers and the ends of sentences.

use super::lines::TextLine;

const BULLETS: &str = "•‣▪▫●○◦■□⁃∙·–—-*✓❖➢→►▶";

/// The states of the boxes of a form.
pub(crate) const BOXES: [&str; 4] = ["[x]", "[ ]", "(x)", "( )"];

pub(super) fn ends_sentence(line: &TextLine) -> bool {
    let last = line
        .words
        .last()
        .map(|word| word.text.trim_end_matches(['"', '\'', ')', '\u{201D}', '\u{2019}', ']']));
    last.is_some_and(|text| text.ends_with(['.', '!', '?', ':', ';', '\u{3002}', '\u{61F}']))
}

/// The kind of a list marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Bullet,
    Number,
}

/// Returns the list marker of a line, if it has one.
pub(super) fn marker_of(line: &TextLine) -> Option<Marker> {
    let first = line.words.first()?;
    if line.words.len() < 2 {
        return None;
    }
    let mut characters = first.text.chars();
    let (one, rest) = (characters.next()?, characters.as_str());
    let is_bullet = BULLETS.contains(one) && rest.is_empty();
    let is_box = first.is_entry && BOXES.contains(&first.text.as_str());
    if is_bullet || is_box {
        return Some(Marker::Bullet);
    }
    let inner = first.text.trim_start_matches('(').strip_suffix(['.', ')'])?;
    let is_number = inner.len() <= 3 && inner.chars().all(|c| c.is_ascii_digit());
    let is_letter = inner.len() == 1 && inner.chars().all(|c| c.is_ascii_alphabetic());
    let is_roman = inner.len() <= 5 && inner.chars().all(|c| matches!(c, 'i' | 'v' | 'x'));
    (!inner.is_empty() && (is_number || is_letter || is_roman)).then_some(Marker::Number)
}
