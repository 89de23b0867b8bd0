//! Creates a folder next to another and then replaces that one.
//!
//! At any time, the name refers to either the complete old folder or the complete new one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::path::folder_of;
use super::private::{self, create_folder};
use super::scratch::ScratchFolder;
use super::write::sync_folder;

/// An unfinished folder next to its target; removed when dropped before it is published.
#[derive(Debug)]
pub struct UnpublishedFolder {
    scratch: ScratchFolder,
    path: PathBuf,
    target: PathBuf,
}

impl UnpublishedFolder {
    /// Creates an empty folder with mode 0700 near `target`, and the parent folder of `target` if
    /// it is missing.
    pub fn create(target: &Path) -> io::Result<Self> {
        create_folder(folder_of(target))?;
        let scratch = ScratchFolder::create(folder_of(target))?;
        let path = scratch.new_path();
        private::new_folder(&path)?;
        Ok(Self { scratch, path, target: target.to_owned() })
    }

    /// Copies a file to a path below the folder, readable only by the owner and flushed to disk. If
    /// the owner may execute the file, the owner may execute the copy.
    pub fn add_copy(&self, below: &Path, source: &mut File) -> io::Result<()> {
        let place = self.path.join(below);
        create_folder(folder_of(&place))?;
        let mut copy = private::new_copy_of(source, &place)?;
        io::copy(source, &mut copy)?;
        copy.sync_all()
    }

    /// Creates a symbolic link at a path below the folder; does nothing on a system without links.
    pub fn add_link(&self, below: &Path, original: &Path) -> io::Result<()> {
        let place = self.path.join(below);
        create_folder(folder_of(&place))?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(original, place)?;
        #[cfg(not(unix))]
        let _ = original;
        Ok(())
    }

    /// Gives the folder the name of its target, and removes the old target; a link is not followed.
    pub fn publish(self) -> io::Result<()> {
        sync_folders(&self.path)?;
        if self.target.symlink_metadata().is_err() {
            fs::rename(&self.path, &self.target)?;
        } else if exchange(&self.path, &self.target).is_err() {
            // Not every file system can exchange names. For a moment the name is free; after a kill
            // at this moment, `collect` gives it back to the old folder.
            let aside = self.scratch.move_aside(&self.target)?;
            if let Err(error) = fs::rename(&self.path, &self.target) {
                // The old folder gets its name back. If that fails, `collect` does it.
                let _ = fs::rename(aside, &self.target);
                return Err(error);
            }
        }
        // The new name is on disk before the old folder is removed.
        sync_folder(folder_of(&self.target))
    }
}

/// Flushes the names below a folder to disk.
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sync_folder(folder)
}

/// Exchanges two names atomically.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::files::testing::names;

    fn tree(target: &Path, text: &str) -> UnpublishedFolder {
        let tree = UnpublishedFolder::create(target).unwrap();
        let source = target.with_file_name("source");
        fs::write(&source, text).unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o755)).unwrap();
        tree.add_copy(Path::new("sub/a.sh"), &mut File::open(&source).unwrap()).unwrap();
        tree.add_link(Path::new("link"), Path::new("sub/a.sh")).unwrap();
        fs::remove_file(source).unwrap();
        tree
    }

    #[test]
    fn a_new_folder_is_private_and_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("deep/skill");
        for text in ["one", "two"] {
            tree(&target, text).publish().unwrap();
            assert_eq!(fs::read_to_string(target.join("link")).unwrap(), text);
            assert_eq!(names(target.parent().unwrap()), ["skill"]);
        }
        for (path, expected) in [("", 0o700), ("sub", 0o700), ("sub/a.sh", 0o700)] {
            let mode = target.join(path).metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, expected, "{path}");
        }
        drop(tree(&target, "three"));
        assert_eq!(fs::read_to_string(target.join("link")).unwrap(), "two");
        assert_eq!(names(target.parent().unwrap()), ["skill"]);
    }

    #[test]
    fn the_target_of_a_replaced_link_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("mine")).unwrap();
        fs::write(folder.path().join("mine/a"), "mine").unwrap();
        let target = folder.path().join("skill");
        std::os::unix::fs::symlink("mine", &target).unwrap();
        tree(&target, "one").publish().unwrap();
        assert!(!target.is_symlink());
        assert_eq!(fs::read(folder.path().join("mine/a")).unwrap(), b"mine");
    }
}
