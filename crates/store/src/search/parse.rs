//! Parses what the user typed into a [`Query`]. Fails only on an input that looks for nothing or asks
//! for too much at once.
//!
//! The full syntax: words are alternatives that BM25 ranks, `"an exact phrase"` must occur, a
//! leading `-` excludes a word or a phrase, `begin*` matches every word that begins so. Everything
//! else is text, also what a program has put in quotes (`Quotes`).
//!
//! English function words are dropped if other words remain: on questions to project FAQs that
//! raised nDCG@10 of the keyword leg from 0.701 to 0.747, with the same index. A word of several
//! parts (`git-lfs`, `x86_64`) is searched by its parts; a run of letters in a script without
//! spaces by its pairs of characters and its single characters.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::limits;
use crate::text::emoji::emoji;
use crate::text::forms::{seen, with_whole_letters, words};
use crate::text::{exact, scripts};
use pieces::{MAX_PHRASE, Quotes, TypedPiece, is_short, pieces};

mod letters;
mod pieces;
mod spellings;

use letters::{camel_case_words, is_of_word, is_searchable};
pub use spellings::CompoundWord;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The user's string, unchanged.
    pub typed: String,
    /// The text for the vector leg to embed: the wanted words and phrases, in order.
    pub passage: String,
    /// Wanted words and phrases; empty if none has a letter or a digit.
    pub wanted: Vec<String>,
    /// Wanted prefixes of words.
    pub prefixes: Vec<String>,
    /// Neighbouring words written as one (`http request` as `httprequest`), as in program text.
    /// Wanted only if they occur.
    pub joined: Vec<String>,
    /// Phrases that must occur, as typed between the quotes; some of `wanted`.
    pub phrases: Vec<String>,
    /// The texts that were typed between quotes, including those that are ordinary text by now.
    pub quoted: Vec<String>,
    /// Exact terms as the index has them ([`exact`]), in addition to their parts. Wanted only if they occur.
    pub exact: Vec<String>,
    /// Words that are made of parts, as a whole. Wanted only if they occur.
    pub wholes: Vec<CompoundWord>,
    /// Other spellings of words. Wanted only if they occur.
    pub spellings: Vec<String>,
    /// Words and phrases that must not occur; a prefix ends in `*`.
    pub excluded: Vec<String>,
    /// Whether one phrase is all that is wanted.
    pub is_one_phrase: bool,
    /// Whether the keyword leg uses only the first [`limits::QUERY_TERMS`] terms.
    pub is_cut: bool,
}

impl Query {
    /// Returns the terms as the user typed them.
    pub fn term_names(&self) -> Vec<String> {
        let prefixes = self.prefixes.iter().map(|prefix| format!("{prefix}*"));
        self.wanted.iter().cloned().chain(prefixes).collect()
    }

    /// Returns the query with the words of a phrase instead of it among the wanted ones: the phrase occurs in other forms.
    pub(super) fn with_words_of(mut self, phrase: &str) -> Self {
        let place = self.wanted.iter().position(|term| term == phrase);
        if let Some(place) = place {
            let parts = words(phrase).map(|word| phrase[word].to_owned());
            self.wanted.splice(place..=place, parts);
        }
        self
    }

    /// Returns the words that may be completed by others if they occur nowhere: those of several letters and nothing else,
    /// not in quotes, and no part of an exact term.
    pub(super) fn completable(&self) -> impl Iterator<Item = &str> {
        let wanted = self.wanted.iter().map(String::as_str);
        wanted.filter(|word| self.may_be_completed(word))
    }

    fn may_be_completed(&self, word: &str) -> bool {
        word.chars().count() >= MIN_COMPLETED
            && word.chars().all(|c| c.is_alphabetic() && !scripts::is_unspaced(c))
            && !self.quoted.iter().any(|phrase| phrase.contains(word))
            && !self.exact.iter().any(|term| exact::shown(term).contains(&word.to_lowercase()))
    }

    /// Whether the keyword leg can find anything.
    pub fn has_terms(&self) -> bool {
        !self.wanted.is_empty() || !self.prefixes.is_empty()
    }

    /// Returns the query with what is in quotes as ordinary text; exclusions stay.
    ///
    /// # Errors
    ///
    /// Those of [`parse`].
    pub(super) fn without_quotes(&self) -> Result<Self> {
        Ok(Self { quoted: self.quoted.clone(), ..parse_as(&self.typed, Quotes::Text)? })
    }
}

/// Shorter words have too many others near them.
const MIN_COMPLETED: usize = 5;

/// Parses what the user typed.
///
/// # Errors
///
/// [`Error::EmptyQuery`] if the text is empty or only white space; [`Error::OnlyExclusions`] if it has
/// only words and phrases that must not occur; [`Error::Usage`] if it is longer than [`limits::QUERY_BYTES`] or excludes more than [`limits::QUERY_EXCLUSIONS`] words and
/// phrases.
pub fn parse(typed: &str) -> Result<Query> {
    parse_as(typed, Quotes::of(typed))
}

fn parse_as(typed: &str, quotes: Quotes) -> Result<Query> {
    if typed.trim().is_empty() {
        return Err(Error::EmptyQuery);
    }
    if typed.len() > limits::QUERY_BYTES {
        let (len, most) = (typed.len(), limits::QUERY_BYTES);
        return Err(refused(format!("the query has {len} bytes; at most {most} are allowed")));
    }
    let seen = seen(typed);
    let pieces = pieces(&with_whole_letters(&seen), quotes);
    let has_wanted = pieces.iter().any(|piece| !piece.is_excluded && is_searchable(&piece.text));
    let (excluded, kept): (Vec<TypedPiece>, Vec<TypedPiece>) =
        pieces.into_iter().partition(|piece| piece.is_excluded);
    // A query of exclusions alone has nothing by which to rank the passages that remain.
    if !has_wanted && !excluded.is_empty() {
        return Err(Error::OnlyExclusions);
    }
    if excluded.len() > limits::QUERY_EXCLUSIONS {
        let (count, most) = (excluded.len(), limits::QUERY_EXCLUSIONS);
        return Err(refused(format!(
            "the query excludes {count} words; at most {most} are allowed"
        )));
    }
    if excluded.iter().any(|piece| piece.is_phrase && !is_short(&piece.text)) {
        return Err(refused(format!("an excluded phrase may have at most {MAX_PHRASE} words")));
    }
    let (prefixes, pieces): (Vec<&TypedPiece>, Vec<&TypedPiece>) =
        kept.iter().partition(|piece| piece.is_prefix);
    let found = Terms::of(prefixes.iter().map(|piece| piece.text.clone()), limits::QUERY_PREFIXES);
    let mut is_cut = found.is_cut;
    let prefixes = found.take();
    let most = limits::QUERY_TERMS - prefixes.len();
    let mut found = terms(&pieces, most, |word| !is_function_word(word));
    if found.is_empty() && prefixes.is_empty() {
        // A query of function words alone, such as "to be or not to be", is searched by these.
        found = terms(&pieces, most, |_| true);
    }
    is_cut |= found.is_cut;
    let wanted = found.take();
    let passage: Vec<&str> = kept.iter().map(|piece| piece.text.as_str()).collect();
    let passage = match passage.join(" ") {
        empty if empty.is_empty() => typed.trim().to_owned(),
        passage => passage,
    };
    let excluded = excluded
        .into_iter()
        .map(|piece| if piece.is_prefix { piece.text + "*" } else { piece.text })
        .collect();
    let joined = joined(&pieces);
    let mut searchable = kept.iter().filter(|piece| is_searchable(&piece.text));
    let is_one_phrase =
        searchable.next().is_some_and(|first| first.is_phrase) && searchable.next().is_none();
    // Only the phrases that the keyword leg uses must be in a passage; those beyond its limit are cut.
    let used = pieces.iter().filter(|piece| piece.is_phrase && wanted.contains(&piece.text));
    let phrases = Terms::of(used.map(|piece| piece.quoted.clone()), most);
    let exact = pieces.iter().filter_map(|piece| exact::term(&piece.text));
    let exact = Terms::of(exact, limits::QUERY_TERMS).take();
    let plain = || pieces.iter().filter(|piece| !piece.is_phrase).take(limits::QUERY_TERMS);
    // Neighbouring words may be the groups of a number, which is then looked up as one word, not by its groups.
    let numbers = spellings::numbers(&passage);
    let wholes = plain().filter_map(|piece| spellings::whole(&piece.text));
    let wholes: Vec<CompoundWord> = wholes
        .filter(|whole| !numbers.iter().any(|number| number.typed.contains(&whole.typed)))
        .collect();
    let wholes = wholes.into_iter().chain(numbers).take(limits::QUERY_TERMS).collect();
    let spellings = plain().flat_map(|piece| spellings::spellings(&piece.text));
    let spellings = Terms::of(spellings, limits::QUERY_TERMS).take();
    let (typed, phrases) = (typed.to_owned(), phrases.take());
    Ok(Query {
        quoted: phrases.clone(),
        typed,
        passage,
        wanted,
        prefixes,
        joined,
        exact,
        wholes,
        spellings,
        phrases,
        excluded,
        is_one_phrase,
        is_cut,
    })
}

fn refused(message: String) -> Error {
    Error::usage(message).with_hint("shorten the query")
}

/// Distinct terms in the order they were found, at most as many as a query may have.
struct Terms {
    found: Vec<String>,
    seen: HashSet<String>,
    most: usize,
    is_cut: bool,
}

impl Terms {
    fn new(most: usize) -> Self {
        Self { found: Vec::new(), seen: HashSet::new(), most, is_cut: false }
    }

    fn of(terms: impl Iterator<Item = String>, most: usize) -> Self {
        let mut found = Self::new(most);
        terms.for_each(|term| found.add(term));
        found
    }

    fn add(&mut self, term: String) {
        if self.seen.contains(&term) {
            return;
        }
        if self.found.len() == self.most {
            self.is_cut = true;
            return;
        }
        self.seen.insert(term.clone());
        self.found.push(term);
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn take(self) -> Vec<String> {
        self.found
    }
}

/// Returns the distinct terms of the pieces: phrases unchanged, and those parts of words that
/// `is_kept`. A single letter counts only as a separate word.
///
/// A word of several parts was also searched as one until measured: on twelve collections the parts
/// alone were better or equal in eleven.
fn terms(pieces: &[&TypedPiece], most: usize, is_kept: impl Fn(&str) -> bool) -> Terms {
    let mut found = Terms::new(most);
    for piece in pieces.iter().filter(|piece| is_searchable(&piece.text)) {
        if found.is_cut {
            break;
        }
        if piece.is_phrase {
            found.add(piece.text.clone());
            continue;
        }
        let parts: Vec<&str> = piece
            .text
            .split(|c: char| !is_of_word(c) && !scripts::is_unspaced(c))
            .filter(|part| is_searchable(part))
            .flat_map(scripts::parts)
            .collect();
        let is_one = parts.len() == 1;
        let kept: Vec<&str> = parts
            .iter()
            .copied()
            .filter(|part| is_kept(part) && (is_one || !is_letter(part)))
            .collect();
        for part in
            parts.iter().flat_map(|word| camel_case_words(word)).filter(|word| !is_letter(word))
        {
            found.add(part.to_lowercase());
        }
        // No part of `i/o` counts, so the whole word must.
        if !is_one && parts.iter().all(|part| is_letter(part)) {
            found.add(parts.join(" "));
        }
        for part in kept {
            if part.starts_with(scripts::is_unspaced) {
                scripts::grams(part).into_iter().for_each(|gram| found.add(gram.to_owned()));
            } else {
                found.add(part.to_owned());
            }
        }
        emoji(&piece.text).iter().for_each(|emoji| found.add(emoji.written.to_owned()));
    }
    found
}

fn is_letter(part: &str) -> bool {
    part.chars().all(char::is_alphabetic) && part.chars().nth(1).is_none()
}

/// Maximum number of neighbouring words to join. Each run of words is looked up, so the number bounds the look-ups.
const MAX_JOINED: usize = 4;

/// Maximum length of joined words, in letters; no index has longer words of this kind.
const MAX_JOINED_LEN: usize = 40;

/// Joins neighbouring words, and the parts of one word, so that `parse_http_request` and "parse
/// http request" match `parseHttpRequest`.
fn joined(pieces: &[&TypedPiece]) -> Vec<String> {
    let mut found = Terms::new(limits::QUERY_TERMS);
    // A phrase, a function word or a script without spaces ends a run of words.
    let mut runs: Vec<Vec<&str>> = vec![Vec::new()];
    for piece in pieces {
        let parts = piece.text.split(|c: char| !is_of_word(c)).filter(|part| is_searchable(part));
        for part in parts {
            if piece.is_phrase || is_function_word(part) || part.contains(scripts::is_unspaced) {
                runs.push(Vec::new());
            } else if let Some(run) = runs.last_mut() {
                run.push(part);
            }
        }
    }
    for run in &runs {
        for len in 2..=MAX_JOINED {
            for words in run.windows(len) {
                let word = words.concat().to_lowercase();
                if word.starts_with(char::is_alphabetic) && word.len() <= MAX_JOINED_LEN {
                    found.add(word);
                }
                if found.is_cut {
                    return found.take();
                }
            }
        }
    }
    found.take()
}

/// Articles, prepositions, pronouns, auxiliaries and question words of English, which do not show
/// what a text is about. Sorted.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having", "he",
    "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my",
    "no", "nor", "not", "of", "on", "or", "our", "she", "should", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "us",
    "was", "we", "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with",
    "would", "you", "your",
];

fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests;
