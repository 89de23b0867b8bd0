//! Writes the trace of a document through a search as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::search::Why;
use crate::document::{ChunkId, DocumentId, Stale};
use crate::present::json::{CONTRACT_VERSION, TermJson};
use crate::present::text::why::sentence;
use crate::search::LegRank;
use crate::text::json::Json;

/// The trace of one document through a search.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct WhyJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The query, unchanged.
    query: &'a str,
    /// The document.
    document_id: DocumentId,
    /// Its title.
    title: &'a str,
    /// `shown`, `empty`, `filtered`, `excluded`, `beyond_depth`, `below_threshold`,
    /// `copy` or `beyond_limit`.
    fate: &'static str,
    /// The same in a sentence, for people.
    explanation: String,
    /// The keyword terms of the query.
    terms: &'a [String],
    /// Terms that occur in its best chunk.
    matches: Vec<TermJson<'a>>,
    /// Number of its chunks.
    chunks: usize,
    /// How many of its chunks pass the filters.
    chunks_passing_filters: usize,
    /// Number of candidates of each leg.
    depth: u32,
    /// Its best chunk by keywords; null if that leg does not rank it.
    fts: Option<StandingJson>,
    /// Its best chunk by meaning; null if that leg does not rank it.
    vector: Option<StandingJson>,
    /// Rank of its best chunk after fusion, from 1; null if it has none.
    rank: Option<u32>,
    /// Its fused score.
    score: Option<f64>,
    /// `changed` if the file has other bytes than when it was indexed, `missing` if it is not there any
    /// more; null if it is unchanged, or if there is no file.
    stale: Option<&'static str>,
}

/// The rank of a chunk in one leg.
#[derive(Serialize, JsonSchema)]
struct StandingJson {
    /// The chunk.
    chunk_id: ChunkId,
    /// Its rank, from 1.
    rank: u32,
    /// The leg's own score: BM25 or cosine. Larger is better.
    raw: f64,
}

impl From<LegRank> for StandingJson {
    fn from(leg: LegRank) -> Self {
        Self { chunk_id: leg.chunk_id, rank: leg.rank, raw: leg.raw }
    }
}

/// Writes the trace of a document through a search.
///
/// # Errors
///
/// Errors of writing.
pub fn why(why: &Why, out: &mut Json<'_>) -> io::Result<()> {
    let Why { query, document, trace, stale } = why;
    out.value(&WhyJson {
        contract_version: CONTRACT_VERSION,
        query,
        document_id: document.id,
        title: &document.title,
        fate: trace.outcome.as_str(),
        explanation: sentence(trace),
        terms: &trace.terms,
        matches: trace.matches.iter().map(TermJson::from).collect(),
        chunks: trace.num_chunks,
        chunks_passing_filters: trace.num_passing,
        depth: trace.depth,
        fts: trace.keyword.map(StandingJson::from),
        vector: trace.vector.map(StandingJson::from),
        rank: trace.fused.map(|fused| fused.0),
        score: trace.fused.map(|fused| fused.1),
        stale: stale.map(Stale::as_str),
    })
}
