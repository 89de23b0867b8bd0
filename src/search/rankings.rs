//! Runs the keyword leg and the vector leg in parallel, and weights and fuses their rankings.

use std::collections::HashMap;
use std::panic;
use std::thread;

use crate::document::{ChunkId, DocType, Ranked};
use crate::error::Result;
use crate::search::confidence::{KeywordSignals, Signals, VectorSignals};
use crate::search::fuse::{self, Fused, KEYWORD_POWER, Legs, VECTOR_POWER, WeightedRanking};
use crate::search::keyword::{Keywords, TermMatch};
use crate::search::weights::{self, Tokens};
use crate::search::{LegSelection, LoadEmbedder, Query, SearchOptions};
use crate::store::{Occurrence, Store};
use crate::trace::stage;

/// The rankings of the legs.
pub(super) struct Rankings {
    keywords: Option<Keywords>,
    /// Empty if the query has no keywords.
    pub(super) keyword: Vec<Ranked>,
    /// The ranking and the leg's weight; `None` if the leg was not run.
    pub(super) vector: Option<(Vec<Ranked>, f64)>,
}

/// Options of the legs.
#[derive(Clone, Copy)]
pub(super) struct RankOptions<'a> {
    /// The legs to run.
    pub(super) legs: LegSelection,
    /// The chunks to rank, ordered by id; all if `None`.
    pub(super) passing: Option<&'a [ChunkId]>,
    /// Number of candidates to take from each leg.
    pub(super) depth: u32,
}

/// Runs the legs in parallel.
pub(super) fn rank(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: RankOptions<'_>,
) -> Result<Rankings> {
    let RankOptions { legs, passing, depth } = options;
    thread::scope(|scope| {
        let vector = match legs {
            LegSelection::Keyword => None,
            LegSelection::Both | LegSelection::Vector if store.binding()?.is_none() => None,
            LegSelection::Both | LegSelection::Vector => {
                let reader = store.take_reader()?;
                Some(scope.spawn(move || -> Result<(Vec<Ranked>, f64, Store)> {
                    let embedder = stage("load model", load_embedder)?;
                    let passage = &query.passage;
                    let count = |text: &str| Tokens {
                        num_tokens: embedder.num_tokens(text),
                        num_unknown: embedder.num_unknown(text),
                    };
                    let weight = stage("tokenise", || weights::vector_weight(passage, count));
                    let vector = stage("embed", || embedder.embed_query(passage))?;
                    let ranking =
                        stage("vector", || reader.rank_by_cosine(&vector, passing, depth))?;
                    Ok((ranking, weight, reader))
                }))
            }
        };
        let (keywords, keyword) = match legs {
            LegSelection::Both | LegSelection::Keyword if query.has_terms() => {
                stage("keyword", || -> Result<_> {
                    let keywords = read_keywords(store, query)?;
                    let rank = |keywords: &Keywords| keywords.rank(passing, depth as usize);
                    let keyword = keywords.as_ref().map(rank).unwrap_or_default();
                    Ok((keywords, keyword))
                })?
            }
            _ => (None, Vec::new()),
        };
        let vector = match vector {
            Some(leg) => {
                let outcome = leg.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
                let (ranking, weight, reader) = outcome?;
                store.return_reader(reader);
                Some((ranking, weight))
            }
            None => None,
        };
        Ok(Rankings { keywords, keyword, vector })
    })
}

/// Reads the statistics of the wanted terms; `None` if none of them occurs.
fn read_keywords(store: &Store, query: &Query) -> Result<Option<Keywords>> {
    let words = query.wanted.iter().map(|word| store.occurrences(word));
    let prefixes = query.prefixes.iter().map(|prefix| store.occurrences_of_prefix(prefix));
    let mut terms: Vec<Vec<Occurrence>> = words.chain(prefixes).collect::<Result<_>>()?;
    let mut names = query.term_names();
    for word in &query.joined {
        let found = store.occurrences(word)?;
        if !found.is_empty() && !names.iter().any(|name| name.eq_ignore_ascii_case(word)) {
            terms.push(found);
            names.push(word.clone());
        }
    }
    if terms.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    Ok(Some(Keywords::new(names, &terms, store.chunk_sizes()?)))
}

impl Rankings {
    /// Weights and fuses the first entries of each leg, and drops results below the threshold.
    pub(super) fn fuse(
        &self,
        store: &Store,
        query: &Query,
        options: &SearchOptions,
    ) -> Result<Vec<Fused>> {
        let depth = options.depth() as usize;
        let keyword = &self.keyword[..self.keyword.len().min(depth)];
        let keyword_weight =
            if self.vector.is_some() { keyword_weight(store, query, keyword)? } else { 1.0 };
        // A vector leg that cannot read the query is left out, unless it is the only leg.
        let vector = match &self.vector {
            Some((ranking, _)) if keyword.is_empty() => (ranking.as_slice(), 1.0),
            Some((ranking, weight)) if *weight > 0.0 => (ranking.as_slice(), *weight),
            _ => (&[] as &[Ranked], 1.0),
        };
        let legs = Legs {
            keyword: WeightedRanking {
                weight: keyword_weight,
                power: KEYWORD_POWER,
                ranking: keyword,
            },
            vector: WeightedRanking {
                weight: vector.1,
                power: VECTOR_POWER,
                ranking: &vector.0[..vector.0.len().min(depth)],
            },
        };
        let mut fused = fuse::fuse(legs, options.rrf_k);
        if let Some(threshold) = options.threshold {
            fused.retain(|hit| hit.score >= threshold);
        }
        Ok(fused)
    }

    /// Returns the signals from which confidence is estimated.
    pub(super) fn signals(&self, fused: &[Fused]) -> Signals {
        let coverage = |chunk_id: Option<ChunkId>| match (&self.keywords, chunk_id) {
            (Some(keywords), Some(chunk_id)) => keywords.coverage(chunk_id),
            _ => 0.0,
        };
        let vector = self.vector.as_ref().filter(|(_, weight)| *weight > 0.0);
        let vector = vector.and_then(|(ranking, _)| {
            let (first, gap) = first_and_gap(ranking)?;
            let coverage = coverage(Some(first.chunk_id));
            Some(VectorSignals { cosine: first.score, gap, coverage })
        });
        let keyword = self.keywords.as_ref().map(|_| {
            let gap = first_and_gap(&self.keyword).map_or(0.0, |(first, gap)| gap / first.score);
            KeywordSignals { gap, coverage: coverage(fused.first().map(|hit| hit.chunk_id)) }
        });
        Signals { vector, keyword }
    }

    /// Returns the terms of the query that occur in a chunk or its document.
    pub(super) fn terms(&self, chunk_id: ChunkId) -> Vec<TermMatch> {
        self.keywords.as_ref().map(|keywords| keywords.matches(chunk_id)).unwrap_or_default()
    }
}

/// Number of entries that the first is compared with.
const NUM_NEXT: usize = 10;

/// Returns the first entry and how far its score is above the mean of the next ones.
fn first_and_gap(ranking: &[Ranked]) -> Option<(Ranked, f64)> {
    let (first, next) = ranking.split_first()?;
    let next = &next[..next.len().min(NUM_NEXT)];
    let sum: f64 = next.iter().map(|entry| first.score - entry.score).sum();
    let count = u32::try_from(next.len()).map_or(0.0, f64::from);
    Some((*first, sum / count.max(1.0)))
}

/// Number of first keyword hits whose type is checked.
const NUM_JUDGED: usize = 10;

/// Returns the keyword leg's weight, from the types of the documents it ranks first.
fn keyword_weight(store: &Store, query: &Query, ranking: &[Ranked]) -> Result<f64> {
    let scores: HashMap<ChunkId, f64> =
        ranking.iter().take(NUM_JUDGED).map(|entry| (entry.chunk_id, entry.score)).collect();
    let ids: Vec<ChunkId> = ranking.iter().take(NUM_JUDGED).map(|entry| entry.chunk_id).collect();
    let code: f64 = store
        .hits(&ids)?
        .iter()
        .filter(|hit| hit.doc_type == DocType::Code)
        .map(|hit| scores[&hit.chunk.id])
        .sum();
    let all: f64 = ids.iter().map(|id| scores[id]).sum();
    let code_share = if all > 0.0 { code / all } else { 0.0 };
    Ok(weights::keyword_weight(&query.passage, code_share))
}
