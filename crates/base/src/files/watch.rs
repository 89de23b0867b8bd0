//! Reports changes below folders as the system announces them.
//!
//! Announcements are hints: the system may drop, repeat or delay them, so the caller compares the files
//! themselves.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Config, ErrorKind, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::error::{Error, Result};

/// A change that the system announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchChange {
    /// Something at this path was written, created, moved or removed.
    At(PathBuf),
    /// Announcements were lost, so anything may have changed.
    Lost,
}

/// Which files of a folder are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WatchDepth {
    /// The files in the folder itself.
    Entries,
    /// The files in it and in all folders below it. Links are not followed.
    Tree,
}

/// Follows folders until it is dropped.
pub struct Watcher {
    inner: RecommendedWatcher,
    changes: Receiver<WatchChange>,
}

impl Watcher {
    /// Starts with no folders.
    pub fn new() -> Result<Self> {
        let (sender, changes) = mpsc::channel();
        let config = Config::default().with_follow_symlinks(false);
        let inner = RecommendedWatcher::new(move |event| send_changes(event, &sender), config)
            .map_err(|error| failure(Path::new("."), error))?;
        Ok(Self { inner, changes })
    }

    /// Follows a folder from now on.
    pub fn follow(&mut self, folder: &Path, depth: WatchDepth) -> Result<()> {
        let mode = match depth {
            WatchDepth::Entries => RecursiveMode::NonRecursive,
            WatchDepth::Tree => RecursiveMode::Recursive,
        };
        self.inner.watch(folder, mode).map_err(|error| failure(folder, error))
    }

    /// Stops following a folder, which may be missing.
    pub fn leave(&mut self, folder: &Path) {
        // The system has already forgotten a missing folder.
        let _ = self.inner.unwatch(folder);
    }

    /// Waits for the next change; `None` if there is none in this time.
    pub fn next(&self, patience: Duration) -> Option<WatchChange> {
        self.changes.recv_timeout(patience).ok()
    }
}

fn send_changes(event: notify::Result<notify::Event>, sender: &Sender<WatchChange>) {
    for change in translated(event) {
        // Without a receiver no changes are wanted.
        let _ = sender.send(change);
    }
}

/// Returns the changes of an event. Reading a file does not count: kb reads files itself.
fn translated(event: notify::Result<notify::Event>) -> Vec<WatchChange> {
    let Ok(event) = event else { return vec![WatchChange::Lost] };
    if event.need_rescan() {
        return vec![WatchChange::Lost];
    }
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => {}
        EventKind::Access(_) => return Vec::new(),
        _ => {}
    }
    event.paths.into_iter().map(WatchChange::At).collect()
}

fn failure(folder: &Path, error: notify::Error) -> Error {
    let path = folder.to_owned();
    match error.kind {
        // Each system reports a missing folder differently.
        _ if folder.try_exists().is_ok_and(|exists| !exists) => Error::PathNotFound { path },
        ErrorKind::Io(source) => Error::Io { path, source },
        ErrorKind::MaxFilesWatch => {
            let message = "the system cannot watch this many folders (fs.inotify.max_user_watches)";
            Error::Io { path, source: io::Error::other(message) }
        }
        other => {
            let error = notify::Error::new(other);
            Error::Io { path, source: io::Error::other(error.to_string()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use notify::event::{AccessKind, CreateKind, Flag};

    use super::*;

    #[test]
    fn lost_events_are_reported_and_reading_is_no_change() {
        let event = |kind| notify::Event::new(kind).add_path("/a".into());
        let created = event(EventKind::Create(CreateKind::File));
        assert_eq!(translated(Ok(created.clone())), [WatchChange::At("/a".into())]);
        let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
        assert_eq!(translated(Ok(event(closed))), [WatchChange::At("/a".into())]);
        assert_eq!(translated(Ok(event(EventKind::Access(AccessKind::Read)))), []);
        assert_eq!(translated(Ok(created.set_flag(Flag::Rescan))), [WatchChange::Lost]);
        assert_eq!(translated(Err(notify::Error::generic("overflow"))), [WatchChange::Lost]);
    }

    #[test]
    fn a_change_in_a_followed_folder_is_announced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let mut watcher = Watcher::new().unwrap();
        watcher.follow(folder.path(), WatchDepth::Tree).unwrap();
        fs::write(&path, "tide").unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let is_announced =
            || watcher.next(Duration::from_secs(1)) == Some(WatchChange::At(path.clone()));
        while !is_announced() {
            assert!(Instant::now() < deadline);
        }
        let missing = watcher.follow(&folder.path().join("missing"), WatchDepth::Tree);
        assert!(matches!(missing, Err(Error::PathNotFound { .. })), "{missing:?}");
    }
}
