//! Says how much of the rarity of a query chunks have. Pure.

use std::collections::HashMap;

use super::Keywords;
use crate::ids::ChunkId;
use crate::search::term::{Term, TermRole};

/// A query of at most so many words is a look-up, whose confidence the rarest of them decides.
const MAX_LOOK_UP: usize = 3;

/// The rarity of what a query asks for, and how much of it some chunks have.
pub(in crate::search) struct Cover {
    /// The weight of each thing that the query asks for and that occurs.
    pub(in crate::search) weights: Vec<f64>,
    /// Its rarity relative to a term of a single chunk, up to about 1.
    pub(in crate::search) rarities: Vec<f64>,
    /// The weight that each chunk has.
    pub(in crate::search) covered: HashMap<ChunkId, f64>,
}

impl Keywords {
    /// Returns the rarity of what the query asks for, and how much of it each of these chunks, ordered by id,
    /// has.
    pub(in crate::search) fn cover(&self, chunk_ids: &[ChunkId]) -> Cover {
        let counting = |term: &Term| {
            !term.entries.is_empty() && matches!(term.counts, TermRole::Itself | TermRole::Whole(_))
        };
        let counting: Vec<(usize, &Term)> =
            self.terms.iter().enumerate().filter(|(_, term)| counting(term)).collect();
        let greatest = self.totals.rarity(1);
        let rarity = |(_, term): &(usize, &Term)| term.weight / term.share / greatest;
        let rarities = counting.iter().map(rarity).collect();
        let weights = counting.iter().map(|(_, term)| term.weight).collect();
        let places = self.sizes.places(chunk_ids.iter().copied());
        let covered = chunk_ids.iter().zip(places).map(|(chunk_id, place)| {
            let covered =
                |place: usize| counting.iter().map(|(at, _)| self.covered(*at, place)).sum();
            (*chunk_id, place.map_or(0.0, covered))
        });
        Cover { weights, rarities, covered: covered.collect() }
    }

    /// Returns how much of the weight of the term `at` the chunk at a place has.
    fn covered(&self, at: usize, place: usize) -> f64 {
        let term = &self.terms[at];
        if term.is_at(place) || self.is_joined_at(at, place) {
            return term.weight;
        }
        let TermRole::Whole(parts) = &term.counts else { return 0.0 };
        let parts = parts.iter().map(|part| &self.terms[*part]);
        let parts = parts.filter(|part| part.is_at(place)).map(|part| part.weight);
        parts.fold(0.0, f64::max).min(term.weight)
    }

    /// Whether the chunk at a place has the term `at` as part of a word that neighbouring words of the query make.
    fn is_joined_at(&self, at: usize, place: usize) -> bool {
        self.terms.iter().any(|joined| match &joined.counts {
            TermRole::Joined(parts) => parts.contains(&at) && joined.is_at(place),
            _ => false,
        })
    }

    /// Whether some of these chunks have what the query looks for: the rarest thing that a few words name, or half of the
    /// rarity of more words.
    pub(in crate::search) fn is_found(&self, chunk_ids: &[ChunkId]) -> bool {
        let counts = |term: &&Term| matches!(term.counts, TermRole::Itself | TermRole::Whole(_));
        let asked: Vec<&Term> = self.terms.iter().filter(counts).collect();
        let all: f64 = asked.iter().map(|term| term.weight).sum();
        let rarest = asked.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        let place = |id: &ChunkId| self.sizes.places([*id].into_iter()).flatten().next();
        let mut places = chunk_ids.iter().filter_map(place);
        let is_few = asked.len() <= MAX_LOOK_UP;
        let has_rarest = |place| is_few && rarest.is_some_and(|term| term.is_at(place));
        let half = |place| {
            2.0 * asked.iter().filter(|term| term.is_at(place)).map(|term| term.weight).sum::<f64>()
                >= all
        };
        all > 0.0 && places.any(|place| has_rarest(place) || half(place))
    }
}
