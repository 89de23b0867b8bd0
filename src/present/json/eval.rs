//! Writes the measures of `kb eval` as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::eval::Measured;
use crate::eval::Measures;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// The measured retrieval quality.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct EvalJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// One entry per kind of question.
    collections: Vec<CollectionJson<'a>>,
}

/// Questions of one kind, with their measures.
#[derive(Serialize, JsonSchema)]
struct CollectionJson<'a> {
    /// Name of the folder; `headings` or `phrases` for questions from the user's documents.
    name: &'a str,
    /// Number of questions asked.
    queries: usize,
    /// Measures of the keyword leg alone.
    fts: MeasuresJson,
    /// Measures of the vector leg alone.
    vector: MeasuresJson,
    /// Measures of both legs fused, as in `kb search`.
    fused: MeasuresJson,
}

/// Means over all questions, 0 to 1; larger is better.
#[derive(Serialize, JsonSchema)]
struct MeasuresJson {
    /// nDCG of the first 10 documents.
    ndcg_at_10: f64,
    /// Share of the relevant documents among the first 10.
    recall_at_10: f64,
    /// Reciprocal rank of the first relevant document; 0 beyond the 10th.
    mrr_at_10: f64,
}

impl From<Measures> for MeasuresJson {
    fn from(measures: Measures) -> Self {
        Self {
            ndcg_at_10: measures.ndcg,
            recall_at_10: measures.recall,
            mrr_at_10: measures.reciprocal_rank,
        }
    }
}

/// Writes the measures of each collection.
///
/// # Errors
///
/// Errors of writing.
pub fn eval(measured: &[Measured], out: &mut Json<'_>) -> io::Result<()> {
    let collections = measured.iter().map(|Measured { name, evaluation }| CollectionJson {
        name,
        queries: evaluation.num_queries,
        fts: evaluation.keyword.into(),
        vector: evaluation.vector.into(),
        fused: evaluation.fused.into(),
    });
    let collections = collections.collect();
    out.value(&EvalJson { contract_version: CONTRACT_VERSION, collections })
}
