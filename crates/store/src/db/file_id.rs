//! Tells a database file from another one that was at the same path.

use std::path::Path;

/// Device and number of a file.
pub(crate) type FileId = (u64, u64);

/// Returns an identity that distinguishes files which were at the same path at different times;
/// `None` if it is unknown.
#[cfg(unix)]
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Returns `None`: these numbers are not available here.
#[cfg(not(unix))]
pub(crate) fn file_id(_: &Path) -> Option<FileId> {
    None
}
