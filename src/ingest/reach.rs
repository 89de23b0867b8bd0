//! Decides through which links a file may be reached, and opens it accordingly.
//!
//! A file of a folder is opened without following any link in that folder; a file that the user named
//! itself, only where its path leads to what it led to then. What was put in place later is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::open::{Entry, Links};
use crate::files::{File, Metadata, open};
use crate::store::{PathStamp, Root, Store};
use crate::text::paths;

/// Through which links a file may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Through any: links are followed in its folder.
    Anywhere,
    /// Through none below this folder.
    Below(Arc<Folder>),
    /// Only where it leads to this file; a path without links.
    Exactly(PathBuf),
}

/// A folder, and what its path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// As it was named.
    path: PathBuf,
    /// Without links.
    real: PathBuf,
}

impl Folder {
    /// Finds out what a path leads to.
    ///
    /// # Errors
    ///
    /// [`Error::PathNotFound`] and [`Error::Io`].
    pub fn at(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), real: real(path)? })
    }

    /// Returns what its path leads to, without links.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Returns a path below the folder without links above it; `None` for a path elsewhere.
    pub(super) fn within(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.path).ok()?;
        // Joining nothing would add a separator.
        Some(if below.as_os_str().is_empty() { self.real.clone() } else { self.real.join(below) })
    }
}

impl Reach {
    /// Lets a path that the user has just named lead where it leads now.
    ///
    /// # Errors
    ///
    /// [`Error::PathNotFound`] and [`Error::Io`].
    pub fn named(path: &Path) -> Result<Self> {
        Ok(Self::Exactly(real(path)?))
    }

    /// Lets files below a folder be reached through links above it alone.
    ///
    /// # Errors
    ///
    /// As [`Folder::at`].
    pub fn below(folder: &Path) -> Result<Self> {
        Ok(Self::Below(Arc::new(Folder::at(folder)?)))
    }

    /// Returns what is to be remembered of a file that was named itself.
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

    /// Returns what is at a path, without opening it.
    ///
    /// # Errors
    ///
    /// As [`open::look`].
    pub fn look(&self, path: &Path) -> Result<Metadata> {
        self.with(path, open::look)
    }

    /// Returns what is in a folder.
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
        // No link is left on the way, so one that is there was put there meanwhile.
        let root = real.ancestors().last().unwrap_or(&real);
        act(&real, Links::RefuseBelow(root)).map_err(|error| error.about(path))
    }
}

impl AddedFolder {
    /// Returns how a path in it may be reached.
    fn reach(&self, path: &Path) -> Result<Reach> {
        match &self.reach {
            Some(reach) => Ok(reach.clone()),
            // It may also be gone, with the disk it is on.
            None => Err(real(&self.path).map_or_else(|error| error.about(path), |_| refused(path))),
        }
    }
}

/// Tells of every remembered file how it may be reached.
#[derive(Debug, Clone, Default)]
pub struct Access {
    folders: Vec<AddedFolder>,
}

/// A folder that was added.
#[derive(Debug, Clone)]
struct AddedFolder {
    path: PathBuf,
    /// `None` if its path leads elsewhere than when it was added, or nowhere.
    reach: Option<Reach>,
}

impl Access {
    /// Takes the folders that a database remembers; `follows_all`: links are followed in all of them.
    ///
    /// # Errors
    ///
    /// What the database refuses.
    pub fn of(store: &Store, follows_all: bool) -> Result<Self> {
        Ok(Self::new(&store.roots()?, follows_all))
    }

    /// Takes the folders that were added.
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

    /// Returns the innermost added folder that a path is in or is itself.
    fn folder(&self, path: &Path) -> Option<&AddedFolder> {
        let above = self.folders.iter().filter(|folder| path.starts_with(&folder.path));
        above.max_by_key(|folder| folder.path.components().count())
    }

    /// Whether a path is in a folder that was added.
    pub fn has_folder_of(&self, path: &Path) -> bool {
        self.folder(path).is_some()
    }

    /// Returns how an added folder, or one in it, may be walked.
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
    /// [`Error::PathNotFound`] and [`Error::Io`] for what is gone or cannot be looked at.
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
                // It is in a folder that was added, too, and what holds there may allow it.
                (_, Some(_)) => {}
                (Err(error), None) => return Err(error),
                (Ok(_), None) => return Err(refused(path)),
            }
        }
        match (folder, path.parent()) {
            (Some(folder), _) => folder.reach(path),
            // Its folder may be reached through links, but the file must not be one.
            (None, Some(parent)) => Reach::below(parent),
            (None, None) => Err(refused(path)),
        }
    }

    /// Returns how the file of a stamp may be reached, and its path.
    ///
    /// # Errors
    ///
    /// As [`Access::of_file`].
    pub fn of_stamp(&self, stamp: &PathStamp) -> Result<(PathBuf, Reach)> {
        let path = paths::path_of(&stamp.path);
        let reach = self.of_file(&path, stamp.real_path.as_deref())?;
        Ok((path, reach))
    }

    /// Returns what is at the path of a stamp, without opening it.
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

/// Returns what a path leads to, without links.
fn real(path: &Path) -> Result<PathBuf> {
    open::real(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Folders `home` and `secret`, and links in `home` as the user made them.
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

        /// Puts a link in the place of a file or folder.
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

        /// Reads a file that was added when `real_path` was taken.
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
    fn a_link_put_in_place_of_a_file_or_folder_is_refused() {
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
            // Also where nothing says what the path led to.
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
    fn a_folder_with_follow_follows() {
        let world = World::new();
        let roots = [world.root("home/docs", true, false)];
        world.swap("home/docs/sub", "secret");
        assert_eq!(world.read(&roots, "home/docs/sub/b.md", None), "key");
    }

    #[test]
    fn a_link_that_was_named_works_and_one_put_in_its_place_does_not() {
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
    fn of_a_file_that_an_older_kb_added_the_last_component_is_no_link() {
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
