//! Traces a document through a search.

use std::slice;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Store;
use crate::document::Filter;
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId, RankedChunk};
use crate::search::answer::UnmetPhrasing;
use crate::search::fuse::{FusedChunk, LegScore, PerLeg};
use crate::search::options::RankOptions;
use crate::search::page::page;
use crate::search::passing::passing;
use crate::search::rankings::rank;
use crate::search::{CompletedWord, LoadEmbedder, Query, SearchOptions, TermMatch};
use crate::text::contents::is_contents;
use crate::text::fields;

fields::words! {
    /// The outcome of a search for one document.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum WhyOutcome {
        /// The document is among the hits.
        Shown = "shown",
        /// It has no searchable text.
        Empty = "empty",
        /// The filter excludes it.
        Filtered = "filtered",
        /// Each of its chunks has an excluded word.
        Excluded = "excluded",
        /// None of its chunks has all phrases in quotes.
        WithoutPhrase = "without_phrase",
        /// No leg ranks it within the depth.
        BeyondDepth = "beyond_depth",
        /// It nearly repeats a better hit, word for word.
        Copy = "copy",
        /// Its score is below the threshold.
        BelowThreshold = "below_threshold",
        /// It ranks after the requested number of hits.
        BeyondLimit = "beyond_limit",
    }
}

/// The rank of a chunk in one leg.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub struct LegRank {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its rank, from 1.
    pub rank: u32,
    /// The leg's own score: BM25 or cosine. Larger is better.
    pub raw: f64,
}

/// The path of a document through a search.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The outcome.
    pub outcome: WhyOutcome,
    /// Number of the document's chunks.
    pub num_chunks: usize,
    /// Number of its chunks that pass filter and exclusions and have the phrases.
    pub num_passing: usize,
    /// The terms into which the keyword leg splits the query.
    pub terms: Vec<String>,
    /// The contribution of each term to the document's best chunk by keywords.
    pub matches: Vec<TermMatch>,
    /// Its best chunk by keywords; `None` if no term occurs, or the leg was not run.
    pub keyword: Option<LegRank>,
    /// Its best chunk by cosine; `None` if the leg was not run.
    pub vector: Option<LegRank>,
    /// Number of candidates taken from each leg.
    pub depth: u32,
    /// The position of its best chunk among all fused ones, from 1, with its score and each leg's
    /// contribution.
    pub fused: Option<(u32, f64, PerLeg<Option<LegScore>>)>,
    /// Number of hits requested.
    pub limit: u32,
    /// The phrasing, if no chunk has its phrases in quotes.
    pub unmet: Option<UnmetPhrasing>,
    /// Whether it was searched without them, therefore.
    pub is_without_quotes: bool,
    /// Words of the query that no passage has, and what was searched instead.
    pub completed: Vec<CompletedWord>,
}

/// Traces a document through a search.
pub fn why(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    document_id: DocumentId,
    options: &SearchOptions,
) -> Result<Trace> {
    let chunk_ids: Vec<ChunkId> = store.chunks(document_id)?.iter().map(|chunk| chunk.id).collect();
    let of_filter = store.passing_chunks(&options.filter)?;
    let is_own = |id: &ChunkId| chunk_ids.contains(id);
    let phrasings = slice::from_ref(query);
    let considered = passing(store, phrasings, &options.filter)?;
    let is_without_quotes = considered.is_unmet && !query.is_one_phrase;
    let asked = considered.phrasings;
    let passing_chunks = considered.chunks;
    let num_passing = passing_chunks
        .as_ref()
        .map_or(chunk_ids.len(), |passing| passing.iter().filter(|id| is_own(id)).count());
    // All candidates are ranked, so that the answer says how far below the depth the document is.
    let ranking = RankOptions { depth: u32::MAX, ..options.ranking(passing_chunks.as_deref()) };
    let rankings = rank(store, load_embedder, &asked, ranking)?;
    let all = SearchOptions { threshold: None, ..options.clone() };
    let fused = rankings.fuse(store, &all)?;
    let page = page(store, &fused, options)?;
    let is_shown = page.iter().any(|shown| is_own(&shown.fused.chunk_id));
    let keyword = best(&rankings.keyword, is_own);
    let vector = rankings.vector.as_ref().and_then(|leg| best(&leg.ranking, is_own));
    let place = (1_u32..).zip(&fused).find(|(_, fused)| is_own(&fused.chunk_id));
    let outcome = match place {
        _ if chunk_ids.is_empty() => WhyOutcome::Empty,
        _ if options.filter != Filter::default() && !of_filter.iter().any(is_own) => {
            WhyOutcome::Filtered
        }
        _ if num_passing == 0 => {
            let any_text = Query { phrases: Vec::new(), ..query.clone() };
            match passing(store, slice::from_ref(&any_text), &options.filter)?.chunks {
                Some(passing) if !passing.iter().any(is_own) => WhyOutcome::Excluded,
                _ => WhyOutcome::WithoutPhrase,
            }
        }
        None => WhyOutcome::BeyondDepth,
        Some((_, fused)) if options.threshold.is_some_and(|least| fused.score < least) => {
            WhyOutcome::BelowThreshold
        }
        Some(_) if is_shown => WhyOutcome::Shown,
        Some((rank, fused)) if rank > options.limit || is_contents_chunk(store, fused)? => {
            WhyOutcome::BeyondLimit
        }
        Some(_) => WhyOutcome::Copy,
    };
    Ok(Trace {
        outcome,
        num_chunks: chunk_ids.len(),
        num_passing,
        terms: asked.iter().flat_map(Query::term_names).collect(),
        matches: keyword.map(|best| rankings.terms(best.chunk_id)).unwrap_or_default(),
        keyword,
        vector,
        depth: options.depth(),
        fused: place.map(|(rank, fused): (u32, &FusedChunk)| (rank, fused.score, fused.legs)),
        limit: options.limit,
        unmet: considered.unmet.into_iter().next(),
        is_without_quotes,
        completed: rankings.completed(),
    })
}

/// Whether a chunk is a part of a table of contents, which comes after everything else.
fn is_contents_chunk(store: &Store, fused: &FusedChunk) -> Result<bool> {
    let hits = store.hits(&[fused.chunk_id])?;
    Ok(hits.iter().any(|hit| is_contents(&hit.chunk.chunk.text)))
}

fn best(ranking: &[RankedChunk], is_own: impl Fn(&ChunkId) -> bool) -> Option<LegRank> {
    let (rank, ranked) = (1_u32..).zip(ranking).find(|(_, ranked)| is_own(&ranked.chunk_id))?;
    Some(LegRank { chunk_id: ranked.chunk_id, rank, raw: ranked.score })
}
