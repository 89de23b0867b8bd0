//! Recognises the layout of FTS5's tables that `postings.rs` and `separators.rs` read. Their statements are known: every
//! connection compares them (`life/known_schema.rs`).

use rusqlite::Connection;

use crate::db::fault::Step;
use crate::db::sql;

/// Versions of FTS5's format, without and with terms removed in place.
const FTS5_VERSIONS: [i64; 2] = [4, 5];

const FTS5_VERSION: &str = "SELECT v FROM chunks_fts_config WHERE k = 'version'";

/// The head of the list of segments; see `postings.rs`.
const FTS5_STRUCTURE: &str = "SELECT substr(block, 5, 4) FROM chunks_fts_data WHERE id = 10";

/// Present since SQLite 3.43 in tables with options that kb does not use.
const FTS5_OTHER_STRUCTURE: [u8; 4] = [0xff, 0, 0, 1];

/// Whether the index of words has the layout that `postings.rs` reads.
pub(crate) fn knows_fts5(db: &Connection) -> Step<bool> {
    let version: Option<i64> = sql::first_row(db, FTS5_VERSION, [], |row| row.get(0))?;
    let structure: Option<Vec<u8>> = sql::first_row(db, FTS5_STRUCTURE, [], |row| row.get(0))?;
    Ok(version.is_some_and(|version| FTS5_VERSIONS.contains(&version))
        && structure.is_none_or(|structure| structure != FTS5_OTHER_STRUCTURE))
}
