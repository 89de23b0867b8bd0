//! Decides which characters may be sent to a terminal, and removes the others from texts.
//!
//! A character is harmful if a terminal obeys it instead of showing it, or if it makes a reader see
//! something other than the actual text: it reorders the text around it, begins a line that no line
//! count includes, or is invisible although an agent reads it.

use std::borrow::Cow;

/// Whether a character must neither be sent to a terminal nor be unescaped in JSON.
///
/// These are control characters (C0, DEL, C1), the controls and marks of direction, U+2028 and
/// U+2029, and the tag characters U+E0000 to U+E007F.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || is_direction_mark(c)
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character is one of the three direction marks used in Arabic and Hebrew texts.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

/// Whether a text may have a harmful character. Nearly every text has none, which is checked byte
/// by byte: the bytes beyond ASCII are those that begin harmful characters in UTF-8.
pub(super) fn may_harm(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, 0..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xf3))
}

/// Returns text on one line, with each run of white space replaced by one space, without harmful
/// characters.
pub fn clean(text: &str) -> String {
    // Nearly every text is clean, and this check is faster than cleaning it.
    let mut was_space = true;
    let is_clean = text.bytes().all(|byte| {
        let is_space = byte == b' ';
        let is_kept = matches!(byte, b' '..=b'~') && !(is_space && was_space);
        was_space = is_space;
        is_kept
    });
    if is_clean && !was_space {
        return text.to_owned();
    }
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_direction_mark(*c)) {
        if c.is_whitespace() {
            if !cleaned.ends_with(' ') && !cleaned.is_empty() {
                cleaned.push(' ');
            }
        } else {
            cleaned.push(shown(c));
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

/// Returns a file name without harmful characters and with unchanged spaces.
pub fn clean_name(name: impl Into<String>) -> String {
    let name = name.into();
    if !may_harm(&name) {
        return name;
    }
    name.chars().map(shown).collect()
}

/// Returns text with its lines and tabs, without harmful characters. A line may end in `\r\n`.
pub fn clean_lines(text: &str) -> String {
    let text: Cow<'_, str> =
        if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    let kept = text.chars().filter(|c| !is_direction_mark(*c));
    kept.map(|c| if is_layout(c) { c } else { shown(c) }).collect()
}

/// Returns text for a sheet: as [`clean_lines`], but with visible replacements of harmful
/// characters.
pub fn printed(text: &str) -> Cow<'_, str> {
    if !may_harm(text) || text.chars().all(|c| is_layout(c) || !is_harmful(c)) {
        return text.into();
    }
    text.chars().map(|c| if is_layout(c) { c } else { shown(c) }).collect()
}

/// Whether a character is used for layout, also by this program itself.
fn is_layout(c: char) -> bool {
    matches!(c, '\n' | '\t')
}

/// Returns the visible form of a character.
fn shown(c: char) -> char {
    if is_harmful(c) { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_survives() {
        assert_eq!(clean("a\u{1b}[31mb\r\nc\td\u{202e}e"), "a\u{fffd}[31mb c d\u{fffd}e");
        assert_eq!(clean_name("a  b\u{1b}[31m\nc"), "a  b\u{fffd}[31m\u{fffd}c");
        assert_eq!(clean_lines("a\u{9b}1m\r\n\tb\u{2066}"), "a\u{fffd}1m\n\tb\u{fffd}");
    }

    #[test]
    fn direction_marks_are_removed_and_hidden_letters_made_visible() {
        assert_eq!(clean("\u{200f}שלום\u{200e} \u{61c}x"), "שלום x");
        assert_eq!(clean("a\u{2028}b"), "a b");
        assert_eq!(clean_lines("a\u{2028}b\u{e0041}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(clean_name("a\u{200e}.md"), "a\u{fffd}.md");
    }

    #[test]
    fn every_harmful_character_begins_with_a_checked_byte() {
        for c in ('\0'..=char::MAX).filter(|c| is_harmful(*c)) {
            assert!(may_harm(c.encode_utf8(&mut [0; 4])), "{c:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_clean_text_is_unchanged(text in "[ -~\u{9}\u{e9}]{0,12}") {
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(clean(&text), words.join(" "));
            assert_eq!(clean(&clean(&text)), clean(&text));
        }

        #[test]
        fn cleaned_text_has_no_harmful_characters(text in "(.|\n|[\u{0}-\u{9f}]|[\u{2000}-\u{2070}]|[\u{e0000}-\u{e0080}]){0,60}") {
            let is_safe = |c: char| is_layout(c) || !is_harmful(c);
            proptest::prop_assert!(!clean(&text).contains(is_harmful));
            proptest::prop_assert!(!clean_name(&text).contains(is_harmful));
            proptest::prop_assert!(clean_lines(&text).chars().all(is_safe));
            proptest::prop_assert!(printed(&text).chars().all(is_safe));
            proptest::prop_assert_eq!(clean(&clean(&text)), clean(&text));
        }
    }
}
