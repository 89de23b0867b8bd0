//! Documents and rankings in, one `kb.db` out: the only SQL.
//!
//! Nothing outside sees a connection, a row or a statement. One method is one transaction, so a
//! process killed at any instant leaves the database as it was before the method or after it.

mod binding;
mod check;
mod chunks;
mod documents;
mod fault;
mod filter;
mod fts;
mod migrate;
mod paths;
mod reindex;
mod replace;
mod rows;
mod tags;
#[cfg(test)]
mod testing;
mod vectors;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::document::Binding;
use crate::error::{Error, Result};

use fault::{Fault, Step};

pub use check::Stats;
pub use chunks::{PassageHash, StoredChunk, StoredHit};
pub use documents::StoredDocument;
pub use paths::{KnownPath, PathStamp};
pub use reindex::{Reindexing, Unembedded};
pub use replace::{Change, NewDocument};
pub use tags::TagCount;

/// How long a statement waits for another process before the database counts as locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements kept prepared on a connection; more than the methods here use together.
const STATEMENT_CACHE: usize = 64;

/// Settings of one connection; the file itself only remembers that it is in WAL mode.
///
/// - `synchronous = NORMAL`: a commit is one write without a flush. A killed process loses nothing;
///   a power cut may take the last commits with it, never the consistency of the file
///   (sqlite.org/wal.html, section 3.1). What is lost was files that are still on disk.
/// - `cache_size`: in KiB when negative. Large enough that the upper levels of the keyword index
///   stay in memory during an ingest.
const PRAGMAS: &str = "
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -16384;
    PRAGMA temp_store = MEMORY;";

/// One connection to a knowledge base.
///
/// Vectors given to it belong to the binding it last told ([`Store::binding`]) or was given
/// ([`Store::bind`]). Where the database has been bound to another model since, methods that take
/// or compare vectors fail with [`Error::ModelMismatch`] instead of mixing the two.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    bound: RefCell<Option<Binding>>,
    reindexing: Option<Binding>,
}

impl Store {
    /// Opens the database for reading and writing; makes it, and its directory, where they are
    /// missing, readable for the owner alone. An empty file becomes a new database.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`], [`Error::Corrupt`] and [`Error::SchemaTooNew`] for a file that is not
    /// ours to write, which is then left as it was; [`Error::Locked`], [`Error::DiskFull`] and
    /// [`Error::Io`] for what the machine refuses.
    pub fn open(path: &Path) -> Result<Self> {
        create_private(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Self::connect(path)
    }

    /// Opens the database if there is one; `None`, and nothing made, where there is no file.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>> {
        match path.try_exists() {
            Ok(true) => Self::connect(path).map(Some),
            Ok(false) => Ok(None),
            Err(source) => Err(Error::Io { path: path.to_owned(), source }),
        }
    }

    /// Opens a second connection to the same file, for reading only; what [`Store::open`] has
    /// checked is not checked again.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] and [`Error::Io`].
    pub fn reader(&self) -> Result<Self> {
        let connection = open_connection(&self.path)
            .and_then(|it| {
                it.execute_batch(PRAGMAS)?;
                it.pragma_update(None, "query_only", true)?;
                Ok(it)
            })
            .map_err(|error| Fault::from(error).at(&self.path))?;
        Ok(Self {
            connection,
            path: self.path.clone(),
            bound: self.bound.clone(),
            reindexing: None,
        })
    }

    /// Closes the connection. The last one to close leaves one file: the log is written back and
    /// removed. Dropping does the same without telling of errors.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`] and [`Error::Io`] where the log cannot be written back; it is then kept
    /// and nothing is lost.
    pub fn close(self) -> Result<()> {
        self.connection.close().map_err(|(_, error)| Fault::from(error).at(&self.path))
    }

    fn connect(path: &Path) -> Result<Self> {
        let connection = open_connection(path)
            .map_err(Fault::from)
            .and_then(|mut it| {
                // Until the file is known to be ours its log is not written back on closing.
                it.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                let version = migrate::version(&it)?;
                it.execute_batch(PRAGMAS)?;
                migrate::enter_wal(&it, BUSY_TIMEOUT)?;
                migrate::apply(&mut it, version, migrate::MIGRATIONS)?;
                it.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
                Ok(it)
            })
            .map_err(|fault| fault.at(path))?;
        Ok(Self { connection, path: path.to_owned(), bound: RefCell::new(None), reindexing: None })
    }

    /// Runs `work` on one state of the database.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Step<T>) -> Result<T> {
        let run = || {
            let snapshot = self.connection.unchecked_transaction()?;
            let value = work(&snapshot)?;
            snapshot.commit()?;
            Ok(value)
        };
        run().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// Runs `work` in one transaction that holds the write lock from its start, so that what it
    /// reads is what it changes; an error undoes all of it.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Step<T>) -> Result<T> {
        let run = || {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|fault: Fault| fault.at(&self.path))
    }
}

/// Makes an empty file with mode 0600 in a directory with mode 0700, where they are missing.
fn create_private(path: &Path) -> io::Result<()> {
    if path.try_exists()? {
        return Ok(());
    }
    let mut directory = fs::DirBuilder::new();
    let mut file = fs::OpenOptions::new();
    directory.recursive(true);
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        directory.create(parent)?;
    }
    match file.open(path) {
        // Another process was faster; it means the same file.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

fn open_connection(path: &Path) -> rusqlite::Result<Connection> {
    register_vec0()?;
    // No SQLITE_OPEN_CREATE: files are made by `create_private` alone.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// Makes `vec0` known to every connection of this process.
fn register_vec0() -> rusqlite::Result<()> {
    static REGISTERED: Once = Once::new();
    let mut outcome = Ok(());
    REGISTERED.call_once(|| outcome = register_vec0_once());
    outcome
}

#[expect(unsafe_code, reason = "the one way to link sqlite-vec into the bundled SQLite")]
fn register_vec0_once() -> rusqlite::Result<()> {
    use rusqlite::auto_extension::{RawAutoExtension, register_auto_extension};
    // SAFETY: the crate declares `sqlite3_vec_init` without parameters, but sqlite-vec.c defines
    // it with SQLite's signature for extension entry points, which is what is restored here. It
    // opens and closes no connection and does not touch the list of extensions.
    unsafe {
        let init: RawAutoExtension = std::mem::transmute::<*const (), RawAutoExtension>(
            sqlite_vec::sqlite3_vec_init as *const (),
        );
        register_auto_extension(init)
    }
}
