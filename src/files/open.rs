//! Opens what a user, a database or a folder names, without trusting the name.
//!
//! A path that was a plain file yesterday may be a link to a private key, a pipe or a device today.
//! Everything is decided on the open file, never on an earlier look at the path.

use std::fs::File;
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

/// Opens a regular file for reading.
///
/// Never waits: a pipe, a device or a folder is an error, found after opening without blocking.
///
/// # Errors
///
/// [`Error::LinkRefused`] for a link that is not followed, [`Error::PathNotFound`] where there is
/// nothing, [`Error::NotAFile`] for anything but a regular file, [`Error::Io`] otherwise.
pub fn open(path: &Path, links: Links<'_>) -> Result<File> {
    let opened = match links {
        Links::Follow => system::open(path),
        Links::RefuseBelow(root) => match path.strip_prefix(root) {
            Ok(below) if !below.as_os_str().is_empty() => system::open_below(root, below),
            // The root itself may be a link; a path elsewhere gets the stricter reading.
            Ok(_) => system::open(path),
            Err(_) => system::open_last(path),
        },
    };
    let file = opened.map_err(|source| failure(path, source))?;
    let metadata = file.metadata().map_err(|source| failure(path, source))?;
    if metadata.is_file() { Ok(file) } else { Err(Error::NotAFile { path: path.to_owned() }) }
}

/// Reads a regular file of at most `max_bytes`, also one that grows while it is read.
///
/// # Errors
///
/// As [`open`]; [`Error::OverLimit`] for a longer file.
pub fn read(path: &Path, links: Links<'_>, max_bytes: u64) -> Result<Vec<u8>> {
    let file = open(path, links)?;
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
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::{Component, Path};

    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;

    /// Non-blocking so that a pipe without a writer does not hold the caller; a terminal that is
    /// opened by accident does not become the controlling one.
    const READ: OFlags =
        OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    /// A folder on the way to a file.
    const FOLDER: OFlags =
        OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

    pub(super) fn open(path: &Path) -> io::Result<File> {
        Ok(File::from(openat(CWD, path, READ, Mode::empty())?))
    }

    /// Follows links on the way, but not one in the last component.
    pub(super) fn open_last(path: &Path) -> io::Result<File> {
        Ok(File::from(openat(CWD, path, READ | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Opens one component after the other, each relative to the one before, so that nothing can
    /// be put in the way in between.
    pub(super) fn open_below(root: &Path, below: &Path) -> io::Result<File> {
        let mut folder: OwnedFd = openat(CWD, root, FOLDER, Mode::empty())?;
        let mut components = below.components().peekable();
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            };
            if components.peek().is_none() {
                let file = openat(&folder, name, READ | OFlags::NOFOLLOW, Mode::empty())?;
                return Ok(File::from(file));
            }
            let next = openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
            folder = match next {
                // Linux says "not a directory" of a link here, which is not what is wrong.
                Err(Errno::NOTDIR) if is_link(&folder, name) => return Err(Errno::LOOP.into()),
                opened => opened?,
            };
        }
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }

    fn is_link(folder: &OwnedFd, name: &std::ffi::OsStr) -> bool {
        use rustix::fs::{AtFlags, FileType, statat};
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
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
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub(super) fn open_last(path: &Path) -> io::Result<File> {
        refuse_link(path)?;
        File::open(path)
    }

    /// Looks at each component first: here a link can still be put in the way in between.
    pub(super) fn open_below(root: &Path, below: &Path) -> io::Result<File> {
        let mut path = root.to_owned();
        for component in below.components() {
            path.push(component);
            refuse_link(&path)?;
        }
        File::open(path)
    }

    fn refuse_link(path: &Path) -> io::Result<()> {
        match path.symlink_metadata()?.is_symlink() {
            true => Err(io::Error::from(io::ErrorKind::FilesystemLoop)),
            false => Ok(()),
        }
    }

    pub(super) fn is_refused_link(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::FilesystemLoop
    }

    pub(super) fn is_no_such_device(_: &io::Error) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder `real` with files, and links into it and out of it.
    fn world() -> tempfile::TempDir {
        let world = tempfile::tempdir().unwrap();
        let at = |name: &str| world.path().join(name);
        fs::create_dir_all(at("real/sub")).unwrap();
        fs::create_dir(at("secret")).unwrap();
        fs::write(at("real/a.md"), "a").unwrap();
        fs::write(at("real/sub/b.md"), "b").unwrap();
        fs::write(at("secret/key"), "key").unwrap();
        symlink("real", at("entrance")).unwrap();
        symlink("../secret/key", at("real/key.md")).unwrap();
        symlink("../secret", at("real/folder")).unwrap();
        symlink("nowhere", at("real/dangling.md")).unwrap();
        world
    }

    #[track_caller]
    fn check(path: &str, root: Option<&str>, expected: &str) {
        let world = world();
        let root = root.map(|root| world.path().join(root));
        let links = root.as_deref().map_or(Links::Follow, Links::RefuseBelow);
        let found = match read(&world.path().join(path), links, 100) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn plain_files_are_read_and_the_root_may_be_a_link() {
        check("real/a.md", Some("real"), "a");
        check("real/sub/b.md", Some("real"), "b");
        check("entrance/sub/b.md", Some("entrance"), "b");
        check("entrance/a.md", Some("entrance/a.md"), "a");
    }

    #[test]
    fn no_link_below_the_root_is_followed_in_any_component() {
        for path in ["real/key.md", "real/folder/key", "real/dangling.md"] {
            check(path, Some("real"), "link_refused");
        }
        check("real/key.md", Some("elsewhere"), "link_refused");
        check("real/../secret/key", Some("real"), "io");
    }

    #[test]
    fn links_are_followed_where_that_is_allowed() {
        check("real/key.md", None, "key");
        check("real/folder/key", None, "key");
    }

    #[test]
    fn only_regular_files_are_opened_and_nothing_blocks() {
        let world = world();
        let pipe = world.path().join("real/pipe.md");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let _socket =
            std::os::unix::net::UnixListener::bind(world.path().join("real/socket")).unwrap();
        for path in [pipe.as_path(), &world.path().join("real/socket"), Path::new("/dev/zero")] {
            let error = read(path, Links::Follow, 10).unwrap_err();
            assert!(matches!(error, Error::NotAFile { .. }), "{error}");
        }
        assert!(matches!(
            open(&world.path().join("real"), Links::Follow),
            Err(Error::NotAFile { .. })
        ));
        check("real/none.md", Some("real"), "path_not_found");
    }

    #[test]
    fn a_file_over_the_limit_is_refused() {
        let world = world();
        let path = world.path().join("real/a.md");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, Links::Follow, 5).unwrap(), b"12345");
        let error = read(&path, Links::Follow, 4).unwrap_err();
        assert!(matches!(error, Error::OverLimit { limit_bytes: 4, .. }), "{error}");
    }
}
