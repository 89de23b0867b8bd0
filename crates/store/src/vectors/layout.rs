//! Recognises the layout of vec0's tables that `scan.rs` reads.

use rusqlite::Connection;

use super::BLOCK_ROWS;
use crate::db::fault::Step;
use crate::db::layout::{SCHEMA, are_made_so};
use crate::db::sql;

/// Versions of sqlite-vec with the table layout that `scan.rs` reads.
const VEC0_VERSIONS: [&str; 1] = ["v0.1.9"];

const VEC0_VERSION: &str = "SELECT value FROM chunks_vec_info WHERE key = 'CREATE_VERSION'";

const VEC0_TABLES: [(&str, &str); 3] = [
    (
        "chunks_vec_chunks",
        "CREATE TABLE \"chunks_vec_chunks\"(chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,size INTEGER NOT \
         NULL,validity BLOB NOT NULL,rowids BLOB NOT NULL)",
    ),
    (
        "chunks_vec_rowids",
        "CREATE TABLE \"chunks_vec_rowids\"(rowid INTEGER PRIMARY KEY AUTOINCREMENT,id,chunk_id \
         INTEGER,chunk_offset INTEGER)",
    ),
    (
        "chunks_vec_vector_chunks00",
        "CREATE TABLE \"chunks_vec_vector_chunks00\"(rowid PRIMARY KEY,vectors BLOB NOT NULL)",
    ),
];

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
    let made: String = sql::value(db, SCHEMA, ["chunks_vec"])?;
    let version: Option<String> = sql::first_row(db, VEC0_VERSION, [], |row| row.get(0))?;
    // Missing tables are damage, which their readers report.
    Ok(made.contains(&format!("chunk_size = {BLOCK_ROWS}"))
        && version.is_some_and(|version| VEC0_VERSIONS.contains(&version.as_str()))
        && are_made_so(db, &VEC0_TABLES)?)
}
