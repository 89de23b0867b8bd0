//! Marks that content was removed and is still to be erased from the file, in the transaction that
//! removes it.

use rusqlite::{Connection, named_params};

use super::{config, sql};
use crate::ids::DocumentId;

use super::fault::Step;

/// Removing the terms of one chunk from the index takes as long as writing those of this many
/// chunks again: 12 ms and 0.03 ms on two processors.
const MERGED_PER_REMOVED: i64 = 400;

const MARK: &str = "erasing";

/// Adds the chunks of a document to the count of those removed since the indexes were last clean.
const COUNT: &str = "
    INSERT INTO config (key, value)
    SELECT 'erased_chunks', count(*) FROM chunks WHERE document_id = :document_id
    ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + excluded.value
    RETURNING CAST(value AS INTEGER)";

const LAST_CHUNK: &str = "SELECT ifnull(max(id), 0) FROM chunks";

/// Whether terms are removed from the indexes in place.
const IS_IN_PLACE: &str = "
    SELECT EXISTS (SELECT 1 FROM chunks_fts_config WHERE k = 'secure-delete' AND v = 1)";

const STOP_IN_PLACE: &str = "
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('secure-delete', 0);
    INSERT INTO chunks_grams (chunks_grams, rank) VALUES ('secure-delete', 0);
    INSERT INTO chunks_exact (chunks_exact, rank) VALUES ('secure-delete', 0);";

/// Marks that something is removed, in the transaction that removes it.
pub(crate) fn mark(db: &Connection) -> Step<()> {
    config::set(db, MARK, "pages")
}

/// Marks the removal of a document's chunks; must run before they are deleted. After many removals,
/// further ones are only marked in the indexes, which are merged at the end.
pub(crate) fn mark_chunks(db: &Connection, document_id: DocumentId) -> Step<()> {
    mark(db)?;
    let params = named_params! { ":document_id": document_id };
    let num_removed: i64 = sql::value(db, COUNT, params)?;
    let last_chunk: i64 = sql::value(db, LAST_CHUNK, [])?;
    if num_removed * MERGED_PER_REMOVED > last_chunk && is_in_place(db)? {
        db.execute_batch(STOP_IN_PLACE)?;
    }
    Ok(())
}

pub(crate) fn is_in_place(db: &Connection) -> Step<bool> {
    sql::value(db, IS_IN_PLACE, [])
}

pub(crate) fn marked(db: &Connection) -> Step<Option<String>> {
    config::value(db, MARK)
}
