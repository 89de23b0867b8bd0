//! Makes a file next to another, so that nobody ever sees half of it.
//!
//! A [`Draft`] has a name that no other process uses, is private, and takes its target's name only
//! when it is complete and on disk. What a killed process left is recognised and removed later.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What kb's own drafts begin with; nothing else may be collected.
const PREFIX: &str = ".kb-draft-";

/// What SQLite keeps next to a database.
const SIDE_FILES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How many names are tried before giving up.
const NAME_ATTEMPTS: u32 = 100;

/// A file that is being made next to its target; removed when dropped before [`Draft::publish`].
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    target: PathBuf,
    /// Held open and locked, so that a draft in use is told from an abandoned one.
    file: File,
    is_published: bool,
}

impl Draft {
    /// Creates an empty file with mode 0600 in the folder of `target`. Where `target` is a symbolic
    /// link, what it leads to becomes the target: the user's link stays.
    ///
    /// Removes abandoned drafts in the same folder first.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = destination(target)?;
        let folder = folder_of(&target);
        collect(folder);
        for _ in 0..NAME_ATTEMPTS {
            let path = folder.join(unique_name());
            let mut options = File::options();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(file) => {
                    // A file system without locks loses the collecting of drafts, nothing else.
                    let _ = file.try_lock();
                    return Ok(Self { path, target, file, is_published: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Returns where the draft is, for libraries that open files by name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the open draft.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the draft its target's name, after everything written to it has reached the disk.
    ///
    /// # Errors
    ///
    /// What the system says; the target is then as it was.
    pub fn publish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, &self.target)?;
        self.is_published = true;
        sync_folder(folder_of(&self.target))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_published {
            remove_with_side_files(&self.path);
        }
    }
}

/// Replaces the content of a file, or makes it with mode 0600.
///
/// # Errors
///
/// What the system says; the file is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::create(path)?;
    draft.file().write_all(bytes)?;
    draft.publish()
}

/// Makes sure that the names in a folder are on disk.
///
/// # Errors
///
/// What the system says; a file system that cannot do it is no error.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems and Windows refuse to flush a folder.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        #[cfg(not(unix))]
        Err(_) => Ok(()),
        synced => synced,
    }
}

/// Returns the file that a path means in the end, following the user's links, also to a file that
/// is missing.
fn destination(path: &Path) -> io::Result<PathBuf> {
    /// More links than any system follows.
    const MAX_LINKS: u32 = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name that no other draft has: process, time and a counter.
fn unique_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let nanos =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{nanos:x}-{number}", std::process::id())
}

/// Removes drafts that nobody holds any more.
fn collect(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_side_file = SIDE_FILES.iter().any(|end| name.ends_with(end));
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !name.starts_with(PREFIX) || is_side_file || !is_file {
            continue;
        }
        let is_abandoned = File::options()
            .write(true)
            .open(entry.path())
            .is_ok_and(|file| file.try_lock().is_ok());
        if is_abandoned {
            remove_with_side_files(&entry.path());
        }
    }
}

fn remove_with_side_files(path: &Path) {
    for end in SIDE_FILES.iter().copied().chain([""]) {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // Where it cannot be removed the next draft in this folder tries again.
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_in_one_step_and_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings");
        replace(&path, b"first").unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["settings"]);
    }

    #[test]
    fn the_users_link_stays_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("dotfiles")).unwrap();
        let link = folder.path().join("settings");
        std::os::unix::fs::symlink("dotfiles/settings", &link).unwrap();
        replace(&link, b"text").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(folder.path().join("dotfiles/settings")).unwrap(), b"text");
    }

    #[test]
    fn an_unfinished_draft_leaves_nothing_and_an_abandoned_one_is_collected() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        fs::write(folder.path().join("file.partial"), "the user's").unwrap();
        fs::write(folder.path().join(".kb-draft-1-2-3"), "a killed process").unwrap();
        let in_use = Draft::create(&target).unwrap();
        drop(Draft::create(&target).unwrap());
        let in_use_name = in_use.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(names(folder.path()), [in_use_name, "file.partial".to_owned()]);
    }
}
