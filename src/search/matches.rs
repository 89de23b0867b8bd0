//! Finds the words of a query in a text.
//!
//! The same words that the index would find: case, accents of Latin and Greek letters and English
//! endings aside, phrases whole, scripts without spaces by their pairs of letters.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_width::UnicodeWidthChar;

use crate::search::parse;
use crate::text::scripts;
use crate::text::stem::stem;

/// The words of a query.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    terms: Vec<Term>,
}

#[derive(Debug, Clone)]
enum Term {
    /// Words one after the other, by their stems.
    Words(Vec<String>),
    /// How a word begins.
    Beginning(String),
    /// Letters of a script without spaces.
    Letters(String),
}

/// A term of the query in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Where, in bytes.
    pub bytes: Range<usize>,
    /// Which term of the query, by its number.
    pub term: usize,
}

impl Wanted {
    /// Takes a query as typed.
    pub fn new(typed: &str) -> Self {
        let Ok(query) = parse::parse(typed) else { return Self::default() };
        let words = query.wanted.iter().chain(&query.joined).map(|text| {
            if text.contains(scripts::is_unspaced) {
                Term::Letters(text.clone())
            } else {
                Term::Words(words(text).map(|it| stem(&folded(&text[it]))).collect())
            }
        });
        let beginnings = query.prefixes.iter().map(|it| Term::Beginning(folded(it)));
        Self { terms: words.chain(beginnings).collect() }
    }

    /// Finds the terms in a text, in the order of their places; they may overlap.
    pub fn find(&self, text: &str) -> Vec<Match> {
        if self.terms.is_empty() {
            return Vec::new();
        }
        let places: Vec<Range<usize>> = words(text).collect();
        let plain: Vec<String> = places.iter().map(|it| folded(&text[it.clone()])).collect();
        let stems: Vec<String> = plain.iter().map(|it| stem(it)).collect();
        let mut found = Vec::new();
        for (idx, term) in self.terms.iter().enumerate() {
            let mut add = |bytes: Range<usize>| {
                found.push(Match { bytes: with_marks(text, bytes), term: idx });
            };
            match term {
                Term::Words(wanted) if wanted.is_empty() => {}
                Term::Words(wanted) => {
                    for (at, window) in stems.windows(wanted.len()).enumerate() {
                        if window == wanted {
                            add(places[at].start..places[at + wanted.len() - 1].end);
                        }
                    }
                }
                Term::Beginning(wanted) => {
                    let has_it = |it: &(&String, _)| it.0.starts_with(wanted);
                    plain.iter().zip(&places).filter(has_it).for_each(|it| add(it.1.clone()));
                }
                Term::Letters(wanted) => {
                    text.match_indices(wanted).for_each(|it| add(it.0..it.0 + it.1.len()));
                }
            }
        }
        // A single letter of such a script says little where a pair was found.
        let is_letter = |it: &Match| match &self.terms[it.term] {
            Term::Letters(wanted) => wanted.chars().nth(1).is_none(),
            _ => false,
        };
        if found.iter().any(|it| !is_letter(it)) {
            found.retain(|it| !is_letter(it));
        }
        found.sort_by_key(|it| (it.bytes.start, it.bytes.end, it.term));
        found
    }
}

/// Returns the words of a text as the index has them: runs of letters and digits with the accents on
/// them. A run of a script without spaces is none.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, _) = chars.find(|it| it.1.is_alphanumeric() && !scripts::is_unspaced(it.1))?;
        let mut end = text.len();
        while let Some(&(at, c)) = chars.peek() {
            if scripts::is_unspaced(c) || !(c.is_alphanumeric() || is_accent(c)) {
                end = at;
                break;
            }
            chars.next();
        }
        Some(start..end)
    })
}

/// Returns a word in lower case without accents.
fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.nfd().filter(|it| !is_accent(*it)).collect::<String>().to_lowercase()
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns a place with the marks that stand on its last letter: in Hindi they part a word for the
/// index, but not for the eye.
fn with_marks(text: &str, bytes: Range<usize>) -> Range<usize> {
    let is_mark = |it: char| it.width() == Some(0) && !it.is_control();
    let rest = &text[bytes.end..];
    bytes.start..bytes.end + rest.len() - rest.trim_start_matches(is_mark).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what of a text is marked, pieces that touch or overlap as one.
    #[track_caller]
    fn check(query: &str, text: &str, expected: &[&str]) {
        let mut merged: Vec<Range<usize>> = Vec::new();
        for it in Wanted::new(query).find(text) {
            match merged.last_mut().filter(|last| last.end >= it.bytes.start) {
                Some(last) => last.end = last.end.max(it.bytes.end),
                None => merged.push(it.bytes),
            }
        }
        let found: Vec<&str> = merged.into_iter().map(|it| &text[it]).collect();
        assert_eq!(found, expected, "{query} in {text}");
    }

    #[test]
    fn words_are_found_whatever_their_case_accent_and_ending() {
        check(
            "installing Git",
            "git is installed by the installer.",
            &["git", "installed", "installer"],
        );
        check("cafe zürich", "Das Café in Zu\u{308}rich", &["Café", "Zu\u{308}rich"]);
        check("the gauge", "the gauges of the pier", &["gauges"]);
    }

    #[test]
    fn a_phrase_is_found_whole_and_an_exclusion_not_at_all() {
        check("\"phosphor bronze\" -wire", "bronze, phosphor-bronze wire", &["phosphor-bronze"]);
    }

    #[test]
    fn a_beginning_finds_the_whole_word_and_a_name_its_parts() {
        check("config*", "Reconfigure the configuration", &["configuration"]);
        check(
            "parse http request",
            "def parse_http_request(): parseHttpRequest()",
            &["parse", "http", "request", "parseHttpRequest"],
        );
        check("httprequest", "HttpRequest http_request", &["HttpRequest"]);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_their_pairs() {
        check("東京都", "東京都は京都ではない。東", &["東京都", "京都"]);
        check("水", "水族館の水", &["水", "水"]);
        check("ภาษาไทย", "คนไทยพูดภาษาไทย", &["ไทย", "ภาษาไทย"]);
    }

    #[test]
    fn scripts_with_marks_are_found_by_whole_words() {
        check("हिन्दी", "यह हिन्दी है", &["हिन्दी"]);
        check("العربية", "اللغة العربية هنا", &["العربية"]);
    }

    #[test]
    fn nothing_is_found_of_nothing() {
        check("", "text", &[]);
        check("?!", "what?!", &[]);
    }

    proptest::proptest! {
        #[test]
        fn places_are_in_order_and_on_characters(query in "\\PC{0,20}", text in "\\PC{0,60}") {
            let found = Wanted::new(&query).find(&text);
            proptest::prop_assert!(found.is_sorted_by_key(|it| it.bytes.start));
            for it in found {
                proptest::prop_assert!(text.get(it.bytes).is_some_and(|it| !it.is_empty()));
            }
        }
    }
}
