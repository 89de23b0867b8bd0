//! Opens, examines and lists paths with Unix calls, so that no link can be put into the path in
//! between.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::kinds::{EntryKind, FolderEntry, SymlinkPolicy};

pub(super) type Flags = OFlags;
pub(super) type Handle = OwnedFd;

/// Non-blocking, so that a pipe without a writer does not block the caller; a terminal opened by
/// accident does not become the controlling one.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A folder whose entries are listed.
const LIST: OFlags = READ.union(OFlags::DIRECTORY);

/// A folder on the path to a file. The user may be allowed to enter it but not to list it.
#[cfg(target_os = "linux")]
const ENTER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const ENTER: OFlags = LIST;

pub(super) fn by(path: &Path, links: SymlinkPolicy<'_>, flags: OFlags) -> io::Result<OwnedFd> {
    match links {
        SymlinkPolicy::Follow => Ok(openat(CWD, path, flags, Mode::empty())?),
        SymlinkPolicy::RefuseBelow(root) => match path.strip_prefix(root) {
            Ok(below) if !below.as_os_str().is_empty() => open_below(root, below, flags),
            // The root itself may be a link; a path elsewhere gets the stricter interpretation.
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

/// Opens one component after the other, each relative to the previous one, so that no link can be
/// put into the path in between.
pub(super) fn step_by_step(root: OwnedFd, below: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut folder = root;
    let mut components = below.components().peekable();
    while let Some(component) = components.next() {
        let name = component.as_os_str();
        let is_last = components.peek().is_none();
        let wanted = if is_last { flags } else { ENTER };
        folder = match openat(&folder, name, wanted | OFlags::NOFOLLOW, Mode::empty()) {
            // For a link, Linux reports "not a directory" here, which would be misleading.
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
pub(super) fn look(path: &Path, links: SymlinkPolicy<'_>) -> io::Result<Metadata> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    File::from(by(path, links, flags)?).metadata()
}

/// Checks each component. A link put into the path in between is detected when the file is opened.
#[cfg(not(target_os = "linux"))]
pub(super) fn look(path: &Path, links: SymlinkPolicy<'_>) -> io::Result<Metadata> {
    let SymlinkPolicy::RefuseBelow(root) = links else { return path.metadata() };
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

pub(super) fn list(folder: &Path, links: SymlinkPolicy<'_>) -> io::Result<Vec<FolderEntry>> {
    let handle = match by(folder, links, LIST) {
        // `step_by_step` finds links on the way; this is the last component.
        Err(error)
            if error.kind() == io::ErrorKind::NotADirectory
                && links != SymlinkPolicy::Follow
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
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            // Some file systems do not report the kind.
            FileType::Unknown => match folder.join(name).symlink_metadata() {
                Ok(metadata) => EntryKind::of(&metadata),
                Err(_) => continue,
            },
            _ => EntryKind::Other,
        };
        entries.push(FolderEntry { name: name.to_owned(), kind });
    }
    Ok(entries)
}

/// Returns the numbers of the device and of the file on it.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|found| numbers(&found))
}

pub(super) fn identity_of(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|found| numbers(&found))
}

fn numbers(found: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// Whether an open file is provided by the kernel; reading such a file can wait forever.
#[cfg(target_os = "linux")]
pub(super) fn is_view_of_system(file: &File) -> bool {
    /// procfs, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2: `linux/magic.h`.
    const VIEWS: [u32; 7] =
        [0x0000_9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270];
    rustix::fs::fstatfs(file)
        .is_ok_and(|found| u32::try_from(found.f_type).is_ok_and(|magic| VIEWS.contains(&magic)))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_view_of_system(_: &File) -> bool {
    false
}

/// `O_NOFOLLOW` on a link fails with `ELOOP`; FreeBSD reports `EMLINK`, NetBSD `EFTYPE`.
pub(super) fn is_refused_link(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(Errno::LOOP.raw_os_error()) || code == Some(Errno::MLINK.raw_os_error())
}

pub(super) fn is_no_such_device(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}
