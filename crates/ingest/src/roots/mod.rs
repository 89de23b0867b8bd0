//! Knows the added folders: which of them a file belongs to, how its files are read, where walks
//! start, and which links the path of a remembered file may contain.
//!
//! A file belongs to the innermost added folder that contains its path; that folder says whether links
//! are followed. Its files have the type and language of the innermost folder that states any, and the
//! tags of all folders that contain it. The target of a link belongs to the folder in which it really is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::DocType;
use crate::error::Result;
use crate::extract::detect::TypeOverride;
use crate::files::Metadata;
use crate::files::reach::{Reach, ResolvedFolder, refused, resolve_links};
use crate::store::{AddedFolder, PathStamp, Store};
use crate::text::paths;
use crate::walk::{ReadAs, Start, Territory};

/// The folders that were added.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// In the order of their paths.
    all: Vec<ResolvedRoot>,
    /// Their paths without links; that of a missing folder as it is remembered.
    real: Arc<[PathBuf]>,
}

/// A folder that was added.
#[derive(Debug, Clone)]
struct ResolvedRoot {
    root: AddedFolder,
    path: PathBuf,
    real: PathBuf,
    /// `None` if its path is missing or leads elsewhere than when it was added.
    reach: Option<Reach>,
    read_as: Arc<ReadAs>,
}

impl ResolvedRoot {
    fn new(root: AddedFolder, follows_all: bool) -> Self {
        let path = paths::path_of(&root.path);
        // A folder that cannot be resolved, such as one whose disk is away, keeps the path as it was added.
        let found = ResolvedFolder::at(&path).ok();
        let real = found.as_ref().map_or_else(|| path.clone(), |folder| folder.real().to_owned());
        let reach = if root.follows_links || follows_all {
            Some(Reach::Anywhere)
        } else {
            let found = found.filter(|folder| is_where_added(&root, folder));
            found.map(|folder| Reach::Below(Arc::new(folder)))
        };
        let wanted = type_of(root.doc_type, root.language.as_deref());
        let read_as = Arc::new(ReadAs { wanted, tags: root.tags.clone() });
        Self { root, path, real, reach, read_as }
    }

    /// Takes over from the next folder around it what it does not say itself.
    fn inherit(&mut self, outer: &Self) {
        let ReadAs { mut wanted, mut tags } = (*self.read_as).clone();
        if wanted.is_open() {
            wanted = outer.read_as.wanted;
        }
        let new = outer.read_as.tags.iter().filter(|tag| !self.root.tags.contains(tag));
        tags.extend(new.cloned());
        self.read_as = Arc::new(ReadAs { wanted, tags });
    }

    /// Returns how a path in the folder may be reached.
    fn reach(&self, path: &Path) -> Result<Reach> {
        match &self.reach {
            Some(reach) => Ok(reach.clone()),
            // The folder may also be missing, along with its disk.
            None => {
                Err(resolve_links(&self.path)
                    .map_or_else(|error| error.about(path), |_| refused(path)))
            }
        }
    }
}

impl Roots {
    /// Uses the folders that a database remembers and the user allows; with `follows_all`, links are
    /// followed in all of them.
    pub fn of(store: &Store, follows_all: bool) -> Result<Self> {
        Ok(Self::new(store.roots()?, follows_all))
    }

    /// Uses these folders.
    pub fn new(roots: Vec<AddedFolder>, follows_all: bool) -> Self {
        let mut all: Vec<ResolvedRoot> =
            roots.into_iter().map(|root| ResolvedRoot::new(root, follows_all)).collect();
        // A folder comes after those that contain it.
        all.sort_by(|a, b| a.path.cmp(&b.path));
        for at in 1..all.len() {
            let (before, rest) = all.split_at_mut(at);
            let above = before.iter().rev().find(|outer| rest[0].path.starts_with(&outer.path));
            if let Some(outer) = above {
                rest[0].inherit(outer);
            }
        }
        let real = all.iter().map(|added| added.real.clone()).collect();
        Self { all, real }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the paths of all folders, in order.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().map(|added| added.path.as_path())
    }

    /// Returns the folder that a path belongs to.
    fn added(&self, path: &Path) -> Option<&ResolvedRoot> {
        let above = self.all.iter().filter(|added| path.starts_with(&added.path));
        above.max_by_key(|added| added.path.components().count())
    }

    /// Returns the folder that a path belongs to, as it is remembered.
    pub fn of_path(&self, path: &Path) -> Option<&AddedFolder> {
        self.added(path).map(|added| &added.root)
    }

    /// Returns the path of the folder that a path belongs to.
    pub fn folder_of(&self, path: &Path) -> Option<&Path> {
        self.added(path).map(|added| added.path.as_path())
    }

    /// Returns the tags of new documents at a path.
    pub fn tags_of(&self, path: &Path) -> &[String] {
        self.added(path).map(|added| added.read_as.tags.as_slice()).unwrap_or_default()
    }

    /// Returns the folders to walk at or below `named`, all of them if that is empty: added folders, and
    /// named folders in one of them. None contains a file that belongs to another.
    pub fn parts(&self, named: &[PathBuf]) -> Vec<PathBuf> {
        if named.is_empty() {
            return self.folders().map(Path::to_owned).collect();
        }
        let in_named =
            self.folders().filter(|path| named.iter().any(|name| path.starts_with(name)));
        let mut parts: Vec<PathBuf> = in_named.map(Path::to_owned).collect();
        let mut inner: Vec<&PathBuf> = named.iter().filter(|path| path.is_dir()).collect();
        inner.sort();
        for path in inner {
            if self.folder_of(path).is_some()
                && !parts.iter().any(|part| self.is_within(path, part))
            {
                parts.push(path.clone());
            }
        }
        parts.sort();
        parts
    }

    /// Whether a path is at or below another, and both belong to the same added folder.
    fn is_within(&self, path: &Path, other: &Path) -> bool {
        path.starts_with(other) && self.folder_of(path) == self.folder_of(other)
    }

    /// Returns where to walk an added folder or a folder in one, without what belongs to others.
    pub fn start(&self, path: &Path) -> Result<Start> {
        let Some(added) = self.added(path) else {
            return Ok(Start::known(path, Reach::below(path)?));
        };
        let start = Start::known(path, added.reach(path)?);
        Ok(start.read_as(Arc::clone(&added.read_as)).within(self.territory(&added.real)))
    }

    /// Returns where to start at a path that the user has just named, with the type and language named with
    /// it: there, without the added folders below it, and at each of these. Without a type, the folder that
    /// it belongs to says how it is read.
    pub fn starts_of_named(&self, path: &Path, wanted: TypeOverride) -> Vec<Start> {
        let path = &paths::clean(path);
        let mut start = Start::named(path);
        if let Some(added) = self.added(path).filter(|_| wanted.is_open()) {
            start = start.read_as(Arc::clone(&added.read_as));
        }
        let below = self.all.iter().filter(|added| added.path.starts_with(path));
        let inner: Vec<&ResolvedRoot> = below.filter(|added| added.path != *path).collect();
        let own = resolve_links(path).unwrap_or_else(|_| path.to_owned());
        let folders = inner.iter().map(|added| added.real.clone()).chain([own.clone()]).collect();
        let territory = (!inner.is_empty()).then_some(Territory { folders, own });
        let inner = inner.iter().filter_map(|added| self.start(&added.path).ok());
        [start.within(territory)].into_iter().chain(inner).collect()
    }

    /// Returns what belongs to a folder; `None` for all below it.
    fn territory(&self, own: &Path) -> Option<Territory> {
        (self.all.len() > 1)
            .then(|| Territory { folders: Arc::clone(&self.real), own: own.to_owned() })
    }

    /// Returns where to read a remembered file, as its folder says, else as it was read before, unless
    /// its name says it (`is_claimed`) and it is no note.
    pub fn start_of_file(
        &self,
        stamp: &PathStamp,
        doc_type: DocType,
        language: Option<&str>,
        is_claimed: bool,
    ) -> Result<Start> {
        let (path, reach) = self.of_stamp(stamp)?;
        let of_folder = self.added(&path).map(|added| &added.read_as);
        let read_as = match of_folder.filter(|read_as| !read_as.wanted.is_open()) {
            Some(read_as) => Arc::clone(read_as),
            None if doc_type != DocType::Note && is_claimed => Arc::default(),
            None => {
                Arc::new(ReadAs { wanted: type_of(Some(doc_type), language), tags: Vec::new() })
            }
        };
        Ok(Start::known(&path, reach).read_as(read_as))
    }

    /// Returns how a remembered file may be reached.
    pub fn of_file(&self, path: &Path, real_path: Option<&str>) -> Result<Reach> {
        let folder = self.added(path);
        if let Some(ResolvedRoot { reach: Some(Reach::Anywhere), .. }) = folder {
            return Ok(Reach::Anywhere);
        }
        if let Some(remembered) = real_path {
            match (Reach::named(path), folder) {
                (Ok(Reach::Exactly(real)), _) if real == paths::path_of(remembered) => {
                    return Ok(Reach::Exactly(real));
                }
                // The file is also in an added folder, whose rules may allow it.
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
    pub fn of_stamp(&self, stamp: &PathStamp) -> Result<(PathBuf, Reach)> {
        let path = paths::path_of(&stamp.path);
        let reach = self.of_file(&path, stamp.real_path.as_deref())?;
        Ok((path, reach))
    }

    /// Returns the metadata of the file of a stamp without opening it.
    pub fn look(&self, stamp: &PathStamp) -> Result<Metadata> {
        let (path, reach) = self.of_stamp(stamp)?;
        reach.look(&path)
    }
}

/// Whether an added folder is where it was when it was added, as far as that is known.
fn is_where_added(root: &AddedFolder, folder: &ResolvedFolder) -> bool {
    root.real_path.as_deref().is_none_or(|real| folder.real() == paths::path_of(real))
}

fn type_of(doc_type: Option<DocType>, language: Option<&str>) -> TypeOverride {
    TypeOverride { doc_type, language: language.and_then(|word| word.parse().ok()) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
