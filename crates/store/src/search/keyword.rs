//! Ranks chunks by BM25, from the terms and their occurrences. Pure.
//!
//! BM25 with fields (Robertson, Zaragoza and Taylor, CIKM 2004): a term's occurrences in the
//! chunk's context, in its text, and its density in the document are weighted and added before they
//! saturate. So a chunk whose document is about the topic ranks above one that mentions it in
//! passing.
//!
//! Very common terms are skipped where rarer ones occur: chunks are not scored if all their terms
//! together weigh less than the last entry of the ranking (Turtle and Flood, 1995). This does not
//! change the results.

use schemars::JsonSchema;
use serde::Serialize;

pub(super) use cover::{MAX_LOOK_UP, TermCoverage};

use crate::ChunkSizes;
use crate::ids::{ChunkId, RankedChunk};
use crate::search::term::{
    DocumentPlaces, TermMatches, TermRole, Totals, WeightedTerm, candidates, from_place,
};

/// Chunks scored per entry of the ranking before the deciding terms are known. Fewer give a lower last score, and then
/// more terms have to be scored in the second pass.
const FIRST_CANDIDATES: usize = 4;

/// The terms of a query with their statistics.
pub(super) struct Keywords {
    /// In the order of the query.
    terms: Vec<WeightedTerm>,
    names: Vec<String>,
    sizes: ChunkSizes,
    totals: Totals,
    /// Whether other knowledge bases are asked too, and have terms of the query.
    pub(super) is_shared: bool,
    /// A word of several parts that no passage has as a whole.
    pub(super) missing_whole: Option<String>,
}

/// How much more a place weighs than all other terms together, so that passages which only mention it come after it, also if
/// they are short.
const PLACE: f64 = 4.0;

/// The share of its weight that a word counts which replaces one that no passage has: it may mean something else.
const COMPLETION: f64 = 0.5;

/// Number of exact terms that a place counts as: a page that repeats a path has more of its words than the file itself.
const MEANT_BY_PLACE: u32 = 5;

/// A word of a query that no passage has, and what was searched instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedWord {
    /// As typed.
    pub typed: String,
    /// The nearest words that passages have, in small letters.
    pub words: Vec<String>,
}

/// How a term of the query contributed to a chunk.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Term")]
pub struct TermMatch {
    /// The term, as people write it.
    pub term: String,
    /// Number of chunks that contain it.
    #[serde(rename = "chunks")]
    pub num_chunks: u32,
    /// Its weight; larger for rare terms.
    pub weight: f64,
    /// Occurrences in the chunk's context: title and headings, or module and class.
    pub in_context: u32,
    /// Occurrences in the chunk's own text.
    pub in_text: u32,
    /// Whether it is in the name of the file, an alias or the name of the folder.
    pub in_name: bool,
    /// Whether it is in a tag of the document.
    pub in_tag: bool,
    /// Occurrences in the whole document.
    pub in_document: u32,
    /// Its share of the chunk's BM25.
    #[serde(rename = "bm25")]
    pub score: f64,
}

impl Keywords {
    /// Creates the terms from their names, where they were found, the share of their weight
    /// that counts, in (0, 1], and the statistics and the sizes of all chunks.
    pub(super) fn new(
        names: Vec<String>,
        found: &[TermMatches],
        shares: &[f64],
        totals: Totals,
        sizes: ChunkSizes,
    ) -> Self {
        let terms = found.iter().zip(shares).map(|(found, share)| {
            let completes = found.completes.clone().map(TermRole::Completion);
            let share = if completes.is_some() { COMPLETION * share } else { *share };
            let term = WeightedTerm::new(found, share, &sizes, &totals);
            let counts = match found.parts.as_slice() {
                _ if let Some(role) = completes => role,
                [] => TermRole::Itself,
                parts if found.is_joined => TermRole::Joined(parts.to_vec()),
                parts => TermRole::Whole(parts.to_vec()),
            };
            let typed = found.typed.clone();
            WeightedTerm {
                is_meant: found.is_meant,
                is_place: found.is_place,
                counts,
                typed,
                ..term
            }
        });
        let mut terms: Vec<WeightedTerm> = terms.collect();
        for whole in found.iter().filter(|found| !found.is_joined && found.num_with() > 0) {
            for part in &whole.parts {
                terms[*part].counts = TermRole::Part;
            }
        }
        // Places come last: their weight is a multiple of all others.
        let others: f64 = terms.iter().filter(|term| !term.is_place).map(|term| term.weight).sum();
        for place in terms.iter_mut().filter(|term| term.is_place) {
            place.weight = place.weight.max(PLACE * others * place.share);
        }
        let is_shared = found.iter().any(|found| found.num_elsewhere > 0);
        Self { terms, names, sizes, totals, is_shared, missing_whole: None }
    }

    /// Ranks the chunks in which at least one term occurs. Best first, ties by chunk id; at most
    /// `depth`. Scores are positive.
    ///
    /// `passing` lists the chunks that pass the filter, ordered by id, if there is a filter. Other
    /// chunks are not ranked, but count in the statistics of the terms.
    pub(super) fn rank(&self, passing: Option<&[ChunkId]>, depth: usize) -> Vec<RankedChunk> {
        let mut terms: Vec<&WeightedTerm> = self.terms.iter().collect();
        terms.sort_by_key(|term| term.entries.len());
        let mut num_candidates = 0;
        let num_deciding = terms
            .iter()
            .take_while(|term| {
                let is_needed = num_candidates < depth.saturating_mul(FIRST_CANDIDATES);
                num_candidates += term.entries.len();
                is_needed
            })
            .count();
        let mut ranked = self.rank_deciding(&terms, num_deciding, passing, depth);
        // The last score can only rise with more candidates, so one correction is enough.
        let num_needed = num_needed(&terms, &ranked, depth);
        if num_needed > num_deciding {
            ranked = self.rank_deciding(&terms, num_needed, passing, depth);
        }
        ranked
    }

    /// Ranks the chunks that have any term, in documents that have one of the first `num_deciding`
    /// of `terms`; at most `depth`.
    fn rank_deciding(
        &self,
        terms: &[&WeightedTerm],
        num_deciding: usize,
        passing: Option<&[ChunkId]>,
        depth: usize,
    ) -> Vec<RankedChunk> {
        let mut candidates = candidates(terms, num_deciding, &self.sizes, &self.totals);
        for term in terms {
            term.add_to(&mut candidates);
        }
        let ranked = candidates.iter().map(|candidate| RankedChunk {
            chunk_id: self.sizes.chunk_id(candidate.place),
            score: candidate.score,
        });
        let mut ranked: Vec<RankedChunk> = ranked
            .filter(|ranked| {
                passing.is_none_or(|passing| passing.binary_search(&ranked.chunk_id).is_ok())
            })
            .collect();
        // Most candidates are behind the last entry, so only the first ones are sorted.
        if depth < ranked.len() {
            ranked.select_nth_unstable_by(depth, RankedChunk::order);
            ranked.truncate(depth);
        }
        ranked.sort_unstable_by(RankedChunk::order);
        ranked
    }

    /// Returns what each term that occurs in a chunk or its document contributes to the chunk, in
    /// the order of the query; the scores add up to the chunk's score.
    pub(super) fn matches(&self, chunk_id: ChunkId) -> Vec<TermMatch> {
        self.each_match(chunk_id).into_iter().flatten().collect()
    }

    /// Returns the score of a chunk for some of the terms, each with its whole weight; `None` if none of them occurs
    /// in it or its document.
    pub(super) fn score(&self, chunk_id: ChunkId, terms: &[usize]) -> Option<f64> {
        let found = self.each_match(chunk_id);
        let scores: Vec<f64> = terms
            .iter()
            .filter_map(|term| Some(found.get(*term)?.as_ref()?.score / self.terms[*term].share))
            .collect();
        (!scores.is_empty()).then(|| scores.iter().sum())
    }

    /// Returns what each term contributes to a chunk; `None` for a term that does not occur there.
    fn each_match(&self, chunk_id: ChunkId) -> Vec<Option<TermMatch>> {
        let Some(place) = self.sizes.places([chunk_id].into_iter()).flatten().next() else {
            return Vec::new();
        };
        let document = DocumentPlaces::around(place, 0, &self.sizes);
        let candidate = document.candidate(place, &self.sizes, &self.totals);
        let found = self.terms.iter().zip(&self.names).map(|(term, name)| {
            let own = from_place(&term.entries, document.places.start);
            let own =
                &own[..own.iter().take_while(|entry| entry.place < document.places.end).count()];
            let here = own.iter().find(|entry| entry.place == place);
            let in_document: u32 = own.iter().map(|entry| entry.in_text).sum();
            (!own.is_empty()).then(|| TermMatch {
                term: name.clone(),
                num_chunks: u32::try_from(term.entries.len()).unwrap_or(u32::MAX),
                weight: term.weight,
                in_context: here.map_or(0, |entry| entry.in_context),
                in_text: here.map_or(0, |entry| entry.in_text),
                in_name: here.is_some_and(|entry| entry.in_name),
                in_tag: here.is_some_and(|entry| entry.in_tag),
                in_document,
                score: term.score(&candidate, here, in_document),
            })
        });
        found.collect()
    }

    /// Returns the number of terms by which a chunk's document is named. The name of a source file says what it is
    /// about; other names say little, unless one of the terms occurs nearly only in documents that are named so, as that
    /// of a company does.
    pub(super) fn num_names(&self, chunk_id: ChunkId, is_code: bool) -> u32 {
        let Some(place) = self.sizes.places([chunk_id].into_iter()).flatten().next() else {
            return 0;
        };
        let counts =
            is_code || self.terms.iter().any(|term| term.is_in_name(place) && term.is_name);
        if !counts {
            return 0;
        }
        let num_names = self.terms.iter().filter(|term| term.is_in_name(place)).count();
        u32::try_from(num_names).unwrap_or_default()
    }

    /// Returns the number of exact terms that the query asks for and a chunk, its context or its document's name has.
    pub(super) fn num_meant(&self, chunk_id: ChunkId) -> u32 {
        let Some(place) = self.sizes.places([chunk_id].into_iter()).flatten().next() else {
            return 0;
        };
        let meant = self.terms.iter().filter(|term| term.is_meant && term.is_at(place));
        meant.map(|term| if term.is_place { MEANT_BY_PLACE } else { 1 }).sum()
    }

    /// Returns each term in small letters, and how many chunks have it.
    pub(super) fn counts(&self) -> impl Iterator<Item = (String, usize)> {
        let names = self.names.iter().map(|name| name.to_lowercase());
        names.zip(self.terms.iter().map(|term| term.num_with))
    }

    /// Whether the query asks for an exact term that occurs.
    pub(super) fn has_meant(&self) -> bool {
        self.terms.iter().any(|term| term.is_meant)
    }

    /// Returns the share of the terms' weight that occurs in a chunk, its context or its document's
    /// name, in 0..=1.
    pub(super) fn coverage(&self, chunk_id: ChunkId) -> f64 {
        self.share(chunk_id, |found| {
            found.in_name || found.in_tag || found.in_context + found.in_text > 0
        })
    }

    /// Returns the share of the terms' weight that occurs in a chunk's context or its document's name, in 0..=1.
    pub(super) fn in_title(&self, chunk_id: ChunkId) -> f64 {
        self.share(chunk_id, |found| found.in_name || found.in_tag || found.in_context > 0)
    }

    fn share(&self, chunk_id: ChunkId, counts: impl Fn(&TermMatch) -> bool) -> f64 {
        let found = self.each_match(chunk_id);
        let here = found.iter().zip(&self.terms).filter(|(_, term)| term.is_typed());
        let here = here.filter_map(|(found, _)| found.as_ref()).filter(|found| counts(found));
        let all: f64 =
            self.terms.iter().filter(|term| term.is_typed()).map(|term| term.weight).sum();
        if all > 0.0 { here.map(|found| found.weight).sum::<f64>() / all } else { 0.0 }
    }

    /// Whether a passage has a term that was typed, and not only words near it.
    pub(super) fn has_typed(&self) -> bool {
        self.terms.iter().any(|term| term.is_typed() && !term.entries.is_empty())
    }

    /// Returns the words of the query that no passage has, and what was searched instead.
    pub(super) fn completed(&self) -> Vec<CompletedWord> {
        let mut found: Vec<CompletedWord> = Vec::new();
        for (term, name) in self.terms.iter().zip(&self.names) {
            let TermRole::Completion(typed) = &term.counts else { continue };
            match found.iter_mut().find(|completed| completed.typed == *typed) {
                Some(completed) => completed.words.push(name.clone()),
                None => {
                    let (typed, words) = (typed.clone(), vec![name.clone()]);
                    found.push(CompletedWord { typed, words });
                }
            }
        }
        found
    }
}

/// Returns how many of `terms`, the rarest first, may bring a chunk into the first `depth` of a ranking; the others
/// together weigh less than its last entry.
fn num_needed(terms: &[&WeightedTerm], ranked: &[RankedChunk], depth: usize) -> usize {
    let last = if depth == 0 { None } else { ranked.get(depth - 1) };
    last.map_or(terms.len(), |last| {
        let mut rest = 0.0;
        let negligible = terms.iter().rev().take_while(|term| {
            rest += term.greatest();
            rest < last.score
        });
        terms.len() - negligible.count()
    })
}

mod cover;
#[cfg(test)]
mod tests;
