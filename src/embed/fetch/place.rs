//! Fetched bytes in, verified files in their place out.
//!
//! Everything is made in `<cache>/tmp` under the cache's lock and moved by one rename, so a killed
//! process leaves nothing half-made and two at once do the work once.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::embed::facts::model_error;
use crate::embed::{Event, io_error};
use crate::error::{Error, Result};
use crate::hash::hex;

/// Bytes read at a time while hashing.
const READ_BYTES: usize = 1 << 20;

/// Holds the cache's lock until dropped.
pub(in crate::embed) struct CacheLock {
    _file: File,
}

/// Takes the cache's lock, waiting for another process if there must be.
///
/// # Errors
///
/// [`Error::Io`](crate::error::Error::Io) or [`Error::DiskFull`](crate::error::Error::DiskFull) if the cache cannot be written.
pub(in crate::embed) fn lock(
    cache_dir: &Path,
    on_event: &mut dyn FnMut(Event),
) -> Result<CacheLock> {
    fs::create_dir_all(cache_dir).map_err(|it| io_error(cache_dir, it))?;
    let path = cache_dir.join("lock");
    let file = File::create(&path).map_err(|it| io_error(&path, it))?;
    // A file system without locks (some network ones) makes two processes do the same work; the
    // renames still keep the result whole.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        on_event(Event::Waiting);
        let _ = file.lock();
    }
    Ok(CacheLock { _file: file })
}

/// A directory of this process's own inside the cache, gone when dropped.
pub(in crate::embed) struct Workspace {
    dir: PathBuf,
    _lock: CacheLock,
}

impl Workspace {
    /// Takes the cache's lock and makes an empty directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) or [`Error::DiskFull`](crate::error::Error::DiskFull) if the cache cannot be written.
    pub(in crate::embed) fn open(
        cache_dir: &Path,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Self> {
        let lock = lock(cache_dir, on_event)?;
        let parent = cache_dir.join("tmp");
        // Under the lock nobody else is at work: what is here was left by a killed process.
        let _ = fs::remove_dir_all(&parent);
        let dir = parent.join(std::process::id().to_string());
        fs::create_dir_all(&dir).map_err(|it| io_error(&dir, it))?;
        Ok(Self { dir, _lock: lock })
    }

    /// Returns a path inside the directory.
    pub(in crate::embed) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Moves a file or directory made here to its place, replacing what is there.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) or [`Error::DiskFull`](crate::error::Error::DiskFull).
    pub(in crate::embed) fn publish(&self, made: &Path, destination: &Path) -> Result<()> {
        let parent = destination.parent().unwrap_or(destination);
        fs::create_dir_all(parent).map_err(|it| io_error(parent, it))?;
        if destination.is_dir() {
            // A directory that is not empty cannot be renamed over.
            let old = self.dir.join("replaced");
            let _ = fs::remove_dir_all(&old);
            fs::rename(destination, &old).map_err(|it| io_error(destination, it))?;
        }
        fs::rename(made, destination).map_err(|it| io_error(destination, it))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
        let _ = self.dir.parent().map(fs::remove_dir);
    }
}

/// Writes a file that survives a power cut once this returns.
///
/// # Errors
///
/// [`Error::Io`](crate::error::Error::Io) or [`Error::DiskFull`](crate::error::Error::DiskFull).
pub(super) fn write(path: &Path, source: &mut dyn Read) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|it| io_error(parent, it))?;
    let mut file = File::create(path).map_err(|it| io_error(path, it))?;
    io::copy(source, &mut file).map_err(|it| io_error(path, it))?;
    file.sync_all().map_err(|it| io_error(path, it))
}

/// Compares a file's length with the expected one.
///
/// # Errors
///
/// [`Error::Model`](crate::error::Error::Model) if they differ.
pub(super) fn check_length(path: &Path, found: u64, expected: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(model_error(path, format!("it has {found} bytes, expected {expected}")))
}

/// Compares a file's SHA-256 with the expected one, in lower-case hexadecimal.
///
/// # Errors
///
/// [`Error::Model`](crate::error::Error::Model) if they differ, [`Error::Io`](crate::error::Error::Io) if it cannot be read.
pub(super) fn check_sha256(path: &Path, expected: &str) -> Result<()> {
    let found = sha256(path).map_err(|it| io_error(path, it))?;
    if found == expected {
        return Ok(());
    }
    Err(wrong_sha256(path, &found, expected))
}

/// Makes the error of a file whose SHA-256 is not the expected one.
pub(super) fn wrong_sha256(path: &Path, found: &str, expected: &str) -> Error {
    model_error(path, format!("its SHA-256 is {found}, expected {expected}"))
}

/// Returns a file's SHA-256 in lower-case hexadecimal.
pub(super) fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            len => hasher.update(&buffer[..len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_from_its_damaged_copy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(check_sha256(&path, sha256).is_ok());
        assert!(check_length(&path, 3, 3).is_ok());
        fs::write(&path, "abd").unwrap();
        assert!(matches!(check_sha256(&path, sha256), Err(Error::Model { .. })));
        assert!(matches!(check_length(&path, 2, 3), Err(Error::Model { .. })));
    }

    #[test]
    fn what_is_published_replaces_what_was_there() {
        let cache = tempfile::tempdir().unwrap();
        let place = cache.path().join("models/tiny");
        for text in ["first", "second"] {
            let workspace = Workspace::open(cache.path(), &mut |_| {}).unwrap();
            let made = workspace.path("made");
            write(&made.join("file"), &mut text.as_bytes()).unwrap();
            workspace.publish(&made, &place).unwrap();
            drop(workspace);
            assert_eq!(fs::read_to_string(place.join("file")).unwrap(), text);
        }
        assert!(!cache.path().join("tmp").exists(), "nothing is left behind");
    }

    #[test]
    fn a_second_process_waits_for_the_first() {
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().to_owned();
        let first = Workspace::open(&path, &mut |_| {}).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let second = std::thread::spawn(move || {
            Workspace::open(&path, &mut |event| sender.send(event).unwrap()).map(drop)
        });
        assert_eq!(receiver.recv().unwrap(), Event::Waiting);
        drop(first);
        second.join().unwrap().unwrap();
    }
}
