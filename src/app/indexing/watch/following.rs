//! Keeps the watched folders the same as the added ones, also if a folder is removed and made again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::app::Session;
use crate::app::indexing::watch::pending::PendingChanges;
use crate::error::{Error, Result};
use crate::files::open::{self, identity};
use crate::files::stamp::FileVersion;
use crate::files::watch::{WatchChange, WatchDepth, Watcher};
use crate::ingest::roots::Roots;
use crate::store::Store;
use crate::text::paths;

/// The watched folders. A file that was added by name is watched through its folder, because programs often
/// replace a file instead of writing it.
pub(super) struct WatchedFolders {
    watcher: Watcher,
    named: Vec<PathBuf>,
    folders: BTreeMap<PathBuf, FollowedFolder>,
    /// The database and its log when the added folders were last read.
    stamps: [Option<FileVersion>; 2],
}

struct FollowedFolder {
    depth: WatchDepth,
    /// The watched folder; `None` if there is none at this path.
    watched: Option<(u64, u64)>,
    /// Its path without links, as some systems announce it.
    real: PathBuf,
}

impl WatchedFolders {
    pub(super) fn new(session: &Session, named: &[PathBuf]) -> Result<Self> {
        let mut following = Self {
            watcher: Watcher::new()?,
            named: named.to_owned(),
            folders: BTreeMap::new(),
            stamps: [None, None],
        };
        // The first update finds what has changed before, so nothing is pending for it.
        following.look_again(session, &mut PendingChanges::new(Duration::ZERO), Instant::now())?;
        Ok(following)
    }

    /// Returns the number of folders that are watched now.
    pub(super) fn num_folders(&self) -> usize {
        self.folders.values().filter(|folder| folder.watched.is_some()).count()
    }

    /// Returns the added folders that are followed with everything below them.
    pub(super) fn trees(&self) -> Vec<PathBuf> {
        let trees = self.folders.iter().filter(|(_, folder)| folder.depth == WatchDepth::Tree);
        trees.map(|(path, _)| path.clone()).collect()
    }

    /// Waits for the next change.
    pub(super) fn next(&self, patience: Duration) -> Option<WatchChange> {
        self.watcher.next(patience)
    }

    /// Returns an announced path as the database spells it. A followed folder that has changed itself is
    /// watched again: it may be another one with the same number.
    pub(super) fn as_remembered(&mut self, path: PathBuf) -> PathBuf {
        if let Some(folder) = self.folders.get_mut(&path)
            && folder.watched.take().is_some()
        {
            self.watcher.leave(&path);
        }
        if self.folders.keys().any(|folder| path.starts_with(folder)) {
            return path;
        }
        for (folder, state) in &self.folders {
            if let Ok(rest) = path.strip_prefix(&state.real) {
                return folder.join(rest);
            }
        }
        path
    }

    /// Reads the added folders again if the database has changed, and watches folders that have
    /// appeared. Everything in them is pending.
    pub(super) fn look_again(
        &mut self,
        session: &Session,
        pending: &mut PendingChanges,
        now: Instant,
    ) -> Result<()> {
        let database = session.database();
        let mut log = database.clone().into_os_string();
        log.push("-wal");
        let stamps = [FileVersion::of(&database).ok(), FileVersion::of(Path::new(&log)).ok()];
        if stamps != self.stamps {
            self.stamps = stamps;
            self.read_folders(session)?;
        }
        for (path, folder) in &mut self.folders {
            let found = path.is_dir().then(|| identity(path).unwrap_or_default());
            // A folder that was removed and made again has another identity: the watch on the old one is dead.
            if found == folder.watched {
                continue;
            }
            if folder.watched.take().is_some() {
                self.watcher.leave(path);
            }
            if found.is_some() {
                match self.watcher.follow(path, folder.depth) {
                    Ok(()) => folder.watched = found,
                    // The folder has gone again.
                    Err(Error::PathNotFound { .. }) => continue,
                    Err(error) => return Err(error),
                }
                if folder.depth == WatchDepth::Tree {
                    pending.add(path.clone(), now);
                } else {
                    pending.add_all(now);
                }
            }
        }
        Ok(())
    }

    fn read_folders(&mut self, session: &Session) -> Result<()> {
        let wanted = match session.open_existing() {
            Ok(Some(store)) => wanted(session, &store, &self.named)?,
            Ok(None) => BTreeMap::new(),
            // A locked database is read when it is free again.
            Err(Error::Locked { .. }) => {
                self.stamps = [None, None];
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let left: Vec<PathBuf> =
            self.folders.keys().filter(|path| !wanted.contains_key(*path)).cloned().collect();
        for path in left {
            self.folders.remove(&path);
            self.watcher.leave(&path);
        }
        for (path, depth) in wanted {
            let real = open::resolve_links(&path).unwrap_or_else(|_| path.clone());
            let folder =
                self.folders.entry(path).or_insert(FollowedFolder { depth, watched: None, real });
            if folder.depth != depth {
                (folder.depth, folder.watched) = (depth, None);
            }
        }
        Ok(())
    }
}

/// Returns the added folders, and the folders of files that were added by name, at or below `named`.
fn wanted(
    session: &Session,
    store: &Store,
    named: &[PathBuf],
) -> Result<BTreeMap<PathBuf, WatchDepth>> {
    let roots = Roots::of(store, session.config().ingestion.follow_links)?;
    let mut folders = BTreeMap::new();
    for file in store.known_files()? {
        let path = paths::path_of(&file.stamp.path);
        if let Some(parent) = path.parent().filter(|_| is_wanted(&path, named))
            && roots.folder_of(&path).is_none()
        {
            folders.insert(parent.to_owned(), WatchDepth::Entries);
        }
    }
    let mut trees: Vec<PathBuf> =
        roots.folders().filter(|root| is_wanted(root, named)).map(Path::to_owned).collect();
    // Only the named parts of an added folder are followed: a folder itself, and the folder of a file.
    let parts = named.iter().filter(|name| roots.folder_of(name).is_some());
    trees.extend(parts.filter_map(|name| {
        if name.is_dir() { Some(name.clone()) } else { name.parent().map(Path::to_owned) }
    }));
    // A folder in another one is watched together with that one.
    for tree in &trees {
        let is_inner = trees.iter().any(|other| other != tree && tree.starts_with(other));
        if !is_inner {
            folders.insert(tree.clone(), WatchDepth::Tree);
        }
    }
    Ok(folders)
}

/// Whether a path is at or below one of the named ones, or none is named.
fn is_wanted(path: &Path, named: &[PathBuf]) -> bool {
    named.is_empty() || named.iter().any(|name| path.starts_with(name))
}
