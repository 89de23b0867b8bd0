//! Reports whether a database can only be read, and whether it has changed meanwhile.

use std::path::Path;

use crate::Store;
use crate::error::{Error, Result};
use crate::text::paths::canonical;

use super::access::{FileMark, OpenMode, is_changeable};

impl Store {
    /// Whether the database can only be read.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.access != OpenMode::Write
    }

    /// Whether there is a database that can only be read.
    #[must_use]
    pub fn is_read_only_at(path: &Path) -> bool {
        canonical(path).is_ok_and(|real| !is_changeable(&real))
    }

    /// Returns the state of a database that would be read without locks; `None` for any other.
    #[must_use]
    pub fn mark(path: &Path) -> Option<FileMark> {
        match OpenMode::of(path) {
            Ok(OpenMode::Frozen(mark)) if path.exists() => Some(mark),
            _ => None,
        }
    }

    /// Checks that a database that is read without locks has not changed since it was opened.
    ///
    /// # Errors
    ///
    /// [`Error::ChangedMeanwhile`].
    pub fn require_unchanged(&self) -> Result<()> {
        match self.access {
            OpenMode::Frozen(mark) if !mark.is_current(&self.path) => {
                Err(Error::ChangedMeanwhile { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }
}
