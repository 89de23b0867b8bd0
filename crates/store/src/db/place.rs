//! Remembers in which folder the database is, so that a later command notices that it was moved.

use rusqlite::{OptionalExtension, named_params};

use crate::Store;
use crate::error::Result;

const PLACE: &str = "SELECT value FROM config WHERE key = 'place'";

const SET_PLACE: &str = "
    INSERT INTO config (key, value)
    VALUES ('place', :place)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

impl Store {
    /// Returns the folder in which the database was when added folders were last compared with the
    /// disk; `None` if no folder was added, or by an older kb.
    pub fn place(&self) -> Result<Option<String>> {
        self.read(|db| Ok(db.query_row(PLACE, [], |row| row.get(0)).optional()?))
    }

    /// Remembers the folder in which the database is.
    pub fn set_place(&mut self, place: &str) -> Result<()> {
        self.write(|db| {
            db.execute(SET_PLACE, named_params! { ":place": place })?;
            Ok(())
        })
    }
}
