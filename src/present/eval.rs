//! Measures in, bytes out: for programs and for people.

use std::io;
use std::io::Write;

use serde::Serialize;

use crate::eval::{Evaluation, Measures};
use crate::present::human::Human;
use crate::present::json;
use crate::present::table::{numbers, words};

#[derive(Serialize)]
struct EvalJson<'a> {
    contract_version: u32,
    collections: Vec<CollectionJson<'a>>,
}

#[derive(Serialize)]
struct CollectionJson<'a> {
    name: &'a str,
    queries: usize,
    fts: MeasuresJson,
    vector: MeasuresJson,
    fused: MeasuresJson,
}

#[derive(Serialize)]
struct MeasuresJson {
    ndcg_at_10: f64,
    recall_at_10: f64,
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
pub fn json(evaluations: &[(String, Evaluation)], out: &mut dyn Write) -> io::Result<()> {
    let collections = evaluations.iter().map(|(name, it)| CollectionJson {
        name,
        queries: it.num_queries,
        fts: it.keyword.into(),
        vector: it.vector.into(),
        fused: it.fused.into(),
    });
    let collections = collections.collect();
    json::write(&EvalJson { contract_version: json::CONTRACT_VERSION, collections }, out)
}

/// Writes the measures for people.
///
/// # Errors
///
/// What writing gives.
pub fn human(
    human: &Human,
    evaluations: &[(String, Evaluation)],
    out: &mut dyn Write,
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
