//! Answers a query: parse → keyword ∥ vector → fuse → threshold → page → hits.
//!
//! Knows the database through `store` and the model through `Embedder`; knows nothing of
//! files, settings or how a hit is shown.

use std::sync::Arc;

use crate::document::{ChunkId, DocumentId, Filter, Ranked};
use crate::embed::Embedder;
use crate::error::Result;
use crate::search::fuse::Leg;
use crate::search::rankings::{RankOptions, rank};
use crate::store::{Store, StoredHit};
use crate::trace::stage;

mod confidence;
pub mod evidence;
pub mod fuse;
mod keyword;
pub mod matches;
mod near_copies;
mod page;
pub mod parse;
mod rankings;
pub mod similar;
mod term;
mod weigh;
mod why;

pub use confidence::Confidence;
pub use keyword::TermMatch;
pub use parse::Query;
pub use why::{Fate, Journey, Standing, why};

/// Candidates each leg is asked for at least, so that the order of the first results is the same
/// for every limit up to a third of it.
const MIN_DEPTH: u32 = 300;

/// Candidates per requested hit, where that is more than [`MIN_DEPTH`].
const DEPTH_PER_HIT: u32 = 3;

/// Which rankings take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegSelection {
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
    pub legs: LegSelection,
    /// The fusion constant.
    pub rrf_k: f64,
    /// Fused results below it are dropped.
    pub threshold: Option<f64>,
    /// Most hits of one document.
    pub per_document: Option<u32>,
    /// Whether near copies of better hits are shown, too.
    pub keeps_copies: bool,
    /// Whether hits say what each term did for them.
    pub is_explained: bool,
}

impl Default for SearchOptions {
    /// What the configuration has as its defaults.
    fn default() -> Self {
        Self {
            limit: 10,
            filter: Filter::default(),
            legs: LegSelection::Both,
            rrf_k: 60.0,
            threshold: None,
            per_document: None,
            keeps_copies: false,
            is_explained: false,
        }
    }
}

impl SearchOptions {
    /// Returns how many candidates each leg is asked for.
    pub fn depth(&self) -> u32 {
        MIN_DEPTH.max(self.limit.saturating_mul(DEPTH_PER_HIT))
    }

    /// Returns what the legs do, among the chunks that pass.
    fn ranking<'a>(&self, passing: Option<&'a [ChunkId]>) -> RankOptions<'a> {
        RankOptions { legs: self.legs, passing, depth: self.depth() }
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
    /// How sure it is that the answer is among the hits; `None` where nothing can be said of it.
    pub confidence: Option<Confidence>,
}

impl SearchResults {
    /// Returns the answer of a database that holds nothing to look in.
    pub fn empty(query: &Query) -> Self {
        Self {
            typed: query.typed.clone(),
            hits: Vec::new(),
            total_matches: 0,
            confidence: Some(Confidence::None),
        }
    }
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
    /// What each term did for it; empty unless asked for.
    pub terms: Vec<TermMatch>,
    /// Near copies of it that were passed over.
    pub num_copies: u32,
}

impl Hit {
    /// Returns the line in the file of a line of the chunk's text, counted from 0; that of the text's
    /// beginning where the text is not the file's line by line, `None` where there are no lines.
    pub fn line(&self, number: usize) -> Option<u32> {
        let chunk = &self.stored.chunk.chunk;
        let (first, last) = (chunk.start_line?, chunk.end_line?);
        let num_lines = u32::try_from(chunk.text.lines().count()).ok()?;
        let is_verbatim = last.checked_sub(first).is_some_and(|it| it + 1 == num_lines);
        Some(first + u32::try_from(number).ok().filter(|_| is_verbatim).unwrap_or(0))
    }
}

/// Gives the embedder when the vector leg needs it; loading runs beside the keyword leg.
pub type LoadEmbedder<'a> = dyn Fn() -> Result<Arc<dyn Embedder>> + Sync + 'a;

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
    let passing = passing(store, query, &options.filter)?;
    if passing.as_ref().is_some_and(Vec::is_empty) {
        return Ok(SearchResults::empty(query));
    }
    let rankings = rank(store, load_embedder, query, options.ranking(passing.as_deref()))?;
    let fused = stage("fuse", || rankings.fuse(store, query, options))?;
    let confidence = confidence::of(&rankings.signals(&fused));
    let total_matches = fused.len();
    let hits = stage("read hits", || page::page(store, &fused, options))?
        .into_iter()
        .map(|it| Hit {
            score: it.fused.score,
            keyword: it.fused.legs.keyword,
            vector: it.fused.legs.vector,
            terms: if options.is_explained { rankings.terms(it.fused.chunk_id) } else { vec![] },
            stored: it.stored,
            num_copies: it.num_copies,
        })
        .collect();
    Ok(SearchResults { typed: query.typed.clone(), hits, total_matches, confidence })
}

/// The documents that each leg and their fusion rank, each once, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// The keyword leg's.
    pub keyword: Vec<DocumentId>,
    /// The vector leg's.
    pub vector: Vec<DocumentId>,
    /// The answer's.
    pub fused: Vec<DocumentId>,
}

/// Searches as [`search`] does, and returns what each leg found by itself, too; for measuring.
///
/// # Errors
///
/// As [`search`].
pub fn trial(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: &SearchOptions,
) -> Result<Trial> {
    let passing = passing(store, query, &options.filter)?;
    let rankings = rank(store, load_embedder, query, options.ranking(passing.as_deref()))?;
    let fused = rankings.fuse(store, query, options)?;
    let ids = |ranking: &[Ranked]| ranking.iter().map(|it| it.chunk_id).collect::<Vec<_>>();
    let documents = |chunk_ids: &[ChunkId]| -> Result<Vec<DocumentId>> {
        let documents = store.documents_of(chunk_ids)?;
        let mut found: Vec<DocumentId> = Vec::new();
        for document_id in chunk_ids.iter().filter_map(|it| documents.get(it)) {
            if !found.contains(document_id) {
                found.push(*document_id);
            }
        }
        Ok(found)
    };
    Ok(Trial {
        keyword: documents(&ids(&rankings.keyword))?,
        vector: documents(&rankings.vector.as_ref().map_or(vec![], |it| ids(&it.0)))?,
        fused: documents(&fused.iter().map(|it| it.chunk_id).collect::<Vec<_>>())?,
    })
}

/// Returns the chunks that pass filter and exclusions in order; `None` where all do.
fn passing(store: &Store, query: &Query, filter: &Filter) -> Result<Option<Vec<ChunkId>>> {
    let filter = Filter { excluded: query.excluded.clone(), ..filter.clone() };
    if filter.is_empty() { Ok(None) } else { store.passing_chunks(&filter).map(Some) }
}
