//! Counts how many passages have the terms of a query, so that several knowledge bases share one rarity.
//!
//! A word that one of them has in every passage and another in none is no name of the first's subject.

use std::collections::HashMap;

use crate::error::Result;
use crate::search::keyword::Keywords;
use crate::search::look_up::look_up;
use crate::search::term::Totals;
use crate::search::{Query, Searchable};

/// How many passages other knowledge bases have, and how many of them have each term of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermStatistics {
    num_chunks: u64,
    /// By the term as people write it, in small letters.
    num_with: HashMap<String, usize>,
}

impl TermStatistics {
    /// Counts the terms of the phrasings of a query in one knowledge base.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Db`] if it cannot be read.
    pub fn of(store: &impl Searchable, phrasings: &[Query]) -> Result<Self> {
        let (keywords, _) = look_up(store, phrasings, &Self::default())?;
        let num_with = keywords.iter().flat_map(Keywords::counts).collect();
        let totals = Totals::of(&store.chunk_sizes()?, &Self::default());
        Ok(Self { num_chunks: totals.num_chunks, num_with })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::parse::parse;
    use crate::testing::TestDb;

    #[test]
    fn terms_are_counted_in_each_knowledge_base_and_added() {
        let mut db = TestDb::new();
        db.add("/a.md", &["Oil for the pump", "the pumps", "git-lfs"], &[]);
        let query = [parse("pump oil git-lfs absent").unwrap()];
        let one = TermStatistics::of(&db.store, &query).unwrap();
        let counts = |all: &TermStatistics| {
            ["pump", "oil", "GIT LFS", "absent"].map(|term| all.num_with(term))
        };
        assert_eq!((one.num_chunks(), counts(&one)), (3, [2, 1, 1, 0]));
        let mut both = one.clone();
        both.add(&one);
        assert_eq!((both.num_chunks(), counts(&both)), (6, [4, 2, 2, 0]));
        let none = TermStatistics::of(&db.store, &[parse("absent").unwrap()]).unwrap();
        assert_eq!((none.num_chunks(), counts(&none)), (3, [0; 4]));
    }
}
