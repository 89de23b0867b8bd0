//! Presents the measures of `kb eval`, for programs and for people.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::eval::{Evaluation, Measures};
use crate::present::json;
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{numbers, words};
use crate::present::text::human::Human;
use crate::text::json::Json;

/// How well searches find what is there.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvalJson<'a> {
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

/// Writes the measures for programs.
///
/// # Errors
///
/// What writing gives.
pub fn json(evaluations: &[(String, Evaluation)], out: &mut Json<'_>) -> io::Result<()> {
    let collections = evaluations.iter().map(|(name, it)| CollectionJson {
        name,
        queries: it.num_queries,
        fts: it.keyword.into(),
        vector: it.vector.into(),
        fused: it.fused.into(),
    });
    let collections = collections.collect();
    out.value(&EvalJson { contract_version: json::CONTRACT_VERSION, collections })
}

/// Writes the measures for people.
///
/// # Errors
///
/// What writing gives.
pub fn human(
    human: &Human,
    evaluations: &[(String, Evaluation)],
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    let rows = evaluations.iter().flat_map(|(name, it)| {
        let row = |leg: &str, measures: Measures| {
            vec![
                name.clone(),
                it.num_queries.to_string(),
                leg.to_owned(),
                format!("{:.3}", measures.ndcg),
                format!("{:.3}", measures.recall),
                format!("{:.3}", measures.reciprocal_rank),
            ]
        };
        [row("keywords", it.keyword), row("vectors", it.vector), row("fused", it.fused)]
    });
    let columns = [
        words("COLLECTION"),
        numbers("QUERIES"),
        words("LEG"),
        numbers("NDCG@10"),
        numbers("R@10"),
        numbers("MRR@10"),
    ];
    human.table(&columns, &rows.collect::<Vec<_>>(), out)
}
