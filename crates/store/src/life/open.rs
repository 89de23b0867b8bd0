//! Opens a kb database, or reports why it cannot.
//!
//! A file of another program is never written to: it is identified by reading alone.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::backup::OldDatabase;
use super::known_schema::{compare, inspect};
use super::migrate;
use crate::cancel;
use crate::db::access::OpenMode;
use crate::db::connection::{BUSY_TIMEOUT, PRAGMAS, end_with, open_connection};
use crate::db::fault::DatabaseFault;
use crate::db::schema;
use crate::db::seen_schema::SeenSchema;
use crate::error::{Error, Result};
use crate::files::folder::Lock;
use crate::files::open::identity;
use crate::files::private::create_file;
use crate::{FollowedPaths, Store};

/// Called before a database of an older schema changes; the lock that it returns is held until the
/// schema is the newest.
pub type BeforeMigration<'a> = dyn Fn(&OldDatabase<'_>) -> Option<Lock> + 'a;

impl Store {
    /// Opens the database for reading and writing. Creates the file and its directory if they are
    /// missing, readable only by the owner. An empty file becomes a new database.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`], [`Error::Corrupt`], [`Error::SchemaTooNew`] and [`Error::AlteredSchema`] for a file that kb must
    /// not write, which is left unchanged; [`Error::ReadOnly`] for one that it cannot write; [`Error::Locked`], [`Error::DiskFull`] and [`Error::Io`]
    /// for errors of the system.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = Self::open_guarded(path, true, &|_| None)?;
        opened.ok_or_else(|| Error::PathNotFound { path: path.to_owned() })
    }

    /// Opens the database if it exists; returns `None` and creates nothing if there is no file, or an
    /// empty one. Where it cannot be written, it is opened read-only.
    ///
    /// # Errors
    ///
    /// As [`Store::open`]; [`Error::NeedsWriting`] instead of [`Error::ReadOnly`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>> {
        Self::open_guarded(path, false, &|_| None)
    }

    /// Like [`Store::open`] if `creates`, else like [`Store::open_existing`]. Calls
    /// `before_migration` before anything in a database of an older schema changes.
    pub fn open_guarded(
        path: &Path,
        creates: bool,
        before_migration: &BeforeMigration<'_>,
    ) -> Result<Option<Self>> {
        if creates {
            create_file(path).map_err(|source| Error::of_file(path, source))?;
            if Self::is_read_only_at(path) {
                return Err(Error::ReadOnly { path: path.to_owned() });
            }
        } else if !path.try_exists().map_err(|source| Error::of_file(path, source))? {
            return Ok(None);
        } else if let access @ (OpenMode::Shared | OpenMode::Frozen(_)) = OpenMode::of(path)? {
            return Self::connect_to_read(path, access);
        }
        Self::connect(path, creates, before_migration)
    }

    /// Opens a second, read-only connection to the same file. Checks made by [`Store::open`] are
    /// not repeated.
    pub fn reader(&self) -> Result<Self> {
        let connection =
            self.open_again().map_err(|error| DatabaseFault::from(error).at(&self.path))?;
        Ok(Self {
            idle: RefCell::default(),
            has_read_ahead: Cell::new(false),
            connection,
            seen: self.seen.of_reader(),
            ended_by: self.ended_by.clone(),
            path: self.path.clone(),
            access: self.access,
            file: self.file,
            bound: self.bound.clone(),
            reindexing: None,
            followed: Arc::clone(&self.followed),
            layout: self.layout.clone(),
        })
    }

    fn open_again(&self) -> rusqlite::Result<Connection> {
        let mut connection = self.access.open_to_read(&self.path)?;
        end_with(&mut connection, self.ended_by.clone())?;
        Ok(connection)
    }

    /// Ends statements of this connection that still run some time after the request of this thread was cancelled
    /// ([`cancel::under`]), as on opening, and those of readers that are taken from now on. Without a request, none.
    pub fn renew_cancellation(&mut self) -> Result<()> {
        self.be_ended_by(cancel::current())
    }

    /// Ends statements of this connection, and of readers taken from it, when the flag is set.
    pub(crate) fn be_ended_by(&mut self, flag: Option<Arc<AtomicBool>>) -> Result<()> {
        self.ended_by.clone_from(&flag);
        let set = end_with(&mut self.connection, flag);
        set.map_err(|error| DatabaseFault::from(error).at(&self.path))
    }

    /// Returns the indexes of the database that kb did not make.
    #[must_use]
    pub fn added_indexes(&self) -> Vec<String> {
        self.seen.added_indexes()
    }

    /// Limits how long a statement waits for another process, for work that can be left undone.
    pub fn wait_at_most(&self, patience: Duration) -> Result<()> {
        let set = self.connection.busy_timeout(patience.min(BUSY_TIMEOUT));
        set.map_err(|error| DatabaseFault::from(error).at(&self.path))
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
        self.connection.close().map_err(|(_, error)| DatabaseFault::from(error).at(&self.path))
    }

    fn connect(
        path: &Path,
        creates: bool,
        before_migration: &BeforeMigration<'_>,
    ) -> Result<Option<Self>> {
        let opened = open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(DatabaseFault::from)
            .and_then(|mut connection| {
                // Until the file is known to be kb's, its log is not checkpointed on closing.
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                let (version, seen) = inspect(&connection)?;
                if version == 0 && !creates {
                    return Ok(None);
                }
                connection.execute_batch(PRAGMAS)?;
                migrate::enter_wal(&connection, BUSY_TIMEOUT)?;
                let is_pending = version > 0 && version < schema::NEWEST;
                let _lock = is_pending.then(|| {
                    before_migration(&OldDatabase { connection: &connection, path, version })
                });
                migrate::apply(&mut connection, version, schema::MIGRATIONS)?;
                migrate::make_letters(&mut connection, migrate::CHUNKS_PER_STEP)?;
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
                // After a migration, the schema that was seen is out of date, so the first transaction compares it
                // again.
                let seen = if version == schema::NEWEST { seen } else { SeenSchema::new(compare) };
                Ok(Some((connection, seen, is_pending)))
            })
            .map_err(|fault| fault.at(path))?;
        let Some((connection, seen, was_pending)) = opened else { return Ok(None) };
        let mut store = Self::over(connection, seen, path, OpenMode::Write);
        if was_pending {
            // Free pages of a migration are returned to the disk if possible; otherwise later documents fill them.
            store.compact().ok();
        }
        Ok(Some(store))
    }

    /// Opens a database that cannot be written. A database without a schema counts as none.
    fn connect_to_read(path: &Path, access: OpenMode) -> Result<Option<Self>> {
        let opened =
            access.open_to_read(path).map_err(DatabaseFault::from).and_then(|connection| {
                let (version, seen) = inspect(&connection)?;
                Ok((connection, version, seen))
            });
        let needs = |reason: String| Error::NeedsWriting { path: path.to_owned(), reason };
        let (connection, version, seen) = opened.map_err(|fault| {
            if fault.is_about_access() {
                needs("its log cannot be read".into())
            } else {
                fault.at(path)
            }
        })?;
        match version {
            0 => Ok(None),
            schema::OLDEST_READ.. => Ok(Some(Self::over(connection, seen, path, access))),
            _ => Err(needs(schema::other_version(version))),
        }
    }

    fn over(connection: Connection, seen: SeenSchema, path: &Path, access: OpenMode) -> Self {
        Self {
            idle: RefCell::default(),
            has_read_ahead: Cell::new(false),
            connection,
            seen,
            ended_by: cancel::current(),
            path: path.to_owned(),
            access,
            file: identity(path),
            bound: RefCell::new(None),
            reindexing: None,
            followed: Arc::new(FollowedPaths::Everything),
            layout: Cell::new(None),
        }
    }
}

#[cfg(test)]
mod tests;
