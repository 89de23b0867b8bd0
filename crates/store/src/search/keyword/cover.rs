//! Says how much of the rarity of a query chunks have. Pure.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use memchr::memmem::Finder;

use super::Keywords;
use crate::ids::ChunkId;
use crate::search::term::{TermRole, WeightedTerm};

/// A query of at most this many words is a look-up, whose confidence the rarest of them decides.
pub(crate) const MAX_LOOK_UP: usize = 3;

/// A query names a thing if at most this many passages have it. The names of the fit are in one or two.
const MAX_WITH_NAME: usize = 5;

/// The rarity of what a query asks for, and how much of it some chunks have.
pub(crate) struct TermCoverage {
    /// The weight of each thing that the query asks for and that occurs.
    pub(crate) weights: Vec<f64>,
    /// Its rarity relative to a term of a single chunk, up to about 1.
    pub(crate) rarities: Vec<f64>,
    /// The weight that each chunk has.
    pub(crate) covered: HashMap<ChunkId, f64>,
}

impl Keywords {
    /// Returns the rarity of what the query asks for, and how much of it each of these chunks, ordered by id,
    /// has.
    pub(crate) fn cover(&self, chunk_ids: &[ChunkId]) -> TermCoverage {
        let greatest = self.totals.rarity(1);
        let rarities = self.asked().map(|(_, term)| term.weight / term.share / greatest).collect();
        let weights = self.asked().map(|(_, term)| term.weight).collect();
        let (ids, places) = self.known(chunk_ids.iter().copied());
        let presence = self.presence(&places);
        let mut covered = vec![0.0; places.len()];
        for (at, _) in self.asked() {
            for (sum, own) in covered.iter_mut().zip(self.covered(at, &presence)) {
                *sum += own;
            }
        }
        TermCoverage { weights, rarities, covered: ids.into_iter().zip(covered).collect() }
    }

    /// Returns those of some chunks, ordered by id, that are there, and their places.
    fn known(
        &self,
        chunk_ids: impl Iterator<Item = ChunkId> + Clone,
    ) -> (Vec<ChunkId>, Vec<usize>) {
        let places = self.sizes.places(chunk_ids.clone());
        chunk_ids.zip(places).filter_map(|(id, place)| Some((id, place?))).unzip()
    }

    /// Says for each term which of some places, in order, have it.
    fn presence(&self, places: &[usize]) -> Vec<Vec<bool>> {
        self.terms.iter().map(|term| term.are_at(places)).collect()
    }

    /// Returns the things that the query asks for and that occur, with their places among the terms.
    fn asked(&self) -> impl Iterator<Item = (usize, &WeightedTerm)> {
        let terms = self.terms.iter().enumerate();
        terms.filter(|(_, term)| term.num_with > 0 && term.is_asked())
    }

    /// Returns how much of the weight of the term `at` each of some places has, from which terms they have.
    fn covered(&self, at: usize, presence: &[Vec<bool>]) -> Vec<f64> {
        let term = &self.terms[at];
        // The term also occurs as part of a word that neighbouring words of the query make.
        let with_it =
            self.terms.iter().enumerate().filter_map(|(other, joined)| match &joined.counts {
                TermRole::Joined(parts) if parts.contains(&at) => Some(other),
                _ => None,
            });
        let occurring: Vec<usize> = with_it.chain([at]).collect();
        let mut parts: Vec<usize> = match &term.counts {
            TermRole::Whole(parts) => parts.clone(),
            _ => Vec::new(),
        };
        parts.sort_by(|a, b| self.terms[*b].weight.total_cmp(&self.terms[*a].weight));
        let covered = (0..presence[at].len()).map(|number| {
            let own = if occurring.iter().any(|other| presence[*other][number]) {
                term.weight
            } else {
                let rarest = parts.iter().find(|part| presence[**part][number]);
                rarest.map_or(0.0, |rarest| self.terms[*rarest].weight)
            };
            own.min(term.weight)
        });
        covered.collect()
    }

    /// Returns the rarity of what the query asks for as it was typed, and how much of it each of some passages has in
    /// another form only. How rare a form is among what the index knows as one term is judged by these passages; a form
    /// that none of them has counts like the term.
    pub(crate) fn cover_in_other_forms(
        &self,
        passages: &BTreeMap<ChunkId, String>,
    ) -> TermCoverage {
        let (ids, places) = self.known(passages.keys().copied());
        let presence = self.presence(&places);
        let texts: Vec<String> = ids.iter().map(|id| letters(&passages[id])).collect();
        let mut cover = self.cover(&[]);
        for (number, (at, term)) in self.asked().enumerate() {
            let Some(typed) = term.typed.as_deref().map(letters) else { continue };
            let typed = Finder::new(&typed);
            // A passage whose document has the term in its name or tags has it as typed: names have no other forms.
            let has_form: Vec<bool> = texts
                .iter()
                .zip(&places)
                .map(|(text, place)| has_word(text, &typed) || term.is_in_name_or_tag(*place))
                .collect();
            let num_with_form = has_form.iter().filter(|has| **has).count();
            if num_with_form == 0 {
                continue;
            }
            let either = has_form.iter().zip(&presence[at]).filter(|(form, term)| **form || **term);
            let num_with = term.num_with * num_with_form / either.count();
            let rarity = self.totals.rarity(num_with.max(1));
            let covered = self.covered(at, &presence);
            for ((id, covered), has_form) in ids.iter().zip(covered).zip(has_form) {
                if !has_form {
                    let share = covered / term.weight;
                    *cover.covered.entry(*id).or_default() += rarity * term.share * share;
                }
            }
            cover.weights[number] = rarity * term.share;
            cover.rarities[number] = rarity / self.totals.rarity(1);
        }
        cover
    }

    /// Returns a word of the query that no passage has, as it was typed; of those that were completed, if `is_look_up` is
    /// false. `None` if the query is the name of a file. The parts of a word that occurs need not occur alone.
    pub(crate) fn missing(&self, is_look_up: bool) -> Option<&str> {
        if self.terms.iter().any(|term| term.is_place) {
            return None;
        }
        let whole = self.missing_whole.as_deref().filter(|_| is_look_up);
        whole.or_else(|| {
            let mut terms = self.terms.iter().zip(&self.names);
            let (term, name) = terms.find(|(term, name)| {
                term.is_asked() && term.num_with == 0 && (is_look_up || self.is_completed(name))
            })?;
            Some(term.typed.as_ref().unwrap_or(name))
        })
    }

    /// Whether a word was completed by others.
    fn is_completed(&self, name: &str) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| matches!(&term.counts, TermRole::Completion(typed) if typed == name))
    }

    /// Whether the query names a place, or something that few passages have.
    pub(crate) fn is_name(&self) -> bool {
        let mut asked = self.asked().map(|(_, term)| term);
        self.asked().count() <= MAX_LOOK_UP
            && asked.any(|term| term.is_place || term.num_with <= MAX_WITH_NAME)
    }

    /// Whether some of these chunks have what the query looks for: the rarest thing that a few words name, or half of the
    /// rarity of more words.
    pub(crate) fn is_found(&self, chunk_ids: &[ChunkId]) -> bool {
        let asked: Vec<&WeightedTerm> = self.terms.iter().filter(|term| term.is_asked()).collect();
        let all: f64 = asked.iter().map(|term| term.weight).sum();
        let rarest = asked.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        let mut places =
            chunk_ids.iter().filter_map(|id| self.sizes.places([*id].into_iter()).flatten().next());
        let is_few = asked.len() <= MAX_LOOK_UP;
        all > 0.0
            && places.any(|place| {
                let found = asked.iter().filter(|term| term.is_at(place)).map(|term| term.weight);
                is_few && rarest.is_some_and(|term| term.is_at(place))
                    || 2.0 * found.sum::<f64>() >= all
            })
    }
}

/// Returns a text in small letters, without the marks by which Markdown keeps its own signs apart.
fn letters(text: &str) -> String {
    let text =
        if text.contains('\\') { Cow::Owned(text.replace('\\', "")) } else { Cow::Borrowed(text) };
    text.to_lowercase()
}

/// Whether a text has a word, not only as part of a longer one.
fn has_word(text: &str, word: &Finder<'_>) -> bool {
    word.find_iter(text.as_bytes()).any(|at| {
        let after = at + word.needle().len();
        is_boundary(text[..at].chars().next_back()) && is_boundary(text[after..].chars().next())
    })
}

/// Whether a word may end next to this sign, or at the end of a text.
fn is_boundary(next: Option<char>) -> bool {
    !next.is_some_and(char::is_alphanumeric)
}
