//! Names the options of a search and of its legs.

use std::sync::Arc;

use crate::document::Filter;
use crate::embedder::Embedder;
use crate::error::Result;
use crate::ids::ChunkId;
use crate::search::TermStatistics;

/// Minimum number of candidates per leg. It makes the order of the first results the same for every
/// limit up to a third of it.
pub(super) const MIN_DEPTH: u32 = 300;

/// Candidates per requested hit, if that is more than [`MIN_DEPTH`]: copies and further hits of a document may be left
/// out.
const DEPTH_PER_HIT: u32 = 3;

/// The rankings to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegSelection {
    /// Keyword and vector.
    Both,
    /// BM25 only: no model is loaded.
    Keyword,
    /// Cosine only.
    Vector,
}

/// How much newer documents are preferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recency {
    /// Days in which what a document gains by being new falls by half; at least 1.
    pub half_life_days: u32,
    /// The day from which ages count, such as `2026-05-17`; that of the newest document if it is `None`.
    pub newest: Option<String>,
}

/// Options of a search.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// Number of hits to return.
    pub limit: u32,
    /// Documents to search; applied to both rankings before they are cut.
    pub filter: Filter,
    /// The rankings to use.
    pub legs: LegSelection,
    /// The fusion constant.
    pub rrf_k: f64,
    /// Whether the tokens of the first hits are compared.
    pub compares_tokens: bool,
    /// Fused results below this score are dropped.
    pub threshold: Option<f64>,
    /// Maximum number of hits per document.
    pub per_document: Option<u32>,
    /// How much newer documents are preferred; `None` if ages do not count.
    pub recency: Option<Recency>,
    /// Whether near copies of better hits are also shown.
    pub keeps_copies: bool,
    /// Whether hits list what each term contributes.
    pub is_explained: bool,
    /// The statistics of the query's terms in the other knowledge bases that are searched.
    pub elsewhere: TermStatistics,
}

impl Default for SearchOptions {
    /// Returns the defaults of the configuration.
    fn default() -> Self {
        Self {
            limit: 10,
            filter: Filter::default(),
            legs: LegSelection::Both,
            rrf_k: 60.0,
            compares_tokens: true,
            threshold: None,
            per_document: None,
            recency: None,
            keeps_copies: false,
            is_explained: false,
            elsewhere: TermStatistics::default(),
        }
    }
}

impl SearchOptions {
    /// Returns the number of candidates taken from each leg.
    pub fn depth(&self) -> u32 {
        MIN_DEPTH.max(self.limit.saturating_mul(DEPTH_PER_HIT))
    }

    /// Returns the options of the legs, given the chunks that pass the filter.
    pub(super) fn ranking<'a>(&'a self, passing: Option<&'a [ChunkId]>) -> RankOptions<'a> {
        RankOptions { legs: self.legs, passing, depth: self.depth(), elsewhere: &self.elsewhere }
    }
}

#[derive(Clone, Copy)]
pub(super) struct RankOptions<'a> {
    pub(super) legs: LegSelection,
    /// The chunks to rank, ordered by id; all if `None`.
    pub(super) passing: Option<&'a [ChunkId]>,
    /// Number of candidates to take from each leg.
    pub(super) depth: u32,
    /// The statistics of the query's terms in other knowledge bases.
    pub(super) elsewhere: &'a TermStatistics,
}

/// Returns the embedder when the vector leg needs it; loading runs in parallel with the keyword
/// leg.
pub type LoadEmbedder<'a> = dyn Fn() -> Result<Arc<dyn Embedder>> + Sync + 'a;
