//! Creates files in a private folder of the cache, moves them into place once they are verified,
//! and updates the manifest.
//!
//! All of this happens in `<cache>/tmp` under the cache's lock. So a killed process leaves nothing
//! half-finished, and two concurrent processes do the work once.

mod manifest;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::facts::model_error;
use crate::files::{access, folder, open, private, write};
use crate::hash::hex;
use crate::{Event, io_error};

pub(crate) use manifest::{Expected, Manifest, forget_missing, hub_sha256};
pub use manifest::{FileState, ManifestState};

/// Bytes read at a time while hashing.
const READ_BYTES: usize = 1 << 20;

/// The cache's lock, held until dropped.
pub(crate) struct CacheLock {
    _lock: folder::Lock,
}

/// Takes the cache's lock, waiting for another process if necessary.
pub(crate) fn lock(cache_dir: &Path, on_event: &mut dyn FnMut(Event)) -> Result<CacheLock> {
    let path = cache_dir.join("lock");
    let fail = |error| io_error(&path, error);
    let lock = match folder::try_lock(&path).map_err(fail)? {
        Some(lock) => lock,
        None => {
            on_event(Event::Waiting);
            folder::lock(&path).map_err(fail)?
        }
    };
    Ok(CacheLock { _lock: lock })
}

/// Takes the cache's lock; `None` if another process has it, or if the cache cannot be written.
pub(crate) fn try_lock(cache_dir: &Path) -> Option<CacheLock> {
    let lock = folder::try_lock(&cache_dir.join("lock")).ok().flatten()?;
    Some(CacheLock { _lock: lock })
}

/// Whether files can be added to the cache, or whether it can be created.
pub(crate) fn is_writable(cache_dir: &Path) -> bool {
    let place = cache_dir.ancestors().find(|folder| folder.exists());
    place.is_some_and(access::is_writable)
}

/// A private, temporary folder inside the cache, removed when dropped.
pub(crate) struct Workspace {
    dir: PathBuf,
    cache_dir: PathBuf,
    lock: CacheLock,
}

impl Workspace {
    /// Takes the cache's lock and creates an empty folder.
    pub(crate) fn open(cache_dir: &Path, on_event: &mut dyn FnMut(Event)) -> Result<Self> {
        let lock = lock(cache_dir, on_event)?;
        let parent = cache_dir.join("tmp");
        // No other process is active under the lock, so a killed one left these files.
        let _ = folder::remove_all(&parent);
        let dir = parent.join(std::process::id().to_string());
        private::create_folder(&dir).map_err(|error| io_error(&dir, error))?;
        Ok(Self { dir, cache_dir: cache_dir.to_owned(), lock })
    }

    /// Returns a path inside the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Creates a folder inside the folder.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name);
        private::create_folder(&path).map_err(|error| io_error(&path, error))?;
        Ok(path)
    }

    /// Moves a file or folder from here to its place in the cache, replacing an existing one, and
    /// records it in the manifest.
    pub(crate) fn publish(&self, made: &Path, destination: &Path) -> Result<()> {
        let fail = |error| io_error(destination, error);
        if destination.is_dir() {
            // A non-empty folder cannot be replaced by renaming.
            let old = self.dir.join("replaced");
            let _ = folder::remove_all(&old);
            folder::move_to(destination, &old).map_err(fail)?;
        }
        folder::move_to(made, destination).map_err(fail)?;
        manifest::record(&self.cache_dir, &self.lock, destination)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = folder::remove_all(&self.dir);
        self.dir.parent().map(write::remove_empty_folder);
    }
}

/// Writes a file and syncs it to disk.
pub(crate) fn write_file(path: &Path, source: &mut dyn Read) -> Result<()> {
    let fail = |error| io_error(path, error);
    private::create_folder(path.parent().unwrap_or(path)).map_err(fail)?;
    let mut draft = write::Draft::create(path).map_err(fail)?;
    io::copy(source, draft.file()).map_err(fail)?;
    draft.publish().map_err(fail)
}

/// Compares a file's SHA-256 with the expected one, in lower-case hexadecimal.
pub(crate) fn check_sha256(path: &Path, expected: &str) -> Result<()> {
    let found = sha256(path)?;
    if found == expected {
        return Ok(());
    }
    Err(model_error(path, format!("its SHA-256 is {found}, expected {expected}")))
}

/// Returns a file's SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file = open::open(path, open::Links::Follow)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer).map_err(|error| io_error(path, error))? {
            0 => return Ok(hex(&hasher.finalize())),
            len => hasher.update(&buffer[..len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::error::Error;

    #[test]
    fn a_damaged_copy_is_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(check_sha256(&path, sha256).is_ok());
        fs::write(&path, "abd").unwrap();
        assert!(matches!(check_sha256(&path, sha256), Err(Error::Model { .. })));
    }

    #[test]
    fn publishing_replaces_existing_files() {
        let cache = tempfile::tempdir().unwrap();
        let place = cache.path().join("models/tiny");
        for text in ["first", "second"] {
            let workspace = Workspace::open(cache.path(), &mut |_| {}).unwrap();
            let made = workspace.path("made");
            write_file(&made.join("file"), &mut text.as_bytes()).unwrap();
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
