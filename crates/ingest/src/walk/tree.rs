//! Finds the files below one folder, in byte order of their names, and when each last changed.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::open::{EntryKind, FolderEntry};
use crate::files::reach::{Reach, ResolvedFolder};
use crate::files::stamp::Stamp;
use crate::files::{Metadata, open};
use crate::text::paths::canonical;

use super::left_out::{LeftOut, LeftOutReason};
use super::rules::{IgnoreDecision, IgnoreFiles, IgnoreRules};
use super::start::Territory;
use super::{generated, worktrees};

/// An entry of a folder.
pub(super) enum WalkedEntry {
    File(WalkedFile),
    LeftOut(LeftOut),
}

/// A file of a folder.
pub(super) struct WalkedFile {
    pub(super) path: PathBuf,
    pub(super) metadata: Metadata,
    /// Whether an ignore file names it as one to read.
    pub(super) is_included: bool,
}

/// A file or what is left out, or why it cannot be used.
pub(super) type Item = Result<WalkedEntry>;

/// Which files a walk returns besides the usual ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct WalkExtent {
    /// Whether what programs generated is not left out.
    pub(super) includes_generated: bool,
    /// Whether what is left out is returned, too.
    pub(super) lists_all: bool,
}

/// The files below a folder, without hidden files and files that ignore files exclude. No link is
/// followed unless `reach` allows it.
pub(super) struct FileTree {
    reach: Reach,
    territory: Option<Territory>,
    top: Arc<ResolvedFolder>,
    extent: WalkExtent,
    levels: Vec<WalkedFolder>,
    waiting: VecDeque<Error>,
}

/// A folder that is being walked.
struct WalkedFolder {
    /// Its path as reached.
    path: PathBuf,
    /// Its path with the path of the first folder resolved.
    real: PathBuf,
    /// Entries still to be visited.
    entries: std::vec::IntoIter<FolderEntry>,
    rules: IgnoreRules,
    /// The names of folders in it that are generated.
    generated: Vec<&'static str>,
    /// Identifies the folder; only where links are followed.
    identity: Option<(u64, u64)>,
}

impl FileTree {
    /// Starts at `path`, which is `base` or below it; rules apply from `base` downwards.
    pub(super) fn new(
        path: &Path,
        base: &Arc<ResolvedFolder>,
        reach: Reach,
        territory: Option<Territory>,
        extent: WalkExtent,
    ) -> Self {
        let mut waiting = Vec::new();
        let mut rules = IgnoreRules::above(base.real(), &mut waiting);
        let mut tree = Self {
            reach,
            territory,
            top: Arc::clone(base),
            extent,
            levels: Vec::new(),
            waiting: waiting.into(),
        };
        // The folders from `base` down to `path` have rules, too.
        let mut between: Vec<&Path> =
            path.ancestors().skip(1).take_while(|above| base.within(above).is_some()).collect();
        between.reverse();
        for above in between {
            match tree.enter(above.to_owned(), &rules) {
                Ok(level) => rules = level.rules,
                Err(error) => tree.waiting.push_back(error),
            }
        }
        match tree.enter(path.to_owned(), &rules) {
            Ok(level) => tree.levels.push(level),
            Err(error) => tree.waiting.push_back(error),
        }
        tree
    }

    /// Reads the entries and the rules of a folder.
    fn enter(&mut self, path: PathBuf, above: &IgnoreRules) -> Result<WalkedFolder> {
        let entries = self.reach.list(&path)?;
        let real = self.top.within(&path).unwrap_or_else(|| path.clone());
        let follows_links = self.reach == Reach::Anywhere;
        let mut problems = Vec::new();
        let mut source = IgnoreFiles::new(self.top.real(), follows_links, &mut problems);
        let rules = above.within(&mut source, &real, &path, &entries);
        self.waiting.extend(problems);
        let identity = if follows_links { open::identity(&path) } else { None };
        let generated = generated::folders_next_to(&entries);
        Ok(WalkedFolder { path, real, entries: entries.into_iter(), rules, generated, identity })
    }

    /// Visits one entry of the innermost folder.
    fn look(&mut self, entry: &FolderEntry) -> Option<Item> {
        let level = self.levels.last().expect("an entry has a folder");
        let path = level.path.join(&entry.name);
        let mut kind = entry.kind;
        let mut metadata = None;
        if kind == EntryKind::Link && self.reach == Reach::Anywhere {
            match path.metadata() {
                Ok(found) => {
                    kind = EntryKind::of(&found);
                    metadata = Some(found);
                }
                Err(source) => return failure(Error::Io { path, source }).map(Err),
            }
        }
        if self.is_elsewhere(level, &path, entry, kind) {
            return None;
        }
        let is_folder = kind == EntryKind::Folder;
        let verdict = if level.path == level.real {
            level.rules.verdict(&path, is_folder)
        } else {
            level.rules.verdict(&level.real.join(&entry.name), is_folder)
        };
        let is_hidden = entry.name.as_encoded_bytes().starts_with(b".");
        match verdict {
            IgnoreDecision::Out(rule) => return self.left_out(path, rule, metadata),
            IgnoreDecision::None if is_hidden => {
                return self.left_out(path, LeftOutReason::Hidden, metadata);
            }
            IgnoreDecision::In | IgnoreDecision::None => {}
        }
        // A rule that includes a file or folder also includes it if it is generated.
        let may_be_generated = !self.extent.includes_generated && verdict == IgnoreDecision::None;
        if may_be_generated && generated::is_generated(&entry.name, kind, &level.generated) {
            return self.left_out(path, LeftOutReason::Generated, metadata);
        }
        match kind {
            EntryKind::File => {
                let metadata = metadata.map_or_else(|| path.symlink_metadata(), Ok);
                match metadata {
                    // The entry may have changed since it was listed; the file is checked again when it is opened.
                    Ok(metadata) => {
                        let is_included = verdict == IgnoreDecision::In;
                        let is_file = metadata.is_file();
                        let file = WalkedEntry::File(WalkedFile { path, metadata, is_included });
                        is_file.then_some(Ok(file))
                    }
                    Err(source) => failure(Error::Io { path, source }).map(Err),
                }
            }
            EntryKind::Folder => {
                let identity =
                    if entry.kind == EntryKind::Link { open::identity(&path) } else { None };
                // A link to a folder that contains it would be walked without end.
                if identity.is_some() && self.levels.iter().any(|level| level.identity == identity)
                {
                    return self.left_out(path, LeftOutReason::Link, None);
                }
                let rules = level.rules.clone();
                match self.enter(path, &rules) {
                    Ok(WalkedFolder { path, entries, .. })
                        if may_be_generated && self.is_marked(&path, entries.as_slice()) =>
                    {
                        self.left_out(path, LeftOutReason::Generated, None)
                    }
                    Ok(level) => {
                        self.levels.push(level);
                        None
                    }
                    Err(error) => failure(error).map(Err),
                }
            }
            EntryKind::Link => self.left_out(path, LeftOutReason::Link, metadata),
            EntryKind::Other => self.left_out(path, LeftOutReason::Special, metadata),
        }
    }

    /// Whether what is in a folder shows that it is generated, or a copy of another.
    fn is_marked(&self, path: &Path, entries: &[FolderEntry]) -> bool {
        generated::is_marked(&self.reach, path, entries)
            || worktrees::is_second(&self.reach, &self.top, path, entries)
    }

    /// Whether a folder, or what a link leads to, is walked from another start.
    fn is_elsewhere(
        &self,
        level: &WalkedFolder,
        path: &Path,
        entry: &FolderEntry,
        kind: EntryKind,
    ) -> bool {
        let Some(territory) = &self.territory else { return false };
        if kind != EntryKind::Folder && entry.kind != EntryKind::Link {
            return false;
        }
        match self.reach {
            Reach::Anywhere => canonical(path).is_ok_and(|real| territory.is_elsewhere(&real)),
            Reach::Below(_) | Reach::Exactly(_) => {
                territory.is_elsewhere(&level.real.join(&entry.name))
            }
        }
    }

    /// Returns what is left out, if that is asked for and it is still there.
    fn left_out(
        &self,
        path: PathBuf,
        rule: LeftOutReason,
        metadata: Option<Metadata>,
    ) -> Option<Item> {
        if !self.extent.lists_all {
            return None;
        }
        let metadata = metadata.map_or_else(|| path.symlink_metadata(), Ok).ok()?;
        let stamp = (!metadata.is_dir()).then(|| Stamp::of(&metadata));
        Some(Ok(WalkedEntry::LeftOut(LeftOut { path, rule, stamp })))
    }
}

impl Iterator for FileTree {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(error) = self.waiting.pop_front() {
                return Some(Err(error));
            }
            let level = self.levels.last_mut()?;
            let Some(entry) = level.entries.next() else {
                self.levels.pop();
                continue;
            };
            if let Some(item) = self.look(&entry) {
                return Some(item);
            }
        }
    }
}

/// Converts a failed step of the walk into the error to report; `None` for a broken link and for a
/// file that has disappeared meanwhile.
fn failure(error: Error) -> Option<Error> {
    match error {
        Error::PathNotFound { .. } => None,
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => None,
        error => Some(error),
    }
}
