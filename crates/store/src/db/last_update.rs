//! Remembers when all added folders were last compared with the disk.

use rusqlite::Connection;

use crate::Store;
use crate::db::{fault::Step, sql};
use crate::error::Result;

/// When everything was last updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastUpdate {
    /// The time: RFC 3339, UTC.
    pub at: String,
    /// Complete days since then; 0 for a time in the future.
    pub num_days: u32,
}

const SET_LAST_UPDATE: &str = "
    INSERT INTO config (key, value)
    VALUES ('last_update', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// A time that SQLite cannot read counts as none.
const LAST_UPDATE: &str = "
    SELECT value, CAST(max(julianday('now') - julianday(value), 0) AS INTEGER) AS num_days
    FROM config
    WHERE key = 'last_update' AND julianday(value) IS NOT NULL";

impl Store {
    /// Remembers that all added folders have just been compared with the disk.
    pub fn set_last_update(&mut self) -> Result<()> {
        self.write(|db| sql::run(db, SET_LAST_UPDATE, []))
    }

    /// Returns when all added folders were last compared with the disk; `None` if that was never
    /// done, or by an older kb.
    pub fn last_update(&self) -> Result<Option<LastUpdate>> {
        self.read(read)
    }
}

pub(crate) fn read(db: &Connection) -> Step<Option<LastUpdate>> {
    sql::first_row(db, LAST_UPDATE, [], |row| {
        let num_days: i64 = row.get("num_days")?;
        let num_days = u32::try_from(num_days).unwrap_or(u32::MAX);
        Ok(LastUpdate { at: row.get("value")?, num_days })
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::TestDb;

    #[test]
    fn the_last_update_is_remembered_with_its_age() {
        let mut db = TestDb::new();
        assert_eq!(db.store.last_update().unwrap(), None);
        db.store.set_last_update().unwrap();
        assert_eq!(db.store.last_update().unwrap().unwrap().num_days, 0);
        for (value, expected) in [
            ("strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-42 days', '-1 hour')", Some(42)),
            ("strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+3 days')", Some(0)),
            ("'long ago'", None),
        ] {
            let sql = format!("UPDATE config SET value = {value} WHERE key = 'last_update'");
            db.store.connection.execute(&sql, []).unwrap();
            let found = db.store.last_update().unwrap();
            assert_eq!(found.map(|update| update.num_days), expected, "{value}");
        }
        db.store.set_last_update().unwrap();
        assert_eq!(db.store.last_update().unwrap().unwrap().num_days, 0);
        db.assert_intact();
    }
}
