//! Sets which remembered files and folders are followed, and lists the others.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;

use super::remembered::AddedFolder;
use super::roots;
use crate::Store;
use crate::db::fault::Step;
use crate::error::Result;
use crate::followed::{AllowedFolder, FollowedFilter, FollowedPaths, is_below};
use crate::text::paths;

impl Store {
    /// From now on, only these remembered files and folders are returned; the others are treated as if
    /// their documents had been imported without files. Paths of documents are still shown.
    pub fn follow(&mut self, followed: FollowedPaths) {
        self.followed = Arc::new(followed);
    }

    /// Whether kb made the database for itself, and nothing is remembered outside of it.
    pub fn follows_everything(&self) -> bool {
        *self.followed == FollowedPaths::Everything
    }

    /// Whether the user allowed the use of the database.
    pub fn is_allowed(&self) -> bool {
        *self.followed != FollowedPaths::Nothing
    }

    /// Returns what decides whether a file is followed.
    pub(super) fn sieve(&self) -> Result<FollowedFilter<'_>> {
        self.read(|db| self.sieve_of(db))
    }

    /// The same, as part of a transaction.
    pub(super) fn sieve_of(&self, db: &Connection) -> Step<FollowedFilter<'_>> {
        let roots = match &*self.followed {
            FollowedPaths::Listed(_) => self.followed.roots(roots::all(db)?),
            FollowedPaths::Everything | FollowedPaths::Nothing => Vec::new(),
        };
        Ok(FollowedFilter::new(&self.followed, &roots))
    }

    /// Returns the folders and files that are not followed.
    pub fn unfollowed(&self) -> Result<UnfollowedPaths> {
        let (roots, sieve, followed) = (self.all_roots()?, self.sieve()?, self.roots()?);
        // Files below a folder that was added follow with the folder, and are not listed one by one.
        let all: Vec<PathBuf> = roots.iter().map(|root| paths::path_of(&root.path)).collect();
        let new =
            roots.into_iter().filter(|root| !followed.iter().any(|known| known.path == root.path));
        let folders = new.map(|root| {
            let allowed = match &*self.followed {
                FollowedPaths::Listed(allowed) => allowed.folders.get(&root.path).cloned(),
                FollowedPaths::Everything | FollowedPaths::Nothing => None,
            };
            (root, allowed)
        });
        let folders = folders.collect();
        let mut files = self.all_paths()?;
        files.retain(|path| !sieve.has(path) && !is_below(&paths::path_of(path), &all));
        Ok(UnfollowedPaths { folders, files })
    }
}

/// The folders and files that a database remembers and kb does not follow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnfollowedPaths {
    /// Folders that are new, or have other options than the user allowed, which come second.
    pub folders: Vec<(AddedFolder, Option<AllowedFolder>)>,
    /// Files outside all folders.
    pub files: Vec<String>,
}

impl UnfollowedPaths {
    /// Whether everything is followed.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.files.is_empty()
    }
}
