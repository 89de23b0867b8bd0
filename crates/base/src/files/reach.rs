//! Decides which links a path to a file may contain, and opens the file accordingly.
//!
//! A file in an added folder is opened without following any link in that folder. A file that the
//! user named is opened only if its path still leads to the same file. A link that was put there
//! later is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::open::{FolderEntry, SymlinkPolicy};
use crate::files::{File, Metadata, open};
use crate::text::paths;

/// Which links a path to a file may contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Any links: they are followed in its folder.
    Anywhere,
    /// No links below this folder.
    Below(Arc<ResolvedFolder>),
    /// Any links that lead to this file, which is a path without links.
    Exactly(PathBuf),
}

/// A folder, and where its path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedFolder {
    /// As the user named it.
    path: PathBuf,
    /// Without links.
    real: PathBuf,
}

impl ResolvedFolder {
    /// Resolves a path.
    pub fn at(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), real: resolve_links(path)? })
    }

    /// Returns where the folder's path leads, without links.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Returns a path below the folder, with the links above the folder resolved; `None` for a path
    /// elsewhere.
    pub fn within(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.path).ok()?;
        // Joining an empty path would add a separator.
        Some(if below.as_os_str().is_empty() { self.real.clone() } else { self.real.join(below) })
    }
}

impl Reach {
    /// Accepts where a path leads now; for a path that the user has just named.
    pub fn named(path: &Path) -> Result<Self> {
        Ok(Self::Exactly(resolve_links(path)?))
    }

    /// Allows links above a folder but not below it.
    pub fn below(folder: &Path) -> Result<Self> {
        Ok(Self::Below(Arc::new(ResolvedFolder::at(folder)?)))
    }

    /// Returns the path to remember for a file that the user named.
    pub fn real_path(&self) -> Option<String> {
        match self {
            Self::Exactly(real) => Some(paths::path_text(real)),
            Self::Anywhere | Self::Below(_) => None,
        }
    }

    /// Opens a regular file.
    pub fn open(&self, path: &Path) -> Result<File> {
        self.with(path, open::open)
    }

    /// Reads a regular file.
    pub fn read(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
        self.with(path, |path, links| open::read(path, links, max_bytes))
    }

    /// Returns the metadata of a path without opening it.
    pub fn look(&self, path: &Path) -> Result<Metadata> {
        self.with(path, open::look)
    }

    /// Returns the entries of a folder.
    pub fn list(&self, path: &Path) -> Result<Vec<FolderEntry>> {
        self.with(path, open::list)
    }

    /// Calls `act` with the path to use and the links to follow.
    fn with<T>(
        &self,
        path: &Path,
        act: impl Fn(&Path, SymlinkPolicy<'_>) -> Result<T>,
    ) -> Result<T> {
        let real = match self {
            Self::Anywhere => return act(path, SymlinkPolicy::Follow),
            Self::Below(folder) => folder.within(path).ok_or_else(|| refused(path))?,
            Self::Exactly(real) => real.clone(),
        };
        // This path has no links, so any link found now was put there since.
        let root = real.ancestors().last().unwrap_or(&real);
        act(&real, SymlinkPolicy::RefuseBelow(root)).map_err(|error| error.about(path))
    }
}

/// Returns the error for a path that leads out of the folder.
pub fn refused(path: &Path) -> Error {
    Error::LinkRefused { path: path.to_owned() }
}

/// Returns where a path leads, without links.
pub fn resolve_links(path: &Path) -> Result<PathBuf> {
    open::resolve_links(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_swapped_between_the_walk_and_the_opening_is_refused() {
        for swapped in ["home/docs/sub/b.md", "home/docs/sub", "home/docs", "home"] {
            let world = tempfile::tempdir().unwrap();
            let at = |name: &str| world.path().join(name);
            for name in ["home/docs/sub/b.md", "secret/b.md"] {
                fs::create_dir_all(at(name).parent().unwrap()).unwrap();
                fs::write(at(name), "b").unwrap();
            }
            let path = at("home/docs/sub/b.md");
            let below = Reach::below(&at("home/docs")).unwrap();
            let named = Reach::named(&path).unwrap();
            fs::rename(at(swapped), at("before")).unwrap();
            let target = if swapped.ends_with(".md") { "secret/b.md" } else { "secret" };
            symlink(at(target), at(swapped)).unwrap();
            for reach in [below, named] {
                let error = reach.read(&path, 100).unwrap_err();
                assert!(matches!(&error, Error::LinkRefused { path: named } if *named == path));
            }
        }
    }
}
