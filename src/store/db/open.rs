//! Opens a kb database, or reports why it cannot.
//!
//! A file of another program is never written to: it is identified by reading alone.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};
use crate::files::File;
use crate::files::private::create_file;

use super::access::Access;
use super::backup::Unmigrated;
use super::fault::Fault;
use super::migrate;
use super::readers::file_id;
use crate::store::{Followed, Store};

/// How long a statement waits for another process before the database counts as locked.
pub(in crate::store) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements kept prepared on a connection; more than the methods here use together.
const STATEMENT_CACHE: usize = 64;

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
/// - `secure_delete`: deleted content is overwritten; see `erase.rs`.
pub(in crate::store) const PRAGMAS: &str = "
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -16384;
    PRAGMA mmap_size = 17179869184;
    PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON;";

/// Called before a database of an older schema changes; the lock that it returns is held until the
/// schema is the newest.
pub type BeforeMigration<'a> = dyn Fn(&Unmigrated<'_>) -> Option<File> + 'a;

impl Store {
    /// Opens the database for reading and writing. Creates the file and its directory if they are
    /// missing, readable only by the owner. An empty file becomes a new database.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`], [`Error::Corrupt`] and [`Error::SchemaTooNew`] for a file that kb must
    /// not write, which is left unchanged; [`Error::ReadOnly`] for one that it cannot write; [`Error::Locked`], [`Error::DiskFull`] and [`Error::Io`]
    /// for errors of the system.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = Self::open_guarded(path, true, &|_| None)?;
        opened.ok_or_else(|| Error::PathNotFound { path: path.to_owned() })
    }

    /// Opens the database if it exists; returns `None` and creates nothing if there is no file. Where
    /// it cannot be written, it is opened read-only, and an empty one counts as none.
    ///
    /// # Errors
    ///
    /// As [`Store::open`]; [`Error::NeedsWriting`] instead of [`Error::ReadOnly`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>> {
        Self::open_guarded(path, false, &|_| None)
    }

    /// Like [`Store::open`] if `creates`, else like [`Store::open_existing`]. Calls
    /// `before_migration` before anything in a database of an older schema changes.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_guarded(
        path: &Path,
        creates: bool,
        before_migration: &BeforeMigration<'_>,
    ) -> Result<Option<Self>> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        if creates {
            create_file(path).map_err(io)?;
            if Self::is_read_only_at(path) {
                return Err(Error::ReadOnly { path: path.to_owned() });
            }
        } else if !path.try_exists().map_err(io)? {
            return Ok(None);
        } else if let access @ (Access::Shared | Access::Frozen(_)) = Access::of(path)? {
            return Self::connect_to_read(path, access);
        }
        Self::connect(path, before_migration).map(Some)
    }

    /// Opens a second, read-only connection to the same file. Checks made by [`Store::open`] are
    /// not repeated.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] and [`Error::Io`].
    pub fn reader(&self) -> Result<Self> {
        let connection = self.access.open_to_read(&self.path);
        let connection = connection.map_err(|error| Fault::from(error).at(&self.path))?;
        Ok(Self {
            idle: RefCell::default(),
            has_read_ahead: Cell::new(false),
            connection,
            path: self.path.clone(),
            access: self.access,
            file: self.file,
            bound: self.bound.clone(),
            reindexing: None,
            followed: Arc::clone(&self.followed),
            layout: self.layout.clone(),
        })
    }

    /// Limits how long a statement waits for another process, for work that can be left undone.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn wait_at_most(&self, patience: Duration) -> Result<()> {
        let set = self.connection.busy_timeout(patience.min(BUSY_TIMEOUT));
        set.map_err(|error| Fault::from(error).at(&self.path))
    }

    /// Returns the version of the linked SQLite.
    pub fn sqlite_version() -> &'static str {
        rusqlite::version()
    }

    /// Closes the connection. The last one to close leaves a single file: it checkpoints and
    /// removes the write-ahead log. Dropping does the same without reporting errors.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`] and [`Error::Io`] if the log cannot be checkpointed; it is then kept and
    /// nothing is lost.
    pub fn close(mut self) -> Result<()> {
        self.empty_log_left();
        self.idle.take();
        self.connection.close().map_err(|(_, error)| Fault::from(error).at(&self.path))
    }

    fn connect(path: &Path, before_migration: &BeforeMigration<'_>) -> Result<Self> {
        let connection = open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(Fault::from)
            .and_then(|mut connection| {
                // Until the file is known to be kb's, its log is not checkpointed on closing.
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                let version = migrate::version(&connection)?;
                migrate::refuse_newer(version, migrate::MIGRATIONS)?;
                connection.execute_batch(PRAGMAS)?;
                migrate::enter_wal(&connection, BUSY_TIMEOUT)?;
                let is_pending = version > 0 && version < migrate::NEWEST;
                let _lock = is_pending.then(|| {
                    before_migration(&Unmigrated { connection: &connection, path, version })
                });
                migrate::apply(&mut connection, version, migrate::MIGRATIONS)?;
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
                Ok(connection)
            })
            .map_err(|fault| fault.at(path))?;
        Ok(Self::over(connection, path, Access::Write))
    }

    /// Opens a database that cannot be written. A database without a schema counts as none.
    fn connect_to_read(path: &Path, access: Access) -> Result<Option<Self>> {
        let opened = access.open_to_read(path).map_err(Fault::from).and_then(|connection| {
            let version = migrate::version(&connection)?;
            migrate::refuse_newer(version, migrate::MIGRATIONS)?;
            Ok((connection, version))
        });
        let needs = |reason: String| Error::NeedsWriting { path: path.to_owned(), reason };
        let (connection, version) = opened.map_err(|fault| match fault.is_about_access() {
            true => needs("its log cannot be read".into()),
            false => fault.at(path),
        })?;
        match version {
            0 => Ok(None),
            migrate::NEWEST => Ok(Some(Self::over(connection, path, access))),
            _ => {
                let newest = migrate::NEWEST;
                let reason = format!("its schema has version {version}, this kb needs {newest}");
                Err(needs(reason))
            }
        }
    }

    fn over(connection: Connection, path: &Path, access: Access) -> Self {
        Self {
            idle: RefCell::default(),
            has_read_ahead: Cell::new(false),
            connection,
            path: path.to_owned(),
            access,
            file: file_id(path),
            bound: RefCell::new(None),
            reindexing: None,
            followed: Arc::new(Followed::Everything),
            layout: Cell::new(None),
        }
    }
}

/// Opens any database for reading, without checking whose it is.
pub(in crate::store) fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    Access::of(path).unwrap_or(Access::Write).open_to_read(path)
}

/// Without `SQLITE_OPEN_CREATE`: only `create_file` creates files.
pub(in crate::store) fn open_connection(
    path: &Path,
    access: OpenFlags,
) -> rusqlite::Result<Connection> {
    register_vec0()?;
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Query planner stability. Without it SQLite prepares a cached statement again whenever another
    // value is bound, in case another plan suits that value: three quarters of the instructions of
    // a re-add.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
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

#[cfg(test)]
mod tests;
