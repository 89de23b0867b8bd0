//! Decides which links a path to a file may contain, and opens the file accordingly.
//!
//! A file in an added folder is opened without following any link in that folder. A file that the
//! user named is opened only if its path still leads to the same file. A link that was put there
//! later is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::open::{Entry, Links};
use crate::files::{File, Metadata, open};
use crate::store::{PathStamp, Root, Store};
use crate::text::paths;

/// Which links a path to a file may contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Any links: they are followed in its folder.
    Anywhere,
    /// No links below this folder.
    Below(Arc<Folder>),
    /// Any links that lead to this file, which is a path without links.
    Exactly(PathBuf),
}

/// A folder, and where its path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// As the user named it.
    path: PathBuf,
    /// Without links.
    real: PathBuf,
}

impl Folder {
    /// Resolves a path.
    ///
    /// # Errors
    ///
    /// [`Error::PathNotFound`] and [`Error::Io`].
    pub fn at(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), real: real(path)? })
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
    ///
    /// # Errors
    ///
    /// [`Error::PathNotFound`] and [`Error::Io`].
    pub fn named(path: &Path) -> Result<Self> {
        Ok(Self::Exactly(real(path)?))
    }

    /// Allows links above a folder but not below it.
    ///
    /// # Errors
    ///
    /// As [`Folder::at`].
    pub fn below(folder: &Path) -> Result<Self> {
        Ok(Self::Below(Arc::new(Folder::at(folder)?)))
    }

    /// Returns the path to remember for a file that the user named.
    pub fn real_path(&self) -> Option<String> {
        match self {
            Self::Exactly(real) => Some(paths::path_text(real)),
            Self::Anywhere | Self::Below(_) => None,
        }
    }

    /// Opens a regular file.
    ///
    /// # Errors
    ///
    /// As [`open::open`].
    pub fn open(&self, path: &Path) -> Result<File> {
        self.with(path, open::open)
    }

    /// Reads a regular file.
    ///
    /// # Errors
    ///
    /// As [`open::read`].
    pub fn read(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
        self.with(path, |path, links| open::read(path, links, max_bytes))
    }

    /// Returns the metadata of a path without opening it.
    ///
    /// # Errors
    ///
    /// As [`open::look`].
    pub fn look(&self, path: &Path) -> Result<Metadata> {
        self.with(path, open::look)
    }

    /// Returns the entries of a folder.
    ///
    /// # Errors
    ///
    /// As [`open::list`].
    pub fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        self.with(path, open::list)
    }

    /// Calls `act` with the path to use and the links to follow.
    fn with<T>(&self, path: &Path, act: impl Fn(&Path, Links<'_>) -> Result<T>) -> Result<T> {
        let real = match self {
            Self::Anywhere => return act(path, Links::Follow),
            Self::Below(folder) => folder.within(path).ok_or_else(|| refused(path))?,
            Self::Exactly(real) => real.clone(),
        };
        // This path has no links, so any link found now was put there since.
        let root = real.ancestors().last().unwrap_or(&real);
        act(&real, Links::RefuseBelow(root)).map_err(|error| error.about(path))
    }
}

impl AddedFolder {
    /// Returns how a path in the folder may be reached.
    fn reach(&self, path: &Path) -> Result<Reach> {
        match &self.reach {
            Some(reach) => Ok(reach.clone()),
            // The folder may also be missing, along with its disk.
            None => Err(real(&self.path).map_or_else(|error| error.about(path), |_| refused(path))),
        }
    }
}

/// Decides for every remembered file how it may be reached.
#[derive(Debug, Clone, Default)]
pub struct Access {
    folders: Vec<AddedFolder>,
}

/// A folder that was added.
#[derive(Debug, Clone)]
struct AddedFolder {
    path: PathBuf,
    /// `None` if its path is missing or leads elsewhere than when it was added.
    reach: Option<Reach>,
}

impl Access {
    /// Uses the folders that a database remembers; with `follows_all`, links are followed in all of
    /// them.
    ///
    /// # Errors
    ///
    /// Any failure of the database.
    pub fn of(store: &Store, follows_all: bool) -> Result<Self> {
        Ok(Self::new(&store.roots()?, follows_all))
    }

    /// Uses these folders.
    pub fn new(roots: &[Root], follows_all: bool) -> Self {
        let folder = |root: &Root| {
            let path = paths::path_of(&root.path);
            let reach = if root.follows_links || follows_all {
                Some(Reach::Anywhere)
            } else {
                let is_same = |folder: &Folder| {
                    root.real_path.as_deref().is_none_or(|real| folder.real == paths::path_of(real))
                };
                let folder = Folder::at(&path).ok().filter(is_same);
                folder.map(|folder| Reach::Below(Arc::new(folder)))
            };
            AddedFolder { path, reach }
        };
        Self { folders: roots.iter().map(folder).collect() }
    }

    /// Returns the innermost added folder that contains a path or is that path.
    fn folder(&self, path: &Path) -> Option<&AddedFolder> {
        let above = self.folders.iter().filter(|folder| path.starts_with(&folder.path));
        above.max_by_key(|folder| folder.path.components().count())
    }

    /// Whether a path is in a folder that was added.
    pub fn has_folder_of(&self, path: &Path) -> bool {
        self.folder(path).is_some()
    }

    /// Returns how an added folder, or a folder in one, may be walked.
    ///
    /// # Errors
    ///
    /// [`Error::LinkRefused`] if its path leads elsewhere than when it was added.
    pub fn of_folder(&self, path: &Path) -> Result<Reach> {
        match self.folder(path) {
            Some(folder) => folder.reach(path),
            None => Reach::below(path),
        }
    }

    /// Returns how a remembered file may be reached.
    ///
    /// # Errors
    ///
    /// [`Error::LinkRefused`] if its path leads elsewhere than when it was named;
    /// [`Error::PathNotFound`] and [`Error::Io`] if it is missing or cannot be examined.
    pub fn of_file(&self, path: &Path, real_path: Option<&str>) -> Result<Reach> {
        let folder = self.folder(path);
        if let Some(AddedFolder { reach: Some(Reach::Anywhere), .. }) = folder {
            return Ok(Reach::Anywhere);
        }
        if let Some(remembered) = real_path {
            match (Reach::named(path), folder) {
                (Ok(Reach::Exactly(real)), _) if real == paths::path_of(remembered) => {
                    return Ok(Reach::Exactly(real));
                }
                // It is also in an added folder, whose rules may allow it.
                (_, Some(_)) => {}
                (Err(error), None) => return Err(error),
                (Ok(_), None) => return Err(refused(path)),
            }
        }
        match (folder, path.parent()) {
            (Some(folder), _) => folder.reach(path),
            // The path of its folder may contain links, but the file itself must not be a link.
            (None, Some(parent)) => Reach::below(parent),
            (None, None) => Err(refused(path)),
        }
    }

    /// Returns the path of a stamp and how it may be reached.
    ///
    /// # Errors
    ///
    /// As [`Access::of_file`].
    pub fn of_stamp(&self, stamp: &PathStamp) -> Result<(PathBuf, Reach)> {
        let path = paths::path_of(&stamp.path);
        let reach = self.of_file(&path, stamp.real_path.as_deref())?;
        Ok((path, reach))
    }

    /// Returns the metadata of the file of a stamp without opening it.
    ///
    /// # Errors
    ///
    /// As [`Access::of_file`] and [`Reach::look`].
    pub fn look(&self, stamp: &PathStamp) -> Result<Metadata> {
        let (path, reach) = self.of_stamp(stamp)?;
        reach.look(&path)
    }
}

fn refused(path: &Path) -> Error {
    Error::LinkRefused { path: path.to_owned() }
}

/// Returns where a path leads, without links.
fn real(path: &Path) -> Result<PathBuf> {
    open::real(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Folders `home` and `secret`, and links in `home` that the user made.
    struct World(tempfile::TempDir);

    impl World {
        fn new() -> Self {
            let world = Self(tempfile::tempdir().unwrap());
            for (name, text) in [
                ("home/docs/a.md", "a"),
                ("home/docs/sub/b.md", "b"),
                ("home/notes/c.md", "c"),
                ("secret/a.md", "key"),
                ("secret/b.md", "key"),
                ("secret/c.md", "key"),
            ] {
                fs::create_dir_all(world.path(name).parent().unwrap()).unwrap();
                fs::write(world.path(name), text).unwrap();
            }
            symlink("notes/c.md", world.path("home/link.md")).unwrap();
            symlink("docs", world.path("home/entrance")).unwrap();
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Replaces a file or folder with a link.
        fn swap(&self, name: &str, target: &str) {
            let path = self.path(name);
            fs::rename(&path, self.path("before")).unwrap();
            symlink(self.path(target), path).unwrap();
        }

        fn root(&self, name: &str, follows_links: bool, is_old: bool) -> Root {
            let path = self.path(name);
            Root {
                real_path: (!is_old).then(|| paths::path_text(&real(&path).unwrap())),
                path: paths::path_text(&path),
                tags: Vec::new(),
                doc_type: None,
                language: None,
                follows_links,
            }
        }

        /// Reads a file that was added when its path led to `real_path`.
        fn read(&self, roots: &[Root], name: &str, real_path: Option<&str>) -> String {
            let path = self.path(name);
            let access = Access::new(roots, false);
            let read = access.of_file(&path, real_path).and_then(|reach| reach.read(&path, 100));
            match read {
                Ok(bytes) => String::from_utf8(bytes).unwrap(),
                Err(error) => error.code().to_owned(),
            }
        }

        fn named(&self, name: &str) -> Option<String> {
            Reach::named(&self.path(name)).unwrap().real_path()
        }
    }

    #[test]
    fn a_link_that_replaces_a_file_or_folder_is_refused() {
        for (name, swapped, target) in [
            ("home/docs/a.md", "home/docs/a.md", "secret/a.md"),
            ("home/docs/sub/b.md", "home/docs/sub", "secret"),
            ("home/docs/a.md", "home/docs", "secret"),
        ] {
            let world = World::new();
            let roots = [world.root("home/docs", false, false)];
            assert_eq!(world.read(&roots, name, None).len(), 1);
            world.swap(swapped, target);
            assert_eq!(world.read(&roots, name, None), "link_refused", "{swapped}");
            // Even if the real path was not remembered.
            let roots = [world.root("home", false, true)];
            assert_eq!(world.read(&roots, name, None), "link_refused", "{swapped}");
        }
    }

    #[test]
    fn a_folder_that_was_added_through_a_link_keeps_working() {
        let world = World::new();
        for is_old in [false, true] {
            let roots = [world.root("home/entrance", false, is_old)];
            assert_eq!(world.read(&roots, "home/entrance/sub/b.md", None), "b");
        }
    }

    #[test]
    fn links_are_followed_in_a_folder_added_with_follow() {
        let world = World::new();
        let roots = [world.root("home/docs", true, false)];
        world.swap("home/docs/sub", "secret");
        assert_eq!(world.read(&roots, "home/docs/sub/b.md", None), "key");
    }

    #[test]
    fn a_named_link_works_and_a_link_that_replaces_it_does_not() {
        for (name, swapped) in [
            ("home/link.md", "home/link.md"),
            ("home/notes/c.md", "home/notes/c.md"),
            ("home/notes/c.md", "home/notes"),
        ] {
            let world = World::new();
            let real_path = world.named(name);
            assert_eq!(world.read(&[], name, real_path.as_deref()), "c");
            let target = if swapped.ends_with(".md") { "secret/c.md" } else { "secret" };
            world.swap(swapped, target);
            assert_eq!(world.read(&[], name, real_path.as_deref()), "link_refused", "{swapped}");
        }
    }

    #[test]
    fn a_link_named_in_an_added_folder_works() {
        let world = World::new();
        let roots = [world.root("home", false, false)];
        assert_eq!(world.read(&roots, "home/link.md", None), "link_refused");
        assert_eq!(world.read(&roots, "home/link.md", world.named("home/link.md").as_deref()), "c");
    }

    #[test]
    fn a_file_added_by_an_older_kb_must_not_be_a_link() {
        let world = World::new();
        assert_eq!(world.read(&[], "home/notes/c.md", None), "c");
        assert_eq!(world.read(&[], "home/entrance/a.md", None), "a");
        assert_eq!(world.read(&[], "home/link.md", None), "link_refused");
    }

    #[test]
    fn a_file_swapped_between_the_walk_and_the_opening_is_refused() {
        for swapped in ["home/docs/sub/b.md", "home/docs/sub", "home/docs", "home"] {
            let world = World::new();
            let path = world.path("home/docs/sub/b.md");
            let below = Reach::below(&world.path("home/docs")).unwrap();
            let named = Reach::named(&path).unwrap();
            world.swap(swapped, if swapped.ends_with(".md") { "secret/b.md" } else { "secret" });
            for reach in [below, named] {
                let error = reach.read(&path, 100).unwrap_err();
                assert!(matches!(&error, Error::LinkRefused { path: named } if *named == path));
            }
        }
    }
}
