//! Finds the chunks that a search considers.

use crate::document::Filter;
use crate::error::Result;
use crate::ids::ChunkId;
use crate::search::parse::Query;
use crate::search::searchable::Searchable;

/// Returns the chunks that pass filter and exclusions, ordered by id; `None` if all do.
pub(super) fn passing(
    store: &impl Searchable,
    phrasings: &[Query],
    filter: &Filter,
) -> Result<Option<Vec<ChunkId>>> {
    let excluded = phrasings.iter().flat_map(|query| query.excluded.clone()).collect();
    let filter = Filter { excluded, ..filter.clone() };
    if filter.is_empty() { Ok(None) } else { store.passing_chunks(&filter).map(Some) }
}
