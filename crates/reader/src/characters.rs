//! Decides which characters a text brings in that it does not have itself: by an escape, or by a reference.

use super::xml;

/// Longest name of a character, in bytes: bounds the search for the end of a name behind each `&`.
const MAX_NAME_BYTES: usize = 40;

/// Returns the character that a number stands for. An escape does not produce letters that a terminal or a reader would
/// see as something else: they are only numbers in the file.
pub(crate) fn character(number: u32) -> char {
    let found = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
    visible(found)
}

/// Returns a character that an escape stands for: controls other than tabs and line ends, and those that reorder the
/// text around them, are replaced.
fn visible(letter: char) -> char {
    match letter {
        '\n' | '\t' => letter,
        // Other systems end lines with these.
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        _ if letter.is_control() => char::REPLACEMENT_CHARACTER,
        _ => letter,
    }
}

/// Returns a text with the characters that an escape may stand for.
pub(crate) fn visible_text(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(visible).collect()
}

/// Reads a reference such as `&#246;` or `&ouml;` at the beginning of a text. Returns its length and its character.
/// Only the five names of XML have a meaning if `is_xml_only`.
pub(crate) fn reference(text: &str, is_xml_only: bool) -> Option<(usize, char)> {
    let head = &text.as_bytes()[..text.len().min(MAX_NAME_BYTES)];
    let end = head.iter().position(|byte| *byte == b';')?;
    let name = text.get(1..end)?;
    let letter = match name.strip_prefix('#') {
        Some(digits) => {
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            character(number.ok().filter(|_| !digits.starts_with('+'))?)
        }
        None => xml::named_character(name, is_xml_only)?,
    };
    Some((end + 1, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_the_character_it_stands_for() {
        for (text, expected) in [
            ("&#246;x", Some((6, 'ö'))),
            ("&#xF6;", Some((6, 'ö'))),
            ("&ouml;", Some((6, 'ö'))),
            ("&amp;", Some((5, '&'))),
            ("&#0;", Some((4, '\u{fffd}'))),
            ("&#x110000;", Some((10, '\u{fffd}'))),
            ("&#8238;", Some((7, '\u{fffd}'))),
            ("&#+1;", None),
            ("&#;", None),
            ("&no;", None),
            ("& a;", None),
            ("&", None),
        ] {
            assert_eq!(reference(text, false), expected, "{text}");
        }
        assert_eq!((reference("&ouml;", true), reference("&lt;", true)), (None, Some((4, '<'))));
    }
}
