//! Knows the versions of the schema, and reads that of a database.
//!
//! The version is in `config.schema_version` for people, and in `user_version`, which is read from
//! the file's first page on opening.

use rusqlite::Connection;

use super::fault::{DatabaseFault, Step};
use super::sql;

/// Marks an SQLite file as a kb database; the bytes "kbdb".
pub(crate) const APPLICATION_ID: i32 = 0x6b62_6462;

/// Number and text of each migration, in order.
pub(crate) const MIGRATIONS: &[(i64, &str)] = &[
    (1, include_str!(concat!(env!("KB_MIGRATIONS"), "/0001_documents.sql"))),
    (2, include_str!(concat!(env!("KB_MIGRATIONS"), "/0002_skills.sql"))),
    (3, include_str!(concat!(env!("KB_MIGRATIONS"), "/0003_scale.sql"))),
    (4, include_str!(concat!(env!("KB_MIGRATIONS"), "/0004_roots.sql"))),
    (5, include_str!(concat!(env!("KB_MIGRATIONS"), "/0005_real_paths.sql"))),
    (ERASE, include_str!(concat!(env!("KB_MIGRATIONS"), "/0006_erase.sql"))),
    (7, include_str!(concat!(env!("KB_MIGRATIONS"), "/0007_making.sql"))),
    (8, include_str!(concat!(env!("KB_MIGRATIONS"), "/0008_ledger.sql"))),
    (9, include_str!(concat!(env!("KB_MIGRATIONS"), "/0009_dates.sql"))),
    (10, include_str!(concat!(env!("KB_MIGRATIONS"), "/0010_edits.sql"))),
    (11, include_str!(concat!(env!("KB_MIGRATIONS"), "/0011_tokens.sql"))),
    (12, include_str!(concat!(env!("KB_MIGRATIONS"), "/0012_stems.sql"))),
    (13, include_str!(concat!(env!("KB_MIGRATIONS"), "/0013_names.sql"))),
    (14, include_str!(concat!(env!("KB_MIGRATIONS"), "/0014_mounts.sql"))),
    (PACK, include_str!(concat!(env!("KB_MIGRATIONS"), "/0015_pack.sql"))),
    (LETTERS, include_str!(concat!(env!("KB_MIGRATIONS"), "/0016_letters.sql"))),
    (VECTORS, include_str!(concat!(env!("KB_MIGRATIONS"), "/0017_vectors.sql"))),
];

/// The version of the schema that this program reads and writes.
pub(crate) const NEWEST: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// The migrations that only kb can complete: checksums, packed codes of tokens, then indexes.
pub(crate) const ERASE: i64 = 6;
pub(crate) const PACK: i64 = 15;
pub(crate) const LETTERS: i64 = 16;

/// From this version on, kb deletes the vectors of chunks itself; before, a trigger did.
pub(crate) const VECTORS: i64 = 17;

/// The oldest schema of a database that can be read where it cannot be written.
pub(crate) const OLDEST_READ: i64 = LETTERS - 1;

const STATED_PROGRAM: &str = "PRAGMA application_id";

const STATED_VERSION: &str = "PRAGMA user_version";

const COUNT_SCHEMA: &str = "SELECT count(*) FROM sqlite_schema";

/// Returns the version of the schema, 0 for an empty file, without writing anything.
pub(crate) fn version(connection: &Connection) -> Step<i64> {
    if !connection.is_autocommit() {
        return version_in_transaction(connection);
    }
    // A transaction reads one state of the file: another process may be turning it into a database just now.
    let snapshot = connection.unchecked_transaction()?;
    let version = version_in_transaction(&snapshot)?;
    snapshot.commit()?;
    Ok(version)
}

pub(crate) fn version_in_transaction(connection: &Connection) -> Step<i64> {
    match sql::value::<i32>(connection, STATED_PROGRAM, [])? {
        APPLICATION_ID => sql::value(connection, STATED_VERSION, []),
        // An empty file is a new database. A kb that was killed between creating and filling it leaves one, too.
        0 if connection.query_row(COUNT_SCHEMA, [], |row| row.get::<_, i64>(0))? == 0 => Ok(0),
        _ => Err(DatabaseFault::Foreign),
    }
}

/// Says that a database has an older schema.
pub(crate) fn other_version(version: i64) -> String {
    format!("its schema has version {version}, this kb needs {NEWEST}")
}

/// Refuses a database of a newer kb, whatever mode its file is in, before anything is written.
pub(crate) fn refuse_newer(found: i64, migrations: &[(i64, &str)]) -> Step<()> {
    let supported = migrations.last().map_or(0, |(version, _)| *version);
    if found > supported { Err(DatabaseFault::TooNew { found, supported }) } else { Ok(()) }
}
