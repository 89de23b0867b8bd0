//! Finishes a use case that may have removed documents.

use crate::app::Observer;
use crate::error::{Error, Result};
use crate::store::{Erasure, Store};
use crate::wording::{kb, wording};

/// Clears the text of removed documents from the database files and closes the database.
///
/// The removal itself is complete by now, so a conflict with another process or a full disk is a note, not an error.
pub fn finish(mut store: Store, observer: &dyn Observer) -> Result<()> {
    match store.finish_erasing() {
        Ok(Erasure::Done) => {}
        Ok(Erasure::WaitsForReader) => observer.note(
            "another process is reading the database; the removed text stays in `kb.db-wal` \
             until that process ends",
        ),
        Err(Error::Locked { .. }) => observer.note(wording!(
            "another process is writing to the database; the removed text stays in its files until \
             the next command that removes documents, or `{}`",
            kb("doctor").flag("--fix")
        )),
        Err(Error::DiskFull { .. }) => observer.note(wording!(
            "the disk is full; the removed text stays in the files of the database until the next \
             command that removes documents, or `{}`",
            kb("doctor").flag("--fix")
        )),
        Err(error) => return Err(error),
    }
    store.close()
}
