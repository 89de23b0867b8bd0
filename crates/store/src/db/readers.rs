//! Keeps idle read connections for later rankings.

use crate::Store;
use crate::error::Result;
use crate::files::open::identity;

impl Store {
    /// Returns an idle reader ([`Store::return_reader`]), or opens a new one. An idle reader may belong to an earlier
    /// request, and have readers of its own, so it takes over all that this store knows of the present one.
    pub fn take_reader(&self) -> Result<Self> {
        let Some(mut reader) = self.idle.borrow_mut().pop() else { return self.reader() };
        reader.bound.get_mut().clone_from(&self.bound.borrow());
        reader.be_ended_by(self.ended_by.clone())?;
        reader.seen.doubt();
        Ok(reader)
    }

    /// Keeps a reader for later: its prepared statements and its mapping of the file need not be
    /// rebuilt.
    pub fn return_reader(&self, reader: Self) {
        self.idle.borrow_mut().push(reader);
    }

    /// Whether a store opened now would have the same file and the same model.
    #[must_use]
    pub fn is_current(&self) -> bool {
        // A newer kb may have migrated the file since, or another program changed it.
        self.seen.doubt();
        self.file.is_some()
            && identity(&self.path) == self.file
            && self.require_unchanged().is_ok()
            && self
                .read(|db| self.check_bound(db))
                .is_ok_and(|binding| binding == *self.bound.borrow())
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use crate::error::Error;
    use crate::testing::TestDb;

    #[test]
    fn an_interrupted_read_ends_its_transaction() {
        let db = TestDb::new();
        let failed: Result<(), Error> =
            db.store.read(|_| Err(Error::UnknownDocument { id: "1".into() }.into()));
        assert!(failed.is_err() && db.store.connection.is_autocommit());
        let panics = || db.store.read(|_| -> crate::db::fault::Step<()> { panic!("on purpose") });
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(db.store.connection.is_autocommit());
        assert_eq!(db.store.num_documents().unwrap(), 0);
    }
}
