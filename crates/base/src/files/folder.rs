//! Lists, locks, moves and removes files and folders that belong to kb.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::path::folder_of;
use super::private::{Audience, create_folder};
use super::write::sync_folder;

/// The name of the file that is locked in place of a folder.
const FOLDER_LOCK: &str = "kb.lock";

/// Holds a lock file or a folder until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock on a lock file; `None` if another process has it. On a file system without locks
/// (some network file systems) nothing is locked, and several processes may hold the lock.
pub fn try_lock(path: &Path) -> io::Result<Option<Lock>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(_)) | Ok(()) => Ok(Some(Lock { _file: file })),
    }
}

/// Like [`try_lock`], but waits for the other process.
pub fn lock(path: &Path) -> io::Result<Lock> {
    let file = lock_file(path)?;
    // On a file system without locks there is nothing to wait for.
    let _ = file.lock();
    Ok(Lock { _file: file })
}

/// Waits until no other process holds a folder, and then holds it; `None` if it cannot be locked. Windows locks only files, so
/// there a file in the folder is locked, which stays.
pub fn lock_folder(folder: &Path) -> Option<Lock> {
    let held =
        if cfg!(windows) { lock_file(&folder.join(FOLDER_LOCK)) } else { File::open(folder) };
    let file = held.ok()?;
    file.lock().ok()?;
    Some(Lock { _file: file })
}

fn lock_file(path: &Path) -> io::Result<File> {
    create_folder(folder_of(path))?;
    // Windows does not lock a file that is only appended to.
    Audience::Private.options().create(true).read(true).append(true).open(path)
}

/// Returns the paths in a folder, sorted by name; none if the folder is missing.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the files below a folder, sorted by path; links are neither followed nor listed.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = entries(folder);
    while let Some(path) = rest.pop() {
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => rest.extend(entries(&path)),
            Ok(metadata) if metadata.is_file() => found.push(path),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Moves a file or a folder to a new name on the same file system, and creates missing parent
/// folders.
pub fn move_to(path: &Path, destination: &Path) -> io::Result<()> {
    create_folder(folder_of(destination))?;
    fs::rename(path, destination)?;
    sync_folder(folder_of(destination))
}

/// Removes a file, or a folder with everything in it; a link is removed, not followed. A missing
/// path is not an error.
pub fn remove_all(path: &Path) -> io::Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_lock_has_one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/lock");
        let first = try_lock(&path).unwrap();
        assert!(first.is_some() && try_lock(&path).unwrap().is_none());
        drop(first);
        let again = lock(&path).unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        drop(again);
    }

    #[test]
    fn a_folder_is_held_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let held = lock_folder(&path).unwrap();
        let second = thread::spawn(move || lock_folder(&path).is_some());
        thread::sleep(Duration::from_millis(50));
        assert!(!second.is_finished(), "it waits");
        drop(held);
        assert!(second.join().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_listed_nor_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["cache/b/c", "cache/a", "elsewhere/d"] {
            create_folder(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("elsewhere"), at("cache/link")).unwrap();
        assert_eq!(files_below(&at("cache")), [at("cache/a"), at("cache/b/c")]);
        remove_all(&at("cache/link")).unwrap();
        move_to(&at("cache"), &at("new/place")).unwrap();
        assert_eq!(entries(&at("new/place")), [at("new/place/a"), at("new/place/b")]);
        remove_all(&at("new")).unwrap();
        remove_all(&at("new")).unwrap();
        assert!(!at("new").exists() && at("elsewhere/d").exists());
    }
}
