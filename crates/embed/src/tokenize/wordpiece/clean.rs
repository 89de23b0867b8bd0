//! Splits text into the words of BERT: cleaned, case folded, separated at blanks and punctuation.
//!
//! Uses the same character tables as the reference library, not newer ones, because models were
//! trained with those.

use serde::{Deserialize, Serialize};
use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::UnicodeNormalization;

/// How words are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cleaning {
    /// Each ideograph is a separate word.
    pub(super) separates_ideographs: bool,
    /// Characters are decomposed and their non-spacing marks removed.
    pub(super) drops_accents: bool,
    /// Upper case becomes lower case.
    pub(super) lowers: bool,
}

impl Cleaning {
    /// Calls `give` with each word of `text`; `buffer` is used to build words.
    pub(super) fn words(self, text: &str, buffer: &mut String, give: &mut impl FnMut(&str)) {
        // Nothing after these blanks depends on the text before them, so most text can be read byte
        // by byte.
        for run in text.split([' ', '\t', '\n', '\r']).filter(|run| !run.is_empty()) {
            buffer.clear();
            if run.is_ascii() {
                self.ascii_words(run, buffer, give);
            } else {
                self.clean(run, buffer);
                split(buffer, give);
            }
        }
    }

    /// Splits a run of ASCII without blanks into words.
    fn ascii_words(self, run: &str, word: &mut String, give: &mut impl FnMut(&str)) {
        for (at, byte) in run.bytes().enumerate() {
            if byte.is_ascii_punctuation() {
                flush(word, give);
                give(&run[at..=at]);
            } else if !byte.is_ascii_control() {
                word.push(char::from(if self.lowers { byte.to_ascii_lowercase() } else { byte }));
            }
        }
        flush(word, give);
    }

    /// Writes a run as normalised by the model's tokenizer.
    fn clean(self, run: &str, out: &mut String) {
        let known = run.chars().filter(|c| !is_dropped(*c));
        let separated = known.flat_map(|c| {
            let is_separated = self.separates_ideographs && is_ideograph(c);
            let blank = is_separated.then_some(' ');
            let c = if c.is_whitespace() { ' ' } else { c };
            blank.into_iter().chain([c]).chain(blank)
        });
        if self.drops_accents {
            let marked = separated.nfd().map(|(c, _)| c);
            self.fold(marked.filter(|c| !c.is_mark_nonspacing()), out);
        } else {
            self.fold(separated, out);
        }
    }

    fn fold(self, chars: impl Iterator<Item = char>, out: &mut String) {
        if self.lowers {
            out.extend(chars.flat_map(char::to_lowercase));
        } else {
            out.extend(chars);
        }
    }
}

fn flush(word: &mut String, give: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        give(word);
        word.clear();
    }
}

/// Splits a normalised text at blanks and around punctuation.
fn split(text: &str, give: &mut impl FnMut(&str)) {
    for run in text.split(char::is_whitespace) {
        let mut rest = run;
        while let Some((at, mark)) = rest.char_indices().find(|(_, c)| is_punctuation(*c)) {
            if at > 0 {
                give(&rest[..at]);
            }
            let end = at + mark.len_utf8();
            give(&rest[at..end]);
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            give(rest);
        }
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_punctuation()
}

/// Whether cleaning removes a character; control characters that are blanks are kept.
fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => c.is_other(),
    }
}

/// Whether a character is in the blocks that BERT's own tokenizer calls Chinese characters.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNCASED: Cleaning =
        Cleaning { separates_ideographs: true, drops_accents: true, lowers: true };
    const CASED: Cleaning =
        Cleaning { separates_ideographs: true, drops_accents: false, lowers: false };

    #[track_caller]
    fn check(cleaning: Cleaning, text: &str, expected: &[&str]) {
        let mut words = Vec::new();
        cleaning.words(text, &mut String::new(), &mut |word| words.push(word.to_owned()));
        assert_eq!(words, expected);
    }

    #[test]
    fn words_end_at_blanks_and_punctuation() {
        check(UNCASED, " Don't\tpanic...\r\n", &["don", "'", "t", "panic", ".", ".", "."]);
        check(UNCASED, "naïve—«quoted»\u{a0}x", &["naive", "—", "«", "quoted", "»", "x"]);
        check(UNCASED, "", &[]);
    }

    #[test]
    fn case_and_accents_are_folded_or_kept() {
        // Lower case is computed per character: no final sigma.
        check(UNCASED, "Ünïcödé e\u{301} İ ΑΣ", &["unicode", "e", "i", "ασ"]);
        check(CASED, "Ünï X", &["Ünï", "X"]);
    }

    #[test]
    fn ideographs_are_words_and_kana_and_hangul_are_not() {
        check(UNCASED, "東京タワー", &["東", "京", "タワー"]);
        check(CASED, "서울시", &["서울시"]);
        check(Cleaning { separates_ideographs: false, ..CASED }, "東京タワー", &["東京タワー"]);
    }

    #[test]
    fn invisible_characters_are_removed_within_words() {
        check(UNCASED, "a\0b a\u{b}b a\u{200b}b a\u{feff}b a\u{fffd}b", &["ab"; 5]);
        check(UNCASED, "a\u{b}é", &["ae"]);
        check(UNCASED, "\u{301} \u{200d}", &[]);
    }
}
