//! Reads and sets what tells one database from another: a random id, a description by its user, and the folder it
//! is in, by which a later command notices that it was moved.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{OpenFlags, named_params};

use super::{config, schema, sql};
use crate::Store;
use crate::error::Result;

use super::access::open_read_only;
use super::connection::open_connection;
use super::fault::Step;

const SET_ONCE: &str = "INSERT OR IGNORE INTO config (key, value) VALUES (:key, :value)";

const RANDOM: &str = "SELECT lower(hex(randomblob(16)))";

const COUNT: &str = "SELECT count(*) FROM documents";

const ID: &str = "base_id";
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
    pub fn place(&self) -> Result<Option<String>> {
        self.read(|db| config::value(db, PLACE))
    }

    /// Remembers the folder in which the database is.
    pub fn set_place(&mut self, place: &str) -> Result<()> {
        self.write(|db| config::set(db, PLACE, place))
    }

    /// Returns the id of a database without changing anything in it; `None` if it has none, or if there
    /// is no database that kb can read.
    pub fn peek_id(path: &Path) -> Option<String> {
        peek(path).ok().flatten()
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

fn peek(path: &Path) -> Step<Option<String>> {
    let is_writable = path.exists() && !Store::is_read_only_at(path);
    if !is_writable {
        return config::value(&open_read_only(path)?, ID);
    }
    // A connection that can only read would leave its log and its shared memory next to the file.
    let connection = open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Until the file is known to be kb's, its log is not checkpointed on closing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if schema::version(&connection)? == 0 {
        return Ok(None);
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    config::value(&connection, ID)
}

#[cfg(test)]
mod tests {
    use crate::Store;
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
    fn an_id_is_read_without_leaving_a_trace() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kb.db");
        assert_eq!(Store::peek_id(&path), None);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(Store::peek_id(&path), None);
        store.keep_base_id("1").unwrap();
        assert_eq!(Store::peek_id(&path).as_deref(), Some("1"));
        store.close().unwrap();
        let before = std::fs::read(&path).unwrap();
        assert_eq!(Store::peek_id(&path).as_deref(), Some("1"));
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
        for bytes in [&b""[..], b"no database at all"] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(Store::peek_id(&path), None);
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
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
