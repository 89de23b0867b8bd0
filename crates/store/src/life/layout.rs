//! Recognises, once per connection, the tables behind the indexes that kb reads directly.

use rusqlite::Connection;

use crate::Store;
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::db::schema::{LETTERS, OLDEST_READ, other_version, version};
use crate::error::{Error, Result};
use crate::keyword::layout::knows_fts5;
use crate::vectors::layout::{has_vector_table, knows_vec0};

impl DirectReadSupport {
    pub(crate) fn read(db: &Connection) -> Step<Self> {
        let (knows_fts5, knows_vec0) = (knows_fts5(db)?, knows_vec0(db)?);
        Ok(Self { knows_fts5, knows_vec0, has_letters: version(db)? >= LETTERS })
    }
}

impl Store {
    /// Returns the known layouts; detected once, on the first call.
    pub(crate) fn layout(&self, db: &Connection) -> Step<DirectReadSupport> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout);
        }
        let layout = DirectReadSupport::read(db)?;
        // Without a table of vectors the answer may change later, so it is not remembered.
        if has_vector_table(db)? {
            self.layout.set(Some(layout));
        }
        Ok(layout)
    }

    /// Whether the database has an older schema, and cannot be written to get the newest. It is searched by its own rules: without
    /// other forms of words, words near those of a query, and tags.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn is_of_older_schema(&self) -> Result<bool> {
        self.read(|db| Ok(!self.layout(db)?.has_letters))
    }

    /// Refuses what only a database of the newest schema has.
    pub(crate) fn require_newest_schema(&self) -> Result<()> {
        if self.is_of_older_schema()? {
            let reason = other_version(OLDEST_READ);
            return Err(Error::NeedsWriting { path: self.path.clone(), reason });
        }
        Ok(())
    }

    /// Returns the known layouts before a write.
    pub(crate) fn layout_to_write(&self) -> Result<DirectReadSupport> {
        self.layout(&self.connection).map_err(|fault| fault.at(&self.path))
    }

    /// Makes this store and its readers treat both layouts as unknown.
    #[cfg(test)]
    pub(crate) fn forget_layout(&self) {
        self.layout.set(Some(DirectReadSupport {
            knows_fts5: false,
            knows_vec0: false,
            has_letters: true,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Erasure;
    use crate::testing::TestDb;

    fn layout(db: &TestDb) -> (bool, bool) {
        let layout = DirectReadSupport::read(&db.store.connection).unwrap();
        (layout.knows_fts5, layout.knows_vec0)
    }

    #[test]
    fn the_layouts_of_this_version_are_known() {
        assert_eq!(layout(&TestDb::unbound()), (true, true));
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["one", "two"], &[]);
        db.store.remove(id).unwrap();
        assert_eq!(layout(&db), (true, true));
        assert_eq!(db.store.clean_leftovers().unwrap(), Erasure::Done);
        assert_eq!(layout(&db), (true, true));
    }

    #[test]
    fn other_versions_are_unknown() {
        for (change, expected) in [
            ("UPDATE chunks_fts_config SET v = 6 WHERE k = 'version'", (false, true)),
            (
                "UPDATE chunks_fts_data SET block = x'00000000ff00000100' WHERE id = 10",
                (false, true),
            ),
            (
                "UPDATE chunks_vec_info SET value = 'v0.2.0' WHERE key = 'CREATE_VERSION'",
                (true, false),
            ),
            ("DELETE FROM chunks_vec_info", (true, false)),
        ] {
            let mut db = TestDb::new();
            db.add("/a.md", &["one", "two"], &[]);
            db.damage(change);
            assert_eq!(layout(&db), expected, "{change}");
        }
    }
}
