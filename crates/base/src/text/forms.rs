//! Brings text into one Unicode normal form, so that the same letters are the same characters.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns text in composed form (NFC), in which `ü` is one character; borrowed if it already is.
///
/// File names from macOS are decomposed: `u` and a combining mark. Nothing else is changed.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(composed(text), expected);
    }

    #[test]
    fn decomposed_letters_are_composed() {
        check("U\u{308}bung", "Übung");
        check("\u{1112}\u{1161}\u{11ab}", "한");
        check("plain", "plain");
    }

    #[test]
    fn other_spellings_of_letters_stay() {
        check("ﬁn ½ ①", "ﬁn ½ ①");
    }

    #[test]
    fn composed_text_is_not_copied() {
        assert!(matches!(composed("Übung 한"), Cow::Borrowed(_)));
    }
}
