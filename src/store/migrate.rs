//! `migrations/*.sql` in, the newest schema out.
//!
//! The version stands in `config.schema_version` for people and in `user_version` for opening,
//! which reads it from the file's first page.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior, named_params};

use super::fault::{Fault, Step};

/// Marks a SQLite file as one of kb's; the bytes "kbdb".
pub(super) const APPLICATION_ID: i32 = 0x6b62_6462;

/// Number and text of each migration, in order.
pub(super) const MIGRATIONS: &[(i64, &str)] =
    &[(1, include_str!("../../migrations/0001_documents.sql"))];

/// Pause before another process is asked again to let go of a file that is being made.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

const COUNT_SCHEMA: &str = "SELECT count(*) FROM sqlite_schema";

const SET_SCHEMA_VERSION: &str = "
    INSERT INTO config (key, value)
    VALUES ('schema_version', :version)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Returns the version of the schema, 0 for an empty file, without writing anything.
///
/// # Errors
///
/// [`Fault::Foreign`] for a database that is not one of kb's.
pub(super) fn version(connection: &Connection) -> Step<i64> {
    match connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))? {
        APPLICATION_ID => {
            Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
        }
        // Also what is left of a kb that was killed between making the file and filling it.
        0 if connection.query_row(COUNT_SCHEMA, [], |row| row.get::<_, i64>(0))? == 0 => Ok(0),
        _ => Err(Fault::Foreign),
    }
}

/// Puts the file into WAL mode, which it remembers; writes nothing where it is so already.
///
/// SQLite does not wait here for another process that is about to do the same, hence the loop.
pub(super) fn enter_wal(connection: &Connection, patience: Duration) -> Step<()> {
    let start = Instant::now();
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())) {
            Err(error) if Fault::is_busy(&error) && start.elapsed() < patience => {
                thread::sleep(RETRY_PAUSE);
            }
            other => return Ok(other?),
        }
    }
}

/// Applies what is pending of `migrations`, each in a transaction of its own.
///
/// `found` is what [`version`] returned; it is read again under the write lock, because another
/// process may be opening the same file.
///
/// # Errors
///
/// [`Fault::TooNew`] for a database of a newer kb, before anything is written.
pub(super) fn apply(
    connection: &mut Connection,
    found: i64,
    migrations: &[(i64, &str)],
) -> Step<()> {
    let supported = migrations.last().map_or(0, |(version, _)| *version);
    if found > supported {
        return Err(Fault::TooNew { found, supported });
    }
    if found == supported {
        return Ok(());
    }
    for (version_after, sql) in migrations {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&transaction)? >= *version_after {
            continue;
        }
        transaction.execute_batch(sql)?;
        transaction
            .execute(SET_SCHEMA_VERSION, named_params! { ":version": version_after.to_string() })?;
        transaction.pragma_update(None, "user_version", version_after)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.commit()?;
    }
    Ok(())
}
