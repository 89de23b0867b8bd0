//! Notes which files are on another file system than their added folder, as on a disk that is mounted below it.
//!
//! A mount of a folder of the same file system is not noticed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files::open;
use crate::roots::Roots;
use crate::store::Store;
use crate::text::paths;

/// The file systems of folders, each asked for once, and the last answer: files come folder by folder.
#[derive(Default)]
pub(super) struct Mounts {
    systems: HashMap<PathBuf, Option<u64>>,
    last: Option<(PathBuf, Option<bool>)>,
}

impl Mounts {
    /// Whether a folder is on another file system than the added folder it is in; `None` if it is in none, or
    /// the system does not say.
    pub(super) fn is_mounted(&mut self, roots: &Roots, folder: &Path) -> Option<bool> {
        if let Some((last, answer)) = &self.last
            && last.as_os_str() == folder.as_os_str()
        {
            return *answer;
        }
        let root = roots.folder_of(folder);
        let answer = root.and_then(|root| Some(self.system(folder)? != self.system(root)?));
        self.last = Some((folder.to_owned(), answer));
        answer
    }

    fn system(&mut self, folder: &Path) -> Option<u64> {
        *self.systems.entry(folder.to_owned()).or_insert_with(|| Some(open::identity(folder)?.0))
    }
}

/// Notes it for the files that were never seen before.
pub fn note_new(store: &mut Store, roots: &Roots) -> Result<()> {
    let mut mounts = Mounts::default();
    let mut seen = Vec::new();
    for text in store.files_never_seen()? {
        let path = paths::path_of(&text);
        let is_mounted = path.parent().and_then(|folder| mounts.is_mounted(roots, folder));
        if let Some(is_mounted) = is_mounted.filter(|_| path.is_file()) {
            seen.push((text, is_mounted));
        }
    }
    store.set_mounted(&seen)
}
