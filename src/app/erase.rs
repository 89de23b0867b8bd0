//! Ends a use case that may have removed something.

use crate::app::Observer;
use crate::error::{Error, Result};
use crate::store::{Erasure, Store};

/// Clears what removals leave in the files and closes the database.
///
/// The request itself is done by now, so another process in the way is reported, not an error.
///
/// # Errors
///
/// What the store refuses.
pub fn finish(mut store: Store, observer: &dyn Observer) -> Result<()> {
    match store.finish_erasing() {
        Ok(Erasure::Done) => {}
        Ok(Erasure::WaitsForReader) => observer.note(
            "note: another process is reading the database; what was removed leaves the file `kb.db-wal` \
             when that process ends",
        ),
        Err(Error::Locked { .. }) => observer.note(
            "note: another process is writing to the database; what was removed leaves its files with the next \
             command that removes something, or with `kb doctor --fix`",
        ),
        Err(error) => return Err(error),
    }
    store.close()
}
