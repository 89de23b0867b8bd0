//! Says which terms of which index a text of a query stands for, for a copy of the index elsewhere.
//!
//! These are the rules of [`Store::occurrences`](crate::Store::occurrences) and of excluded words;
//! tests compare the answers.

use super::splitter::{Splitter, TermIndex};
use super::{forms, grams};
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
    /// Whether it is another form of what is looked for.
    pub is_other_form: bool,
}

impl Phrase {
    /// Returns a phrase that counts once per chunk, if it has terms.
    fn once(index: TermIndex, terms: Vec<String>, is_prefix: bool) -> Option<Self> {
        let phrase = Self { index, terms, is_prefix, is_counted: false, is_other_form: false };
        (!phrase.terms.is_empty()).then_some(phrase)
    }

    fn counted(index: TermIndex, term: String) -> Self {
        let (is_prefix, is_counted, is_other_form) = (false, true, false);
        Self { index, terms: vec![term], is_prefix, is_counted, is_other_form }
    }
}

impl Splitter {
    /// Returns the phrases for a text and its other forms. A chunk has the most frequent of them.
    pub fn phrases(&self, text: &str) -> Result<Vec<Phrase>> {
        if text.starts_with(is_unspaced) && text.chars().all(is_unspaced) {
            let pairs = scripts::pairs(text);
            if pairs.len() < 2 {
                return Ok(vec![Phrase::counted(TermIndex::Pairs, text.to_owned())]);
            }
            let terms = self.terms(TermIndex::Pairs, &pairs.join(" "))?;
            return Ok(Phrase::once(TermIndex::Pairs, terms, false).into_iter().collect());
        }
        let mut others = Vec::new();
        for form in forms::plain(text) {
            others.extend(self.phrase(&form)?);
        }
        let marked = forms::terms(text).into_iter();
        others.extend(marked.map(|term| Phrase::counted(TermIndex::Pairs, term)));
        let others = others.into_iter().map(|other| Phrase { is_other_form: true, ..other });
        Ok(self.phrase(text)?.into_iter().chain(others).collect())
    }

    /// Returns the phrase for a text, without its other forms.
    fn phrase(&self, text: &str) -> Result<Option<Phrase>> {
        let terms = self.terms(TermIndex::Words, text)?;
        Ok(match terms.as_slice() {
            [term] => Some(Phrase::counted(TermIndex::Words, term.clone())),
            _ => Phrase::once(TermIndex::Words, terms, false),
        })
    }

    /// Returns the phrase for a word next to letters of scripts without spaces, as copies by older versions have it.
    #[must_use]
    pub fn touching(text: &str) -> Phrase {
        Phrase::counted(TermIndex::Pairs, text.to_lowercase())
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

    /// Returns the phrase for a word, phrase or prefix, which ends in `*`, in the names or the tags of documents.
    pub fn name(&self, index: TermIndex, text: &str) -> Result<Option<Phrase>> {
        let plain = text.trim_end_matches('*');
        let terms = self.terms(index, plain)?;
        Ok(Phrase::once(index, terms, plain.len() < text.len()))
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
        let exact = exact::term(text).map(|term| vec![Self::exact(&term)]);
        // Only the index of exact terms has symbols: the word of `C++` would be `C`.
        if exact::ends_in_symbol(text) {
            return Ok(exact.into_iter().collect());
        }
        let words = self.phrase_once(TermIndex::Words, plain, is_prefix)?;
        if !text.chars().any(is_unspaced) {
            let mut any = vec![words];
            any.extend(exact);
            for form in forms::plain(plain) {
                any.push(self.phrase_once(TermIndex::Words, &form, is_prefix)?);
            }
            for term in forms::terms(text) {
                let term = term.trim_end_matches('*');
                any.push(self.phrase_once(TermIndex::Pairs, term, is_prefix)?);
            }
            if !is_prefix {
                any.extend(self.stems(text, languages)?.into_iter().map(|phrase| vec![phrase]));
            }
            return Ok(any);
        }
        let (mut all, mut all_of_older) = (Vec::new(), Vec::new());
        for part in text.split(|c: char| !c.is_alphanumeric() && !is_unspaced(c)) {
            for part in scripts::parts(part) {
                let has_pairs = part.starts_with(is_unspaced);
                let pairs = scripts::pairs(part);
                let text = if !has_pairs {
                    forms::terms(part).join(" ")
                } else if pairs.is_empty() {
                    part.to_owned()
                } else {
                    pairs.join(" ")
                };
                let terms = self.terms(TermIndex::Pairs, &text)?;
                all.extend(Phrase::once(TermIndex::Pairs, terms.clone(), false));
                all_of_older.push(if has_pairs {
                    Phrase {
                        index: TermIndex::Pairs,
                        terms,
                        is_prefix: false,
                        is_counted: false,
                        is_other_form: false,
                    }
                } else {
                    Self::touching(part)
                });
            }
        }
        // Copies by an older kb have no terms for words next to such letters, so their form is asked for, too.
        Ok(vec![words, all, all_of_older])
    }

    /// Returns the phrase for a text that counts once per chunk, as a list of one; empty without terms.
    fn phrase_once(&self, index: TermIndex, text: &str, is_prefix: bool) -> Result<Vec<Phrase>> {
        Ok(Phrase::once(index, self.terms(index, text)?, is_prefix).into_iter().collect())
    }
}
