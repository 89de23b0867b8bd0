//! Keeps a line of text in a file while a process works. A line that a killed process has left behind is not trusted.
//!
//! The writer holds the file. The system releases it when the process ends, for any reason. A reader trusts the text only
//! while it cannot hold the file itself. To hold the file is to lock it; on Windows, where a locked file cannot be read, it
//! is to have the exclusive right to write to it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::open::{self, SymlinkPolicy, identity, identity_of};
use super::path::folder_of;

/// Bytes of the file, always the same: a reader sees the old or the new line, and a longer file is not kb's.
const LEN: usize = 128;

/// A line in a file that others can read until this is dropped, which deletes the file.
#[derive(Debug)]
pub struct LiveLine {
    path: PathBuf,
    file: File,
}

impl LiveLine {
    /// Creates the file, with mode 0600; its folder must exist. Returns `None` if another process keeps a line there, and
    /// where files cannot be locked, as in some network file systems: then no reader could trust it.
    pub fn begin(path: &Path) -> io::Result<Option<Self>> {
        if path.symlink_metadata().is_ok() && !remove_abandoned(path)? {
            return Ok(None);
        }
        let file = match system::create_held(path) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            made => made?,
        };
        Ok(file.map(|file| Self { path: path.to_owned(), file }))
    }

    /// Replaces the line; what is too long is cut.
    pub fn set(&mut self, line: &str) -> io::Result<()> {
        let mut bytes = [b' '; LEN];
        let len = line.len().min(LEN);
        bytes[..len].copy_from_slice(&line.as_bytes()[..len]);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&bytes)
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            // A file that cannot be removed is harmless: without its lock it says nothing.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the line that a working process keeps at `path`, without spaces around it; empty if it cannot be read. `None`
/// if no process keeps one there.
pub fn live_line(path: &Path) -> Option<String> {
    let file = open::open(path, SymlinkPolicy::RefuseBelow(folder_of(path))).ok()?;
    if !system::is_held(&file, path) {
        return None;
    }
    let mut text = String::new();
    let is_read = file.take(LEN as u64).read_to_string(&mut text).is_ok();
    Some(if is_read { text.trim().to_owned() } else { String::new() })
}

/// Deletes the file unless a process holds its lock; returns whether it was deleted.
fn remove_abandoned(path: &Path) -> io::Result<bool> {
    let Ok(file) = open::open(path, SymlinkPolicy::RefuseBelow(folder_of(path))) else {
        return Ok(false);
    };
    if !system::take(&file, path) || !is_at(&file, path) {
        return Ok(false);
    }
    fs::remove_file(path).map(|()| true)
}

/// Whether the file is still the one at the path: another process may have replaced it.
fn is_at(file: &File, path: &Path) -> bool {
    identity_of(file) == identity(path)
}

#[cfg(unix)]
mod system {
    use std::fs::{self, File, TryLockError};
    use std::io;
    use std::path::Path;

    use crate::files::private::new_file;

    /// Creates and holds a file; `None` if another process was faster, or if files cannot be locked.
    pub(super) fn create_held(path: &Path) -> io::Result<Option<File>> {
        let file = new_file(path)?;
        if file.try_lock().is_ok() {
            return Ok(Some(file));
        }
        // The process that holds it found it abandoned, and also removes it.
        if super::is_at(&file, path) {
            let _ = fs::remove_file(path);
        }
        Ok(None)
    }

    /// Holds a file that no process holds, as long as it is open here; returns whether that worked.
    pub(super) fn take(file: &File, _: &Path) -> bool {
        file.try_lock().is_ok()
    }

    /// Whether a process holds the file.
    pub(super) fn is_held(file: &File, _: &Path) -> bool {
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

#[cfg(windows)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::windows::fs::OpenOptionsExt;
    use std::path::Path;

    /// `FILE_SHARE_READ` and `FILE_SHARE_DELETE` of `winnt.h`: others may read and delete a file, but not write.
    const SHARED: u32 = 1 | 4;

    /// `ERROR_SHARING_VIOLATION` of `winerror.h`.
    const IN_USE: i32 = 32;

    /// Creates and holds a file.
    pub(super) fn create_held(path: &Path) -> io::Result<Option<File>> {
        options().create_new(true).open(path).map(Some)
    }

    /// Whether no process holds a file.
    pub(super) fn take(_: &File, path: &Path) -> bool {
        options().open(path).is_ok()
    }

    /// Whether a process holds the file.
    pub(super) fn is_held(_: &File, path: &Path) -> bool {
        options().open(path).is_err_and(|error| error.raw_os_error() == Some(IN_USE))
    }

    fn options() -> OpenOptions {
        let mut options = File::options();
        options.write(true).share_mode(SHARED);
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_there_until_its_writer_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kb.db-run");
        assert_eq!(live_line(&path), None);
        let mut line = LiveLine::begin(&path).unwrap().unwrap();
        assert_eq!(live_line(&path).as_deref(), Some(""));
        line.set("add 10 20").unwrap();
        line.set("add 9 20").unwrap();
        assert_eq!(live_line(&path).as_deref(), Some("add 9 20"));
        assert!(LiveLine::begin(&path).unwrap().is_none(), "one writer at a time");
        assert_eq!(live_line(&path).as_deref(), Some("add 9 20"));
        drop(line);
        assert_eq!((live_line(&path), path.exists()), (None, false));
    }

    #[test]
    fn what_a_killed_process_left_says_nothing_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kb.db-run");
        fs::write(&path, "add 10 20").unwrap();
        assert_eq!(live_line(&path), None);
        let mut line = LiveLine::begin(&path).unwrap().unwrap();
        line.set("update 1 2").unwrap();
        assert_eq!(live_line(&path).as_deref(), Some("update 1 2"));
    }

    // On Windows, a file is held by how it is opened, not by a lock.
    #[cfg(unix)]
    #[test]
    fn a_line_of_someone_else_is_bounded_and_not_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kb.db-run");
        fs::write(&path, "x".repeat(1_000_000)).unwrap();
        let held = File::open(&path).unwrap();
        held.lock().unwrap();
        assert_eq!(live_line(&path).unwrap().len(), LEN);
        assert!(LiveLine::begin(&path).unwrap().is_none());
        fs::write(&path, [0xff; 10]).unwrap();
        assert_eq!(live_line(&path).as_deref(), Some(""));
        drop(held);
        let line = LiveLine::begin(&path).unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "of another process").unwrap();
        drop(line);
        assert!(path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_and_folders_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (path, target) = (folder.path().join("kb.db-run"), folder.path().join("target"));
        fs::write(&target, "add 10 20").unwrap();
        let held = File::open(&target).unwrap();
        held.lock().unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert_eq!(live_line(&path), None);
        assert!(LiveLine::begin(&path).unwrap().is_none());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(live_line(&path), None);
        assert!(LiveLine::begin(&path).unwrap().is_none());
    }
}
