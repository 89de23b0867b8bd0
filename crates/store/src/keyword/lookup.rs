//! Says which terms of which index a text of a query stands for, for a copy of the index elsewhere.
//!
//! These are the rules of [`Store::occurrences`](crate::Store::occurrences) and of excluded words;
//! tests compare the answers.

use super::grams;
use super::splitter::{Splitter, TermIndex};
use crate::error::Result;
use crate::text::exact;
use crate::text::language::NaturalLanguage;
use crate::text::scripts::{self, is_unspaced};

/// Terms that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The index.
    pub index: TermIndex,
    /// The terms in order; at least one.
    pub terms: Vec<String>,
    /// Whether the last term may be longer.
    pub is_prefix: bool,
    /// Whether every occurrence counts, by context and text, and not only one per chunk, in the text.
    pub is_counted: bool,
}

impl Phrase {
    /// Returns a phrase that counts once per chunk, if it has terms.
    fn once(index: TermIndex, terms: Vec<String>, is_prefix: bool) -> Option<Self> {
        let phrase = Self { index, terms, is_prefix, is_counted: false };
        (!phrase.terms.is_empty()).then_some(phrase)
    }

    fn counted(index: TermIndex, term: String) -> Self {
        Self { index, terms: vec![term], is_prefix: false, is_counted: true }
    }
}

impl Splitter {
    /// Returns the phrases for a text. Their occurrences in a chunk are added.
    pub fn phrases(&self, text: &str) -> Result<Vec<Phrase>> {
        if text.starts_with(is_unspaced) && text.chars().all(is_unspaced) {
            let pairs = scripts::pairs(text);
            if pairs.len() < 2 {
                return Ok(vec![Phrase::counted(TermIndex::Pairs, text.to_owned())]);
            }
            let terms = self.terms(TermIndex::Pairs, &pairs.join(" "))?;
            return Ok(Phrase::once(TermIndex::Pairs, terms, false).into_iter().collect());
        }
        let terms = self.terms(TermIndex::Words, text)?;
        Ok(match terms.as_slice() {
            [term] => vec![
                Phrase::counted(TermIndex::Words, term.clone()),
                Phrase::counted(TermIndex::Pairs, text.to_lowercase()),
            ],
            _ => Phrase::once(TermIndex::Words, terms, false).into_iter().collect(),
        })
    }

    /// Returns the phrases for the stems of a text in the given languages. A chunk has the larger of these
    /// occurrences and those of [`Splitter::phrases`].
    pub fn stems(&self, text: &str, languages: &[NaturalLanguage]) -> Result<Vec<Phrase>> {
        let mut found = Vec::new();
        if text.starts_with(is_unspaced) && text.chars().all(is_unspaced) {
            return Ok(found);
        }
        for language in languages {
            let terms = grams::stem_terms(*language, text);
            if let [term] = terms.as_slice() {
                found.push(Phrase::counted(TermIndex::Pairs, term.clone()));
            } else {
                let terms = self.terms(TermIndex::Pairs, &terms.join(" "))?;
                found.extend(Phrase::once(TermIndex::Pairs, terms, false));
            }
        }
        Ok(found)
    }

    /// Returns the phrase for all words that begin so.
    pub fn prefix(&self, prefix: &str) -> Result<Option<Phrase>> {
        Ok(Phrase::once(TermIndex::Words, self.terms(TermIndex::Words, prefix)?, true))
    }

    /// Returns the phrase for an exact term.
    #[must_use]
    pub fn exact(term: &str) -> Phrase {
        Phrase::counted(TermIndex::Exact, term.to_owned())
    }

    /// Returns the phrase for a word, phrase or prefix, which ends in `*`, in the names of documents.
    pub fn name(&self, text: &str) -> Result<Option<Phrase>> {
        let plain = text.trim_end_matches('*');
        let terms = self.terms(TermIndex::Names, plain)?;
        Ok(Phrase::once(TermIndex::Names, terms, plain.len() < text.len()))
    }

    /// Returns what a chunk has in which a text occurs: all phrases of any of these lists. An excluded text ends in `*`
    /// for all words that begin so.
    pub fn alternatives(
        &self,
        text: &str,
        languages: &[NaturalLanguage],
    ) -> Result<Vec<Vec<Phrase>>> {
        let (plain, is_prefix) = match text.strip_suffix('*') {
            Some(beginning) => (beginning, true),
            None => (text, false),
        };
        let of = |index| -> Result<Vec<Phrase>> {
            Ok(Phrase::once(index, self.terms(index, plain)?, is_prefix).into_iter().collect())
        };
        let exact = exact::term(text).map(|term| vec![Self::exact(&term)]);
        if exact::ends_in_symbol(text) {
            return Ok(exact.into_iter().collect());
        }
        let words = of(TermIndex::Words)?;
        if !text.chars().any(is_unspaced) {
            let mut any = vec![words, of(TermIndex::Pairs)?];
            any.extend(exact);
            if !is_prefix {
                any.extend(self.stems(text, languages)?.into_iter().map(|phrase| vec![phrase]));
            }
            return Ok(any);
        }
        let mut all = Vec::new();
        for part in text.split(|c: char| !c.is_alphanumeric() && !is_unspaced(c)) {
            for part in scripts::parts(part) {
                let pairs = scripts::pairs(part);
                let text = match part.starts_with(is_unspaced) && !pairs.is_empty() {
                    true => pairs.join(" "),
                    false => part.to_owned(),
                };
                let terms = self.terms(TermIndex::Pairs, &text)?;
                all.extend(Phrase::once(TermIndex::Pairs, terms, false));
            }
        }
        Ok(vec![words, all])
    }
}
