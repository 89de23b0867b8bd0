//! Remembers the added folders, and forgets missing paths along with their documents.

use std::path::Path;

use rusqlite::{Connection, named_params};

use super::remembered::{AddedFolder, PathStamp};
use super::{ledger, path_rows, remove};
use crate::Store;
use crate::db::fault::Step;
use crate::db::{columns, erasing, sql};
use crate::document::DocType;
use crate::error::Result;
use crate::ids::DocumentId;

/// A remembered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedFile {
    /// The file as it was last seen.
    pub stamp: PathStamp,
    /// The document with its content.
    pub document_id: DocumentId,
    /// SHA-256 of this content, lower-case hex.
    pub content_hash: String,
    /// The document's type.
    pub doc_type: DocType,
    /// The document's programming language.
    pub language: Option<String>,
    /// Whether it was last seen on another file system than its added folder; `None` if it was never seen.
    pub is_mounted: Option<bool>,
}

/// The result of forgetting a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetOutcome {
    /// The document is kept at another path.
    Path,
    /// It was the document's last path, so the document was removed.
    Document(DocumentId),
    /// The path belongs to another document by now, or was already forgotten.
    Nothing,
}

const ROOTS: &str =
    "SELECT path, tags, doc_type, language, follow, real_path FROM roots ORDER BY path";

/// Tags accumulate; the other options of a folder are replaced by the latest ones.
const REMEMBER_ROOT: &str = "
    INSERT INTO roots (path, tags, doc_type, language, follow, real_path)
    VALUES (:path, :tags, :doc_type, :language, :follow, :real_path)
    ON CONFLICT (path) DO UPDATE SET
        tags = (
            SELECT json_group_array(value ORDER BY value)
            FROM (
                SELECT value FROM json_each(roots.tags)
                UNION
                SELECT value FROM json_each(excluded.tags)
            )
        ),
        doc_type = coalesce(excluded.doc_type, roots.doc_type),
        language = coalesce(excluded.language, roots.language),
        follow = max(excluded.follow, roots.follow),
        real_path = coalesce(excluded.real_path, roots.real_path)";

const FORGET_ROOT: &str = "DELETE FROM roots WHERE path = :path";

const KNOWN_FILES: &str = "
    SELECT
        document_paths.path,
        document_paths.size_bytes,
        document_paths.mtime_ns,
        document_paths.real_path,
        documents.id,
        documents.content_hash,
        documents.doc_type,
        documents.language,
        document_paths.on_mount
    FROM document_paths
    JOIN documents ON documents.id = document_paths.document_id
    ORDER BY document_paths.path";

const PATHS: &str = "SELECT path FROM document_paths ORDER BY path";

const NEVER_SEEN: &str = "SELECT path FROM document_paths WHERE on_mount IS NULL ORDER BY path";

const SET_MOUNTED: &str = "UPDATE document_paths SET on_mount = :is_mounted WHERE path = :path";

const FORGET_PATH: &str = "DELETE FROM document_paths WHERE path = :path";

impl Store {
    /// Remembers an added folder.
    pub fn remember_root(&mut self, root: &AddedFolder) -> Result<()> {
        // Usually it is remembered already, so the write lock is not taken.
        let known = self.roots()?.into_iter().find(|known| known.path == root.path);
        if known.is_some_and(|known| known.covers(root)) {
            return Ok(());
        }
        self.write(|db| remember(db, root))
    }

    /// Forgets an added folder, and which of its files were not indexed; its documents stay.
    pub fn forget_root(&mut self, path: &str) -> Result<bool> {
        self.write(|db| {
            erasing::mark(db)?;
            let is_forgotten = db.execute(FORGET_ROOT, named_params! { ":path": path })? > 0;
            if !all(db)?.iter().any(|other| Path::new(path).starts_with(&other.path)) {
                ledger::forget(db, path)?;
            }
            Ok(is_forgotten)
        })
    }

    /// Returns the added folders that are followed, ordered by path.
    pub fn roots(&self) -> Result<Vec<AddedFolder>> {
        Ok(self.followed.roots(self.all_roots()?))
    }

    /// Returns all added folders, followed or not, ordered by path.
    pub fn all_roots(&self) -> Result<Vec<AddedFolder>> {
        self.read(all)
    }

    /// Returns all remembered files that are followed, ordered by path.
    pub fn known_files(&self) -> Result<Vec<RememberedFile>> {
        let (files, sieve) = (self.all_files()?, self.sieve()?);
        let followed = files.into_iter().filter_map(|file| {
            let stamp = sieve.stamp(file.stamp)?;
            Some(RememberedFile { stamp, ..file })
        });
        Ok(followed.collect())
    }

    /// Returns all remembered files, followed or not, ordered by path.
    pub fn all_files(&self) -> Result<Vec<RememberedFile>> {
        self.read(|db| {
            sql::rows(db, KNOWN_FILES, [], |row| {
                Ok(RememberedFile {
                    stamp: path_rows::stamp(row)?,
                    document_id: row.get(4)?,
                    content_hash: row.get(5)?,
                    doc_type: columns::named_column(row, 6, DocType::Markdown)?,
                    language: row.get(7)?,
                    is_mounted: row.get(8)?,
                })
            })
        })
    }

    /// Returns the paths of all remembered files, followed or not, in order.
    pub(super) fn all_paths(&self) -> Result<Vec<String>> {
        self.read(|db| sql::rows(db, PATHS, [], |row| row.get(0)))
    }

    /// Returns the paths of the files that were stored and not seen since, in order.
    pub fn files_never_seen(&self) -> Result<Vec<String>> {
        self.read(|db| sql::rows(db, NEVER_SEEN, [], |row| row.get(0)))
    }

    /// Notes of files that were seen whether they are on another file system than their added folder.
    pub fn set_mounted(&mut self, seen: &[(String, bool)]) -> Result<()> {
        if seen.is_empty() {
            return Ok(());
        }
        self.write(|db| {
            seen.iter().try_for_each(|(path, is_mounted)| {
                let params = named_params! { ":path": path, ":is_mounted": is_mounted };
                sql::run(db, SET_MOUNTED, params)
            })
        })
    }

    /// Forgets the path of a missing file, if it still belongs to that document. A document that
    /// loses its last path is removed if `with_document` is set; otherwise nothing is forgotten.
    pub fn forget_path(
        &mut self,
        path: &str,
        id: DocumentId,
        with_document: bool,
    ) -> Result<ForgetOutcome> {
        self.write(|db| {
            let Some(known) = path_rows::known(db, path)?.filter(|known| known.document_id == id)
            else {
                return Ok(ForgetOutcome::Nothing);
            };
            let Some(other) = path_rows::others(db, id, path)?.into_iter().next() else {
                if !with_document {
                    return Ok(ForgetOutcome::Nothing);
                }
                remove::delete(db, id)?;
                return Ok(ForgetOutcome::Document(id));
            };
            if known.is_primary() {
                path_rows::set_primary(db, id, &other.path)?;
            }
            forget(db, path)?;
            Ok(ForgetOutcome::Path)
        })
    }
}

impl AddedFolder {
    /// Whether remembering `other` would change nothing.
    fn covers(&self, other: &Self) -> bool {
        other.tags.iter().all(|tag| self.tags.contains(tag))
            && (other.doc_type.is_none() || other.doc_type == self.doc_type)
            && (other.language.is_none() || other.language == self.language)
            && (self.follows_links || !other.follows_links)
            && (other.real_path.is_none() || other.real_path == self.real_path)
    }
}

fn forget(db: &Connection, path: &str) -> Step<()> {
    erasing::mark(db)?;
    ledger::reopen(db, path)?;
    sql::run(db, FORGET_PATH, named_params! { ":path": path })
}

/// Remembers an added folder, or more options of a known one.
pub(super) fn remember(db: &Connection, root: &AddedFolder) -> Step<()> {
    let params = named_params! {
        ":path": root.path,
        ":tags": columns::to_json(&root.tags)?,
        ":doc_type": root.doc_type.map(DocType::as_str),
        ":language": root.language,
        ":follow": root.follows_links,
        ":real_path": root.real_path,
    };
    sql::run(db, REMEMBER_ROOT, params)
}

/// Returns all added folders, ordered by path.
pub(super) fn all(db: &Connection) -> Step<Vec<AddedFolder>> {
    // Columns are read by position, which is faster than by name: the folders are read for every file of a run.
    sql::rows(db, ROOTS, [], |row| {
        let doc_type = row.get_ref(2)?.as_str_or_null().unwrap_or_default();
        Ok(AddedFolder {
            path: row.get(0)?,
            tags: columns::json_column(row, 1)?,
            doc_type: doc_type
                .map(|_| columns::named_column(row, 2, DocType::Markdown))
                .transpose()?,
            language: row.get(3)?,
            follows_links: row.get(4)?,
            real_path: row.get(5)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathRole;
    use crate::testing::{TestDb, stamp};

    fn root(path: &str, tags: &[&str], doc_type: Option<DocType>) -> AddedFolder {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        let path = path.to_owned();
        AddedFolder { path, tags, doc_type, language: None, follows_links: false, real_path: None }
    }

    #[test]
    fn a_folder_is_remembered_once_with_all_its_options() {
        let mut db = TestDb::unbound();
        db.store.remember_root(&root("/b", &[], None)).unwrap();
        db.store.remember_root(&root("/a", &["x"], Some(DocType::Note))).unwrap();
        db.store.remember_root(&root("/a", &["b"], None)).unwrap();
        db.store.remember_root(&root("/a", &["x"], None)).unwrap();
        let expected = [root("/a", &["b", "x"], Some(DocType::Note)), root("/b", &[], None)];
        assert_eq!(db.store.roots().unwrap(), expected);
        assert!(db.store.forget_root("/a").unwrap());
        assert!(!db.store.forget_root("/a").unwrap());
        db.assert_intact();
    }

    #[test]
    fn the_resolved_path_of_a_folder_is_kept_until_it_is_named_again() {
        let mut db = TestDb::unbound();
        for (seen, expected) in [(Some("/b"), "/b"), (None, "/b"), (Some("/c"), "/c")] {
            let root = AddedFolder { real_path: seen.map(str::to_owned), ..root("/a", &[], None) };
            db.store.remember_root(&root).unwrap();
            assert_eq!(db.store.roots().unwrap()[0].real_path.as_deref(), Some(expected));
        }
        db.assert_intact();
    }

    #[test]
    fn known_files_include_all_paths() {
        let mut db = TestDb::new();
        let id = db.add("/b.md", &["words"], &[]);
        db.store.remember_path(id, "hash of words", &stamp("/a.md"), PathRole::Further).unwrap();
        let files = db.store.known_files().unwrap();
        let found: Vec<_> =
            files.iter().map(|file| (file.stamp.path.as_str(), file.document_id)).collect();
        assert_eq!(found, [("/a.md", id), ("/b.md", id)]);
        assert_eq!(files[0].content_hash, "hash of words");
    }

    #[test]
    fn a_document_is_removed_with_its_last_path_only_on_request() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["words"], &[]);
        db.store.remember_path(id, "hash of words", &stamp("/b.md"), PathRole::Further).unwrap();
        assert_eq!(
            db.store.forget_path("/a.md", DocumentId(77), true).unwrap(),
            ForgetOutcome::Nothing
        );
        assert_eq!(db.store.forget_path("/c.md", id, true).unwrap(), ForgetOutcome::Nothing);
        assert_eq!(db.store.forget_path("/a.md", id, false).unwrap(), ForgetOutcome::Path);
        assert_eq!(db.store.document(id).unwrap().unwrap().path.as_deref(), Some("/b.md"));
        assert_eq!(db.store.forget_path("/b.md", id, false).unwrap(), ForgetOutcome::Nothing);
        db.assert_intact();
        assert_eq!(db.store.forget_path("/b.md", id, true).unwrap(), ForgetOutcome::Document(id));
        assert_eq!(db.store.document(id).unwrap(), None);
        db.assert_intact();
    }
}
