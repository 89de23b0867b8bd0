//! Reads and changes tags. Triggers remove a tag along with the last document that has it.

use rusqlite::{Connection, named_params};
use schemars::JsonSchema;
use serde::Serialize;

use crate::db::{columns, erasing, sql};
use crate::error::{Error, Result};
use crate::ids::DocumentId;

use crate::Store;
use crate::db::fault::Step;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Tag")]
pub struct TagCount {
    /// The tag.
    pub name: String,
    /// Number of documents that have it, at least one.
    pub count: u32,
}

/// The result of renaming a tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenamedTag {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
    /// Documents that had the tag.
    #[serde(rename = "documents")]
    pub num_documents: u32,
    /// Whether a tag with the new name existed, so that the two were merged.
    #[serde(rename = "merged")]
    pub is_merged: bool,
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

const TAG_ID: &str = "SELECT id FROM tags WHERE name = :name";

const RENAME_TAG: &str = "UPDATE tags SET name = :to WHERE name = :from";

/// The documents that have one tag get another one.
const MERGE_TAG: &str = "
    INSERT OR IGNORE INTO document_tags (document_id, tag_id)
    SELECT document_id, :to FROM document_tags WHERE tag_id = :from";

const UNLINK_TAG: &str = "DELETE FROM document_tags WHERE tag_id = :id";

const NUM_TAGGED: &str = "SELECT count(*) FROM document_tags WHERE tag_id = :id";

/// The tags that added folders give to new files.
const RENAME_IN_ROOTS: &str = "
    UPDATE roots
    SET tags = (
        SELECT json_group_array(name ORDER BY name)
        FROM (SELECT DISTINCT iif(value = :from, :to, value) AS name FROM json_each(roots.tags))
    )
    WHERE EXISTS (SELECT 1 FROM json_each(roots.tags) WHERE value = :from)";

const HAS_DOCUMENT: &str = "SELECT EXISTS (SELECT 1 FROM documents WHERE id = :id)";

impl Store {
    /// Returns all tags with their counts, in alphabetical order.
    pub fn tags(&self) -> Result<Vec<TagCount>> {
        self.read(|db| {
            sql::rows(db, TAGS, [], |row| {
                Ok(TagCount { name: row.get("name")?, count: row.get("num_documents")? })
            })
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

    /// Adds tags to documents and removes others, all in one transaction; tags that a document does
    /// not have are skipped. Returns the documents whose tags changed.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`] and errors of the database; nothing is changed in these cases.
    pub fn change_tags(
        &mut self,
        ids: &[DocumentId],
        added: &[String],
        removed: &[String],
    ) -> Result<Vec<DocumentId>> {
        self.write(|db| {
            let names = columns::to_json(removed)?;
            let mut changed = Vec::new();
            for &id in ids {
                require_document(db, id)?;
                let mut num_changes = link(db, id, added)?;
                if !removed.is_empty() {
                    erasing::mark(db)?;
                    num_changes += db
                        .prepare_cached(UNLINK_TAGS)?
                        .execute(named_params! { ":document_id": id, ":names": names })?;
                }
                if num_changes > 0 {
                    changed.push(id);
                }
            }
            Ok(changed)
        })
    }

    /// Renames a tag, also among the tags that folders give to new files. If the new name is in use,
    /// the documents of both tags have it afterwards. Returns `None` if nothing has the tag.
    pub fn rename_tag(&mut self, from: &str, to: &str) -> Result<Option<RenamedTag>> {
        self.write(|db| {
            let names = named_params! { ":from": from, ":to": to };
            let is_in_roots = db.prepare_cached(RENAME_IN_ROOTS)?.execute(names)? > 0;
            let is_merged = tag_id(db, to)?.is_some();
            let mut num_documents = 0;
            if let Some(old) = tag_id(db, from)? {
                let old_id = named_params! { ":id": old };
                num_documents = sql::value(db, NUM_TAGGED, old_id)?;
                match tag_id(db, to)? {
                    None => sql::run(db, RENAME_TAG, names)?,
                    Some(new) => {
                        sql::run(db, MERGE_TAG, named_params! { ":from": old, ":to": new })?;
                        sql::run(db, UNLINK_TAG, old_id)?;
                    }
                }
            } else if !is_in_roots {
                return Ok(None);
            }
            erasing::mark(db)?;
            let (from, to) = (from.to_owned(), to.to_owned());
            Ok(Some(RenamedTag { from, to, num_documents, is_merged }))
        })
    }
}

fn tag_id(db: &Connection, name: &str) -> Step<Option<i64>> {
    let params = named_params! { ":name": name };
    sql::first_row(db, TAG_ID, params, |row| row.get(0))
}

/// Adds these tags to a document and returns how many are new.
pub(crate) fn link(db: &Connection, id: DocumentId, names: &[String]) -> Step<usize> {
    if names.is_empty() {
        return Ok(0);
    }
    let names = columns::to_json(names)?;
    sql::run(db, ADD_TAGS, named_params! { ":names": names })?;
    let params = named_params! { ":document_id": id, ":names": names };
    Ok(db.prepare_cached(LINK_TAGS)?.execute(params)?)
}

pub(crate) fn copy(db: &Connection, from: DocumentId, to: DocumentId) -> Step<()> {
    sql::run(db, COPY_TAGS, named_params! { ":from": from, ":to": to })
}

pub(crate) fn require_document(db: &Connection, id: DocumentId) -> Step<()> {
    if exists(db, id)? { Ok(()) } else { Err(Error::UnknownDocument { id: id.to_string() }.into()) }
}

pub(crate) fn exists(db: &Connection, id: DocumentId) -> Step<bool> {
    sql::value(db, HAS_DOCUMENT, named_params! { ":id": id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDb;

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
        let removed = names(&["one", "never borne"]);
        assert_eq!(db.store.change_tags(&[id], &[], &removed).unwrap(), [id]);
        assert_eq!(db.store.change_tags(&[id], &[], &removed).unwrap(), []);
        check(&db, &[("it's, \"odd\"", 1), ("two", 1)]);
        db.store.remove(id).unwrap();
        check(&db, &[]);
    }

    #[test]
    fn tags_of_an_unknown_document_are_an_error_and_leave_nothing() {
        let mut db = TestDb::new();
        let known = db.add("/a.md", &["a"], &[]);
        for outcome in [
            db.store.add_tags(DocumentId(9), &names(&["one"])).map(drop),
            db.store.change_tags(&[known, DocumentId(9)], &names(&["one"]), &[]).map(drop),
        ] {
            assert!(matches!(outcome, Err(Error::UnknownDocument { .. })));
        }
        check(&db, &[]);
    }

    #[test]
    fn a_renamed_tag_keeps_its_documents_and_merges_with_one_of_that_name() {
        let mut db = TestDb::new();
        db.add("/a.md", &["a"], &["old", "both"]);
        db.add("/b.md", &["b"], &["old", "new"]);
        db.add("/c.md", &["c"], &["new"]);
        let result = |from: &str, to: &str, num_documents, is_merged| {
            let (from, to) = (from.to_owned(), to.to_owned());
            RenamedTag { from, to, num_documents, is_merged }
        };
        let renamed = db.store.rename_tag("both", "either").unwrap().unwrap();
        assert_eq!(renamed, result("both", "either", 1, false));
        let renamed = db.store.rename_tag("old", "new").unwrap().unwrap();
        assert_eq!(renamed, result("old", "new", 2, true));
        check(&db, &[("either", 1), ("new", 3)]);
        assert_eq!(db.store.rename_tag("old", "new").unwrap(), None);
    }
}
