//! Adds a document, or replaces the one at its path, in one transaction.

use std::sync::Arc;

use rusqlite::{Connection, named_params};

use super::remembered::{KnownPath, PathStamp};
use super::write::NewDocument;
use super::{chunks, path_rows, remove, tags, write};
use crate::db::fault::Step;
use crate::db::{erasing, sql};
use crate::document::{Binding, Chunk, Embedding};
use crate::error::{Error, Result};
use crate::followed::FollowedFilter;
use crate::ids::DocumentId;
use crate::keyword::derived;
use crate::text;
use crate::{Store, vectors};

/// The result of storing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredChange {
    /// It is new.
    Added(DocumentId),
    /// It replaced the content at its path. The id is the old one, or that of the document whose
    /// content the path has now.
    Updated(DocumentId),
    /// The same content, read the same way, is already stored, perhaps by another process; the path
    /// and the tags were added to it.
    Unchanged(DocumentId),
    /// As [`StoredChange::Unchanged`], and its title, which was the name of the file, is the new name now.
    Renamed(DocumentId),
}

impl StoredChange {
    /// Returns the document's key.
    pub fn document_id(self) -> DocumentId {
        match self {
            Self::Added(id) | Self::Updated(id) | Self::Unchanged(id) | Self::Renamed(id) => id,
        }
    }
}

/// A document read from a file is preferred to one from an import or a note.
pub(crate) const SAME_DOCUMENT: &str = "
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

/// The path is missing if the user gave the title.
const OWN_TITLE: &str = "
    SELECT title, iif(title_given, NULL, source_path) FROM documents WHERE id = :id";

const MAKING: &str = "SELECT making FROM documents WHERE id = :id";

const MOVE_CHUNKS: &str = "UPDATE chunks SET document_id = :to WHERE document_id = :from";

const REMOVE_CHUNKS: &str = "DELETE FROM chunks WHERE document_id = :document_id";

impl Store {
    /// Stores a document with its chunks, in one transaction: one embedding for each, or none in a database without a
    /// model.
    ///
    /// At a new path the document is added. At a known path it replaces the document there, whose
    /// id, tags, creation time and user-given title stay. If that document's old content is still
    /// at another path, as `is_unchanged` reports for each remembered stamp, it is not lost:
    ///
    /// - If the path shown for it changed, its old chunks become a separate document, shown under
    ///   the other path, with the same tags.
    /// - If another copy changed, the document stays, and the copy becomes a separate document with
    ///   the same tags.
    ///
    /// Other paths whose files are changed or missing are forgotten, so that they are read again.
    ///
    /// If the file of a document has moved, and its title was the name of the file, the title follows
    /// and the new chunks replace the old ones, whose context has the old title.
    ///
    /// A document without a file, from an import or a note, adopts the first file with its content,
    /// and the text read from that file replaces its text.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if chunks and vectors do not match, or there are none and another process has given the database a
    /// model.
    pub fn replace(
        &mut self,
        new: &NewDocument,
        chunks: &[Chunk],
        embeddings: &[Embedding],
        is_unchanged: &dyn Fn(&PathStamp) -> bool,
    ) -> Result<StoredChange> {
        let bound = self.bound.borrow().clone();
        let layout = self.layout_to_write()?;
        let (followed, roots) = (Arc::clone(&self.followed), self.roots()?);
        let sieve = FollowedFilter::new(&followed, &roots);
        // Nothing is compared with a file that is not followed.
        let is_unchanged =
            |stamp: &PathStamp| sieve.stamp(stamp.clone()).is_none_or(|stamp| is_unchanged(&stamp));
        let is_unchanged: &dyn Fn(&PathStamp) -> bool = &is_unchanged;
        self.write(|db| {
            check_embeddings(db, bound.as_ref(), chunks, embeddings)?;
            let known = match &new.stamp {
                Some(stamp) => path_rows::known(db, &stamp.path)?,
                None => None,
            };
            if let Some(id) = same_document(db, new, known.as_ref())? {
                // The content is known: paths change, and the text only if the document gets its first file or a new
                // name.
                let had_file = path_rows::primary(db, id)?.is_some();
                let old_name = name_as_title(db, id)?;
                let change = keep(db, id, new, known.as_ref(), is_unchanged)?;
                let has_moved = match &new.stamp {
                    Some(stamp) => path_rows::primary(db, id)?
                        .is_some_and(|primary| primary.path == stamp.path),
                    None => false,
                };
                let is_renamed =
                    has_moved && had_file && old_name.is_some_and(|name| name != new.title);
                let adopts = new.stamp.as_ref().filter(|_| !had_file || is_renamed);
                let Some(stamp) = adopts else { return Ok(change) };
                remove_chunks(db, id)?;
                write::update(db, id, new, Some(&stamp.path))?;
                chunks::insert(db, id, chunks, embeddings, layout)?;
                return Ok(match change {
                    StoredChange::Unchanged(_) if is_renamed => StoredChange::Renamed(id),
                    _ => StoredChange::Updated(id),
                });
            }
            let change = match known {
                Some(known) => prepare_document(db, new, &known, is_unchanged)?,
                None => StoredChange::Added(write::insert(db, new)?),
            };
            let id = change.document_id();
            if let Some(stamp) = &new.stamp {
                path_rows::remember(db, id, stamp)?;
            }
            tags::link(db, id, &new.tags)?;
            chunks::insert(db, id, chunks, embeddings, layout)?;
            Ok(change)
        })
    }

    /// Replaces the text of a note: id, tags and creation time stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDocument`] if no note with this id was given as text; [`Error::Usage`] if
    /// another document already has the same text; as [`Store::replace`].
    pub fn replace_note(
        &mut self,
        id: DocumentId,
        new: &NewDocument,
        chunks: &[Chunk],
        embeddings: &[Embedding],
    ) -> Result<StoredChange> {
        let bound = self.bound.borrow().clone();
        let layout = self.layout_to_write()?;
        self.write(|db| {
            check_embeddings(db, bound.as_ref(), chunks, embeddings)?;
            if !sql::value::<bool>(db, IS_NOTE, named_params! { ":id": id })? {
                return Err(Error::UnknownDocument { id: id.to_string() }.into());
            }
            if let Some(same) = same_document(db, new, None)?.filter(|other| *other != id) {
                let message = format!("document {same} already has this text");
                return Err(Error::usage(message).into());
            }
            remove_chunks(db, id)?;
            write::update(db, id, new, None)?;
            tags::link(db, id, &new.tags)?;
            chunks::insert(db, id, chunks, embeddings, layout)?;
            Ok(StoredChange::Updated(id))
        })
    }
}

/// Refuses vectors that do not match the chunks or the database.
pub(super) fn check_embeddings(
    db: &Connection,
    bound: Option<&Binding>,
    chunks: &[Chunk],
    embeddings: &[Embedding],
) -> Step<()> {
    let Some(binding) = crate::db::binding::check(db, bound)? else {
        return match embeddings {
            [] => Ok(()),
            _ => Err(Error::Store("the database is not bound to a model".into()).into()),
        };
    };
    if embeddings.is_empty() && !chunks.is_empty() {
        let reason = "the database was given a model meanwhile; run the command again";
        return Err(Error::Store(reason.into()).into());
    }
    if chunks.len() != embeddings.len() {
        let reason = format!("{} vectors for {} chunks", embeddings.len(), chunks.len());
        return Err(Error::Store(reason.into()).into());
    }
    embeddings
        .iter()
        .try_for_each(|embedding| vectors::require_unit_shape(&embedding.vector, binding.dim))
}

/// Returns the title of a document if it is the name of its file and not one that the user gave.
fn name_as_title(db: &Connection, id: DocumentId) -> Step<Option<String>> {
    let params = named_params! { ":id": id };
    let (title, path): (String, Option<String>) =
        db.prepare_cached(OWN_TITLE)?.query_row(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(path.filter(|path| text::paths::is_title(&title, path)).map(|_| title))
}

/// Adds path and tags of `new` to the document with its content.
fn keep(
    db: &Connection,
    id: DocumentId,
    new: &NewDocument,
    known: Option<&KnownPath>,
    is_unchanged: &dyn Fn(&PathStamp) -> bool,
) -> Step<StoredChange> {
    if let Some(stamp) = &new.stamp {
        path_rows::remember(db, id, stamp)?;
        if !path_rows::primary(db, id)?
            .is_some_and(|primary| primary.path == stamp.path || is_unchanged(&primary))
        {
            path_rows::set_primary(db, id, &stamp.path)?;
        }
    }
    tags::link(db, id, &new.tags)?;
    if let Some(before) = known.filter(|known| known.document_id != id) {
        remove::release(db, before, id)?;
        return Ok(StoredChange::Updated(id));
    }
    Ok(StoredChange::Unchanged(id))
}

/// Clears a known path and returns the document without chunks to use there.
fn prepare_document(
    db: &Connection,
    new: &NewDocument,
    known: &KnownPath,
    is_unchanged: &dyn Fn(&PathStamp) -> bool,
) -> Step<StoredChange> {
    let id = known.document_id;
    let path = &known.stamp.path;
    let mut new = new.clone();
    if let (Some(title), false) = (&known.title_given, new.is_title_given) {
        new.title.clone_from(title);
        new.is_title_given = true;
    }
    if new.content_hash == known.content_hash {
        // The same content read in another way: all copies change along with it.
        remove_chunks(db, id)?;
        write::update(db, id, &new, Some(&known.primary_path))?;
        return Ok(StoredChange::Updated(id));
    }
    let copies: Vec<PathStamp> =
        path_rows::others(db, id, path)?.into_iter().filter(|copy| is_unchanged(copy)).collect();
    // The shown path still has the old content, so the changed copy becomes a new document.
    if copies.iter().any(|copy| copy.path == known.primary_path) {
        let changed_copy = write::insert(db, &new)?;
        tags::copy(db, id, changed_copy)?;
        return Ok(StoredChange::Added(changed_copy));
    }
    // Another path still has the old content. It inherits the old chunks before the others are removed.
    if let Some(heir) = copies.first() {
        let unchanged = write::copy(db, id, &heir.path)?;
        move_chunks(db, id, unchanged)?;
        tags::copy(db, id, unchanged)?;
        for copy in &copies {
            path_rows::remember(db, unchanged, copy)?;
        }
    }
    path_rows::forget_others(db, id, path)?;
    remove_chunks(db, id)?;
    write::update(db, id, &new, Some(path))?;
    Ok(StoredChange::Updated(id))
}

/// Returns the document with the content of `new`, read the same way; prefers the one at its path.
pub(super) fn same_document(
    db: &Connection,
    new: &NewDocument,
    known: Option<&KnownPath>,
) -> Step<Option<DocumentId>> {
    let same: Option<DocumentId> = sql::first_row(
        db,
        SAME_DOCUMENT,
        named_params! {
            ":content_hash": new.content_hash,
            ":doc_type": new.format.doc_type().as_str(),
            ":language": new.format.language().map(|language| language.as_str()),
            ":known_id": known.map(|known| known.document_id),
        },
        |row| row.get(0),
    )?;
    // The title is part of every chunk's context, so a new title means reading the document again.
    let is_retitled = new.is_title_given
        && known.is_some_and(|known| {
            Some(known.document_id) == same && known.title_given.as_ref() != Some(&new.title)
        });
    // Pages that could not be read before can be read now.
    let num_awaiting = new.metadata.quality.map_or(0, |quality| quality.pages_awaiting_ocr);
    let is_read_better = known.is_some_and(|known| {
        Some(known.document_id) == same && known.pages_awaiting_ocr > num_awaiting
    });
    // Another version of a reader may make another text of the same bytes.
    let is_made_otherwise = match (same, &new.making) {
        (Some(id), Some(making)) if known.is_some_and(|known| known.document_id == id) => {
            sql::value::<Option<String>>(db, MAKING, named_params! { ":id": id })?.as_ref()
                != Some(making)
        }
        _ => false,
    };
    Ok(same.filter(|_| !is_retitled && !is_read_better && !is_made_otherwise))
}

/// Gives the chunks of a document to another one.
pub(super) fn move_chunks(db: &Connection, from: DocumentId, to: DocumentId) -> Step<()> {
    sql::run(db, MOVE_CHUNKS, named_params! { ":from": from, ":to": to })
}

pub(crate) fn remove_chunks(db: &Connection, id: DocumentId) -> Step<()> {
    derived::remove(db, id)?;
    erasing::mark_chunks(db, id)?;
    vectors::removing(db, id, || sql::run(db, REMOVE_CHUNKS, named_params! { ":document_id": id }))
}

#[cfg(test)]
mod tests;
