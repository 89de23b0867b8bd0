//! Decides how a database may be opened, also where nothing can be written.
//!
//! SQLite reads a file in WAL mode through a log and a file of shared memory next to it, which it
//! creates if they are missing. Where that is not possible, the database is opened read-only
//! through the existing ones, or, without a log, as a file that does not change
//! (sqlite.org/uri.html, `immutable`). No lock protects the latter, so [`FileMark`] shows whether
//! another process has changed the file meanwhile.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};
use crate::files::access::{is_readable, is_writable};
use crate::files::open::{self, SymlinkPolicy};
use crate::files::path::folder_of;
use crate::files::stamp::FileVersion;
use crate::files::write::side_file;
use crate::text::paths::resolved;

use super::connection::{PRAGMAS, open_connection};

/// Where the header has the number of changes of the file (sqlite.org/fileformat2.html, section
/// 1.3.7).
const CHANGE_COUNTER: std::ops::Range<usize> = 24..28;

const WITHOUT_MAPPING: &str = "PRAGMA mmap_size = 0";

/// How a connection opens the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// For reading and writing.
    Write,
    /// Read-only, through an existing log and existing shared memory.
    Shared,
    /// Read-only and without locks, as a file that does not change. Has its state before that.
    Frozen(FileMark),
}

/// The values that show whether a database file has changed: size, time, inode and SQLite's change counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMark {
    version: FileVersion,
    change_counter: [u8; 4],
}

impl FileMark {
    fn of(path: &Path) -> Result<Self> {
        let version = FileVersion::of(path).map_err(|source| Error::of_file(path, source))?;
        let mut head = [0; CHANGE_COUNTER.end];
        let mut change_counter = [0; 4];
        match open::open(path, SymlinkPolicy::Follow)?.read_exact(&mut head) {
            Ok(()) => change_counter.copy_from_slice(&head[CHANGE_COUNTER]),
            // A file without a whole header is no error here: SQLite reports what is wrong with it.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(source) => return Err(Error::of_file(path, source)),
        }
        Ok(Self { version, change_counter })
    }

    /// Whether the file is unchanged.
    #[must_use]
    pub fn is_current(&self, path: &Path) -> bool {
        Self::of(path).is_ok_and(|now| now == *self)
    }
}

impl OpenMode {
    /// Decides how to open an existing database. Neither opens nor reads a file that can be
    /// written: reading it without SQLite would release SQLite's locks.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        // The link is resolved, because SQLite keeps the log next to the file that it leads to.
        let real = resolved(path);
        if is_changeable(&real) {
            return Ok(Self::Write);
        }
        if side_len(&real, "-journal") > 0 {
            let what = "has a change that was not completed";
            return Err(needs_writing(path, &side_file(&real, "-journal"), what));
        }
        if is_readable(&side_file(&real, "-wal")) && is_readable(&side_file(&real, "-shm")) {
            return Ok(Self::Shared);
        }
        if side_len(&real, "-wal") > 0 {
            let what = "has changes that are not in the file yet";
            return Err(needs_writing(path, &side_file(&real, "-wal"), what));
        }
        Ok(Self::Frozen(FileMark::of(&real)?))
    }

    pub(crate) fn open_to_read(&self, path: &Path) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = match self {
            Self::Write | Self::Shared => open_connection(path, flags)?,
            Self::Frozen(_) => {
                open_connection(&frozen_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?
            }
        };
        connection.execute_batch(PRAGMAS)?;
        if matches!(self, Self::Frozen(_)) {
            // Another process may cut the file off, and the system ends a process that reads a
            // mapping beyond the end.
            connection.execute_batch(WITHOUT_MAPPING)?;
        }
        Ok(connection)
    }
}

/// Opens any database for reading, without checking whose it is.
pub(crate) fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    OpenMode::of(path).unwrap_or(OpenMode::Write).open_to_read(path)
}

/// Whether a database can be changed. SQLite also creates files in its folder.
pub(crate) fn is_changeable(real: &Path) -> bool {
    is_writable(real) && is_writable(folder_of(real))
}

/// Returns the address of a file that does not change (sqlite.org/uri.html).
fn frozen_uri(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_encoded_bytes();
    // A path of Windows begins with the letter of a drive, which the host of an address must not be.
    let mut uri = String::from(if bytes.starts_with(b"/") { "file:" } else { "file:///" });
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri += &format!("%{byte:02x}"),
        }
    }
    PathBuf::from(uri + "?immutable=1")
}

/// Returns the length of a side file; 0 if there is none.
fn side_len(real: &Path, end: &str) -> u64 {
    side_file(real, end).metadata().map_or(0, |found| found.len())
}

fn needs_writing(path: &Path, log: &Path, what: &str) -> Error {
    let reason = format!("{} {what}", log.display());
    Error::NeedsWriting { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests;
