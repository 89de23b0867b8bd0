//! Finds the documents of a path.
//!
//! A document remembers every path where its content was seen. One of them is primary: the
//! `source_path` that is shown and used by filters.

use std::collections::HashSet;

use rusqlite::named_params;

use super::path_rows::{known, others, remember, set_primary};
use super::remembered::{KnownPath, PathStamp};
use super::remove::release;
use crate::Store;
use crate::db::sql;
use crate::error::Result;
use crate::ids::DocumentId;
use crate::text::paths::member_text;

const RENAME_PATH: &str = "UPDATE OR IGNORE document_paths SET path = :to WHERE path = :from";

const RENAME_PRIMARY: &str = "UPDATE documents SET source_path = :to WHERE source_path = :from";

const RENAME_ROOT: &str = "UPDATE OR IGNORE roots SET path = :to WHERE path = :from";

const HAS_BYTES: &str = "
    SELECT EXISTS (SELECT 1 FROM documents WHERE id = :id AND content_hash = :content_hash)";

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

const FILE_SIZES: &str = "SELECT DISTINCT size_bytes FROM document_paths";

const MEMBERS_OF: &str = "
    SELECT path, document_id
    FROM document_paths
    WHERE path >= :first AND path < :end
    ORDER BY path";

impl Store {
    /// Returns a remembered path; `None` for a new one, and for one that is not followed.
    pub fn known_path(&self, path: &str) -> Result<Option<KnownPath>> {
        // One transaction has both queries, because a run asks this of every file.
        self.read(|db| {
            let Some(known) = known(db, path)? else { return Ok(None) };
            let stamp = self.sieve_of(db)?.stamp(known.stamp);
            Ok(stamp.map(|stamp| KnownPath { stamp, ..known }))
        })
    }

    /// Returns the sizes in bytes that remembered files had.
    pub fn file_sizes(&self) -> Result<HashSet<u64>> {
        self.read(|db| {
            let sizes: Vec<i64> = sql::rows(db, FILE_SIZES, [], |row| row.get(0))?;
            Ok(sizes.into_iter().map(i64::cast_unsigned).collect())
        })
    }

    /// Returns the remembered files in a container, by its path.
    pub fn members_of(&self, container: &str) -> Result<Vec<(String, DocumentId)>> {
        let first = member_text(container, "");
        // The character after the separator: no path of a member is greater.
        let end = format!("{container}/0");
        let params = named_params! { ":first": first, ":end": end };
        self.read(|db| sql::rows(db, MEMBERS_OF, params, |row| row.columns()))
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
    pub fn remember_path(
        &mut self,
        id: DocumentId,
        content_hash: &str,
        stamp: &PathStamp,
        role: PathRole<'_>,
    ) -> Result<bool> {
        self.write(|db| {
            let params = named_params! { ":id": id, ":content_hash": content_hash };
            if !sql::value::<bool>(db, HAS_BYTES, params)? {
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
    pub fn rename_path(&mut self, from: &str, to: &str) -> Result<()> {
        self.write(|db| {
            let params = named_params! { ":from": from, ":to": to };
            if db.prepare_cached(RENAME_PATH)?.execute(params)? > 0 {
                db.prepare_cached(RENAME_PRIMARY)?.execute(params)?;
            }
            sql::run(db, RENAME_ROOT, params)
        })
    }
}

#[cfg(test)]
mod tests;
