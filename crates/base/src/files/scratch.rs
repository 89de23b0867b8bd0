//! Keeps unfinished files in private folders, and removes those that killed processes left behind.
//!
//! Uses a folder rather than a file, so that it also holds files that a library creates next to the
//! one it writes (SQLite does). The lock that shows that the folder is in use is on a file that no
//! such library locks.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use super::private;

/// Prefix of the names of scratch folders.
const PREFIX: &str = ".kb-draft-";

/// Hexadecimal digits of the random part of a name: 64 bits, so that two processes do not choose the same.
const RANDOM_DIGITS: usize = 16;

/// How many names are tried before giving up. A random name is hardly ever taken, so a hundred failures have another
/// cause.
const NAME_ATTEMPTS: u32 = 100;

/// A file that is locked while the folder is in use.
const LOCK: &str = "lock";

/// The unfinished file or folder.
const NEW: &str = "new";

/// Holds the file or folder that is being replaced, under its name, where the file system cannot
/// exchange two names atomically.
const OLD: &str = "old";

/// A folder that only its owner can enter and that no other process uses; removed when dropped.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: PathBuf,
    /// Held open and locked, which distinguishes a folder in use from an abandoned one; `None` at the end.
    lock: Option<File>,
}

impl ScratchFolder {
    /// Creates a folder with mode 0700 in `parent`, after removing abandoned ones there.
    pub fn create(parent: &Path) -> io::Result<Self> {
        collect(parent);
        for _ in 0..NAME_ATTEMPTS {
            let folder = parent.join(unique_name());
            match private::new_folder(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            }
            match lock_new(&folder.join(LOCK)) {
                Ok(Some(lock)) => return Ok(Self { folder, lock: Some(lock) }),
                // Another process considered the folder abandoned before it was locked.
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    remove(&folder, None);
                    return Err(error);
                }
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Returns the path for the new file or folder. Nothing exists there yet.
    pub fn new_path(&self) -> PathBuf {
        self.folder.join(NEW)
    }

    /// Moves `target` into this folder. If the process is killed before the name is used again,
    /// `collect` moves it back.
    pub(super) fn move_aside(&self, target: &Path) -> io::Result<PathBuf> {
        let aside = self.folder.join(OLD);
        private::new_folder(&aside)?;
        let aside = aside.join(target.file_name().unwrap_or_default());
        fs::rename(target, &aside)?;
        Ok(aside)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        remove(&self.folder, self.lock.take());
    }
}

/// Removes the scratch folders in `parent` that no process uses any more. A file or folder that was
/// moved aside and not replaced gets its name back.
///
/// Only folders of [`ScratchFolder`] are removed: the name, the owner and the content must match.
pub fn collect(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if !is_scratch_name(&entry.file_name()) {
            continue;
        }
        let folder = entry.path();
        if !folder
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir() && private::is_own(&metadata))
        {
            continue;
        }
        let lock = match open_lock(&folder.join(LOCK)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A folder of kb without a lock is empty, and is removed; another one is not, and stays. A process that
                // is just creating it tries again.
                let _ = fs::remove_dir(&folder);
                continue;
            }
            Err(_) => continue,
        };
        if lock.try_lock().is_ok() && restore(&folder.join(OLD), parent).is_ok() {
            remove(&folder, Some(lock));
        }
    }
}

/// Moves a file or folder that was moved aside back to its name, unless the name is taken.
fn restore(aside: &Path, parent: &Path) -> io::Result<()> {
    let entries = match aside.read_dir() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let place = parent.join(entry.file_name());
        match place.symlink_metadata() {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::rename(entry.path(), place)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes a scratch folder. The lock is removed last but one, so that a folder that a killed
/// process has partly removed is still recognised. If something cannot be removed now, `collect`
/// tries again.
fn remove(folder: &Path, lock: Option<File>) {
    let Ok(entries) = folder.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>) else {
        return;
    };
    for entry in entries.into_iter().filter(|entry| entry.file_name() != LOCK) {
        // The prefix also covers files that SQLite created next to the new one.
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(NEW.as_bytes())
            || entry.file_name() == OLD;
        if !is_ours {
            return;
        }
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        if removed.is_err() {
            return;
        }
    }
    // Windows does not remove a folder with an open file. Other processes may also remove the
    // folder: only the lock file is left.
    drop(lock);
    // The lock file is removed last, because a folder without one counts as empty.
    let _ = fs::remove_file(folder.join(LOCK));
    let _ = fs::remove_dir(folder);
}

/// Creates and locks a lock file; `None` if another process was faster and removes it.
fn lock_new(path: &Path) -> io::Result<Option<File>> {
    let lock = private::new_file(path)?;
    match lock.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        // Without locks, no folder is ever considered abandoned; nothing else changes.
        Err(fs::TryLockError::Error(_)) => Ok(Some(lock)),
        // Another process may have locked and removed the file in between.
        Ok(()) => Ok(path.symlink_metadata().is_ok().then_some(lock)),
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    options.open(path)
}

/// Returns a unique name: the process id and a random number.
fn unique_name() -> String {
    // Each `RandomState` has different random keys, so the hash is a random number.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{PREFIX}{}-{random:0RANDOM_DIGITS$x}", std::process::id())
}

fn is_scratch_name(name: &OsStr) -> bool {
    let parts = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    parts.is_some_and(|(process, random)| {
        !process.is_empty()
            && process.bytes().all(|byte| byte.is_ascii_digit())
            && random.len() == RANDOM_DIGITS
            && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;
    use crate::files::testing::names;

    /// Creates what a killed process leaves behind.
    fn abandoned(parent: &Path, name: &str, files: &[&str]) {
        let folder = parent.join(name);
        for file in files {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_scratch_folder_is_private_and_removed() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let scratch = ScratchFolder::create(parent.path()).unwrap();
        let mode = scratch.folder.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::create_dir(scratch.new_path()).unwrap();
        fs::write(scratch.new_path().join("a"), "a").unwrap();
        fs::write(scratch.folder.join("new-journal"), "a").unwrap();
        drop(scratch);
        assert!(names(parent.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn only_abandoned_folders_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        abandoned(parent.path(), ".kb-draft-1-0123456789abcdef", &["lock", "new", "new-wal"]);
        abandoned(parent.path(), ".kb-draft-2-0123456789abcdef", &["lock", "new/a/b", "old/c/d"]);
        fs::create_dir(at(".kb-draft-3-0123456789abcdef")).unwrap();
        // None of these is a draft of kb.
        abandoned(parent.path(), ".kb-draft-4-0123456789abcdef", &["lock", "letter"]);
        abandoned(parent.path(), ".kb-draft-5-0123456789abcdef", &["letter"]);
        abandoned(parent.path(), ".kb-draft-mine", &["lock", "new"]);
        fs::write(at(".kb-draft-6-0123456789abcdef"), "a file").unwrap();
        fs::write(at("x.db.partial"), "the user's").unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", at(".kb-draft-7-0123456789abcdef")).unwrap();
        let in_use = ScratchFolder::create(parent.path()).unwrap();
        fs::write(in_use.new_path(), "x").unwrap();
        drop(ScratchFolder::create(parent.path()).unwrap());
        let mut expected = vec![
            ".kb-draft-4-0123456789abcdef".to_owned(),
            ".kb-draft-5-0123456789abcdef".to_owned(),
            ".kb-draft-6-0123456789abcdef".to_owned(),
            ".kb-draft-7-0123456789abcdef".to_owned(),
            ".kb-draft-mine".to_owned(),
            "c".to_owned(),
            "elsewhere".to_owned(),
            "x.db.partial".to_owned(),
            in_use.folder.file_name().unwrap().to_str().unwrap().to_owned(),
        ];
        expected.sort();
        assert_eq!(names(parent.path()), expected);
        assert!(in_use.new_path().exists());
    }

    #[test]
    fn a_folder_moved_aside_is_restored_unless_it_was_replaced() {
        let parent = tempfile::tempdir().unwrap();
        abandoned(parent.path(), ".kb-draft-1-0123456789abcdef", &["lock", "old/skill/SKILL.md"]);
        collect(parent.path());
        assert_eq!(names(parent.path()), ["skill"]);
        fs::write(parent.path().join("skill/SKILL.md"), "new").unwrap();
        abandoned(parent.path(), ".kb-draft-1-0123456789abcdef", &["lock", "old/skill/SKILL.md"]);
        collect(parent.path());
        assert_eq!(names(parent.path()), ["skill"]);
        assert_eq!(fs::read(parent.path().join("skill/SKILL.md")).unwrap(), b"new");
    }

    #[test]
    fn folders_in_use_are_never_collected_by_another_thread() {
        let parent = tempfile::tempdir().unwrap();
        let num_kept = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let scratch = ScratchFolder::create(parent.path()).unwrap();
                        fs::write(scratch.new_path(), "x").unwrap();
                        collect(parent.path());
                        let is_kept = fs::read(scratch.new_path()).unwrap() == b"x";
                        num_kept.fetch_add(u32::from(is_kept), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(num_kept.into_inner(), 400);
        collect(parent.path());
        assert!(names(parent.path()).is_empty());
    }

    #[test]
    fn only_a_name_that_is_made_here_is_one_of_a_scratch_folder() {
        let is_name = |name: &str| is_scratch_name(OsStr::new(name));
        assert!(is_name(&unique_name()));
        let digits = "0123456789abcdef".repeat(RANDOM_DIGITS.div_ceil(16));
        let random = &digits[..RANDOM_DIGITS];
        assert!(is_name(&format!("{PREFIX}7-{random}")));
        for name in [
            format!("{PREFIX}-{random}"),
            format!("{PREFIX}7x-{random}"),
            format!("{PREFIX}7-{}", &random[1..]),
            format!("{PREFIX}7-{}g", &random[1..]),
            format!("{PREFIX}7{random}"),
            format!("7-{random}"),
        ] {
            assert!(!is_name(&name), "{name}");
        }
    }
}
