//! Embeds passages, except those that the database has already.

use crate::document::{Chunk, Embedding};
use crate::embedder::Embedder;
use crate::error::Result;
use crate::extract::clock::CpuBudget;
use crate::store::{PassageHash, Store};
use crate::text::tokens;
use crate::trace::stage;

/// How many passages are embedded at a time. The number is small so that one long document is
/// spread over all threads, and so that a document that uses up its time is stopped soon.
pub(super) const PASSAGES_PER_JOB: usize = 8;

/// Hundredths of a model's tokens for each token of the estimate, which counts as another kind of model does. In 20,000
/// passages of manuals, notes, pages, sheets and source code, all-MiniLM-L6-v2 counts 117 (code), 122 (text) and 104 (PDF)
/// in the median; three quarters of them have at most 130. The others are cut again when they get vectors.
const MODEL_TOKENS: usize = 125;

/// Counts the tokens of a text, without special tokens; without a model, estimates them.
pub(super) fn num_tokens(embedder: Option<&dyn Embedder>, text: &str) -> usize {
    match embedder {
        Some(embedder) => embedder.num_tokens(text),
        None => tokens::estimate(text) * MODEL_TOKENS / 100,
    }
}

/// Returns the embeddings of passages that the database has already, with gaps for all others.
pub(super) fn known(store: &Store, passages: &[String]) -> Result<Vec<Option<Embedding>>> {
    let hashes: Vec<PassageHash> =
        passages.iter().map(|passage| PassageHash::of(passage)).collect();
    let known = store.embeddings_by_passage(&hashes)?;
    Ok(hashes.iter().map(|hash| known.get(hash).cloned()).collect())
}

/// Embeds the chunks of one document, except for passages that the database has already. Without a model, there are no
/// embeddings.
pub fn embed(
    embedder: Option<&dyn Embedder>,
    store: Option<&Store>,
    chunks: &[Chunk],
    budget: &CpuBudget,
) -> Result<Vec<Embedding>> {
    let Some(embedder) = embedder else { return Ok(Vec::new()) };
    let passages = chunks.iter().map(|chunk| Chunk::passage(&chunk.context, &chunk.text));
    let passages: Vec<String> = passages.collect();
    let mut embeddings = match store {
        Some(store) => known(store, &passages)?,
        None => vec![None; passages.len()],
    };
    let mut missing: Vec<(&String, &mut Option<Embedding>)> =
        passages.iter().zip(&mut embeddings).collect();
    missing.retain(|(_, embedding)| embedding.is_none());
    for missing in missing.chunks_mut(PASSAGES_PER_JOB) {
        budget.check()?;
        let passages: Vec<&str> = missing.iter().map(|(passage, _)| passage.as_str()).collect();
        let made = stage("embed", || budget.spend(|| embedder.embed_passages(&passages)))?;
        for ((_, slot), embedding) in missing.iter_mut().zip(made) {
            **slot = Some(embedding);
        }
    }
    Ok(embeddings.into_iter().flatten().collect())
}
