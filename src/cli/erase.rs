//! Ends a command that may have removed something.

use crate::cli::voice;
use crate::error::{Error, Result};
use crate::store::{Erasure, Store};

/// Clears what removals leave in the files and closes the database.
///
/// What was asked for is done by now, so another process in the way is told, and no error.
pub(super) fn finish(mut store: Store) -> Result<()> {
    match store.finish_erasing() {
        Ok(Erasure::Done) => {}
        Ok(Erasure::WaitsForReader) => voice::say(
            "note: another process is reading the database; what was removed leaves the file `kb.db-wal` \
             when that process ends",
        ),
        Err(Error::Locked { .. }) => voice::say(
            "note: another process is writing to the database; what was removed leaves its files with the next \
             command that removes something, or with `kb doctor --fix`",
        ),
        Err(error) => return Err(error),
    }
    store.close()
}
