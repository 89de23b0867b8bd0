//! Takes the signals of confidence from the rankings.

use super::Rankings;
use crate::ids::ChunkId;
use crate::search::confidence::{self, KeywordSignals, Signals, VectorSignals};
use crate::search::fuse::FusedChunk;

/// Number of first hits whose titles are compared with the query: the probability is about the first three.
const NUM_TITLES: usize = 3;

impl Rankings {
    /// Returns the signals from which confidence is estimated.
    pub(crate) fn signals(&self, fused: &[FusedChunk]) -> Signals {
        let vector = self.vector.as_ref().filter(|leg| leg.weight > 0.0 && !self.is_blank);
        let vector = vector.and_then(|leg| {
            let (first, gap) = confidence::first_and_gap(&leg.ranking)?;
            let coverage = self.coverage_of(Some(first.chunk_id));
            let (usual, factor) = confidence::stretch(leg.floor);
            let cosine = usual + factor * (first.score - leg.floor);
            Some(VectorSignals { cosine, gap: factor * gap, coverage })
        });
        // Words near those of the query are no evidence.
        let keyword = match self.keywords.as_ref().filter(|keywords| keywords.has_typed()) {
            Some(keywords) => {
                let gap = confidence::first_and_gap(&self.keyword)
                    .filter(|_| keywords.completed().is_empty())
                    .map_or(0.0, |(first, gap)| gap / first.score);
                let coverage = self.coverage_of(fused.first().map(|hit| hit.chunk_id));
                let titles = fused.iter().take(NUM_TITLES).map(|hit| hit.chunk_id);
                let titles = titles.map(|id| keywords.in_title(id));
                let title = titles.fold(0.0, f64::max);
                let first = fused.iter().take(NUM_TITLES).map(|hit| hit.chunk_id);
                let is_found = keywords.is_found(&first.collect::<Vec<_>>());
                let is_name = self.num_typed == Some(1) && keywords.is_name();
                Some(KeywordSignals { gap, coverage, title, is_found, is_name })
            }
            // There is no question, or no word occurs and the model cannot read the query: nothing speaks for an
            // answer.
            None if self.is_blank || self.has_words && vector.is_none() => {
                Some(KeywordSignals::default())
            }
            None => None,
        };
        Signals { vector, keyword }
    }

    /// Returns how much of the query a chunk has; none without keywords.
    fn coverage_of(&self, chunk_id: Option<ChunkId>) -> f64 {
        match (&self.keywords, chunk_id) {
            (Some(keywords), Some(chunk_id)) => keywords.coverage(chunk_id),
            _ => 0.0,
        }
    }
}
