//! Finds the chunks of a copy that have terms.

use std::collections::HashSet;

use tokio_postgres::types::Type;

use super::postings::{self, ChunkPlaces};
use super::push::index_number;
use super::read::{Param, Remote};
use super::statements::{POSTINGS, POSTINGS_OF_PREFIX};
use crate::error::Result;
use crate::ids::ChunkId;
use crate::{Occurrence, Phrase, TermIndex};

impl Remote {
    pub(super) fn entries(
        &self,
        statement: &str,
        index: TermIndex,
        term: &str,
    ) -> Result<Vec<Vec<ChunkPlaces>>> {
        let params: [Param<'_>; 2] = [(&index_number(index), Type::INT2), (&term, Type::TEXT)];
        let rows = self.query(statement, &params)?;
        let entries = rows.iter().map(|row| {
            let unpacked = postings::unpack(self.get(row, 0)?, self.get(row, 1)?);
            unpacked.ok_or_else(|| self.damaged("its keyword index"))
        });
        entries.collect()
    }

    pub(super) fn find(&self, phrase: &Phrase) -> Result<Vec<Occurrence>> {
        if phrase.index == TermIndex::Pairs && !self.shared.has_pairs {
            return Ok(Vec::new());
        }
        let last = phrase.terms.len().saturating_sub(1);
        let mut lists = Vec::new();
        for (place, term) in phrase.terms.iter().enumerate() {
            lists.push(if phrase.is_prefix && place == last {
                postings::union(self.entries(POSTINGS_OF_PREFIX, phrase.index, term)?)
            } else {
                self.entries(POSTINGS, phrase.index, term)?.concat()
            });
        }
        Ok(postings::occurrences(phrase, &lists))
    }

    pub(super) fn having(&self, text: &str) -> Result<HashSet<ChunkId>> {
        let alternatives = self.splitter().alternatives(text, &self.shared.languages)?;
        let mut found = HashSet::new();
        for phrases in alternatives {
            let mut of_all: Option<HashSet<ChunkId>> = None;
            for phrase in &phrases {
                let occurrences = self.find(phrase)?;
                let own = occurrences.iter().map(|occurrence| occurrence.chunk_id).collect();
                of_all = Some(match of_all {
                    Some(others) => &others & &own,
                    None => own,
                });
            }
            found.extend(of_all.unwrap_or_default());
        }
        Ok(found)
    }
}
