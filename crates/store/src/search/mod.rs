//! Answers a query: parse → keyword ∥ vector → fuse → threshold → page → hits.
//!
//! Reads the database through `store` and the model through `Embedder`. Knows nothing of files,
//! settings or how a hit is shown.

use std::slice;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::StoredHit;
use crate::document::{Filter, Stale};
use crate::embedder::Embedder;
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId, Ranked};
use crate::search::fuse::Leg;
use crate::search::rankings::{RankOptions, rank};
use crate::trace::stage;

mod confidence;
pub mod evidence;
pub mod fuse;
mod keyword;
mod late;
pub mod matches;
mod near_copies;
mod page;
pub mod parse;
mod rankings;
mod searchable;
pub mod similar;
mod term;
mod weights;
mod why;

pub use confidence::{Confidence, NoBasis};
pub use keyword::TermMatch;
pub use parse::Query;
pub use searchable::Searchable;
pub use why::{LegRank, Outcome, Trace, why};

/// Minimum number of candidates per leg. It makes the order of the first results the same for every
/// limit up to a third of it.
const MIN_DEPTH: u32 = 300;

/// Candidates per requested hit, if that is more than [`MIN_DEPTH`].
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
    /// Whether near copies of better hits are also shown.
    pub keeps_copies: bool,
    /// Whether hits list what each term contributes.
    pub is_explained: bool,
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
            keeps_copies: false,
            is_explained: false,
        }
    }
}

impl SearchOptions {
    /// Returns the number of candidates taken from each leg.
    pub fn depth(&self) -> u32 {
        MIN_DEPTH.max(self.limit.saturating_mul(DEPTH_PER_HIT))
    }

    /// Returns the options of the legs, given the chunks that pass the filter.
    fn ranking<'a>(&self, passing: Option<&'a [ChunkId]>) -> RankOptions<'a> {
        RankOptions { legs: self.legs, passing, depth: self.depth() }
    }
}

/// The answer to a query: chunks, or passages made of them.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The user's string, unchanged; the first one of several phrasings.
    pub typed: String,
    /// The other phrasings, unchanged.
    pub also: Vec<String>,
    /// Best first, at most the limit.
    pub hits: Vec<Hit>,
    /// Distinct chunks among the candidates after filter and threshold.
    pub total_matches: usize,
    /// How likely it is that the answer is among the hits; `None` if no leg can judge.
    pub confidence: Option<Confidence>,
    /// Why `confidence` is `None`.
    pub no_basis: Option<NoBasis>,
    /// What a program of the user's did with the order; `None` if there is none. A search knows of none.
    pub reranking: Option<Reranking>,
    /// Set if the hits are passages.
    pub gathered: Option<Gathered>,
}

/// How passages were collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gathered {
    /// The requested budget in tokens.
    pub budget: Option<usize>,
    /// Tokens of all passages together; never more than the budget.
    pub num_tokens: usize,
}

/// What a program of the user's did with the order of hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reranking {
    /// The first hits are in the order of its scores.
    Done,
    /// It failed for this reason, so they are in the order of their own scores.
    Failed(String),
}

impl Answer {
    /// Returns the answer of a database without anything to search.
    pub fn empty(phrasings: &[Query]) -> Self {
        let mut typed = phrasings.iter().map(|query| query.typed.clone());
        Self {
            typed: typed.next().unwrap_or_default(),
            also: typed.collect(),
            hits: Vec::new(),
            total_matches: 0,
            confidence: Some(Confidence::None),
            no_basis: None,
            reranking: None,
            gathered: None,
        }
    }

    /// Says of each hit from which knowledge base it is.
    pub fn name_base(&mut self, name: &str) {
        self.hits.iter_mut().for_each(|hit| hit.base = Some(name.to_owned()));
    }

    /// Returns all phrasings in their order.
    pub fn phrasings(&self) -> impl Iterator<Item = &str> {
        [self.typed.as_str()].into_iter().chain(self.also.iter().map(String::as_str))
    }

    /// Returns all phrasings as one text, from which the words to mark are taken.
    pub fn joined(&self) -> String {
        self.phrasings().collect::<Vec<_>>().join(" ")
    }
}

/// What one of several phrasings contributes to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Contribution {
    /// BM25 for this phrasing; the leg ranks by the average. Null if none of its words occurs.
    pub bm25: Option<f64>,
    /// Cosine to this phrasing; the leg ranks by the average.
    pub cosine: Option<f64>,
}

/// What a passage consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its chunks, in order.
    pub chunk_ids: Vec<ChunkId>,
    /// Tokens of its text.
    pub num_tokens: usize,
}

/// A chunk ready to be shown, with the reasons for its place; or the best chunk of a passage, with the
/// text, lines and pages of the whole passage.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Sum of the legs' terms.
    pub score: f64,
    /// The score of a program of the user's, if one ordered the hits.
    pub rerank_score: Option<f64>,
    /// The keyword leg's contribution; `None` if it was not run or did not rank the chunk.
    pub keyword: Option<Leg>,
    /// The vector leg's contribution; `None` if it was not run or did not rank the chunk.
    pub vector: Option<Leg>,
    /// How well the query's tokens match the chunk's; `None` if they were not compared.
    pub token_match: Option<f64>,
    /// The chunk and its document.
    pub stored: StoredHit,
    /// What each term contributes; empty unless requested.
    pub terms: Vec<TermMatch>,
    /// What each of several phrasings of the query contributes, in their order; empty if there is one.
    pub contributions: Vec<Contribution>,
    /// Number of near copies of this hit that were skipped.
    pub num_copies: u32,
    /// How the document's file differs from what was indexed. A search does not look at files, so it
    /// leaves this at `None`.
    pub stale: Option<Stale>,
    /// The knowledge base it is from, if several were searched.
    pub base: Option<String>,
    /// `None` if it is a single chunk, not a passage.
    pub passage: Option<Passage>,
}

impl Hit {
    /// Returns the line number in the file of line `number` of the chunk's text, counted from 0.
    /// Returns the first line of the text if its lines differ from the file's, `None` if the source
    /// has no lines.
    pub fn line(&self, number: usize) -> Option<u32> {
        let chunk = &self.stored.chunk.chunk;
        let (first, last) = (chunk.start_line?, chunk.end_line?);
        let num_lines = u32::try_from(chunk.text.lines().count()).ok()?;
        let is_verbatim =
            last.checked_sub(first).is_some_and(|difference| difference + 1 == num_lines);
        Some(first + u32::try_from(number).ok().filter(|_| is_verbatim).unwrap_or(0))
    }
}

/// Returns the embedder when the vector leg needs it; loading runs in parallel with the keyword
/// leg.
pub type LoadEmbedder<'a> = dyn Fn() -> Result<Arc<dyn Embedder>> + Sync + 'a;

/// Searches the chunks of `store` for the phrasings of a query, of which there is at least one. Each leg ranks by the
/// average of the phrasings' scores, so several phrasings are fused like one. What one of them excludes is excluded.
///
/// Both legs run in parallel, each on a separate connection. A database without chunks is answered
/// without a model. The same database and the same query give the same answer.
///
/// # Errors
///
/// Errors of loading the model or reading the database.
pub fn search(
    store: &impl Searchable,
    load_embedder: &LoadEmbedder<'_>,
    phrasings: &[Query],
    options: &SearchOptions,
) -> Result<Answer> {
    let nothing = Answer::empty(phrasings);
    let passing = passing(store, phrasings, &options.filter)?;
    if passing.as_ref().is_some_and(Vec::is_empty) {
        return Ok(nothing);
    }
    let rankings = rank(store, load_embedder, phrasings, options.ranking(passing.as_deref()))?;
    let fused = stage("fuse", || rankings.fuse(store, options))?;
    let confidence = confidence::of(&rankings.signals(&fused));
    let total_matches = fused.len();
    let hits = stage("read hits", || page::page(store, &fused, options))?
        .into_iter()
        .map(|shown| {
            let chunk_id = shown.fused.chunk_id;
            Ok(Hit {
                score: shown.fused.score,
                rerank_score: None,
                keyword: shown.fused.legs.keyword,
                vector: shown.fused.legs.vector,
                token_match: shown.fused.token_match,
                terms: if options.is_explained { rankings.terms(chunk_id) } else { vec![] },
                contributions: rankings.contributions(store, phrasings.len(), shown.fused)?,
                stored: shown.stored,
                num_copies: shown.num_copies,
                stale: None,
                base: None,
                passage: None,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let no_basis = confidence.is_none().then(|| rankings.no_basis());
    Ok(Answer { hits, total_matches, confidence, no_basis, ..nothing })
}

/// The documents ranked by each leg and by their fusion, each once, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// Ranked by the keyword leg.
    pub keyword: Vec<DocumentId>,
    /// Ranked by the vector leg.
    pub vector: Vec<DocumentId>,
    /// Ranked by the fusion.
    pub fused: Vec<DocumentId>,
}

/// Searches as [`search`] does, and also returns each leg's ranking; for measuring.
///
/// # Errors
///
/// As [`search`].
pub fn trial(
    store: &impl Searchable,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: &SearchOptions,
) -> Result<Trial> {
    let phrasings = slice::from_ref(query);
    let passing = passing(store, phrasings, &options.filter)?;
    let rankings = rank(store, load_embedder, phrasings, options.ranking(passing.as_deref()))?;
    let fused = rankings.fuse(store, options)?;
    let ids = |ranking: &[Ranked]| ranking.iter().map(|ranked| ranked.chunk_id).collect::<Vec<_>>();
    let documents = |chunk_ids: &[ChunkId]| -> Result<Vec<DocumentId>> {
        let documents = store.documents_of(chunk_ids)?;
        let mut found: Vec<DocumentId> = Vec::new();
        for document_id in chunk_ids.iter().filter_map(|chunk_id| documents.get(chunk_id)) {
            if !found.contains(document_id) {
                found.push(*document_id);
            }
        }
        Ok(found)
    };
    Ok(Trial {
        keyword: documents(&ids(&rankings.keyword))?,
        vector: documents(&rankings.vector.as_ref().map_or(vec![], |leg| ids(&leg.ranking)))?,
        fused: documents(&fused.iter().map(|fused| fused.chunk_id).collect::<Vec<_>>())?,
    })
}

/// Returns the chunks that pass filter and exclusions, ordered by id; `None` if all do.
fn passing(
    store: &impl Searchable,
    phrasings: &[Query],
    filter: &Filter,
) -> Result<Option<Vec<ChunkId>>> {
    let excluded = phrasings.iter().flat_map(|query| query.excluded.clone()).collect();
    let filter = Filter { excluded, ..filter.clone() };
    if filter.is_empty() { Ok(None) } else { store.passing_chunks(&filter).map(Some) }
}
