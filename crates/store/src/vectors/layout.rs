//! Recognises the layout of vec0's tables that `scan.rs` reads. Their statements are known: every connection compares
//! them (`life/known_schema.rs`).

use rusqlite::Connection;

use crate::db::fault::Step;
use crate::db::sql;

/// Versions of sqlite-vec with the table layout that `scan.rs` reads.
const VEC0_VERSIONS: [&str; 1] = ["v0.1.9"];

const VEC0_VERSION: &str = "SELECT value FROM chunks_vec_info WHERE key = 'CREATE_VERSION'";

const HAS_VECTOR_TABLE: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'chunks_vec')";

pub(crate) fn has_vector_table(db: &Connection) -> Step<bool> {
    sql::value(db, HAS_VECTOR_TABLE, [])
}

/// Whether the table of vectors has the layout that `scan.rs` reads; also true if there is no table
/// yet.
pub(crate) fn knows_vec0(db: &Connection) -> Step<bool> {
    if !has_vector_table(db)? {
        return Ok(true);
    }
    let version: Option<String> = sql::first_row(db, VEC0_VERSION, [], |row| row.get(0))?;
    // Missing tables are damage, which their readers report.
    Ok(version.is_some_and(|version| VEC0_VERSIONS.contains(&version.as_str())))
}
