//! Opens connections to SQLite, with vec0 and kb's settings.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::cancel;

/// How long a statement waits for another process before the database counts as locked: as long as rusqlite does by
/// default.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements kept prepared on a connection; more than the methods here use together.
const STATEMENT_CACHE: usize = 64;

/// Steps of SQLite's virtual machine between two looks at the flag that cancels a statement: some hundred microseconds.
const STEPS_PER_LOOK: i32 = 10_000;

/// How long a cancelled statement may go on. A document that is being stored is then complete, and removed text is
/// cleared; a statement without an end is not waited for.
const GRACE: Duration = Duration::from_secs(1);

/// Settings of one connection; the file itself only stores that it is in WAL mode.
///
/// - `synchronous = NORMAL`: a commit is one write without a flush. A killed process loses nothing;
///   a power cut may lose the last commits but never the consistency of the file
///   (sqlite.org/wal.html, section 3.1). The lost documents came from files that are still on disk.
/// - `cache_size`: in KiB when negative. Large enough that the upper levels of the keyword index
///   stay in memory during an ingest.
/// - `mmap_size`: in bytes; up to several million chunks. A scan of all vectors takes a third less
///   time if pages need not be copied into the cache first. SQLite reads pages normally that are
///   beyond this size, beyond its own limit (`.cargo/config.toml`) or cannot be mapped.
/// - `secure_delete`: deleted content is overwritten; see `life/erase.rs`.
pub(crate) const PRAGMAS: &str = "
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -16384;
    PRAGMA mmap_size = 17179869184;
    PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON;";

/// Without `SQLITE_OPEN_CREATE`: only `create_file` creates files.
pub(crate) fn open_connection(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    register_vec0()?;
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    harden(&connection)?;
    end_with(&mut connection, cancel::current())?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Query planner stability. Without it SQLite prepares a cached statement again whenever another
    // value is bound, in case another plan suits that value: three quarters of the instructions of
    // a re-add.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// Lets no statement change the tables behind an index, pages or the schema by anything but their own statements, and no
/// trigger, view or default of the file use functions and tables that could do harm (sqlite.org/security.html).
pub(crate) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(())
}

/// As [`harden`], for a file in which no view and no trigger has a purpose.
pub(crate) fn harden_tables(connection: &Connection) -> rusqlite::Result<()> {
    harden(connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    Ok(())
}

/// Runs `work`, which may change pages and the tables behind an index.
pub(crate) fn on_pages<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    struct DefensiveModeGuard<'a>(&'a Connection);
    impl Drop for DefensiveModeGuard<'_> {
        fn drop(&mut self) {
            // This does not fail for an open connection, and `drop` could not report it.
            let _ = self.0.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true);
        }
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let _again = DefensiveModeGuard(connection);
    work(connection)
}

/// Ends the statements of a connection when the flag is set, after [`GRACE`]; without a flag, none.
pub(crate) fn end_with(
    connection: &mut Connection,
    flag: Option<Arc<AtomicBool>>,
) -> rusqlite::Result<()> {
    let handler = flag.map(|flag| {
        let mut seen: Option<Instant> = None;
        move || {
            flag.load(Ordering::Relaxed) && seen.get_or_insert_with(Instant::now).elapsed() >= GRACE
        }
    });
    connection.progress_handler(STEPS_PER_LOOK, handler)
}

/// Registers `vec0` for every connection of this process.
fn register_vec0() -> rusqlite::Result<()> {
    static REGISTERED: Once = Once::new();
    let mut outcome = Ok(());
    REGISTERED.call_once(|| outcome = register_vec0_once());
    outcome
}

#[expect(unsafe_code, reason = "the one way to link sqlite-vec into the bundled SQLite")]
fn register_vec0_once() -> rusqlite::Result<()> {
    use rusqlite::auto_extension::{RawAutoExtension, register_auto_extension};
    // SAFETY: the crate declares `sqlite3_vec_init` without parameters, but sqlite-vec.c defines it
    // with SQLite's signature for extension entry points, which the transmute restores. It opens
    // and closes no connection and does not touch the list of extensions.
    unsafe {
        let init: RawAutoExtension = std::mem::transmute::<*const (), RawAutoExtension>(
            sqlite_vec::sqlite3_vec_init as *const (),
        );
        register_auto_extension(init)
    }
}
