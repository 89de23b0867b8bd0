//! Opens paths that come from a user, a database or a folder, without trusting them.
//!
//! A path that was a plain file yesterday may be a link to a private key, a pipe or a device today.
//! Everything is decided on the open file, never on an earlier check of the path.

mod kinds;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::text::paths::canonical;

pub use kinds::{EntryKind, FolderEntry, SymlinkPolicy};
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Opens a regular file for reading.
///
/// Never waits: a pipe, a device or a folder is an error, found after opening without blocking. A
/// file in `/proc` or `/sys` looks regular but is a view of the running system and may wait for an
/// event forever, so it is also refused.
pub fn open(path: &Path, links: SymlinkPolicy<'_>) -> Result<File> {
    let file = File::from(by(path, links, system::READ)?);
    // A device may have no metadata.
    let is_regular = !system::is_view_of_system(&file)
        && file.metadata().map_err(|source| failure(path, source))?.is_file();
    if is_regular { Ok(file) } else { Err(Error::NotAFile { path: path.to_owned() }) }
}

/// Reads a regular file of at most `max_bytes`, even if it grows while it is read.
pub fn read(path: &Path, links: SymlinkPolicy<'_>, max_bytes: u64) -> Result<Vec<u8>> {
    read_open(open(path, links)?, path, max_bytes)
}

/// Like [`read`]; `None` if the file does not exist.
pub fn read_if_there(
    path: &Path,
    links: SymlinkPolicy<'_>,
    max_bytes: u64,
) -> Result<Option<Vec<u8>>> {
    match read(path, links, max_bytes) {
        Err(Error::PathNotFound { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// Reads the rest of an open file like [`read`]; `path` is only used in errors.
pub fn read_open(file: File, path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let len = file.metadata().map_err(|source| failure(path, source))?.len();
    if len > max_bytes {
        return Err(over_limit(path, max_bytes));
    }
    // The length is only used to reserve memory, as the file may still change.
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
    let mut limited = file.take(max_bytes.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(|source| failure(path, source))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max_bytes {
        return Err(over_limit(path, max_bytes));
    }
    Ok(bytes)
}

fn over_limit(path: &Path, limit_bytes: u64) -> Error {
    Error::OverLimit { path: path.to_owned(), limit_bytes }
}

/// Returns the metadata of a path without opening it, whatever kind it is.
pub fn look(path: &Path, links: SymlinkPolicy<'_>) -> Result<Metadata> {
    let found = system::look(path, links).map_err(|source| failure(path, source))?;
    if found.is_symlink() {
        return Err(Error::LinkRefused { path: path.to_owned() });
    }
    Ok(found)
}

/// Returns a value that identifies a file or folder, also one that a link leads to: the numbers of the
/// device and of the file on it. `None` if it does not exist.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    system::identity(path)
}

/// Like [`identity`], of an open file.
pub(super) fn identity_of(file: &File) -> Option<(u64, u64)> {
    system::identity_of(file)
}

/// Returns the number of the user who owns a file; `None` if the system has no such number.
pub fn owner(found: &Metadata) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some(found.uid())
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        None
    }
}

/// Resolves all links in a path.
pub fn resolve_links(path: &Path) -> Result<PathBuf> {
    canonical(path).map_err(|source| match source.kind() {
        // Links that form a loop.
        _ if system::is_refused_link(&source) => Error::of_file(path, source),
        _ => failure(path, source),
    })
}

/// Returns the entries of a folder, in byte order of the names.
pub fn list(folder: &Path, links: SymlinkPolicy<'_>) -> Result<Vec<FolderEntry>> {
    let mut entries = system::list(folder, links).map_err(|source| failure(folder, source))?;
    entries.sort_unstable();
    Ok(entries)
}

/// Opens a path with the flags of [`system`].
fn by(path: &Path, links: SymlinkPolicy<'_>, flags: system::Flags) -> Result<system::Handle> {
    system::by(path, links, flags).map_err(|source| failure(path, source))
}

/// Converts an error from the system into the one that names its remedy.
fn failure(path: &Path, source: io::Error) -> Error {
    let path = PathBuf::from(path);
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::PathNotFound { path },
        _ if system::is_refused_link(&source) => Error::LinkRefused { path },
        // A socket cannot be opened at all.
        _ if system::is_no_such_device(&source) => Error::NotAFile { path },
        _ => Error::Io { path, source },
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
