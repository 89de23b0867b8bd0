//! Query in, hits out: parse → keyword ∥ vector → fuse → threshold → hits.
//!
//! Knows the database through `store` and the model through `Embedder`; knows nothing of
//! files, settings or how a hit is shown.

use std::collections::HashMap;
use std::panic;
use std::thread;

use crate::document::{ChunkId, DocType, Filter, Ranked};
use crate::embed::Embedder;
use crate::error::Result;
use crate::search::fuse::{Fused, Leg, WeightedRanking};
use crate::search::weigh::Tokens;
use crate::store::{Occurrence, Store, StoredHit};

pub mod fuse;
mod keyword;
pub mod parse;
mod weigh;

pub use parse::Query;

/// Candidates each leg is asked for at least, so that the order of the first results is the same
/// for every limit up to a third of it (D4).
const MIN_DEPTH: u32 = 300;

/// Candidates per requested hit, where that is more than [`MIN_DEPTH`].
const DEPTH_PER_HIT: u32 = 3;

/// Which rankings take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legs {
    /// Keyword and vector.
    Both,
    /// BM25 only: no model is loaded.
    Keyword,
    /// Cosine only.
    Vector,
}

/// What to look for and how hard.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// Hits to return.
    pub limit: u32,
    /// Documents to look in; narrows both rankings before they are cut.
    pub filter: Filter,
    /// Which rankings take part.
    pub legs: Legs,
    /// The fusion constant.
    pub rrf_k: f64,
    /// Fused results below it are dropped.
    pub threshold: Option<f64>,
}

impl SearchOptions {
    /// Returns how many candidates each leg is asked for.
    pub fn depth(&self) -> u32 {
        MIN_DEPTH.max(self.limit.saturating_mul(DEPTH_PER_HIT))
    }
}

/// The answer to a query.
#[derive(Debug, Clone)]
pub struct SearchResults {
    /// The user's string, unchanged.
    pub typed: String,
    /// Best first, at most the limit.
    pub hits: Vec<Hit>,
    /// Distinct chunks among the candidates after filter and threshold.
    pub total_matches: usize,
}

/// A chunk ready to be shown, with the reasons for its place.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Sum of the legs' terms.
    pub score: f64,
    /// What the keyword leg said; `None` if it was not run or did not rank the chunk.
    pub keyword: Option<Leg>,
    /// What the vector leg said; `None` if it was not run or did not rank the chunk.
    pub vector: Option<Leg>,
    /// The chunk and its document.
    pub stored: StoredHit,
}

/// Gives the embedder when the vector leg needs it; loading runs beside the keyword leg.
pub type LoadEmbedder<'a> = dyn Fn() -> Result<Box<dyn Embedder>> + Sync + 'a;

/// Searches the chunks of `store`.
///
/// Both legs run side by side, each on its own connection. A database without chunks is answered
/// without a model. Same database, same query, same answer.
///
/// # Errors
///
/// Whatever loading the model or reading the database gives.
pub fn search(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: &SearchOptions,
) -> Result<SearchResults> {
    let depth = options.depth();
    let filter = Filter { excluded_expr: query.excluded_expr(), ..options.filter.clone() };
    let passing = if filter.is_empty() { None } else { Some(store.passing_chunks(&filter)?) };
    if passing.as_ref().is_some_and(Vec::is_empty) {
        return Ok(SearchResults {
            typed: query.typed.clone(),
            hits: Vec::new(),
            total_matches: 0,
        });
    }
    let passing = passing.as_deref();
    let (keyword, vector) = thread::scope(|scope| -> Result<_> {
        let vector = match options.legs {
            Legs::Keyword => None,
            Legs::Both | Legs::Vector if store.binding()?.is_none() => None,
            Legs::Both | Legs::Vector => {
                let reader = store.reader()?;
                Some(scope.spawn(move || -> Result<(Vec<Ranked>, f64)> {
                    let embedder = load_embedder()?;
                    let passage = &query.passage;
                    let weight = weigh::vector_weight(passage, |it| Tokens {
                        num_tokens: embedder.num_tokens(it),
                        num_unknown: embedder.num_unknown(it),
                    });
                    let vector = embedder.embed_query(passage)?;
                    Ok((reader.rank_by_cosine(&vector, passing, depth)?, weight))
                }))
            }
        };
        let keyword = match options.legs {
            Legs::Both | Legs::Keyword if !query.wanted.is_empty() => {
                Some(rank_by_keywords(store, query, passing, depth)?)
            }
            _ => None,
        };
        let vector = match vector {
            Some(leg) => Some(leg.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?),
            None => None,
        };
        Ok((keyword, vector))
    })?;
    // A vector leg that cannot read the query is left out, unless it is all there is.
    let is_alone = keyword.as_ref().is_none_or(Vec::is_empty);
    let keyword = match keyword {
        Some(ranking) => {
            let weight =
                if vector.is_some() { keyword_weight(store, query, &ranking)? } else { 1.0 };
            Some((ranking, weight))
        }
        None => None,
    };
    let vector = vector
        .map(|(ranking, weight)| (ranking, if is_alone { 1.0 } else { weight }))
        .filter(|(_, weight)| *weight > 0.0);
    let fused = fuse_legs([keyword.as_ref(), vector.as_ref()], options);
    let total_matches = fused.len();
    let page: Vec<&Fused> = fused.iter().take(options.limit as usize).collect();
    let chunk_ids: Vec<ChunkId> = page.iter().map(|it| it.chunk_id).collect();
    let by_chunk: HashMap<ChunkId, &Fused> = page.iter().map(|it| (it.chunk_id, *it)).collect();
    // A chunk that another process removed meanwhile is not among the stored ones.
    let hits = store
        .hits(&chunk_ids)?
        .into_iter()
        .map(|stored| {
            let fused = by_chunk[&stored.chunk.id];
            Hit { score: fused.score, keyword: fused.legs[0], vector: fused.legs[1], stored }
        })
        .collect();
    Ok(SearchResults { typed: query.typed.clone(), hits, total_matches })
}

/// Reads what the index knows of the wanted terms, and ranks by it.
fn rank_by_keywords(
    store: &Store,
    query: &Query,
    passing: Option<&[ChunkId]>,
    depth: u32,
) -> Result<Vec<Ranked>> {
    let terms: Vec<Vec<Occurrence>> =
        query.wanted.iter().map(|it| store.occurrences(it)).collect::<Result<_>>()?;
    if terms.iter().all(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let sizes = store.chunk_sizes()?;
    Ok(keyword::rank(&terms, &sizes, passing, depth as usize))
}

/// First hits of the keyword leg whose type is looked at.
const NUM_JUDGED: usize = 10;

/// Looks at what the keyword leg found to tell how much it counts.
fn keyword_weight(store: &Store, query: &Query, ranking: &[Ranked]) -> Result<f64> {
    let scores: HashMap<ChunkId, f64> =
        ranking.iter().take(NUM_JUDGED).map(|it| (it.chunk_id, it.score)).collect();
    let ids: Vec<ChunkId> = ranking.iter().take(NUM_JUDGED).map(|it| it.chunk_id).collect();
    let code: f64 = store
        .hits(&ids)?
        .iter()
        .filter(|it| it.doc_type == DocType::Code)
        .map(|it| scores[&it.chunk.id])
        .sum();
    let all: f64 = ids.iter().map(|it| scores[it]).sum();
    let code_share = if all > 0.0 { code / all } else { 0.0 };
    Ok(weigh::keyword_weight(&query.passage, code_share))
}

/// Fuses the legs that ran and drops what is below the threshold.
fn fuse_legs(legs: [Option<&(Vec<Ranked>, f64)>; 2], options: &SearchOptions) -> Vec<Fused> {
    let rankings = legs.map(|leg| match leg {
        Some((ranking, weight)) => WeightedRanking { weight: *weight, ranking },
        None => WeightedRanking { weight: 1.0, ranking: &[] },
    });
    let mut fused = fuse::fuse(&rankings, options.rrf_k);
    if let Some(threshold) = options.threshold {
        fused.retain(|it| it.score >= threshold);
    }
    fused
}
