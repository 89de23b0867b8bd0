//! Connections that one question leaves for the next.

use std::path::Path;

use crate::error::Result;
use crate::store::Store;

impl Store {
    /// Returns a reader that was given back ([`Store::give_back`]), or opens one.
    ///
    /// # Errors
    ///
    /// As [`Store::reader`].
    pub fn lend_reader(&self) -> Result<Self> {
        let Some(mut reader) = self.idle.borrow_mut().pop() else { return self.reader() };
        reader.bound.get_mut().clone_from(&self.bound.borrow());
        Ok(reader)
    }

    /// Keeps a reader for the next question: what it has prepared, and mapped of the file, need not
    /// be made again.
    pub fn give_back(&self, reader: Self) {
        self.idle.borrow_mut().push(reader);
    }

    /// Whether a store opened now would be of the same file and bound to the same model.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.file.is_some()
            && file_id(&self.path) == self.file
            && self.read(|db| self.check_bound(db)).is_ok_and(|it| it == *self.bound.borrow())
    }
}

/// Device and number of a file.
pub(in crate::store) type FileId = (u64, u64);

/// Tells files apart that were at one path one after the other; `None` where that is not known.
#[cfg(unix)]
pub(in crate::store) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Tells nothing: the numbers are not to be had here.
#[cfg(not(unix))]
pub(in crate::store) fn file_id(_: &Path) -> Option<FileId> {
    None
}
