//! Reads the id of a database, whichever it is.

use std::path::Path;

use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

use super::known_schema::inspect;
use crate::Store;
use crate::db::access::open_read_only;
use crate::db::config;
use crate::db::connection::open_connection;
use crate::db::fault::Step;
use crate::db::identity::ID;

impl Store {
    /// Returns the id of a database without changing anything in it; `None` if it has none, or if there
    /// is no database that kb can read.
    pub fn peek_id(path: &Path) -> Option<String> {
        peek(path).ok().flatten()
    }
}

fn peek(path: &Path) -> Step<Option<String>> {
    let is_writable = path.exists() && !Store::is_read_only_at(path);
    if !is_writable {
        let connection = open_read_only(path)?;
        inspect(&connection)?;
        return config::value(&connection, ID);
    }
    // A connection that can only read would leave its log and its shared memory next to the file.
    let connection = open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Until the file is known to be kb's, its log is not checkpointed on closing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if inspect(&connection)?.0 == 0 {
        return Ok(None);
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    config::value(&connection, ID)
}

#[cfg(test)]
mod tests {
    use crate::Store;

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
}
