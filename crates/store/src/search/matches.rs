//! Finds the words of a query in a text.
//!
//! Finds the same words as the index: it ignores case, accents on Latin and Greek letters, English
//! endings and those of the text's language, keeps phrases together, and matches scripts without spaces by pairs
//! of characters.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::StoredHit;
use crate::ids::ChunkId;
use crate::search::beginnings::Beginnings;
use crate::search::parse;
use crate::text::emoji::is_emoji;
use crate::text::forms::{self, folded, with_two_letters};
use crate::text::joined_numbers::joined_numbers;
use crate::text::language::NaturalLanguage;
use crate::text::scripts;
use crate::text::stem::stem;

/// The terms of a query, to be found in texts.
#[derive(Debug, Clone, Default)]
pub struct QueryTerms {
    terms: Vec<MarkedTerm>,
    /// The weight of each term.
    weights: Vec<usize>,
}

/// The weight of a term that occurs in one passage; one in two passages has half of it.
const RARE: usize = 5040;

#[derive(Debug, Clone)]
enum MarkedTerm {
    /// Consecutive words, as typed and as stems.
    Words { typed: String, stems: Vec<String> },
    /// The beginning of a word.
    Beginning(String),
    /// Letters of a script without spaces.
    Letters(String),
}

impl MarkedTerm {
    /// Whether it is one letter of a script without spaces.
    fn is_single_letter(&self) -> bool {
        match self {
            Self::Letters(wanted) => wanted.chars().nth(1).is_none(),
            _ => false,
        }
    }

    fn is_number(&self) -> bool {
        match self {
            Self::Words { typed, .. } => typed.starts_with(|c: char| c.is_ascii_digit()),
            Self::Beginning(_) | Self::Letters(_) => false,
        }
    }
}

/// An occurrence of a query term in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Byte range in the text.
    pub bytes: Range<usize>,
    /// Index of the term in the query.
    pub term: usize,
}

impl QueryTerms {
    /// Parses a query as typed.
    pub fn new(typed: &str) -> Self {
        let Ok(query) = parse::parse(typed) else { return Self::default() };
        let others: Vec<String> =
            query.wanted.iter().filter_map(|word| with_two_letters(word)).collect();
        let numbers = query.wholes.iter().filter(|whole| whole.is_number);
        let numbers = numbers.map(|whole| &whole.indexed);
        let texts = query.wanted.iter().chain(&query.joined).chain(&query.spellings);
        let texts = texts.chain(&others).chain(numbers);
        let words = texts.map(|text| {
            if text.contains(|c| scripts::is_unspaced(c) || is_emoji(c)) {
                MarkedTerm::Letters(text.clone())
            } else {
                let stems =
                    words(text).into_iter().map(|range| stem(&folded(&text[range]))).collect();
                MarkedTerm::Words { typed: text.clone(), stems }
            }
        });
        let beginnings =
            query.prefixes.iter().map(|prefix| MarkedTerm::Beginning(folded(prefix).into_owned()));
        let terms: Vec<MarkedTerm> = words.chain(beginnings).collect();
        Self { weights: vec![RARE; terms.len()], terms }
    }

    /// Lets terms count the more the fewer of some passages have them; `found` has what [`Self::find`] found in each.
    #[must_use]
    pub fn by_rarity<'a>(mut self, found: impl IntoIterator<Item = &'a Vec<Match>>) -> Self {
        let mut counts = vec![0; self.terms.len()];
        for matches in found {
            let terms: BTreeSet<usize> = matches.iter().map(|found| found.term).collect();
            terms.into_iter().for_each(|term| counts[term] += 1);
        }
        self.weights = counts.into_iter().map(|count| RARE / count.max(1)).collect();
        self
    }

    /// Returns what a term counts that [`Self::find`] has found.
    pub fn weight(&self, term: usize) -> usize {
        self.weights[term]
    }

    /// Finds the terms in a text, ordered by position; matches may overlap.
    pub fn find(&self, text: &str) -> Vec<Match> {
        if self.terms.is_empty() {
            return Vec::new();
        }
        self.find_in(text, NaturalLanguage::of(text))
    }

    /// Finds the terms in the text of a hit, ordered by position; matches may overlap.
    pub(super) fn find_in_hit(&self, stored: &StoredHit) -> Vec<Match> {
        self.find_in(&stored.chunk.chunk.text, stored.natural_language)
    }

    /// Returns what was found before in the text of a hit, or finds it now. `found` has the matches of each chunk.
    pub(super) fn found_or_find<'a>(
        &self,
        found: &'a HashMap<ChunkId, Vec<Match>>,
        stored: &StoredHit,
    ) -> Cow<'a, [Match]> {
        match found.get(&stored.chunk.id) {
            Some(found) => Cow::Borrowed(found),
            None => Cow::Owned(self.find_in_hit(stored)),
        }
    }

    /// Finds the terms in a text whose language is known, ordered by position; matches may overlap.
    fn find_in(&self, text: &str, language: Option<NaturalLanguage>) -> Vec<Match> {
        let places = words(text);
        let beginnings = self.beginnings();
        // Most words begin with other letters than those of the query, so they need not be looked at.
        let plain = |place: &Range<usize>| {
            let word = &text[place.clone()];
            beginnings.may_be_of(word).then(|| folded(word))
        };
        let stems =
            places.iter().map(|place| plain(place).map_or_else(String::new, |it| stem(&it)));
        let stems: Vec<String> = stems.collect();
        let language = language.filter(|language| language.has_stemmer());
        let others = self.other_forms(text, &places);
        // Each word is stemmed alone, so that stems and places have the same positions.
        let other_stems: Vec<Vec<String>> = match language {
            Some(language) => {
                places.iter().map(|place| language.stems(&text[place.clone()])).collect()
            }
            None => Vec::new(),
        };
        let mut found = Vec::new();
        for (idx, term) in self.terms.iter().enumerate() {
            let mut add = |bytes: Range<usize>| {
                found.push(Match { bytes: with_marks(text, bytes), term: idx });
            };
            match term {
                MarkedTerm::Words { stems: wanted, .. } if wanted.is_empty() => {}
                MarkedTerm::Words { typed, stems: wanted } => {
                    let len = wanted.len();
                    for (_, bytes) in others.iter().filter(|(form, _)| *wanted == [form.as_str()]) {
                        add(bytes.clone());
                    }
                    let typed_stems = language.map(|language| language.stems(typed));
                    let typed_stems = typed_stems.filter(|stems| stems.len() == len);
                    for (at, window) in stems.windows(len).enumerate() {
                        let typed_stems = typed_stems.as_ref();
                        if window == wanted
                            || typed_stems.is_some_and(|typed| has_at(&other_stems, at, typed))
                        {
                            add(places[at].start..places[at + len - 1].end);
                        }
                    }
                }
                MarkedTerm::Beginning(wanted) => {
                    for place in &places {
                        if plain(place).is_some_and(|word| word.starts_with(wanted)) {
                            add(place.clone());
                        }
                    }
                }
                MarkedTerm::Letters(wanted) => {
                    text.match_indices(wanted)
                        .for_each(|found| add(found.0..found.0 + found.1.len()));
                }
            }
        }
        // A single letter of such a script means little where a pair was found.
        if found.iter().any(|found| !self.terms[found.term].is_single_letter()) {
            found.retain(|found| !self.terms[found.term].is_single_letter());
        }
        found.sort_by_key(|found| (found.bytes.start, found.bytes.end, found.term));
        found
    }

    /// Returns how the words of the terms begin.
    fn beginnings(&self) -> Beginnings {
        let mut found = Beginnings::default();
        for term in &self.terms {
            match term {
                MarkedTerm::Words { stems, .. } => stems.iter().for_each(|stem| found.add(stem)),
                MarkedTerm::Beginning(wanted) | MarkedTerm::Letters(wanted) => found.add(wanted),
            }
        }
        found
    }

    /// Returns the other forms in which a text has its words and numbers, as stems, with their places.
    fn other_forms(&self, text: &str, places: &[Range<usize>]) -> Vec<(String, Range<usize>)> {
        let mut found = Vec::new();
        if self.terms.iter().any(MarkedTerm::is_number) {
            let numbers = joined_numbers(text).into_iter();
            found.extend(numbers.map(|number| (number.term, number.bytes)));
        }
        if !text.is_ascii() {
            found.extend(places.iter().filter_map(|place| {
                with_two_letters(&text[place.clone()]).map(|form| (stem(&form), place.clone()))
            }));
        }
        found
    }
}

/// Returns the words of a text as the index splits them: runs of letters and digits with their
/// accents. A run of a script without spaces is not a word.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for word in forms::words(text) {
        if text[word.clone()].is_ascii() {
            found.push(word);
            continue;
        }
        let mut end = word.start;
        for part in scripts::parts(&text[word]) {
            end += part.len();
            if !part.starts_with(scripts::is_unspaced) {
                found.push(end - part.len()..end);
            }
        }
    }
    found
}

/// Whether words have these stems from the word at `at` on; `stems` has those of each word.
fn has_at(stems: &[Vec<String>], at: usize, wanted: &[String]) -> bool {
    let window = stems.get(at..at + wanted.len());
    window.is_some_and(|window| {
        window.iter().zip(wanted).all(|(stems, wanted)| stems.first() == Some(wanted))
    })
}

/// Extends a range by the marks on its last letter. In Hindi such marks end a word for the index,
/// but not for the reader.
fn with_marks(text: &str, bytes: Range<usize>) -> Range<usize> {
    let rest = &text[bytes.end..];
    let after = rest.trim_start_matches(|c: char| c.width() == Some(0) && !c.is_control());
    bytes.start..bytes.end + rest.len() - after.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which parts of a text are marked; parts that touch or overlap are merged.
    #[track_caller]
    fn check(query: &str, text: &str, expected: &[&str]) {
        let mut merged: Vec<Range<usize>> = Vec::new();
        for found in QueryTerms::new(query).find(text) {
            match merged.last_mut().filter(|last| last.end >= found.bytes.start) {
                Some(last) => last.end = last.end.max(found.bytes.end),
                None => merged.push(found.bytes),
            }
        }
        let found: Vec<&str> = merged.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{query} in {text}");
    }

    #[test]
    fn words_are_found_whatever_their_case_accents_and_endings() {
        check(
            "installing Git",
            "git is installed by the installer.",
            &["git", "installed", "installer"],
        );
        check("cafe zürich", "Das Café in Zu\u{308}rich", &["Café", "Zu\u{308}rich"]);
        check("the gauge", "the gauges of the pier", &["gauges"]);
    }

    #[test]
    fn other_forms_of_words_and_numbers_are_found() {
        check("official strasse", "oﬃcially in der Straße", &["oﬃcially", "Straße"]);
        check("mueller Möwe", "Herr Müller, moewe", &["Müller", "moewe"]);
        check("torque", "the tor\u{200b}que wrench", &["tor\u{200b}que"]);
        check("1234567", "costs 1,234,567 crowns", &["1,234,567"]);
        check("+49 30 12345678", "call (030) 1234-5678 now", &["030) 1234-5678"]);
        check("🚀 day", "launch 🚀", &["🚀"]);
    }

    #[test]
    fn endings_of_the_texts_own_language_are_ignored() {
        let text = "Die alten Häuser am Hafen wurden im Winter verkauft, und ihre Schlüssel liegen \
            seitdem bei der Verwaltung, die sie nur gegen eine Unterschrift herausgibt.";
        check("haus schlüsseln", text, &["Häuser", "Schlüssel"]);
        check("\"altes Haus\"", text, &["alten Häuser"]);
    }

    #[test]
    fn a_phrase_is_found_as_one_and_excluded_words_are_not_found() {
        check("\"phosphor bronze\" -wire", "bronze, phosphor-bronze wire", &["phosphor-bronze"]);
    }

    #[test]
    fn a_prefix_finds_the_full_word_and_a_name_its_parts() {
        check("config*", "Reconfigure the configuration", &["configuration"]);
        check(
            "parse http request",
            "def parse_http_request(): parseHttpRequest()",
            &["parse", "http", "request", "parseHttpRequest"],
        );
        check("httprequest", "HttpRequest http_request", &["HttpRequest"]);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_pairs_of_letters() {
        check("東京都", "東京都は京都ではない。東", &["東京都", "京都"]);
        check("水", "水族館の水", &["水", "水"]);
        check("ภาษาไทย", "คนไทยพูดภาษาไทย", &["ไทย", "ภาษาไทย"]);
    }

    #[test]
    fn scripts_with_marks_are_found_by_full_words() {
        check("हिन्दी", "यह हिन्दी है", &["हिन्दी"]);
        check("العربية", "اللغة العربية هنا", &["العربية"]);
    }

    #[test]
    fn a_term_counts_the_more_the_fewer_passages_have_it() {
        let passages = ["the cache of uv", "uv cache", "uv never"];
        let weights = |terms: QueryTerms| [0, 1, 2].map(|term| terms.weight(term));
        assert_eq!(weights(QueryTerms::new("uv cache gone")), [RARE; 3]);
        let wanted = QueryTerms::new("uv cache gone");
        let found = passages.map(|passage| wanted.find(passage));
        assert_eq!(weights(wanted.by_rarity(&found)), [RARE / 3, RARE / 2, RARE]);
    }

    #[test]
    fn an_empty_query_or_text_gives_no_matches() {
        check("", "text", &[]);
        check("?!", "what?!", &[]);
    }

    proptest::proptest! {
        #[test]
        fn matches_are_sorted_and_on_character_boundaries(query in "\\PC{0,20}", text in "\\PC{0,60}") {
            let found = QueryTerms::new(&query).find(&text);
            proptest::prop_assert!(found.is_sorted_by_key(|found| found.bytes.start));
            for matched in found {
                proptest::prop_assert!(text.get(matched.bytes).is_some_and(|text| !text.is_empty()));
            }
        }
    }
}
