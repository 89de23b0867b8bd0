//! Keeps the best candidates of a scan. Pure.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::ids::{ChunkId, RankedChunk};

/// The best candidates so far, with the worst on top of the heap.
pub(super) struct NearestVectors {
    depth: usize,
    heap: BinaryHeap<VectorCandidate>,
}

/// A chunk and the place of its vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorCandidate {
    pub(super) score: f32,
    pub(super) chunk_id: ChunkId,
    pub(super) block: i64,
    pub(super) place: usize,
}

impl Ord for VectorCandidate {
    /// The greater candidate ranks lower.
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.chunk_id.cmp(&other.chunk_id))
    }
}

impl PartialOrd for VectorCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for VectorCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for VectorCandidate {}

impl NearestVectors {
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, heap: BinaryHeap::new() }
    }

    /// Keeps a candidate if it is among the best so far.
    pub(super) fn offer(&mut self, candidate: VectorCandidate) {
        if self.heap.len() < self.depth {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// Returns the candidates, best first.
    pub(super) fn into_candidates(self) -> Vec<VectorCandidate> {
        self.heap.into_sorted_vec()
    }

    /// Returns the chunks with their scores, best first.
    pub(super) fn ranked(self) -> Vec<RankedChunk> {
        self.into_candidates()
            .into_iter()
            .map(|candidate| RankedChunk {
                chunk_id: candidate.chunk_id,
                score: f64::from(candidate.score),
            })
            .collect()
    }
}
