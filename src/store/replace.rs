//! One document in, one transaction: added, or put in the place of what was at its path.

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::document::{Binding, Chunk, DocumentId, Format, Metadata};
use crate::error::{Error, Result};

use super::fault::Step;
use super::paths::{KnownPath, PathStamp};
use super::{Store, chunks, documents, grams, paths, tags, vectors};

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

pub(super) const SAME_DOCUMENT: &str = "
    SELECT id
    FROM documents
    WHERE content_hash = :content_hash AND doc_type = :doc_type AND language IS :language
    ORDER BY id IS :known_id DESC, id
    LIMIT 1";

/// A note that has a file is changed by changing the file.
const IS_NOTE: &str = "
    SELECT EXISTS (
        SELECT 1 FROM documents WHERE id = :id AND doc_type = 'note' AND source_path IS NULL
    )";

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
            check_vectors(db, bound.as_ref(), chunks, vectors)?;
            let known = match &new.stamp {
                Some(stamp) => paths::known(db, &stamp.path)?,
                None => None,
            };
            if let Some(id) = same_document(db, new, known.as_ref())? {
                return keep(db, id, new, known.as_ref(), is_unchanged);
            }
            let change = match known {
                Some(known) => put_in_place(db, new, &known, is_unchanged)?,
                None => Change::Added(documents::insert(db, new)?),
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

    /// Puts another text in the place of a note's: id, tags and time of creation stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`] if there is no note of this id that was given as text;
    /// [`Error::Usage`] if another one says the same already; as [`Store::replace`].
    pub fn replace_note(
        &mut self,
        id: DocumentId,
        new: &NewDocument,
        chunks: &[Chunk],
        vectors: &[Vec<f32>],
    ) -> Result<Change> {
        let bound = self.bound.borrow().clone();
        self.write(|db| {
            check_vectors(db, bound.as_ref(), chunks, vectors)?;
            let params = named_params! { ":id": id };
            let is_note: bool = db.prepare_cached(IS_NOTE)?.query_row(params, |row| row.get(0))?;
            if !is_note {
                return Err(Error::UnknownDocument { id: id.to_string() }.into());
            }
            if let Some(same) = same_document(db, new, None)?.filter(|it| *it != id) {
                let message = format!("document {same} has this text already");
                return Err(Error::Usage { message, hint: None }.into());
            }
            remove_chunks(db, id)?;
            documents::update(db, id, new, None)?;
            tags::link(db, id, &new.tags)?;
            chunks::insert(db, id, chunks, vectors)?;
            Ok(Change::Updated(id))
        })
    }
}

/// Refuses vectors that do not go with the chunks or with the database.
fn check_vectors(
    db: &Connection,
    bound: Option<&Binding>,
    chunks: &[Chunk],
    vectors: &[Vec<f32>],
) -> Step<()> {
    let binding = super::binding::check(db, bound)?
        .ok_or_else(|| Error::Store("the database is bound to no model".into()))?;
    if chunks.len() != vectors.len() {
        let reason = format!("{} vectors for {} chunks", vectors.len(), chunks.len());
        return Err(Error::Store(reason.into()).into());
    }
    vectors.iter().try_for_each(|it| vectors::require_unit_shape(it, binding.dim))
}

/// Adds path and tags of `new` to the document that has its bytes.
fn keep(
    db: &Connection,
    id: DocumentId,
    new: &NewDocument,
    known: Option<&KnownPath>,
    is_unchanged: &dyn Fn(&PathStamp) -> bool,
) -> Step<Change> {
    if let Some(stamp) = &new.stamp {
        paths::remember(db, id, stamp)?;
        if !paths::primary(db, id)?.is_some_and(|it| it.path == stamp.path || is_unchanged(&it)) {
            paths::set_primary(db, id, &stamp.path)?;
        }
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
    if new.content_hash == known.content_hash {
        // The same bytes read in another way: all copies go along.
        remove_chunks(db, id)?;
        documents::update(db, id, &new, Some(&known.primary_path))?;
        return Ok(Change::Updated(id));
    }
    let copies: Vec<PathStamp> =
        paths::others(db, id, path)?.into_iter().filter(|it| is_unchanged(it)).collect();
    if copies.iter().any(|it| it.path == known.primary_path) {
        let changed_copy = documents::insert(db, &new)?;
        tags::copy(db, id, changed_copy)?;
        return Ok(Change::Added(changed_copy));
    }
    if let Some(heir) = copies.first() {
        let unchanged = documents::copy(db, id, &heir.path)?;
        db.prepare_cached(MOVE_CHUNKS)?.execute(named_params! { ":from": id, ":to": unchanged })?;
        tags::copy(db, id, unchanged)?;
        for copy in &copies {
            paths::remember(db, unchanged, copy)?;
        }
    }
    paths::forget_others(db, id, path)?;
    remove_chunks(db, id)?;
    documents::update(db, id, &new, Some(path))?;
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
    // Pages that could not be read when it was added can be read now.
    let num_awaiting = new.metadata.quality.map_or(0, |it| it.pages_awaiting_ocr);
    let is_read_better = known
        .is_some_and(|it| Some(it.document_id) == same && it.pages_awaiting_ocr > num_awaiting);
    Ok(same.filter(|_| !is_retitled && !is_read_better))
}

fn remove_chunks(db: &Connection, id: DocumentId) -> Step<()> {
    grams::remove(db, id)?;
    db.prepare_cached(REMOVE_CHUNKS)?.execute(named_params! { ":document_id": id })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestDb, binding, chunk, document, stamp, vector};
    use super::*;
    use crate::document::Quality;

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
        db.age();
        let before = db.store.document(id).unwrap().unwrap();
        let change = db.put(&document("/a.md", &["new words"], &["two"]), &["new words"], &[]);
        assert_eq!(change, Change::Updated(id));
        let after = db.store.document(id).unwrap().unwrap();
        assert_eq!(after.created_at, before.created_at);
        assert_ne!(after.updated_at, before.updated_at);
        assert_eq!(after.tags, ["one", "two"]);
        assert_eq!(db.texts(id), ["new words"]);
        db.assert_whole();
    }

    #[test]
    fn pages_that_are_read_at_last_replace_what_was_there() {
        let mut db = TestDb::new();
        let mut scan = document("/a.pdf", &["stamp"], &["one"]);
        scan.metadata.quality = Some(Quality { pages_awaiting_ocr: 2, ..Quality::default() });
        let id = db.put(&scan, &["stamp"], &[]).document_id();
        assert_eq!(db.put(&scan, &["stamp"], &[]), Change::Unchanged(id));
        assert_eq!(db.store.known_path("/a.pdf").unwrap().unwrap().pages_awaiting_ocr, 2);
        scan.metadata.quality = Some(Quality { pages_ocr: 2, ..Quality::default() });
        assert_eq!(db.put(&scan, &["high water"], &[]), Change::Updated(id));
        assert_eq!(db.texts(id), ["high water"]);
        assert_eq!(db.store.known_path("/a.pdf").unwrap().unwrap().pages_awaiting_ocr, 0);
        db.assert_whole();
    }

    #[test]
    fn a_title_given_by_the_user_outlives_the_content() {
        let mut db = TestDb::new();
        let mut titled = document("/a.md", &["old"], &[]);
        titled.title = "Mine".into();
        titled.is_title_given = true;
        let id = db.put(&titled, &["old"], &[]).document_id();
        assert_eq!(
            db.store.known_path("/a.md").unwrap().unwrap().title_given.as_deref(),
            Some("Mine")
        );
        db.add("/a.md", &["new"], &[]);
        assert_eq!(db.store.document(id).unwrap().unwrap().title, "Mine");
        let mut retitled = document("/a.md", &["new"], &[]);
        retitled.title = "Mine too".into();
        retitled.is_title_given = true;
        assert_eq!(db.put(&retitled, &["new"], &[]), Change::Updated(id));
        assert_eq!(db.store.document(id).unwrap().unwrap().title, "Mine too");
        db.assert_whole();
    }

    #[test]
    fn the_same_bytes_are_stored_once_whoever_comes_first() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["words"], &["one"]);
        let again = db.put(&document("/a.md", &["words"], &["two"]), &["words"], &["/a.md"]);
        assert_eq!(again, Change::Unchanged(id));
        let copy = db.put(&document("/b.md", &["words"], &[]), &["words"], &["/a.md"]);
        assert_eq!(copy, Change::Unchanged(id));
        let stored = db.store.document(id).unwrap().unwrap();
        assert_eq!(stored.tags, ["one", "two"]);
        assert_eq!(stored.path.as_deref(), Some("/a.md"));
        assert_eq!(db.store.known_path("/b.md").unwrap().unwrap().document_id, id);
        assert_eq!(db.store.stats().unwrap().total_chunks, 1);
        db.assert_whole();
    }

    #[test]
    fn a_moved_file_is_shown_where_it_is_now() {
        let mut db = TestDb::new();
        let id = db.add("/old.md", &["words"], &[]);
        db.put(&document("/new.md", &["words"], &[]), &["words"], &["/new.md"]);
        assert_eq!(db.store.document(id).unwrap().unwrap().path.as_deref(), Some("/new.md"));
        db.assert_whole();
    }

    #[test]
    fn when_the_shown_copy_changes_the_other_keeps_the_old_words() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["old"], &["work"]);
        let chunk_id = db.store.chunks(id).unwrap()[0].id;
        db.store.remember_path(id, "hash of old", &stamp("/b.md"), false).unwrap();
        let change = db.put(&document("/a.md", &["new"], &[]), &["new"], &["/a.md", "/b.md"]);
        assert_eq!(change, Change::Updated(id));
        assert_eq!(db.texts(id), ["new"]);
        let other = db.store.known_path("/b.md").unwrap().unwrap();
        assert_ne!(other.document_id, id);
        assert!(other.is_primary());
        assert_eq!(other.content_hash, "hash of old");
        assert_eq!(db.store.chunks(other.document_id).unwrap()[0].id, chunk_id);
        assert_eq!(db.store.document(other.document_id).unwrap().unwrap().tags, ["work"]);
        db.assert_whole();
    }

    #[test]
    fn when_a_further_copy_changes_the_document_stays() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["old"], &["work"]);
        db.store.remember_path(id, "hash of old", &stamp("/b.md"), false).unwrap();
        let change = db.put(&document("/b.md", &["new"], &[]), &["new"], &["/a.md", "/b.md"]);
        let Change::Added(copy) = change else { panic!("{change:?}") };
        assert_eq!(db.texts(id), ["old"]);
        assert_eq!(db.texts(copy), ["new"]);
        assert_eq!(db.store.document(copy).unwrap().unwrap().tags, ["work"]);
        assert_eq!(db.store.known_path("/a.md").unwrap().unwrap().document_id, id);
        db.assert_whole();
    }

    #[test]
    fn a_copy_that_is_gone_or_changed_is_forgotten_so_that_it_is_read_again() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["old"], &[]);
        db.store.remember_path(id, "hash of old", &stamp("/b.md"), false).unwrap();
        let change = db.put(&document("/a.md", &["new"], &[]), &["new"], &["/a.md"]);
        assert_eq!(change, Change::Updated(id));
        assert_eq!(db.store.known_path("/b.md").unwrap(), None);
        db.assert_whole();
    }

    #[test]
    fn the_same_bytes_read_another_way_take_the_place() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["words"], &[]);
        db.store.remember_path(id, "hash of words", &stamp("/b.md"), false).unwrap();
        let mut note = document("/b.md", &["words"], &[]);
        note.format = Format::Note;
        assert_eq!(db.put(&note, &["words"], &["/a.md", "/b.md"]), Change::Updated(id));
        let stored = db.store.document(id).unwrap().unwrap();
        assert_eq!(stored.doc_type.as_str(), "note");
        assert_eq!(stored.path.as_deref(), Some("/a.md"));
        db.assert_whole();
    }

    #[test]
    fn a_disk_that_fills_up_half_way_changes_nothing() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["old words"], &["one"]);
        let before = (db.store.document(id).unwrap(), db.texts(id));
        let pages: i64 =
            db.store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        db.store.connection.pragma_update(None, "max_page_count", pages).unwrap();
        let long = "much more text than fits ".repeat(4000);
        let chunks = [chunk("short"), chunk(&long)];
        let vectors = [vector("short"), vector(&long)];
        let new = document("/a.md", &["short", &long], &["two"]);
        let error = db.store.replace(&new, &chunks, &vectors, &|_| false).unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error}");
        assert_eq!((db.store.document(id).unwrap(), db.texts(id)), before);
        db.assert_whole();
    }

    #[test]
    fn vectors_that_do_not_fit_are_refused_before_anything_is_written() {
        let mut db = TestDb::new();
        let new = document("/a.md", &["words"], &[]);
        for vectors in [vec![], vec![vec![1.0; 3]], vec![vec![f32::NAN, 0.0, 0.0, 0.0]]] {
            let outcome = db.store.replace(&new, &[chunk("words")], &vectors, &|_| false);
            assert!(matches!(outcome, Err(Error::Store(_))));
        }
        assert_eq!(db.store.known_path("/a.md").unwrap(), None);
        db.assert_whole();
    }

    #[test]
    fn a_database_bound_to_another_model_since_takes_no_vectors() {
        let mut db = TestDb::new();
        let mut other = Store::open(&db.path()).unwrap();
        other.bind(&binding("other")).unwrap();
        let new = document("/a.md", &["words"], &[]);
        let outcome = db.store.replace(&new, &[chunk("words")], &[vector("words")], &|_| false);
        assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
        db.assert_whole();
    }
}
