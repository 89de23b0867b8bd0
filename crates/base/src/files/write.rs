//! Creates a file next to another, so that no process ever sees half of it.
//!
//! A [`Draft`] is in a private folder that no other process uses, and takes the name of its target
//! only when it is complete and on disk. Files that a killed process left behind are recognised and
//! removed later.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::path::folder_of;
use super::private::{self, Audience};
use super::scratch::ScratchFolder;
use crate::text::paths::canonical;

pub use super::scratch::collect;

/// Suffixes of the files that SQLite keeps next to a database.
pub const SIDE_FILES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// An unfinished file next to its target; removed when dropped before it is published.
#[derive(Debug)]
pub struct Draft {
    scratch: ScratchFolder,
    path: PathBuf,
    target: PathBuf,
    file: File,
}

impl Draft {
    /// Creates an empty file with mode 0600 near `target`. If `target` is a symbolic link, the file
    /// that it leads to becomes the target, and the user's link stays.
    ///
    /// Removes abandoned drafts in the same folder first.
    pub fn create(target: &Path) -> io::Result<Self> {
        Self::with_audience(destination(target)?, Audience::Private)
    }

    /// Like [`Draft::create`], for a file of kb in a folder that others may have filled: a symbolic
    /// link is replaced, and the file that it leads to is not changed.
    pub fn create_own(target: &Path) -> io::Result<Self> {
        Self::with_audience(target.to_owned(), Audience::Private)
    }

    fn with_audience(target: PathBuf, audience: Audience) -> io::Result<Self> {
        let known = target.symlink_metadata();
        // Only files and links are replaced.
        if known.as_ref().is_ok_and(|known| !known.is_file() && !known.is_symlink()) {
            return Err(not_a_file());
        }
        let scratch = ScratchFolder::create(folder_of(&target))?;
        let path = scratch.new_path();
        let file = audience.options().read(true).write(true).create_new(true).open(&path)?;
        // The new file gets the mode of the old one, which the user may have chosen.
        if let (Audience::Output, Some(known)) =
            (audience, known.ok().filter(fs::Metadata::is_file))
        {
            file.set_permissions(known.permissions())?;
        }
        Ok(Self { scratch, path, target, file })
    }

    /// Returns the path of the draft, for libraries that open files by name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file that will be replaced: the given path with links resolved.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the open draft.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the draft the name of its target, after all its content is on disk.
    pub fn publish(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, &self.target)?;
        drop(self.scratch);
        sync_folder(folder_of(&self.target))
    }

    /// Like [`Draft::publish`], but never replaces a file.
    pub fn publish_new(self) -> io::Result<()> {
        self.file.sync_all()?;
        rename_to_free(&self.path, &self.target)?;
        drop(self.scratch);
        sync_folder(folder_of(&self.target))
    }
}

/// Replaces the content of a file or creates it, with mode 0600.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill(Draft::create(path)?, bytes)
}

/// Like [`replace`], for a file of kb: a symbolic link is also replaced.
pub fn replace_own(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill(Draft::create_own(path)?, bytes)
}

/// Like [`replace_own`], for output that the user named, such as a manual page: the file keeps its
/// mode, or others may read it if the umask lets them.
pub fn replace_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill(Draft::with_audience(path.to_owned(), Audience::Output)?, bytes)
}

/// Replaces the content of a file that is the user's and not kb's: it keeps its mode, and a symbolic
/// link stays. A new file has mode 0600.
pub fn replace_of_user(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = destination(path)?;
    let audience = if target.exists() { Audience::Output } else { Audience::Private };
    fill(Draft::with_audience(target, audience)?, bytes)
}

/// Creates a file with mode 0600; fails if it exists.
pub fn create_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::create_own(path)?;
    draft.file().write_all(bytes)?;
    draft.publish_new()
}

fn fill(mut draft: Draft, bytes: &[u8]) -> io::Result<()> {
    draft.file().write_all(bytes)?;
    draft.publish()
}

/// Replaces or creates a file that can be generated again. This is fast because it does not wait
/// for the disk, and a crash may leave half of the file. A link is replaced, not followed.
pub fn overwrite_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    remove(path)?;
    private::new_file(path)?.write_all(bytes)
}

/// Opens a file for appending, and creates it if it is missing. Afterwards only its owner can read
/// it.
pub fn append(path: &Path) -> io::Result<File> {
    let mut options = Audience::Private.options();
    #[cfg(unix)]
    {
        // A pipe with this name must not block the caller.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.create(true).append(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(not_a_file());
    }
    private::close_file(&file)?;
    Ok(file)
}

/// Copies a file, from the current position to its end, to a file with mode 0600 that is replaced
/// in place; for a folder that no other process reads.
pub fn copy_private(source: &mut File, to: &Path) -> io::Result<()> {
    remove(to)?;
    io::copy(source, &mut private::new_file(to)?).map(drop)
}

/// Gives a complete file the name of another, which it replaces, after all its content is on disk.
pub fn move_into_place(from: &Path, to: &Path) -> io::Result<()> {
    sync_file(from)?;
    fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Waits until a file that a library wrote is on disk.
pub fn sync_file(path: &Path) -> io::Result<()> {
    // Windows flushes only what may be written.
    File::options().read(true).write(cfg!(windows)).open(path)?.sync_all()
}

/// Gives a file a second name in the same folder, so that it survives when the first is replaced.
/// Where the file system has no hard links, the file is copied.
pub fn keep_as(path: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(path, name) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {
            let mut copy = private::new_file(name)?;
            io::copy(&mut File::open(path)?, &mut copy)?;
            copy.sync_all()?;
        }
    }
    sync_folder(folder_of(name))
}

/// Creates a symbolic link in one step, and replaces an existing one.
pub fn replace_link(original: &Path, link: &Path) -> io::Result<()> {
    let scratch = ScratchFolder::create(folder_of(link))?;
    symlink(original, &scratch.new_path())?;
    fs::rename(scratch.new_path(), link)
}

#[cfg(unix)]
fn symlink(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// Removes a file; a missing file is not an error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes a folder if it is empty; returns whether it was removed.
pub fn remove_empty_folder(path: &Path) -> bool {
    fs::remove_dir(path).is_ok()
}

/// Returns the path of one of the [`SIDE_FILES`] of a database.
pub fn side_file(database: &Path, end: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns how many bytes the user may still write in a folder; `None` if that is not known.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    fs4::available_space(folder).ok()
}

/// Flushes the names in a folder to disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems refuse to flush a folder; a folder that may only be written to
        // cannot be opened.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        #[cfg(not(unix))]
        Err(_) => Ok(()),
        synced => synced,
    }
}

/// Follows the user's links to the file that a path refers to, which may be missing.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    /// More links than any system follows.
    const MAX_LINKS: u32 = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match path.read_link() {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Like [`destination`], and also follows the links to its folders; returns a path without links.
/// Fails if a link leads nowhere.
pub fn real_destination(path: &Path) -> io::Result<PathBuf> {
    let path = destination(path)?;
    let known = path.ancestors().find(|part| part.symlink_metadata().is_ok());
    let Some(known) = known else { return Ok(path) };
    let real = canonical(known)?;
    match path.strip_prefix(known) {
        Ok(rest) if rest.as_os_str().is_empty() => Ok(real),
        // `..` of a missing folder leads somewhere else once the folder is made.
        Ok(rest) if rest.components().all(|part| matches!(part, Component::Normal(_))) => {
            Ok(real.join(rest))
        }
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    }
}

fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Renames a file to a name that is not taken.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    // Creating a hard link fails on every system if the name is taken.
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has hard links.
        Err(_) if to.symlink_metadata().is_err() => fs::rename(from, to),
        Err(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
