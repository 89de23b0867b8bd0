//! Creates files in a private folder of the cache, moves them into place once they are verified,
//! and updates the manifest.
//!
//! All of this happens in `<cache>/tmp` under the cache's lock. So a killed process leaves nothing
//! half-finished, and two concurrent processes do the work once.

mod checksum;
mod lock;
mod manifest;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::event::ModelEvent;
use crate::files::{access, folder, private, write};

pub(crate) use checksum::{check_sha256, sha256};
pub(crate) use lock::lock;
pub use manifest::CachedFileState;
pub(crate) use manifest::{CacheManifest, ExpectedContent, forget_missing, hub_sha256};

/// Whether files can be added to the cache, or whether it can be created.
pub(crate) fn is_writable(cache_dir: &Path) -> bool {
    let place = cache_dir.ancestors().find(|folder| folder.exists());
    place.is_some_and(access::is_writable)
}

/// A private, temporary folder inside the cache, removed when dropped.
pub(crate) struct Workspace {
    dir: PathBuf,
    cache_dir: PathBuf,
    lock: folder::Lock,
}

impl Workspace {
    /// Takes the cache's lock and creates an empty folder.
    pub(crate) fn open(cache_dir: &Path, on_event: &mut dyn FnMut(ModelEvent)) -> Result<Self> {
        let lock = lock(cache_dir, on_event)?;
        let parent = cache_dir.join("tmp");
        // No other process is active under the lock, so a killed one left these files.
        let _ = folder::remove_all(&parent);
        let dir = parent.join(std::process::id().to_string());
        private::create_folder(&dir).map_err(|error| Error::of_file(&dir, error))?;
        Ok(Self { dir, cache_dir: cache_dir.to_owned(), lock })
    }

    /// Returns a path inside the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Creates a folder inside the folder.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name);
        private::create_folder(&path).map_err(|error| Error::of_file(&path, error))?;
        Ok(path)
    }

    /// Moves a file or folder from here to its place in the cache, replacing an existing one, and
    /// records it in the manifest.
    pub(crate) fn publish(&self, made: &Path, destination: &Path) -> Result<()> {
        let fail = |error| Error::of_file(destination, error);
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
        // Files that stay after an error are removed by the next workspace.
        let _ = folder::remove_all(&self.dir);
        self.dir.parent().map(write::remove_empty_folder);
    }
}

/// Writes a file and syncs it to disk.
pub(crate) fn write_file(path: &Path, source: &mut dyn Read) -> Result<()> {
    let fail = |error| Error::of_file(path, error);
    private::create_folder(path.parent().unwrap_or(path)).map_err(fail)?;
    let mut draft = write::Draft::create(path).map_err(fail)?;
    io::copy(source, draft.file()).map_err(fail)?;
    draft.publish().map_err(fail)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
        assert_eq!(receiver.recv().unwrap(), ModelEvent::Waiting);
        drop(first);
        second.join().unwrap().unwrap();
    }
}
