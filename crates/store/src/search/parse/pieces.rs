//! Splits a query into words and phrases, and decides which quotes are those of programs. Pure.

use super::letters::{is_of_word, is_searchable};
use crate::text::scripts;

/// The meaning of double quotes in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// A phrase that must occur, as people ask for one. Quotes after `:`, `=` or `(` are text, because programs write so:
    /// `No module named: "yaml"`.
    Phrases,
    /// Ordinary text.
    Text,
}

impl Quotes {
    /// A query of several lines is a message or a passage that was pasted.
    pub(super) fn of(typed: &str) -> Self {
        if typed.trim().contains(['\n', '\r']) { Self::Text } else { Self::Phrases }
    }
}

/// A word or a phrase as typed.
pub(super) struct TypedPiece {
    pub(super) text: String,
    /// A phrase with the spaces next to its quotes.
    pub(super) quoted: String,
    pub(super) is_phrase: bool,
    pub(super) is_prefix: bool,
    pub(super) is_excluded: bool,
}

impl TypedPiece {
    /// A wanted word without any operator.
    fn word(text: &str) -> Self {
        let (text, quoted) = (text.to_owned(), text.to_owned());
        Self { text, quoted, is_phrase: false, is_prefix: false, is_excluded: false }
    }
}

/// Splits at white space, except in phrases.
pub(super) fn pieces(typed: &str, quotes: Quotes) -> Vec<TypedPiece> {
    let mut found = Vec::new();
    let mut rest = typed.trim_start();
    // A program begins its messages with who speaks or what is wrong: `curl:`, `ERROR:`.
    let (mut is_message, mut num_looked_at) = (false, 0);
    while !rest.is_empty() {
        let before = &typed[..typed.len() - rest.len()];
        is_message |= before[num_looked_at..].split_whitespace().any(|word| word.ends_with(':'));
        num_looked_at = before.len();
        let (is_excluded, body) = match rest.strip_prefix('-') {
            Some(after) if after.starts_with(|c: char| c == '"' || c.is_alphanumeric()) => {
                (true, after)
            }
            _ => (false, rest),
        };
        let in_quotes = body
            .strip_prefix('"')
            .and_then(|after| after.split_once('"'))
            .filter(|(inner, _)| is_searchable(inner));
        let is_text =
            !is_excluded && (quotes == Quotes::Text || is_message || is_of_program(before));
        let phrase = match in_quotes {
            Some((inner, after)) if is_text => {
                // A `-` or a star between these quotes is text, too.
                found.extend(inner.split_whitespace().map(TypedPiece::word));
                rest = after.trim_start();
                continue;
            }
            in_quotes => in_quotes.filter(|(inner, _)| is_excluded || is_short(inner)),
        };
        let is_phrase = phrase.is_some();
        let (text, after) = match phrase {
            Some(phrase) => phrase,
            None => body.split_at(word_len(body)),
        };
        let prefix = text.strip_suffix('*').filter(|prefix| !is_phrase && is_prefix(prefix));
        if !text.is_empty() {
            let (quoted, text) = (text.to_owned(), prefix.unwrap_or(text).trim().to_owned());
            found.push(TypedPiece {
                text,
                quoted,
                is_phrase,
                is_prefix: prefix.is_some(),
                is_excluded,
            });
        }
        rest = after.trim_start();
    }
    found
}

/// After these, also with one space between, a quote is one of a program: `named: "yaml"`, `msg="no such file"`.
const BEFORE_QUOTES: [char; 3] = [':', '=', '('];

/// Whether a quote directly after this text is one of a program. Quotes that directly follow a letter are in the middle of a
/// word, which is text anyway.
fn is_of_program(before: &str) -> bool {
    let directly = before.strip_suffix(char::is_whitespace).unwrap_or(before);
    directly.ends_with(BEFORE_QUOTES)
}

/// Returns the length of the word with which a text begins. It ends before quotes of a program, so that what is between
/// them stays together.
fn word_len(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_opening = c == '"' && BEFORE_QUOTES.contains(&before);
        if c.is_whitespace() || is_opening && text[at + 1..].contains('"') {
            return at;
        }
        before = c;
    }
    text.len()
}

/// Maximum number of words in a phrase, or of letters in a script without spaces. Quoted passages
/// are seldom longer, and the index looks up each one. A longer text in quotes is searched by its
/// words.
pub(super) const MAX_PHRASE: usize = 64;

pub(super) fn is_short(phrase: &str) -> bool {
    let num_unspaced = phrase.chars().filter(|c| scripts::is_unspaced(*c)).count();
    phrase.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).count() + num_unspaced
        <= MAX_PHRASE
}

/// Minimum number of letters and digits in a prefix; a single one would match nearly every word.
const MIN_PREFIX: usize = 2;

/// Whether a text followed by `*` can be the prefix of a word.
pub(super) fn is_prefix(text: &str) -> bool {
    text.chars().count() >= MIN_PREFIX
        && text.chars().all(|c| is_of_word(c) && !scripts::is_unspaced(c))
}
