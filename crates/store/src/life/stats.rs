//! Counts the contents of the database, and measures what takes its room.

use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Store;
use crate::db::fault::Step;
use crate::db::last_update::{self, LastUpdate};
use crate::db::{schema, sql};
use crate::document::DocType;
use crate::error::Result;
use crate::vectors::layout::{has_vector_table, knows_vec0};

/// The counts shown by `kb status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Documents of each type, in the order of [`DocType::ALL`], including zeros.
    pub documents: [(DocType, u32); 4],
    /// Chunks of all documents.
    pub total_chunks: u32,
    /// Chunks that have a vector.
    pub total_vectors: u32,
    /// Pages of all documents that have pages.
    pub pages: PageCounts,
    /// Size of the database, without the write-ahead log of a running process.
    pub db_size_bytes: u64,
    /// Version of the schema.
    pub schema_version: i64,
    /// When all added folders were last compared with the disk; `None` if never.
    pub last_update: Option<LastUpdate>,
}

/// How well pages could be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Pages")]
pub struct PageCounts {
    /// Pages with text.
    pub read: u64,
    /// How many of these were read by OCR.
    pub ocr: u64,
    /// Pages without content.
    pub empty: u64,
    /// Pages whose text could not be read.
    pub unread: u64,
    /// Documents with such pages.
    pub documents_with_unread: u32,
}

/// The uses of the room in the database, in bytes of its pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoomBytes {
    /// Passages, documents and all that is not below.
    pub texts: u64,
    /// The indexes of words and of names.
    pub keywords: u64,
    /// Vectors of passages.
    pub vectors: u64,
    /// Codes of the tokens of passages.
    pub token_codes: u64,
    /// Free pages, which later documents fill.
    pub free: u64,
}

impl Stats {
    /// Returns the number of documents of all types.
    pub fn total_documents(&self) -> u32 {
        self.documents.iter().map(|(_, count)| count).sum()
    }

    /// Returns the figures of a database that does not exist yet.
    pub fn empty() -> Self {
        Self {
            documents: DocType::ALL.map(|doc_type| (doc_type, 0)),
            total_chunks: 0,
            total_vectors: 0,
            pages: PageCounts::default(),
            db_size_bytes: 0,
            schema_version: schema::MIGRATIONS.last().map_or(0, |(version, _)| *version),
            last_update: None,
        }
    }
}

const COUNT_DOCUMENTS: &str = "SELECT count(*) FROM documents WHERE doc_type = :doc_type";

const COUNT_PAGES: &str = "
    SELECT
        coalesce(sum(metadata ->> '$.quality.pages_read'), 0),
        coalesce(sum(metadata ->> '$.quality.pages_ocr'), 0),
        coalesce(sum(metadata ->> '$.quality.pages_empty'), 0),
        coalesce(sum(metadata ->> '$.quality.pages_unread'), 0),
        count(*) FILTER (WHERE metadata ->> '$.quality.pages_unread' > 0)
    FROM documents";

const COUNT_CHUNKS: &str = "SELECT count(*) FROM chunks";

/// `vec0` keeps its keys in this table; counting there reads no vectors.
const COUNT_VECTORS: &str = "SELECT count(*) FROM chunks_vec_rowids";

const COUNT_UNKNOWN_VECTORS: &str = "SELECT count(*) FROM chunks_vec";

const SIZE_BYTES: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";

/// Reads every page once; the rows of an index count with its table.
const ROOM: &str = "
    WITH sizes AS (
        SELECT coalesce(tbl_name, dbstat.name) AS name, sum(pgsize) AS bytes
        FROM dbstat
        LEFT JOIN sqlite_schema ON sqlite_schema.name = dbstat.name
        WHERE aggregate = TRUE
        GROUP BY 1
    )
    SELECT
        coalesce(sum(bytes), 0) AS used,
        coalesce(sum(bytes) FILTER (
            WHERE name GLOB 'chunks_fts*' OR name GLOB 'chunks_grams*' OR name GLOB 'chunks_exact*'
                OR name GLOB 'document_names*' OR name = 'words'
        ), 0) AS keywords,
        coalesce(sum(bytes) FILTER (WHERE name GLOB 'chunks_vec*'), 0) AS vectors,
        coalesce(sum(bytes) FILTER (WHERE name = 'chunks_tokens'), 0) AS token_codes,
        (SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size) AS free
    FROM sizes";

impl Store {
    /// Measures what takes the room, which takes time in a large database.
    pub fn room(&self) -> Result<RoomBytes> {
        self.read(|db| {
            let [used, keywords, vectors, token_codes, free] = counts(db, ROOM)?;
            let texts = used.saturating_sub(keywords + vectors + token_codes);
            Ok(RoomBytes { texts, keywords, vectors, token_codes, free })
        })
    }

    /// Counts documents, chunks and bytes.
    pub fn stats(&self) -> Result<Stats> {
        self.read(|db| {
            let mut documents = DocType::ALL.map(|doc_type| (doc_type, 0));
            for (doc_type, num_documents) in &mut documents {
                *num_documents = sql::value(db, COUNT_DOCUMENTS, [doc_type.as_str()])?;
            }
            let [read, ocr, empty, unread, num_with_unread] = counts(db, COUNT_PAGES)?;
            let documents_with_unread = u32::try_from(num_with_unread).unwrap_or(u32::MAX);
            let [db_size_bytes] = counts(db, SIZE_BYTES)?;
            Ok(Stats {
                documents,
                total_chunks: sql::value(db, COUNT_CHUNKS, [])?,
                total_vectors: if !has_vector_table(db)? {
                    0
                } else if knows_vec0(db)? {
                    sql::value(db, COUNT_VECTORS, [])?
                } else {
                    sql::value(db, COUNT_UNKNOWN_VECTORS, [])?
                },
                pages: PageCounts { read, ocr, empty, unread, documents_with_unread },
                db_size_bytes,
                schema_version: schema::version(db)?,
                last_update: last_update::read(db)?,
            })
        })
    }
}

/// Reads a row of counts.
fn counts<const N: usize>(db: &Connection, query: &str) -> Step<[u64; N]> {
    let mut counts = [0; N];
    db.query_row(query, [], |row| {
        counts.iter_mut().enumerate().try_for_each(|(at, count)| {
            *count = row.get::<_, i64>(at)?.unsigned_abs();
            Ok(())
        })
    })?;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::Stats;
    use crate::testing::TestDb;

    #[test]
    fn an_empty_database_is_intact_and_counts_all_types() {
        let db = TestDb::unbound();
        let stats = db.store.stats().unwrap();
        assert_eq!(
            stats.documents.map(|(doc_type, count)| (doc_type.as_str(), count)),
            [("pdf", 0), ("markdown", 0), ("code", 0), ("note", 0)]
        );
        let (last_update, db_size_bytes) = (stats.last_update.clone(), stats.db_size_bytes);
        assert_eq!(stats, Stats { last_update, db_size_bytes, ..Stats::empty() });
        assert!(stats.db_size_bytes > 0);
        db.assert_intact();
    }

    #[test]
    fn every_index_of_words_counts_as_keywords() {
        let mut db = TestDb::new();
        db.add("/map.md", &["東京の地図", "git 2.30.2"], &[]);
        let bytes = |names: &str| -> u64 {
            let sql = "SELECT sum(pgsize) FROM dbstat WHERE name GLOB ?1";
            let bytes: i64 = db.store.connection.query_row(sql, [names], |row| row.get(0)).unwrap();
            bytes.unsigned_abs()
        };
        let indexes = ["chunks_fts*", "chunks_grams*", "chunks_exact*", "document_names*", "words"];
        let room = db.store.room().unwrap();
        assert_eq!(room.keywords, indexes.map(bytes).iter().sum::<u64>());
    }

    #[test]
    fn documents_chunks_and_vectors_are_counted() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        db.add("/b.md", &["three"], &[]);
        let stats = db.store.stats().unwrap();
        assert_eq!(stats.documents[1].1, 2);
        assert_eq!((stats.total_chunks, stats.total_vectors), (3, 3));
        let path = db.path();
        let size_bytes = stats.db_size_bytes;
        db.store.close().unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().len(), size_bytes);
    }
}
