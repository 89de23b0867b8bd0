//! Reads the remembered files and paths of documents.

use std::collections::HashMap;

use rusqlite::{Connection, named_params};

use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};

use super::path_rows;
use super::remembered::PathStamp;
use crate::Store;
use crate::db::row::{ColumnValue, StoredRow};
use crate::db::{columns, fault::Step, sql};
use crate::followed::FollowedFilter;

/// A document with its remembered files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFiles {
    /// The document.
    pub document_id: DocumentId,
    /// The requested chunks that it still has, ordered by id.
    pub chunk_ids: Vec<ChunkId>,
    /// SHA-256 of its bytes, lower-case hex.
    pub content_hash: String,
    /// Its files that are followed, the one whose path is shown first; none for a note given as text.
    pub stamps: Vec<PathStamp>,
}

const CHUNKS: &str = "
    SELECT DISTINCT chunks.document_id, chunks.id
    FROM json_each(:ids) AS wanted
    CROSS JOIN chunks ON chunks.id = wanted.value
    ORDER BY chunks.id";

const FILES: &str = "
    SELECT
        document_paths.path,
        document_paths.size_bytes,
        document_paths.mtime_ns,
        document_paths.real_path,
        documents.id AS document_id,
        documents.content_hash
    FROM json_each(:ids) AS wanted
    CROSS JOIN documents ON documents.id = wanted.value
    LEFT JOIN document_paths ON document_paths.document_id = documents.id
    ORDER BY
        documents.id,
        document_paths.path IS NOT documents.source_path,
        document_paths.path";

const OTHER_PATHS: &str = "
    SELECT documents.id, document_paths.path
    FROM json_each(:ids) AS wanted
    CROSS JOIN documents ON documents.id = wanted.value
    CROSS JOIN document_paths ON document_paths.document_id = documents.id
    WHERE document_paths.path <> documents.source_path
    ORDER BY documents.id, document_paths.path";

impl DocumentFiles {
    /// Puts the file at a path first, if it is one of its files.
    pub fn put_first(&mut self, path: Option<&str>) {
        let at = self.stamps.iter().position(|stamp| Some(stamp.path.as_str()) == path);
        self.stamps[..at.map_or(0, |at| at + 1)].rotate_right(usize::from(at.is_some()));
    }
}

impl Store {
    /// Returns the paths of documents besides the first one, in order; documents without such paths are left out.
    pub fn other_paths(&self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Vec<String>>> {
        self.read(|db| by_document(db, OTHER_PATHS, &columns::to_json(ids)?))
    }

    /// Returns a document with its files; `None` if it has none that is followed.
    pub fn files_of_document(&self, id: DocumentId) -> Result<Option<DocumentFiles>> {
        let sieve = self.sieve()?;
        let document = self.read(|db| files(db, &sieve, &[id]))?.pop();
        Ok(document.filter(|document| !document.stamps.is_empty()))
    }

    /// Returns the documents of chunks with their files, ordered by id. Chunks that were removed or
    /// replaced are left out.
    pub fn files_of_chunks(&self, ids: &[ChunkId]) -> Result<Vec<DocumentFiles>> {
        let sieve = self.sieve()?;
        self.read(|db| {
            let mut chunks = by_document(db, CHUNKS, &columns::to_json(ids)?)?;
            let ids: Vec<DocumentId> = chunks.keys().copied().collect();
            let mut documents = files(db, &sieve, &ids)?;
            for document in &mut documents {
                document.chunk_ids = chunks.remove(&document.document_id).unwrap_or_default();
            }
            Ok(documents)
        })
    }
}

/// Reads pairs of a document and a value.
fn by_document<T: ColumnValue>(
    db: &Connection,
    query: &str,
    ids: &str,
) -> Step<HashMap<DocumentId, Vec<T>>> {
    let pairs: Vec<(DocumentId, T)> =
        sql::rows(db, query, named_params! { ":ids": ids }, |row| row.columns())?;
    let mut values: HashMap<DocumentId, Vec<T>> = HashMap::new();
    for (id, value) in pairs {
        values.entry(id).or_default().push(value);
    }
    Ok(values)
}

/// Returns documents with their files that are followed, ordered by id.
fn files(
    db: &Connection,
    sieve: &FollowedFilter<'_>,
    ids: &[DocumentId],
) -> Step<Vec<DocumentFiles>> {
    let mut statement = db.prepare_cached(FILES)?;
    let mut rows = statement.query(named_params! { ":ids": columns::to_json(ids)? })?;
    let mut documents: Vec<DocumentFiles> = Vec::new();
    while let Some(row) = rows.next()? {
        let row = &StoredRow::of(row);
        let (document_id, content_hash) = (row.get("document_id")?, row.get("content_hash")?);
        let has_file = row.get::<_, Option<String>>("path")?.is_some();
        let stamp = has_file.then(|| path_rows::stamp(row)).transpose()?;
        let stamp = stamp.and_then(|stamp| sieve.stamp(stamp));
        match documents.last_mut() {
            Some(last) if last.document_id == document_id => last.stamps.extend(stamp),
            _ => documents.push(DocumentFiles {
                document_id,
                chunk_ids: Vec::new(),
                content_hash,
                stamps: stamp.into_iter().collect(),
            }),
        }
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathRole;
    use crate::testing::{TestDb, document, stamp};

    #[test]
    fn each_document_comes_once_with_the_shown_path_first() {
        let mut db = TestDb::new();
        let b = db.add("/b.md", &["words", "more"], &[]);
        let hash = db.store.document(b).unwrap().unwrap().content_hash;
        for path in ["/a.md", "/c.md"] {
            db.store.remember_path(b, &hash, &stamp(path), PathRole::Further).unwrap();
        }
        let mut note = document("", &["note"], &[]);
        note.stamp = None;
        let note = db.put(&note, &["note"], &[]).document_id();
        let ids: Vec<ChunkId> = [b, note]
            .iter()
            .flat_map(|id| db.store.chunks(*id).unwrap())
            .map(|chunk| chunk.id)
            .collect();
        let wanted = [ids.as_slice(), &[ChunkId(999)]].concat();
        let found = db.store.files_of_chunks(&wanted).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].document_id, b);
        assert_eq!(found[0].chunk_ids, ids[..2]);
        assert_eq!(found[0].stamps, ["/b.md", "/a.md", "/c.md"].map(stamp));
        assert_eq!(found[1].document_id, note);
        assert_eq!(found[1].stamps, []);
        let whole = db.store.files_of_document(b).unwrap().unwrap();
        assert_eq!(whole.stamps, found[0].stamps);
        assert_eq!(whole.content_hash, hash);
        assert_eq!(db.store.files_of_document(note).unwrap(), None);
        let others = db.store.other_paths(&[b, note]).unwrap();
        assert_eq!(others, [(b, vec!["/a.md".to_owned(), "/c.md".to_owned()])].into());
    }

    #[test]
    fn the_file_at_a_path_comes_first_and_the_others_keep_their_order() {
        let mut files = DocumentFiles {
            document_id: DocumentId(1),
            chunk_ids: Vec::new(),
            content_hash: String::new(),
            stamps: ["/b.md", "/a.md", "/c.md"].map(stamp).into(),
        };
        for (path, expected) in [
            (None, ["/b.md", "/a.md", "/c.md"]),
            (Some("/elsewhere.md"), ["/b.md", "/a.md", "/c.md"]),
            (Some("/b.md"), ["/b.md", "/a.md", "/c.md"]),
            (Some("/c.md"), ["/c.md", "/b.md", "/a.md"]),
        ] {
            files.put_first(path);
            assert_eq!(files.stamps, expected.map(stamp), "{path:?}");
        }
    }
}
