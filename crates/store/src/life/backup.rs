//! Copies the database while others read and write it, and verifies copies.
//!
//! Uses `VACUUM INTO`, so that a copy has no free pages and therefore no removed text. `vec0` finds
//! its vectors by the row numbers of tables without an integer key. Plain `VACUUM` may change such
//! numbers; the bundled SQLite keeps them in `VACUUM INTO` (`DBFLAG_VacuumInto` in `insert.c`), and
//! a test here compares all of them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};
use crate::files::scratch::ScratchFolder;
use crate::files::stamp::FileVersion;
use crate::files::write::{self, Draft, SIDE_FILES, side_file};

use crate::db::connection::open_connection;
use crate::db::fault::DatabaseFault;
use crate::db::schema;
use crate::{Stats, Store};

/// Maximum number of attempts to copy a file that keeps changing. After that the file counts as locked.
const COPY_ATTEMPTS: u32 = 5;

/// How long to wait for another process that uses a file to be replaced. It may use it for hours, so the wait is only
/// for one that is just ending.
const PATIENCE: Duration = Duration::from_millis(500);

/// The first bytes of a journal that has to be rolled back (sqlite.org/fileformat2.html, section
/// 3).
const JOURNAL_HEAD: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

const COPY_INTO: &str = "VACUUM INTO ?1";

const COUNT_SCHEMA: &str = "SELECT count(*) FROM sqlite_schema";

const SIZE_BYTES: &str = "
    SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size";

/// Returns whether it was blocked, the number of pages in the log, and the number checkpointed.
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The treatment of an existing file at the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingTarget {
    /// Keep it and fail.
    Keep,
    /// Replace it.
    Replace,
}

/// The result of verifying a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyVerification {
    /// The counts of the database that opens.
    pub stats: Stats,
    /// A log next to the copy that changes its content; the copy is not complete without it.
    pub log: Option<PathBuf>,
}

/// A database of an older schema, before it is brought to the newest.
pub struct OldDatabase<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a Path,
    pub(super) version: i64,
}

impl OldDatabase<'_> {
    /// Returns the bytes that a copy takes.
    pub fn size_bytes(&self) -> Result<u64> {
        size_bytes(self.connection, self.path)
    }

    /// Whether it is still to be brought to the newest schema: another process may do the same.
    pub fn is_pending(&self) -> Result<bool> {
        let found = schema::version(self.connection).map_err(|fault| fault.at(self.path))?;
        Ok(found == self.version)
    }

    /// Copies it to `target`, with the schema that it has. The copy gets its name only when it is
    /// complete and on disk. `VACUUM INTO` reads all content, so damage that it can see is an
    /// error; it is not examined further, because only the newest schema can be.
    pub fn copy_to(&self, target: &Path) -> Result<()> {
        let draft = Draft::create_own(target).map_err(|error| Error::of_file(target, error))?;
        copy_into(self.connection, self.path, draft.path(), target)?;
        draft.publish_new().map_err(|error| Error::of_file(target, error))
    }
}

impl Store {
    /// Copies the current state of the database to `target`. The copy gets its name only when it is
    /// complete, intact and on disk, so `target` is always either the old file or the new one.
    /// Returns the counts of the copy.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the copy is damaged, [`Error::Locked`] if another process has `target`
    /// open, [`Error::ChangedMeanwhile`], [`Error::DiskFull`] and [`Error::Io`]; an existing `target` is then kept.
    pub fn back_up(&self, target: &Path, existing: ExistingTarget) -> Result<Stats> {
        let draft = Draft::create(target).map_err(|error| Error::of_file(target, error))?;
        if existing == ExistingTarget::Keep && draft.target().symlink_metadata().is_ok() {
            return Err(Error::of_file(target, io::Error::from(io::ErrorKind::AlreadyExists)));
        }
        self.require_space(target)?;
        settle(draft.target())?;
        copy_into(&self.connection, &self.path, draft.path(), target)?;
        let stats = examine(draft.path(), &self.path, target)?;
        self.require_unchanged()?;
        // The target is settled again: another process may have opened it while the copy was made.
        settle(draft.target())?;
        let published = match existing {
            ExistingTarget::Keep => draft.publish_new(),
            ExistingTarget::Replace => draft.publish(),
        };
        published.map_err(|error| Error::of_file(target, error))?;
        Ok(stats)
    }

    /// Verifies a copy without changing it, using a copy of the copy in a temporary folder below
    /// `scratch`. A log next to the copy is applied, as SQLite would. Not for a database that this
    /// process has open: reading it without SQLite would release SQLite's locks.
    ///
    /// # Errors
    ///
    /// [`Error::PathNotFound`] without a file, [`Error::Corrupt`] if the database is damaged,
    /// [`Error::Locked`] if it keeps changing, [`Error::Foreign`] and [`Error::SchemaTooNew`] if it
    /// is not a database of this kb.
    pub fn verify(backup: &Path, scratch: &Path) -> Result<CopyVerification> {
        if !backup.is_file() {
            return Err(Error::PathNotFound { path: backup.to_owned() });
        }
        let folder =
            ScratchFolder::create(scratch).map_err(|error| Error::of_file(scratch, error))?;
        let copy = folder.new_path();
        let logs = copy_with_logs(backup, &copy)?;
        let Some(log) = logs.into_iter().find(|end| changes_content(&copy, end)) else {
            return Ok(CopyVerification { stats: examine(&copy, backup, scratch)?, log: None });
        };
        let log = side_file(backup, log);
        let error = match examine(&copy, backup, scratch) {
            Ok(stats) => return Ok(CopyVerification { stats, log: Some(log) }),
            Err(error) => error,
        };
        // A second copy without the log decides whether the file is damaged, or the log belongs to another file.
        drop(folder);
        let folder =
            ScratchFolder::create(scratch).map_err(|error| Error::of_file(scratch, error))?;
        let copy = folder.new_path();
        copy_file(backup, &copy)?;
        match (error, examine(&copy, backup, scratch)) {
            (Error::Corrupt { path, detail }, Ok(_)) => {
                let log = log.display();
                let detail = format!(
                    "SQLite applies {log}, which belongs to another database; without it the file is intact \
                     ({detail})"
                );
                Err(Error::Corrupt { path, detail })
            }
            (error, _) => Err(error),
        }
    }

    /// Puts a copy of a backup in place of the database at `target`. The copy is made next to it,
    /// examined and brought to the newest schema first; `target` is always either the old file or the
    /// new one. An existing database gets the name `kept` as well and stays under it. Returns the
    /// counts of the restored database, and whether there was one to keep.
    ///
    /// # Errors
    ///
    /// Those of [`Store::verify`], [`Error::Locked`] if another process has `target` open,
    /// [`Error::DiskFull`] and [`Error::Io`]; `target` is then unchanged.
    pub fn restore(backup: &Path, target: &Path, kept: &Path) -> Result<(Stats, bool)> {
        if !backup.is_file() {
            return Err(Error::PathNotFound { path: backup.to_owned() });
        }
        let folder = target.parent().unwrap_or(Path::new("."));
        let scratch =
            ScratchFolder::create(folder).map_err(|error| Error::of_file(folder, error))?;
        let copy = scratch.new_path();
        copy_with_logs(backup, &copy)?;
        let stats = examine(&copy, backup, target)?;
        settle(target)?;
        let is_replacing = target.symlink_metadata().is_ok();
        if is_replacing {
            write::keep_as(target, kept).map_err(|error| Error::of_file(kept, error))?;
        }
        write::move_into_place(&copy, target).map_err(|error| Error::of_file(target, error))?;
        Ok((stats, is_replacing))
    }

    /// Returns the bytes that a copy takes.
    pub fn copy_bytes(&self) -> Result<u64> {
        size_bytes(&self.connection, &self.path)
    }

    /// Fails before anything is written if the copy cannot fit.
    fn require_space(&self, target: &Path) -> Result<()> {
        let needed = self.copy_bytes()?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        match write::free_bytes(folder.unwrap_or(Path::new("."))) {
            Some(free) if free < needed => Err(Error::DiskFull { path: target.to_owned() }),
            _ => Ok(()),
        }
    }
}

fn size_bytes(connection: &Connection, path: &Path) -> Result<u64> {
    let size = connection.query_row(SIZE_BYTES, [], |row| row.get::<_, i64>(0));
    size.map(i64::unsigned_abs).map_err(|error| DatabaseFault::from(error).at(path))
}

/// Copies the database at `path` to `draft`, the unfinished `target`.
fn copy_into(connection: &Connection, path: &Path, draft: &Path, target: &Path) -> Result<()> {
    let name = ToSqlOutput::Borrowed(ValueRef::Text(draft.as_os_str().as_encoded_bytes()));
    connection.execute(COPY_INTO, [name]).map(drop).map_err(|error| {
        let fault = DatabaseFault::from(error);
        let path = if fault.is_about_writing() { target } else { path };
        fault.at(path)
    })
}

/// Makes a database that is to be replaced independent of its side files. Its successor would
/// inherit them: SQLite applies a log to any file of that name. The log is checkpointed, so that
/// the old content stays complete until the rename.
fn settle(target: &Path) -> Result<()> {
    if !SIDE_FILES.iter().any(|end| side_file(target, end).exists()) {
        return Ok(());
    }
    if target.exists() {
        // Leaving WAL mode succeeds only if no other process has the file open, and leaves no side file.
        let settled = open_connection(target, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|db| {
            db.busy_timeout(PATIENCE)?;
            // Reading makes SQLite roll back a journal.
            db.query_row(COUNT_SCHEMA, [], |_| Ok(()))?;
            db.pragma_update_and_check(None, "journal_mode", "delete", |row| {
                row.get::<_, String>(0)
            })
        });
        match settled.map_err(|error| DatabaseFault::from(error).at(target)) {
            // An unreadable file loses nothing by losing its log.
            Ok(_) | Err(Error::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    for end in SIDE_FILES {
        let path = side_file(target, end);
        // The log was emptied above, so one with content is in use by another process.
        if end == "-wal"
            && target.exists()
            && path.metadata().is_ok_and(|metadata| metadata.len() > 0)
        {
            return Err(Error::Locked { path: target.to_owned() });
        }
        write::remove(&path).map_err(|source| Error::Io { path, source })?;
    }
    Ok(())
}

/// Copies a database and its logs, and returns the endings of the existing logs. A file that
/// changes meanwhile is copied again.
fn copy_with_logs(backup: &Path, copy: &Path) -> Result<Vec<&'static str>> {
    for _ in 0..COPY_ATTEMPTS {
        let before = state(backup);
        copy_file(backup, copy)?;
        let mut logs = Vec::new();
        for end in ["-wal", "-journal"] {
            let log = side_file(backup, end);
            write::remove(&side_file(copy, end)).map_err(|error| Error::of_file(copy, error))?;
            if log.is_file() {
                copy_file(&log, &side_file(copy, end))?;
                logs.push(end);
            }
        }
        if state(backup) == before {
            return Ok(logs);
        }
    }
    Err(Error::Locked { path: backup.to_owned() })
}

/// Returns the stamps of a database and its logs.
fn state(backup: &Path) -> [Option<FileVersion>; 3] {
    let paths = [backup.to_owned(), side_file(backup, "-wal"), side_file(backup, "-journal")];
    paths.map(|path| FileVersion::of(&path).ok())
}

/// Copies a file as a private file, without the permissions of the original.
fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let mut source = open::open(from, SymlinkPolicy::Follow)?;
    write::copy_private(&mut source, to).map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::of_file(to, error),
        _ => Error::of_file(from, error),
    })
}

/// Whether SQLite would apply a log next to a copy.
fn changes_content(copy: &Path, end: &str) -> bool {
    if end == "-journal" {
        let mut head = [0; JOURNAL_HEAD.len()];
        let read = open::open(&side_file(copy, end), SymlinkPolicy::Follow)
            .is_ok_and(|mut journal| journal.read_exact(&mut head).is_ok());
        return read && head == JOURNAL_HEAD;
    }
    // A log on which SQLite fails counts as one that changes the content, so that it is examined.
    num_logged_pages(copy).map_or(true, |num_pages| num_pages > 0)
}

/// Returns the number of pages in a write-ahead log that SQLite accepts as valid.
fn num_logged_pages(copy: &Path) -> rusqlite::Result<i64> {
    let db = open_connection(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.query_row(CHECKPOINT, [], |row| row.get(1))
}

/// Opens a copy, examines it and counts its content. Faults of the content are reported for
/// `original`, errors of writing for `place`.
fn examine(copy: &Path, original: &Path, place: &Path) -> Result<Stats> {
    let examined = Store::open(copy).and_then(|store| {
        let faults = store.check()?;
        if !faults.is_empty() {
            return Err(Error::Corrupt { path: copy.to_owned(), detail: faults.join("; ") });
        }
        let stats = store.stats()?;
        store.close()?;
        Ok(stats)
    });
    let (path, place) = (original.to_owned(), place.to_owned());
    examined.map_err(|error| match error {
        Error::Corrupt { detail, .. } => Error::Corrupt { path, detail },
        Error::DiskFailed { detail, .. } => Error::DiskFailed { path, detail },
        Error::Foreign { .. } => Error::Foreign { path },
        Error::AlteredSchema { objects, .. } => Error::AlteredSchema { path, objects },
        Error::SchemaTooNew { found, supported, .. } => {
            Error::SchemaTooNew { path, found, supported }
        }
        Error::DiskFull { .. } => Error::DiskFull { path: place },
        Error::Io { source, .. } => Error::Io { path: place, source },
        other => other,
    })
}

#[cfg(test)]
mod tests;
