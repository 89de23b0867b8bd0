//! Presents the way of a document through a search as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{ChunkId, DocumentId};
use crate::present::json::{CONTRACT_VERSION, TermJson};
use crate::present::text::why::sentence;
use crate::search::{Journey, Standing};
use crate::store::StoredDocument;
use crate::text::json::Json;

/// The way of one document through a search.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct WhyJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
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
    /// Terms of the query that keywords go by.
    terms: &'a [String],
    /// Those that occur in its best chunk.
    matches: Vec<TermJson<'a>>,
    /// Chunks it has.
    chunks: usize,
    /// Chunks of those that no filter leaves out.
    chunks_passing_filters: usize,
    /// Candidates of each leg that are followed.
    depth: u32,
    /// Its best chunk by keywords; null where that leg does not rank it.
    fts: Option<StandingJson>,
    /// Its best chunk by meaning; null where that leg does not rank it.
    vector: Option<StandingJson>,
    /// Place of its best chunk after fusion, from 1; null where it has none.
    rank: Option<u32>,
    /// Its fused score.
    score: Option<f64>,
}

/// Where a chunk stands in a ranking.
#[derive(Serialize, JsonSchema)]
struct StandingJson {
    /// The chunk.
    chunk_id: ChunkId,
    /// Its place, from 1.
    rank: u32,
    /// What the leg ranks by: BM25 or cosine. Larger is better.
    raw: f64,
}

impl From<Standing> for StandingJson {
    fn from(standing: Standing) -> Self {
        Self { chunk_id: standing.chunk_id, rank: standing.rank, raw: standing.raw }
    }
}

/// Writes the way of a document through a search.
///
/// # Errors
///
/// What writing gives.
pub fn why(
    query: &str,
    document: &StoredDocument,
    journey: &Journey,
    out: &mut Json<'_>,
) -> io::Result<()> {
    out.value(&WhyJson {
        contract_version: CONTRACT_VERSION,
        query,
        document_id: document.id,
        title: &document.title,
        fate: journey.fate.as_str(),
        explanation: sentence(journey),
        terms: &journey.terms,
        matches: journey.matches.iter().map(TermJson::from).collect(),
        chunks: journey.num_chunks,
        chunks_passing_filters: journey.num_passing,
        depth: journey.depth,
        fts: journey.keyword.map(StandingJson::from),
        vector: journey.vector.map(StandingJson::from),
        rank: journey.fused.map(|fused| fused.0),
        score: journey.fused.map(|fused| fused.1),
    })
}
