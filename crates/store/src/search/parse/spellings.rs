//! Finds the words of a query that are identifiers, and other spellings of a word. Pure.

use super::letters::{camel_case_words, is_of_word, is_searchable};
use crate::text::joined_numbers::{JoinedNumber, joined_numbers};
use crate::text::scripts;

/// A word of a query that is made of parts, which are searched too (`git-lfs`, `max_age`, `bodyLimit`, `2.30.2`), or a number in
/// groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompoundWord {
    /// As it was typed.
    pub typed: String,
    /// As an index has it: the parts as a phrase, the name in camel case, or the number.
    pub indexed: String,
    /// The parts, as they are wanted.
    pub parts: Vec<String>,
    /// Whether it is a number, whose parts say nothing alone.
    pub is_number: bool,
}

/// Returns the whole that a word is; `None` if it has no parts.
pub(super) fn whole(word: &str) -> Option<CompoundWord> {
    let parts = word.split(|c: char| !is_of_word(c)).filter(|part| is_searchable(part));
    let parts: Vec<&str> = parts.collect();
    if word.contains(scripts::is_unspaced) {
        return None;
    }
    match parts.as_slice() {
        [] => None,
        [only] => match camel_case_words(only).as_slice() {
            [] => None,
            words => Some(compound(word, (*only).to_owned(), words)),
        },
        several => Some(compound(word, several.join(" "), several)),
    }
}

/// Returns a typed word that has parts.
fn compound(typed: &str, indexed: String, parts: &[&str]) -> CompoundWord {
    let parts = parts.iter().map(|part| part.to_lowercase()).collect();
    CompoundWord { typed: typed.to_owned(), indexed, parts, is_number: false }
}

/// Returns the numbers of a text that are written in groups.
pub(super) fn numbers(text: &str) -> Vec<CompoundWord> {
    let wholes = joined_numbers(text).into_iter().map(|JoinedNumber { bytes, term }| {
        let typed = &text[bytes];
        let parts = typed.split(|c: char| !is_of_word(c)).filter(|part| is_searchable(part));
        let parts = parts.map(str::to_lowercase).collect();
        CompoundWord { typed: typed.to_owned(), indexed: term, parts, is_number: true }
    });
    wholes.collect()
}

/// The shortest and the longest short form of a hash, in hexadecimal digits, as programs for versions print it.
const SHORT_HASH: std::ops::RangeInclusive<usize> = 7..=12;

/// A word of at least so many hexadecimal digits is a hash. A shorter one may be a number.
const MIN_HASH: usize = 20;

/// Returns other spellings of a word that a text may have instead: letters and digits apart (`DEC-0054` for `DEC0054`),
/// and the short forms of a hash.
pub(super) fn spellings(word: &str) -> Vec<String> {
    let is_hash = word.len() >= MIN_HASH && word.chars().all(|c| c.is_ascii_hexdigit());
    if is_hash && word.contains(|c: char| c.is_ascii_digit()) {
        return SHORT_HASH.map(|len| word[..len].to_owned()).collect();
    }
    let letters: String = word.chars().take_while(|c| c.is_alphabetic()).collect();
    let digits = &word[letters.len()..];
    let is_glued = letters.chars().nth(1).is_some()
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_glued { vec![format!("{letters} {digits}")] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<(&str, &[&str])>) {
        let found = whole(word);
        let found = found.as_ref().map(|whole| (whole.indexed.as_str(), whole.parts.clone()));
        let expected = expected.map(|(indexed, parts)| {
            (indexed, parts.iter().map(|part| (*part).to_owned()).collect())
        });
        assert_eq!(found, expected, "{word}");
    }

    #[test]
    fn words_with_joints_or_humps_are_wholes() {
        check("git-lfs", Some(("git lfs", &["git", "lfs"])));
        check("Max_Age", Some(("Max Age", &["max", "age"])));
        check("bodyLimit", Some(("bodyLimit", &["body", "limit"])));
        check("src/main.rs:7", Some(("src main rs 7", &["src", "main", "rs", "7"])));
        check("2.30.2", Some(("2 30 2", &["2", "30", "2"])));
        for plain in ["word", "--version", "(word)", "GitHub", "東京都", "-", ""] {
            check(plain, None);
        }
    }

    #[test]
    fn neighbouring_words_may_be_a_number() {
        let found = numbers("call +49 30 5550 1234 about 1,234,567");
        let found: Vec<_> =
            found.iter().map(|whole| (whole.typed.as_str(), whole.indexed.as_str())).collect();
        assert_eq!(found, [("49 30 5550 1234", "3055501234"), ("1,234,567", "1234567")]);
        assert_eq!(numbers("1,234,567")[0].parts, ["1", "234", "567"]);
    }

    #[test]
    fn letters_and_digits_may_be_apart_and_a_hash_may_be_short() {
        assert_eq!(spellings("DEC0054"), ["DEC 0054"]);
        assert_eq!(spellings("ubuntu22.04"), ["ubuntu 22.04"]);
        let long = "7be52d8f00aa11bb22cc33dd44ee55ff66007711";
        assert_eq!(spellings(long)[0], "7be52d8");
        assert_eq!(spellings(long).len(), 6);
        for other in ["v2", "x86_64", "word", "2024", "deadbeefdeadbeefdeadbeef", "a1b2"] {
            assert_eq!(spellings(other), Vec::<String>::new(), "{other}");
        }
    }
}
