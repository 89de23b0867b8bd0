//! Returns where paths lead.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the absolute path without links of an existing file or folder.
///
/// All of kb uses this instead of [`Path::canonicalize`], which on Windows begins each path with `\\?\`: such
/// a path is not equal to the same one as a user types it.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map(without_prefix)
}

#[cfg(unix)]
pub(super) fn without_prefix(path: PathBuf) -> PathBuf {
    path
}

/// Returns a path without the prefix `\\?\`. The standard library adds it again to a long path, which no system
/// call takes without it.
#[cfg(windows)]
pub(super) fn without_prefix(path: PathBuf) -> PathBuf {
    use std::ffi::OsString;
    use std::path::{Component, Prefix};
    let mut parts = path.components();
    let Some(Component::Prefix(prefix)) = parts.next() else { return path };
    let mut start = OsString::new();
    match prefix.kind() {
        Prefix::VerbatimDisk(letter) => start.push(format!("{}:", char::from(letter))),
        Prefix::VerbatimUNC(server, share) => {
            for part in [r"\\".as_ref(), server, r"\".as_ref(), share] {
                start.push(part);
            }
        }
        _ => return path,
    }
    let mut plain = PathBuf::from(start);
    plain.push(parts.as_path());
    plain
}

/// Returns a path that a user typed with the names as the file system has them: on Windows, letters of either case lead to
/// the same file. Links stay.
#[cfg(windows)]
pub fn with_stored_case(path: PathBuf) -> PathBuf {
    use std::path::Component;
    let Ok(real) = canonical(&path) else { return path };
    let mut names: Vec<Component<'_>> = path.components().collect();
    for (typed, stored) in names.iter_mut().rev().zip(real.components().rev()) {
        if typed.as_os_str().to_string_lossy().to_lowercase()
            != stored.as_os_str().to_string_lossy().to_lowercase()
        {
            // From here on, a link leads elsewhere.
            break;
        }
        *typed = stored;
    }
    names.iter().collect()
}

/// Returns the path: other systems have names as they are typed.
#[cfg(unix)]
pub fn with_stored_case(path: PathBuf) -> PathBuf {
    path
}

/// Returns a path without links; unchanged if it does not exist.
pub fn resolved(path: &Path) -> PathBuf {
    canonical(path).unwrap_or_else(|_| path.to_owned())
}
