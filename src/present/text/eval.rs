//! Presents the measures of `kb eval` as text.

use std::io;

use crate::eval::{Evaluation, Measures};
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{numbers, words};
use crate::present::text::human::Human;

impl Human {
    /// Writes one line per collection and leg.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn eval(
        &self,
        evaluations: &[(String, Evaluation)],
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let rows = evaluations.iter().flat_map(|(name, evaluation)| {
            let row = |leg: &str, measures: Measures| {
                vec![
                    name.clone(),
                    evaluation.num_queries.to_string(),
                    leg.to_owned(),
                    format!("{:.3}", measures.ndcg),
                    format!("{:.3}", measures.recall),
                    format!("{:.3}", measures.reciprocal_rank),
                ]
            };
            [
                row("keywords", evaluation.keyword),
                row("vectors", evaluation.vector),
                row("fused", evaluation.fused),
            ]
        });
        let columns = [
            words("COLLECTION"),
            numbers("QUERIES"),
            words("LEG"),
            numbers("NDCG@10"),
            numbers("R@10"),
            numbers("MRR@10"),
        ];
        self.table(&columns, &rows.collect::<Vec<_>>(), out)
    }
}
