//! Tags in, tags out. Triggers remove a tag with the last document that bears it.

use rusqlite::{Connection, named_params};

use crate::document::DocumentId;
use crate::error::{Error, Result};

use super::fault::Step;
use super::{Store, rows};

/// A tag and how many documents bear it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCount {
    /// The tag.
    pub name: String,
    /// Documents that bear it, at least one.
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
    /// Returns all tags with their counts, in order of the alphabet.
    ///
    /// # Errors
    ///
    /// What the database refuses.
    pub fn tags(&self) -> Result<Vec<TagCount>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(TAGS)?;
            let tags = statement.query_map([], |row| {
                Ok(TagCount { name: row.get("name")?, count: row.get("num_documents")? })
            })?;
            Ok(tags.collect::<Result<_, _>>()?)
        })
    }

    /// Adds tags to a document; those it bears already stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`] and what the database refuses.
    pub fn add_tags(&mut self, id: DocumentId, names: &[String]) -> Result<()> {
        self.write(|db| {
            require_document(db, id)?;
            link(db, id, names)
        })
    }

    /// Takes tags from a document; those it does not bear are passed over.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`] and what the database refuses.
    pub fn remove_tags(&mut self, id: DocumentId, names: &[String]) -> Result<()> {
        self.write(|db| {
            require_document(db, id)?;
            db.prepare_cached(UNLINK_TAGS)?
                .execute(named_params! { ":document_id": id, ":names": rows::to_json(names)? })?;
            Ok(())
        })
    }
}

/// Lets a document bear these tags beside its others.
pub(super) fn link(db: &Connection, id: DocumentId, names: &[String]) -> Step<()> {
    if names.is_empty() {
        return Ok(());
    }
    let names = rows::to_json(names)?;
    db.prepare_cached(ADD_TAGS)?.execute(named_params! { ":names": names })?;
    db.prepare_cached(LINK_TAGS)?.execute(named_params! { ":document_id": id, ":names": names })?;
    Ok(())
}

/// Lets `to` bear the tags of `from` too.
pub(super) fn copy(db: &Connection, from: DocumentId, to: DocumentId) -> Step<()> {
    db.prepare_cached(COPY_TAGS)?.execute(named_params! { ":from": from, ":to": to })?;
    Ok(())
}

/// Fails with [`Error::UnknownDocument`] where there is no such document.
pub(super) fn require_document(db: &Connection, id: DocumentId) -> Step<()> {
    let exists: bool = db
        .prepare_cached(HAS_DOCUMENT)?
        .query_row(named_params! { ":id": id }, |row| row.get(0))?;
    if exists { Ok(()) } else { Err(Error::UnknownDocument { id: id.to_string() }.into()) }
}
