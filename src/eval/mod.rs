//! Measures how well search answers questions with known answers.
//!
//! The questions come from a folder with judgments ([`beir`]) or from the knowledge base itself
//! ([`known_item`]).

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::search;
use crate::search::{LoadEmbedder, SearchOptions};
use crate::store::{DocumentId, Store};

pub mod beir;
pub mod known_item;

/// How many documents of a ranking are measured, as is usual in the field (nDCG@10).
const CUT: usize = 10;

/// A question and the documents that answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedQuestion {
    /// The question.
    pub query: String,
    /// Documents with a grade above zero; never empty.
    pub relevant: HashMap<DocumentId, u32>,
}

/// Means over all questions, 0 to 1; larger is better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Measures {
    /// nDCG of the first 10 documents.
    // Järvelin and Kekäläinen, 2002; gain is the grade.
    #[serde(rename = "ndcg_at_10")]
    pub ndcg: f64,
    /// Share of the relevant documents among the first 10.
    #[serde(rename = "recall_at_10")]
    pub recall: f64,
    /// Reciprocal rank of the first relevant document; 0 beyond the 10th.
    #[serde(rename = "mrr_at_10")]
    pub reciprocal_rank: f64,
}

/// How well the keyword ranking, the vector ranking and their fusion find the answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Evaluation {
    /// Number of questions asked.
    #[serde(rename = "queries")]
    pub num_queries: usize,
    /// Measures of the keyword leg alone.
    #[serde(rename = "fts")]
    pub keyword: Measures,
    /// Measures of the vector leg alone.
    pub vector: Measures,
    /// Measures of both legs fused, as in `kb search`.
    pub fused: Measures,
}

/// Runs all questions and measures the answers.
pub fn evaluate(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    judged: &[JudgedQuestion],
    options: &SearchOptions,
) -> Result<Evaluation> {
    let mut sums = Evaluation { num_queries: judged.len(), ..Evaluation::default() };
    for judged in judged {
        let query = search::parse::parse(&judged.query)?;
        let trial = search::trial(store, load_embedder, &query, options)?;
        for (sum, ranking) in [
            (&mut sums.keyword, &trial.keyword),
            (&mut sums.vector, &trial.vector),
            (&mut sums.fused, &trial.fused),
        ] {
            let found = measure(ranking, &judged.relevant);
            sum.ndcg += found.ndcg;
            sum.recall += found.recall;
            sum.reciprocal_rank += found.reciprocal_rank;
        }
    }
    let count = u32::try_from(judged.len()).map_or(1.0, f64::from).max(1.0);
    for mean in [&mut sums.keyword, &mut sums.vector, &mut sums.fused] {
        mean.ndcg /= count;
        mean.recall /= count;
        mean.reciprocal_rank /= count;
    }
    Ok(sums)
}

/// Measures one ranking of distinct documents, best first.
fn measure(ranking: &[DocumentId], relevant: &HashMap<DocumentId, u32>) -> Measures {
    let first: Vec<Option<&u32>> =
        ranking.iter().take(CUT).map(|document| relevant.get(document)).collect();
    let mut ideal: Vec<u32> = relevant.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = gain(ideal.iter().copied().take(CUT));
    let found = gain(first.iter().map(|grade| grade.copied().unwrap_or(0)));
    let num_found = u32::try_from(first.iter().flatten().count()).map_or(0.0, f64::from);
    let num_possible = u32::try_from(relevant.len().min(CUT)).map_or(1.0, f64::from);
    let rank = (1_u32..).zip(&first).find(|(_, grade)| grade.is_some());
    Measures {
        ndcg: if best > 0.0 { found / best } else { 0.0 },
        recall: if num_possible > 0.0 { num_found / num_possible } else { 0.0 },
        reciprocal_rank: rank.map_or(0.0, |(rank, _)| 1.0 / f64::from(rank)),
    }
}

/// Returns the discounted cumulative gain of grades, best rank first.
fn gain(grades: impl Iterator<Item = u32>) -> f64 {
    (2_u32..).zip(grades).map(|(rank, grade)| f64::from(grade) / f64::from(rank).log2()).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::document::{Binding, Embedding};
    use crate::embed::{Embedder, EmbeddingSide, QueryEmbedding, QueryTokens};
    use crate::store::testing::{self, TestDb};

    #[track_caller]
    fn check(ranking: &[i64], relevant: &[(i64, u32)], expected: [f64; 3]) {
        let ranking: Vec<DocumentId> = ranking.iter().copied().map(DocumentId).collect();
        let relevant = relevant.iter().map(|&(id, grade)| (DocumentId(id), grade)).collect();
        let found = measure(&ranking, &relevant);
        let found = [found.ndcg, found.recall, found.reciprocal_rank];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }

    /// Embeds a query as the tests of the database embed passages.
    struct Stub(Binding);

    impl Embedder for Stub {
        fn embed_passages(&self, _: &[&str]) -> Result<Vec<Embedding>> {
            unreachable!("a question is no passage")
        }

        fn embed_cut(&self, _: &str, _: EmbeddingSide) -> Result<(Embedding, bool)> {
            unreachable!("a question is embedded as a query")
        }

        fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
            let (vector, tokens) =
                (testing::vector(query), Arc::new(QueryTokens::new(&[1.0; 8], 8)));
            Ok(QueryEmbedding { vector, tokens })
        }

        fn num_tokens(&self, text: &str) -> usize {
            text.len()
        }

        fn num_unknown(&self, _: &str) -> usize {
            0
        }

        fn binding(&self) -> &Binding {
            &self.0
        }
    }

    #[test]
    fn measures_are_means_over_all_questions_of_each_ranking() {
        let mut db = TestDb::new();
        let ids = ["ebb", "flood"].map(|text| db.add(&format!("/{text}.md"), &[text], &[]));
        let load =
            || -> Result<Arc<dyn Embedder>> { Ok(Arc::new(Stub(testing::binding("small")))) };
        let asked = |questions: &[(&str, DocumentId)]| {
            let judged: Vec<JudgedQuestion> = questions
                .iter()
                .map(|(query, id)| JudgedQuestion {
                    query: (*query).to_owned(),
                    relevant: [(*id, 1)].into(),
                })
                .collect();
            evaluate(&db.store, &load, &judged, &SearchOptions::default()).unwrap()
        };
        let found = asked(&[("ebb", ids[0]), ("flood", ids[1])]);
        assert_eq!(found.num_queries, 2);
        for measures in [found.keyword, found.vector, found.fused] {
            assert_eq!(measures, Measures { ndcg: 1.0, recall: 1.0, reciprocal_rank: 1.0 });
        }
        // No word of the second question is in its answer, which is second by meaning.
        let found = asked(&[("ebb", ids[0]), ("ebb", ids[1])]);
        assert_eq!(found.keyword, Measures { ndcg: 0.5, recall: 0.5, reciprocal_rank: 0.5 });
        assert_eq!((found.vector.recall, found.vector.reciprocal_rank), (1.0, 0.75));
        assert!((found.vector.ndcg - (1.0 + 1.0 / 3_f64.log2()) / 2.0).abs() < 1e-9);
        assert_eq!(asked(&[]), Evaluation::default());
    }

    #[test]
    fn a_single_answer_is_scored_by_its_rank() {
        check(&[7, 1, 2], &[(7, 1)], [1.0, 1.0, 1.0]);
        check(&[1, 2, 7], &[(7, 1)], [0.5, 1.0, 1.0 / 3.0]);
        check(&[1, 2, 3], &[(7, 1)], [0.0, 0.0, 0.0]);
        check(&[], &[(7, 1)], [0.0, 0.0, 0.0]);
        check(&[1], &[], [0.0, 0.0, 0.0]);
    }

    #[test]
    fn better_grades_belong_first() {
        let ideal = 2.0 + 1.0 / 3_f64.log2();
        check(&[1, 2], &[(1, 2), (2, 1)], [1.0, 1.0, 1.0]);
        check(&[2, 1], &[(1, 2), (2, 1)], [(1.0 + 2.0 / 3_f64.log2()) / ideal, 1.0, 1.0]);
    }

    #[test]
    fn documents_after_the_tenth_do_not_count() {
        let ranking: Vec<i64> = (1..20).collect();
        check(&ranking, &[(11, 1)], [0.0, 0.0, 0.0]);
        let all: Vec<(i64, u32)> = (1..20).map(|id| (id, 1)).collect();
        check(&ranking, &all, [1.0, 1.0, 1.0]);
    }
}
