//! Reports what this process may write, without writing.

use std::path::Path;

/// Whether this process may write a file, or create and remove files in a folder. On a file system
/// that is mounted read-only, not even the administrator may.
#[cfg(unix)]
pub fn is_writable(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let wanted = if path.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK };
    // `EACCESS` asks for the rights that decide on opening, not for those of the user who started a program
    // with other rights.
    accessat(CWD, path, wanted, AtFlags::EACCESS).is_ok()
}

/// Whether a file is not marked as read-only. On Windows, only an attempt shows whether anything else is writable.
#[cfg(windows)]
pub fn is_writable(path: &Path) -> bool {
    // On a folder, the mark means something else.
    !path.metadata().is_ok_and(|found| found.is_file() && found.permissions().readonly())
}

/// Whether this process may read a file.
#[cfg(unix)]
pub fn is_readable(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    accessat(CWD, path, Access::READ_OK, AtFlags::EACCESS).is_ok()
}

/// Whether there is a file; whether it may be read is not known on this system before it is tried.
#[cfg(not(unix))]
pub fn is_readable(path: &Path) -> bool {
    path.exists()
}

/// Whether a path is on a file system that is mounted read-only.
#[cfg(unix)]
pub fn is_mounted_read_only(path: &Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(path).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Returns `false`: this is not known on this system.
#[cfg(not(unix))]
pub fn is_mounted_read_only(_: &Path) -> bool {
    false
}
