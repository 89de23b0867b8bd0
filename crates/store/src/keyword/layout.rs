//! Recognises the layout of FTS5's tables that `postings.rs` and `separators.rs` read. Their statements are known: every
//! connection compares them (`life/known_schema.rs`).

use rusqlite::Connection;

use crate::db::fault::Step;
use crate::db::sql;

/// Versions of FTS5's format, without and with terms removed in place.
const FTS5_VERSIONS: [i64; 2] = [4, 5];

/// Those of the index of words and of the second index.
const FOUND_VERSIONS: &str = "
    SELECT v FROM chunks_fts_config WHERE k = 'version'
    UNION ALL SELECT v FROM chunks_grams_config WHERE k = 'version'";

/// The heads of the lists of segments; see `postings.rs`.
const STRUCTURES: &str = "
    SELECT substr(block, 5, 4) FROM chunks_fts_data WHERE id = 10
    UNION ALL SELECT substr(block, 5, 4) FROM chunks_grams_data WHERE id = 10";

/// Present since SQLite 3.43 in tables with options that kb does not use.
const FTS5_OTHER_STRUCTURE: [u8; 4] = [0xff, 0, 0, 1];

/// Whether the index of words and the second index have the layout that `postings.rs` reads.
pub(crate) fn knows_fts5(db: &Connection) -> Step<bool> {
    let versions: Vec<i64> = sql::rows(db, FOUND_VERSIONS, [], |row| row.get(0))?;
    let structures: Vec<Vec<u8>> = sql::rows(db, STRUCTURES, [], |row| row.get(0))?;
    Ok(versions.len() == 2
        && versions.iter().all(|version| FTS5_VERSIONS.contains(version))
        && structures.iter().all(|structure| *structure != FTS5_OTHER_STRUCTURE))
}
