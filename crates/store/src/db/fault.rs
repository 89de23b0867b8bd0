//! Converts SQLite's errors to kb's, grouped by what the user can do.

use std::io;
use std::path::Path;

use rusqlite::ffi;

use crate::error::Error;

use super::recheck::{Diagnosis, check_again};

/// An error inside a transaction, before the path of the database is added.
#[derive(Debug)]
pub(crate) enum DatabaseFault {
    Sqlite(rusqlite::Error),
    /// Stored data contradicts itself.
    Corrupt(String),
    Foreign,
    TooNew {
        found: i64,
        supported: i64,
    },
    /// There are objects that kb did not make: one phrase each.
    Altered(Vec<String>),
    Known(Error),
}

/// The result of one step of a transaction.
pub(crate) type Step<T> = Result<T, DatabaseFault>;

impl From<rusqlite::Error> for DatabaseFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Error> for DatabaseFault {
    fn from(error: Error) -> Self {
        Self::Known(error)
    }
}

impl DatabaseFault {
    /// Converts the fault to an error about the database at `path`.
    pub(crate) fn at(self, path: &Path) -> Error {
        let path = path.to_owned();
        match self {
            Self::Sqlite(error) => match class(&error) {
                Class::Locked => Error::Locked { path },
                Class::ReadOnly => Error::ReadOnly { path },
                Class::DiskFull => Error::DiskFull { path },
                Class::Corrupt => Error::Corrupt { path, detail: error.to_string() },
                Class::Malformed => match check_again(&path) {
                    Diagnosis::Unreadable(detail) => Error::DiskFailed { path, detail },
                    Diagnosis::Intact => {
                        let detail = "the file now reads differently".to_owned();
                        Error::DiskFailed { path, detail }
                    }
                    Diagnosis::Damaged => Error::Corrupt { path, detail: error.to_string() },
                },
                Class::DiskFailed => Error::DiskFailed { path, detail: error.to_string() },
                Class::Io(kind) => {
                    Error::Io { path, source: io::Error::new(kind, error.to_string()) }
                }
                Class::Cancelled => Error::Cancelled,
                Class::Other => Error::Store(Box::new(error)),
            },
            Self::Corrupt(detail) => Error::Corrupt { path, detail },
            Self::Foreign => Error::Foreign { path },
            Self::TooNew { found, supported } => Error::SchemaTooNew { path, found, supported },
            Self::Altered(objects) => Error::AlteredSchema { path, objects },
            Self::Known(error) => error,
        }
    }

    /// Whether another connection blocked the statement.
    pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
        matches!(class(error), Class::Locked)
    }

    /// Whether SQLite could not open or create a file that it needs.
    pub(crate) fn is_about_access(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        let Self::Sqlite(error) = self else { return false };
        error
            .sqlite_error_code()
            .is_some_and(|code| matches!(code, CannotOpen | PermissionDenied | ReadOnly))
    }

    /// Whether a file could not be written, for operations that read one file and write another.
    pub(crate) fn is_about_writing(&self) -> bool {
        let Self::Sqlite(error) = self else { return false };
        let code = error.sqlite_extended_error_code();
        matches!(class(error), Class::DiskFull)
            || code
                .is_some_and(|code| code & 0xff == ffi::SQLITE_CANTOPEN || WRITING.contains(&code))
    }
}

/// Errors of the system on writing a file.
const WRITING: [i32; 5] = [
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_FSYNC,
    ffi::SQLITE_IOERR_DIR_FSYNC,
    ffi::SQLITE_IOERR_TRUNCATE,
    ffi::SQLITE_IOERR_DELETE,
];

enum Class {
    Locked,
    ReadOnly,
    DiskFull,
    Corrupt,
    /// A corrupt file or a failing disk: SQLite has one code for both.
    Malformed,
    DiskFailed,
    Io(io::ErrorKind),
    Cancelled,
    Other,
}

/// Groups an error by what the user can do.
fn class(error: &rusqlite::Error) -> Class {
    use rusqlite::ErrorCode as Code;
    match error {
        // The shared memory next to the log is the first file to meet a full disk.
        rusqlite::Error::SqliteFailure(failure, _)
            if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE =>
        {
            Class::DiskFull
        }
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed => {
                Class::Locked
            }
            Code::DiskFull => Class::DiskFull,
            Code::SystemIoFailure
                if [ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR_CORRUPTFS]
                    .contains(&failure.extended_code) =>
            {
                Class::DiskFailed
            }
            Code::DatabaseCorrupt if failure.extended_code == ffi::SQLITE_CORRUPT => {
                Class::Malformed
            }
            Code::DatabaseCorrupt | Code::NotADatabase => Class::Corrupt,
            Code::ReadOnly => Class::ReadOnly,
            Code::PermissionDenied => Class::Io(io::ErrorKind::PermissionDenied),
            Code::CannotOpen | Code::SystemIoFailure => Class::Io(io::ErrorKind::Other),
            Code::OperationInterrupted => Class::Cancelled,
            _ => Class::Other,
        },
        // A column has a value that kb never writes.
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..) => Class::Corrupt,
        _ => Class::Other,
    }
}
