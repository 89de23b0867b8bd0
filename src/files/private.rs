//! Makes files and folders that only their owner can read, and closes others to everyone else.
//!
//! Every mode that kb sets is here. Where a system has no modes, what kb makes has the usual rights.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use super::write::folder_of;

/// Read and write, for the owner.
#[cfg(unix)]
const FILE_MODE: u32 = 0o600;

/// As [`FILE_MODE`], and execute: of a folder, the right to enter it.
#[cfg(unix)]
const FOLDER_MODE: u32 = 0o700;

/// Returns options with which a file that is made gets mode 0600.
pub(super) fn options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE_MODE);
    options
}

/// Makes a file with mode 0600 and opens it to write.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::AlreadyExists`] if something has the name.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    options().write(true).create_new(true).open(path)
}

/// As [`new_file`], for a copy: who may execute `source` keeps that right if it is the owner.
///
/// # Errors
///
/// As [`new_file`], and what the system says of `source`.
pub(super) fn new_copy_of(source: &File, path: &Path) -> io::Result<File> {
    let mut options = options();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        if source.metadata()?.permissions().mode() & 0o100 != 0 {
            options.mode(FOLDER_MODE);
        }
    }
    #[cfg(not(unix))]
    let _ = source;
    options.write(true).create_new(true).open(path)
}

/// Makes a folder with mode 0700; its own folder must be there.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::AlreadyExists`] if something has the name.
pub(super) fn new_folder(path: &Path) -> io::Result<()> {
    folder_builder().create(path)
}

fn folder_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER_MODE);
    builder
}

/// Makes an empty file with mode 0600 unless one is there, and its folder with mode 0700.
///
/// # Errors
///
/// What the system says.
pub fn create_file(path: &Path) -> io::Result<()> {
    if path.try_exists()? {
        return Ok(());
    }
    create_folder(folder_of(path))?;
    match new_file(path) {
        // Another process was faster; it means the same file.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Makes a folder that only its owner can enter, with its parents; one that is there stays as it is.
///
/// # Errors
///
/// What the system says.
pub fn create_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    folder_builder().recursive(true).create(path)
}

/// Takes from all but the owner the right to look into a file or a folder of the user's that kb
/// made. A link is left alone, and so is what another user owns.
///
/// # Errors
///
/// What the system says.
pub fn close(path: &Path) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    match closed(&metadata) {
        Some(closed) if !metadata.is_symlink() => fs::set_permissions(path, closed),
        _ => Ok(()),
    }
}

/// As [`close`], for a file that is open.
///
/// # Errors
///
/// What the system says.
pub(super) fn close_file(file: &File) -> io::Result<()> {
    closed(&file.metadata()?).map_or(Ok(()), |closed| file.set_permissions(closed))
}

/// Whether others than the owner have any right to a file or folder; `false` where there is none.
pub fn is_open_to_others(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| has_rights_for_others(&metadata))
}

/// Returns the permissions that something should have instead; `None` if they are right, or not the
/// user's to change.
#[cfg(unix)]
fn closed(metadata: &fs::Metadata) -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & FOLDER_MODE;
    (has_rights_for_others(metadata) && is_own(metadata)).then(|| fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn closed(_: &fs::Metadata) -> Option<fs::Permissions> {
    None
}

#[cfg(unix)]
fn has_rights_for_others(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn has_rights_for_others(_: &fs::Metadata) -> bool {
    false
}

/// Whether a file or folder is the user's.
#[cfg(unix)]
pub(super) fn is_own(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(super) fn is_own(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folders_are_private_when_made_and_made_private_on_request() {
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
