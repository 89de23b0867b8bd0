//! Reads what a copy of the database elsewhere consists of, and fingerprints by which it is compared.
//!
//! Chunks are compared and copied in blocks of consecutive ids, those of the table of sizes.

use std::collections::BTreeMap;

use rusqlite::{Connection, named_params};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::db::row::StoredRow;
use crate::document::Binding;
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};

use crate::Store;
use crate::db::fault::Step;
use crate::db::{columns, sql};
use crate::keyword::sizes::BLOCK_BITS;
use crate::text::json::JsonLine;
use crate::text::language::NaturalLanguage;

/// The first bytes of a SHA-256 over everything that is copied.
pub type Fingerprint = [u8; 16];

/// A document with everything that a search shows of it or filters by. Its fingerprint follows from the names and the
/// order of the fields: another name or order makes the next push send all documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MirroredDocument {
    /// Its key.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// The path it is shown under.
    pub path: Option<String>,
    /// Every path where its content was seen, in order.
    pub paths: Vec<String>,
    /// Its type, as [`crate::document::DocType`] names it.
    pub doc_type: String,
    /// The programming language.
    pub language: Option<String>,
    /// In alphabetical order.
    pub tags: Vec<String>,
    /// Its day, and the source of the day.
    pub date: Option<String>,
    /// See [`crate::StoredHit::date_origin`].
    pub date_origin: Option<String>,
    /// When it was added, RFC 3339, UTC.
    pub added: String,
    /// SHA-256 of its bytes, lower-case hex.
    pub content_hash: String,
    /// Its own metadata, as JSON.
    pub metadata: String,
    /// Its number of chunks.
    pub total_chunks: u32,
}

/// A chunk with everything that ranks it.
#[derive(Debug, Clone, PartialEq)]
pub struct MirroredChunk {
    /// Its key.
    pub id: ChunkId,
    /// Its document.
    pub document_id: DocumentId,
    /// Its position there, from 0.
    pub chunk_index: u32,
    /// Its own text.
    pub text: String,
    /// Its context.
    pub context: String,
    /// Number of embedded tokens.
    pub token_count: u32,
    /// Its place in the document, as JSON.
    pub metadata: String,
    /// The words of the name of its document.
    pub names: String,
    /// The words of the tags of its document.
    pub tags: String,
    /// The natural language of its document, if it is known.
    pub natural_language: Option<NaturalLanguage>,
    /// Its vector; `None` if the database has none.
    pub vector: Option<Vec<f32>>,
    /// The codes of its tokens, if the database has them.
    pub codes: Option<Vec<u8>>,
}

/// Words of passages with the same first letter and the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredWords {
    /// The code of the first letter.
    pub initial: i64,
    /// In letters.
    pub length: i64,
    /// One line per word, in alphabetical order: the number of passages that have the word, and the word.
    pub lines: String,
}

const WORDS: &str = "
    SELECT initial, length, group_concat(num_chunks || ' ' || word, char(10) ORDER BY word)
    FROM words
    GROUP BY initial, length";

const DOCUMENTS: &str = "
    SELECT
        documents.id,
        documents.title,
        documents.source_path,
        (
            SELECT json_group_array(path ORDER BY path)
            FROM document_paths
            WHERE document_id = documents.id
        ) AS paths,
        documents.doc_type,
        documents.language,
        (
            SELECT json_group_array(tags.name ORDER BY tags.name)
            FROM document_tags
            JOIN tags ON tags.id = document_tags.tag_id
            WHERE document_tags.document_id = documents.id
        ) AS tags,
        (SELECT date FROM document_dates WHERE document_id = documents.id) AS date,
        (SELECT origin FROM document_dates WHERE document_id = documents.id) AS date_origin,
        documents.content_hash,
        documents.metadata,
        (SELECT count(*) FROM chunks WHERE document_id = documents.id) AS total_chunks,
        documents.created_at
    FROM documents
    ORDER BY documents.id";

const FINGERPRINTS: &str = "
    SELECT
        chunks.id,
        chunks.document_id,
        chunk_index,
        ifnull(token_count, 0),
        passage_hash,
        chunks.metadata,
        sum,
        documents.metadata ->> '$.natural_language' AS natural_language,
        words,
        tags
    FROM chunks
    JOIN documents ON documents.id = chunks.document_id
    LEFT JOIN document_names ON document_names.document_id = documents.id
    LEFT JOIN chunks_tokens ON chunks_tokens.chunk_id = chunks.id
    ORDER BY chunks.id";

const BLOCK: &str = "
    SELECT
        chunks.id AS chunk_id,
        chunks.document_id,
        chunk_index,
        text,
        context,
        token_count,
        chunks.metadata,
        codes,
        documents.metadata ->> '$.natural_language' AS natural_language,
        ifnull(words, ''),
        ifnull(tags, '')
    FROM chunks
    JOIN documents ON documents.id = chunks.document_id
    LEFT JOIN document_names ON document_names.document_id = documents.id
    LEFT JOIN chunks_tokens ON chunks_tokens.chunk_id = chunks.id
    WHERE chunks.id BETWEEN :first AND :last
    ORDER BY chunks.id";

impl MirroredDocument {
    /// Returns the fingerprint of its fields, written as a line of JSON.
    ///
    /// # Panics
    ///
    /// Never: texts and numbers can be written.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let line = JsonLine::of(self).expect("texts and numbers can be written");
        fingerprint(line.as_str())
    }
}

/// One state of a database, to be copied.
pub struct Mirror<'a> {
    db: &'a Connection,
    /// The settings of its vectors; `None` before its first document.
    pub binding: Option<Binding>,
}

impl Store {
    /// Passes one state of the database to `work`.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::NeedsWriting`] for a database of an older schema, and errors of `work`.
    pub fn mirror<T>(&self, work: impl FnOnce(&Mirror<'_>) -> Result<T>) -> Result<T> {
        self.require_newest_schema()?;
        self.read(|db| Ok(work(&Mirror { db, binding: self.check_bound(db)? })?))
    }
}

impl Mirror<'_> {
    /// Passes all documents to `on_document`, ordered by id.
    pub fn documents(
        &self,
        mut on_document: impl FnMut(MirroredDocument) -> Result<()>,
    ) -> Result<()> {
        self.step(|db| {
            let mut statement = db.prepare_cached(DOCUMENTS)?;
            for found in statement.query_map([], |row| document(&StoredRow::of(row)))? {
                on_document(found?)?;
            }
            Ok(())
        })
    }

    /// Returns the fingerprint of each block of chunks, by its number.
    pub fn blocks(&self) -> Result<BTreeMap<i64, Fingerprint>> {
        self.step(|db| {
            let mut statement = db.prepare_cached(FINGERPRINTS)?;
            let mut rows = statement.query([])?;
            let mut digests: BTreeMap<i64, Sha256> = BTreeMap::new();
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                let digest = digests.entry(id >> BLOCK_BITS).or_default();
                digest.update(id.to_le_bytes());
                for number in 1..=3 {
                    digest.update(row.get::<_, i64>(number)?.to_le_bytes());
                }
                // The passage, the place, and what a copy also has of a chunk: the codes, the language (it decides on
                // stems), the names and the tags.
                for column in 4..=9 {
                    let value = row.get_ref(column)?;
                    add_field(digest, value.as_bytes_or_null().ok().flatten());
                }
            }
            let blocks = digests.into_iter();
            Ok(blocks.map(|(block, digest)| (block, first_bytes(&digest.finalize()))).collect())
        })
    }

    /// Returns the chunks of a block, ordered by id.
    pub fn block(&self, block: i64) -> Result<Vec<MirroredChunk>> {
        let is_bound = self.binding.is_some();
        self.step(|db| {
            let range = named_params! {
                ":first": block << BLOCK_BITS,
                ":last": (block << BLOCK_BITS) + ((1 << BLOCK_BITS) - 1),
            };
            let mut chunks: Vec<MirroredChunk> = sql::rows(db, BLOCK, range, |row| {
                Ok(MirroredChunk {
                    id: row.get(0)?,
                    document_id: row.get(1)?,
                    chunk_index: row.get(2)?,
                    text: row.get(3)?,
                    context: row.get(4)?,
                    token_count: row.get::<_, Option<u32>>(5)?.unwrap_or(0),
                    metadata: row.get(6)?,
                    natural_language: row
                        .get_ref(8)?
                        .as_str_or_null()?
                        .and_then(NaturalLanguage::from_code),
                    names: row.get(9)?,
                    tags: row.get(10)?,
                    vector: None,
                    codes: row.get(7)?,
                })
            })?;
            if is_bound {
                for chunk in &mut chunks {
                    chunk.vector = super::chunks::vector(db, chunk.id)?;
                }
            }
            Ok(chunks)
        })
    }

    /// Returns the words of all passages.
    pub fn words(&self) -> Result<Vec<MirroredWords>> {
        self.step(|db| {
            sql::rows(db, WORDS, [], |row| {
                let (initial, length, lines) = row.columns()?;
                Ok(MirroredWords { initial, length, lines })
            })
        })
    }

    fn step<T>(&self, work: impl FnOnce(&Connection) -> Step<T>) -> Result<T> {
        let path = self.db.path().unwrap_or_default();
        work(self.db).map_err(|fault| fault.at(path.as_ref()))
    }
}

fn document(row: &StoredRow<'_>) -> rusqlite::Result<MirroredDocument> {
    Ok(MirroredDocument {
        id: row.get(0)?,
        title: row.get(1)?,
        path: row.get(2)?,
        paths: columns::json_column(row, 3)?,
        doc_type: row.get(4)?,
        language: row.get(5)?,
        tags: columns::json_column(row, 6)?,
        date: row.get(7)?,
        date_origin: row.get(8)?,
        content_hash: row.get(9)?,
        metadata: row.get(10)?,
        total_chunks: row.get(11)?,
        added: row.get(12)?,
    })
}

/// Returns the fingerprint of a text.
#[must_use]
pub fn fingerprint(text: &str) -> Fingerprint {
    first_bytes(&Sha256::digest(text))
}

/// Adds a field after its length, so that no letter can move to the next field, and a missing
/// field differs from an empty one.
fn add_field(digest: &mut Sha256, value: Option<&[u8]>) {
    let len = value.map_or(u64::MAX, |bytes| bytes.len() as u64);
    digest.update(len.to_le_bytes());
    digest.update(value.unwrap_or_default());
}

fn first_bytes(digest: &[u8]) -> Fingerprint {
    let mut first = Fingerprint::default();
    let len = first.len();
    first.copy_from_slice(&digest[..len]);
    first
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fields_have_the_same_fingerprint_only_if_each_is_the_same() {
        let rows: [&[Option<&[u8]>]; 5] = [
            &[Some(b"ab"), Some(b"c")],
            &[Some(b"a"), Some(b"bc")],
            &[Some(b"abc"), None],
            &[Some(b"abc"), Some(b"")],
            &[Some(b"abc"), Some(b"none")],
        ];
        let digests: HashSet<Fingerprint> = rows
            .iter()
            .map(|fields| {
                let mut digest = Sha256::new();
                fields.iter().for_each(|field| add_field(&mut digest, *field));
                first_bytes(&digest.finalize())
            })
            .collect();
        assert_eq!(digests.len(), rows.len());
    }

    #[test]
    fn a_fingerprint_is_that_of_what_is_written() {
        let document = MirroredDocument {
            id: DocumentId(7),
            title: "Tides \"high\"".into(),
            path: Some("/docs/tides.md".into()),
            paths: vec!["/docs/tides.md".into()],
            doc_type: "markdown".into(),
            language: None,
            tags: vec!["sea".into()],
            date: Some("2026-11-28".into()),
            date_origin: None,
            added: "2026-11-28T10:00:00Z".into(),
            content_hash: "00ff".into(),
            metadata: "{}".into(),
            total_chunks: 3,
        };
        let written = JsonLine::of(&document).unwrap();
        assert_eq!(
            written.as_str(),
            "{\"id\":7,\"title\":\"Tides \\\"high\\\"\",\"path\":\"/docs/tides.md\",\"paths\":[\"/docs/tides.md\"],\
             \"doc_type\":\"markdown\",\"language\":null,\"tags\":[\"sea\"],\"date\":\"2026-11-28\",\"date_origin\":null,\
             \"added\":\"2026-11-28T10:00:00Z\",\"content_hash\":\"00ff\",\"metadata\":\"{}\",\"total_chunks\":3}\n"
        );
        let hex: String = document.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "bcc4c5c1bf7d6cc1b8427151ab9dc8ce");
        let longer = MirroredDocument { total_chunks: 4, ..document.clone() };
        assert_ne!(longer.fingerprint(), document.fingerprint());
    }
}
