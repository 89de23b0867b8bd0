//! Defines how chunks are made.

/// How a document is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Along sections and blocks; small sections are merged, large ones split evenly.
    Structure,
    /// Into overlapping windows of a given size.
    Fixed,
    /// Not split if the model can read the whole document, otherwise like [`Strategy::Fixed`].
    Whole,
}

/// How chunks are made. All sizes are in tokens of the embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkOptions {
    /// How a document is split.
    pub strategy: Strategy,
    /// Longest text of a chunk, without context; the model's limit applies in any case.
    pub max_tokens: usize,
    /// Smaller sections are merged with a neighbour; 0 keeps every section separate.
    pub min_tokens: usize,
    /// Tokens shared by two windows of [`Strategy::Fixed`].
    pub overlap_tokens: usize,
    /// Longest input of the model, including special tokens.
    pub model_tokens: usize,
    /// Part of `model_tokens` used by special tokens and the prefix of passages.
    pub reserved_tokens: usize,
    /// Whether a block's own context (the enclosing class) becomes part of the chunk's.
    pub include_context: bool,
}

impl ChunkOptions {
    /// Returns the tokens available for context and text.
    pub(super) fn window(&self) -> usize {
        self.model_tokens.saturating_sub(self.reserved_tokens).max(1)
    }
}
