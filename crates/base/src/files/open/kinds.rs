//! Names which links are followed, and what a folder has.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::Path;

/// Which symbolic links on a path are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymlinkPolicy<'a> {
    /// All: the user typed this path, or kb made it.
    Follow,
    /// No links below this folder, in any component; the path of the folder itself may contain
    /// links.
    RefuseBelow(&'a Path),
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// Its name.
    pub name: OsString,
    /// Its kind; for a link, that of the link and not of its target.
    pub kind: EntryKind,
}

/// The kind of file that a name in a folder refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a device or a socket.
    Other,
}

impl EntryKind {
    /// Returns the kind of a file.
    pub fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Folder
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}
