//! Writes as JSON why a document is not among the results of a query.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::query::search::WhyReport;
use crate::document::StaleReason;
use crate::present::json::VersionedAnswer;
use crate::present::text::why::sentence;
use crate::search::{LegRank, TermMatch};
use crate::store::DocumentId;
use crate::text::json::Json;

/// The trace of one document through a search.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WhyJson<'a> {
    /// The query, unchanged.
    query: &'a str,
    /// The document.
    document_id: DocumentId,
    /// Its title.
    title: &'a str,
    /// `shown`, `empty`, `filtered`, `excluded`, `without_phrase`, `beyond_depth`,
    /// `below_threshold`, `copy` or `beyond_limit`.
    fate: &'static str,
    /// The same in a sentence, for people.
    explanation: String,
    /// The keyword terms of the query.
    terms: &'a [String],
    /// Terms that occur in its best chunk.
    matches: &'a [TermMatch],
    /// Number of its chunks.
    chunks: usize,
    /// How many of its chunks pass the filters.
    chunks_passing_filters: usize,
    /// Number of candidates of each leg.
    depth: u32,
    /// Its best chunk by keywords; null if that leg does not rank it.
    fts: Option<LegRank>,
    /// Its best chunk by meaning; null if that leg does not rank it.
    vector: Option<LegRank>,
    /// Rank of its best chunk after fusion, from 1; null if it has none.
    rank: Option<u32>,
    /// Its fused score.
    score: Option<f64>,
    /// `changed` if the file has other bytes than when it was indexed, `missing` if it is not there any
    /// more; null if it is unchanged, or if there is no file.
    stale: Option<&'static str>,
}

/// Writes the trace of a document through a search.
pub fn why(why: &WhyReport, out: &mut Json<'_>) -> io::Result<()> {
    let WhyReport { query, document, trace, stale } = why;
    out.value(&VersionedAnswer::of(&WhyJson {
        query,
        document_id: document.id,
        title: &document.title,
        fate: trace.outcome.as_str(),
        explanation: sentence(trace),
        terms: &trace.terms,
        matches: &trace.matches,
        chunks: trace.num_chunks,
        chunks_passing_filters: trace.num_passing,
        depth: trace.depth,
        fts: trace.keyword,
        vector: trace.vector,
        rank: trace.fused.map(|fused| fused.0),
        score: trace.fused.map(|fused| fused.1),
        stale: stale.map(StaleReason::as_str),
    }))
}
