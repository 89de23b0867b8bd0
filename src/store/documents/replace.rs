//! Adds a document, or replaces what was at its path, in one transaction.

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::document::{Binding, Chunk, DocumentId, Format, Metadata};
use crate::error::{Error, Result};

use super::paths::{KnownPath, PathStamp};
use super::{chunks, paths, tags};
use crate::store::db::erase;
use crate::store::db::fault::Step;
use crate::store::keyword::grams;
use crate::store::{Store, documents, vectors};

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
    /// It took the place of what was at its path; the id is the old one, or that of the document whose bytes
    /// the path has now.
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

/// One that was read from a file comes before one that only an import or a note says.
pub(in crate::store) const SAME_DOCUMENT: &str = "
    SELECT id
    FROM documents
    WHERE content_hash = :content_hash AND doc_type = :doc_type AND language IS :language
    ORDER BY id IS :known_id DESC, source_path IS NULL, id
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
    /// A document without a file, from an import or a note, takes over the first file with its bytes,
    /// and what was read from that file replaces its text.
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
        let layout = self.layout_to_write()?;
        self.write(|db| {
            check_vectors(db, bound.as_ref(), chunks, vectors)?;
            let known = match &new.stamp {
                Some(stamp) => paths::known(db, &stamp.path)?,
                None => None,
            };
            if let Some(id) = same_document(db, new, known.as_ref())? {
                let had_file = paths::primary(db, id)?.is_some();
                let change = keep(db, id, new, known.as_ref(), is_unchanged)?;
                let Some(stamp) = new.stamp.as_ref().filter(|_| !had_file) else {
                    return Ok(change);
                };
                remove_chunks(db, id)?;
                documents::update(db, id, new, Some(&stamp.path))?;
                chunks::insert(db, id, chunks, vectors, layout)?;
                return Ok(Change::Updated(id));
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
            chunks::insert(db, id, chunks, vectors, layout)?;
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
        let layout = self.layout_to_write()?;
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
            chunks::insert(db, id, chunks, vectors, layout)?;
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
    let binding = crate::store::db::binding::check(db, bound)?
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
    tags::link(db, id, &new.tags)?;
    if let Some(before) = known.filter(|it| it.document_id != id) {
        paths::release(db, before, id)?;
        return Ok(Change::Updated(id));
    }
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
    erase::mark_chunks(db, id)?;
    db.prepare_cached(REMOVE_CHUNKS)?.execute(named_params! { ":document_id": id })?;
    Ok(())
}

#[cfg(test)]
mod tests;
