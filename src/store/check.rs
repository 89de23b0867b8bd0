//! The whole database in, figures and faults out.

use rusqlite::Connection;

use crate::document::DocType;
use crate::error::{Error, Result};

use super::fault::{Fault, Step};
use super::{Store, migrate};

/// What `kb status` counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Documents of each type, in the order of [`DocType::ALL`], zeros too.
    pub documents: [(DocType, u32); 4],
    /// Chunks of all documents.
    pub total_chunks: u32,
    /// Chunks that have a vector.
    pub total_vectors: u32,
    /// Size of the database, without the log of a running process.
    pub db_size_bytes: u64,
    /// Version of the schema.
    pub schema_version: i64,
}

impl Stats {
    /// Returns the figures of a database that does not exist yet.
    pub fn empty() -> Self {
        Self {
            documents: DocType::ALL.map(|it| (it, 0)),
            total_chunks: 0,
            total_vectors: 0,
            db_size_bytes: 0,
            schema_version: migrate::MIGRATIONS.last().map_or(0, |(version, _)| *version),
        }
    }
}

const COUNT_DOCUMENTS: &str = "SELECT count(*) FROM documents WHERE doc_type = :doc_type";

const COUNT_CHUNKS: &str = "SELECT count(*) FROM chunks";

const HAS_VECTOR_TABLE: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'chunks_vec')";

/// `vec0` keeps its keys in this table; counting there reads no vector.
const COUNT_VECTORS: &str = "SELECT count(*) FROM chunks_vec_rowids";

const SIZE_BYTES: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";

/// With 1, FTS5 compares its index with the text in `chunks`; it fails where they differ.
const CHECK_FTS: &str = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)";

/// Queries that count what should not be, each with the sentence that says so.
const CLAIMS: &[(&str, &str)] = &[
    (
        "SELECT count(*) FROM pragma_foreign_key_check",
        "rows that refer to something that does not exist",
    ),
    (
        "SELECT count(*) FROM tags WHERE id NOT IN (SELECT tag_id FROM document_tags)",
        "tags that no document bears",
    ),
    (
        "SELECT count(*)
        FROM documents
        LEFT JOIN document_paths
            ON document_paths.path = documents.source_path
            AND document_paths.document_id = documents.id
        WHERE documents.source_path IS NOT NULL AND document_paths.path IS NULL",
        "documents whose path is not remembered",
    ),
    (
        "SELECT count(*)
        FROM documents
        WHERE documents.source_path IS NULL
            AND documents.id IN (SELECT document_id FROM document_paths)",
        "documents with paths of which none is shown",
    ),
    (
        "SELECT count(*) FROM (
            SELECT 1 FROM chunks GROUP BY document_id HAVING max(chunk_index) + 1 <> count(*)
        )",
        "documents with gaps between their chunks",
    ),
];

/// As [`CLAIMS`], for a database that is bound to a model.
const VECTOR_CLAIMS: &[(&str, &str)] = &[
    (
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT rowid FROM chunks_vec_rowids)",
        "chunks without a vector",
    ),
    (
        "SELECT count(*) FROM chunks_vec_rowids WHERE rowid NOT IN (SELECT id FROM chunks)",
        "vectors without a chunk",
    ),
];

impl Store {
    /// Counts documents, chunks and bytes.
    ///
    /// # Errors
    ///
    /// What the database refuses.
    pub fn stats(&self) -> Result<Stats> {
        self.read(|db| {
            let mut documents = DocType::ALL.map(|it| (it, 0));
            let mut statement = db.prepare_cached(COUNT_DOCUMENTS)?;
            for (doc_type, num_documents) in &mut documents {
                *num_documents = statement.query_row([doc_type.as_str()], |row| row.get(0))?;
            }
            Ok(Stats {
                documents,
                total_chunks: db.query_row(COUNT_CHUNKS, [], |row| row.get(0))?,
                total_vectors: if has_vector_table(db)? {
                    db.query_row(COUNT_VECTORS, [], |row| row.get(0))?
                } else {
                    0
                },
                db_size_bytes: db
                    .query_row(SIZE_BYTES, [], |row| row.get::<_, i64>(0))?
                    .unsigned_abs(),
                schema_version: super::migrate::version(db)?,
            })
        })
    }

    /// Examines everything: the file's structure, references, the keyword index against the text,
    /// one vector for each chunk and no other. Returns a sentence for each fault found; empty when
    /// the database is whole. Reads all of it.
    ///
    /// # Errors
    ///
    /// Where the examination itself cannot go on.
    pub fn check(&self) -> Result<Vec<String>> {
        let mut faults: Vec<String> = Vec::new();
        // Apart from the rest: for SQLite this statement writes, and may have to wait to do so.
        match self.connection.execute(CHECK_FTS, []).map_err(|it| Fault::from(it).at(&self.path)) {
            Ok(_) => {}
            Err(Error::Corrupt { detail, .. }) => {
                faults.push(format!("the keyword index does not match the text: {detail}"));
            }
            Err(error) => return Err(error),
        }
        self.read(|db| {
            db.pragma_query(None, "integrity_check", |row| {
                faults.push(row.get(0)?);
                Ok(())
            })?;
            faults.retain(|it| it != "ok");
            let has_vectors = has_vector_table(db)?;
            let vector_claims = if has_vectors { VECTOR_CLAIMS } else { &[] };
            for (count_sql, what) in CLAIMS.iter().chain(vector_claims) {
                let count: i64 = db.query_row(count_sql, [], |row| row.get(0))?;
                if count > 0 {
                    faults.push(format!("{count} {what}"));
                }
            }
            let num_chunks: i64 = db.query_row(COUNT_CHUNKS, [], |row| row.get(0))?;
            if num_chunks > 0 && !has_vectors {
                faults.push(format!("{num_chunks} chunks without a vector"));
            }
            Ok(faults)
        })
    }
}

fn has_vector_table(db: &Connection) -> Step<bool> {
    Ok(db.query_row(HAS_VECTOR_TABLE, [], |row| row.get(0))?)
}
