//! Defines the options of using a model.

use crate::document::Precision;

/// Options of using a model.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The precision of passages and queries.
    pub precision: Precision,
    /// Threads within one run: 1 if several workers embed in parallel, 2 for a single text.
    pub num_threads: usize,
    /// Replaces the model's own query prefix.
    pub query_prefix: Option<String>,
    /// Replaces the model's own passage prefix.
    pub passage_prefix: Option<String>,
    /// Numbers of a vector that are kept; `None` keeps all.
    pub dim: Option<u32>,
    /// Whether passages are embedded with the codes of their tokens.
    pub keeps_tokens: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            precision: Precision::Int8,
            num_threads: 1,
            query_prefix: None,
            passage_prefix: None,
            dim: None,
            keeps_tokens: true,
        }
    }
}
