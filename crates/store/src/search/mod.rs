//! Answers a query: parse → keyword ∥ vector → fuse → weigh → threshold → page → hits.
//!
//! Reads the database through `store` and the model through `Embedder`. Knows nothing of files,
//! settings or how a hit is shown.

use std::slice;

use crate::error::Result;
use crate::ids::{ChunkId, DocumentId, RankedChunk};
use crate::search::matches::QueryTerms;
use crate::search::rankings::rank;
use crate::trace::stage;

mod answer;
mod beginnings;
mod calendar_day;
mod cited;
mod confidence;
mod conflict_copies;
mod editions;
pub mod evidence;
pub mod fuse;
mod keyword;
mod late;
mod locator;
mod look_up;
pub mod matches;
mod mean;
mod near_copies;
mod options;
mod page;
pub mod parse;
mod passing;
mod places;
mod rankings;
mod rarity;
pub mod rated_lines;
mod reason;
mod recency;
mod searchable;
mod shown;
pub mod similar;
mod statements;
mod statistics;
mod successors;
mod term;
mod titles;
mod weigh;
mod weights;
mod why;

pub use answer::{
    Contribution, EvidenceSummary, Hit, Passage, Reranking, SearchAnswer, UnmetPhrasing,
};
pub use cited::CitedPlace;
pub use confidence::{Confidence, ConfidenceGrounds, NoBasis};
pub use conflict_copies::ConflictCopy;
pub use keyword::{CompletedWord, TermMatch};
pub use look_up::term_statistics;
pub use options::{LegSelection, LoadEmbedder, Recency, SearchOptions};
pub use parse::Query;
use passing::{SearchScope, passing};
pub use searchable::Searchable;
pub use shown::ShownPaths;
pub use statistics::TermStatistics;
pub use why::{LegRank, Trace, WhyOutcome, why};

/// The number of first hits that decide how rare a word is among the results: as many as a search returns by default. It is
/// not the number of hits asked for, so that a hit is cited by the same place however many these are.
const COMPARED: u32 = 10;

/// Searches the chunks of `store` for the phrasings of a query, of which there is at least one. Each leg ranks by the
/// average of the phrasings' scores, so several phrasings are fused like one. A chunk that one of them excludes is
/// excluded; a hit has all phrases in quotes of at least one of them. If no chunk has these, they are answered without
/// quotes, and the answer reports it.
///
/// Both legs run in parallel, each on a separate connection. A database without chunks is answered
/// without a model. The same database and the same query give the same answer. The places to cite are left to
/// [`SearchAnswer::cite`], because a budget may need few of the hits.
pub fn search(
    store: &impl Searchable,
    load_embedder: &LoadEmbedder<'_>,
    phrasings: &[Query],
    options: &SearchOptions,
) -> Result<SearchAnswer> {
    let SearchScope { phrasings: asked, chunks: passing, unmet, is_unmet } =
        passing(store, phrasings, &options.filter)?;
    let nothing = SearchAnswer { unmet, is_unmet, ..SearchAnswer::empty(phrasings) };
    if passing.as_ref().is_some_and(Vec::is_empty) {
        if is_unmet {
            let no_basis = Some(NoBasis::Unmet);
            return Ok(SearchAnswer { confidence: None, no_basis, ..nothing });
        }
        return Ok(nothing);
    }
    let rankings = rank(store, load_embedder, &asked, options.ranking(passing.as_deref()))?;
    let fused = stage("fuse", || rankings.fuse(store, options))?;
    let mut grounds = confidence::of(&rankings.signals(&fused));
    let completed = rankings.completed();
    if let Some(grounds) = &mut grounds {
        grounds.is_unmet = is_unmet;
        grounds.missing = rankings.missing_word();
    }
    let total_matches = fused.len();
    let wider = SearchOptions { limit: options.limit.max(COMPARED), ..options.clone() };
    let hits = stage("read hits", || page::page(store, &fused, &wider))?
        .into_iter()
        .map(|shown| {
            let chunk_id = shown.fused.chunk_id;
            Ok(Hit {
                score: shown.fused.score,
                rerank_score: None,
                keyword: shown.fused.legs.keyword,
                vector: shown.fused.legs.vector,
                token_match: shown.fused.token_match,
                document_weight: shown.fused.document_weight,
                recency: shown.fused.recency,
                terms: if options.is_explained { rankings.terms(chunk_id) } else { vec![] },
                contributions: rankings.contributions(store, phrasings.len(), shown.fused)?,
                stored: shown.stored,
                num_copies: shown.num_copies,
                stale: None,
                base: None,
                shares_title: false,
                conflict_of: None,
                at: CitedPlace::default(),
                passage: None,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let no_basis = grounds.is_none().then(|| rankings.no_basis());
    let confidence = grounds.as_ref().map(ConfidenceGrounds::level);
    let grounds = grounds.unwrap_or_default();
    let mut answer =
        SearchAnswer { hits, total_matches, confidence, no_basis, grounds, completed, ..nothing };
    answer.wanted = QueryTerms::new(&answer.joined());
    let first = answer.hits.iter().take(COMPARED as usize);
    answer.found =
        first.map(|hit| (hit.stored.chunk.id, answer.wanted.find_in_hit(&hit.stored))).collect();
    answer.wanted = answer.wanted.by_rarity(answer.found.values());
    answer.compare_titles();
    conflict_copies::mark(&mut answer.hits);
    // Hits are cut only here, because rarity was judged by the first [`COMPARED`], whatever the limit is.
    answer.hits.truncate(options.limit as usize);
    Ok(answer)
}

/// The documents ranked by each leg and by their fusion, each once, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LegRankings {
    /// Ranked by the keyword leg.
    pub keyword: Vec<DocumentId>,
    /// Ranked by the vector leg.
    pub vector: Vec<DocumentId>,
    /// Ranked by the fusion.
    pub fused: Vec<DocumentId>,
}

/// Searches as [`search`] does, and also returns each leg's ranking; for measuring.
pub fn trial(
    store: &impl Searchable,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: &SearchOptions,
) -> Result<LegRankings> {
    let phrasings = slice::from_ref(query);
    let passing = passing(store, phrasings, &options.filter)?;
    let chunks = passing.chunks.as_deref();
    let rankings = rank(store, load_embedder, &passing.phrasings, options.ranking(chunks))?;
    let fused = rankings.fuse(store, options)?;
    let vector = rankings.vector.as_ref().map_or(&[][..], |leg| &leg.ranking);
    let fused: Vec<ChunkId> = fused.iter().map(|fused| fused.chunk_id).collect();
    Ok(LegRankings {
        keyword: documents_of(store, &ids_of(&rankings.keyword))?,
        vector: documents_of(store, &ids_of(vector))?,
        fused: documents_of(store, &fused)?,
    })
}

fn ids_of(ranking: &[RankedChunk]) -> Vec<ChunkId> {
    ranking.iter().map(|ranked| ranked.chunk_id).collect()
}

/// Returns the documents of chunks, each once.
fn documents_of(store: &impl Searchable, chunk_ids: &[ChunkId]) -> Result<Vec<DocumentId>> {
    let origins = store.origins(chunk_ids)?;
    let mut found: Vec<DocumentId> = Vec::new();
    for origin in chunk_ids.iter().filter_map(|chunk_id| origins.get(chunk_id)) {
        if !found.contains(&origin.document_id) {
            found.push(origin.document_id);
        }
    }
    Ok(found)
}
