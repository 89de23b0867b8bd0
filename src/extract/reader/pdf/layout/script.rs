//! Puts what glyphs stand for into the order in which it is read.

use super::sheet::Letters;
use crate::extract::pdf::clean;

pub(in crate::extract) use clean::is_ideographic;

/// Whether `character` belongs to a script that runs to the left: Hebrew, Arabic, Syriac, Thaana
/// and their forms.
pub(crate) fn is_rtl(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
        && !is_mark(character)
        // Arabic digits run to the right.
        && !matches!(character, '\u{660}'..='\u{669}' | '\u{6F0}'..='\u{6F9}')
}

/// Whether `character` is put onto the letter before it.
pub(crate) fn is_mark(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
}

/// Returns the text of a word whose glyphs are given from left to right.
pub(super) fn spell(glyphs: &[&Letters]) -> String {
    let mut units: Vec<String> = Vec::with_capacity(glyphs.len());
    for glyph in glyphs {
        let mut unit = String::new();
        match glyph {
            Letters::One(it) => push(*it, &mut unit),
            Letters::Several(text) => text.chars().for_each(|it| push(it, &mut unit)),
            Letters::Unknown => unit.push(char::REPLACEMENT_CHARACTER),
        }
        let is_mark = unit.chars().next().is_some_and(is_mark);
        match units.last_mut() {
            Some(last) if is_mark => last.push_str(&unit),
            _ => units.push(unit),
        }
    }
    if units.iter().any(|it| it.contains(is_rtl)) {
        order(&mut units, |it| it.contains(is_rtl));
    }
    units.concat()
}

/// Puts pieces that stand from left to right in the order in which they are read, where most run
/// to the left: last one first, but those that run to the right as they stand.
pub(super) fn order<T>(pieces: &mut [T], is_rtl: impl Fn(&T) -> bool) {
    pieces.reverse();
    let mut start = 0;
    while start < pieces.len() {
        let len = pieces[start..].iter().take_while(|it| !is_rtl(it)).count();
        pieces[start..start + len].reverse();
        start += len.max(1);
    }
}

/// Appends what a character of a font stands for.
///
/// Fonts of symbols keep theirs in the private area, U+F000 and the code: bullets come from
/// Wingdings and Symbol as word processors use them, the rest is Latin more often than not.
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
        it if it.is_control() => {}
        it => text.push(it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(visible: &str, expected: &str) {
        let letters: Vec<Letters> = visible.chars().map(Letters::One).collect();
        assert_eq!(spell(&letters.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn words_that_run_to_the_left_are_turned_round() {
        check("\u{5DD}\u{5D5}\u{5DC}\u{5E9}", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}");
        check("42-\u{5D0}", "\u{5D0}42-");
        check("tide", "tide");
    }

    #[test]
    fn marks_stay_on_their_letters() {
        check("\u{5D1}\u{5BC}\u{5D0}", "\u{5D0}\u{5D1}\u{5BC}");
    }

    #[test]
    fn symbols_of_the_private_area_are_bullets_or_latin() {
        check("\u{F0B7}\u{F0A7}\u{F041}", "\u{2022}\u{25AA}A");
    }

    #[test]
    fn numbers_within_a_line_to_the_left_stand_as_they_are() {
        let mut words = ["2", "1", "b", "a"];
        order(&mut words, |it| it.chars().all(char::is_alphabetic));
        assert_eq!(words, ["a", "b", "2", "1"]);
    }
}
