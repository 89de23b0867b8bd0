//! Finds the documents of a path.
//!
//! A document remembers every path where its content was seen. One of them is primary: the
//! `source_path` that is shown and used by filters.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::document::{DocType, DocumentId};
use crate::error::Result;
use crate::text::paths::member_text;

use super::{rows, tags};
use crate::store::db::fault::Step;
use crate::store::{Store, documents};

/// A path with the properties that show, without reading, whether its file is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStamp {
    /// Absolute path.
    pub path: String,
    /// Length of the file.
    pub size_bytes: u64,
    /// Time of its last modification in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// The path with links resolved, if the user named the file itself; `None` for a file found in
    /// a folder, imported, or added by an older kb.
    pub real_path: Option<String>,
}

/// A remembered path and the document found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPath {
    /// The file as it was last seen.
    pub stamp: PathStamp,
    /// The document.
    pub document_id: DocumentId,
    /// The path shown for the document: this one, or that of another copy.
    pub primary_path: String,
    /// SHA-256 of the document's bytes, lower-case hex.
    pub content_hash: String,
    /// The title, if the user gave it. Replacing keeps it, so chunks must be made with it.
    pub title_given: Option<String>,
    /// The document's type.
    pub doc_type: DocType,
    /// The programming language, as [`crate::document::Language`] names it; `None` outside code.
    pub language: Option<String>,
    /// Pages that are not read yet because they need OCR.
    pub pages_awaiting_ocr: u32,
}

const KNOWN_PATH: &str = "
    SELECT
        document_paths.path,
        document_paths.size_bytes,
        document_paths.mtime_ns,
        document_paths.real_path,
        documents.id AS document_id,
        documents.source_path,
        documents.content_hash,
        iif(documents.title_given, documents.title, NULL) AS title_given,
        documents.doc_type,
        documents.language,
        coalesce(documents.metadata ->> '$.quality.pages_awaiting_ocr', 0) AS pages_awaiting_ocr
    FROM document_paths
    JOIN documents ON documents.id = document_paths.document_id
    WHERE document_paths.path = :path";

const PRIMARY_PATH: &str = "
    SELECT
        document_paths.path,
        document_paths.size_bytes,
        document_paths.mtime_ns,
        document_paths.real_path
    FROM documents
    JOIN document_paths ON document_paths.path = documents.source_path
    WHERE documents.id = :document_id";

const OTHER_PATHS: &str = "
    SELECT path, size_bytes, mtime_ns, real_path
    FROM document_paths
    WHERE document_id = :document_id AND path <> :path
    ORDER BY path";

/// A file that was named once and is later found in a folder keeps its resolved path.
const REMEMBER_PATH: &str = "
    INSERT INTO document_paths (path, document_id, size_bytes, mtime_ns, real_path)
    VALUES (:path, :document_id, :size_bytes, :mtime_ns, :real_path)
    ON CONFLICT (path) DO UPDATE SET
        document_id = excluded.document_id,
        size_bytes = excluded.size_bytes,
        mtime_ns = excluded.mtime_ns,
        real_path = coalesce(excluded.real_path, document_paths.real_path)";

const RENAME_PATH: &str = "UPDATE OR IGNORE document_paths SET path = :to WHERE path = :from";

const RENAME_PRIMARY: &str = "UPDATE documents SET source_path = :to WHERE source_path = :from";

const RENAME_ROOT: &str = "UPDATE OR IGNORE roots SET path = :to WHERE path = :from";

const HAS_BYTES: &str = "
    SELECT EXISTS (SELECT 1 FROM documents WHERE id = :id AND content_hash = :content_hash)";

const FORGET_OTHER_PATHS: &str =
    "DELETE FROM document_paths WHERE document_id = :document_id AND path <> :path";

const SET_PRIMARY: &str = "UPDATE documents SET source_path = :path WHERE id = :id";

/// A note given as text is shown under the first path where its text is found.
const SET_FIRST_PRIMARY: &str =
    "UPDATE documents SET source_path = :path WHERE id = :id AND source_path IS NULL";

/// The role of a path for a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRole<'a> {
    /// One more path.
    Further,
    /// The new path shown for the document.
    Primary,
    /// As [`PathRole::Primary`], because another file is at the path shown until now.
    PrimaryInsteadOf(&'a PathStamp),
}

impl KnownPath {
    /// Whether it is the path shown for the document.
    pub fn is_primary(&self) -> bool {
        self.stamp.path == self.primary_path
    }
}

const MEMBERS_OF: &str = "
    SELECT path, document_id
    FROM document_paths
    WHERE path >= :first AND path < :end
    ORDER BY path";

impl Store {
    /// Returns a remembered path; `None` for a new one, and for one that is not followed.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and other errors of the database.
    pub fn known_path(&self, path: &str) -> Result<Option<KnownPath>> {
        let Some(known) = self.read(|db| known(db, path))? else { return Ok(None) };
        let stamp = self.sieve()?.stamp(known.stamp);
        Ok(stamp.map(|stamp| KnownPath { stamp, ..known }))
    }

    /// Returns the remembered files in a container, by its path.
    ///
    /// # Errors
    ///
    /// As [`Store::known_path`].
    pub fn members_of(&self, container: &str) -> Result<Vec<(String, DocumentId)>> {
        let first = member_text(container, "");
        // The character after the separator: no path of a member is greater.
        let end = format!("{container}/0");
        self.read(|db| {
            let mut statement = db.prepare_cached(MEMBERS_OF)?;
            let params = named_params! { ":first": first, ":end": end };
            let rows = statement.query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Remembers that the document with `content_hash` is also, or still, at `stamp`'s path.
    /// Returns `false` and changes nothing if the document is missing or has other content by now:
    /// then the file must be read like a new one.
    ///
    /// If the path belonged to another document, that one loses it. If it was its last path, the
    /// document is removed, because its content is not in any file, and its tags pass to this
    /// document. There is one exception: if this document leaves the path under which it was shown,
    /// for example because two files were swapped, the other document moves there, because its
    /// content may be there now.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Locked`], [`crate::error::Error::DiskFull`] and other errors of the
    /// database.
    pub fn remember_path(
        &mut self,
        id: DocumentId,
        content_hash: &str,
        stamp: &PathStamp,
        role: PathRole<'_>,
    ) -> Result<bool> {
        self.write(|db| {
            let has_bytes: bool = db
                .prepare_cached(HAS_BYTES)?
                .query_row(named_params! { ":id": id, ":content_hash": content_hash }, |row| {
                    row.get(0)
                })?;
            if !has_bytes {
                return Ok(false);
            }
            let before = known(db, &stamp.path)?.filter(|known| known.document_id != id);
            remember(db, id, stamp)?;
            if role != PathRole::Further {
                set_primary(db, id, &stamp.path)?;
            }
            match (before, role) {
                (Some(before), PathRole::PrimaryInsteadOf(vacated))
                    if others(db, before.document_id, &stamp.path)?.is_empty() =>
                {
                    remember(db, before.document_id, vacated)?;
                    set_primary(db, before.document_id, &vacated.path)?;
                }
                (Some(before), _) => release(db, &before, id)?,
                (None, _) => {}
            }
            Ok(true)
        })
    }

    /// Changes the spelling of a file's or folder's path: older versions of kb wrote some names
    /// differently. If `to` is already known, nothing is changed.
    ///
    /// # Errors
    ///
    /// As [`Store::remember_path`].
    pub fn rename_path(&mut self, from: &str, to: &str) -> Result<()> {
        self.write(|db| {
            let params = named_params! { ":from": from, ":to": to };
            if db.prepare_cached(RENAME_PATH)?.execute(params)? > 0 {
                db.prepare_cached(RENAME_PRIMARY)?.execute(params)?;
            }
            db.prepare_cached(RENAME_ROOT)?.execute(params)?;
            Ok(())
        })
    }
}

pub(in crate::store) fn known(db: &Connection, path: &str) -> Step<Option<KnownPath>> {
    let read = |row: &Row<'_>| {
        Ok(KnownPath {
            stamp: stamp(row)?,
            document_id: row.get("document_id")?,
            primary_path: row.get("source_path")?,
            content_hash: row.get("content_hash")?,
            title_given: row.get("title_given")?,
            doc_type: rows::named_column(row, "doc_type")?,
            language: row.get("language")?,
            pages_awaiting_ocr: row.get("pages_awaiting_ocr")?,
        })
    };
    let mut statement = db.prepare_cached(KNOWN_PATH)?;
    Ok(statement.query_row(named_params! { ":path": path }, read).optional()?)
}

pub(in crate::store) fn remember(db: &Connection, id: DocumentId, stamp: &PathStamp) -> Step<()> {
    db.prepare_cached(REMEMBER_PATH)?.execute(named_params! {
        ":path": stamp.path,
        ":document_id": id,
        // No file is longer than i64 allows; the size is only compared.
        ":size_bytes": stamp.size_bytes.cast_signed(),
        ":mtime_ns": stamp.mtime_ns,
        ":real_path": stamp.real_path,
    })?;
    db.prepare_cached(SET_FIRST_PRIMARY)?
        .execute(named_params! { ":path": stamp.path, ":id": id })?;
    Ok(())
}

pub(in crate::store) fn set_primary(db: &Connection, id: DocumentId, path: &str) -> Step<()> {
    db.prepare_cached(SET_PRIMARY)?.execute(named_params! { ":path": path, ":id": id })?;
    Ok(())
}

/// Returns the path shown for a document; `None` for a note given as text.
pub(in crate::store) fn primary(db: &Connection, id: DocumentId) -> Step<Option<PathStamp>> {
    let mut statement = db.prepare_cached(PRIMARY_PATH)?;
    Ok(statement.query_row(named_params! { ":document_id": id }, stamp).optional()?)
}

/// Returns a document's paths except `path`, in order.
pub(in crate::store) fn others(
    db: &Connection,
    id: DocumentId,
    path: &str,
) -> Step<Vec<PathStamp>> {
    let mut statement = db.prepare_cached(OTHER_PATHS)?;
    let stamps = statement.query_map(named_params! { ":document_id": id, ":path": path }, stamp)?;
    Ok(stamps.collect::<Result<_, _>>()?)
}

pub(in crate::store) fn forget_others(db: &Connection, id: DocumentId, path: &str) -> Step<()> {
    db.prepare_cached(FORGET_OTHER_PATHS)?
        .execute(named_params! { ":document_id": id, ":path": path })?;
    Ok(())
}

/// Updates or removes a document whose path has passed to `heir`.
pub(in crate::store) fn release(db: &Connection, before: &KnownPath, heir: DocumentId) -> Step<()> {
    let id = before.document_id;
    match others(db, id, &before.stamp.path)?.first() {
        Some(other) if before.is_primary() => set_primary(db, id, &other.path),
        Some(_) => Ok(()),
        None => {
            tags::copy(db, id, heir)?;
            documents::delete(db, id)?;
            Ok(())
        }
    }
}

pub(in crate::store) fn stamp(row: &Row<'_>) -> rusqlite::Result<PathStamp> {
    Ok(PathStamp {
        path: row.get("path")?,
        size_bytes: row.get::<_, i64>("size_bytes")?.cast_unsigned(),
        mtime_ns: row.get("mtime_ns")?,
        real_path: row.get("real_path")?,
    })
}

#[cfg(test)]
mod tests;
