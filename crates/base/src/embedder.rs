//! Defines what turns text into vectors, as a search uses it.

use std::fmt::Debug;
use std::sync::Arc;

use crate::document::{Binding, Embedding};
use crate::error::Result;

/// The role of a text in a search; a model may use a different prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingSide {
    /// The text searched for.
    Query,
    /// The text to be found.
    Passage,
}

/// Converts text to vectors of unit length.
pub trait Embedder: Send + Sync {
    /// Embeds passages, with the prefix of the model or the configuration.
    ///
    /// Returns one embedding per passage, in the given order. Each depends only on its own passage. A
    /// passage longer than the model's limit is an error; it is never cut silently.
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Embedding>>;

    /// Embeds a text of either side, cut at the model's limit; returns `true` if it was cut.
    fn embed_cut(&self, text: &str, side: EmbeddingSide) -> Result<(Embedding, bool)>;

    /// Embeds a query, cut at the model's limit.
    fn embed_query(&self, query: &str) -> Result<QueryEmbedding>;

    /// Counts the tokens of a text, without special tokens and prefixes.
    fn num_tokens(&self, text: &str) -> usize;

    /// Counts the unknown tokens of a text, which replace words missing from the vocabulary.
    fn num_unknown(&self, text: &str) -> usize;

    /// Returns the binding of this embedder's vectors.
    fn binding(&self) -> &Binding;
}

/// The vector and the tokens of a query.
#[derive(Debug, Clone)]
pub struct QueryEmbedding {
    /// Its vector, of unit length.
    pub vector: Vec<f32>,
    /// Its tokens, to be compared with those of passages.
    pub tokens: Arc<dyn TokenMatcher>,
}

/// The tokens of a query, prepared for comparison with those of passages.
pub trait TokenMatcher: Debug + Send + Sync {
    /// Returns how well a passage matches, from the codes of its tokens: the mean over the query's
    /// tokens of the largest cosine with a code, in -1..=1. `None` if the codes are not of this
    /// model's width or there is nothing to compare.
    fn match_with(&self, codes: &[u8]) -> Option<f64>;
}
