//! Decides who may read and write the files and folders that kb creates, and restricts existing
//! ones to their owner.
//!
//! All modes that kb sets are in this module. On a system without modes, files that kb creates have
//! the usual permissions.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use super::path::folder_of;

/// Who may read a file or folder that kb creates. Only the owner may write to it, whatever the umask
/// is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// The owner: for what kb keeps for itself, and what it writes for other programs.
    Private,
    /// Everyone whom the umask lets read it: for output that the user named.
    Output,
}

impl Audience {
    /// Returns the mode of a new file before the umask applies.
    #[cfg(unix)]
    fn file_mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Output => 0o644,
        }
    }

    /// Returns the mode of a new folder, or a program, before the umask applies. The right to
    /// execute is, for a folder, the right to enter it.
    #[cfg(unix)]
    fn folder_mode(self) -> u32 {
        match self {
            Self::Private => 0o700,
            Self::Output => 0o755,
        }
    }

    /// Returns options that create files with the mode.
    pub(super) fn options(self) -> OpenOptions {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, self.file_mode());
        options
    }

    fn folder_builder(self) -> DirBuilder {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, self.folder_mode());
        builder
    }

    /// Creates a folder with its parents; an existing folder is not changed.
    fn create_folder(self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        self.folder_builder().recursive(true).create(path)
    }
}

/// Creates a file with mode 0600 and opens it for writing.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    Audience::Private.options().write(true).create_new(true).open(path)
}

/// Like [`new_file`], for a copy: if the owner may execute `source`, the owner may execute the
/// copy.
pub(super) fn new_copy_of(source: &File, path: &Path) -> io::Result<File> {
    let mut options = Audience::Private.options();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        if source.metadata()?.permissions().mode() & 0o100 != 0 {
            options.mode(Audience::Private.folder_mode());
        }
    }
    #[cfg(not(unix))]
    let _ = source;
    options.write(true).create_new(true).open(path)
}

/// Creates a folder with mode 0700; its parent folder must exist.
pub(super) fn new_folder(path: &Path) -> io::Result<()> {
    Audience::Private.folder_builder().create(path)
}

/// Creates an empty file with mode 0600 unless the file exists, and its folder with mode 0700.
pub fn create_file(path: &Path) -> io::Result<()> {
    if path.try_exists()? {
        return Ok(());
    }
    create_folder(folder_of(path))?;
    match new_file(path) {
        // Another process was faster and created the same file.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Creates a folder that only its owner can enter, with its parents; an existing folder is not
/// changed.
pub fn create_folder(path: &Path) -> io::Result<()> {
    Audience::Private.create_folder(path)
}

/// Like [`create_folder`], for a folder that the user named as output: others may enter it if the
/// umask lets them.
pub fn create_output_folder(path: &Path) -> io::Result<()> {
    Audience::Output.create_folder(path)
}

/// Removes the permissions of everyone but the owner from a file or folder that kb created for the
/// user. Links and files of other users are not changed.
pub fn close(path: &Path) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    match closed(&metadata) {
        Some(closed) if !metadata.is_symlink() => fs::set_permissions(path, closed),
        _ => Ok(()),
    }
}

/// Like [`close`], for an open file.
pub(super) fn close_file(file: &File) -> io::Result<()> {
    closed(&file.metadata()?).map_or(Ok(()), |closed| file.set_permissions(closed))
}

/// Whether anyone but the owner has permissions for a file or folder; `false` if it is missing, and for a device such as
/// `/dev/null`, which a link may lead to and which belongs to all.
pub fn is_open_to_others(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| has_rights_for_others(&metadata))
}

/// Returns the permissions that a file or folder should have instead; `None` if they are right, or
/// if the user cannot change them.
#[cfg(unix)]
fn closed(metadata: &fs::Metadata) -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & Audience::Private.folder_mode();
    (has_rights_for_others(metadata) && is_own(metadata)).then(|| fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn closed(_: &fs::Metadata) -> Option<fs::Permissions> {
    None
}

#[cfg(unix)]
fn has_rights_for_others(metadata: &fs::Metadata) -> bool {
    let is_kept = metadata.is_file() || metadata.is_dir();
    is_kept && std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn has_rights_for_others(_: &fs::Metadata) -> bool {
    false
}

/// Whether the user owns a file or folder.
#[cfg(unix)]
pub(super) fn is_own(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(super) fn is_own(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_may_ever_write() {
        for audience in [Audience::Private, Audience::Output] {
            assert_eq!((audience.file_mode() | audience.folder_mode()) & 0o022, 0, "{audience:?}");
        }
    }

    #[test]
    fn a_device_is_left_to_all() {
        assert!(!is_open_to_others(Path::new("/dev/null")));
        assert!(closed(&Path::new("/dev/null").metadata().unwrap()).is_none());
    }

    #[test]
    fn folders_are_created_private_and_made_private_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        create_folder(&deep).unwrap();
        create_file(&deep.join("c/kb.db")).unwrap();
        let modes =
            ["a", "a/b", "a/b/c", "a/b/c/kb.db"].map(|name| mode(&folder.path().join(name)));
        assert_eq!(modes, [0o700, 0o700, 0o700, 0o600]);
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o755)).unwrap();
        create_folder(&deep).unwrap();
        assert_eq!((mode(&deep), is_open_to_others(&deep)), (0o755, true), "it was there");
        close(&deep).unwrap();
        assert_eq!((mode(&deep), is_open_to_others(&deep)), (0o700, false));
        symlink("/", folder.path().join("link")).unwrap();
        close(&folder.path().join("link")).unwrap();
    }
}
