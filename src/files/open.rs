//! Opens what a user, a database or a folder names, without trusting the name.
//!
//! A path that was a plain file yesterday may be a link to a private key, a pipe or a device today.
//! Everything is decided on the open file, never on an earlier look at the path.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Which symbolic links are followed on the way to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links<'a> {
    /// All: the user typed this path, or kb made it.
    Follow,
    /// None below this folder, in no component; the folder itself may be reached through links.
    RefuseBelow(&'a Path),
}

/// What a folder has in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name in the folder.
    pub name: OsString,
    /// What it is; of a link, not what it leads to.
    pub kind: Kind,
}

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a device, a socket.
    Other,
}

impl Kind {
    /// Returns what the system says of a file.
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

/// Opens a regular file for reading.
///
/// Never waits: a pipe, a device or a folder is an error, found after opening without blocking. What
/// looks like a file in `/proc` and `/sys` is a view of the running system, may wait for an event
/// for ever, and is refused, too.
///
/// # Errors
///
/// [`Error::LinkRefused`] for a link that is not followed, [`Error::PathNotFound`] where there is
/// nothing, [`Error::NotAFile`] for anything but a regular file, [`Error::Io`] otherwise.
pub fn open(path: &Path, links: Links<'_>) -> Result<File> {
    let file = File::from(by(path, links, system::READ)?);
    let metadata = file.metadata().map_err(|source| failure(path, source))?;
    if metadata.is_file() && !system::is_view_of_system(&file) {
        Ok(file)
    } else {
        Err(Error::NotAFile { path: path.to_owned() })
    }
}

/// Reads a regular file of at most `max_bytes`, also one that grows while it is read.
///
/// # Errors
///
/// As [`open`]; [`Error::OverLimit`] for a longer file.
pub fn read(path: &Path, links: Links<'_>, max_bytes: u64) -> Result<Vec<u8>> {
    read_open(open(path, links)?, path, max_bytes)
}

/// Reads the rest of an open file, which `path` names in errors; as [`read`].
///
/// # Errors
///
/// [`Error::OverLimit`] and [`Error::Io`].
pub fn read_open(file: File, path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let len = file.metadata().map_err(|source| failure(path, source))?.len();
    let over = || Error::OverLimit { path: path.to_owned(), limit_bytes: max_bytes };
    if len > max_bytes {
        return Err(over());
    }
    // The length is a guess about a file that may still change, so it only reserves memory.
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
    let mut limited = file.take(max_bytes.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(|source| failure(path, source))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max_bytes {
        return Err(over());
    }
    Ok(bytes)
}

/// Returns what is at a path without opening it, whatever it is.
///
/// # Errors
///
/// As [`open`], but for [`Error::NotAFile`].
pub fn look(path: &Path, links: Links<'_>) -> Result<Metadata> {
    let found = system::look(path, links).map_err(|source| failure(path, source))?;
    match found.is_symlink() {
        true => Err(Error::LinkRefused { path: path.to_owned() }),
        false => Ok(found),
    }
}

/// Returns what tells a file or folder from every other; `None` where the system does not say.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        path.metadata().ok().map(|found| (found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Returns the number of the user who owns a file; `None` where the system has none.
pub fn owner(found: &Metadata) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some(found.uid())
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        None
    }
}

/// Returns the path of what a path leads to, without links.
///
/// # Errors
///
/// [`Error::PathNotFound`] where it leads nowhere, [`Error::Io`] otherwise.
pub fn real(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|source| match source.kind() {
        // Links that lead to each other.
        _ if system::is_refused_link(&source) => Error::Io { path: path.to_owned(), source },
        _ => failure(path, source),
    })
}

/// Returns what is in a folder, in byte order of the names.
///
/// # Errors
///
/// As [`open`]; [`Error::PathNotFound`] for a file.
pub fn list(folder: &Path, links: Links<'_>) -> Result<Vec<Entry>> {
    let mut entries = system::list(folder, links).map_err(|source| failure(folder, source))?;
    entries.sort_unstable();
    Ok(entries)
}

/// Opens a path with the flags of [`system`].
fn by(path: &Path, links: Links<'_>, flags: system::Flags) -> Result<system::Handle> {
    system::by(path, links, flags).map_err(|source| failure(path, source))
}

/// Turns what the system said about a path into an error by its remedy.
fn failure(path: &Path, source: io::Error) -> Error {
    let path = PathBuf::from(path);
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::PathNotFound { path },
        _ if system::is_refused_link(&source) => Error::LinkRefused { path },
        // A socket cannot be opened at all.
        _ if system::is_no_such_device(&source) => Error::NotAFile { path },
        _ => Error::Io { path, source },
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Component, Path};

    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
    use rustix::io::Errno;

    use super::{Entry, Kind, Links};

    pub(super) type Flags = OFlags;
    pub(super) type Handle = OwnedFd;

    /// Non-blocking so that a pipe without a writer does not hold the caller; a terminal that is
    /// opened by accident does not become the controlling one.
    pub(super) const READ: OFlags =
        OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    /// A folder whose names are read.
    const LIST: OFlags = READ.union(OFlags::DIRECTORY);

    /// A folder on the way to a file, which the user may be allowed to enter, but not to read.
    #[cfg(target_os = "linux")]
    const ENTER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    const ENTER: OFlags = LIST;

    pub(super) fn by(path: &Path, links: Links<'_>, flags: OFlags) -> io::Result<OwnedFd> {
        match links {
            Links::Follow => Ok(openat(CWD, path, flags, Mode::empty())?),
            Links::RefuseBelow(root) => match path.strip_prefix(root) {
                Ok(below) if !below.as_os_str().is_empty() => open_below(root, below, flags),
                // The root itself may be a link; a path elsewhere gets the stricter reading.
                Ok(_) => Ok(openat(CWD, path, flags, Mode::empty())?),
                Err(_) => Ok(openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())?),
            },
        }
    }

    fn open_below(root: &Path, below: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        if below.components().any(|component| !matches!(component, Component::Normal(_))) {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let root = openat(CWD, root, ENTER, Mode::empty())?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(&root, below, flags, Mode::empty(), resolve) {
                // An old kernel, or a sandbox that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return Ok(opened?),
            }
        }
        step_by_step(root, below, flags)
    }

    /// Opens one component after the other, each relative to the one before, so that nothing can
    /// be put in the way in between.
    pub(super) fn step_by_step(root: OwnedFd, below: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let mut folder = root;
        let mut components = below.components().peekable();
        while let Some(component) = components.next() {
            let name = component.as_os_str();
            let is_last = components.peek().is_none();
            let wanted = if is_last { flags } else { ENTER };
            folder = match openat(&folder, name, wanted | OFlags::NOFOLLOW, Mode::empty()) {
                // Of a link, Linux says "not a directory" here, which is not what is wrong.
                Err(Errno::NOTDIR) if is_link(&folder, name) => return Err(Errno::LOOP.into()),
                opened => opened?,
            };
        }
        Ok(folder)
    }

    fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }

    #[cfg(target_os = "linux")]
    pub(super) fn look(path: &Path, links: Links<'_>) -> io::Result<Metadata> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        File::from(by(path, links, flags)?).metadata()
    }

    /// Looks at each component: what is put in the way in between is met when the file is opened.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn look(path: &Path, links: Links<'_>) -> io::Result<Metadata> {
        let Links::RefuseBelow(root) = links else { return path.metadata() };
        let Ok(below) = path.strip_prefix(root) else { return path.symlink_metadata() };
        let mut place = root.to_owned();
        for component in below.components() {
            place.push(component);
            if place.symlink_metadata()?.is_symlink() {
                return Err(Errno::LOOP.into());
            }
        }
        place.metadata()
    }

    pub(super) fn list(folder: &Path, links: Links<'_>) -> io::Result<Vec<Entry>> {
        let handle = match by(folder, links, LIST) {
            // The same as in `step_by_step`, for the last component.
            Err(error)
                if error.kind() == io::ErrorKind::NotADirectory
                    && links != Links::Follow
                    && folder.is_symlink() =>
            {
                return Err(Errno::LOOP.into());
            }
            opened => opened?,
        };
        let mut entries = Vec::new();
        for entry in Dir::new(handle)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Link,
                // Some file systems do not say.
                FileType::Unknown => match folder.join(name).symlink_metadata() {
                    Ok(metadata) => Kind::of(&metadata),
                    Err(_) => continue,
                },
                _ => Kind::Other,
            };
            entries.push(Entry { name: name.to_owned(), kind });
        }
        Ok(entries)
    }

    /// Whether an open file is made up by the kernel: such a file can wait for ever when it is read.
    #[cfg(target_os = "linux")]
    pub(super) fn is_view_of_system(file: &File) -> bool {
        /// procfs, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2: `linux/magic.h`.
        const VIEWS: [u32; 7] = [
            0x0000_9fa0,
            0x6265_6572,
            0x6462_6720,
            0x7472_6163,
            0x7363_6673,
            0x0027_e0eb,
            0x6367_7270,
        ];
        rustix::fs::fstatfs(file).is_ok_and(|found| {
            u32::try_from(found.f_type).is_ok_and(|magic| VIEWS.contains(&magic))
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_view_of_system(_: &File) -> bool {
        false
    }

    /// `O_NOFOLLOW` on a link fails with `ELOOP`; FreeBSD says `EMLINK`, NetBSD `EFTYPE`.
    pub(super) fn is_refused_link(error: &io::Error) -> bool {
        let code = error.raw_os_error();
        code == Some(Errno::LOOP.raw_os_error()) || code == Some(Errno::MLINK.raw_os_error())
    }

    pub(super) fn is_no_such_device(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{File, Metadata};
    use std::io;
    use std::path::Path;

    use super::{Entry, Kind, Links};

    pub(super) type Flags = ();
    pub(super) type Handle = File;
    pub(super) const READ: Flags = ();

    /// Looks at each component first: here a link can still be put in the way in between.
    pub(super) fn by(path: &Path, links: Links<'_>, (): Flags) -> io::Result<File> {
        look(path, links)?;
        File::open(path)
    }

    pub(super) fn look(path: &Path, links: Links<'_>) -> io::Result<Metadata> {
        let Links::RefuseBelow(root) = links else { return path.metadata() };
        let Ok(below) = path.strip_prefix(root) else {
            refuse_link(path)?;
            return path.metadata();
        };
        let mut place = root.to_owned();
        for component in below.components() {
            place.push(component);
            refuse_link(&place)?;
        }
        place.metadata()
    }

    pub(super) fn list(folder: &Path, links: Links<'_>) -> io::Result<Vec<Entry>> {
        look(folder, links)?;
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            Ok(Entry { name: entry.file_name(), kind: Kind::of(&entry.path().symlink_metadata()?) })
        };
        std::fs::read_dir(folder)?.map(entry).collect()
    }

    fn refuse_link(path: &Path) -> io::Result<()> {
        match path.symlink_metadata()?.is_symlink() {
            true => Err(io::Error::from(io::ErrorKind::FilesystemLoop)),
            false => Ok(()),
        }
    }

    pub(super) fn is_view_of_system(_: &File) -> bool {
        false
    }

    pub(super) fn is_refused_link(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::FilesystemLoop
    }

    pub(super) fn is_no_such_device(_: &io::Error) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
