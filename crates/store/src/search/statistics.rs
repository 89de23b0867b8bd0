//! Adds up how many passages of several knowledge bases have the terms of a query, so that a word is as rare as it is in all
//! of them. Pure.

use std::collections::HashMap;

/// How many passages other knowledge bases have, and how many of them have each term of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermStatistics {
    num_chunks: u64,
    /// By the term as people write it, in small letters.
    num_with: HashMap<String, usize>,
}

impl TermStatistics {
    /// Creates the statistics of one knowledge base from its passages and how many of them have each term, in small letters.
    pub(super) fn new(num_chunks: u64, num_with: HashMap<String, usize>) -> Self {
        Self { num_chunks, num_with }
    }

    /// Adds what another knowledge base has.
    pub fn add(&mut self, other: &Self) {
        self.num_chunks += other.num_chunks;
        for (term, num_with) in &other.num_with {
            *self.num_with.entry(term.clone()).or_default() += num_with;
        }
    }

    pub(super) fn num_chunks(&self) -> u64 {
        self.num_chunks
    }

    /// Returns how many passages have a term.
    pub(super) fn num_with(&self, term: &str) -> usize {
        self.num_with.get(&term.to_lowercase()).copied().unwrap_or_default()
    }
}
