//! Keeps room on the disk for a removal.
//!
//! A removal needs room, too: its changes are in the log before they are in the file. On a disk
//! that a write has filled, nothing could be removed any more.

use std::path::Path;

use rusqlite::Connection;

use super::fault::Step;
use crate::error::Error;
use crate::files::path::folder_of;
use crate::files::write::{free_bytes, side_file};

/// Free bytes that must stay besides the log. Measured with notes of 10 KB: removing one takes
/// 0.3 to 0.6 MB of log. SQLite empties the log at 4 MB, so that is how far one can grow while
/// several are removed.
const RESERVED_BYTES: u64 = 4 << 20;

/// Bytes that a document adds to the log per byte of its text: the text, the keyword indexes and the
/// vectors. Measured: 20 for a note of 8 KB, most of which any document takes.
const LOG_BYTES_PER_BYTE: u64 = 8;

/// Fails before a document with this much text is stored, if the disk would be too full for a
/// removal afterwards.
///
/// The log counts, since all that it has may be new pages of the file, and it is removed after they
/// are written there. Where the free bytes are not known, nothing is refused.
pub(crate) fn require(db: &Connection, text_bytes: usize) -> Step<()> {
    let Some(path) = db.path().filter(|path| !path.is_empty()).map(Path::new) else {
        return Ok(());
    };
    let log = side_file(path, "-wal").metadata().map_or(0, |log| log.len());
    let own = LOG_BYTES_PER_BYTE.saturating_mul(text_bytes as u64);
    let needed = RESERVED_BYTES.saturating_add(log).saturating_add(own);
    match free_bytes(folder_of(path)) {
        Some(free) if free < needed => Err(Error::DiskFull { path: path.to_owned() }.into()),
        _ => Ok(()),
    }
}
