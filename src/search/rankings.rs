//! Runs the keyword leg and the vector leg in parallel, and weights and fuses their rankings.

use std::collections::HashMap;
use std::panic;
use std::thread;

use crate::document::{ChunkId, DocType, Ranked};
use crate::embed::{QueryEmbedding, QueryTokens};
use crate::error::Result;
use crate::search::confidence::{self, KeywordSignals, Signals, VectorSignals};
use crate::search::fuse::{
    self, Fused, KEYWORD_POWER, Legs, VECTOR_POWER, WeightedRanking, above_floor,
};
use crate::search::keyword::{Keywords, TermMatch};
use crate::search::weights::{self, Tokens};
use crate::search::{LegSelection, LoadEmbedder, Query, SearchOptions, late};
use crate::store::{Occurrence, Store};
use crate::trace::stage;

/// The rankings of the legs.
pub(super) struct Rankings {
    keywords: Option<Keywords>,
    /// Whether words of the query were looked for.
    has_words: bool,
    /// Empty if the query has no keywords.
    pub(super) keyword: Vec<Ranked>,
    /// `None` if the leg was not run.
    pub(super) vector: Option<VectorLeg>,
}

/// What the vector leg found.
pub(super) struct VectorLeg {
    /// Best first, by cosine.
    pub(super) ranking: Vec<Ranked>,
    /// The leg's weight for the query.
    weight: f64,
    /// The query's tokens.
    tokens: QueryTokens,
    /// The cosine of unrelated passages.
    floor: f64,
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
                Some(scope.spawn(move || -> Result<(VectorLeg, Store)> {
                    let embedder = stage("load model", load_embedder)?;
                    let passage = &query.passage;
                    let count = |text: &str| Tokens {
                        num_tokens: embedder.num_tokens(text),
                        num_unknown: embedder.num_unknown(text),
                    };
                    let weight = stage("tokenise", || weights::vector_weight(passage, count));
                    let QueryEmbedding { vector, tokens } =
                        stage("embed", || embedder.embed_query(passage))?;
                    let ranking =
                        stage("vector", || reader.rank_by_cosine(&vector, passing, depth))?;
                    let floor = reader.cosine_floor()?;
                    Ok((VectorLeg { ranking, weight, tokens, floor }, reader))
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
                let (leg, reader) = outcome?;
                store.return_reader(reader);
                Some(leg)
            }
            None => None,
        };
        let has_words = legs != LegSelection::Vector && query.has_terms();
        Ok(Rankings { keywords, has_words, keyword, vector })
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
    /// Weights and fuses the first entries of each leg, compares the first hits by their tokens, and
    /// drops results below the threshold.
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
        let vector = self.vector.as_ref().filter(|leg| keyword.is_empty() || leg.weight > 0.0);
        let by_cosine = vector.map_or(&[][..], |leg| &leg.ranking[..leg.ranking.len().min(depth)]);
        let scores = above_floor(by_cosine, vector.map_or(0.0, |leg| leg.floor));
        let weight = vector.map_or(1.0, |leg| if keyword.is_empty() { 1.0 } else { leg.weight });
        let fuse = |ranking: &[Ranked]| {
            let keyword =
                WeightedRanking { weight: keyword_weight, power: KEYWORD_POWER, ranking: keyword };
            let vector = WeightedRanking { weight, power: VECTOR_POWER, ranking };
            fuse::fuse(Legs { keyword, vector }, options.rrf_k)
        };
        let mut fused = fuse(&scores);
        let mut matches = HashMap::new();
        if let Some(leg) = vector.filter(|_| options.compares_tokens) {
            let first: Vec<ChunkId> =
                fused.iter().take(late::DEPTH).map(|hit| hit.chunk_id).collect();
            matches = stage("compare tokens", || leg.matches(store, &first))?;
            if !matches.is_empty() {
                let usual = late::usual_match(leg.floor);
                fused = fuse(&late::rerank(&scores, &first, &matches, (weight, usual)));
            }
        }
        show_raw(&mut fused, by_cosine, &matches);
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
        let vector = self.vector.as_ref().filter(|leg| leg.weight > 0.0);
        let vector = vector.and_then(|leg| {
            let (first, gap) = first_and_gap(&leg.ranking)?;
            let coverage = coverage(Some(first.chunk_id));
            let (usual, factor) = confidence::stretch(leg.floor);
            let cosine = usual + factor * (first.score - leg.floor);
            Some(VectorSignals { cosine, gap: factor * gap, coverage })
        });
        let keyword = match self.keywords {
            Some(_) => {
                let gap =
                    first_and_gap(&self.keyword).map_or(0.0, |(first, gap)| gap / first.score);
                let coverage = coverage(fused.first().map(|hit| hit.chunk_id));
                Some(KeywordSignals { gap, coverage })
            }
            // No word occurs, and the model cannot read the query: nothing speaks for an answer.
            None if self.has_words && vector.is_none() => {
                Some(KeywordSignals { gap: 0.0, coverage: 0.0 })
            }
            None => None,
        };
        Signals { vector, keyword }
    }

    /// Returns the terms of the query that occur in a chunk or its document.
    pub(super) fn terms(&self, chunk_id: ChunkId) -> Vec<TermMatch> {
        self.keywords.as_ref().map(|keywords| keywords.matches(chunk_id)).unwrap_or_default()
    }
}

impl VectorLeg {
    /// Returns how well the query's tokens match those of chunks; chunks without any are left out.
    fn matches(&self, store: &Store, ids: &[ChunkId]) -> Result<HashMap<ChunkId, f64>> {
        let codes = store.token_codes(ids)?;
        let found =
            codes.iter().filter_map(|(id, codes)| Some((*id, self.tokens.match_with(codes)?)));
        Ok(found.collect())
    }
}

/// Adds to the hits the cosines and matches from which the scores of the leg were made.
fn show_raw(fused: &mut [Fused], by_cosine: &[Ranked], matches: &HashMap<ChunkId, f64>) {
    let cosines: HashMap<ChunkId, f64> =
        by_cosine.iter().map(|entry| (entry.chunk_id, entry.score)).collect();
    for hit in fused {
        if let Some(leg) = &mut hit.legs.vector {
            leg.raw = cosines[&hit.chunk_id];
            hit.token_match = matches.get(&hit.chunk_id).copied();
        }
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
