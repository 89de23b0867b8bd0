//! Presents the measures of `kb eval` as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::eval::Measured;
use crate::eval::Measures;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// How well searches find what is there.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct EvalJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Questions of one kind each.
    collections: Vec<CollectionJson<'a>>,
}

/// Questions of one kind and how they were answered.
#[derive(Serialize, JsonSchema)]
struct CollectionJson<'a> {
    /// Name of the folder; `headings` or `phrases` of the documents that were added.
    name: &'a str,
    /// Questions that were asked.
    queries: usize,
    /// Measures of the keyword leg alone.
    fts: MeasuresJson,
    /// Measures of the vector leg alone.
    vector: MeasuresJson,
    /// Measures of both together, as `kb search` answers.
    fused: MeasuresJson,
}

/// Means over all questions, 0 to 1; larger is better.
#[derive(Serialize, JsonSchema)]
struct MeasuresJson {
    /// nDCG of the first 10 documents.
    ndcg_at_10: f64,
    /// Share of the right documents that are among the first 10.
    recall_at_10: f64,
    /// Reciprocal rank of the first right document, 0 beyond the 10th.
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
/// What writing gives.
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
