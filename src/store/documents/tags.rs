//! Reads and changes tags. Triggers remove a tag along with the last document that has it.

use rusqlite::{Connection, named_params};

use crate::document::DocumentId;
use crate::error::{Error, Result};

use super::rows;
use crate::store::Store;
use crate::store::db::erase;
use crate::store::db::fault::Step;

/// A tag and the number of its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCount {
    /// The tag.
    pub name: String,
    /// Number of documents that have it, at least one.
    pub count: u32,
}

const TAGS: &str = "
    SELECT tags.name, count(*) AS num_documents
    FROM tags
    JOIN document_tags ON document_tags.tag_id = tags.id
    GROUP BY tags.id
    ORDER BY tags.name";

const ADD_TAGS: &str = "INSERT OR IGNORE INTO tags (name) SELECT value FROM json_each(:names)";

const LINK_TAGS: &str = "
    INSERT OR IGNORE INTO document_tags (document_id, tag_id)
    SELECT :document_id, tags.id
    FROM tags
    WHERE tags.name IN (SELECT value FROM json_each(:names))";

const UNLINK_TAGS: &str = "
    DELETE FROM document_tags
    WHERE document_id = :document_id
        AND tag_id IN (
            SELECT id FROM tags WHERE name IN (SELECT value FROM json_each(:names))
        )";

const COPY_TAGS: &str = "
    INSERT OR IGNORE INTO document_tags (document_id, tag_id)
    SELECT :to, tag_id FROM document_tags WHERE document_id = :from";

const HAS_DOCUMENT: &str = "SELECT EXISTS (SELECT 1 FROM documents WHERE id = :id)";

impl Store {
    /// Returns all tags with their counts, in alphabetical order.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn tags(&self) -> Result<Vec<TagCount>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(TAGS)?;
            let tags = statement.query_map([], |row| {
                Ok(TagCount { name: row.get("name")?, count: row.get("num_documents")? })
            })?;
            Ok(tags.collect::<Result<_, _>>()?)
        })
    }

    /// Adds tags to a document and returns how many are new; existing tags stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`] and errors of the database.
    pub fn add_tags(&mut self, id: DocumentId, names: &[String]) -> Result<usize> {
        self.write(|db| {
            require_document(db, id)?;
            link(db, id, names)
        })
    }

    /// Adds tags to a document and removes others; tags it does not have are skipped.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`] and errors of the database; nothing is changed in these cases.
    pub fn change_tags(
        &mut self,
        id: DocumentId,
        added: &[String],
        removed: &[String],
    ) -> Result<()> {
        self.write(|db| {
            require_document(db, id)?;
            link(db, id, added)?;
            if removed.is_empty() {
                return Ok(());
            }
            erase::mark(db)?;
            let names = rows::to_json(removed)?;
            db.prepare_cached(UNLINK_TAGS)?
                .execute(named_params! { ":document_id": id, ":names": names })?;
            Ok(())
        })
    }
}

/// Adds these tags to a document and returns how many are new.
pub(in crate::store) fn link(db: &Connection, id: DocumentId, names: &[String]) -> Step<usize> {
    if names.is_empty() {
        return Ok(0);
    }
    let names = rows::to_json(names)?;
    db.prepare_cached(ADD_TAGS)?.execute(named_params! { ":names": names })?;
    let params = named_params! { ":document_id": id, ":names": names };
    Ok(db.prepare_cached(LINK_TAGS)?.execute(params)?)
}

/// Adds the tags of `from` to `to`.
pub(in crate::store) fn copy(db: &Connection, from: DocumentId, to: DocumentId) -> Step<()> {
    db.prepare_cached(COPY_TAGS)?.execute(named_params! { ":from": from, ":to": to })?;
    Ok(())
}

/// Fails with [`Error::UnknownDocument`] if there is no such document.
pub(in crate::store) fn require_document(db: &Connection, id: DocumentId) -> Step<()> {
    let exists: bool = db
        .prepare_cached(HAS_DOCUMENT)?
        .query_row(named_params! { ":id": id }, |row| row.get(0))?;
    if exists { Ok(()) } else { Err(Error::UnknownDocument { id: id.to_string() }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::TestDb;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[track_caller]
    fn check(db: &TestDb, expected: &[(&str, u32)]) {
        let tags = db.store.tags().unwrap();
        let found: Vec<_> = tags.iter().map(|tag| (tag.name.as_str(), tag.count)).collect();
        assert_eq!(found, expected);
        db.assert_intact();
    }

    #[test]
    fn tags_are_counted_in_alphabetical_order() {
        let mut db = TestDb::new();
        check(&db, &[]);
        db.add("/a.md", &["a"], &["vcs", "linux"]);
        db.add("/b.md", &["b"], &["linux", "linux"]);
        check(&db, &[("linux", 2), ("vcs", 1)]);
    }

    #[test]
    fn adding_twice_changes_nothing_and_unused_tags_disappear() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["a"], &["one"]);
        assert_eq!(db.store.add_tags(id, &names(&["two", "it's, \"odd\""])).unwrap(), 2);
        assert_eq!(db.store.add_tags(id, &names(&["two"])).unwrap(), 0);
        check(&db, &[("it's, \"odd\"", 1), ("one", 1), ("two", 1)]);
        db.store.change_tags(id, &[], &names(&["one", "never borne"])).unwrap();
        check(&db, &[("it's, \"odd\"", 1), ("two", 1)]);
        db.store.remove(id).unwrap();
        check(&db, &[]);
    }

    #[test]
    fn tags_of_an_unknown_document_are_an_error_and_leave_nothing() {
        let mut db = TestDb::new();
        for outcome in [
            db.store.add_tags(DocumentId(9), &names(&["one"])).map(drop),
            db.store.change_tags(DocumentId(9), &[], &names(&["one"])),
        ] {
            assert!(matches!(outcome, Err(Error::UnknownDocument { .. })));
        }
        check(&db, &[]);
    }
}
