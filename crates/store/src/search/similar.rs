//! Finds chunks similar to a document or a chunk, using only stored vectors: no model is loaded.

use std::collections::{HashMap, HashSet};

use crate::Store;
use crate::document::Filter;
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId, Ranked};
use crate::search::Hit;
use crate::search::fuse::{self, Fused, Legs, WeightedRanking};
use crate::search::mean::mean;
use crate::search::options::MIN_DEPTH;

/// The document or chunk to compare others with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seed {
    /// A whole document; answered by the most similar chunk of each other document.
    Document(DocumentId),
    /// A chunk; answered by other chunks, including those of the same document.
    Chunk(ChunkId),
}

/// Which hits to return, and how many.
#[derive(Debug, Clone)]
pub struct SimilarOptions {
    /// Maximum number of hits.
    pub limit: usize,
    /// Documents to search.
    pub filter: Filter,
    /// The fusion constant, which turns ranks into scores.
    pub rrf_k: f64,
}

/// Finds chunks similar to a document or a chunk; best first. Empty if nothing was embedded.
///
/// A document is represented by the mean of its chunks' vectors.
///
/// # Errors
///
/// Errors of the database.
pub fn similar(store: &Store, seed: Seed, options: &SimilarOptions) -> Result<Vec<Hit>> {
    let own: Vec<ChunkId> = match seed {
        Seed::Document(id) => store.chunks(id)?.into_iter().map(|chunk| chunk.id).collect(),
        Seed::Chunk(id) => vec![id],
    };
    let Some(vector) = mean(&store.vectors(&own)?) else { return Ok(Vec::new()) };
    let passing = match options.filter.is_empty() {
        true => None,
        false => Some(store.passing_chunks(&options.filter)?),
    };
    let wanted = options.limit.saturating_mul(3).saturating_add(own.len());
    let depth = u32::try_from(wanted).unwrap_or(u32::MAX).max(MIN_DEPTH);
    let own: HashSet<ChunkId> = own.into_iter().collect();
    let mut ranking = store.rank_by_cosine(&vector, passing.as_deref(), depth)?;
    ranking.retain(|ranked| !own.contains(&ranked.chunk_id));
    if let Seed::Document(_) = seed {
        ranking = first_of_each_document(store, ranking)?;
    }
    ranking.truncate(options.limit);
    let leg = |ranking| WeightedRanking { weight: 1.0, power: 1.0, ranking };
    let legs = Legs { keyword: leg(&[]), vector: leg(&ranking) };
    let fused: Vec<Fused> = fuse::fuse(legs, options.rrf_k);
    let ids: Vec<ChunkId> = fused.iter().map(|fused| fused.chunk_id).collect();
    let by_id: HashMap<ChunkId, &Fused> =
        fused.iter().map(|fused| (fused.chunk_id, fused)).collect();
    let stored = store.hits(&ids)?.into_iter();
    Ok(stored
        .filter_map(|stored| {
            let fused = by_id.get(&stored.chunk.id)?;
            Some(Hit {
                score: fused.score,
                rerank_score: None,
                keyword: None,
                vector: fused.legs.vector,
                token_match: None,
                stored,
                terms: Vec::new(),
                contributions: Vec::new(),
                num_copies: 0,
                stale: None,
                base: None,
                passage: None,
            })
        })
        .collect())
}

fn first_of_each_document(store: &Store, ranking: Vec<Ranked>) -> Result<Vec<Ranked>> {
    let ids: Vec<ChunkId> = ranking.iter().map(|ranked| ranked.chunk_id).collect();
    let mut seen: HashSet<DocumentId> = HashSet::new();
    let firsts: HashSet<ChunkId> = store
        .hits(&ids)?
        .iter()
        .filter(|hit| seen.insert(hit.document_id))
        .map(|hit| hit.chunk.id)
        .collect();
    Ok(ranking.into_iter().filter(|ranked| firsts.contains(&ranked.chunk_id)).collect())
}
