//! Follows a document through a search.

use crate::document::{ChunkId, DocumentId, Filter, Ranked};
use crate::error::Result;
use crate::search::fuse::{Fused, Leg, Legs};
use crate::search::rankings::{RankOptions, rank};
use crate::search::{LoadEmbedder, Query, SearchOptions, TermMatch};
use crate::store::Store;

/// What became of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is among the hits.
    Shown,
    /// It has no text that could be found.
    Empty,
    /// A filter leaves it out.
    Filtered,
    /// Each of its chunks has a word that is excluded.
    Excluded,
    /// No leg ranks it high enough to be looked at.
    BeyondDepth,
    /// What it says is said by a better hit, nearly word for word.
    Copy,
    /// Its score is below the threshold.
    BelowThreshold,
    /// Further behind than the number of hits that were asked for.
    BeyondLimit,
}

impl Fate {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Empty => "empty",
            Self::Filtered => "filtered",
            Self::Excluded => "excluded",
            Self::BeyondDepth => "beyond_depth",
            Self::BelowThreshold => "below_threshold",
            Self::BeyondLimit => "beyond_limit",
            Self::Copy => "copy",
        }
    }
}

/// Where the best of a document's chunks stands in a leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Which chunk.
    pub chunk_id: ChunkId,
    /// Its position, from 1, whether or not the leg is followed so far down.
    pub rank: u32,
    /// The leg's own relevance (BM25, cosine).
    pub raw: f64,
}

/// The way of a document through a search.
#[derive(Debug, Clone)]
pub struct Journey {
    /// What became of it.
    pub fate: Fate,
    /// Chunks of the document.
    pub num_chunks: usize,
    /// Chunks of it that pass filter and exclusions.
    pub num_passing: usize,
    /// The query as the keyword leg takes it apart.
    pub terms: Vec<String>,
    /// What each term that occurs did for the document's best chunk by keywords.
    pub matches: Vec<TermMatch>,
    /// Its best chunk by keywords; `None` if no term occurs, or the leg was not run.
    pub keyword: Option<Standing>,
    /// Its best chunk by cosine; `None` if the leg was not run.
    pub vector: Option<Standing>,
    /// How far down each leg is followed.
    pub depth: u32,
    /// The position of its best chunk among all fused ones, from 1, with its score and what each
    /// leg gave to it.
    pub fused: Option<(u32, f64, Legs<Option<Leg>>)>,
    /// Hits that were asked for.
    pub limit: u32,
}

/// Follows a document through a search.
///
/// # Errors
///
/// As [`crate::search::search`].
pub fn why(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    document_id: DocumentId,
    options: &SearchOptions,
) -> Result<Journey> {
    let chunk_ids: Vec<ChunkId> = store.chunks(document_id)?.iter().map(|it| it.id).collect();
    let of_filter = store.passing_chunks(&options.filter)?;
    let is_own = |id: &ChunkId| chunk_ids.contains(id);
    let passing = super::passing(store, query, &options.filter)?;
    let num_passing =
        passing.as_ref().map_or(chunk_ids.len(), |it| it.iter().filter(|it| is_own(it)).count());
    let ranking = RankOptions { depth: u32::MAX, ..options.ranking(passing.as_deref()) };
    let rankings = rank(store, load_embedder, query, ranking)?;
    let all = SearchOptions { threshold: None, ..options.clone() };
    let fused = rankings.fuse(store, query, &all)?;
    let page = super::page::page(store, &fused, options)?;
    let is_shown = page.iter().any(|it| is_own(&it.fused.chunk_id));
    let keyword = best(&rankings.keyword, is_own);
    let vector = rankings.vector.as_ref().and_then(|(ranking, _)| best(ranking, is_own));
    let place = (1_u32..).zip(&fused).find(|(_, it)| is_own(&it.chunk_id));
    let fate = match place {
        _ if chunk_ids.is_empty() => Fate::Empty,
        _ if options.filter != Filter::default() && !of_filter.iter().any(is_own) => Fate::Filtered,
        _ if num_passing == 0 => Fate::Excluded,
        None => Fate::BeyondDepth,
        Some((_, it)) if options.threshold.is_some_and(|least| it.score < least) => {
            Fate::BelowThreshold
        }
        Some(_) if is_shown => Fate::Shown,
        Some((rank, _)) if rank > options.limit => Fate::BeyondLimit,
        Some(_) => Fate::Copy,
    };
    Ok(Journey {
        fate,
        num_chunks: chunk_ids.len(),
        num_passing,
        terms: query.term_names(),
        matches: keyword.map(|it| rankings.terms(it.chunk_id)).unwrap_or_default(),
        keyword,
        vector,
        depth: options.depth(),
        fused: place.map(|(rank, it): (u32, &Fused)| (rank, it.score, it.legs)),
        limit: options.limit,
    })
}

fn best(ranking: &[Ranked], is_own: impl Fn(&ChunkId) -> bool) -> Option<Standing> {
    let (rank, it) = (1_u32..).zip(ranking).find(|(_, it)| is_own(&it.chunk_id))?;
    Some(Standing { chunk_id: it.chunk_id, rank, raw: it.score })
}
