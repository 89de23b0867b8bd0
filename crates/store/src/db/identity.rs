//! Reads and sets what tells one database from another: a random id, a description by its user, and the folder it
//! is in, by which a later command notices that it was moved.

use std::path::Path;

use rusqlite::named_params;

use super::{config, sql};
use crate::Store;
use crate::error::Result;

const SET_ONCE: &str = "INSERT OR IGNORE INTO config (key, value) VALUES (:key, :value)";

const RANDOM: &str = "SELECT lower(hex(randomblob(16)))";

const COUNT: &str = "SELECT count(*) FROM documents";

pub(crate) const ID: &str = "base_id";
const DESCRIPTION: &str = "base_description";
const PLACE: &str = "place";

impl Store {
    /// Returns the random id; `None` if none was given, as in databases of older versions.
    pub fn base_id(&self) -> Result<Option<String>> {
        self.read(|db| config::value(db, ID))
    }

    /// Returns 128 random bits in hexadecimal digits.
    pub fn random_id(&self) -> Result<String> {
        self.read(|db| sql::value(db, RANDOM, []))
    }

    /// Gives the database an id unless it has one, and returns the one that it has.
    pub fn keep_base_id(&mut self, id: &str) -> Result<String> {
        self.write(|db| {
            db.execute(SET_ONCE, named_params! { ":key": ID, ":value": id })?;
            Ok(config::value(db, ID)?.unwrap_or_default())
        })
    }

    /// Returns what the user said that the database holds.
    pub fn description(&self) -> Result<Option<String>> {
        self.read(|db| config::value(db, DESCRIPTION))
    }

    /// Replaces the description; an empty one removes it.
    pub fn describe(&mut self, description: &str) -> Result<()> {
        self.write(|db| match description {
            "" => config::remove(db, DESCRIPTION),
            text => config::set(db, DESCRIPTION, text),
        })
    }

    /// Returns the folder in which the database was when added folders were last compared with the
    /// disk; `None` if no folder was added, or by an older kb.
    pub fn last_folder(&self) -> Result<Option<String>> {
        self.read(|db| config::value(db, PLACE))
    }

    /// Remembers the folder in which the database is.
    pub fn set_last_folder(&mut self, folder: &str) -> Result<()> {
        self.write(|db| config::set(db, PLACE, folder))
    }

    /// Returns the number of documents.
    pub fn num_documents(&self) -> Result<u64> {
        self.read(|db| Ok(sql::value::<i64>(db, COUNT, [])?.unsigned_abs()))
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::TestDb;

    #[test]
    fn an_id_is_given_once() {
        let mut db = TestDb::new();
        assert_eq!(db.store.base_id().unwrap(), None);
        let id = db.store.random_id().unwrap();
        assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(id, db.store.random_id().unwrap());
        assert_eq!(db.store.keep_base_id(&id).unwrap(), id);
        assert_eq!(db.store.keep_base_id("other").unwrap(), id);
        assert_eq!(db.store.base_id().unwrap(), Some(id));
    }

    #[test]
    fn an_empty_description_removes_it() {
        let mut db = TestDb::new();
        db.store.describe("Letters of 1998").unwrap();
        assert_eq!(db.store.description().unwrap().as_deref(), Some("Letters of 1998"));
        db.store.describe("").unwrap();
        assert_eq!(db.store.description().unwrap(), None);
    }
}
