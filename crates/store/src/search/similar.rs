//! Finds chunks similar to a document or a chunk, using only stored vectors: no model is loaded.

use std::collections::{HashMap, HashSet};

use crate::Store;
use crate::document::Filter;
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId, RankedChunk};
use crate::search::fuse::{self, FusedChunk, PerLeg, WeightedRanking};
use crate::search::matches::QueryTerms;
use crate::search::mean::mean;
use crate::search::options::MIN_DEPTH;
use crate::search::{CitedPlace, Hit};

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
pub fn similar(store: &Store, seed: Seed, options: &SimilarOptions) -> Result<Vec<Hit>> {
    let own: Vec<ChunkId> = match seed {
        Seed::Document(id) => store.chunks(id)?.into_iter().map(|chunk| chunk.id).collect(),
        Seed::Chunk(id) => vec![id],
    };
    let Some(vector) = mean(&store.vectors(&own)?) else { return Ok(Vec::new()) };
    let passing =
        if options.filter.is_empty() { None } else { Some(store.passing_chunks(&options.filter)?) };
    // A document may have several of the nearest chunks, and the own chunks are nearest to themselves.
    let wanted = options.limit.saturating_mul(3).saturating_add(own.len());
    let depth = u32::try_from(wanted).unwrap_or(u32::MAX).max(MIN_DEPTH);
    let own: HashSet<ChunkId> = own.into_iter().collect();
    let mut ranking = store.rank_by_cosine(&vector, passing.as_deref(), depth)?;
    ranking.retain(|ranked| !own.contains(&ranked.chunk_id));
    if let Seed::Document(_) = seed {
        ranking = first_of_each_document(store, ranking)?;
    }
    ranking.truncate(options.limit);
    let legs = PerLeg { keyword: unweighted(&[]), vector: unweighted(&ranking) };
    let fused: Vec<FusedChunk> = fuse::fuse(legs, options.rrf_k);
    let ids: Vec<ChunkId> = fused.iter().map(|fused| fused.chunk_id).collect();
    let by_id: HashMap<ChunkId, &FusedChunk> =
        fused.iter().map(|fused| (fused.chunk_id, fused)).collect();
    let stored = store.hits(&ids)?.into_iter();
    Ok(stored
        .filter_map(|stored| {
            let fused = by_id.get(&stored.chunk.id)?;
            let at = CitedPlace::of(&[], &stored, &QueryTerms::default());
            Some(Hit {
                score: fused.score,
                rerank_score: None,
                keyword: None,
                vector: fused.legs.vector,
                token_match: None,
                document_weight: 1.0,
                recency: None,
                stored,
                terms: Vec::new(),
                contributions: Vec::new(),
                num_copies: 0,
                stale: None,
                base: None,
                shares_title: false,
                conflict_of: None,
                at,
                passage: None,
            })
        })
        .collect())
}

fn unweighted(ranking: &[RankedChunk]) -> WeightedRanking<'_> {
    WeightedRanking { weight: 1.0, power: 1.0, ranking }
}

fn first_of_each_document(store: &Store, ranking: Vec<RankedChunk>) -> Result<Vec<RankedChunk>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Embedding;
    use crate::testing::{TestDb, chunk, document};

    /// Returns documents whose distance from the first one grows; the second one has ten chunks.
    fn library() -> (TestDb, [DocumentId; 4]) {
        let mut db = TestDb::new();
        let of = |cosine: f32| [cosine, (1.0 - cosine * cosine).sqrt(), 0.0, 0.0];
        let ids = [(1.0, 1), (0.8, 10), (0.6, 1), (0.0, 1)].map(|(cosine, num_chunks)| {
            let texts: Vec<String> = (0..num_chunks).map(|n| format!("{cosine} {n}")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let chunks: Vec<_> = texts.iter().map(|text| chunk(text)).collect();
            let embedding = Embedding { vector: of(cosine).to_vec(), codes: None };
            let embeddings = vec![embedding; num_chunks];
            let tags: &[&str] = if cosine == 0.6 { &["tide"] } else { &[] };
            let new = document(&format!("/{cosine}.md"), &texts, tags);
            db.store.replace(&new, &chunks, &embeddings, &|_| false).unwrap().document_id()
        });
        (db, ids)
    }

    fn options(limit: usize) -> SimilarOptions {
        SimilarOptions { limit, filter: Filter::default(), rrf_k: 60.0 }
    }

    fn documents(hits: &[Hit]) -> Vec<DocumentId> {
        hits.iter().map(|hit| hit.stored.document_id).collect()
    }

    #[test]
    fn each_document_that_is_similar_to_a_document_is_one_hit() {
        let (db, [seed, near, far, farthest]) = library();
        let of = |limit| similar(&db.store, Seed::Document(seed), &options(limit)).unwrap();
        assert_eq!(documents(&of(1)), [near]);
        // Ten chunks of the nearest one do not crowd out the next.
        assert_eq!(documents(&of(2)), [near, far]);
        let all = of(9);
        assert_eq!(documents(&all), [near, far, farthest]);
        assert!(all[0].score > all[1].score && all[1].score > all[2].score);
        assert!(all.iter().all(|hit| hit.vector.is_some() && hit.keyword.is_none()));
        assert!(of(0).is_empty());
    }

    #[test]
    fn chunks_that_are_similar_to_a_chunk_may_be_of_one_document() {
        let (db, [seed, near, ..]) = library();
        let own = db.store.chunks(near).unwrap()[0].id;
        let hits = similar(&db.store, Seed::Chunk(own), &options(10)).unwrap();
        assert!(hits.iter().all(|hit| hit.stored.chunk.id != own));
        assert_eq!(documents(&hits[..9]), [near; 9]);
        assert_ne!(hits[9].stored.document_id, near);
        let nothing = similar(&db.store, Seed::Chunk(ChunkId(999)), &options(9)).unwrap();
        assert!(nothing.is_empty());
        let filter = Filter { tags: vec!["tide".into()], ..Filter::default() };
        let tagged = SimilarOptions { filter, ..options(9) };
        let hits = similar(&db.store, Seed::Document(seed), &tagged).unwrap();
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].stored.tags, ["tide"]);
    }
}
