//! One document in, one transaction: added, or put in the place of what was at its path.

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::document::{Chunk, DocumentId, Format, Metadata};
use crate::error::{Error, Result};

use super::fault::Step;
use super::paths::{KnownPath, PathStamp};
use super::{Store, chunks, paths, rows, tags, vectors};

/// A document that has been read, to be stored with its chunks and vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// Its file; `None` for a note given as text.
    pub stamp: Option<PathStamp>,
    /// Its title; never empty.
    pub title: String,
    /// Whether the user gave the title. Such a title stays until the user gives another.
    pub is_title_given: bool,
    /// SHA-256 of the file's bytes, lower-case hex.
    pub content_hash: String,
    /// How the bytes were read; type and language follow from it.
    pub format: Format,
    /// Tags to bear beside those it has already.
    pub tags: Vec<String>,
    /// What it says about itself.
    pub metadata: Metadata,
}

/// What became of a document that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added(DocumentId),
    /// It took the place of what was at its path; the id is the old one.
    Updated(DocumentId),
    /// The same bytes, read the same way, are stored already, by another process perhaps; path and
    /// tags were added to them.
    Unchanged(DocumentId),
}

impl Change {
    /// Returns the document's key.
    pub fn document_id(self) -> DocumentId {
        match self {
            Self::Added(id) | Self::Updated(id) | Self::Unchanged(id) => id,
        }
    }
}

const SOURCE_PATH: &str = "SELECT source_path FROM documents WHERE id = :id";

const SAME_DOCUMENT: &str = "
    SELECT id
    FROM documents
    WHERE content_hash = :content_hash AND doc_type = :doc_type AND language IS :language
    ORDER BY id IS :known_id DESC, id
    LIMIT 1";

const INSERT_DOCUMENT: &str = "
    INSERT INTO documents
        (title, title_given, source_path, content_hash, doc_type, language, metadata)
    VALUES
        (:title, :title_given, :path, :content_hash, :doc_type, :language, :metadata)
    RETURNING id";

const UPDATE_DOCUMENT: &str = "
    UPDATE documents
    SET
        title = :title,
        title_given = :title_given,
        source_path = :path,
        content_hash = :content_hash,
        doc_type = :doc_type,
        language = :language,
        metadata = :metadata,
        updated_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')
    WHERE id = :id";

const COPY_DOCUMENT: &str = "
    INSERT INTO documents
        (title, title_given, source_path, content_hash, doc_type, language,
         created_at, updated_at, metadata)
    SELECT
        title, title_given, :path, content_hash, doc_type, language,
        created_at, updated_at, metadata
    FROM documents
    WHERE id = :id
    RETURNING id";

const MOVE_CHUNKS: &str = "UPDATE chunks SET document_id = :to WHERE document_id = :from";

const REMOVE_CHUNKS: &str = "DELETE FROM chunks WHERE document_id = :document_id";

impl Store {
    /// Stores a document with its chunks, one vector for each, in one transaction.
    ///
    /// At a path never seen it is added. At a known path it replaces the document there, whose id,
    /// tags, time of creation and user-given title stay. Where that document's old bytes are still
    /// at another path, as `is_unchanged` tells for each remembered stamp, they are not lost:
    ///
    /// - the path shown for it changed: its old chunks go on as a document of their own, shown
    ///   under the other path, with the same tags;
    /// - a further copy changed: the document stays, and the copy becomes one of its own with the
    ///   same tags.
    ///
    /// Paths that are neither changed nor unchanged are forgotten, so that they are read again.
    ///
    /// # Errors
    ///
    /// [`Error::ModelMismatch`] when the database is not bound as this store believes,
    /// [`Error::Store`] when chunks and vectors do not match, [`Error::Locked`],
    /// [`Error::DiskFull`] and what else the database refuses. Nothing is changed then.
    pub fn replace(
        &mut self,
        new: &NewDocument,
        chunks: &[Chunk],
        vectors: &[Vec<f32>],
        is_unchanged: &dyn Fn(&PathStamp) -> bool,
    ) -> Result<Change> {
        let bound = self.bound.borrow().clone();
        self.write(|db| {
            let binding = super::binding::check(db, bound.as_ref())?
                .ok_or_else(|| Error::Store("the database is bound to no model".into()))?;
            if chunks.len() != vectors.len() {
                let reason = format!("{} vectors for {} chunks", vectors.len(), chunks.len());
                return Err(Error::Store(reason.into()).into());
            }
            for vector in vectors {
                vectors::require_unit_shape(vector, binding.dim)?;
            }
            let known = match &new.stamp {
                Some(stamp) => paths::known(db, &stamp.path)?,
                None => None,
            };
            if let Some(id) = same_document(db, new, known.as_ref())? {
                return keep(db, id, new, known.as_ref());
            }
            let change = match known {
                Some(known) => put_in_place(db, new, &known, is_unchanged)?,
                None => Change::Added(insert(db, new)?),
            };
            let id = change.document_id();
            if let Some(stamp) = &new.stamp {
                paths::remember(db, id, stamp)?;
            }
            tags::link(db, id, &new.tags)?;
            chunks::insert(db, id, chunks, vectors)?;
            Ok(change)
        })
    }
}

/// Adds path and tags of `new` to the document that has its bytes.
fn keep(
    db: &Connection,
    id: DocumentId,
    new: &NewDocument,
    known: Option<&KnownPath>,
) -> Step<Change> {
    if let Some(stamp) = &new.stamp {
        paths::remember(db, id, stamp)?;
    }
    if let Some(before) = known.filter(|it| it.document_id != id) {
        paths::release(db, before, id)?;
    }
    tags::link(db, id, &new.tags)?;
    Ok(Change::Unchanged(id))
}

/// Makes room at a known path and returns the document, without chunks, that is to be there.
fn put_in_place(
    db: &Connection,
    new: &NewDocument,
    known: &KnownPath,
    is_unchanged: &dyn Fn(&PathStamp) -> bool,
) -> Step<Change> {
    let id = known.document_id;
    let path = &known.stamp.path;
    let mut new = new.clone();
    if let (Some(title), false) = (&known.title_given, new.is_title_given) {
        new.title.clone_from(title);
        new.is_title_given = true;
    }
    let primary: Option<String> =
        db.prepare_cached(SOURCE_PATH)?.query_row(named_params! { ":id": id }, |row| row.get(0))?;
    if new.content_hash == known.content_hash {
        // The same bytes read in another way: all copies go along.
        remove_chunks(db, id)?;
        update(db, id, &new, primary.as_deref())?;
        return Ok(Change::Updated(id));
    }
    let copies: Vec<PathStamp> =
        paths::others(db, id, path)?.into_iter().filter(|it| is_unchanged(it)).collect();
    if copies.iter().any(|it| Some(&it.path) == primary.as_ref()) {
        let changed_copy = insert(db, &new)?;
        tags::copy(db, id, changed_copy)?;
        return Ok(Change::Added(changed_copy));
    }
    if let Some(heir) = copies.first() {
        let unchanged: DocumentId = db
            .prepare_cached(COPY_DOCUMENT)?
            .query_row(named_params! { ":path": heir.path, ":id": id }, |row| row.get(0))?;
        db.prepare_cached(MOVE_CHUNKS)?.execute(named_params! { ":from": id, ":to": unchanged })?;
        tags::copy(db, id, unchanged)?;
        for copy in &copies {
            paths::remember(db, unchanged, copy)?;
        }
    }
    paths::forget_others(db, id, path)?;
    remove_chunks(db, id)?;
    update(db, id, &new, Some(path))?;
    Ok(Change::Updated(id))
}

/// Returns the document with the bytes of `new`, read the same way; the one at its own path first.
fn same_document(
    db: &Connection,
    new: &NewDocument,
    known: Option<&KnownPath>,
) -> Step<Option<DocumentId>> {
    let same: Option<DocumentId> = db
        .prepare_cached(SAME_DOCUMENT)?
        .query_row(
            named_params! {
                ":content_hash": new.content_hash,
                ":doc_type": new.format.doc_type().as_str(),
                ":language": new.format.language().map(|it| it.as_str()),
                ":known_id": known.map(|it| it.document_id),
            },
            |row| row.get(0),
        )
        .optional()?;
    // A title is part of every chunk's context: another one is another reading.
    let is_retitled = new.is_title_given
        && known.is_some_and(|it| {
            Some(it.document_id) == same && it.title_given.as_ref() != Some(&new.title)
        });
    Ok(same.filter(|_| !is_retitled))
}

fn insert(db: &Connection, new: &NewDocument) -> Step<DocumentId> {
    let id = db.prepare_cached(INSERT_DOCUMENT)?.query_row(
        named_params! {
            ":title": new.title,
            ":title_given": new.is_title_given,
            ":path": new.stamp.as_ref().map(|it| &it.path),
            ":content_hash": new.content_hash,
            ":doc_type": new.format.doc_type().as_str(),
            ":language": new.format.language().map(|it| it.as_str()),
            ":metadata": rows::document_json(new.format, &new.metadata)?,
        },
        |row| row.get(0),
    )?;
    Ok(id)
}

fn update(db: &Connection, id: DocumentId, new: &NewDocument, path: Option<&str>) -> Step<()> {
    db.prepare_cached(UPDATE_DOCUMENT)?.execute(named_params! {
        ":id": id,
        ":title": new.title,
        ":title_given": new.is_title_given,
        ":path": path,
        ":content_hash": new.content_hash,
        ":doc_type": new.format.doc_type().as_str(),
        ":language": new.format.language().map(|it| it.as_str()),
        ":metadata": rows::document_json(new.format, &new.metadata)?,
    })?;
    Ok(())
}

fn remove_chunks(db: &Connection, id: DocumentId) -> Step<()> {
    db.prepare_cached(REMOVE_CHUNKS)?.execute(named_params! { ":document_id": id })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestDb, document};
    use super::*;

    #[test]
    fn a_new_document_is_added_whole() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["install git", "remove git"], &["tools", "vcs"]);
        let stored = db.store.document(id).unwrap().unwrap();
        assert_eq!(stored.chunk_count, 2);
        assert_eq!(stored.tags, ["tools", "vcs"]);
        assert_eq!(stored.path.as_deref(), Some("/a.md"));
        assert_eq!(stored.format, "markdown");
        db.assert_whole();
    }

    #[test]
    fn a_changed_file_keeps_id_tags_and_creation() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["old words"], &["one"]);
        let before = db.store.document(id).unwrap().unwrap();
        let change = db.put(&document("/a.md", &["new words"], &["two"]), &["new words"], &[]);
        assert_eq!(change, Change::Updated(id));
        let after = db.store.document(id).unwrap().unwrap();
        assert_eq!(after.created_at, before.created_at);
        assert_eq!(after.tags, ["one", "two"]);
        assert_eq!(db.texts(id), ["new words"]);
        db.assert_whole();
    }
}
