//! Reads and writes the rows of paths.

use rusqlite::{Connection, named_params};

use super::remembered::{KnownPath, PathStamp};
use crate::db::fault::Step;
use crate::db::row::StoredRow;
use crate::db::{columns, sql};
use crate::document::DocType;
use crate::ids::DocumentId;

pub(super) const KNOWN_PATH: &str = "
    SELECT
        document_paths.path,
        document_paths.size_bytes,
        document_paths.mtime_ns,
        document_paths.real_path,
        documents.id,
        documents.source_path,
        documents.content_hash,
        iif(documents.title_given, documents.title, NULL) AS title_given,
        documents.doc_type,
        documents.language,
        coalesce(documents.metadata ->> '$.quality.pages_awaiting_ocr', 0)
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

const FORGET_OTHER_PATHS: &str =
    "DELETE FROM document_paths WHERE document_id = :document_id AND path <> :path";

const SET_PRIMARY: &str = "UPDATE documents SET source_path = :path WHERE id = :id";

/// A note given as text is shown under the first path where its text is found.
const SET_FIRST_PRIMARY: &str =
    "UPDATE documents SET source_path = :path WHERE id = :id AND source_path IS NULL";

pub(crate) fn known(db: &Connection, path: &str) -> Step<Option<KnownPath>> {
    sql::first_row(db, KNOWN_PATH, named_params! { ":path": path }, |row| {
        Ok(KnownPath {
            stamp: stamp(row)?,
            document_id: row.get(4)?,
            primary_path: row.get(5)?,
            content_hash: row.get(6)?,
            title_given: row.get(7)?,
            doc_type: columns::named_column(row, 8, DocType::Markdown)?,
            language: row.get(9)?,
            pages_awaiting_ocr: row.get(10)?,
        })
    })
}

pub(crate) fn remember(db: &Connection, id: DocumentId, stamp: &PathStamp) -> Step<()> {
    let params = named_params! {
        ":path": stamp.path,
        ":document_id": id,
        // No file is longer than i64 allows, and the size is only compared, so the cast loses nothing.
        ":size_bytes": stamp.size_bytes.cast_signed(),
        ":mtime_ns": stamp.mtime_ns,
        ":real_path": stamp.real_path,
    };
    sql::run(db, REMEMBER_PATH, params)?;
    sql::run(db, SET_FIRST_PRIMARY, named_params! { ":path": stamp.path, ":id": id })
}

pub(crate) fn set_primary(db: &Connection, id: DocumentId, path: &str) -> Step<()> {
    sql::run(db, SET_PRIMARY, named_params! { ":path": path, ":id": id })
}

/// Returns the path shown for a document; `None` for a note given as text.
pub(crate) fn primary(db: &Connection, id: DocumentId) -> Step<Option<PathStamp>> {
    sql::first_row(db, PRIMARY_PATH, named_params! { ":document_id": id }, stamp)
}

/// Returns a document's paths except `path`, in order.
pub(crate) fn others(db: &Connection, id: DocumentId, path: &str) -> Step<Vec<PathStamp>> {
    sql::rows(db, OTHER_PATHS, named_params! { ":document_id": id, ":path": path }, stamp)
}

pub(crate) fn forget_others(db: &Connection, id: DocumentId, path: &str) -> Step<()> {
    sql::run(db, FORGET_OTHER_PATHS, named_params! { ":document_id": id, ":path": path })
}

/// Reads the first four columns: path, size, time and resolved path. A run asks this of every file, and finding columns by their
/// names would take longer than the statement.
pub(crate) fn stamp(row: &StoredRow<'_>) -> rusqlite::Result<PathStamp> {
    Ok(PathStamp {
        path: row.get(0)?,
        size_bytes: row.get::<_, i64>(1)?.cast_unsigned(),
        mtime_ns: row.get(2)?,
        real_path: row.get(3)?,
    })
}
