//! Names what a folder has, and when a file last changed.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::left_out::LeftOut;
use crate::error::Result;
use crate::files::Metadata;

/// An entry of a folder.
pub(super) enum Seen {
    File(PathBuf, Metadata),
    LeftOut(LeftOut),
}

/// A file or what is left out, or why it cannot be used.
pub(super) type Item = Result<Seen>;

/// Returns the size in bytes and the time of the last change of a file.
pub fn stamp(metadata: &Metadata) -> (u64, i64) {
    (metadata.len(), mtime_ns(metadata))
}

/// Returns nanoseconds since 1970, negative before; 0 if the file system keeps no time.
pub(super) fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos())
            .map_or(i64::MIN, |nanoseconds| nanoseconds.saturating_neg()),
    }
}
