//! Recognises the table layouts of FTS5 and vec0.
//!
//! kb reads the tables of both directly (`postings.rs`, `scan.rs`), because their SQL takes several
//! times as long. The layout of these tables is part of the file formats, but kb's tests can only
//! vouch for the versions they ran with. A database made by another version is queried through SQL
//! instead (`by_sql.rs`): the answers are the same, only slower.

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;

use super::fault::Step;
use crate::store::Store;
use crate::store::integrity::check;
use crate::store::vectors::BLOCK_ROWS;

/// Versions of FTS5's format, without and with terms removed in place.
const FTS5_VERSIONS: [i64; 2] = [4, 5];

/// Versions of sqlite-vec with the table layout that `scan.rs` reads.
const VEC0_VERSIONS: [&str; 1] = ["v0.1.9"];

const FTS5_VERSION: &str = "SELECT v FROM chunks_fts_config WHERE k = 'version'";

/// The head of the list of segments; see `postings.rs`.
const FTS5_STRUCTURE: &str = "SELECT substr(block, 5, 4) FROM chunks_fts_data WHERE id = 10";

/// Present since SQLite 3.43 in tables with options that kb does not use.
const FTS5_OTHER_STRUCTURE: [u8; 4] = [0xff, 0, 0, 1];

const VEC0_VERSION: &str = "SELECT value FROM chunks_vec_info WHERE key = 'CREATE_VERSION'";

const SCHEMA: &str = "SELECT sql FROM sqlite_schema WHERE name = :name";

/// The tables as created by the known versions.
const FTS5_TABLES: [(&str, &str); 2] = [
    ("chunks_fts_data", "CREATE TABLE 'chunks_fts_data'(id INTEGER PRIMARY KEY, block BLOB)"),
    (
        "chunks_fts_idx",
        "CREATE TABLE 'chunks_fts_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
    ),
];

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

/// The tables of a database that kb reads directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct Layout {
    /// Whether it reads those of FTS5.
    pub(in crate::store) knows_fts5: bool,
    /// Whether it reads those of vec0.
    pub(in crate::store) knows_vec0: bool,
}

impl Layout {
    pub(in crate::store) fn read(db: &Connection) -> Step<Self> {
        Ok(Self { knows_fts5: knows_fts5(db)?, knows_vec0: knows_vec0(db)? })
    }
}

impl Store {
    /// Returns the known layouts; detected once, on the first call.
    pub(in crate::store) fn layout(&self, db: &Connection) -> Step<Layout> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout);
        }
        let layout = Layout::read(db)?;
        // The table of vectors may be created later.
        if check::has_vector_table(db)? {
            self.layout.set(Some(layout));
        }
        Ok(layout)
    }

    /// Returns the known layouts before a write.
    pub(in crate::store) fn layout_to_write(&self) -> Result<Layout> {
        self.layout(&self.connection).map_err(|fault| fault.at(&self.path))
    }

    /// Makes this store and its readers treat both layouts as unknown.
    #[cfg(test)]
    pub(crate) fn forget_layout(&self) {
        self.layout.set(Some(Layout { knows_fts5: false, knows_vec0: false }));
    }
}

/// Whether the index of words has the layout that `postings.rs` reads.
pub(in crate::store) fn knows_fts5(db: &Connection) -> Step<bool> {
    let version: Option<i64> =
        db.prepare_cached(FTS5_VERSION)?.query_row([], |row| row.get(0)).optional()?;
    let structure: Option<Vec<u8>> =
        db.prepare_cached(FTS5_STRUCTURE)?.query_row([], |row| row.get(0)).optional()?;
    Ok(version.is_some_and(|version| FTS5_VERSIONS.contains(&version))
        && structure.is_none_or(|structure| structure != FTS5_OTHER_STRUCTURE)
        && are_made_so(db, &FTS5_TABLES)?)
}

/// Whether the table of vectors has the layout that `scan.rs` reads; also true if there is no table
/// yet.
pub(in crate::store) fn knows_vec0(db: &Connection) -> Step<bool> {
    if !check::has_vector_table(db)? {
        return Ok(true);
    }
    let sql: String = db.prepare_cached(SCHEMA)?.query_row(["chunks_vec"], |row| row.get(0))?;
    let version: Option<String> =
        db.prepare_cached(VEC0_VERSION)?.query_row([], |row| row.get(0)).optional()?;
    // Missing tables are damage, which their readers report.
    Ok(sql.contains(&format!("chunk_size = {BLOCK_ROWS}"))
        && version.is_some_and(|version| VEC0_VERSIONS.contains(&version.as_str()))
        && are_made_so(db, &VEC0_TABLES)?)
}

fn are_made_so(db: &Connection, tables: &[(&str, &str)]) -> Step<bool> {
    let mut schema = db.prepare_cached(SCHEMA)?;
    for (name, expected) in tables {
        let sql: Option<String> = schema.query_row([name], |row| row.get(0)).optional()?;
        if sql.is_some_and(|sql| sql != *expected) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Erasure;
    use crate::store::testing::TestDb;

    fn layout(db: &TestDb) -> (bool, bool) {
        let layout = Layout::read(&db.store.connection).unwrap();
        (layout.knows_fts5, layout.knows_vec0)
    }

    #[test]
    fn the_layouts_of_this_version_are_known() {
        assert_eq!(layout(&TestDb::unbound()), (true, true));
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["one", "two"], &[]);
        db.store.remove(id).unwrap();
        assert_eq!(layout(&db), (true, true));
        assert_eq!(db.store.clean_leftovers().unwrap(), Erasure::Done);
        assert_eq!(layout(&db), (true, true));
    }

    #[test]
    fn other_versions_are_unknown() {
        for (change, expected) in [
            ("UPDATE chunks_fts_config SET v = 6 WHERE k = 'version'", (false, true)),
            (
                "UPDATE chunks_fts_data SET block = x'00000000ff00000100' WHERE id = 10",
                (false, true),
            ),
            (
                "UPDATE chunks_vec_info SET value = 'v0.2.0' WHERE key = 'CREATE_VERSION'",
                (true, false),
            ),
            ("DELETE FROM chunks_vec_info", (true, false)),
            ("ALTER TABLE chunks_vec_chunks ADD COLUMN more", (true, false)),
        ] {
            let mut db = TestDb::new();
            db.add("/a.md", &["one", "two"], &[]);
            db.store.connection.execute_batch(change).unwrap();
            assert_eq!(layout(&db), expected, "{change}");
        }
    }
}
