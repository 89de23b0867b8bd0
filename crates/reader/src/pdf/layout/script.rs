//! Puts the characters of glyphs into reading order.

use super::sheet::Letters;
use crate::extract::pdf::clean;

pub(crate) use clean::is_ideographic;

/// Whether `character` belongs to a right-to-left script: Hebrew, Arabic, Syriac, Thaana and their
/// presentation forms.
pub(crate) fn is_rtl(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
        && !is_mark(character)
        // Arabic digits run to the right.
        && !matches!(character, '\u{660}'..='\u{669}' | '\u{6F0}'..='\u{6F9}')
}

/// Whether `character` is combined with the letter before it.
pub(crate) fn is_mark(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
}

/// Returns the text of a word with glyphs given from left to right.
pub(super) fn text_of(glyphs: &[&Letters]) -> String {
    let mut units: Vec<String> = Vec::with_capacity(glyphs.len());
    for glyph in glyphs {
        let mut unit = String::new();
        match glyph {
            Letters::One(character) => push(*character, &mut unit),
            Letters::Several(text) => text.chars().for_each(|c| push(c, &mut unit)),
            Letters::Unknown => unit.push(char::REPLACEMENT_CHARACTER),
        }
        let is_mark = unit.chars().next().is_some_and(is_mark);
        match units.last_mut() {
            Some(last) if is_mark => last.push_str(&unit),
            _ => units.push(unit),
        }
    }
    if units.iter().any(|unit| unit.contains(is_rtl)) {
        order(&mut units, |unit| unit.contains(is_rtl));
    }
    units.concat()
}

/// Converts pieces from left to right into reading order where most run to the left: reverses them,
/// but keeps the order within runs of left-to-right pieces.
pub(super) fn order<T>(pieces: &mut [T], is_rtl: impl Fn(&T) -> bool) {
    pieces.reverse();
    let mut start = 0;
    while start < pieces.len() {
        let len = pieces[start..].iter().take_while(|piece| !is_rtl(piece)).count();
        pieces[start..start + len].reverse();
        start += len.max(1);
    }
}

/// Appends the character that a font means.
///
/// Symbol fonts use the private use area, U+F000 plus the code. Bullets are from Wingdings and
/// Symbol, as word processors use them; the other codes are mostly Latin.
fn push(character: char, text: &mut String) {
    match character {
        '\u{F0A7}' | '\u{F06E}' | '\u{F0A8}' | '\u{F071}' => text.push('\u{25AA}'),
        '\u{F0B7}' | '\u{F06C}' | '\u{F09F}' | '\u{F09E}' => text.push('\u{2022}'),
        '\u{F0D8}' | '\u{F0E0}' | '\u{F0E8}' | '\u{F0F0}' => text.push('\u{2192}'),
        '\u{F0FC}' | '\u{F0FE}' | '\u{F050}' => text.push('\u{2713}'),
        '\u{F076}' => text.push('\u{2756}'),
        '\u{F020}'..='\u{F07E}' | '\u{F0A1}'..='\u{F0FF}' => {
            let code = u32::from(character) - 0xF000;
            text.extend(char::from_u32(code));
        }
        '\t' | '\n' | '\r' => text.push(' '),
        '\0' => text.push(char::REPLACEMENT_CHARACTER),
        control if control.is_control() => {}
        other => text.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(visible: &str, expected: &str) {
        let letters: Vec<Letters> = visible.chars().map(Letters::One).collect();
        assert_eq!(text_of(&letters.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn right_to_left_words_are_reversed() {
        check("\u{5DD}\u{5D5}\u{5DC}\u{5E9}", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}");
        check("42-\u{5D0}", "\u{5D0}42-");
        check("tide", "tide");
    }

    #[test]
    fn combining_marks_stay_on_their_letters() {
        check("\u{5D1}\u{5BC}\u{5D0}", "\u{5D0}\u{5D1}\u{5BC}");
    }

    #[test]
    fn private_use_symbols_are_bullets_or_latin() {
        check("\u{F0B7}\u{F0A7}\u{F041}", "\u{2022}\u{25AA}A");
    }

    #[test]
    fn numbers_in_a_right_to_left_line_are_unchanged() {
        let mut words = ["2", "1", "b", "a"];
        order(&mut words, |word| word.chars().all(char::is_alphabetic));
        assert_eq!(words, ["a", "b", "2", "1"]);
    }
}
