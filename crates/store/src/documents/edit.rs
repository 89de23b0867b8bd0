//! Changes what the user may edit of a document, in one transaction.

use rusqlite::{Connection, named_params};

use crate::document::{Chunk, DocType, Embedding};
use crate::error::{Error, Result};
use crate::ids::DocumentId;

use super::replace::{check_embeddings, remove_chunks, same_document};
use super::stored::StoredDocument;
use super::{chunks, tags, write};
use crate::db::fault::Step;
use crate::db::{columns, erasing, sql};
use crate::{NewDocument, Store};

/// The changes to a document; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentEdit {
    /// The title, which is from then on one that the user gave.
    pub title: Option<String>,
    /// All tags.
    pub tags: Option<Vec<String>>,
    /// The day, as in `2026-05-17`; `Some(None)` is the day that the document or its file states.
    pub date: Option<Option<String>>,
}

/// The content that is stored instead of a document's text. The document's title is part of the
/// context of each chunk.
#[derive(Debug, Clone, Copy)]
pub struct NewContent<'a> {
    /// The document, whose tags are not used; `None` if only its chunks change.
    pub document: Option<&'a NewDocument>,
    /// Its chunks.
    pub chunks: &'a [Chunk],
    /// An embedding for each chunk.
    pub embeddings: &'a [Embedding],
}

/// Whether a document is as it was read.
const IS_AS_READ: &str = "
    SELECT EXISTS (
        SELECT 1
        FROM documents
        WHERE id = :id AND content_hash = :content_hash AND title = :title AND source_path IS :path
    )";

const SET_TITLE: &str = "UPDATE documents SET title = :title, title_given = 1 WHERE id = :id";

const SET_DATE: &str = "
    UPDATE documents
    SET metadata = iif(
        :date IS NULL, json_remove(metadata, '$.date'), json_set(metadata, '$.date', :date)
    )
    WHERE id = :id";

const UNLINK_OTHERS: &str = "
    DELETE FROM document_tags
    WHERE document_id = :id
        AND tag_id NOT IN (
            SELECT id FROM tags WHERE name IN (SELECT value FROM json_each(:names))
        )";

impl Store {
    /// Changes a document that was read as `before`, all in one transaction. Its id, its paths and
    /// its creation time stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`]; [`Error::Usage`] if the document has changed since it was read, or
    /// if a note gets the text of another one; as [`Store::replace`]. Nothing is changed in these
    /// cases.
    pub fn edit(
        &mut self,
        before: &StoredDocument,
        edit: &DocumentEdit,
        content: Option<NewContent<'_>>,
    ) -> Result<()> {
        let bound = self.bound.borrow().clone();
        let layout = self.layout_to_write()?;
        let id = before.id;
        self.write(|db| {
            tags::require_document(db, id)?;
            require_unchanged(db, before)?;
            // The old text, tags and title must not stay readable in the file.
            erasing::mark(db)?;
            if let Some(content) = content {
                let NewContent { document, chunks, embeddings } = content;
                check_embeddings(db, bound.as_ref(), chunks, embeddings)?;
                remove_chunks(db, id)?;
                if let Some(document) = document {
                    let other = same_document(db, document, None)?.filter(|other| *other != id);
                    if let Some(other) = other.filter(|_| before.doc_type == DocType::Note) {
                        let message = format!("document {other} already has this text");
                        return Err(Error::usage(message).into());
                    }
                    write::update(db, id, document, before.path.as_deref())?;
                }
                chunks::insert(db, id, chunks, embeddings, layout)?;
            }
            if let Some(title) = &edit.title {
                sql::run(db, SET_TITLE, named_params! { ":id": id, ":title": title })?;
            }
            if let Some(date) = &edit.date {
                set_date(db, id, date.as_deref())?;
            }
            if let Some(names) = &edit.tags {
                set_tags(db, id, names)?;
            }
            Ok(())
        })
    }
}

fn require_unchanged(db: &Connection, before: &StoredDocument) -> Step<()> {
    let params = named_params! {
        ":id": before.id,
        ":content_hash": before.content_hash,
        ":title": before.title,
        ":path": before.path,
    };
    if sql::value(db, IS_AS_READ, params)? {
        return Ok(());
    }
    let changed = Error::usage(format!("document {} has changed in the meantime", before.id));
    Err(changed.with_hint("edit it again").into())
}

/// Sets the day that the user gives a document; without one, the document or its file states it.
pub(super) fn set_date(db: &Connection, id: DocumentId, date: Option<&str>) -> Step<()> {
    sql::run(db, SET_DATE, named_params! { ":id": id, ":date": date })
}

fn set_tags(db: &Connection, id: DocumentId, names: &[String]) -> Step<()> {
    tags::link(db, id, names)?;
    let names = columns::to_json(names)?;
    sql::run(db, UNLINK_OTHERS, named_params! { ":id": id, ":names": names })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestDb, document};

    #[test]
    fn an_edit_changes_everything_at_once_and_a_new_reading_keeps_the_date() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["old words"], &["one", "two"]);
        let before = db.store.document(id).unwrap().unwrap();
        let edit = DocumentEdit {
            title: Some("Mine".into()),
            tags: Some(vec!["two".into(), "three".into()]),
            date: Some(Some("2001-02-03".into())),
        };
        db.store.edit(&before, &edit, None).unwrap();
        let after = db.store.document(id).unwrap().unwrap();
        assert_eq!((after.title.as_str(), after.is_title_given), ("Mine", true));
        assert_eq!(after.tags, ["three", "two"]);
        assert_eq!(after.date_given.as_deref(), Some("2001-02-03"));
        // Who edits what was read before the change must look again.
        assert!(matches!(db.store.edit(&before, &edit, None), Err(Error::Usage { .. })));
        db.put(&document("/a.md", &["new words"], &[]), &["new words"], &[]);
        let read_again = db.store.document(id).unwrap().unwrap();
        assert_eq!(read_again.date_given.as_deref(), Some("2001-02-03"));
        assert_eq!(read_again.title, "Mine");
        let stated = DocumentEdit { date: Some(None), ..DocumentEdit::default() };
        db.store.edit(&read_again, &stated, None).unwrap();
        assert_eq!(db.store.document(id).unwrap().unwrap().date_given, None);
        db.assert_intact();
    }
}
