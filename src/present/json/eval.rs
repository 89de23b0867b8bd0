//! Writes the measures of `kb eval` as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::eval::Measured;
use crate::present::json::answer;
use crate::text::json::Json;

/// The measured retrieval quality.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct EvalJson<'a> {
    /// One entry per kind of question.
    collections: &'a [Measured],
}

/// Writes the measures of each collection.
pub fn eval(measured: &[Measured], out: &mut Json<'_>) -> io::Result<()> {
    answer(&EvalJson { collections: measured }, out)
}
