//! Writes the measures of `kb eval` as text.

use std::io;

use crate::app::eval::Measured;
use crate::eval::Measures;
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{numbers, words};
use crate::present::text::human::Human;
use crate::text::number::thousands;

impl Human {
    /// Writes one line per collection and leg.
    pub fn eval(&self, measured: &[Measured], out: &mut Sheet<'_>) -> io::Result<()> {
        let rows = measured.iter().flat_map(|Measured { name, evaluation }| {
            let row = |leg: &str, measures: Measures| {
                vec![
                    name.clone(),
                    thousands(evaluation.num_queries as u64),
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
