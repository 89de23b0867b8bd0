//! Counts the tokens of texts and embeds them: what the stages depend on.

use crate::document::{Chunk, Embedding};
use crate::embed::Embedder;
use crate::error::Result;
use crate::extract::clock::CpuBudget;

/// Counts the tokens of a text, without special tokens.
pub type NumTokens<'a> = dyn Fn(&str) -> usize + Sync + 'a;

/// The services that the stages depend on.
pub struct Services<'a> {
    /// Counts tokens as the embedder does.
    pub num_tokens: &'a NumTokens<'a>,
    /// Embeds; called from several threads.
    pub embedder: &'a dyn Embedder,
}

/// How many passages are embedded at a time. The number is small so that one long document is
/// spread over all threads, and so that a document that uses up its time is stopped soon.
pub(super) const PASSAGES_PER_JOB: usize = 8;

/// Embeds the chunks of one document.
pub(super) fn embed(
    services: &Services<'_>,
    chunks: &[Chunk],
    budget: &CpuBudget,
) -> Result<Vec<Embedding>> {
    let passages = chunks.iter().map(|chunk| Chunk::passage(&chunk.context, &chunk.text));
    let passages: Vec<String> = passages.collect();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    let mut embeddings = Vec::with_capacity(passages.len());
    for passages in passages.chunks(PASSAGES_PER_JOB) {
        budget.check()?;
        embeddings.extend(budget.spend(|| services.embedder.embed_passages(passages))?);
    }
    Ok(embeddings)
}
